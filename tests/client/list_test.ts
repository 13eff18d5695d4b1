import { assert, assertEquals, assertRejects } from "@std/assert";
import { DecodeError, isExpired, StatusError } from "../../src/api/status.ts";
import { defineResource } from "../../src/api/resource.ts";
import { Client } from "../../src/client/client.ts";
import {
  type Answer,
  collect,
  json,
  LiveBody,
  podList,
  refusal,
  ScriptedTransport,
  text,
} from "../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

function setUp(...answers: Answer[]): { readonly client: Client; readonly sent: ScriptedTransport } {
  const sent = new ScriptedTransport(...answers);
  return { client: new Client({ server: "https://kube.test", transport: sent, namespace: "shop" }), sent };
}

const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }): string[] =>
  list.items.map((item) => item.metadata.name);

Deno.test("ResourceClient.list returns all objects with kind and apiVersion, and the continue token", async () => {
  const { client } = setUp(
    json(podList(["a", "b"], { resourceVersion: "10", continue: "next", remainingItemCount: 4 })),
    json(podList([])),
  );
  const list = await client.resource(Pod).list({ limit: 2 });
  assertEquals(names(list), ["a", "b"]);
  assertEquals([list.items[0].kind, list.items[0].apiVersion], ["Pod", "v1"]);
  assertEquals([list.resourceVersion, list.continue, list.remainingItemCount], ["10", "next", 4]);
  assertEquals(await client.resource(Pod).list(), { items: [], resourceVersion: "10" });
});

Deno.test("ResourceClient.list reads a body that arrives byte by byte", async () => {
  const live = new LiveBody();
  const { client } = setUp(live.answer);
  for (const char of JSON.stringify(podList(["a", "b"]))) live.push(char);
  live.end();
  assertEquals(names(await client.resource(Pod).list()), ["a", "b"]);
});

Deno.test("ResourceClient.list keeps managedFields by default", async () => {
  const list = podList(["a"]) as { items: { metadata: Record<string, unknown> }[] };
  list.items[0].metadata.managedFields = [{ manager: "tests" }];
  const { client } = setUp(json(list), json(list));
  const kept = await client.resource(Pod).list();
  assertEquals(kept.items[0].metadata.managedFields, [{ manager: "tests" }]);
  const dropped = await client.resource(Pod).list({ managedFields: "drop" });
  assertEquals(dropped.items[0].metadata.managedFields, undefined);
});

Deno.test("Client refuses an object that is longer than maxObjectBytes", async () => {
  const live = new LiveBody();
  const transport = new ScriptedTransport(live.answer);
  const client = new Client({ server: "https://kube.test", transport, maxObjectBytes: 200 });
  for (const part of JSON.stringify(podList(["a".repeat(500)])).match(/.{1,50}/g)!) live.push(part);
  await assertRejects(() => client.resource(Pod).list(), DecodeError, "maxObjectBytes");
  assertEquals(live.ended, "cancelled");
});

Deno.test("ResourceClient.listEntries yields an empty part when the headers arrive, then unparsed entries", async () => {
  const live = new LiveBody();
  const { client } = setUp(live.answer);
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
    const { client } = setUp(live.answer);
    live.push(JSON.stringify(podList(["a"])).slice(0, -10));
    let seen = 0;
    for await (const _ of client.resource(Pod).listEntries()) if (++seen === parts) break;
    assertEquals([seen, live.ended], [parts, "cancelled"]);
  }
});

Deno.test("ResourceClient.listEntries does not wait for Retry-After", async () => {
  const { client, sent } = setUp(text(429, "later", { "retry-after": "1" }));
  const error = await assertRejects(() => collect(client.resource(Pod).listEntries()), StatusError);
  assertEquals([error.status.retryAfterSeconds, sent.requests.length], [1, 1]);
});

Deno.test("ResourceClient.pages follows the continue tokens, 500 objects a page, and sends no version with a token", async () => {
  const { client, sent } = setUp(
    json(podList(["a", "b"], { resourceVersion: "10", continue: "t1" })),
    json(podList(["c", "d"], { resourceVersion: "10", continue: "t2" })),
    json(podList(["e"], { resourceVersion: "10", continue: "" })),
  );
  const pages = await collect(
    client.resource(Pod, { labelSelector: "app=web" })
      .pages({ resourceVersion: "9", resourceVersionMatch: "NotOlderThan" }),
  );
  assertEquals(pages.map(names), [["a", "b"], ["c", "d"], ["e"]]);
  assertEquals(sent.requests.map(({ query }) => query), [
    {
      pretty: "false",
      labelSelector: "app=web",
      resourceVersion: "9",
      resourceVersionMatch: "NotOlderThan",
      limit: "500",
    },
    { pretty: "false", labelSelector: "app=web", limit: "500", continue: "t1" },
    { pretty: "false", labelSelector: "app=web", limit: "500", continue: "t2" },
  ]);
});

