import { assert, assertEquals, assertThrows } from "@std/assert";
import { fieldsOf } from "../../src/api/fields.ts";
import { metadataOf } from "../../src/api/resource.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../../src/kinds/core/v1.ts";
import { Deployment } from "../../src/kinds/apps/v1.ts";
import type { ReconcileContext } from "../../src/reconcile/options.ts";
import type { Reconciler } from "../../src/reconcile/reconciler.ts";
import { pod } from "../../src/testing/objects.ts";
import { Session } from "./_session.ts";

const IN = { namespace: "default" };
const CONTAINERS = { containers: [{ name: "main", image: "web:1" }] };

/** Runs `act` in a reconcile of the config map "a", while no event of a watch arrives. */
async function reconciled(
  session: Session,
  setUp: (maps: Reconciler<ConfigMap>) => void,
  act: (context: ReconcileContext<ConfigMap>, maps: Reconciler<ConfigMap>) => Promise<void>,
): Promise<Reconciler<ConfigMap>> {
  session.create("a");
  let isFirst = true;
  const maps = session.reconciler(async (_key, context) => {
    if (!isFirst) return;
    isFirst = false;
    using _stalled = session.server.stallWatches();
    await act(context, maps);
  });
  setUp(maps);
  await session.start(maps, 1_000);
  assertEquals([isFirst, session.errors], [false, []]);
  return maps;
}

Deno.test("a reconcile reads its own writes at once, and handlers and other readers do not", async () => {
  await using session = new Session();
  const { server } = session;
  for (const name of ["x", "y", "z"]) server.create(Pod, pod({ name, labels: { app: "a" } }));
  server.create(Pod, pod({ name: "kept", finalizers: ["example.com/kept"] }));
  const delivered: string[] = [];
  const indexers = { app: ({ metadata }: Pod) => [metadata.labels?.app ?? ""] };
  const maps = await reconciled(session, (maps) => {
    maps.watches(Pod, () => []);
    maps.informers.forResource(Pod, { indexers }).addEventHandler({
      onUpdate: ({ key }) => delivered.push(key),
      onDelete: ({ key }) => delivered.push(key),
    });
  }, async (context, maps) => {
    const pods = context.client.resource(Pod, IN);
    const cache = context.cache(Pod);
    await pods.create({ metadata: { name: "new", labels: { app: "b" } }, spec: CONTAINERS });
    await pods.patch("x", { type: "merge", body: { metadata: { labels: { app: "b" } } } });
    await pods.delete("y", { gracePeriodSeconds: 0 });
    await pods.delete("kept", { gracePeriodSeconds: 0 });
    await context.client.resource(ConfigMap, IN).patch("a", { type: "merge", body: { data: { n: "1" } } });

    const names = (objects: readonly Pod[]): string[] => objects.map(({ metadata }) => metadata.name).sort();
    assertEquals(cache.get("default/new")?.metadata.labels, { app: "b" });
    assertEquals([cache.get("default/y"), cache.namespace("default").get("y")], [undefined, undefined]);
    assert(cache.get("default/kept")?.metadata.deletionTimestamp !== undefined);
    assertEquals(names(cache.list()), ["kept", "new", "x", "z"]);
    assertEquals(names(cache.list("app=a")), ["z"]);
    assertEquals(names(cache.list({ fieldSelector: "metadata.name!=new" })), ["kept", "x", "z"]);
    assertEquals(names(cache.namespace("default").list("app=b")), ["new", "x"]);
    assertEquals(cache.namespace("other").list(), []);
    assertEquals([names(cache.byIndex("app", "a")), names(cache.byIndex("app", "b"))], [["z"], ["new", "x"]]);
    assertEquals(context.object?.data, { n: "1" });
    assertEquals([maps.lister.get("default/a")?.data, maps.cache(Pod) === cache], [{ n: "1" }, true]);
    // managedFields are left out, as of cached objects.
    assertEquals(cache.get("default/x")?.metadata.managedFields, undefined);

    const shared = maps.informers.forResource(Pod);
    assertEquals(names(shared.lister.list()), ["kept", "x", "y", "z"]);
    assertEquals([maps.informer.lister.get("default/a")?.data, delivered], [undefined, []]);
    assertEquals(shared.entries.size, 4);
  });
  assertEquals([...new Set(delivered)].sort(), ["default/kept", "default/x", "default/y"]);
  assertEquals(maps.cache(Pod).list().length, 4);
});

