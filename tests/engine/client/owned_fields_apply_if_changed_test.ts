import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Apply,
  Client,
  type DynamicObject,
  type KubernetesObject,
  type ObjectDraft,
  onlyFields,
  type Resource,
  type ResourceClient,
  SharedInformerFactory,
} from "../../../mod.ts";
import { KNOWN_FIELDS, needToApply } from "../../../src/engine/client/owned_fields.ts";
import { Reconciler } from "../../../src/operator/controllers/reconcile/mod.ts";
import { CustomResourceDefinition } from "../../../src/engine/kinds/apiextensions/v1.ts";
import { Deployment, StatefulSet } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, PersistentVolumeClaim, Secret, Service } from "../../../src/engine/kinds/core/v1.ts";
import { NetworkPolicy } from "../../../src/engine/kinds/networking/v1.ts";
import { PodDisruptionBudget } from "../../../src/engine/kinds/policy/v1.ts";
import { RoleBinding } from "../../../src/engine/kinds/rbac/v1.ts";
import { schemaOf } from "../../../src/testing/fake/schema/schema.ts";
import type { Schema } from "../../../src/operator/schema/values/object_schema.ts";
import { SERVED_TEXT } from "../../../src/testing/fake/schema/served.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { customKinds } from "../../support/twin/drafts.ts";

type Body = Readonly<Record<string, unknown>>;

const BY = { fieldManager: "shop", force: true } as const;
const Machine = {
  group: "twin.example.com",
  version: "v1",
  kind: "Machine",
  plural: "machines",
  scope: "Namespaced",
} as
  & Resource<DynamicObject>
  & { scope: "Namespaced" };

/** A fake server, and what `applyIfChanged` says of drafts of one object there. */
class Shop implements Disposable {
  readonly server = new FakeApiServer({ namespaces: "any" });
  readonly client = new Client({ server: "http://fake", transport: this.server, namespace: "shop" });

  /** Applies `first`, and returns the answer. */
  async applied(resource: Resource<KubernetesObject>, first: Body): Promise<DynamicObject> {
    return await this.#objects(resource).apply(draftOf(first), BY);
  }

  /** The reason to apply a draft to an object that was applied before; `undefined` if nothing is sent. */
  async reason(resource: Resource<KubernetesObject>, next: Body, current: DynamicObject): Promise<string | undefined> {
    const requests = this.server.requests.length;
    const { object, reason } = await this.#objects(resource).applyIfChanged(draftOf(next), { ...BY, current });
    assertEquals(this.server.requests.length - requests, reason === undefined ? 0 : 1, "requests");
    if (reason === undefined) assertEquals(object, current);
    return reason;
  }

  #objects(resource: Resource<KubernetesObject>): ResourceClient<DynamicObject> {
    return this.client.resource(resource as Resource<DynamicObject>);
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

function draftOf(body: Body): Apply<DynamicObject> {
  return { ...body, metadata: { name: "web", ...body.metadata as object } } as Apply<DynamicObject>;
}

function deployment(container: Body, pod: Body = {}, spec: Body = {}): Body {
  const labels = { app: "web" };
  return {
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "app", image: "app:1", ...container }], ...pod } },
      ...spec,
    },
  };
}

const machine = (spec: Body): Body => ({ spec: { size: "Small", ...spec } });
const template = "spec.template.spec";

