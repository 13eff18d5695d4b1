import { assert, assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask, Widget } from "../../support/fake_server.ts";

Deno.test("FakeApiServer describes its paths in OpenAPI, those of custom resources too", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const { json: index } = await ask(server, "/openapi/v3");
  assertEquals(index.paths["apis/example.com/v1"].serverRelativeURL, "/openapi/v3/apis/example.com/v1");
  for (const { serverRelativeURL } of Object.values(index.paths) as { serverRelativeURL: string }[]) {
    assertEquals((await ask(server, serverRelativeURL)).json.openapi, "3.0.0");
  }
  const { json } = await ask(server, "/openapi/v3/apis/apps/v1");
  const { patch } = json.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  assertEquals(patch["x-kubernetes-group-version-kind"], { group: "apps", version: "v1", kind: "Deployment" });
  // By this kubectl learns that the server checks fields.
  assert(patch.parameters.some(({ name }: { name: string }) => name === "fieldValidation"));
  const [reference] = Object.values(patch.requestBody.content) as { schema: { $ref: string } }[];
  const schema = json.components.schemas[reference.schema.$ref.split("/").at(-1)!];
  assertEquals(schema["x-kubernetes-group-version-kind"], [{ group: "apps", version: "v1", kind: "Deployment" }]);
  const nodes = (await ask(server, "/openapi/v3/api/v1")).json.paths["/api/v1/nodes/{name}"];
  assertEquals(Object.keys(nodes), ["get", "put", "patch", "delete"]);
});

Deno.test("FakeApiServer has no OpenAPI document of version 2, nor of groups that it does not serve", async () => {
  const server = new FakeApiServer();
  for (const path of ["/openapi/v3/apis/example.com/v1", "/openapi/v2", "/openapi"]) {
    assertEquals((await ask(server, path)).status, 404);
  }
});
