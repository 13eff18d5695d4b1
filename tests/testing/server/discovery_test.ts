import { assert, assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask, Widget } from "../../support/fake_server.ts";
import { statusObject } from "../../support/transport.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

// deno-lint-ignore no-explicit-any -- discovery documents
type Document = any;

Deno.test("FakeApiServer lists its groups, versions and resources", async () => {
  const server = new FakeApiServer({ resources: [{ ...Widget, shortNames: ["wd"], categories: ["toys"] }] });
  assertEquals((await ask(server, "/api")).json.versions, ["v1"]);
  const groups = (await ask(server, "/apis")).json;
  assertEquals(groups.kind, "APIGroupList");
  const apps: Document = groups.groups.find((group: Document) => group.name === "apps");
  assertEquals(apps, {
    name: "apps",
    versions: [{ groupVersion: "apps/v1", version: "v1" }],
    preferredVersion: { groupVersion: "apps/v1", version: "v1" },
  });
  assertEquals((await ask(server, "/apis/apps")).json, { kind: "APIGroup", apiVersion: "v1", ...apps });
  const core = (await ask(server, "/api/v1")).json;
  assertEquals([core.kind, core.apiVersion, core.groupVersion], ["APIResourceList", undefined, "v1"]);
  const named = (name: string): Document => core.resources.find((resource: Document) => resource.name === name);
  assertEquals(named("pods"), {
    name: "pods",
    singularName: "pod",
    namespaced: true,
    kind: "Pod",
    verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    shortNames: ["po"],
    categories: ["all"],
  });
  assertEquals(named("pods/status").verbs, ["get", "patch", "update"]);
  assertEquals(named("nodes").namespaced, false);
  const widgets = (await ask(server, "/apis/example.com/v1")).json;
  assertEquals([widgets.apiVersion, widgets.groupVersion], ["v1", "example.com/v1"]);
  const [widget] = widgets.resources;
  assertEquals([widget.name, widget.kind, widget.shortNames, widget.categories], ["widgets", "Widget", ["wd"], [
    "toys",
  ]]);
});