/** A first apply, a second one, and the path that differs; `undefined` if the second would change nothing. */
const CASES: readonly (readonly [name: string, Resource<KubernetesObject>, Body, Body, string | undefined])[] = [
  ["the same", ConfigMap, { data: { a: "1" } }, { data: { a: "1" } }, undefined],
  ["members that are undefined", ConfigMap, { data: { a: "1" } }, { data: { a: "1", b: undefined } }, undefined],
  [
    "metadata that nobody owns",
    ConfigMap,
    { data: { a: "1" } },
    { data: { a: "1" }, metadata: { generation: 3 } },
    undefined,
  ],
  ["another value", ConfigMap, { data: { a: "1" } }, { data: { a: "2" } }, "data.a"],
  ["a quantity that is a text", ConfigMap, { data: { cpu: "1" } }, { data: { cpu: "1000m" } }, "data.cpu"],
  ["a field more", ConfigMap, { data: { a: "1" } }, { data: { a: "1", b: "2" } }, "data.b"],
  ["a field less", ConfigMap, { data: { a: "1", b: "2" } }, { data: { a: "1" } }, "data.b"],
  ["a part less", ConfigMap, { data: { a: "1" }, metadata: { labels: { a: "b" } } }, { data: { a: "1" } }, "metadata"],
  ["null for a text", ConfigMap, { data: { a: "1" } }, { data: { a: null } }, "data.a"],
  ["an empty map that is omitted where it may be immutable", ConfigMap, ...both({ data: {} }), "data"],
  ["an empty map that was full", ConfigMap, { data: { a: "1" } }, { data: {} }, "data.a"],
  ["an empty map twice", ConfigMap, ...both({ metadata: { labels: {} } }), undefined],
  ["finalizers in order", ConfigMap, ...both({ metadata: { finalizers: ["a.io/b", "a.io/a"] } }), undefined],
  [
    "finalizers in another order",
    ConfigMap,
    { metadata: { finalizers: ["a.io/b", "a.io/a"] } },
    { metadata: { finalizers: ["a.io/a", "a.io/b"] } },
    "metadata.finalizers",
  ],
  [
    "no finalizers",
    ConfigMap,
    { metadata: { labels: { a: "b" } } },
    { metadata: { labels: { a: "b" }, finalizers: [] } },
    undefined,
  ],
  ["texts of a Secret", Secret, ...both({ stringData: { a: "ä", b: "" } }), undefined],
  ["another text of a Secret", Secret, { stringData: { a: "x" } }, { stringData: { a: "y" } }, "stringData.a"],
  ["null for a text of a Secret", Secret, { stringData: { a: "x" } }, { stringData: { a: null } }, "stringData.a"],
  ["data for a text of a Secret", Secret, { stringData: { a: "x" } }, { data: { a: "eA==" } }, "data"],
  [
    "defaults of a server",
    Deployment,
    ...both(deployment({ env: [{ name: "A", value: "" }] }, {}, { strategy: {} })),
    undefined,
  ],
  [
    "quantities in another form",
    Deployment,
    deployment({ resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }),
    deployment({ resources: { limits: { cpu: 1, memory: "1Gi" } } }),
    undefined,
  ],
  [
    "a quantity of another family",
    Deployment,
    deployment({ resources: { limits: { memory: "1Ki" } } }),
    deployment({ resources: { limits: { memory: "1024" } } }),
    `${template}.containers.resources.limits.memory`,
  ],
  ["a defaulted key", Deployment, ...both(deployment({ ports: [{ containerPort: 80 }] })), undefined],
  [
    "a key that was a default",
    Deployment,
    deployment({ ports: [{ containerPort: 80 }] }),
    deployment({ ports: [{ containerPort: 80, protocol: "TCP" }] }),
    `${template}.containers.ports.protocol`,
  ],
  [
    "a key that is a default again",
    Deployment,
    deployment({ ports: [{ containerPort: 80, protocol: "UDP" }] }),
    deployment({ ports: [{ containerPort: 80 }] }),
    `${template}.containers.ports`,
  ],
  [
    "items in another order",
    Deployment,
    deployment({ env: [{ name: "A", value: "1" }, { name: "B", value: "2" }] }),
    deployment({ env: [{ name: "B", value: "2" }, { name: "A", value: "1" }] }),
    `${template}.containers.env`,
  ],
  ["no items", Deployment, ...both(deployment({ env: [], args: [] }, { volumes: [] })), undefined],
  ["null and false", Deployment, ...both(deployment({ stdin: false, securityContext: null })), undefined],
  [
    "false for null where false is kept",
    Deployment,
    deployment({}, { automountServiceAccountToken: null }),
    deployment({}, { automountServiceAccountToken: false }),
    `${template}.automountServiceAccountToken`,
  ],
  [
    "an empty structure for null",
    Deployment,
    deployment({ securityContext: null }),
    deployment({ securityContext: {} }),
    `${template}.containers.securityContext`,
  ],
  [
    "a default in a structure that is owned as one",
    Deployment,
    deployment({ env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } } }] }),
    deployment({ env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
    undefined,
  ],
  [
    "an empty selector",
    NetworkPolicy,
    { spec: { podSelector: { matchLabels: { a: "b" } } } },
    { spec: { podSelector: {} } },
    "spec.podSelector",
  ],
  [
    "an empty map in a list that is owned as one",
    NetworkPolicy,
    { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { a: "b" } } }] }] } },
    { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: {} } }] }] } },
    "spec.ingress",
  ],
  [
    "a member more in a map that is owned as one",
    Service,
    { spec: { ports: [{ port: 80 }], selector: { app: "web" } } },
    { spec: { ports: [{ port: 80 }], selector: { app: "web", paused: "" } } },
    "spec.selector",
  ],
  [
    "defaults of claims",
    StatefulSet,
    ...both(deployment({}, {}, {
      volumeClaimTemplates: [{
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
      }],
    })),
    undefined,
  ],
  [
    "a claim's request",
    PersistentVolumeClaim,
    ...changed(
      "1Gi",
      "1024Mi",
      (storage) => ({ spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } } }),
    ),
    undefined,
  ],
  [
    "the group of a subject",
    RoleBinding,
    ...both({ roleRef: { kind: "Role", name: "reader" }, subjects: [{ kind: "User", name: "kim" }] }),
    undefined,
  ],
  [
    "a custom kind",
    Machine,
    ...both(machine({ ports: [{ port: 1 }], tags: ["b", "a"], fixed: { a: { b: 1 } } })),
    undefined,
  ],
  [
    "a custom kind's text",
    Machine,
    ...changed("1", "1000m", (owner) => machine({ pairs: { cpu: owner } })),
    "spec.pairs.cpu",
  ],
  ["a text for a number", Machine, machine({ port: 80 }), machine({ port: "80" }), "spec.port"],
  ["a custom kind's empty structure", Machine, ...both(machine({ nested: {} })), "spec.nested"],
  [
    "a custom kind's set in another order",
    Machine,
    ...changed(["a", "b"], ["b", "a"], (tags) => machine({ tags })),
    "spec.tags",
  ],
  ["a custom kind's number that cannot be compared", Machine, ...both(machine({ anything: 2 ** 53 })), "spec.anything"],
  [
    "a member called __proto__",
    Machine,
    machine({ open: {} }),
    JSON.parse('{"spec":{"size":"Small","open":{"__proto__":{}}}}'),
    "spec.open",
  ],
];

