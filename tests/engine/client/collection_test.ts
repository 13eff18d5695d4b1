import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";
import { type KubernetesObject, reduced } from "../../../src/engine/api/object.ts";
import { asTable, defineResource, onlyMetadata, type Resource } from "../../../src/engine/api/resource.ts";
import { DecodeError, isConflict, isExpired, StatusError } from "../../../src/engine/api/status.ts";
import type { Mutable } from "../../../src/engine/api/written.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { ConfigMap } from "../../../src/engine/kinds/core/v1.ts";
import { createOrUpdate, finalize, writeStatus } from "../../../src/operator/controllers/reconcile/objects.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { configMap } from "../../../src/testing/mod.ts";
import {
  bookmark,
  collect,
  json,
  line,
  LiveBody,
  pod,
  podList,
  refusal,
  scripted,
  type Sent,
  statusObject,
  text,
  watchOf,
} from "../../support/servers/transport.ts";

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}
const Pod: Resource<Pod> = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });

const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }): string[] =>
  list.items.map((item) => item.metadata.name);

Deno.test("ResourceClient.list returns all objects with kind and apiVersion, and the continue token", async () => {
  const { client } = scripted(
    json(podList(["a", "b"], { resourceVersion: "10", continue: "next", remainingItemCount: 4 })),
    json(podList([])),
  );
  const list = await client.resource(Pod).list({ limit: 2 });
  assertEquals(names(list), ["a", "b"]);
  assertEquals([list.items[0].kind, list.items[0].apiVersion], ["Pod", "v1"]);
  assertEquals([list.resourceVersion, list.continue, list.remainingItemCount], ["10", "next", 4]);
  assertEquals(await client.resource(Pod).list(), { items: [], resourceVersion: "10" });
});

Deno.test("ResourceClient.list keeps managedFields by default", async () => {
  const list = podList(["a"]) as { items: { metadata: Record<string, unknown> }[] };
  list.items[0].metadata.managedFields = [{ manager: "tests" }];
  const { client } = scripted(json(list), json(list));
  const kept = await client.resource(Pod).list();
  assertEquals(kept.items[0].metadata.managedFields, [{ manager: "tests" }]);
  const dropped = await client.resource(Pod).list({ managedFields: "drop" });
  assertEquals(dropped.items[0].metadata.managedFields, undefined);
});

Deno.test("ResourceClient.listEntries yields an empty part when the headers arrive, then unparsed entries", async () => {
  const live = new LiveBody();
  const { client } = scripted(live.answer);
  const parts = client.resource(Pod).listEntries();
  assertEquals((await parts.next()).value, { entries: [] });
  const body = JSON.stringify(podList(["a", "b"]));
  live.push(body.slice(0, -30), body.slice(-30));
  live.end();
  const rest = await collect(parts);
  assertEquals(rest.flatMap((part) => part.entries.map((entry) => entry.key)), ["shop/a", "shop/b"]);
  assertEquals(rest.at(-1)?.resourceVersion, "10");
});

Deno.test("ResourceClient.listEntries cancels the body when its loop is left, also before the body was read", async () => {
  for (const parts of [1, 2]) {
    const live = new LiveBody();
    const { client } = scripted(live.answer);
    live.push(JSON.stringify(podList(["a"])).slice(0, -10));
    let seen = 0;
    for await (const _ of client.resource(Pod).listEntries()) if (++seen === parts) break;
    assertEquals([seen, live.ended], [parts, "cancelled"]);
  }
});

Deno.test("ResourceClient.listEntries does not wait for Retry-After", async () => {
  const { client, sent } = scripted(text(429, "later", { "retry-after": "1" }));
  const error = await assertRejects(() => collect(client.resource(Pod).listEntries()), StatusError);
  assertEquals([error.status.retryAfterSeconds, sent.requests.length], [1, 1]);
});

