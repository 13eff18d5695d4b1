import { assertEquals, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { ConfigMap, CONTAINERS, fiveMaps, MAPS } from "../../support/servers/fake_server.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("FakeApiServer until() resolves with the object once the predicate holds, now or after a write", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  assertEquals((await server.until(Pod, "a", (it) => it !== undefined))?.metadata.name, "a");
  const failed = server.until(Pod, "default/a", (it) => it?.status?.phase === "Failed");
  server.create(Pod, pod({ name: "b" }));
  server.patch(Pod, "a", { status: { phase: "Failed" } });
  assertEquals((await failed)?.status?.phase, "Failed");
  const deleted = server.until(Pod, "a", (it) => it === undefined);
  server.delete(Pod, "a");
  assertEquals([await deleted, time.timers], [undefined, 0]);
});

Deno.test("FakeApiServer until() rejects after its time with the present object, for its signal, and for a predicate that throws", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  const never = assertRejects(
    () => server.until(Pod, "a", () => false),
    Error,
    'pods "a" longer than 5000 ms: the object does not exist',
  );
  await time.tickAsync(5_000);
  await never;
  server.create(Pod, pod({ name: "a" }));
  const late = assertRejects(() => server.until(Pod, "a", () => false, { timeoutMs: 10 }), Error, '"name":"a"');
  await time.tickAsync(10);
  await late;
  const stop = new AbortController();
  const aborted = assertRejects(() => server.until(Pod, "a", () => false, { signal: stop.signal }), Error, "enough");
  stop.abort(new Error("enough"));
  await aborted;
  await assertRejects(() => server.until(Pod, "a", () => false, { signal: stop.signal }), Error, "enough");
  const thrown = assertRejects(
    () =>
      server.until(Pod, "a", (it) => {
        if (it === undefined) throw new Error("gone");
        return false;
      }),
    Error,
    "gone",
  );
  server.delete(Pod, "a");
  await thrown;
  assertEquals(time.timers, 0);
});

async function serving(run: (server: FakeApiServer, url: string) => Promise<void>): Promise<void> {
  using server = new FakeApiServer();
  fiveMaps(server);
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, server.fetch);
  try {
    await run(server, `http://127.0.0.1:${http.addr.port}`);
  } finally {
    server[Symbol.dispose]();
    await http.shutdown();
  }
}

async function lines(reader: ReadableStreamDefaultReader<Uint8Array>, count: number): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = "";
  while (text.split("\n").length <= count) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text.split("\n").filter((line) => line !== "").map((line) => {
    const { type, object } = JSON.parse(line);
    return `${type} ${object.metadata.name ?? ""}@${object.metadata.resourceVersion}`;
  });
}

Deno.test("FakeApiServer serves over TCP: lists, writes and errors", async () => {
  await serving(async (server, url) => {
    const list = await (await fetch(`${url}${MAPS}?limit=2`)).json();
    assertEquals([list.items.length, list.metadata.remainingItemCount], [2, 3]);
    const created = await fetch(`${url}/api/v1/namespaces/answers/pods`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: "p" }, spec: { containers: CONTAINERS } }),
    });
    assertEquals([created.status, (await created.json()).metadata.name], [201, "p"]);
    assertEquals(server.keys(Pod), ["answers/p"]);
    const missing = await fetch(`${url}/apis/nothing.com/v1/x`);
    assertEquals([missing.status, await missing.text()], [404, "404 page not found\n"]);
    const head = await fetch(`${url}${MAPS}`, { method: "HEAD" });
    assertEquals([head.status, await head.text()], [200, ""]);
  });
});

Deno.test("FakeApiServer keeps the headers of requests over TCP, and refuses bodies above 3 MiB", async () => {
  await serving(async (server, url) => {
    const post = (body: string): Promise<Response> =>
      fetch(`${url}${MAPS}`, { method: "POST", headers: { "content-type": "application/json", "x-test": "1" }, body });
    await (await post('{"metadata":{"name":"a"}}')).body!.cancel();
    const refused = await post(" ".repeat(3_145_729));
    assertEquals([refused.status, (await refused.json()).reason], [413, "RequestEntityTooLarge"]);
    assertEquals(server.requests.map(({ headers }) => headers.get("x-test")), ["1", "1"]);
  });
});