function both(draft: Body): [Body, Body] {
  return [draft, draft];
}

function changed<T>(first: T, next: T, draft: (value: T) => Body): [Body, Body] {
  return [draft(first), draft(next)];
}

Deno.test("applyIfChanged sends what changes something, and names the first field that does", async (t) => {
  for (const [name, resource, first, next, path] of CASES) {
    await t.step(name, async () => {
      using shop = new Shop();
      if (resource === Machine) await defineMachines(shop);
      const current = await shop.applied(resource, first);
      assertEquals(await shop.reason(resource, next, current), path && `${path} differs`);
    });
  }
});

async function defineMachines({ client }: Shop): Promise<void> {
  const [machines] = customKinds();
  await client.resource(CustomResourceDefinition).create(machines as unknown as ObjectDraft<CustomResourceDefinition>);
}

Deno.test("applyIfChanged sends what another manager has taken, or added to", async () => {
  using shop = new Shop();
  const first = { data: { a: "1" }, metadata: { labels: { x: "y" } } };
  await shop.applied(ConfigMap, first);
  const maps = shop.client.resource(ConfigMap);
  const added = await maps.apply({ metadata: { name: "web", labels: { z: "" } }, data: { a: "1", b: "2" } }, {
    fieldManager: "other",
  });
  assertEquals(await shop.reason(ConfigMap, first, added as unknown as DynamicObject), undefined);
  const taken = await maps.patch("web", { type: "merge", body: { data: { a: "2" } } }, { fieldManager: "other" });
  assertEquals(await shop.reason(ConfigMap, first, taken as unknown as DynamicObject), "data differs");
});