Deno.test("own writes are read as each cache has its objects: reduced, selected and transformed", async () => {
  await using session = new Session();
  const { server } = session;
  server.create(Pod, pod({ name: "x", labels: { app: "a" }, node: "n1" }));
  server.create(Secret, { metadata: { name: "s" }, data: { password: "c2VjcmV0" } });
  server.create(Namespace, { metadata: { name: "default", labels: { n: "0" } } });
  const Nodes = fieldsOf(Pod, ["spec.nodeName"]);
  const transform = (namespace: Namespace): Namespace => {
    Object.assign(namespace.metadata, { labels: { ...namespace.metadata.labels, transformed: "yes" } });
    return namespace;
  };
  await reconciled(session, (maps) => {
    maps.watches(Pod, () => [], { informer: { labelSelector: "app=a" } });
    maps.watches(metadataOf(Pod), () => []).watches(Nodes, () => []).watches(Secret, () => []);
    maps.watches(Namespace, () => [], { informer: { transform, freeze: true } });
    maps.watches(Deployment, () => [], { informer: { namespaces: ["default", "other"] } });
  }, async ({ client, cache }, maps) => {
    const answer = await client.resource(Pod, IN).patch("x", {
      type: "merge",
      body: { metadata: { labels: { b: "1" } } },
    });
    assertEquals(answer.spec.nodeName, "n1");
    assertEquals(maps.cache(Pod).list().length, 1);
    const [metadata, node] = [maps.cache(metadataOf(Pod)).get("default/x"), maps.cache(Nodes).get("default/x")];
    assertEquals([metadata?.kind, metadata?.metadata.labels], ["PartialObjectMetadata", { app: "a", b: "1" }]);
    assertEquals([(metadata as Partial<Pod>).spec, metadata?.metadata.managedFields], [undefined, undefined]);
    assertEquals([node?.spec.nodeName, "labels" in node!.metadata, "containers" in node!.spec], ["n1", false, false]);
    assertThrows(() => maps.cache(Nodes).list("app=a"), TypeError, "does not keep it");
    assertEquals(node?.metadata.resourceVersion, answer.metadata.resourceVersion);

    // It leaves the selection of one cache.
    await client.resource(Pod, IN).patch("x", { type: "merge", body: { metadata: { labels: { app: null } } } });
    assertEquals([maps.cache(Pod).get("default/x"), maps.cache(Nodes).list().length], [undefined, 1]);

    await client.resource(Secret, IN).patch("s", { type: "merge", body: { metadata: { labels: { b: "1" } } } });
    const secret = maps.cache(Secret).get("default/s")!;
    assertEquals(secret.metadata.labels, { b: "1" });
    assertThrows(() => secret.data, TypeError, "informers leave it out");

    const written = await client.resource(Namespace).patch("default", {
      type: "merge",
      body: { metadata: { labels: { n: "1" } } },
    });
    const namespace = cache(Namespace).get("default")!;
    assertEquals([namespace.metadata.labels?.n, namespace.metadata.labels?.transformed], ["1", "yes"]);
    assertEquals([Object.isFrozen(namespace), Object.isFrozen(written)], [true, false]);
    assertEquals(written.metadata.labels?.transformed, undefined);

    const draft = {
      spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec: CONTAINERS } },
    };
    for (const namespace of ["default", "other", "third"]) {
      await client.resource(Deployment, { namespace }).create({ metadata: { name: "d" }, ...draft } as never);
    }
    assertEquals(cache(Deployment).list().map(({ metadata }) => metadata.namespace).sort(), ["default", "other"]);
    // The answer is another object.
    await client.resource(Deployment, IN).patch("d", { type: "merge", body: { spec: { replicas: 3 } } } as never, {
      subresource: "scale",
    });
    assertEquals(cache(Deployment).get("default/d")?.kind, "Deployment");
  });
});

