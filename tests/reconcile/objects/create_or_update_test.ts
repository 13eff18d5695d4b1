import { Client, isForbidden, isNotFound } from "@kube/informer";
import { createOrUpdate } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConfigMap } from "../../support/fake_server.ts";

const draft = { metadata: { name: "settings", namespace: "shop" }, data: { colour: "red" } };
const paint = (colour: string) => (map: ConfigMap): ConfigMap => ({ ...map, data: { ...map.data, colour } });

function verbs(server: FakeApiServer): string {
  return server.requests.map(({ verb }) => verb).join(" ");
}

Deno.test("createOrUpdate creates, leaves alone and updates, with one write at most", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const maps = client.resource(ConfigMap);
  const operations = [];
  for (const colour of ["red", "red", "blue"]) {
    const { operation, object } = await createOrUpdate(maps, draft, paint(colour));
    operations.push(`${operation} ${object.data?.colour}`);
  }
  assertEquals(operations, ["created red", "unchanged red", "updated blue"]);
  assertEquals(verbs(server), "get create get get patch");
  assertEquals(server.get(ConfigMap, "shop/settings")?.data, { colour: "blue" });
});

Deno.test("createOrUpdate accepts a change in place, removes fields, and does not write the status", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const map = { ...draft, data: { colour: "red", shape: "round" }, status: { seen: true } };
  server.create(ConfigMap, map);
  const { operation } = await createOrUpdate(client.resource(ConfigMap), draft, (map) => {
    Object.assign(map, { data: { colour: "red" }, status: { seen: false } });
  });
  assertEquals(operation, "updated");
  const { data, status } = server.get(ConfigMap, "shop/settings") as ConfigMap & { readonly status?: unknown };
  assertEquals([data, status], [{ colour: "red" }, { seen: true }]);
});

Deno.test("createOrUpdate reads nothing when the caller has the object, and does not change that", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const current = server.create(ConfigMap, draft);
  await createOrUpdate(client.resource(ConfigMap), draft, (map) => void Object.assign(map.data!, { colour: "blue" }), {
    current,
  });
  assertEquals([verbs(server), current.data], ["patch", { colour: "red" }]);
});

Deno.test("createOrUpdate reads again when the object has changed, was deleted or was created meanwhile", async (test) => {
  const cases: [string, string, (server: FakeApiServer) => void][] = [
    ["patch", "get patch get patch", (server) => server.annotate(ConfigMap, "shop/settings", { seen: "yes" })],
    ["patch", "get patch get create", (server) => void server.delete(ConfigMap, "shop/settings")],
    ["create", "get create get patch", (server) => void server.create(ConfigMap, draft)],
  ];
  for (const [verb, requests, interfere] of cases) {
    await test.step(requests, async () => {
      const server = new FakeApiServer();
      using client = new Client({ server: "http://fake", transport: server });
      if (verb === "patch") server.create(ConfigMap, draft);
      server.beforeNext(() => interfere(server), 1, (request) => request.verb === verb);
      await createOrUpdate(client.resource(ConfigMap), draft, paint("blue"));
      assertEquals(verbs(server), requests);
      assertEquals(server.get(ConfigMap, "shop/settings")?.data?.colour, requests.endsWith("create") ? "red" : "blue");
    });
  }
});

Deno.test("createOrUpdate rejects with other errors at once, a missing namespace among them", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  server.failNext(403);
  assert(isForbidden(await assertRejects(() => createOrUpdate(client.resource(ConfigMap), draft, paint("red")))));
  server.failNext(404, 1, (request) => request.verb === "create");
  assert(isNotFound(await assertRejects(() => createOrUpdate(client.resource(ConfigMap), draft, paint("red")))));
  assertEquals(verbs(server), "get get create");
});

Deno.test("createOrUpdate refuses a draft without a name, and a change of the name", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  server.create(ConfigMap, draft);
  const maps = client.resource(ConfigMap);
  await assertRejects(
    () => createOrUpdate(maps, { metadata: { generateName: "x" } }, paint("red")),
    TypeError,
    "no metadata.name",
  );
  const rename = (map: ConfigMap): ConfigMap => ({ ...map, metadata: { ...map.metadata, name: "other" } });
  await assertRejects(() => createOrUpdate(maps, draft, rename), TypeError, 'found "other"');
});
