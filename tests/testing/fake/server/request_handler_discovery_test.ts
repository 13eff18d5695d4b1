import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { defineResource } from "../../../../src/engine/api/resource.ts";
import { isExpired, StatusError } from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { Deployment } from "../../../../src/engine/kinds/apps/v1.ts";
import { CustomResourceDefinition } from "../../../../src/engine/kinds/apiextensions/v1.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { PodDisruptionBudget } from "../../../../src/engine/kinds/policy/v1.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, brief, Lines, Widget } from "../../../support/servers/fake_server.ts";
import { statusObject } from "../../../support/servers/transport.ts";

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
  assertEquals(
    [widget.resource, widget.responseKind, widget.scope, widget.singularResource],
    ["widgets", { group: "example.com", version: "v1", kind: "Widget" }, "Namespaced", "widget"],
  );
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
    assertEquals(
      [health.status, health.text, health.headers.get("content-type")],
      [200, "ok", "text/plain; charset=utf-8"],
    );
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

// As a user would: the real kubectl, over a port. Where there is none on the PATH, or one too old, the tests' names say
// so, and they test nothing.

interface KubectlResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

class Kubectl {
  readonly #folder: string;
  readonly #port: number;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Calls it, with files that its arguments may name as `@name`. */
  async run(args: readonly string[], files: Readonly<Record<string, unknown>> = {}): Promise<KubectlResult> {
    for (const [name, value] of Object.entries(files)) {
      await Deno.writeTextFile(`${this.#folder}/${name}`, JSON.stringify(value));
    }
    const { code, stdout, stderr } = await this.start(args).output();
    return { code, out: new TextDecoder().decode(stdout).trim(), err: new TextDecoder().decode(stderr).trim() };
  }