Deno.test("FakeApiServer sends aggregated discovery on request", async () => {
  const server = new FakeApiServer({ resources: [Widget, { ...Widget, version: "v2beta1" }] });
  const { json, headers } = await ask(server, "/apis", { headers: { accept: AGGREGATED } });
  assertEquals(headers.get("content-type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  assertEquals([json.kind, json.apiVersion], ["APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"]);
  const example: Document = json.items.find((item: Document) => item.metadata.name === "example.com");
  assertEquals(example.versions.map((version: Document) => version.version), ["v1", "v2beta1"]);
  const [widget] = example.versions[0].resources;
  assertEquals([widget.resource, widget.responseKind, widget.scope, widget.singularResource], [
    "widgets",
    { group: "example.com", version: "v1", kind: "Widget" },
    "Namespaced",
    "widget",
  ]);
  const core = (await ask(server, "/api", { headers: { accept: AGGREGATED } })).json;
  assertEquals(core.items.length, 1);
  assert(
    core.items[0].versions[0].resources.some((resource: Document) =>
      resource.resource === "nodes" && resource.scope === "Cluster"
    ),
  );
  const plain = await ask(server, "/apis", {
    headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json" },
  });
  assertEquals(plain.json.kind, "APIGroupList");
});

Deno.test("FakeApiServer serves the groups of Kubernetes in its order, and custom groups after them", async () => {
  const server = new FakeApiServer({
    resources: [{ ...Widget, group: "z.example" }, { ...Widget, group: "a.example" }],
  });
  const names = (await ask(server, "/apis")).json.groups.map((group: Document) => group.name);
  assertEquals(names.slice(0, 3), ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
  assertEquals(names.slice(-3), ["storagemigration.k8s.io", "a.example", "z.example"]);
  const scaling = (await ask(server, "/apis/autoscaling")).json;
  assertEquals(scaling.versions.map((version: Document) => version.version), ["v2", "v1"]);
  const pods = (await ask(server, "/api/v1")).json.resources.filter(({ name }: Document) => name.startsWith("pods/"));
  assertEquals(pods.map(({ name, group = "", kind, verbs }: Document) => `${name} ${group} ${kind} ${verbs}`), [
    "pods/attach  PodAttachOptions create,get",
    "pods/binding  Binding create",
    "pods/ephemeralcontainers  Pod get,patch,update",
    "pods/eviction policy Eviction create",
    "pods/exec  PodExecOptions create,get",
    "pods/log  Pod get",
    "pods/portforward  PodPortForwardOptions create,get",
    "pods/proxy  PodProxyOptions create,delete,get,patch,update",
    "pods/resize  Pod get,patch,update",
    "pods/status  Pod get,patch,update",
  ]);
});

Deno.test("FakeApiServer reports its version and health", async () => {
  const server = new FakeApiServer();
  const { text, json } = await ask(server, "/version");
  assertEquals([json.major, json.minor, json.gitVersion], ["1", "37", "v1.37.2"]);
  assertEquals(text, JSON.stringify(json, null, 2));
  for (const path of ["/healthz", "/readyz", "/livez", "/livez/ping"]) {
    const health = await ask(server, path);
    assertEquals([health.status, health.text, health.headers.get("content-type")], [
      200,
      "ok",
      "text/plain; charset=utf-8",
    ]);
  }
});

Deno.test("FakeApiServer answers 404 in plain text or as a Status, as the server does", async () => {
  const server = new FakeApiServer({ resources: [Widget] });
  const plain = [
    "/apis/nothing.com/v1/widgets",
    "/apis/nothing.com/v1/widgets?watch=1",
    "/apis/nothing.com/v1",
    "/apis/nothing.com",
    "/apis/apps/v9/deployments",
    "/apis/example.com/v1/gadgets",
    "/elsewhere",
    "/api/v1/namespaces/%zz/pods",
  ];
  for (const path of plain) {
    const { status, text, headers } = await ask(server, path);
    assertEquals([status, text], [404, "404 page not found\n"], path);
    assertEquals(headers.get("content-type"), "text/plain; charset=utf-8");
  }
  const resources = [
    "/api/v1/namespaces/answers/widgets",
    "/apis/apps/v1/widgets",
    "/api/v1/pods/x",
    "/api/v1/namespaces/a/nodes",
    "/api/v1/namespaces/a/pods/p/logs",
  ];
  for (const path of resources) {
    const { status, json } = await ask(server, path);
    assertEquals(status, 404, path);
    assertEquals(
      json,
      statusObject(404, "NotFound", "the server could not find the requested resource", { details: {} }),
    );
  }
  const deployment = await ask(server, "/apis/apps/v1/namespaces/answers/deployments/nope");
  assertEquals(deployment.json.details, { name: "nope", group: "apps", kind: "deployments" });
  assertEquals(deployment.json.message, 'deployments.apps "nope" not found');
  for (const [method, path] of [["PUT", "/api/v1/pods"], ["OPTIONS", "/api/v1/pods"], ["POST", "/version"]]) {
    const { status, json } = await ask(server, path, { method });
    assertEquals([status, json.reason], [405, "MethodNotAllowed"], `${method} ${path}`);
  }
});

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

Deno.test("FakeApiServer describes the fields of built-in kinds in OpenAPI, and custom kinds as their definition does", async () => {
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
  };
  const server = new FakeApiServer({ resources: [{ ...Widget, openAPIV3Schema: schema }] });
  const of = async (path: string): Promise<Document> =>
    (await ask(server, `/openapi/v3/${path}`)).json.components.schemas;
  const apps = await of("apis/apps/v1");
  const { type, required, properties } = apps["io.k8s.api.apps.v1.DeploymentSpec"];
  assertEquals([type, required], ["object", ["selector", "template"]]);
  assertEquals(properties.selector.allOf, [
    { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector" },
  ]);
  const { ports, env } = apps["io.k8s.api.core.v1.Container"].properties;
  assertEquals(ports["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assertEquals(env.items, { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.EnvVar" }] });
  const { maxSurge } = apps["io.k8s.api.apps.v1.RollingUpdateDeployment"].properties;
  assertEquals(maxSurge.allOf, [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" }]);
  assertEquals(apps["io.k8s.apimachinery.pkg.util.intstr.IntOrString"].format, "int-or-string");
  const [kind] = apps["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"];
  assertEquals(kind, { group: "apps", version: "v1", kind: "Deployment" });
  assertEquals((await of("apis/example.com/v1"))["com.example.v1.Widget"].properties, schema.properties);
  for (const group of ["api/v1", "apis/apiextensions.k8s.io/v1", "apis/resource.k8s.io/v1"]) {
    const schemas = await of(group);
    const names = JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name] of names) assert(schemas[name] !== undefined, name);
  }
});
