// Rights, tokens and resources that change while informers run.
import {
  defineResource,
  isNotFound,
  isUnauthorized,
  type KubernetesObject,
  type Resource,
  SharedIndexInformer,
  SharedInformerFactory,
} from "@kube/informer";
import { ConfigMap, Secret } from "@kube/informer/kinds/core/v1";
import { accessReview, InformerRelay } from "@kube/informer/relay";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { assertEqualToServer } from "../support/cluster/compare.ts";
import {
  define,
  Definition,
  definitionName,
  type Schema,
  undefine,
  versionsOf,
} from "../support/cluster/definitions.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { runSynced, untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { settle } from "../support/cluster/writers.ts";
import { clusterTests, report, seconds, type Setting } from "./_cluster.ts";
import { grantReading } from "./_rights.ts";

const cluster = clusterTests();

/** Tries again within seconds, so that a test does not wait for half a minute. */
const QUICK_RETRIES = { watchTimeoutMs: 1_000, backoff: { initialMs: 200, maxMs: 1_000 } };

/** The interval between requests that check whether a change is in effect. */
const ASK_MS = 250;

cluster.withPlane("connect takes a kubeconfig with a bearer token", async (setting) => {
  const { namespace, plane } = setting;
  const client = await setting.connect({ kubeconfig: plane.tokenKubeconfig });
  await using informer = new SharedIndexInformer(client.resource(ConfigMap, { namespace }));
  await runSynced(informer);
  await settle([informer], client, ConfigMap, namespace);
  await assertEqualToServer(informer, client, ConfigMap, { namespace });
  report(`by bearer token: ${informer.status().lists} list requests, ${informer.status().watches} watches`);
  const unknownUser = await setting.connect({ kubeconfig: plane.tokenKubeconfig, token: "nobody-knows-this" });
  assert(isUnauthorized(await assertRejects(() => unknownUser.resource(ConfigMap, { namespace }).list())));
});

interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number; readonly colour?: string };
}
const Widget: Resource<Widget> = defineResource<Widget>({
  group: "informer.example.com",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
});

cluster.anywhere(
  "SharedIndexInformer waits for a custom resource definition, caches its objects, and drops them when it is deleted",
  async (setting) => {
    const { client, namespace } = setting;
    const widgets = client.resource(Widget, { namespace });
    await using informer = new SharedIndexInformer(widgets, { reflector: QUICK_RETRIES });
    const checker = new EventChecker(informer);
    informer.run();
    const error = await assertRejects(() =>
      withDeadline("a refusal", (signal) => informer.waitForCacheSync({ signal }))
    );
    assert(isNotFound((error as Error).cause), `found ${error}`);
    assertEquals(informer.status().state, "notFound");

    const definedAt = performance.now();
    await define(client, Widget);
    let left = true;
    try {
      await withDeadline("the first sync", (signal) => informer.waitForCacheSync({ signal, patient: true }));
      await untilStatus(informer, "a live watch", ({ state }) => state === "live");
      const live = seconds(definedAt);
      for (let size = 0; size < 20; size++) {
        await widgets.create({ metadata: { name: `widget-${size}` }, spec: { size } });
      }
      for (let size = 0; size < 5; size++) await widgets.delete(`widget-${size}`);
      const { metadata } = await widgets.patch("widget-9", { type: "merge", body: { spec: { size: 90 } } });
      await withDeadline("the last write", (signal) => informer.waitForVersion(metadata.resourceVersion, { signal }));
      await assertEqualToServer(informer, client, Widget, { namespace });
      assertEquals(informer.lister.namespace(namespace).get("widget-9")?.spec.size, 90);

      const deletedAt = performance.now();
      await undefine(client, Widget);
      left = false;
      await untilStatus(informer, "its end", ({ state }) => state === "notFound");
      assertEquals(informer.indexer.size, 0);
      assertEquals(await checker.end(), []);
      assertEquals(checker.counts.deleted, 20);
      report(
        `custom resource live ${live} after its definition, gone ${seconds(deletedAt)} after that; ${checker.summary}`,
      );
    } finally {
      if (left) await undefine(client, Widget);
    }
  },
);