Deno.test("applyIfChanged sends members that others own alone", async () => {
  using shop = new Shop();
  await shop.applied(PodDisruptionBudget, { spec: {} });
  const next = { spec: { maxUnavailable: 1 } };
  const current = await shop.client.resource(PodDisruptionBudget).apply({ metadata: { name: "web" }, ...next }, {
    fieldManager: "other",
  }) as unknown as DynamicObject;
  assertEquals(await shop.reason(PodDisruptionBudget, { spec: {} }, current), undefined);
  assertEquals(await shop.reason(PodDisruptionBudget, next, current), "spec differs");
});

Deno.test("applyIfChanged keeps the order of items among those of others", async () => {
  using shop = new Shop();
  const first = deployment({ env: [{ name: "A", value: "1" }, { name: "C", value: "3" }] });
  const current = await shop.applied(Deployment, first);
  const { spec: { template: { spec: { containers: [app] } } } } = current as unknown as Deployment;
  const withB = (env: readonly Body[]): DynamicObject =>
    ({ ...current, ...deployment({ ...app, env }) }) as unknown as DynamicObject;
  const [a, c] = app.env! as unknown as Body[];
  assertEquals(await shop.reason(Deployment, first, withB([a, { name: "B" }, c])), undefined);
  assertEquals(await shop.reason(Deployment, first, withB([c, a])), `${template}.containers.env differs`);
  assertEquals(await shop.reason(Deployment, first, withB([a, c, { ...a }])), `${template}.containers.env differs`);
});

Deno.test("applyIfChanged leaves an owned object that is being deleted, unless it has applied finalizers", async () => {
  using shop = new Shop();
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "shop", uid: "uid-of-shop" }];
  const endingWith = async (own: Body): Promise<string | undefined> => {
    const current = await shop.applied(ConfigMap, { data: { a: "1" }, metadata: { ownerReferences, ...own } });
    const ending = { ...current, metadata: { ...current.metadata, deletionTimestamp: "2026-01-31T12:00:00Z" } };
    return await shop.reason(ConfigMap, { data: { a: "2" }, metadata: { ownerReferences } }, ending);
  };
  assertEquals(await endingWith({}), undefined);
  assertEquals(await endingWith({ finalizers: ["example.com/backups"] }), "the object is being deleted");
});

