import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { DecodeError, isExpired, StatusError } from "../../src/api/status.ts";
import { defineResource, metadataOf } from "../../src/api/resource.ts";
import {
  bookmark,
  collect,
  line,
  LiveBody,
  pod,
  scripted,
  type Sent,
  statusObject,
  text,
  watchOf,
} from "../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

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
  await collect(client.resource(metadataOf(Pod)).watch());
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
