import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "../../../../src/engine/client/client.ts";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { FakeApiServer, FakeTime } from "../../../../src/testing/mod.ts";
import { answersToAddresses } from "../../../support/conversions/addresses.ts";
import {
  type Answer,
  ask,
  ConfigMap,
  CONTAINERS,
  MAPS,
  OPEN_SCHEMA,
  Pod,
} from "../../../support/servers/fake_server.ts";

const GROUP = "admissionregistration.k8s.io";
const NAMES = { mutating: "MutatingWebhookConfiguration", validating: "ValidatingWebhookConfiguration" };

// deno-lint-ignore no-explicit-any -- tests look into reviews freely
type Loose = any;
type Reply = Loose | ((request: Loose, url: URL) => Loose);
type Operation = readonly Loose[];

const patchOf = (...operations: Operation): Loose => {
  const bytes = new TextEncoder().encode(JSON.stringify(operations));
  return { allowed: true, patchType: "JSONPatch", patch: btoa(String.fromCharCode(...bytes)) };
};
const label = (name: string, value = "yes"): Loose => ({ op: "add", path: `/metadata/labels/${name}`, value });

/** A server whose webhooks answer by their names, with the reviews that they got. */
class Hooked {
  readonly server: FakeApiServer;
  readonly asked: { readonly hook: string; readonly url: string; readonly request: Loose }[] = [];
  readonly replies: Record<string, Reply> = {};