/** Widgets whose specs have a size, and this. */
function sizeAnd(properties: Schema): Schema {
  return {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer" }, ...properties } } },
  };
}

/**
 * Changes the schema of widgets, and waits until the server uses it everywhere: for writes at once, and about a second
 * later for lists at version "0" and for watches. Meanwhile watches deliver objects that are pruned by the old schema,
 * at the version of the complete object. Returns the object written in between as `informer` then has it.
 */
async function changeSchema(
  { client, namespace }: Setting,
  informer: SharedIndexInformer<Widget>,
  schema: Schema,
): Promise<Widget["spec"] | undefined> {
  const widgets = client.resource(Widget, { namespace });
  const body = { spec: { versions: versionsOf(Widget, schema) } };
  await client.resource(Definition).patch(definitionName(Widget), { type: "merge", body });
  let between: Widget["spec"] | undefined;
  await withDeadline("the new schema", async (signal) => {
    for (let changed = false; !changed; await delay(ASK_MS, { signal })) {
      const { metadata, spec } = await widgets.create({
        metadata: { name: "probe" },
        spec: { size: 0, colour: "red" },
      });
      await informer.waitForVersion(metadata.resourceVersion, { signal });
      if (spec.colour !== undefined) between ??= informer.lister.namespace(namespace).get("probe")?.spec;
      const { items } = await widgets.list({ resourceVersion: "0", signal });
      changed = items.some(({ metadata, spec }) => metadata.name === "probe" && spec.colour !== undefined);
      await widgets.delete("probe");
    }
  });
  const { watches } = informer.status();
  await untilStatus(informer, "a watch by the new schema", (now) => now.watches > watches && now.state === "live");
  return between;
}

cluster.anywhere(
  "SharedIndexInformer keeps running while the schema of its custom resource changes",
  async (setting) => {
    const { client, namespace } = setting;
    const widgets = client.resource(Widget, { namespace });
    await define(client, Widget, sizeAnd({}));
    try {
      await using informer = new SharedIndexInformer(widgets, { reflector: QUICK_RETRIES });
      const checker = new EventChecker(informer);
      await runSynced(informer, { patient: true });
      await untilStatus(informer, "a live watch", ({ state }) => state === "live");
      const cached = (name: string): Widget["spec"] | undefined => informer.lister.namespace(namespace).get(name)?.spec;
      /** Writes a widget's spec, and reads it from the cache. */
      const written = async (name: string, spec: Partial<Widget["spec"]>): Promise<Widget["spec"] | undefined> => {
        const { metadata } = await widgets.patch(name, { type: "merge", body: { spec } });
        await withDeadline("the write", (signal) => informer.waitForVersion(metadata.resourceVersion, { signal }));
        return cached(name);
      };
      for (let size = 0; size < 10; size++) {
        await widgets.create({ metadata: { name: `widget-${size}` }, spec: { size, colour: "red" } });
      }
      assertEquals(await written("widget-0", { size: 100 }), { size: 100 }); // no colours yet
      await assertEqualToServer(informer, client, Widget, { namespace });

      const changedAt = performance.now();
      const before = informer.status();
      const between = await changeSchema(setting, informer, sizeAnd({ colour: { type: "string" } }));
      const took = seconds(changedAt);
      assertEquals(await written("widget-1", { colour: "blue" }), { size: 1, colour: "blue" });
      assertEquals(cached("widget-2"), { size: 2 });
      await assertEqualToServer(informer, client, Widget, { namespace });

      // A default is shown for what was written before it, too, at the version that it has.
      await changeSchema(setting, informer, sizeAnd({ colour: { type: "string", default: "green" } }));
      for (let size = 0; size < 9; size++) await written(`widget-${size}`, { size: size + 10 });
      assertEquals([cached("widget-1"), cached("widget-2")], [{ size: 11, colour: "blue" }, {
        size: 12,
        colour: "green",
      }]);
      const { spec } = await widgets.get("widget-9");
      assertEquals(spec, { size: 9, colour: "green" });
      assertEquals(cached("widget-9")?.size, 9);
      const { watches, lists, errors } = informer.status();
      assertEquals([await checker.end(), lists, errors], [[], before.lists, before.errors]);
      report(
        `new schema everywhere after ${took}, ${watches - before.watches} more watches for two, no list, no error; ` +
          `meanwhile the server sent ${JSON.stringify(between)} for a widget that has a colour`,
      );
      report(
        `a default given later: ${JSON.stringify(spec)} on the server, ${
          JSON.stringify(cached("widget-9"))
        } in the cache`,
      );
    } finally {
      await undefine(client, Widget);
    }
  },
);

