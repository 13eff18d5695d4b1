import { Client, isConflict } from "@kube/informer";
import { writeStatus } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { Pod } from "../../support/fake_server.ts";

Deno.test("writeStatus patches the status with the difference alone, in the namespace of the object", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web", namespace: "shop" }, status: { phase: "Pending" } });
  const written = await writeStatus(client.resource(Pod), pod, { phase: "Running" }, { fieldManager: "me" });
  assertEquals(written.status?.phase, "Running");
  assertEquals(server.get(Pod, "shop/web")?.status, { phase: "Running" });
  const request = server.requests.at(-1);
  assertEquals(
    [request?.method, request?.path, request?.query.get("fieldManager")],
    ["PATCH", "/api/v1/namespaces/shop/pods/web/status", "me"],
  );
});

Deno.test("writeStatus removes fields that the new status lacks", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const status = { phase: "Pending", reason: "x" };
  const pod = server.create(Pod, { metadata: { name: "web" }, status });
  await writeStatus(client.resource(Pod), pod, { phase: "Pending" });
  assertEquals(server.get(Pod, "web")?.status, { phase: "Pending" });
});

Deno.test("writeStatus sends nothing and returns the object when the status is the same", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web" }, status: { phase: "Running" } });
  assertStrictEquals(await writeStatus(client.resource(Pod), pod, { ...pod.status, phase: "Running" }), pod);
  assertEquals(server.requests.length, 0);
});

Deno.test("writeStatus rejects with a conflict when the object has changed since", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const pod = server.create(Pod, { metadata: { name: "web" } });
  server.annotate(Pod, "web", { changed: "yes" });
  assert(isConflict(await assertRejects(() => writeStatus(client.resource(Pod), pod, { phase: "Running" }))));
});