  constructor(options: ConstructorParameters<typeof FakeApiServer>[0] = {}) {
    this.server = new FakeApiServer(options);
    this.server.serveWebhooks({ fetch: (request) => this.#answer(request) });
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const hook = url.pathname.slice(1);
    const review = await request.json();
    this.asked.push({ hook, url: request.url, request: review.request });
    const reply = this.replies[hook] ?? { allowed: true };
    const made = typeof reply === "function" ? await reply(review.request, url) : reply;
    if (made instanceof Response) return made;
    const { kind, apiVersion } = review;
    return Response.json({ kind, apiVersion, response: { uid: review.request.uid, ...made } });
  }

  get hooks(): string[] {
    return this.asked.map(({ hook }) => hook);
  }

  /** Adds a webhook for config maps in a configuration of its own. */
  add(type: "mutating" | "validating", name: string, reply: Reply = { allowed: true }, more: Loose = {}): this {
    this.replies[name] = reply;
    const kind = NAMES[type];
    const plural = `${kind.toLowerCase()}s`;
    const resource = defineResource({ group: GROUP, version: "v1", plural, kind, scope: "Cluster" });
    const webhook = {
      name,
      clientConfig: { url: `https://hooks.test/${name}` },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...more,
    };
    this.server.create<Loose>(resource, { metadata: { name }, webhooks: [webhook] });
    return this;
  }

  post(metadata: Loose = {}, path = MAPS, more: Loose = {}): Promise<Answer> {
    return ask(this.server, path, { method: "POST", body: { metadata: { name: "a", ...metadata }, ...more } });
  }
}

const rules = (resources: string[], apiGroups = ["*"], more: Loose = {}): Loose => ({
  rules: [{ operations: ["*"], apiGroups, apiVersions: ["*"], resources, ...more }],
});

Deno.test("Without serveWebhooks, the fake ignores webhook configurations", async () => {
  const hooked = new Hooked().add("validating", "no", { allowed: false });
  const plain = new FakeApiServer();
  const Configuration = defineResource({
    group: GROUP,
    version: "v1",
    plural: "validatingwebhookconfigurations",
    kind: NAMES.validating,
    scope: "Cluster",
  });
  plain.create<Loose>(Configuration, hooked.server.get(Configuration, "no") as Loose);
  assertEquals((await ask(plain, MAPS, { method: "POST", body: { metadata: { name: "a" } } })).status, 201);
  assertEquals((await hooked.post()).status, 400);
});

Deno.test("A review has everything that the server sends", async () => {
  const hooked = new Hooked({ tokens: { t: "jane" } }).add("mutating", "m").add("validating", "v");
  const query = "?fieldManager=me&fieldValidation=Strict";
  const body = { metadata: { generateName: "a-" }, data: { a: "1" } };
  const headers = { authorization: "Bearer t" };
  const answer = await ask(hooked.server, MAPS + query, { method: "POST", body, headers } as Loose);
  assertEquals(answer.status, 201);
  const { name } = answer.json.metadata;
  const [{ url, request: mutating }, { request: validating }] = hooked.asked;
  assertEquals(url, "https://hooks.test/m?timeout=10s");
  const { uid, object, ...rest } = mutating;
  assertMatch(uid, /^[\da-f-]{36}$/);
  assert(uid !== validating.uid);
  const kind = { group: "", version: "v1", kind: "ConfigMap" };
  const resource = { group: "", version: "v1", resource: "configmaps" };
  assertEquals(rest, {
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    namespace: "answers",
    operation: "CREATE",
    userInfo: { username: "jane", groups: ["system:authenticated"] },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "me", fieldValidation: "Strict" },
  });
  assertEquals([object.kind, object.apiVersion, object.data], ["ConfigMap", "v1", { a: "1" }]);
  assertEquals(Object.keys(object.metadata).sort(), ["generateName", "managedFields", "namespace"]);
  assertEquals(validating.name, name);
  assertEquals(validating.object.metadata.uid, answer.json.metadata.uid);
  assertEquals(validating.object.metadata.creationTimestamp, answer.json.metadata.creationTimestamp);
});

Deno.test("Updates, patches and deletions have both objects and their options", async () => {
  const hooked = new Hooked().add("validating", "v");
  await hooked.post();
  const path = `${MAPS}/a`;
  await ask(hooked.server, path, { method: "PUT", body: { metadata: { name: "a" }, data: { a: "1" } } });
  const headers = { "content-type": "application/merge-patch+json" };
  await ask(hooked.server, path, { method: "PATCH", body: { data: { a: "2" } }, headers } as Loose);
  await ask(hooked.server, path, { method: "DELETE", body: { gracePeriodSeconds: 3 } });
  assertEquals(hooked.server.get(ConfigMap, "answers/a"), undefined);
  const seen = hooked.asked.map(({ request }) => [
    request.operation,
    request.name,
    request.oldObject?.data?.a ?? null,
    request.object?.data?.a ?? null,
    request.options,
  ]);
  const apiVersion = "meta.k8s.io/v1";
  assertEquals(seen.slice(1), [
    ["UPDATE", "a", null, "1", { kind: "UpdateOptions", apiVersion }],
    ["UPDATE", "a", "1", "2", { kind: "UpdateOptions", apiVersion }],
    ["DELETE", "a", "2", null, { kind: "DeleteOptions", apiVersion, gracePeriodSeconds: 3 }],
  ]);
});

Deno.test("Webhooks are asked in the order of their configurations' names, and mutate in sequence", async () => {
  const labelled = (name: string): Reply => ({ object }: Loose) =>
    object.metadata.labels === undefined
      ? patchOf({ op: "add", path: "/metadata/labels", value: { [name]: "1" } })
      : patchOf(label(name, String(Object.keys(object.metadata.labels).length + 1)));
  const hooked = new Hooked().add("validating", "a-v").add("mutating", "c", labelled("c"))
    .add("mutating", "b", labelled("b")).add("mutating", "d", labelled("d"));
  const { json } = await hooked.post();
  assertEquals(json.metadata.labels, { b: "1", c: "2", d: "3" });
  assertEquals(hooked.hooks, ["b", "c", "d", "a-v"]);
  assertEquals(hooked.asked[3].request.object.metadata.labels, { b: "1", c: "2", d: "3" });
});

Deno.test("A webhook is asked again once if a later one has changed the object, and it wants that", async () => {
  const counted: Reply = ({ object }: Loose) =>
    patchOf({ op: "add", path: "/data/count", value: String(Number(object.data?.count ?? 0) + 1) });
  const hooked = new Hooked().add("mutating", "a", counted, { reinvocationPolicy: "IfNeeded" })
    .add("mutating", "b", { allowed: true }).add("mutating", "c", counted, { reinvocationPolicy: "IfNeeded" });
  const { json } = await hooked.post({}, MAPS, { data: { x: "y" } });
  // The second call of a changes the object, and so c is asked again as well.
  assertEquals(hooked.hooks, ["a", "b", "c", "a", "c"]);
  assertEquals(json.data, { x: "y", count: "4" });
});

Deno.test("A patched object is pruned, gets defaults, and is checked", async () => {
  const hooked = new Hooked().add(
    "mutating",
    "m",
    patchOf(
      { op: "add", path: "/spec/containers/0/ports", value: [{ containerPort: 80, nope: 1 }] },
      { op: "add", path: "/spec/tolerations/-", value: { key: "a", operator: "Exists" } },
    ),
    rules(["pods"]),
  ).add("validating", "v", { allowed: true }, rules(["pods"]));
  const pods = "/api/v1/namespaces/answers/pods";
  const created = await hooked.post({}, pods, { spec: { containers: CONTAINERS } });
  assertEquals(created.json.spec.containers[0].ports, [{ containerPort: 80, protocol: "TCP" }]);
  assertEquals(created.json.spec.tolerations.length, 3); // two are of the server's own plugin
  assertEquals(created.headers.get("warning"), null);
  hooked.replies.m = patchOf({ op: "replace", path: "/spec/containers/0/image", value: "" });
  const wrong = await hooked.post({ name: "b" }, pods, { spec: { containers: CONTAINERS } });
  assertEquals([wrong.status, wrong.json.details.causes[0].field], [422, "spec.containers[0].image"]);
  assertEquals(hooked.hooks, ["m", "v", "m"]);
  hooked.replies.m = patchOf({ op: "replace", path: "/spec/containers", value: "x" });
  const unreadable = await hooked.post({ name: "b" }, pods, { spec: { containers: CONTAINERS } });
  assertEquals([unreadable.status, unreadable.json.reason], [500, "InternalError"]);
});

Deno.test("A webhook cannot change the identity of an object, and owns nothing", async () => {
  const hooked = new Hooked().add("mutating", "m", ({ operation }: Loose) =>
    patchOf(
      { op: "add", path: "/metadata/uid", value: "u" },
      { op: "add", path: "/metadata/namespace", value: "other" },
      { op: "add", path: "/data/operation", value: operation },
    ));
  const created = (await hooked.post({}, MAPS, { data: { x: "1" } })).json;
  assertMatch(created.metadata.uid, /-/);
  assertEquals([created.metadata.namespace, created.data], ["answers", { operation: "CREATE", x: "1" }]);
  const body = { metadata: { name: "a" }, data: { x: "1" } };
  const updated = (await ask(hooked.server, `${MAPS}/a`, { method: "PUT", body })).json;
  assertEquals([updated.metadata.uid, updated.data.operation], [created.metadata.uid, "UPDATE"]);
  const owned = updated.metadata.managedFields.map((entry: Loose) => entry.fieldsV1);
  assertEquals(owned, [{ "f:data": { ".": {}, "f:x": {} } }]);
});

Deno.test("Rules select operations, groups, versions, resources, subresources and scope", async () => {
  const hooked = new Hooked();
  const add = (name: string, more: Loose): void => void hooked.add("validating", name, { allowed: true }, more);
  add("all", rules(["*/*"]));
  add("cluster", rules(["*"], ["*"], { scope: "Cluster" }));
  add("groups", rules(["pods"], ["apps"]));
  add("main", rules(["*"]));
  add("namespaced", rules(["*"], ["*"], { scope: "Namespaced" }));
  add("pods-all", rules(["pods/*"]));
  add("pods-main", rules(["pods"]));
  add("status", rules(["pods/status"]));
  add("updates", rules(["pods"], [""], { operations: ["UPDATE", "DELETE"] }));
  add("versions", { ...rules(["pods"], [""], { apiVersions: ["v2"] }) });
  const asked = async (perform: () => Promise<Answer>): Promise<string[]> => {
    hooked.asked.length = 0;
    const { status, text } = await perform();
    assert(status < 300, text);
    return hooked.hooks.sort();
  };
  const pods = "/api/v1/namespaces/answers/pods";
  const spec = { containers: CONTAINERS };
  assertEquals(await asked(() => hooked.post({}, pods, { spec })), [
    "all",
    "main",
    "namespaced",
    "pods-all",
    "pods-main",
  ]);
  const status = { method: "PUT", body: { metadata: { name: "a" }, spec, status: { phase: "Running" } } };
  assertEquals(await asked(() => ask(hooked.server, `${pods}/a/status`, status)), ["all", "pods-all", "status"]);
  assertEquals(hooked.asked[0].request.subResource, "status");
  assertEquals(await asked(() => hooked.post({ name: "n" }, "/api/v1/namespaces")), ["all", "cluster", "main"]);
  assertEquals(hooked.asked[0].request.namespace, "n");
  const deleted = await asked(() => ask(hooked.server, `${pods}/a?gracePeriodSeconds=0`, { method: "DELETE" }));
  assertEquals(deleted, ["all", "main", "namespaced", "pods-all", "pods-main", "updates"]);
  assertEquals(hooked.asked[0].request.options.gracePeriodSeconds, 0);
  // Reads are not for webhooks.
  assertEquals(await asked(() => ask(hooked.server, pods)), []);
});

Deno.test("Evictions, bindings and scales are reviewed as the kinds of their bodies", async () => {
  const hooked = new Hooked().add("mutating", "m", { allowed: true }, rules(["*/*"]))
    .add("validating", "v", { allowed: true }, rules(["*/*"]));
  for (const name of ["a", "b"]) hooked.server.create<Loose>(Pod, { metadata: { namespace: "answers", name } });
  const pod = "/api/v1/namespaces/answers/pods";
  assertEquals((await hooked.post({}, `${pod}/a/binding`, { target: { name: "node" } })).status, 201);
  assertEquals((await hooked.post({}, `${pod}/a/eviction`)).status, 201);
  const seen = hooked.asked.map((
    { hook, request },
  ) => [hook, request.operation, request.subResource, request.kind.kind]);
  assertEquals(seen, [
    ["m", "CREATE", "binding", "Binding"],
    ["v", "CREATE", "binding", "Binding"],
    ["m", "CREATE", "eviction", "Eviction"],
    ["v", "CREATE", "eviction", "Eviction"],
  ]);
  assertEquals(hooked.asked[2].request.object.apiVersion, "policy/v1");
  hooked.replies.m = patchOf({ op: "replace", path: "/target/name", value: "other" });
  await hooked.post({ name: "b" }, `${pod}/b/binding`, { target: { name: "node" } });
  assertEquals(hooked.server.get(Pod, "answers/b")?.spec?.nodeName, "other");

  const Widget = {
    group: "example.com",
    version: "v1",
    plural: "widgets",
    kind: "Widget",
    scope: "Namespaced",
  } as const;
  hooked.server.define({ ...Widget, ...OPEN_SCHEMA, subresources: ["scale"] } as Loose);
  hooked.server.create<Loose>(defineResource(Widget), { metadata: { namespace: "answers", name: "w" }, spec: {} });
  hooked.replies.m = patchOf({ op: "replace", path: "/spec/replicas", value: 7 });
  hooked.asked.length = 0;
  const path = "/apis/example.com/v1/namespaces/answers/widgets/w/scale";
  const { json } = await ask(hooked.server, path, {
    method: "PUT",
    body: { metadata: { name: "w" }, spec: { replicas: 2 } },
  });
  assertEquals([json.kind, json.spec.replicas], ["Scale", 7]);
  const [{ request }, { request: last }] = hooked.asked;
  assertEquals([request.kind.kind, request.oldObject.spec.replicas, request.object.spec.replicas], ["Scale", 0, 2]);
  assertEquals([request.resource.resource, last.object.spec.replicas], ["widgets", 7]);
});

Deno.test("A webhook for one version of a custom kind gets the other version, unless the match is exact", async () => {
  const hooked = new Hooked();
  for (const version of ["v1", "v2"]) {
    hooked.server.define({ group: "example.com", version, plural: "widgets", kind: "Widget", scope: "Namespaced" });
  }
  const more = rules(["widgets"], ["example.com"], { apiVersions: ["v1"] });
  hooked.add("mutating", "exact", { allowed: true }, { ...more, matchPolicy: "Exact" })
    .add("mutating", "same", patchOf({ op: "add", path: "/spec", value: 1 }), more);
  const { json } = await hooked.post({}, "/apis/example.com/v2/namespaces/answers/widgets", {
    apiVersion: "example.com/v2",
    kind: "Widget",
  });
  assertEquals([json.apiVersion, json.spec], ["example.com/v2", 1]);
  assertEquals(hooked.hooks, ["same"]);
  const { kind, requestKind, resource, requestResource, object } = hooked.asked[0].request;
  assertEquals([kind, requestKind, resource, requestResource].map(({ version }) => version), ["v1", "v2", "v1", "v2"]);
  assertEquals(object.apiVersion, "example.com/v1");
});

Deno.test("Selectors look at the old and the new object, and at the labels of the namespace", async () => {
  const hooked = new Hooked();
  const Namespace = defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", scope: "Cluster" });
  hooked.server.create<Loose>(Namespace, { metadata: { name: "answers", labels: { team: "a" } } });
  const both = { rules: [...rules(["configmaps"]).rules, ...rules(["namespaces"]).rules] };
  hooked.add("validating", "object", { allowed: true }, { ...both, objectSelector: { matchLabels: { on: "1" } } });
  hooked.add("validating", "space", { allowed: true }, { ...both, namespaceSelector: { matchLabels: { team: "a" } } });
  const named = { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["other"] }] };
  hooked.add("validating", "z-named", { allowed: true }, { ...both, namespaceSelector: named });
  await hooked.post();
  assertEquals(hooked.hooks, ["space"]);
  await hooked.post({}, MAPS.replace("answers", "other"));
  assertEquals(hooked.hooks.slice(1), ["z-named"]);
  for (const labels of [{ on: "1" }, {}, {}]) {
    await ask(hooked.server, `${MAPS}/a`, { method: "PUT", body: { metadata: { name: "a", labels } } });
  }
  assertEquals(hooked.hooks.slice(2), ["object", "space", "object", "space", "space"]);
  // A new namespace is selected by its own labels.
  await hooked.post({ name: "new", labels: { team: "a" } }, "/api/v1/namespaces");
  assertEquals(hooked.hooks.slice(7), ["space"]);
});