Deno.test("ResourceClient.watch refuses another content type, and reads events of JSON", async () => {
  const protobuf = text(200, "k8s\0", { "content-type": "application/vnd.kubernetes.protobuf;stream=watch" });
  const { client } = scripted(protobuf);
  await assertRejects(() => collect(client.resource(Pod).watch()), DecodeError, "vnd.kubernetes.protobuf");

  const answer = watchOf(line("ADDED", pod("ä", "1")), line("MODIFIED", pod("b", "2")), bookmark("3"));
  answer.headers.set("content-type", "application/json;stream=watch");
  const events = await collect(scripted(answer).client.resource(Pod).watch({ allowBookmarks: true }));
  assertEquals(
    events.map((event) => event.type === "BOOKMARK" ? event : [event.type, event.object.metadata.name]),
    [["ADDED", "ä"], ["MODIFIED", "b"], { type: "BOOKMARK", resourceVersion: "3", initialEventsEnd: false }],
  );
});

Deno.test("ResourceClient.watch requests the changes after a version, without content encoding", async () => {
  const { client, sent } = scripted(watchOf(), watchOf(), watchOf());
  const pods = client.resource(Pod, { namespace: "shop", labelSelector: "app=web" });
  await collect(pods.watch({ resourceVersion: "7", timeoutSeconds: 30, allowBookmarks: true }));
  assertEquals(sent.last.path, "/api/v1/namespaces/shop/pods");
  assertEquals(sent.last.query, {
    pretty: "false",
    labelSelector: "app=web",
    watch: "true",
    resourceVersion: "7",
    timeoutSeconds: "30",
    allowWatchBookmarks: "true",
  });
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  assertEquals(sent.last.headers.get("accept"), "application/json");
  await collect(pods.watch({ allowBookmarks: true, sendInitialEvents: true }));
  assertEquals(sent.last.query, {
    pretty: "false",
    labelSelector: "app=web",
    watch: "true",
    allowWatchBookmarks: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
  });
  await collect(client.resource(onlyMetadata(Pod)).watch());
  assertEquals(
    sent.last.headers.get("accept"),
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
  );
});

Deno.test("ResourceClient.watch refuses to request initial events without bookmarks", () => {
  const { client } = scripted();
  assertThrows(() => client.resource(Pod).watch({ sendInitialEvents: true }), TypeError, "needs allowBookmarks");
});

Deno.test("ResourceClient.watchChanges yields an empty batch when the watch is open, then one batch per chunk", async () => {
  const live = new LiveBody();
  const { client } = scripted(live.answer);
  const batches = client.resource(Pod).watchChanges();
  assertEquals((await batches.next()).value, []);
  live.push(line("ADDED", pod("a", "1")) + line("MODIFIED", pod("a", "2")));
  assertEquals((await batches.next()).value.map((change: { type: string }) => change.type), ["ADDED", "MODIFIED"]);
  live.push('{"type":"DELETED",');
  assertEquals((await batches.next()).value, []);
  live.push(`"object":${JSON.stringify(pod("a", "3"))}}\n`);
  const [deleted] = (await batches.next()).value;
  assertEquals([deleted.type, deleted.entry.key, deleted.entry.resourceVersion], ["DELETED", "shop/a", "3"]);
  live.end();
  assertEquals(await batches.next(), { done: true, value: undefined });
});

Deno.test("ResourceClient.watch yields the changes before an error in the stream, then throws it", async () => {
  const { client } = scripted(watchOf(
    line("ADDED", pod("a", "1")),
    line("ERROR", statusObject(410, "Expired", "too old resource version: 1 (9)")),
  ));
  const seen: string[] = [];
  const error = await assertRejects(async () => {
    for await (const event of client.resource(Pod).watch({ resourceVersion: "1" })) seen.push(event.type);
  }, StatusError);
  assert(isExpired(error));
  assertEquals(seen, ["ADDED"]);
});