Deno.test("applyIfChanged sends what it cannot compare", async () => {
  using shop = new Shop();
  const draft = { data: { a: "1" } };
  const current = await shop.applied(ConfigMap, draft);
  const { metadata } = current;
  const { managedFields, ...bare } = metadata;
  const reasonOf = async (changes: Body, next: Body = draft): Promise<string | undefined> =>
    await shop.reason(ConfigMap, next, { ...current, metadata: { ...metadata, ...changes } } as DynamicObject);
  const entryWith = (changes: Body): Body => ({ managedFields: [{ ...managedFields![0], ...changes }] });
  assertEquals(await reasonOf({}), undefined);
  assertEquals(await reasonOf({ managedFields: undefined }), "the cached object has no managedFields");
  assertEquals(await reasonOf({ managedFields: [] }), "data differs");
  assertEquals(await reasonOf(entryWith({ manager: "other" })), "data differs");
  assertEquals(await reasonOf(entryWith({ operation: "Update" })), "data differs");
  assertEquals(await reasonOf(entryWith({ subresource: "status" })), "data differs");
  assertEquals(await reasonOf(entryWith({ apiVersion: "v0" })), '"shop" has applied v0');
  assertEquals(await reasonOf({ deletionTimestamp: "2026-01-31T12:00:00Z" }), "the object is being deleted");
  const { uid, resourceVersion } = bare;
  const named = { ...draft, metadata: { uid, resourceVersion, namespace: "shop" } };
  assertEquals(await reasonOf({}, named), undefined);
  assertEquals(
    needToApply(ConfigMap, { ...current, ...draft, metadata: { ...bare, resourceVersion: "1" } }, {
      key: "shop/web",
      current,
      fieldManager: "shop",
    }),
    "metadata.resourceVersion differs",
  );
  const { reason } = await shop.client.resource(ConfigMap).applyIfChanged({ metadata: { name: "web" }, ...draft }, BY);
  assertEquals(reason, "the object is not cached");
});

Deno.test("applyIfChanged of nothing sends nothing where there is nothing", async () => {
  using shop = new Shop();
  const { metadata: { managedFields: _, ...metadata } } = await shop.applied(ConfigMap, {});
  assertEquals(await shop.reason(ConfigMap, {}, { kind: "ConfigMap", metadata } as DynamicObject), undefined);
  const current = { kind: "ConfigMap", metadata, data: { a: "1" } };
  assertEquals(await shop.reason(ConfigMap, {}, current as DynamicObject), "the cached object has no managedFields");
});

Deno.test("applyIfChanged refuses another object, a reduced one, and what apply refuses", async () => {
  using shop = new Shop();
  const draft = { metadata: { name: "web" }, data: { a: "1" } };
  const current = await shop.applied(ConfigMap, draft) as unknown as ConfigMap;
  const maps = shop.client.resource(ConfigMap);
  await assertRejects(
    () => maps.applyIfChanged({ ...draft, metadata: { name: "db" } }, { ...BY, current }),
    TypeError,
    'Cannot apply ConfigMap "shop/db" if it has changed: the cached object is "shop/web"',
  );
  const [reduced] = (await shop.client.resource(onlyFields(ConfigMap, ["data"])).list()).items;
  await assertRejects(
    () => maps.applyIfChanged(draft, { ...BY, current: reduced as unknown as ConfigMap }),
    TypeError,
    "the cached object is reduced to the fields data, so its other fields are unknown",
  );
  await assertRejects(
    () => maps.applyIfChanged(draft, { fieldManager: "", current }),
    TypeError,
    "needs the option fieldManager",
  );
  const misspelt = { ...BY, current, dryrun: true };
  await assertRejects(() => maps.applyIfChanged(draft, misspelt), TypeError, 'no option "dryrun"');
});

Deno.test("an informer keeps the managedFields of one manager", async () => {
  using shop = new Shop();
  const data = { a: "ä" };
  await shop.applied(ConfigMap, { data: { ascii: "1" } });
  for (const parse of ["lazy", "eager"] as const) {
    await using informers = new SharedInformerFactory(shop.client, { managedFields: { manager: "shop" }, parse });
    const maps = informers.forResource(ConfigMap);
    informers.start();
    await informers.waitForCacheSync();
    const managers = (key: string): unknown =>
      maps.lister.get(key)?.metadata.managedFields?.map(({ manager }) => manager);
    assertEquals(managers("shop/web"), ["shop"]);
    shop.server.create(ConfigMap, { metadata: { name: `of-others-${parse}`, namespace: "shop" }, data: { a: "1" } });
    const object = { metadata: { name: `of-two-${parse}`, labels: { a: "b" } }, data };
    await shop.client.resource(ConfigMap).apply(object, { fieldManager: "a" });
    const { metadata: { resourceVersion } } = await shop.client.resource(ConfigMap).apply(object, BY);
    await maps.waitForVersion(resourceVersion);
    assertEquals([managers(`shop/of-others-${parse}`), managers(`shop/of-two-${parse}`)], [[], ["shop"]]);
    const current = maps.lister.get(`shop/of-two-${parse}`)!;
    assertEquals(current.metadata.labels, { a: "b" });
    assertEquals((await shop.client.resource(ConfigMap).applyIfChanged(object, { ...BY, current })).reason, undefined);
  }
});

