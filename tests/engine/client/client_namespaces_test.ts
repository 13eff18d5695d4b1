import { assertEquals, assertThrows } from "@std/assert";
import { Client } from "../../../src/engine/client/client.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";

Deno.test("Client.resource refuses several namespaces instead of listing all", async () => {
  using server = new FakeApiServer();
  for (const namespace of ["a", "b"]) server.create(Pod, pod({ namespace, name: "x" }));
  using client = new Client({ server: "http://fake", transport: server });
  assertThrows(
    () => client.resource(Pod, { namespaces: ["a", "b"] }),
    TypeError,
    'Cannot request "pods" in namespaces ["a","b"]: one request cannot cover several namespaces',
  );
  assertThrows(() => client.resource(Pod, { namespaces: [] }), TypeError, "Cannot select namespaces");
  const { items } = await client.resource(Pod, { namespaces: ["a", "a"], labelSelector: "" }).list();
  assertEquals(items.map(({ metadata }) => metadata.namespace), ["a"]);
});
