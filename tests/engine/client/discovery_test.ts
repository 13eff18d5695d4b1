import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";

Deno.test("Client.find asks the server again for a kind that was installed since the last answer", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  assertEquals((await client.find("po")).plural, "pods");
  const { length } = server.requests;
  assertEquals((await client.find("deployments.apps")).kind, "Deployment");
  assertEquals(server.requests.length, length); // kept
  server.define({ group: "test.dev", version: "v1", plural: "toys", kind: "Toy", scope: "Namespaced" });
  assertEquals((await client.find("toys")).group, "test.dev");
  await assertRejects(() => client.find("trains"), Error, `Cannot find a resource "trains"`);
});

Deno.test("Client.discover names a group whose server sends null, and takes null for an empty list", async () => {
  for (
    const [document, errors] of [
      [null, [`Cannot discover "batch/v1": the server sent null instead of a list of resources`]],
      [5, [`Cannot discover "batch/v1": the server sent 5 instead of a list of resources`]],
      [{ kind: "APIResourceList", groupVersion: "batch/v1", resources: null }, []],
      [{ kind: "APIResourceList" }, []],
    ] as const
  ) {
    const answers: Readonly<Record<string, unknown>> = {
      "/api": { kind: "APIVersions", versions: [] },
      "/apis": { kind: "APIGroupList", groups: [{ name: "batch", versions: [{ version: "v1" }] }] },
      "/apis/batch/v1": document,
    };
    const fetch = ({ url }: Request): Promise<Response> =>
      Promise.resolve(Response.json(answers[new URL(url).pathname]));
    using client = new Client({ server: "http://fake", transport: { fetch } });
    const found: string[] = [];
    const onError = (error: unknown): void => void found.push((error as Error).message);
    assertEquals(await client.discover({ onError }), []);
    assertEquals([...new Set(found)], [...errors]);
  }
});

Deno.test("Client.discover takes null for an empty list in aggregated documents", async () => {
  const items = [{ metadata: { name: "a" }, versions: null }, { versions: [{ version: "v1", resources: null }] }];
  const list = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", items };
  const headers = { "content-type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(list, { headers }));
  using client = new Client({ server: "http://fake", transport: { fetch } });
  assertEquals(await client.discover(), []);
});
