import { assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../../src/engine/api/resource.ts";
import { collect, json, podList, scripted } from "../../support/servers/transport.ts";

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}
const Pod: Resource<Pod> = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });

const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }): string[] =>
  list.items.map((item) => item.metadata.name);

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
