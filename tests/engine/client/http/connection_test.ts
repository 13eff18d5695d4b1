import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { isForbidden, isUnauthorized, StatusError, UnreachableError } from "../../../../src/engine/api/status.ts";
import { Client, type ClientOptions } from "../../../../src/engine/client/client.ts";
import type { Credentials } from "../../../../src/engine/client/http/connection.ts";
import type { ResourceClient } from "../../../../src/engine/client/resource_client.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { CountedController } from "../../../support/times/listeners.ts";
import {
  type Answer,
  collect,
  json,
  LiveBody,
  pod,
  podList,
  refusal,
  ScriptedTransport,
  text,
  watchOf,
} from "../../../support/servers/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

interface SetUp {
  readonly transport: ScriptedTransport;
  readonly client: Client;
  readonly pods: ResourceClient<KubernetesObject>;
}

function setUp(options: Partial<ClientOptions>, ...answers: Answer[]): SetUp {
  const transport = new ScriptedTransport(...answers);
  const client = new Client({ server: "https://kube.test:6443", namespace: "shop", transport, ...options });
  return { transport, client, pods: client.resource(Pod, { namespace: "shop" }) };
}

const throttled = (seconds = "2"): Response => text(429, "try again later", { "retry-after": seconds });

Deno.test("ResourceClient.watchChanges sends nothing for an invalid request, one request otherwise, and throws a typed error for every refusal [C130]", async () => {
  const none = setUp({});
  await assertRejects(() => Promise.try(() => none.pods.watch({ timeoutSeconds: -1 }).next()), RangeError);
  assertEquals(none.transport.requests.length, 0);

  const cases: [Answer, (error: unknown) => boolean, string][] = [
    [refusal(403, "Forbidden", "pods is forbidden"), isForbidden, "pods is forbidden"],
    [text(403, ""), isForbidden, "the server answered 403"],
    [text(401, ""), isUnauthorized, "the server answered 401"],
    [throttled(), (error) => error instanceof StatusError && error.status.retryAfterSeconds === 2, "try again later"],
    [text(500, "no", { "retry-after": "1" }), (error) => error instanceof StatusError, "500 InternalError: no"],
    [
      new TypeError("connection reset by peer"),
      (error) => error instanceof UnreachableError,
      "connection reset by peer",
    ],
  ];
  for (const [answer, is, message] of cases) {
    const { transport, pods } = setUp({}, answer);
    const error = await assertRejects(() => collect(pods.watchChanges()), Error, message);
    assert(is(error), String(error));
    assertEquals(transport.requests.length, 1);
  }
});

Deno.test("Client repeats a request of any verb when the server answers Retry-After, and no other [C131] [F35]", async () => {
  using time = new FakeTime();
  const verbs: ((client: Client) => Promise<unknown>)[] = [
    (client) => client.resource(Pod).get("a"),
    (client) => client.resource(Pod).list(),
    (client) => client.resource(Pod).pages().next(),
    (client) => client.resource(Pod).create({ metadata: { name: "a" } }),
    (client) => client.resource(Pod).update(pod("a", "1") as never),
    (client) => client.resource(Pod).patch("a", { type: "merge", body: {} }),
    (client) => client.resource(Pod).delete("a"),
    (client) => client.resource(Pod, { namespace: "shop" }).deleteCollection(),
    (client) => client.fetch("/version").then((response) => response.text()),
    (client) => client.fetch("/apis/x", { method: "POST", body: "bytes" }).then((response) => response.text()),
  ];
  for (const ask of verbs) {
    const { transport, client } = setUp(
      {},
      throttled("2"),
      text(503, "busy", { "retry-after": "3" }),
      json(podList([])),
    );
    const done = ask(client);
    await time.tickAsync(1_999);
    assertEquals(transport.requests.length, 1);
    await time.tickAsync(1);
    assertEquals(transport.requests.length, 2);
    await time.tickAsync(2_999);
    assertEquals(transport.requests.length, 2);
    await time.tickAsync(1);
    assertEquals(transport.requests.length, 3);
    assertEquals(transport.requests[2].body, transport.requests[0].body);
    await done;
  }
  const once: Answer[] = [
    text(429, "no header"),
    text(501, "no header"),
    text(404, "not put off", { "retry-after": "1" }),
    new Response(null, { status: 302, headers: { "retry-after": "1" } }),
    new TypeError("connection refused"),
  ];
  for (const answer of once) {
    const { transport, pods } = setUp({}, answer);
    await assertRejects(() => pods.get("a"), Error);
    assertEquals(transport.requests.length, 1);
  }
  // Eleven attempts by default; none of a body that can be sent but once.
  const { transport, pods } = setUp({}, ...Array.from({ length: 12 }, () => throttled("1")));
  const refused = assertRejects(() => pods.get("a"), StatusError, "429 TooManyRequests");
  await time.tickAsync(60_000);
  await refused;
  assertEquals(transport.requests.length, 11);
  const never = setUp({ retries: 0 }, throttled());
  await assertRejects(() => never.pods.get("a"), StatusError);
  const stream = setUp({}, throttled());
  const body = new Blob(["bytes"]).stream();
  await assertRejects(() => stream.client.fetch("/x", { method: "POST", body }), StatusError);
  assertEquals([never.transport.requests.length, stream.transport.requests.length, time.timers], [1, 1, 0]);
});

