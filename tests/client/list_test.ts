import { assertEquals, assertRejects } from "@std/assert";
import { StatusError } from "../../src/api/status.ts";
import { defineResource } from "../../src/api/resource.ts";
import { collect, json, LiveBody, podList, scripted, text } from "../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

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

Deno.test("ResourceClient.pages follows the continue tokens, 500 objects a page, and sends no version with a token", async () => {
  const { client, sent } = scripted(
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
  const { client, sent } = scripted(json(podList([])));
  assertEquals((await collect(client.resource(Pod).pages({ limit: 2 }))).map(names), [[]]);
  assertEquals([sent.requests.length, sent.last.query.limit], [1, "2"]);
});