  start(args: readonly string[]): Deno.Command {
    return new Deno.Command("kubectl", {
      args: ["--server", `http://127.0.0.1:${this.#port}`, ...args.map((arg) => arg.replace(/^@/, `${this.#folder}/`))],
      env: { HOME: this.#folder, KUBECONFIG: `${this.#folder}/none`, KUBERNETES_SERVICE_HOST: "" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  }
}

/** The minor version of the kubectl on the PATH; 0 where there is none. */
async function kubectlVersion(): Promise<number> {
  try {
    const { stdout } = await new Deno.Command("kubectl", { args: ["version", "--client", "-o", "json"] }).output();
    return parseInt(JSON.parse(new TextDecoder().decode(stdout)).clientVersion.minor);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** The first one that asks for OpenAPI v3 alone before it writes. */
const OLDEST = 29;
const version = await kubectlVersion();
/**
 * Why the tests are left out, as the end of their names: a runner shows names, not what a file says while it is loaded.
 */
const without = version >= OLDEST
  ? ""
  : version === 0
  ? " (left out: there is no kubectl on the PATH)"
  : ` (left out: kubectl is 1.${version}, older than 1.${OLDEST})`;
const ignore = without !== "";

async function withKubectl(run: (kubectl: Kubectl, server: FakeApiServer) => Promise<void>): Promise<void> {
  using server = new FakeApiServer();
  const folder = await Deno.makeTempDir();
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, server.fetch);
  try {
    await run(new Kubectl(folder, http.addr.port), server);
  } finally {
    server[Symbol.dispose]();
    await http.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

const MAP = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", labels: { app: "shop" } },
  data: { a: "1" },
};
const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
};

Deno.test(
  { name: `kubectl creates, gets, describes, patches and deletes on the fake${without}`, ignore },
  async () => {
    await withKubectl(async (kubectl, server) => {
      assertEquals((await kubectl.run(["create", "-f", "@map"], { map: MAP })).out, "configmap/settings created");
      const again = await kubectl.run(["create", "-f", "@map"], { map: MAP });
      assertMatch(again.err, /configmaps "settings" already exists/);
      assertMatch((await kubectl.run(["get", "cm"])).out, /^NAME +DATA +AGE\nsettings +1 +\d+s$/);
      assertEquals((await kubectl.run(["get", "cm", "-l", "app=shop", "-o", "name"])).out, "configmap/settings");
      assertMatch((await kubectl.run(["describe", "cm", "settings"])).out, /Labels: +app=shop\n[^]*\na:\n----\n1/);
      await kubectl.run(["patch", "cm", "settings", "--type", "merge", "-p", '{"data":{"b":"2"}}']);
      await kubectl.run(["label", "cm", "settings", "tier=web"]);
      const { metadata, data } = server.get(ConfigMap, "default/settings")!;
      assertEquals([metadata.labels, data], [{ app: "shop", tier: "web" }, { a: "1", b: "2" }]);
      assertEquals((await kubectl.run(["delete", "cm", "settings"])).code, 0);
      assertEquals(server.keys(ConfigMap), []);
      assertEquals((await kubectl.run(["wait", "--for=delete", "cm/settings", "--timeout=20s"])).code, 0);
    });
  },
);

Deno.test({ name: `kubectl applies, scales and waits on the fake${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    assertEquals((await kubectl.run(["apply", "-f", "@web"], { web: WEB })).out, "deployment.apps/web created");
    const spec = {
      ...WEB.spec,
      template: { ...WEB.spec.template, spec: { containers: [{ name: "web", image: "web:2" }] } },
    };
    assertEquals(
      (await kubectl.run(["apply", "-f", "@web"], { web: { ...WEB, spec } })).out,
      "deployment.apps/web configured",
    );
    assertEquals(server.get(Deployment, "web")?.spec?.template.spec?.containers[0].image, "web:2");
    assertEquals((await kubectl.run(["scale", "deploy", "web", "--replicas=5"])).out, "deployment.apps/web scaled");
    assertMatch((await kubectl.run(["get", "deploy"])).out, /\nweb +0\/5 /);
    const conflict = await kubectl.run(["apply", "--server-side", "-f", "@web"], { web: WEB });
    assertMatch(conflict.err, /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/);
    assertEquals((await kubectl.run(["apply", "--server-side", "--force-conflicts", "-f", "@web"])).code, 0);
    assertEquals(server.get(Deployment, "web")?.spec?.replicas, 2);
    const waiting = kubectl.run(["wait", "--for=condition=Available", "deploy/web", "--timeout=20s"]);
    server.patch(Deployment, "web", { status: { conditions: [{ type: "Available", status: "True" }] } });
    assertEquals((await waiting).out, "deployment.apps/web condition met");
    assertEquals((await kubectl.run(["apply", "-f", "@web", "--dry-run=server"], { web: WEB })).code, 0);
  });
});

Deno.test({ name: `kubectl create sends built-in kinds to the fake in protobuf${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    assertEquals((await kubectl.run(["create", "namespace", "shop"])).out, "namespace/shop created");
    const created = await kubectl.run(["create", "configmap", "made", "-n", "shop", "--from-literal=a=größer"]);
    assertEquals(created.out, "configmap/made created");
    assertEquals(server.get(ConfigMap, "shop/made")?.data, { a: "größer" });
    assertEquals((await kubectl.run(["create", "deployment", "api", "--image=api:1", "--replicas=3"])).code, 0);
    const { spec } = server.get(Deployment, "api")!;
    assertEquals([spec?.replicas, spec?.template.spec?.containers[0].image], [3, "api:1"]);
    assertEquals((await kubectl.run(["create", "ingress", "web", "--rule=a.b/*=web:80"])).code, 0);
    assertEquals((await kubectl.run(["create", "pdb", "web", "--selector=app=web", "--min-available=25%"])).code, 0);
    assertEquals(server.get(PodDisruptionBudget, "web")?.spec?.minAvailable, "25%");
    assertEquals((await kubectl.run(["auth", "can-i", "list", "pods"])).out, "yes");
  });
});

Deno.test({ name: `kubectl watches the fake as Tables${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    server.create(ConfigMap, { metadata: { name: "first" } });
    const watching = kubectl.start(["get", "cm", "--watch", "--no-headers"]).spawn();
    const reader = watching.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const saw = async (words: RegExp): Promise<void> => {
      while (!words.test(text)) {
        const { done, value } = await reader.read();
        assert(!done, `kubectl ended after ${JSON.stringify(text)}`);
        text += value;
      }
    };
    await saw(/^first +0 /);
    server.create(ConfigMap, { metadata: { name: "second" }, data: { a: "1" } });
    await saw(/\nsecond +1 /);
    await reader.cancel();
    watching.kill();
    await watching.stderr.cancel();
    await watching.status;
  });
});

Deno.test({ name: `kubectl explains the fields of the fake's kinds${without}`, ignore }, async () => {
  await withKubectl(async (kubectl) => {
    const { code, out } = await kubectl.run(["explain", "pod.spec.containers"]);
    assertEquals(code, 0);
    assertMatch(out, /FIELD: containers <\[\]Container>/);
    assertMatch(out, /\n {2}imagePullPolicy\t<string>\n {2}enum: Always, IfNotPresent, Never\n/);
    assertMatch(out, /\n {2}name\t<string> -required-\n/);
  });
});

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const SIZED = { ...OPEN, properties: { size: { type: "integer" } } };
const schema = { openAPIV3Schema: { ...OPEN, properties: { spec: SIZED } } };
const WIDGETS = "/apis/example.com/v1/namespaces/answers/widgets";

function definition(overrides: Record<string, unknown> = {}): unknown {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
      versions: [{ name: "v1", served: true, storage: true, schema, selectableFields: [{ jsonPath: ".spec.size" }] }],
      ...overrides,
    },
  };
}

Deno.test("FakeApiServer serves the resource that a CustomResourceDefinition defines", async () => {
  const server = new FakeApiServer();
  assertEquals((await ask(server, WIDGETS)).status, 404);
  const created = await ask(server, CRDS, { method: "POST", body: definition() });
  assertEquals(created.status, 201);
  assertEquals(
    created.json.status.conditions.map((condition: Record<string, unknown>) => [condition.type, condition.status]),
    [["NamesAccepted", "True"], ["Established", "True"]],
  );
  assertEquals(created.json.status.acceptedNames.listKind, "WidgetList");
  for (const size of [1, 2]) {
    const { status } = await ask(server, WIDGETS, {
      method: "POST",
      body: { metadata: { name: `w-${size}` }, spec: { size } },
    });
    assertEquals(status, 201);
  }
  const selected = await ask(server, `${WIDGETS}?fieldSelector=spec.size%3D2`);
  assertEquals(selected.json.items.map((item: typeof Widget & { metadata: { name: string } }) => item.metadata.name), [
    "w-2",
  ]);
  assertEquals((await ask(server, `${WIDGETS}?fieldSelector=spec.colour%3D2`)).status, 400);
  const [resource] = (await ask(server, "/apis/example.com/v1")).json.resources;
  assertEquals([resource.name, resource.shortNames], ["widgets", ["wd"]]);
  // Without the subresource there is no path for it, and the status is a member like others.
  assertEquals((await ask(server, `${WIDGETS}/w-1/status`)).status, 404);
  const withStatus = await ask(server, WIDGETS, {
    method: "POST",
    body: { metadata: { name: "w-3" }, status: { ok: true } },
  });
  assertEquals(withStatus.json.status, { ok: true });
});

Deno.test("FakeApiServer deletes the objects of a deleted definition, ends its watches and answers 404", async () => {
  const server = new FakeApiServer();
  await ask(server, CRDS, { method: "POST", body: definition() });
  for (const name of ["a", "b"]) server.create(Widget, { metadata: { namespace: "answers", name }, spec: { size: 1 } });
  const query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  await using watch = await Lines.open(server, `${WIDGETS}?${query}`);
  await using definitions = await Lines.open(server, `${CRDS}?watch=1&resourceVersion=4`);
  const first = await watch.take(3);
  assertEquals(first.map(brief), ["ADDED a@3", "ADDED b@4", "BOOKMARK @4"]);
  assertEquals(
    JSON.stringify(first[2]),
    '{"type":"BOOKMARK","object":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":' +
      '{"k8s.io/initial-events-end":"true"},"resourceVersion":"4"}}}',
  );
  assertEquals(Object.keys(first[0].object), ["apiVersion", "kind", "metadata", "spec"]);
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "DELETE" })).status, 200);
  assertEquals((await watch.all()).map(brief), ["DELETED a@5", "DELETED b@6"]);
  assertEquals(brief(await definitions.next()), "DELETED widgets.example.com@7");
  assertEquals(server.watches, 1);
  for (const path of [WIDGETS, `${WIDGETS}?watch=1`, "/apis/example.com/v1"]) {
    const { status, text } = await ask(server, path);
    assertEquals([status, text], [404, "404 page not found\n"]);
  }
  // Defined again, it begins empty, and a watch resumes at the version of the definition.
  await ask(server, CRDS, { method: "POST", body: definition() });
  assertEquals((await ask(server, WIDGETS)).json.items, []);
  await using anew = await Lines.open(server, `${WIDGETS}?watch=1&resourceVersion=8`);
  server.create(Widget, { metadata: { namespace: "answers", name: "a" } });
  assertEquals(brief(await anew.next()), "ADDED a@9");
});