Deno.test("ResourceClient.watch refuses a response with a content encoding, which could hide events", async () => {
  for (const encoding of ["gzip", "br"]) {
    const live = new LiveBody();
    const { client } = scripted((sent) => {
      const answer = live.answer(sent);
      answer.headers.set("content-encoding", encoding);
      return answer;
    });
    await assertRejects(() => collect(client.resource(Pod).watch()), DecodeError, `encoded in "${encoding}"`);
    assertEquals(live.ended, "cancelled");
  }
  const plain = watchOf();
  plain.headers.set("content-encoding", "identity");
  assertEquals(await collect(scripted(plain).client.resource(Pod).watch()), []);
});

Deno.test("ResourceClient.watch ends at once when its loop is left, also while it waits [F22]", async () => {
  const live = new LiveBody();
  const { client } = scripted(live.answer);
  const events = client.resource(Pod).watch();
  const waiting = events.next();
  await turn();
  assertEquals(await events.return?.(), { done: true, value: undefined });
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals(live.ended, "aborted");
});

Deno.test("ResourceClient.watch ends without an error when its signal aborts, and rejects when that of its client does", async () => {
  const live = new LiveBody();
  const other = new LiveBody();
  const { client } = scripted(live.answer, other.answer);
  const controller = new AbortController();
  const reason = { because: "the test" };
  const watching = collect(client.resource(Pod).watch({ signal: controller.signal }));
  await turn();
  live.push(line("ADDED", pod("a", "1")));
  await turn();
  controller.abort(reason);
  assertEquals((await watching).length, 1);
  assertEquals(live.ended, "aborted");
  assertEquals(await client.resource(Pod).watch({ signal: controller.signal }).next(), {
    done: true,
    value: undefined,
  });
  const all = new AbortController();
  const pods = client.resource(Pod, {}, { signal: all.signal });
  const failing = collect(pods.watch({ signal: new AbortController().signal })).then(() => undefined, (error) => error);
  await turn();
  all.abort(reason);
  assertStrictEquals(await failing, reason);
  assertEquals(other.ended, "aborted");
});

