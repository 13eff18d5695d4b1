import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";

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