Deno.test("retry repeats reads after a reset connection and after 5xx, a few times, and never writes", async () => {
  using time = new FakeTime();
  const failures: readonly (() => Answer)[] = [
    () => text(500, "no header"),
    () => text(502, "bad gateway"),
    () => text(503, "no number", { "retry-after": "soon" }),
    () => text(504, "gateway timeout"),
    () => new TypeError("fetch failed", { cause: new Error("Connection reset by peer (os error 104)") }),
    () => new TypeError("error sending request: connection closed before message completed"),
    () => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "UND_ERR_SOCKET" }) }),
  ];
  for (const failure of failures) {
    for (const read of ["get", "list", "fetch"] as const) {
      const { transport, client, pods } = setUp({}, failure(), failure(), json(podList([])));
      const calls = {
        get: () => pods.get("a"),
        list: () => pods.list(),
        fetch: () => client.fetch("/version").then((response) => response.text()),
      };
      const done = calls[read]();
      await time.tickAsync(99);
      assertEquals(transport.requests.length, 1);
      await time.tickAsync(1_000);
      await done;
      assertEquals(transport.requests.length, 3);
    }
    const { transport, pods } = setUp({}, failure());
    await assertRejects(() => pods.create({ metadata: { name: "a" } }));
    assertEquals(transport.requests.length, 1, "a write may have been done");
    const always = setUp({}, ...Array.from({ length: 12 }, failure));
    const refused = assertRejects(() => always.pods.get("a"));
    await time.tickAsync(60_000);
    await refused;
    assertEquals(always.transport.requests.length, 6);
    const never = setUp({ retries: 0 }, failure());
    await assertRejects(() => never.pods.get("a"));
  }
  const stop = new AbortController();
  const stopped = setUp({}, text(500, "no"));
  const aborted = assertRejects(() => stopped.pods.get("a", { signal: stop.signal }), Error, "enough");
  await time.tickAsync(1);
  stop.abort(new Error("enough"));
  await aborted;
  assertEquals(time.timers, 0);
});

Deno.test("Client gives a request up after timeoutMs, before the answer, while it is read, and between repetitions", async () => {
  using time = new FakeTime();
  const live = new LiveBody();
  const silent: Answer = ({ signal }) =>
    new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const message =
    'Cannot reach "https://kube.test:6443" to get "pods/a" in namespace "shop": no complete response within 500 ms';
  for (const answer of [silent, live.answer, text(500, "no")]) {
    const { pods } = setUp({}, answer, text(500, "no"), text(500, "no"), text(500, "no"));
    const late = assertRejects(() => pods.get("a", { timeoutMs: 500 }), UnreachableError, message);
    await time.tickAsync(499);
    if (answer === live.answer) live.push('{"kind":');
    await time.tickAsync(1);
    await late;
    assertEquals(time.timers, 0);
  }
  const listing = setUp({}, silent);
  const late = assertRejects(() => listing.pods.list({ timeoutMs: 1 }), UnreachableError, "within 1 ms");
  await time.tickAsync(1);
  await late;
  const done = setUp({}, json(pod("a", "1")));
  await done.pods.get("a", { timeoutMs: 500 });
  assertEquals(time.timers, 0);
  await assertRejects(() => done.pods.get("a", { timeoutMs: -1 }), RangeError, "timeoutMs");
});

Deno.test("Client reads an unused body to its end, or cancels it [F33]", async () => {
  using time = new FakeTime();
  let cancelled = 0;
  const long = (): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller): void => controller.enqueue(new Uint8Array(3_000).fill(65)),
        cancel: (): void => void cancelled++,
      }),
      { status: 429, headers: { "retry-after": "1" } },
    );
  const { pods } = setUp({}, long(), long(), json(pod("a", "1")));
  const done = pods.get("a");
  await time.tickAsync(2_000);
  await done;
  assertEquals(cancelled, 2);
});

Deno.test("Client waits at most five minutes, however long Retry-After says", async () => {
  using time = new FakeTime();
  const { transport, client } = setUp({}, throttled("86400"), json(podList([])));
  const listed = client.resource(Pod).list();
  await time.tickAsync(299_999);
  assertEquals(transport.requests.length, 1);
  await time.tickAsync(1);
  await listed;
  assertEquals(transport.requests.length, 2);
});