Deno.test("FakeApiServer follows a definition that changes its versions", async () => {
  const server = new FakeApiServer();
  await ask(server, CRDS, { method: "POST", body: definition() });
  server.create(Widget, { metadata: { namespace: "answers", name: "a" } });
  const blind = definition({ versions: [{ name: "v2", served: true, storage: true }] });
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "PUT", body: blind })).status, 422);
  const { metadata } = server.get(CustomResourceDefinition, "widgets.example.com")!;
  const versions = [
    { name: "v2", served: true, storage: true, schema },
    { name: "v1", served: false, storage: false, schema }, // objects are stored in it
  ];
  const body = { ...definition({ versions }) as object, metadata };
  assertEquals((await ask(server, `${CRDS}/widgets.example.com`, { method: "PUT", body })).status, 200);
  assertEquals((await ask(server, WIDGETS)).status, 404);
  assertEquals((await ask(server, WIDGETS.replace("v1", "v2"))).json.apiVersion, "example.com/v2");
});

Deno.test("FakeApiServer serves resources that a test defines, with members in the order of their group", async () => {
  const server = new FakeApiServer();
  const Gate = defineResource({
    group: "gateway.networking.k8s.io",
    version: "v1",
    plural: "gateways",
    kind: "Gateway",
  });
  const Class = defineResource({
    group: "node.k8s.io",
    version: "v1",
    plural: "runtimeclasses",
    kind: "RuntimeClass",
    scope: "Cluster",
  });
  server.create(Gate, { metadata: { name: "g" } });
  server.create(Class, { metadata: { name: "c" } });
  const custom = await ask(server, "/apis/gateway.networking.k8s.io/v1/gateways");
  assertEquals(Object.keys(custom.json), ["apiVersion", "items", "kind", "metadata"]);
  const builtIn = await ask(server, "/apis/node.k8s.io/v1/runtimeclasses");
  assertEquals(Object.keys(builtIn.json), ["kind", "apiVersion", "metadata", "items"]);
  assertEquals(builtIn.json.items[0].metadata.namespace, undefined);
  assertThrows(() => server.delete(Widget, "w"), StatusError, 'Cannot delete widgets.example.com "w"');
  assertEquals((await ask(server, WIDGETS)).status, 404);
  server.undefine(Gate);
  assertEquals(server.list(Gate), []);
  assertEquals((await ask(server, "/apis/gateway.networking.k8s.io/v1/gateways")).status, 404);
});