Deno.test("an own write brings back nothing that the cache has passed", async () => {
  await using session = new Session();
  const { server } = session;
  for (const name of ["changed", "deleted", "again", "own", "late"]) server.create(Pod, pod({ name }));
  session.create("a");
  const read = (name: string): unknown => maps.cache(Pod).get(`default/${name}`)?.metadata.labels?.by;
  let isFirst = true;
  const maps = session.reconciler(async (_key, { client }) => {
    if (!isFirst) return;
    isFirst = false;
    const pods = client.resource(Pod, IN);
    const mine = { type: "merge", body: { metadata: { labels: { by: "me" } } } } as const;
    const stalled = server.stallWatches(Pod);
    for (const name of ["changed", "deleted", "again", "own"]) await pods.patch(name, mine);
    assertEquals(["changed", "deleted", "again", "own"].map(read), ["me", "me", "me", "me"]);
    server.patch(Pod, "default/changed", { metadata: { labels: { by: "other" } } });
    server.delete(Pod, "default/deleted");
    server.delete(Pod, "default/again");
    server.create(Pod, pod({ name: "again", labels: { by: "successor" }, uid: "second" }));
    // Another object of the same name, by the same reconcile.
    await pods.delete("own", { gracePeriodSeconds: 0 });
    assertEquals(read("own"), undefined);
    await pods.create({ metadata: { name: "own", labels: { by: "recreated" } }, spec: CONTAINERS });
    assertEquals(read("own"), "recreated");
    stalled[Symbol.dispose]();
  }).watches(Pod, () => []);
  await session.start(maps, 1_000);
  assertEquals(["changed", "deleted", "again", "own"].map(read), ["other", undefined, "successor", "recreated"]);
  assertEquals(session.errors, []);
});

Deno.test("a cache of a reconciler is found by its kind, or by its informer where there are several", async () => {
  await using session = new Session();
  const maps = session.reconciler(() => {});
  maps.watches(Pod, () => []).watches(Pod, () => []).watches(Secret, () => [], { informer: { labelSelector: "a=b" } });
  maps.watches(Secret, () => [], { informer: { labelSelector: "a=c" } });
  assertEquals(maps.cache(Pod), maps.cache(maps.informers.forResource(Pod)));
  assertEquals<unknown>(maps.cache(ConfigMap), maps.lister);
  assertThrows(
    () => maps.cache(metadataOf(Pod)),
    Error,
    'Cannot read "pods" in the reconciler of "configmaps": it does',
  );
  assertThrows(() => maps.cache(Secret), Error, "follows it by several informers");
  const [b, c] = ["a=b", "a=c"].map((labelSelector) => maps.informers.forResource(Secret, { labelSelector }));
  assert(maps.cache(b as never) !== maps.cache(c as never));
  await using other = new SharedInformerFactory(session.client);
  assertThrows(() => maps.cache(other.forResource(Pod)), Error, "Cannot read the cache of an informer");
  await session.start(maps);
});

Deno.test("applyIfChanged of a reconcile compares with what the reconcile has written", async () => {
  await using session = new Session();
  const reasons: (string | undefined)[] = [];
  await reconciled(
    session,
    (maps) => void maps.watches(Deployment, () => [], { informer: { managedFields: { manager: "me" } } }),
    async ({ client }) => {
      const deployments = client.resource(Deployment, IN);
      const apply = async (replicas: number): Promise<void> => {
        const labels = { app: "web" };
        const template = { metadata: { labels }, spec: CONTAINERS };
        const { reason } = await deployments.applyIfChanged({
          metadata: { name: "web" },
          spec: { replicas, selector: { matchLabels: labels }, template },
        }, { fieldManager: "me", force: true });
        reasons.push(reason);
      };
      for (const replicas of [1, 1, 2, 2, 1]) await apply(replicas);
      // An answer that no cache may show is not compared with.
      await deployments.patch("web", { type: "merge", body: { spec: { replicas: 3 } } }, { subresource: "scale" });
      await apply(1);
      await deployments.delete("web");
      await apply(1);
    },
  );
  const differs = "spec.replicas differs";
  const none = "the object is not cached";
  assertEquals(reasons, [none, undefined, differs, undefined, differs, none, none]);
});