Deno.test("FakeApiServer serves watches over TCP: headers at once, events without delay, a clean end", async () => {
  await serving(async (server, url) => {
    // There is no event yet: the head of the answer must arrive all the same.
    const response = await fetch(`${url}${MAPS}?watch=1&resourceVersion=6`);
    assertEquals([response.status, server.watches], [200, 1]);
    const reader = response.body!.getReader();
    server.delete(ConfigMap, "answers/map-0");
    assertEquals(await lines(reader, 1), ["DELETED map-0@7"]);
    server.patch(ConfigMap, "answers/map-1", { data: { k: "日本" } });
    server.delete(ConfigMap, "answers/map-2");
    assertEquals(await lines(reader, 2), ["MODIFIED map-1@8", "DELETED map-2@9"]);
    server.endWatches();
    assertEquals((await reader.read()).done, true);
  });
});

Deno.test("FakeApiServer forgets a watch when its client disconnects", async () => {
  await serving(async (server, url) => {
    const controller = new AbortController();
    const response = await fetch(`${url}${MAPS}?watch=1&resourceVersion=5`, { signal: controller.signal });
    const reader = response.body!.getReader();
    assertEquals(await lines(reader, 1), ["ADDED map-4@6"]);
    const reason = new Error("enough");
    const next = reader.read();
    controller.abort(reason);
    assertEquals(await assertRejects(() => next), reason);
    // The server notices the abort in a later turn of the event loop.
    for (let turn = 0; server.watches > 0 && turn < 100_000; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assertEquals(server.watches, 0);
  });
});

Deno.test("FakeApiServer answers 400 to an invalid Host header", async () => {
  await serving(async (_server, url) => {
    for (const host of ["a b", "[::"]) {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) });
      const request = `GET ${MAPS} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      await connection.write(new TextEncoder().encode(request));
      const answer = await new Response(connection.readable).text();
      assertEquals(answer.split("\r\n")[0], "HTTP/1.1 400 Bad Request");
    }
  });
});

Deno.test("FakeApiServer serves a large list completely over TCP", async () => {
  await serving(async (server, url) => {
    for (let index = 0; index < 300; index++) {
      server.create(ConfigMap, {
        metadata: { namespace: "big", name: `m-${index}` },
        data: { text: "é".repeat(2_000) },
      });
    }
    const list = await (await fetch(`${url}/api/v1/namespaces/big/configmaps`)).json();
    assertEquals(list.items.length, 300);
    assertEquals(list.items[299].data.text.length, 2_000);
  });
});

Deno.test("an apply gives up a field below an untyped one whose parent another manager owns", async () => {
  const server = new FakeApiServer();
  const Loose = defineResource({ group: "test.dev", version: "v1", plural: "loose", kind: "Loose" });
  server.define(Loose);
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const objects = client.resource(Loose);
  const draft = (spec: unknown) => ({ metadata: { name: "a" }, spec }) as never;
  await objects.create(draft({ free: { deep: 1 } }), { fieldManager: "base" });
  await objects.apply(draft({ free: { deep: 2 } }), { fieldManager: "two", force: true });
  const left = await objects.apply(draft({}), { fieldManager: "two" }) as KubernetesObject & { readonly spec: unknown };
  assertEquals(left.spec, { free: null });
  const base = left.metadata.managedFields?.find(({ manager }) => manager === "base");
  assertEquals((base?.fieldsV1 as Record<string, unknown>)["f:spec"], { ".": {}, "f:free": {} });
});

Deno.test("an apply of null leaves a map without a type as it is", async () => {
  const server = new FakeApiServer();
  const Loose = defineResource({ group: "test.dev", version: "v1", plural: "loose", kind: "Loose" });
  server.define(Loose);
  using client = new Client({ server: "http://fake", transport: server, namespace: "shop" });
  const objects = client.resource(Loose);
  const draft = (spec: unknown) => ({ metadata: { name: "a" }, spec }) as never;
  await objects.create(draft({ map: { deep: 1 }, number: 1, list: [1] }), { fieldManager: "base" });
  const nulls = draft({ map: null, number: null, list: null });
  const left = await objects.apply(nulls, { fieldManager: "two", force: true }) as KubernetesObject & {
    readonly spec: unknown;
  };
  assertEquals(left.spec, { map: { deep: 1 }, number: null, list: null });
});