Deno.test("Client stops waiting for Retry-After when the signal aborts", async () => {
  using time = new FakeTime();
  const { transport, pods } = setUp({}, throttled("60"));
  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = assertRejects(() => pods.list({ signal: controller.signal }), Error, "enough");
  await time.tickAsync(1_000);
  controller.abort(reason);
  assertStrictEquals(await waiting, reason);
  assertEquals([transport.requests.length, time.timers], [1, 0]);
});

Deno.test("Client gets credentials for every request, and fresh ones once after a 401 [F09]", async () => {
  const asked: boolean[] = [];
  const credentials: Credentials = {
    apply: async (headers, { refresh, signal }) => {
      await Promise.resolve();
      assertInstanceOf(signal, AbortSignal);
      asked.push(refresh);
      headers.set("authorization", `Bearer ${asked.length}`);
    },
  };
  const no = (): Response => refusal(401, "Unauthorized", "Unauthorized");
  const { transport, pods } = setUp({ credentials }, no(), json(pod("a", "1")), no(), watchOf(), no(), no());
  await pods.get("a");
  assertEquals(transport.requests.map(({ headers }) => headers.get("authorization")), ["Bearer 1", "Bearer 2"]);
  await collect(pods.watch());
  const error = await assertRejects(() => pods.create({ metadata: { name: "a" } }), StatusError);
  assert(isUnauthorized(error));
  assertEquals(asked, [false, true, false, true, false, true]);
  assertEquals(transport.requests.at(-1)!.body, transport.requests.at(-2)!.body);
  assertEquals(transport.left, 0);
});

Deno.test("Client sends a refused request once if its credentials have nothing new", async () => {
  for (const found of [false, Promise.resolve(false)]) {
    const { transport, pods } = setUp({ credentials: { apply: () => found } }, refusal(401, "Unauthorized", "No"));
    assert(isUnauthorized(await assertRejects(() => pods.get("a"))));
    assertEquals([transport.requests.length, transport.left], [1, 0]);
  }
});

Deno.test("Client rejects with the error that its credentials throw", async () => {
  const reason = new Error("Cannot run the plugin");
  const { transport, pods } = setUp({
    credentials: {
      apply: (): void => {
        throw reason;
      },
    },
  });
  assertStrictEquals(await assertRejects(() => pods.get("a")), reason);
  assertEquals(transport.requests.length, 0);
});

Deno.test("Client's error names the server that cannot be reached, the request, and the cause", async () => {
  const cause = new TypeError("fetch failed", {
    cause: new Error("error sending request for url (https://kube.test:6443/x): dns error: no such name"),
  });
  const { pods } = setUp({}, cause);
  const error = await assertRejects(() => pods.get("a"), UnreachableError);
  assertEquals(
    error.message,
    'Cannot reach "https://kube.test:6443" to get "pods/a" in namespace "shop": dns error: no such name',
  );
  assertEquals(error.cause, undefined, "the message has all that it says");
});

Deno.test("Client's error says that the connection was lost in the middle of a body", async () => {
  for (const ask of ["get", "list", "watch", "fetch"] as const) {
    const live = new LiveBody();
    const { client, pods } = setUp({}, live.answer);
    const failure = new TypeError("error reading a body from connection");
    const calls = {
      get: () => pods.get("a"),
      list: () => pods.list(),
      watch: () => collect(pods.watch()),
      fetch: () => client.fetch("/version").then((response) => response.text()),
    };
    live.push('{"kind":');
    const refused = assertRejects(calls[ask], UnreachableError, 'Cannot reach "https://kube.test:6443" any longer');
    await turn();
    live.fail(failure);
    const error = await refused;
    assertEquals(error.cause, undefined);
    assert(error.message.endsWith("error reading a body from connection"), error.message);
  }
});

Deno.test("Client rejects with the abort reason, before, during and after the headers", async () => {
  const reason = { because: "the test" };
  const early = setUp({});
  for (
    const ask of [
      () => early.pods.get("a", { signal: AbortSignal.abort(reason) }),
      () => early.client.fetch("/x", { signal: AbortSignal.abort(reason) }),
    ]
  ) {
    assertStrictEquals(await ask().then(() => undefined, (error) => error), reason);
  }
  assertEquals(early.transport.requests.length, 0);

  const hanging: Answer = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const during = setUp({}, hanging);
  const controller = new AbortController();
  const refused = during.pods.get("a", { signal: controller.signal }).then(() => undefined, (error) => error);
  await turn();
  controller.abort(reason);
  assertStrictEquals(await refused, reason);

  const live = new LiveBody();
  const after = setUp({}, live.answer);
  const other = new AbortController();
  const broken = after.pods.get("a", { signal: other.signal }).then(() => undefined, (error) => error);
  await turn();
  other.abort(reason);
  assertStrictEquals(await broken, reason);
  assertEquals(live.ended, "aborted");
});