Deno.test("FakeApiServer sorts the members of custom resources around metadata, in any alphabet", async () => {
  const server = new FakeApiServer();
  server.create(
    Widget,
    { metadata: { name: "w", labels: { a: "ä" } }, data: "日本", zone: { b: 1, a: [{ z: 1, y: 2 }] } } as never,
  );
  const { text } = await ask(server, "/apis/example.com/v1/namespaces/default/widgets/w");
  assertEquals(
    text.replace(/"metadata":\{.*\},"zone"/, '"metadata":…,"zone"'),
    '{"apiVersion":"example.com/v1","data":"日本","kind":"Widget","metadata":…,"zone":{"a":[{"y":2,"z":1}],"b":1}}\n',
  );
  const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const partial = await ask(server, "/apis/example.com/v1/namespaces/default/widgets/w", { headers: { accept } });
  assertEquals([partial.json.metadata.labels, partial.json.metadata.name], [{ a: "ä" }, "w"]);
});

Deno.test("FakeApiServer expires the versions from before the definition of a kind", async () => {
  using server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  const { metadata: { resourceVersion } } = server.create(Widget, { metadata: { name: "w" } } as never);
  server.undefine(Widget);
  server.create(Widget, { metadata: { name: "x" } } as never);
  const watchFrom = async (resourceVersion: string): Promise<string> => {
    for await (const { type } of client.resource(Widget).watch({ resourceVersion, timeoutSeconds: 1 })) return type;
    return "nothing";
  };
  assert(isExpired(await assertRejects(() => watchFrom(resourceVersion))));
  assertEquals(await watchFrom(String(Number(server.resourceVersion) - 1)), "ADDED");
});