/** Resolves after the callbacks of settled promises have run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

Deno.test("ResourceClient.watch rejects at once on a transport that ignores its signal, and cancels its late response", async () => {
  const live = new LiveBody();
  let answer!: (response: Response) => void;
  const { client } = scripted(() => new Promise<Response>((resolve) => answer = resolve));
  const controller = new AbortController();
  const waiting = client.resource(Pod).watchChanges({ signal: controller.signal }).next();
  await turn();
  const reason = new Error("enough");
  controller.abort(reason);
  assertStrictEquals(await waiting.then(() => undefined, (error) => error), reason);
  answer(live.answer({ signal: new AbortController().signal } as Sent));
  await turn();
  assertEquals(live.ended, "cancelled");
});

Deno.test("lists and watches report the time that decoding takes, for each chunk and at the end", async () => {
  const lines = [line("ADDED", pod("a", "1")), line("MODIFIED", pod("a", "2"))];
  const answer = new Response(ReadableStream.from(lines.map((text) => new TextEncoder().encode(text))), {
    headers: { "content-type": "application/json;stream=watch" },
  });
  const list = Response.json({ kind: "PodList", apiVersion: "v1", metadata: {}, items: [] });
  const { client } = scripted(answer, list, watchOf());
  const times: number[] = [];
  const onDecoded = (ms: number): void => void times.push(ms);
  await collect(client.resource(Pod).watchChanges({ onDecoded }));
  assertEquals(times.length, 3);
  await collect(client.resource(Pod).listEntries({ onDecoded }));
  assertEquals(times.length, 6);
  assert(times.every((ms) => ms >= 0 && ms < 60_000), String(times));
  await collect(client.resource(Pod).watchChanges());
  assertEquals(times.length, 6);
});

const Deployment = defineResource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" });
const Node = defineResource({ version: "v1", plural: "nodes", kind: "Node", scope: "Cluster" });

Deno.test("ResourceClient.create fills in kind, apiVersion and namespace", async () => {
  const { client, sent } = scripted(json(pod("web-0", "5"), 201), json({}, 201), json({}, 201), json({}, 201));
  const made = await client.resource(Pod, { namespace: "shop" }).create({ metadata: { name: "web-0" }, spec: {} });
  assertEquals(made.metadata.resourceVersion, "5");
  assertEquals([sent.last.method, sent.last.path], ["POST", "/api/v1/namespaces/shop/pods"]);
  assertEquals(sent.last.headers.get("content-type"), "application/json");
  assertEquals(
    JSON.parse(sent.last.body),
    { apiVersion: "v1", kind: "Pod", metadata: { name: "web-0", namespace: "shop" }, spec: {} },
  );
  await client.resource(Deployment).create({ metadata: { generateName: "web-" } });
  assertEquals(sent.last.path, "/apis/apps/v1/namespaces/home/deployments");
  assertEquals(
    JSON.parse(sent.last.body),
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { generateName: "web-", namespace: "home" } },
  );
  await client.resource(Pod).create({ metadata: { name: "web-0", namespace: "bank" } });
  assertEquals(sent.last.path, "/api/v1/namespaces/bank/pods");
  await client.resource(Node, { namespace: "shop" }).create({ metadata: { name: "n1" } });
  assertEquals([sent.last.path, JSON.parse(sent.last.body).metadata], ["/api/v1/nodes", { name: "n1" }]);
});

Deno.test("ResourceClient.create refuses a draft of another namespace than that of the collection", async () => {
  const { client, sent } = scripted();
  await assertRejects(
    () => client.resource(Pod, { namespace: "shop" }).create({ metadata: { name: "web-0", namespace: "bank" } }),
    TypeError,
    'the collection covers only namespace "shop"',
  );
  assertEquals(sent.requests.length, 0);
});

Deno.test("ResourceClient.create creates a subresource of the object that the draft names", async () => {
  const { client, sent } = scripted(json({}, 201));
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web-0" } };
  await client.resource(Pod, { namespace: "shop" }).create(eviction, { subresource: "eviction" });
  assertEquals(sent.last.path, "/api/v1/namespaces/shop/pods/web-0/eviction");
  assertEquals(JSON.parse(sent.last.body).kind, "Eviction");
  await assertRejects(
    () => client.resource(Pod).create({ metadata: {} } as never, { subresource: "eviction" }),
    TypeError,
    "no metadata.name",
  );
});

Deno.test("ResourceClient writes with dry run, field manager and field validation", async () => {
  const { client, sent } = scripted(json({}), json({}), json({}));
  const options = { dryRun: true, fieldManager: "tests", fieldValidation: "Strict" } as const;
  const query = { pretty: "false", dryRun: "All", fieldManager: "tests", fieldValidation: "Strict" };
  await client.resource(Pod).create({ metadata: { name: "a" } }, options);
  assertEquals(sent.last.query, query);
  await client.resource(Pod).update(pod("a", "1") as unknown as Mutable<Pod>, options);
  assertEquals(sent.last.query, query);
  await client.resource(Pod).patch("a", { type: "merge", body: {} }, options);
  assertEquals(sent.last.query, query);
});

Deno.test("ResourceClient.update sends the object to the path of its own name and namespace", async () => {
  const { client, sent } = scripted(json(pod("web-0", "6")), json({}));
  const object = pod("web-0", "5", "bank") as unknown as Mutable<Pod>;
  assertEquals((await client.resource(Pod).update(object)).metadata.resourceVersion, "6");
  assertEquals([sent.last.method, sent.last.path], ["PUT", "/api/v1/namespaces/bank/pods/web-0"]);
  assertEquals(JSON.parse(sent.last.body), object);
  await client.resource(Pod).update({ metadata: object.metadata }, { subresource: "status" });
  assertEquals(sent.last.path, "/api/v1/namespaces/bank/pods/web-0/status");
  assertEquals(JSON.parse(sent.last.body).kind, "Pod");
  const nameless = { metadata: { ...object.metadata, name: "" } };
  await assertRejects(() => client.resource(Pod).update(nameless), TypeError, "no metadata.name");
});

Deno.test("ResourceClient.update throws a conflict as a StatusError", async () => {
  const { client } = scripted(refusal(409, "Conflict", "the object has been modified"));
  const error = await assertRejects(
    () => client.resource(Pod).update(pod("a", "1") as unknown as Mutable<Pod>),
    StatusError,
  );
  assert(isConflict(error));
});

Deno.test("ResourceClient.patch sends each patch type with its content type [F26]", async () => {
  const { client, sent } = scripted(json({}), json({}), json({}), json({}), json({}));
  const pods = client.resource(Pod, { namespace: "shop" });
  const types: string[] = [];
  const bodies: unknown[] = [];
  for (
    const patch of [
      { type: "json", body: [{ op: "remove", path: "/spec" }] },
      { type: "merge", body: { spec: null } },
      { type: "strategic", body: { spec: {} } },
    ] as const
  ) {
    await pods.patch("web-0", patch);
    types.push(sent.last.headers.get("content-type") ?? "");
    bodies.push(JSON.parse(sent.last.body));
  }
  assertEquals(
    types,
    ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"],
  );
  assertEquals(bodies, [[{ op: "remove", path: "/spec" }], { spec: null }, { spec: {} }]);
  assertEquals([sent.last.method, sent.last.path], ["PATCH", "/api/v1/namespaces/shop/pods/web-0"]);

  await pods.patch("web-0", { type: "apply", fieldManager: "tests", body: { spec: {} } });
  assertEquals(sent.last.headers.get("content-type"), "application/apply-patch+yaml");
  assertEquals(sent.last.query, { pretty: "false", fieldManager: "tests" });
  assertEquals(JSON.parse(sent.last.body), { apiVersion: "v1", kind: "Pod", spec: {} });
  await pods.patch("web-0", { type: "apply", fieldManager: "tests", force: true, body: {} }, { subresource: "status" });
  assertEquals(sent.last.query, { pretty: "false", fieldManager: "tests", force: "true" });
  assertEquals(sent.last.path, "/api/v1/namespaces/shop/pods/web-0/status");
  await assertRejects(
    () => pods.patch("web-0", { type: "apply", fieldManager: "", body: {} }),
    TypeError,
    "needs the option fieldManager",
  );
});

Deno.test("ResourceClient.delete sends its options in the body, and returns the object or the Status", async () => {
  const success = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details: { name: "web-0" } };
  const { client, sent } = scripted(json(success), json(pod("web-0", "9")));
  const pods = client.resource(Pod, { namespace: "shop" });
  const status = await pods.delete("web-0", {
    dryRun: true,
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
  });
  assert("code" in status);
  assertEquals(status, {
    code: 200,
    reason: "Success",
    message: "the server accepted the request",
    details: { name: "web-0" },
  });
  assertEquals([sent.last.method, sent.last.path], ["DELETE", "/api/v1/namespaces/shop/pods/web-0"]);
  assertEquals(JSON.parse(sent.last.body), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
    dryRun: ["All"],
  });
  const last = await pods.delete("web-0");
  assert("metadata" in last);
  assertEquals(last.metadata.resourceVersion, "9");
  assertEquals(JSON.parse(sent.last.body), { apiVersion: "v1", kind: "DeleteOptions" });
});

Deno.test("ResourceClient.deleteCollection sends its selection in the query, and cancels the response's body", async () => {
  const { client, sent } = scripted(json(podList(["a", "b"])), json({}));
  await client.resource(Pod, { namespace: "shop", labelSelector: "app=web" }).deleteCollection({
    dryRun: true,
    fieldSelector: "status.phase=Failed",
    propagationPolicy: "Orphan",
    gracePeriodSeconds: 1,
  });
  assertEquals([sent.last.method, sent.last.path], ["DELETE", "/api/v1/namespaces/shop/pods"]);
  assertEquals(sent.last.query, {
    pretty: "false",
    labelSelector: "app=web",
    fieldSelector: "status.phase=Failed",
    dryRun: "All",
    propagationPolicy: "Orphan",
    gracePeriodSeconds: "1",
  });
  await client.resource(Node).deleteCollection();
  assertEquals(sent.last.path, "/api/v1/nodes");
});

Deno.test("ResourceClient rejects with the failure of a Status that comes with code 200", async () => {
  const { client } = scripted(json(statusObject(500, "InternalError", "no"), 200));
  const error = await assertRejects(() => client.resource(Pod).get("web-0"), StatusError);
  assertEquals(error.status.code, 500);
  assertEquals(error.message, 'Cannot get "pods/web-0" in namespace "home": 500 InternalError: no');
});

const FORMS: readonly [string, Resource<KubernetesObject>][] = [
  ["the fields data.a, metadata.labels", onlyFields(ConfigMap, ["data.a", "metadata.labels"])],
  ["its metadata", onlyMetadata(ConfigMap)],
  ["a row of a table", asTable(ConfigMap)],
];

Deno.test("every way of reading a reduced resource marks its objects, and no write takes them or their copies", async () => {
  for (const [form, resource] of FORMS) {
    using server = new FakeApiServer();
    server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { a: "1", b: "2" }, labels: { x: "y" } }));
    using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
    const maps = client.resource(ConfigMap);
    const reading = client.resource(resource);
    const { resourceVersion, items: [listed] } = await reading.list();
    const watched = (async () => {
      for await (const event of reading.watch({ resourceVersion })) if (event.type !== "BOOKMARK") return event.object;
    })();
    await maps.patch("a", { type: "merge", body: { data: { c: "3" } } });
    const [part] = await Array.fromAsync(reading.listEntries({})).then((parts) =>
      parts.flatMap(({ entries }) => entries)
    );
    const whole = await maps.get("a");
    const read = [listed, await reading.get("a"), await watched, part.object];
    const asked = server.requests.length;
    for (const object of read as (ConfigMap | undefined)[]) {
      assert(object !== undefined);
      assertEquals((object as { [reduced]?: string })[reduced], form);
      const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
      const copies: ConfigMap[] = [object, { ...object }, {
        ...object,
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: whole.metadata,
      }];
      if (form.includes("fields")) {
        copies.push({ ...whole, metadata: object.metadata }, { ...whole, data: object.data });
      }
      for (const copy of copies) {
        const draft = { ...copy, metadata: { ...metadata, name: "b" } };
        const writes: readonly [string, () => Promise<unknown>][] = [
          ["update", () => maps.update(copy as never)],
          ["update", () => maps.update({ ...copy } as never, { subresource: "status" })],
          ["apply", () => maps.apply(copy as never, { fieldManager: "test" })],
          ["patch", () => maps.patch("a", { type: "apply", body: copy as never, fieldManager: "test" })],
          ["patch", () => maps.patch("a", { type: "json", body: [{ op: "replace", path: "", value: copy }] as never })],
          ["patch", () => maps.patch("a", { type: "strategic", body: { things: [copy] } as never })],
          ["create", () => maps.create(draft as never)],
          [
            "createOrUpdate",
            () => createOrUpdate(maps, { metadata: { name: "a" } }, () => {}, { current: copy as never }),
          ],
          ["finalize", () => finalize(maps, copy as never, { finalizer: "a.dev/b", cleanup: () => {} })],
          ["writeStatus", () => writeStatus(maps as never, copy, { x: 1 } as never)],
        ];
        for (const [name, write] of writes) {
          await assertRejects(write, TypeError, `reduced to ${form}, and the write would remove`, `${name} of ${form}`);
        }
      }
    }
    assertEquals(server.requests.length, asked, "no write was sent");
    assertEquals(server.get(ConfigMap, "shop/a")?.data, { a: "1", b: "2", c: "3" });
  }
});

Deno.test("a collection of fields gets objects with these fields, sends patches, and refuses whole writes", async () => {
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ namespace: "shop", name: "a", data: { a: "1", b: "2" } }));
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const maps = client.resource(onlyFields(ConfigMap, ["data.a"]));
  assertEquals({ ...(await maps.get("a")).data }, { a: "1", [reduced]: "the fields data.a" });
  await maps.patch("a", { type: "merge", body: { data: { a: "3" } } });
  assertEquals(server.get(ConfigMap, "shop/a")?.data, { a: "3", b: "2" });
  const refused =
    'Cannot VERB "configmaps": the resource is reduced to selected fields. Patch it, or use the resource with all fields';
  await assertRejects(() => maps.create({} as never), TypeError, refused.replace("VERB", "create"));
  await assertRejects(() => maps.update({} as never), TypeError, refused.replace("VERB", "update"));
});

const Crontab: Resource<KubernetesObject> = defineResource<KubernetesObject>({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

function setUp(): { server: FakeApiServer; client: Client } {
  const server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) server.create(ConfigMap, configMap({ name, namespace: "shop", data: { name } }));
  return { server, client: new Client({ server: "http://fake", transport: server, namespace: "shop" }) };
}

Deno.test("ResourceClient gets, lists, pages and watches rows with the cells of the server", async () => {
  const { server, client } = setUp();
  const rows = client.resource(asTable(ConfigMap));
  const one = await rows.get("b");
  assertEquals([one.kind, one.metadata.name, one.cells.slice(0, 2), one.object.data], ["ConfigMap", "b", ["b", 1], {
    name: "b",
  }]);
  const { items, resourceVersion } = await rows.list();
  assertEquals(items.map(({ cells }) => cells.slice(0, 2)), [["a", 1], ["b", 1], ["c", 1]]);
  const pages = await Array.fromAsync(rows.pages({ limit: 2 }));
  assertEquals(pages.map(({ items }) => items.map(({ metadata }) => metadata.name)), [["a", "b"], ["c"]]);
  assertEquals(pages[1].items[0].columns.map(({ name }) => name), ["Name", "Data", "Age"]);
  const watch = rows.watch({ resourceVersion });
  const seen = watch.next();
  server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
  const { value } = await seen;
  assertEquals([value?.type, value?.type === "MODIFIED" && value.object.cells.slice(0, 2)], ["MODIFIED", ["b", 2]]);
  await watch.return?.();
});

Deno.test("a row has the columns that a custom resource's definition names", async () => {
  const server = new FakeApiServer({
    resources: [{ ...Crontab, columns: [{ name: "Spec", type: "string", jsonPath: ".spec.cron", priority: 1 }] }],
  });
  server.create(
    Crontab,
    { metadata: { name: "daily", namespace: "shop" }, spec: { cron: "@daily" } } as unknown as KubernetesObject,
  );
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const { items: [row] } = await client.resource(asTable(Crontab)).list();
  assertEquals([row.cells, row.columns.map(({ name, priority }) => [name, priority])], [
    ["daily", "@daily"],
    [["Name", 0], ["Spec", 1]],
  ]);
});

for (const streamingList of ["on", "off"] as const) {
  Deno.test(`an informer keeps rows up to date, with streaming list ${streamingList}`, async () => {
    const { server, client } = setUp();
    await using informer = new SharedIndexInformer(client.resource(asTable(ConfigMap), { namespace: "shop" }), {
      reflector: { streamingList },
      indexers: { data: (row) => [String(row.cells[1])] },
    });
    informer.run();
    await informer.waitForCacheSync();
    server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
    server.delete(ConfigMap, "shop/c");
    server.create(ConfigMap, configMap({ name: "d", namespace: "shop", labels: { app: "d" } }));
    await informer.waitForVersion(server.resourceVersion);
    const cells = informer.lister.list().map((row) => row.cells.slice(0, 2)).sort();
    assertEquals(cells, [["a", 1], ["b", 2], ["d", 0]]);
    assertEquals(informer.lister.list("app=d").map(({ object }) => object.metadata.name), ["d"]);
    assertEquals(informer.indexer.byIndex("data", "2").map(({ metadata }) => metadata.name), ["b"]);
    server.compact();
    server.dropWatches();
    server.delete(ConfigMap, "shop/a");
    await informer.untilDeleted("shop/a");
    const d = informer.lister.namespace("shop").get("d");
    assertEquals(d?.columns.map(({ name }) => name), ["Name", "Data", "Age"]);
    client[Symbol.dispose]();
  });
}

/** Kubernetes 1.32: a streaming list has objects, where these are accepted, and no rows. */
class WithoutStreamedRows implements Transport {
  readonly server: FakeApiServer;