Deno.test("Client leaves no listener on a long-lived signal after a call", async () => {
  using time = new FakeTime();
  const counting = new CountedController();
  const { signal } = counting;
  const live = new LiveBody();
  const { client, pods } = setUp(
    {},
    json(pod("a", "1")),
    text(404, "no"),
    new TypeError("no connection"),
    json(podList(["a"], { resourceVersion: "1", continue: "t" })),
    json(podList(["b"])),
    watchOf(),
    live.answer,
    json({}),
    throttled("1"),
    json(pod("a", "1")),
  );
  await pods.get("a", { signal });
  await assertRejects(() => pods.get("a", { signal }), StatusError);
  await assertRejects(() => pods.get("a", { signal }), UnreachableError);
  await collect(pods.pages({ signal }));
  await collect(pods.watch({ signal }));
  for await (const _ of pods.watchChanges({ signal })) break;
  assertEquals(live.ended, "cancelled");
  await (await client.fetch("/version", { signal })).text();
  const waited = pods.get("a", { signal });
  await time.tickAsync(1_000);
  await waited;
  assertEquals(counting.listeners, 0);
});

Deno.test("Client aborts no request that has ended by itself: an answer, a refusal, or a body read to its end", async () => {
  const { transport, client, pods } = setUp({}, json(pod("a", "1")), text(404, "no"), json({}));
  await pods.get("a");
  await assertRejects(() => pods.get("a"), StatusError);
  await (await client.fetch("/version")).text();
  const signals = transport.requests.map(({ signal }) => signal);
  client[Symbol.dispose]();
  assertEquals(signals.map(({ aborted }) => aborted), [false, false, false]);
});

Deno.test("Client aborts its requests when it is disposed, and disposes its transport once", async () => {
  const live = new LiveBody();
  const { transport, client, pods } = setUp({}, live.answer);
  const watching = assertRejects(() => collect(pods.watch()), DOMException, "The client was disposed");
  await turn();
  client[Symbol.dispose]();
  client[Symbol.dispose]();
  await watching;
  assertEquals([live.ended, transport.disposed], ["aborted", 1]);
  await assertRejects(() => pods.get("a"), Error, 'Cannot get "pods/a" in namespace "shop": the client was disposed');
  assertEquals(transport.requests.length, 1);
});

/** Resolves after the callbacks of settled promises have run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

Deno.test("Errors redact the credentials that a server repeats, and escape what controls a terminal", async () => {
  const token = "not-a-secret-0123456789";
  const said = `denied: Bearer ${token} \u001b[31m\u202e`;
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden", message: said };
  const details = { name: token, causes: [{ message: said }, 5] };
  const credentials: Credentials = { apply: (headers) => headers.set("authorization", `Bearer ${token}`) };
  const list = (pods: ResourceClient<KubernetesObject>): Promise<unknown> => pods.list();
  const watch = (pods: ResourceClient<KubernetesObject>): Promise<unknown> => collect(pods.watchChanges());
  const rows: [Answer, typeof list][] = [
    [json({ ...status, details }, 403), list],
    [json({ ...status, details: 5 }, 403), list],
    [json({ ...status, details }), list],
    [text(403, said), list],
    [text(200, said), list],
    [text(404, `<html>${said}`), list],
    [text(302, "", { location: `https://elsewhere.test/?token=${token}` }), list],
    [watchOf(`${JSON.stringify({ type: "ERROR", object: { ...status, details } })}\n`), watch],
    [watchOf(`${JSON.stringify({ type: "PING", object: said })}\n`), watch],
  ];
  for (const [answer, ask] of rows) {
    const { pods } = setUp({ credentials }, answer);
    const error = await assertRejects(() => ask(pods), Error);
    const shown = Deno.inspect(error, { depth: 9 });
    assert(!shown.includes(token), shown);
    // deno-lint-ignore no-control-regex -- what must not be there
    assert(!/[\x1b\u202e]/.test(error.message), error.message);
  }
});

Deno.test("A TypeError of the program itself is thrown as it is, and is no unreachable server", async () => {
  const own = new TypeError("Map.groupBy is not a function");
  const { pods } = setUp({ credentials: { apply: () => undefined } }, own);
  assertStrictEquals(await assertRejects(() => pods.list()), own);
});

Deno.test("A read is repeated after the errors of Deno for an HTTP/2 connection that a server ends", async () => {
  using time = new FakeTime();
  for (const reason of ["runtime dropped the dispatch task", "connection error received: not a result of an error"]) {
    const { transport, pods } = setUp({}, new TypeError(reason), json(podList([])));
    const list = pods.list();
    await time.tickAsync(1_000);
    assertEquals((await list).items, []);
    assertEquals(transport.requests.length, 2);
  }
});
