import { assertEquals, assertMatch } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask, CONTAINERS, MAPS, patch } from "../../support/fake_server.ts";

const PATH = "/apis/apps/v1/namespaces/answers/deployments";

async function server(): Promise<FakeApiServer> {
  const server = new FakeApiServer();
  const labels = { b: "2", a: "1" };
  const template = { metadata: { labels }, spec: { containers: CONTAINERS } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await ask(server, PATH, { method: "POST", body: { metadata: { name: "web" }, spec } });
  return server;
}

Deno.test("FakeApiServer reads and writes the scale of an object", async () => {
  const fake = await server();
  const { json } = await ask(fake, `${PATH}/web/scale`);
  assertEquals([json.kind, json.apiVersion, json.metadata.name], ["Scale", "autoscaling/v1", "web"]);
  assertEquals([json.spec, json.status], [{ replicas: 2 }, { replicas: 0, selector: "a=1,b=2" }]);
  const put = await ask(fake, `${PATH}/web/scale`, { method: "PUT", body: { ...json, spec: { replicas: 4 } } });
  assertEquals([put.status, put.json.spec.replicas], [200, 4]);
  const stale = await ask(fake, `${PATH}/web/scale`, { method: "PUT", body: { ...json, spec: { replicas: 5 } } });
  assertEquals([stale.status, stale.json.reason], [409, "Conflict"]);
  await patch(fake, `${PATH}/web/scale`, "merge-patch", { spec: { replicas: 1 } });
  const web = (await ask(fake, `${PATH}/web`)).json;
  assertEquals([web.spec.replicas, web.metadata.generation, web.spec.selector.matchLabels.a], [1, 3, "1"]);
});

Deno.test("FakeApiServer prints a scale as kubectl get --subresource=scale shows it", async () => {
  const { json } = await ask(await server(), `${PATH}/web/scale`, {
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  const names = json.columnDefinitions.map(({ name, format }: { name: string; format: string }) => `${name}${format}`);
  assertEquals([json.kind, names], ["Table", ["Name", "Desired", "Available", "Age"]]);
  assertMatch(json.columnDefinitions[0].description, /^Name must be unique/);
  const [{ cells, object }] = json.rows;
  assertEquals([cells.slice(0, 3), object.kind], [["web", 2, 0], "PartialObjectMetadata"]);
  assertMatch(cells[3], /^\d+s$/);
});

Deno.test("FakeApiServer refuses invalid scales, and scales of resources without one", async () => {
  const fake = await server();
  assertEquals((await patch(fake, `${PATH}/web/scale`, "merge-patch", { spec: { replicas: -1 } })).status, 422);
  assertEquals((await ask(fake, `${PATH}/web/scale`, { method: "DELETE" })).status, 405);
  assertEquals((await ask(fake, `${MAPS}/web/scale`)).status, 404);
  assertEquals((await ask(fake, `${PATH}/nobody/scale`)).status, 404);
});