  constructor(server: FakeApiServer) {
    this.server = server;
  }

  fetch(request: Request): Promise<Response> {
    const accepted = request.headers.get("accept")!.split(",");
    if (!new URL(request.url).searchParams.has("sendInitialEvents")) return this.server.fetch(request);
    if (accepted.includes("application/json")) {
      return this.server.fetch(new Request(request, { headers: { accept: "application/json" } }));
    }
    const message = "only the following media types are accepted: application/json, application/yaml";
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotAcceptable", code: 406, message };
    return Promise.resolve(Response.json(status, { status: 406 }));
  }
}

Deno.test("an informer of rows lists in pages where a streaming list has no rows", async () => {
  const { server } = setUp();
  using client = new Client({ server: "http://fake", transport: new WithoutStreamedRows(server), namespace: "shop" });
  const phases: string[] = [];
  await using informer = new SharedIndexInformer(client.resource(asTable(ConfigMap), { namespace: "shop" }), {
    reflector: {
      onPhase: (phase) => phases.push(phase.name === "listing" ? phase.by : phase.name),
      backoff: { initialMs: 1, jitter: 0 },
    },
  });
  informer.run();
  await informer.waitForCacheSync();
  server.patch(ConfigMap, "shop/b", { data: { more: "1" } });
  await informer.waitForVersion(server.resourceVersion);
  assertEquals(informer.lister.list().map(({ cells }) => cells.slice(0, 2)).sort(), [["a", 1], ["b", 2], ["c", 1]]);
  assertEquals([informer.status().errors, phases.slice(0, 3)], [0, ["stream", "pages", "watching"]]);
  const loseHistory = (): void => {
    server.delete(ConfigMap, "shop/a");
    server.compact();
  };
  server.beforeNext(loseHistory, 1, ({ verb }) => verb === "watch");
  server.endWatches();
  await informer.untilDeleted("shop/a");
  assertEquals(phases.filter((name) => name === "stream" || name === "pages"), ["stream", "pages", "pages"]);
});