cluster.anywhere("a relay shows a user of the cluster the namespaces that he may read", async (setting) => {
  const { client, namespace } = setting;
  const other = await setting.newNamespace();
  const username = `system:serviceaccount:${namespace}:viewer`;
  await grantReading(client, namespace, "configmaps", { kind: "User", name: username });
  for (const place of [namespace, other]) {
    await client.resource(ConfigMap, { namespace: place }).create({ metadata: { name: "seen" } });
  }
  await using informers = new SharedInformerFactory(client);
  let review = accessReview(client);
  await using relay = new InformerRelay(informers, {
    collections: { all: ConfigMap, maps: { resource: ConfigMap, namespaces: [namespace, other] } },
    authorize: ({ headers }, requested) => review({ username: headers.get("x-user")! }, requested),
  });
  const get = async (path: string, user: string): Promise<Response> => {
    return await relay.fetch(new Request(`http://localhost${path}`, { headers: { "x-user": user } }));
  };
  const statusOf = async (path: string, user: string): Promise<number> => {
    const { status, body } = await get(path, user);
    await body?.cancel();
    return status;
  };
  await withDeadline("the right to read the namespace", async (signal) => {
    for (; await statusOf("/api/maps", username) !== 200; review = accessReview(client)) {
      await delay(ASK_MS, { signal });
    }
  });
  const { items } = await (await get("/api/maps?fieldSelector=metadata.name%3Dseen", username)).json();
  assertEquals(items.map(({ metadata }: ConfigMap) => metadata.namespace), [namespace]);
  assertEquals(await statusOf(`/api/maps?namespace=${other}`, username), 403);
  assertEquals(await statusOf("/api/all", username), 403);
  assertEquals(await statusOf(`/api/all?namespace=${namespace}`, username), 200);
  assertEquals(await statusOf("/api/maps", "nobody"), 403);
});

cluster.anywhere("missing rights are those that the server's roles do not grant", async (setting) => {
  const { client, namespace } = setting;
  const other = await setting.newNamespace();
  const user = `system:serviceaccount:${namespace}:reader`;
  await grantReading(client, namespace, "configmaps", { kind: "User", name: user });
  const maps = { verb: "list", resource: ConfigMap, namespace };
  const refused = [
    { ...maps, verb: "delete" },
    { ...maps, subresource: "status" },
    { verb: "list", resource: Secret, namespace },
    { ...maps, namespace: other },
    { verb: "list", resource: ConfigMap },
  ];
  await withDeadline("the right to list config maps", async (signal) => {
    while (!await client.as({ user }).can(maps, { signal })) await delay(ASK_MS, { signal });
  });
  const reader = client.as({ user });
  assertEquals(await reader.missingRights([maps, ...refused, { ...maps, verb: "watch" }]), refused);
  await using informers = new SharedInformerFactory(reader, { namespaces: [namespace, other] });
  informers.forResource(ConfigMap);
  assertEquals(await informers.missingRights(), [
    { verb: "list", resource: ConfigMap, namespace: other },
    { verb: "watch", resource: ConfigMap, namespace: other },
  ]);
  assertEquals(await client.missingRights([maps, ...refused]), []); // the administrator
});