Deno.test("applyIfChanged of a reconcile compares with the cache of the reconciler", async () => {
  using shop = new Shop();
  const reasons: (string | undefined)[] = [];
  const colours: Record<string, string> = { colour: "red" };
  await using reconciler = new Reconciler(shop.client, Namespace, async ({ key: name, client }) => {
    const maps = client.resource(ConfigMap, { namespace: name });
    for (const data of [{ ...colours }, { ...colours }]) {
      const { reason } = await maps.applyIfChanged({ metadata: { name: "motd" }, data }, BY);
      reasons.push(reason);
    }
  }).watches(ConfigMap, ({ namespace }) => [namespace], { informer: { managedFields: { manager: "shop" } } });
  const running = reconciler.run();
  shop.server.create(Namespace, { metadata: { name: "shop" } });
  await reconciler.idle();
  // The cache has the write of a reconcile in the next one.
  assertEquals(reasons.splice(0).slice(-2), [undefined, undefined]);
  colours.colour = "blue";
  reconciler.enqueue("shop");
  await reconciler.idle();
  assertEquals(reasons[0], "data.colour differs");
  assertEquals(reasons.slice(-2), [undefined, undefined]);
  await reconciler[Symbol.asyncDispose]();
  await running;
});

Deno.test("what is known of built-in fields holds for all of their types", () => {
  const BUILT_IN =
    /^(|apps|autoscaling|batch|policy|(?!apiextensions|resource)[a-z]+(\.(apiserver|authorization))?\.k8s\.io)$/;
  const holds = new Map<string, number>();
  const seen = new Set<string>();
  const check = (what: keyof typeof KNOWN_FIELDS, path: readonly string[], is: boolean): void => {
    const name = [path.at(-1)!, path.slice(-2).join(".")].find((name) => KNOWN_FIELDS[what].has(name));
    if (name === undefined) return;
    assert(is, `${what} has "${name}", which does not hold for ${path.join(".")}`);
    holds.set(`${what} ${name}`, (holds.get(`${what} ${name}`) ?? 0) + 1);
  };
  const walk = (schema: Schema, path: readonly string[]): void => {
    if (schema.type === "list") walk(schema.items, path);
    if (schema.type === "map") walk(schema.values, [...path, "*"]);
    if (schema.type !== "struct") return;
    const id = `${schema.name} ${path.at(-1)}`;
    if (seen.has(id)) return;
    seen.add(id);
    for (const { name, schema: member, pointer, omitEmpty, default: value } of schema.fields.values()) {
      const at = [...path, name];
      const { type } = member;
      const isMap = type === "map" || type === "struct";
      check("mergedLists", at, member.type === "list" && member.list !== "atomic");
      check("atomicLists", at, member.type === "list" && member.list === "atomic");
      if (isMap) check("mergedMembers", at, !member.atomic);
      if (isMap) check("omittedMaps", at, type === "map" && omitEmpty);
      if (!isMap && type !== "list") check("omittedZeros", at, !pointer && omitEmpty && value === undefined);
      check("quantities", at, type === "quantity" || type === "string");
      walk(member, at);
    }
  };
  for (const line of SERVED_TEXT.split("\n")) {
    const [, group = "", version, kind] = /^(?:(\S+)\/)?(\w+) \S+ (\S+) (?:Namespaced|Cluster)/.exec(line) ?? [];
    if (kind === undefined || kind === "ControllerRevision" || !BUILT_IN.test(group)) continue;
    const schema = schemaOf(group, version, kind);
    if (schema !== undefined) walk(schema, []);
  }
  for (
    const what of ["mergedLists", "atomicLists", "mergedMembers", "omittedMaps", "omittedZeros", "quantities"] as const
  ) {
    for (const name of KNOWN_FIELDS[what]) assert(holds.has(`${what} ${name}`), `${what}: no type has "${name}"`);
  }
});