Deno.test("Match conditions skip a webhook, and their failures follow its failure policy", async () => {
  const hooked = new Hooked();
  const on = (name: string, failurePolicy: string, ...expressions: string[]): void => {
    const matchConditions = expressions.map((expression, at) => ({ name: `c${at}`, expression }));
    hooked.add("validating", name, { allowed: true }, { matchConditions, failurePolicy });
  };
  on("a", "Fail", "request.operation == 'CREATE'", "!('system:nodes' in request.userInfo.groups)");
  on("b", "Fail", "object.data.size() > 5");
  on("c", "Fail", "oldObject.metadata.name == 'x'", "request.dryRun"); // the false one wins
  on("d", "Ignore", "object.metadata.labels['a'] == 'x'");
  on("e", "Fail", "oldObject == null && has(object.data) && object.data.a == '1'");
  assertEquals((await hooked.post({}, MAPS, { data: { a: "1" } })).status, 201);
  assertEquals(hooked.hooks, ["a", "e"]);
  on("f", "Fail", "object.metadata.labels['a'] == 'x'");
  const { status, json } = await hooked.post({ name: "b" }, MAPS, { data: { a: "1" } });
  const expression = "expression 'object.metadata.labels['a'] == 'x'' resulted in error: no such key: labels";
  assertEquals([status, json.message], [403, `configmaps "b" is forbidden: ${expression}`]);
  assertEquals(hooked.hooks.length, 2);
});