Deno.test("an informer of rows can freeze, transform and parse them at once", async () => {
  const { client } = setUp();
  await using informer = new SharedIndexInformer(client.resource(asTable(ConfigMap), { namespace: "shop" }), {
    freeze: true,
    parse: "eager",
    transform: (row) => ({ ...row, cells: [...row.cells, "more"] }),
  });
  informer.run();
  await informer.waitForCacheSync();
  const row = informer.lister.namespace("shop").get("a");
  assertEquals([row?.cells.at(-1), Object.isFrozen(row?.object.data)], ["more", true]);
  client[Symbol.dispose]();
});

Deno.test("asTable changes the representation and nothing else, and rows cannot be written", async () => {
  assertEquals<Resource>(asTable(ConfigMap), { ...ConfigMap, representation: "table" });
  assertEquals(asTable(onlyMetadata(ConfigMap)).representation, "table");
  const { server, client } = setUp();
  const rows = client.resource(asTable(ConfigMap));
  const row = await rows.get("a");
  const asked = server.requests.length;
  const refused = 'Cannot VERB "configmaps": the resource is a table. Use the resource itself';
  const writes = {
    create: () => rows.create(row as never),
    update: () => rows.update(row as never),
    patch: () => rows.patch("a", { type: "merge", body: {} }),
    delete: () => rows.delete("a"),
  };
  for (const [verb, write] of Object.entries(writes)) {
    await assertRejects(write, TypeError, refused.replace("VERB", verb));
  }
  await assertRejects(() => rows.deleteCollection(), TypeError, refused.replace("VERB", "delete"));
  assertEquals(server.requests.length, asked);
});