Deno.test("applyIfChanged says which field stays, because the same program wrote it by an update", async () => {
  using shop = new Shop();
  const maps = shop.client.resource(ConfigMap);
  const draft = { metadata: { name: "web", labels: { app: "web" } }, data: { key: "v" } };
  const kept = async (by: string | undefined, next: Body = draft): Promise<readonly unknown[]> => {
    const name = `web-${shop.server.requests.length}`;
    const metadata = { ...draft.metadata, name, finalizers: ["example.com/x"] };
    await maps.create({ metadata, data: { key: "v", legacy: "old" } }, { fieldManager: by });
    const mine = { ...next, metadata: { ...next.metadata as object, name } } as typeof draft;
    const sent = await maps.applyIfChanged(mine, BY);
    const again = await maps.applyIfChanged(mine, { ...BY, current: sent.object });
    assertEquals([sent.reason, again.reason], ["the object is not cached", undefined]);
    assertEquals(again.object, sent.object);
    assertEquals(again.kept, sent.kept);
    return [sent.kept, sent.object.data];
  };
  const both = { key: "v", legacy: "old" };
  assertEquals(await kept(undefined), ['"kube-informer" owns data.legacy by an update', both]);
  assertEquals(await kept("shop"), ['"shop" owns data.legacy by an update', both]);
  assertEquals(await kept("kubectl-edit"), [undefined, both]);
  assertEquals(await kept(undefined, { ...draft, data: both }), [undefined, both]);
  assertEquals(await kept(undefined, { metadata: { name: "web" }, data: both }), [
    ...['"kube-informer" owns metadata.labels by an update', both],
  ]);
});

Deno.test("applyIfChanged compares items, and texts of Secrets, with what the same program wrote by an update", async () => {
  using shop = new Shop();
  const containers = (...names: string[]): Body[] => names.map((name) => ({ name, image: "web:1" }));
  const web = { spec: { selector: { matchLabels: { a: "b" } } } };
  const draft = (...names: string[]): Body => ({
    spec: { ...web.spec, template: { metadata: { labels: { a: "b" } }, spec: { containers: containers(...names) } } },
  });
  const applied = await shop.applied(Deployment, draft("app"));
  const keptOf = async (item: string, fields: Body): Promise<string | undefined> => {
    const fieldsV1 = {
      "f:spec": { "f:template": { "f:spec": { "f:containers": { [`k:{"name":"${item}"}`]: fields } } } },
    };
    const entry = { manager: "shop", operation: "Update", apiVersion: "apps/v1", fieldsV1 };
    const managedFields = [...applied.metadata.managedFields ?? [], entry];
    const current = { ...applied, metadata: { ...applied.metadata, managedFields } } as never;
    const next = draftOf(draft("app"));
    return (await shop.client.resource(Deployment).applyIfChanged(next as never, { ...BY, current })).kept;
  };
  assertEquals(await keptOf("app", { ".": {}, "f:name": {}, "f:image": {} }), undefined);
  assertEquals(
    await keptOf("app", { ".": {}, "f:args": {} }),
    '"shop" owns spec.template.spec.containers.args by an update',
  );
  assertEquals(await keptOf("proxy", { ".": {} }), '"shop" owns spec.template.spec.containers by an update');

  const secrets = shop.client.resource(Secret);
  const keys = { metadata: { name: "keys" }, type: "Opaque", stringData: { key: "v" } } as const;
  await secrets.create(keys);
  assertEquals((await secrets.applyIfChanged(keys, BY)).kept, undefined);
});