Deno.test("A denial has the webhook's code, reason and details in the words of the server", async () => {
  const hooked = new Hooked().add("validating", "v");
  const denied = async (status?: Loose): Promise<unknown[]> => {
    hooked.replies.v = { allowed: false, status };
    const { status: code, json } = await hooked.post();
    return [code, json.reason, json.message, json.details];
  };
  const text = `admission webhook "v" denied the request`;
  assertEquals(await denied(), [400, undefined, `${text} without explanation`, undefined]);
  assertEquals(await denied({ reason: "Odd" }), [400, "Odd", `${text}: Odd`, undefined]);
  assertEquals(await denied({ code: 200, message: "no" }), [400, undefined, `${text}: no`, undefined]);
  const causes = [{ reason: "FieldValueInvalid", message: "odd", field: "data.a" }];
  const status = { code: 422, reason: "Invalid", message: "wrong", details: { causes } };
  assertEquals(await denied(status), [422, "Invalid", `${text}: wrong`, { causes }]);
  assertEquals(hooked.server.get(ConfigMap, "answers/a"), undefined);
});

Deno.test("A webhook that fails refuses the write, unless its failure policy is Ignore", async () => {
  const failures: [Reply, string][] = [
    [() => Promise.reject(new Error("down")), `failed to call webhook: Post "https://hooks.test/v?timeout=10s": down`],
    [
      () => new Response("oops", { status: 500 }),
      `failed to call webhook: an error on the server ("oops") has prevented the request from succeeding`,
    ],
    [
      () => new Response("", { status: 404 }),
      "failed to call webhook: the server could not find the requested resource",
    ],
    [() => new Response("{}"), "failed to call webhook: Object 'Kind' is missing in '{}'"],
    [
      () => Response.json({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" }),
      "received invalid webhook response: webhook response was absent",
    ],
    [
      ({ uid }: Loose) => Response.json({ kind: "Odd", apiVersion: "v1", response: { uid } }),
      "received invalid webhook response: expected webhook response of " +
      "admission.k8s.io/v1, Kind=AdmissionReview, got /v1, Kind=Odd",
    ],
    [
      { allowed: true, patch: "W10=" },
      "received invalid webhook response: validating webhook may not return response.patch",
    ],
  ];
  for (const [reply, why] of failures) {
    for (const failurePolicy of ["Fail", "Ignore", undefined]) {
      const hooked = new Hooked().add("validating", "v", reply, { failurePolicy });
      const { status, json } = await hooked.post();
      const message = `failed calling webhook "v": ${why}`;
      if (failurePolicy === "Ignore") assertEquals(status, 201);
      else {
        assertEquals([status, json.reason, json.message], [
          500,
          "InternalError",
          `Internal error occurred: ${message}`,
        ]);
        assertEquals(json.details, { causes: [{ message }] });
      }
    }
  }
  const other = new Hooked().add("validating", "v", { uid: "x", allowed: true });
  assertMatch(
    (await other.post()).json.message,
    /received invalid webhook response: expected response.uid="[^"]+", got "x"$/,
  );
});

Deno.test("A patch of a wrong form follows the failure policy, and a patch that does not apply is an error", async () => {
  const wrong: [Loose, number][] = [
    [{ patch: btoa("{}"), patchType: "JSONPatch" }, 201],
    [{ patch: btoa("[1]"), patchType: "JSONPatch" }, 201],
    [{ patch: "%", patchType: "JSONPatch" }, 201],
    [{ patch: btoa("[{}]"), patchType: "Merge" }, 201],
    [{ patch: btoa("[{}]") }, 201],
    [{ patchType: "JSONPatch" }, 201],
    [patchOf({ op: "replace", path: "/none/at/all", value: 1 }), 500],
    [patchOf({ op: "test", path: "/kind", value: "Odd" }), 500],
  ];
  for (const [reply, ignored] of wrong) {
    const fails = new Hooked().add("mutating", "m", { allowed: true, ...reply });
    const { status, json } = await fails.post();
    assertEquals([status, json.reason], [500, "InternalError"]);
    const ignores = new Hooked().add("mutating", "m", { allowed: true, ...reply }, { failurePolicy: "Ignore" });
    assertEquals((await ignores.post()).status, ignored, JSON.stringify(reply));
  }
  const hooked = new Hooked().add(
    "mutating",
    "m",
    ({ operation }: Loose) => operation === "DELETE" ? patchOf({ op: "add", path: "/a", value: 1 }) : { allowed: true },
  );
  await hooked.post();
  const { status, json } = await ask(hooked.server, `${MAPS}/a`, { method: "DELETE" });
  const why = `admission webhook "m" attempted to modify the object, which is not supported for this operation`;
  assertEquals([status, json.message], [500, `Internal error occurred: ${why}`]);
});

Deno.test("A webhook has as long as its timeoutSeconds, by the clock of timers", async () => {
  using time = new FakeTime();
  for (const failurePolicy of ["Fail", "Ignore"]) {
    const hooked = new Hooked().add("validating", "v", () => new Promise(() => {}), {
      timeoutSeconds: 2,
      failurePolicy,
    });
    let answer: Answer | undefined;
    const asked = hooked.post().then((it) => answer = it);
    await time.tickAsync(1_999);
    assertEquals([answer, hooked.hooks], [undefined, ["v"]]);
    await time.tickAsync(1);
    const { status, json } = await asked;
    if (failurePolicy === "Ignore") assertEquals(status, 201);
    else assertMatch(json.message, /failed to call webhook: Post "[^"]+\?timeout=2s": context deadline exceeded$/);
  }
});

Deno.test("A client that goes away ends the calls, and nothing is written", async () => {
  const hooked = new Hooked().add("validating", "v", () => new Promise(() => {}), { failurePolicy: "Ignore" });
  const controller = new AbortController();
  const init = { method: "POST", body: `{"metadata":{"name":"a"}}`, headers: { "content-type": "application/json" } };
  const asked = hooked.server.fetch(new Request(`http://fake${MAPS}`, { ...init, signal: controller.signal }));
  while (hooked.asked.length === 0) await new Promise((resolve) => setTimeout(resolve));
  controller.abort(new Error("gone"));
  await assertRejects(() => asked, Error, "gone");
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(hooked.server.get(ConfigMap, "answers/a"), undefined);
});

Deno.test("A dry run fails if a webhook has side effects, and is reviewed as one if not", async () => {
  for (
    const [sideEffects, status] of [["None", 201], ["NoneOnDryRun", 201], ["Some", 400], ["Unknown", 400]] as const
  ) {
    const hooked = new Hooked().add("validating", "v", { allowed: true }, { sideEffects });
    const answer = await hooked.post({}, `${MAPS}?dryRun=All`);
    assertEquals(answer.status, status);
    if (status === 400) assertEquals(answer.json.message, `admission webhook "v" does not support dry run`);
    else assertEquals([hooked.asked[0].request.dryRun, hooked.asked[0].request.options.dryRun], [true, ["All"]]);
    assertEquals((await hooked.post({}, MAPS)).status, 201);
  }
});

Deno.test("Warnings of webhooks are headers of the answer, each once", async () => {
  const warnings = ["be careful", `say "ü"`, "two\nlines"];
  const hooked = new Hooked().add("mutating", "m", { allowed: true, warnings })
    .add("validating", "v", { allowed: false, warnings: ["be careful", "last"] });
  const { status, headers } = await hooked.post();
  assertEquals(status, 400);
  const utf8 = String.fromCharCode(...new TextEncoder().encode("ü"));
  assertEquals(headers.get("warning"), `299 - "be careful", 299 - "say \\"${utf8}\\"", 299 - "last"`);
});

Deno.test("Services have URLs with their port and path", async () => {
  const hooked = new Hooked();
  const service = { namespace: "ns", name: "svc" };
  hooked.add("validating", "a", { allowed: true }, {
    clientConfig: { service: { ...service, path: "/x", port: 8443 } },
  });
  hooked.add("validating", "b", { allowed: true }, { clientConfig: { service }, timeoutSeconds: 5 });
  await hooked.post();
  const urls = hooked.asked.map(({ url }) => url);
  assertEquals(urls, ["https://svc.ns.svc:8443/x?timeout=10s", "https://svc.ns.svc/?timeout=5s"]);
});

Deno.test("Validating webhooks are asked at once", async () => {
  const both = Promise.withResolvers<void>();
  const hooked = new Hooked();
  const reply = async (): Promise<Loose> => {
    if (hooked.asked.length === 2) both.resolve();
    await both.promise;
    return { allowed: true };
  };
  hooked.add("validating", "a", reply).add("validating", "b", reply);
  assertEquals((await hooked.post()).status, 201);
});

Deno.test("An object that changes while webhooks are asked is patched again, and they are asked again", async () => {
  const hooked = new Hooked();
  hooked.server.create<Loose>(ConfigMap, { metadata: { namespace: "answers", name: "a" }, data: { a: "1" } });
  hooked.add("validating", "v", () => {
    if (hooked.asked.length === 1) hooked.server.patch(ConfigMap, "answers/a", { data: { b: "2" } });
    return { allowed: true };
  });
  const headers = { "content-type": "application/merge-patch+json" };
  const patched = await ask(
    hooked.server,
    `${MAPS}/a`,
    { method: "PATCH", body: { data: { c: "3" } }, headers } as Loose,
  );
  assertEquals(patched.json.data, { a: "1", b: "2", c: "3" });
  assertEquals(hooked.asked.map(({ request }) => request.oldObject.data), [{ a: "1" }, { a: "1", b: "2" }]);
  const { resourceVersion } = patched.json.metadata;
  hooked.asked.length = 0;
  hooked.replies.v = () => {
    hooked.server.patch(ConfigMap, "answers/a", { data: { b: "4" } });
    return { allowed: true };
  };
  const body = { metadata: { name: "a", resourceVersion }, data: {} };
  assertEquals((await ask(hooked.server, `${MAPS}/a`, { method: "PUT", body })).status, 409);
});

Deno.test("A deletion of a collection asks about each object, and ends at the first refusal", async () => {
  const hooked = new Hooked().add(
    "validating",
    "v",
    ({ oldObject }: Loose) => ({ allowed: oldObject.metadata.name !== "b" }),
  );
  for (const name of ["a", "b", "c"]) hooked.server.create(ConfigMap, { metadata: { namespace: "answers", name } });
  assertEquals((await ask(hooked.server, MAPS, { method: "DELETE" })).status, 400);
  assertEquals(hooked.server.list(ConfigMap).map(({ metadata }) => metadata.name), ["b", "c"]);
  assertEquals(hooked.asked.map(({ request }) => request.oldObject.metadata.name), ["a", "b"]);
  hooked.replies.v = { allowed: true };
  const { status, json } = await ask(hooked.server, MAPS, { method: "DELETE" });
  assertEquals([status, json.items.length, hooked.server.list(ConfigMap).length], [200, 2, 0]);
});

Deno.test("Configurations are never reviewed, nor are the writes of the test itself", async () => {
  const hooked = new Hooked().add("validating", "v", { allowed: false }, rules(["*/*"], ["*"]));
  const path = `/apis/${GROUP}/v1/validatingwebhookconfigurations/v`;
  hooked.server.create(ConfigMap, { metadata: { name: "own" } });
  assertEquals((await ask(hooked.server, path, { method: "DELETE" })).status, 200);
  assertEquals(hooked.hooks, []);
  assertEquals((await hooked.post()).status, 201);
});

Deno.test("Configurations that requests create are followed at once, with the server's defaults", async () => {
  const hooked = new Hooked();
  hooked.replies.v = { allowed: false };
  const webhook = {
    name: "v.example.com",
    clientConfig: { url: "https://hooks.test/v" },
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const path = `/apis/${GROUP}/v1/validatingwebhookconfigurations`;
  const created = await hooked.post({}, path, { webhooks: [webhook] });
  assertEquals([created.status, created.json.webhooks[0].timeoutSeconds], [201, 10]);
  assertEquals(
    (await hooked.post()).json.message,
    `admission webhook "v.example.com" denied the request without explanation`,
  );
});

Deno.test("A server-side apply is reviewed as what it does", async () => {
  const hooked = new Hooked().add(
    "mutating",
    "m",
    ({ operation }: Loose) => patchOf({ op: "add", path: `/data/${operation.toLowerCase()}`, value: "1" }),
  );
  const headers = { "content-type": "application/apply-patch+yaml" };
  const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { x: "1" } };
  const apply = (): Promise<Answer> =>
    ask(hooked.server, `${MAPS}/a?fieldManager=me`, { method: "PATCH", body, headers } as Loose);
  assertEquals((await apply()).status, 201);
  assertEquals((await apply()).json.data, { x: "1", create: "1", update: "1" });
  const kinds = hooked.asked.map(({ request }) => request.options.kind);
  assertEquals(kinds, ["CreateOptions", "UpdateOptions"]);
});

Deno.test("an address without TLS is refused, and authorities that are no PEM text in the CRD of a served kind", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const answers = await answersToAddresses(client);
  const [first, , , , , taken] = answers;
  const invalid = 'ValidatingWebhookConfiguration.admissionregistration.k8s.io "addresses" is invalid';
  const field = "webhooks[0].clientConfig.url";
  const why = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
  assertEquals([first, taken], [`422 ${invalid}: ${field}: Invalid value: "http": ${why}`, "taken"]);
  assertStringIncludes(answers.at(-1)!, "unable to load root certificates: unable to parse bytes as PEM block");
});
