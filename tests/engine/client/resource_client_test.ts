import { assertEquals, assertRejects } from "@std/assert";
import { abortable } from "@std/async/abortable";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import type { Resource } from "../../../src/engine/api/resource.ts";
import { StatusError } from "../../../src/engine/api/status.ts";
import { copyOf } from "../../../src/engine/api/written.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { ObjectWrite, ResourceClient } from "../../../src/engine/client/resource_client.ts";
import { ConfigMap, Namespace, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { pod } from "../../../src/testing/fake/objects.ts";

interface SetUp extends Disposable {
  readonly server: FakeApiServer;
  readonly writes: ObjectWrite[];
  of<T extends KubernetesObject>(resource: Resource<T>): ResourceClient<T>;
}

function setUp(): SetUp {
  const server = new FakeApiServer();
  const client = new Client({ server: "http://fake", transport: server });
  const writes: ObjectWrite[] = [];
  return {
    server,
    writes,
    of: (resource) => client.resource(resource, { namespace: "shop" }, { onWrite: (write) => void writes.push(write) }),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

/** The writes as lines, without uids. */
function lines(writes: ObjectWrite[]): string[] {
  return writes.splice(0).map(({ resource, key, resourceVersion }) =>
    `${resource.plural} ${key} ${resourceVersion || "-"}`
  );
}

Deno.test("onWrite is called with the version of each object that was created, updated or patched", async () => {
  using it = setUp();
  const maps = it.of(ConfigMap);
  const draft = { metadata: { name: "a", labels: { tier: "web" } } };
  const created = await maps.create(draft);
  const [{ text, ...write }] = it.writes;
  assertEquals([write], [{
    resource: ConfigMap,
    key: "shop/a",
    namespace: "shop",
    uid: created.metadata.uid,
    resourceVersion: created.metadata.resourceVersion,
    object: created,
    sent: { type: "create", subresource: "", body: draft },
  }]);
  assertEquals(JSON.parse(text!), created);
  it.writes.length = 0;
  const updated = await maps.update({ ...copyOf(created), data: { colour: "red" } });
  const patched = await maps.namespace("shop").patch("a", { type: "merge", body: { data: { colour: "blue" } } });
  assertEquals(
    lines(it.writes),
    [updated, patched].map(({ metadata }) => `configmaps shop/a ${metadata.resourceVersion}`),
  );
});

Deno.test("onWrite is not called for reads, refusals, dry runs, and answers that are about no object", async () => {
  using it = setUp();
  it.server.create(Pod, pod({ name: "a", namespace: "shop" }));
  const pods = it.of(Pod);
  await pods.get("a");
  await pods.list();
  await pods.patch("a", { type: "merge", body: { metadata: { labels: { x: "y" } } } }, { dryRun: true });
  await pods.delete("a", { dryRun: true });
  await assertRejects(() => pods.patch("b", { type: "merge", body: {} }), StatusError);
  await assertRejects(() => pods.delete("b"), StatusError);
  assertEquals(lines(it.writes), []);
});

Deno.test("onWrite has a deletion without a version, and an object that is kept with its new version", async () => {
  using it = setUp();
  const maps = it.of(ConfigMap);
  it.server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  it.server.create(ConfigMap, { metadata: { name: "b", namespace: "shop", finalizers: ["acme.dev/wait"] } });
  const uid = it.server.get(ConfigMap, "shop/a")!.metadata.uid;
  await maps.delete("a");
  assertEquals(it.writes.map(({ key, uid, resourceVersion }) => [key, uid, resourceVersion]), [["shop/a", uid, ""]]);
  it.writes.length = 0;
  await maps.delete("b");
  const { resourceVersion } = it.server.get(ConfigMap, "shop/b")!.metadata;
  assertEquals(lines(it.writes), [`configmaps shop/b ${resourceVersion}`]);
});

Deno.test("onWrite has each object of a deleted collection with its version before, but those being deleted already", async () => {
  using it = setUp();
  const finalizers = ["acme.dev/wait"];
  const a = it.server.create(ConfigMap, { metadata: { name: "a", namespace: "shop" } });
  const b = it.server.create(ConfigMap, { metadata: { name: "b", namespace: "shop", finalizers } });
  const maps = it.of(ConfigMap);
  await maps.deleteCollection();
  const found = it.writes.splice(0).map(({ key, resourceVersion, after }) => [key, resourceVersion, after]);
  assertEquals(found, [["shop/a", "", a.metadata.resourceVersion], ["shop/b", "", b.metadata.resourceVersion]]);
  await maps.deleteCollection();
  assertEquals(it.writes, []);
});

Deno.test("onWrite has a deleted Namespace that is kept until it is empty with its new version", async () => {
  const writes: ObjectWrite[] = [];
  const metadata = { name: "team", uid: "u", resourceVersion: "7", deletionTimestamp: "2026-01-01T00:00:00Z" };
  for (const spec of [{ finalizers: ["kubernetes"] }, {}]) {
    const answer = { kind: "Namespace", apiVersion: "v1", metadata, spec };
    const fetch = (): Promise<Response> => Promise.resolve(Response.json(answer));
    using client = new Client({ server: "http://scripted", transport: { fetch } });
    await client.resource(Namespace, {}, { onWrite: (write) => void writes.push(write) }).delete("team");
  }
  assertEquals(lines(writes), ["namespaces team 7", "namespaces team -"]);
});

Deno.test("the signal of a client for a kind ends its requests and streams, beside the signal of each", async () => {
  let sent = 0;
  const fetch = (request: Request): Promise<Response> => {
    sent++;
    return abortable(new Promise(() => {}), request.signal);
  };
  using client = new Client({ server: "http://fake", transport: { fetch } });
  for (const options of [{}, { signal: new AbortController().signal }]) {
    sent = 0;
    const all = new AbortController();
    const maps = client.resource(ConfigMap, { namespace: "shop" }, { signal: all.signal });
    const body = { metadata: { name: "a" } };
    const calls: (() => Promise<unknown>)[] = [
      () => maps.get("a", options),
      () => maps.list(options),
      () => maps.pages(options).next(),
      () => maps.watch({ resourceVersion: "1", ...options }).next(),
      () => maps.follow({ resourceVersion: "1", ...options }).next(),
      () => maps.listEntries(options).next(),
      () => maps.watchChanges({ resourceVersion: "1", ...options }).next(),
      () => maps.create(body, options),
      () => maps.patch("a", { type: "merge", body }, options),
      () => maps.delete("a", options),
      () => maps.deleteCollection(options),
    ];
    const results = (): Promise<string[]> =>
      Promise.all(calls.map((call) => call().then(() => "answered", (error) => error.message)));
    const pending = results();
    all.abort(new Error("the job is over"));
    const ended = Array(calls.length).fill("the job is over");
    assertEquals(await pending, ended);
    assertEquals(sent, calls.length);
    assertEquals(await results(), ended);
    assertEquals(sent, calls.length);
  }
});

Deno.test("the signal of a call ends it where the client for a kind has another one", async () => {
  const fetch = (request: Request): Promise<Response> => abortable(new Promise(() => {}), request.signal);
  using client = new Client({ server: "http://fake", transport: { fetch } });
  const maps = client.resource(ConfigMap, { namespace: "shop" }, { signal: new AbortController().signal });
  const stop = new AbortController();
  const read = maps.get("a", { signal: stop.signal });
  const change = maps.watch({ resourceVersion: "1", signal: stop.signal }).next();
  stop.abort(new Error("not wanted any more"));
  await assertRejects(() => read, Error, "not wanted any more");
  assertEquals(await change, { done: true, value: undefined });
});