Deno.test("ResourceClient.pages yields one page of an empty list", async () => {
  const { client, sent } = setUp(json(podList([])));
  assertEquals((await collect(client.resource(Pod).pages({ limit: 2 }))).map(names), [[]]);
  assertEquals([sent.requests.length, sent.last.query.limit], [1, "2"]);
});

Deno.test("ResourceClient.pages requests the next page as soon as its token is known, and none after that", async () => {
  const [first, second, third] = [new LiveBody(), new LiveBody(), new LiveBody()];
  const { client, sent } = setUp(first.answer, second.answer, third.answer);
  const page = (name: string, token?: string): string =>
    JSON.stringify(podList([name], { resourceVersion: "10", ...(token ? { continue: token } : {}) }));
  const pages = client.resource(Pod).pages();
  const one = pages.next();
  await turns();
  first.push(page("a", "t1").slice(0, -5));
  await turns();
  assertEquals(sent.requests.length, 2); // the first page is still on its way
  second.push(page("b", "t2"));
  second.end();
  await turns();
  assertEquals(sent.requests.length, 2); // nobody wants the second page yet
  first.push(page("a", "t1").slice(-5));
  first.end();
  assertEquals(names((await one).value), ["a"]);
  await turns();
  assertEquals(sent.requests.length, 2);
  assertEquals(names((await pages.next()).value), ["b"]);
  await turns();
  assertEquals(sent.requests.length, 3);
  await pages.return?.();
  assertEquals(third.ended, "aborted");
});

Deno.test("ResourceClient.pages cancels the page that it fetched ahead when its loop is left", async () => {
  const ahead = new LiveBody();
  const { client, sent } = setUp(json(podList(["a"], { resourceVersion: "10", continue: "t1" })), ahead.answer);
  for await (const page of client.resource(Pod).pages()) {
    assertEquals(names(page), ["a"]);
    await turns();
    break;
  }
  assertEquals([sent.requests.length, ahead.ended], [2, "aborted"]);
});

Deno.test("ResourceClient.pages begins anew when a token has expired, and throws when one expires again", async () => {
  const { client } = setUp(
    json(podList(["a"], { resourceVersion: "10", continue: "t1" })),
    refusal(410, "Expired", "The provided continue parameter is too old", {}, { metadata: { continue: "t2" } }),
    json(podList(["a", "b"], { resourceVersion: "20", continue: "t3" })),
    refusal(410, "Expired", "The provided continue parameter is too old", {}, { metadata: { continue: "t4" } }),
  );
  const seen: string[] = [];
  const error = await assertRejects(async () => {
    for await (const page of client.resource(Pod).pages()) seen.push(`${names(page)} ${page.restarted ?? false}`);
  });
  assert(isExpired(error));
  assertEquals([seen, error.status.continue], [["a false", "a,b true"], "t4"]);
});

Deno.test("ResourceClient.pages throws the error of a page while the page after it is being fetched", async () => {
  const [first, ahead] = [new LiveBody(), new LiveBody()];
  const { client } = setUp(first.answer, ahead.answer);
  const pages = client.resource(Pod).pages();
  const one = assertRejects(() => pages.next(), Error, "connection lost");
  await turns();
  first.push(JSON.stringify(podList(["a"], { resourceVersion: "10", continue: "t1" })).slice(0, -2));
  await turns();
  first.fail(new TypeError("connection lost"));
  await one;
  assertEquals(ahead.ended, "aborted");
  assertEquals(await pages.next(), { done: true, value: undefined });
});

/** Resolves after the callbacks of settled promises have run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

Deno.test("ResourceClient.pages ends a list whose continue token is repeated", async () => {
  const { client, sent } = setUp(
    ...["a", "b", "c"].map((name) => json(podList([name], { resourceVersion: "10", continue: "same" }))),
  );
  const seen: string[] = [];
  const error = await assertRejects(async () => {
    for await (const page of client.resource(Pod).pages()) seen.push(...names(page));
  }, DecodeError);
  assertEquals(error.message.split(" of an")[0], 'Cannot list "pods": page 2 has the continue token "same"');
  assertEquals([seen, sent.requests.length], [["a"], 2]);
});

Deno.test("ResourceClient.pages ends a list of which 100 pages in a row have no object", async () => {
  const { client, sent } = setUp(
    ...Array.from(
      { length: 110 },
      (_, page) => json(podList([], { resourceVersion: "10", continue: `token-${page}` })),
    ),
  );
  await assertRejects(() => collect(client.resource(Pod).pages()), DecodeError, '"pods": 100 pages in a row');
  assertEquals(sent.requests.length, 101);
});
