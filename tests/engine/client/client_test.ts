import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { type ApiResource, defineResource } from "../../../src/engine/api/resource.ts";
import { rolesYaml } from "../../../src/engine/api/roles.ts";
import { isForbidden, StatusError } from "../../../src/engine/api/status.ts";
import { accessUsed, Client, findResource } from "../../../src/engine/client/client.ts";
import { VERSION } from "../../../src/engine/client/version.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { installCrds } from "../../../src/operator/schema/install_crds.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../support/fake_time.ts";
import {
  type Answer,
  json,
  LiveBody,
  pod,
  podList,
  refusal,
  ScriptedTransport,
  type Sent,
  text,
  watchOf,
} from "../../support/transport.ts";
import { definitionOf, Gadget, Widget } from "../../support/widgets.ts";
import config from "../../../deno.json" with { type: "json" };

/** The rules of a client, a line each: namespace, verb, resource, group and names. */
function lines(client: Client): string[] {
  return accessUsed(client).map(({ namespace, verbs, resources, groups, names }) =>
    [namespace || "*", verbs, resources, groups[0] || "core", ...(names === undefined ? [] : [names])].join(" ")
  );
}

Deno.test("accessUsed lists verb, resource, namespace and names of each kind of request, also of those that fail", async () => {
  using client = new Client({ server: "http://fake/base", transport: new FakeApiServer(), namespace: "shop" });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const body = { metadata: { labels: { a: "b" } } };
  const missing = (request: Promise<unknown>): Promise<unknown> => request.catch(() => undefined);
  await missing(maps.list());
  await missing(maps.list({ fieldSelector: "metadata.name=one" })); // the rule about all objects covers it
  await missing(maps.create({ metadata: { name: "a" } }));
  await missing(maps.get("a"));
  await missing(maps.get("b"));
  await missing(maps.patch("a", { type: "merge", body }));
  await missing(maps.delete("a"));
  await missing(maps.deleteCollection());
  await missing(client.resource(Deployment).apply({ metadata: { name: "web" } }, { fieldManager: "x" }));
  await missing(client.resource(Deployment).get("web", { subresource: "scale" }));
  await missing(client.resource(Node).list());
  await missing(client.resource(Pod).list({ fieldSelector: "spec.nodeName=n,metadata.name=p" }));
  await missing(client.fetch("/api/v1/namespaces/shop"));
  await missing(client.fetch("/api/v1/namespaces/shop/status", { method: "put" }));
  await missing(client.fetch("/api/v1/pods?watch=true"));
  await missing(client.fetch("/api/v1/namespaces/shop/pods/p/eviction", { method: "POST" }));
  await missing(client.fetch("/api/v1/namespaces/shop/services/web/proxy/a/b"));
  await missing(client.fetch("/version"));
  await missing(client.discover());
  assertEquals(lines(client), [
    "shop list configmaps core",
    "shop create configmaps core",
    "shop get configmaps core a,b",
    "shop patch configmaps core a",
    "shop delete configmaps core a",
    "shop deletecollection configmaps core",
    "shop patch deployments apps web",
    "shop create deployments apps web",
    "shop get deployments/scale apps web",
    "* list nodes core",
    "* list pods core p",
    "* get namespaces core shop",
    "* update namespaces/status core shop",
    "* watch pods core",
    "shop create pods/eviction core p",
    "shop get services/proxy core web",
  ]);
});

Deno.test("accessUsed forgets the names when there are more than 16", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  const maps = client.resource(ConfigMap, { namespace: "shop" });
  const get = (index: number): Promise<unknown> => maps.get(`map-${index}`).catch(() => undefined);
  for (let index = 0; index < 16; index++) await get(index);
  assertEquals(accessUsed(client)[0].names?.length, 16);
  await get(16);
  await get(0);
  assertEquals(lines(client), ["shop get configmaps core"]);
});

Deno.test("rolesYaml prints a role for each namespace of the access that informers used", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
  {
    await using informers = new SharedInformerFactory(client, { namespaces: ["shop", "bank"] });
    informers.forResource(ConfigMap);
    informers.forResource(Node);
    informers.start();
    await informers.waitForCacheSync();
    await informers.forResource(Node).waitForVersion("0");
  }
  const yaml = rolesYaml(accessUsed(client).filter(({ verbs }) => verbs.includes("watch")), { name: "reader" });
  assertEquals(yaml.split("---\n").map((role) => /kind: .*|namespace: .*|resources: .*/g[Symbol.match](role)), [
    ["kind: ClusterRole", `resources: ["nodes"]`],
    ["kind: Role", `namespace: "bank"`, `resources: ["configmaps"]`],
    ["kind: Role", `namespace: "shop"`, `resources: ["configmaps"]`],
  ]);
  assertEquals(rolesYaml([], { name: "none" }), "");
});

Deno.test("accessUsed refuses what is no Client", () => {
  assertThrows(() => accessUsed({ namespace: "", resource: () => null! }), TypeError, "the argument is not a Client");
});

const ClientPod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

Deno.test("Client refuses a server address that is not a URL of a server", () => {
  const cases: [string, string][] = [
    ["", "it is not a URL"],
    ["localhost", "it is not a URL"],
    ["localhost:8080", 'it begins with neither "http://" nor "https://"'],
    ["file:///tmp/x", "it begins with neither"],
    ["https://kube.test/?a=b", "a query or a fragment"],
    ["https://kube.test/#x", "a query or a fragment"],
  ];
  for (const [server, message] of cases) assertThrows(() => new Client({ server }), TypeError, message);
  assertThrows(() => new Client({ server: "https://kube.test", retries: -1 }), RangeError, "retries");
  assertThrows(() => new Client({ server: "https://kube.test", maxObjectBytes: 0.5 }), RangeError, "maxObjectBytes");
});

Deno.test("Client refuses credentials in the address, and does not show them in the error", () => {
  const servers = [
    "https://admin:hunter2@kube.test:6443/x",
    "https://hunter2@kube.test",
    "ftp://admin:hunter2@x",
    "hunter2@x",
  ];
  for (const server of servers) {
    const error = assertThrows(() => new Client({ server }), TypeError);
    assert(error.message.includes("[redacted]"), error.message);
    assertEquals(Deno.inspect(error).includes("hunter2"), false);
  }
});

Deno.test("Client.server is a copy of the address", () => {
  const client = new Client({ server: new URL("https://kube.test:6443/k8s/c-1"), transport: new ScriptedTransport() });
  client.server.hostname = "evil.test";
  assertEquals(client.server.href, "https://kube.test:6443/k8s/c-1");
  assertEquals(client.namespace, "");
});

Deno.test("Client sends a User-Agent, and asks for gzip by name", async () => {
  const sent = new ScriptedTransport(json(podList([])), json(podList([])), watchOf(), json({}));
  await new Client({ server: "https://kube.test", transport: sent }).resource(ClientPod).list();
  assertEquals(VERSION, config.version);
  assertEquals(sent.last.headers.get("user-agent"), `kube-informer/${VERSION}`);
  assertEquals(sent.last.headers.get("accept-encoding"), "gzip");
  const other = new Client({ server: "https://kube.test", transport: sent, userAgent: "tests/1", compress: false });
  await other.resource(ClientPod).list();
  assertEquals(sent.last.headers.get("user-agent"), "tests/1");
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  await other.resource(ClientPod).watch().next();
  assertEquals(sent.last.headers.get("accept-encoding"), "identity");
  await (await other.fetch("/x", { headers: { "user-agent": "mine", "accept-encoding": "gzip" } })).text();
  assertEquals([sent.last.headers.get("user-agent"), sent.last.headers.get("accept-encoding")], ["mine", "gzip"]);
});

Deno.test("Client.fetch returns the server's response, with credentials, below the path of the server's address", async () => {
  const sent = new ScriptedTransport(
    text(200, "v1", { "x-kind": "version" }),
    new Response(null, { status: 204 }),
    json({}, 201),
  );
  const client = new Client({
    server: "https://kube.test/k8s",
    transport: sent,
    credentials: { apply: (headers): void => headers.set("authorization", "Bearer x") },
  });
  const response = await client.fetch("/version?timeout=32s");
  assertEquals(sent.last.url.href, "https://kube.test/k8s/version?timeout=32s");
  assertEquals(sent.last.headers.get("authorization"), "Bearer x");
  assertEquals([response.status, response.headers.get("x-kind"), await response.text()], [200, "version", "v1"]);
  assertEquals((await client.fetch("/empty")).body, null);
  const body = new URLSearchParams({ a: "b" });
  await (await client.fetch("/apis/x", { method: "POST", body, headers: { "content-type": "text/x" } })).text();
  assertEquals([sent.last.method, sent.last.body, sent.last.headers.get("content-type")], ["POST", "a=b", "text/x"]);
});

Deno.test("Client.fetch throws for a response that is not 2xx", async () => {
  const sent = new ScriptedTransport(refusal(403, "Forbidden", "no"), new Response(null, { status: 304 }));
  const client = new Client({ server: "https://kube.test", transport: sent });
  const error = await assertRejects(() => client.fetch("/metrics?secret=1", { method: "post" }), StatusError);
  assertEquals(error.message, 'Cannot POST "/metrics": 403 Forbidden: no');
  await assertRejects(() => client.fetch("/x"), StatusError, "304");
});

Deno.test("Client.fetch refuses paths that lead to another server or out of its path", async () => {
  const sent = new ScriptedTransport();
  const client = new Client({ server: "https://kube.test/k8s/c-1", transport: sent });
  for (const path of ["", "version", "https://evil.test/", "@evil.test/", ".evil.test/", "/../c-2/x", "/..", ":1/x"]) {
    await assertRejects(() => client.fetch(path), TypeError, "stay below the server's address");
  }
  assertEquals(sent.requests.length, 0);
});

Deno.test("Client.fetch streams the body, which ends with the signal, a cancel, or disposal", async () => {
  for (const way of ["abort", "cancel", "dispose"]) {
    const live = new LiveBody();
    const client = new Client({ server: "https://kube.test", transport: new ScriptedTransport(live.answer) });
    const controller = new AbortController();
    const response = await client.fetch("/logs", { signal: controller.signal });
    const reader = response.body!.getReader();
    live.push("one");
    assertEquals(new TextDecoder().decode((await reader.read()).value), "one");
    if (way === "cancel") {
      await reader.cancel();
      assertEquals(live.ended, "cancelled");
      continue;
    }
    const rest = reader.read().then(() => undefined, (error) => error);
    if (way === "abort") {
      controller.abort(way);
      assertStrictEquals(await rest, way);
    } else {
      client[Symbol.dispose]();
      assertEquals((await rest).message, "The client was disposed");
    }
    assertEquals(live.ended, "aborted");
  }
});

Deno.test("Client.resource uses the client's default namespace only to address single objects", async () => {
  const sent = new ScriptedTransport(json(podList([])), json(pod("a", "1")));
  const client = new Client({ server: "https://kube.test", transport: sent, namespace: "home" });
  await client.resource(ClientPod).list();
  assertEquals(sent.last.path, "/api/v1/pods");
  await client.resource(ClientPod).get("a");
  assertEquals(sent.last.path, "/api/v1/namespaces/home/pods/a");
});

type Answers = Record<string, Answer | undefined>;

/** Answers by path, in any order. */
function clientOf(answers: Answers, asked: Sent[] = []): Client {
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const { method, headers, signal } = request;
    const sent = { method, url, path: url.pathname, query: {}, headers, body: await request.text(), signal };
    asked.push(sent);
    signal.throwIfAborted();
    const answer = answers[url.pathname] ?? text(404, "404 page not found");
    if (answer instanceof Error) throw answer;
    return answer instanceof Response ? answer.clone() : await answer(sent);
  };
  return new Client({ server: "https://kube.test", transport: { fetch } });
}

const verbs = ["get", "list", "watch"];

const core = {
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  metadata: {},
  items: [{
    metadata: { creationTimestamp: null },
    versions: [{
      version: "v1",
      freshness: "Current",
      resources: [
        {
          resource: "pods",
          responseKind: { group: "", version: "v1", kind: "Pod" },
          scope: "Namespaced",
          singularResource: "pod",
          verbs,
          shortNames: ["po"],
          categories: ["all"],
          subresources: [{ subresource: "status", verbs: ["get"] }],
        },
        { resource: "nodes", responseKind: { kind: "Node" }, scope: "Cluster", singularResource: "node", verbs },
      ],
    }],
  }],
};
const groups = {
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  metadata: {},
  items: [
    {
      metadata: { name: "apps" },
      versions: [
        { version: "v1", resources: [{ resource: "deployments", responseKind: { kind: "Deployment" }, verbs }] },
        { version: "v1beta1", resources: [{ resource: "deployments", responseKind: { kind: "Deployment" }, verbs }] },
      ],
    },
    { metadata: { name: "metrics.k8s.io" }, versions: [{ version: "v1beta1", freshness: "Stale" }] },
  ],
};

/** The resource that is read of pods. */
const POD: ApiResource = {
  group: "",
  version: "v1",
  plural: "pods",
  kind: "Pod",
  scope: "Namespaced",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  verbs,
  subresources: ["status"],
  preferred: true,
};

Deno.test("Client.discover reads all groups from two responses of a server with aggregated discovery", async () => {
  const asked: Sent[] = [];
  const errors: string[] = [];
  const resources = await clientOf({ "/api": json(core), "/apis": json(groups) }, asked).discover({
    onError: (error, groupVersion) => errors.push(`${groupVersion}: ${(error as Error).message}`),
  });
  assertEquals(asked.map(({ path }) => path).sort(), ["/api", "/apis"]);
  assert(
    asked[0].headers.get("accept")!.startsWith("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscovery"),
  );
  assertEquals(resources[0], POD);
  assertEquals(
    resources.map(({ group, version, plural, scope, singular, preferred }) =>
      `${plural}.${version}.${group} ${singular} ${scope} ${preferred}`
    ),
    [
      "pods.v1. pod Namespaced true",
      "nodes.v1. node Cluster true",
      "deployments.v1.apps deployment Namespaced true",
      "deployments.v1beta1.apps deployment Namespaced false",
    ],
  );
  assertEquals(errors, [
    'metrics.k8s.io/v1beta1: Cannot discover "metrics.k8s.io/v1beta1": the API server gets no response from the server that provides this group',
  ]);
});

const old: Answers = {
  "/api": json({ kind: "APIVersions", versions: ["v1"] }),
  "/apis": json({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: [
      {
        name: "apps",
        versions: [{ groupVersion: "apps/v1beta1", version: "v1beta1" }, { groupVersion: "apps/v1", version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      },
      { name: "metrics.k8s.io", versions: [{ groupVersion: "metrics.k8s.io/v1beta1", version: "v1beta1" }] },
    ],
  }),
  "/api/v1": json({
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      {
        name: "pods",
        singularName: "pod",
        namespaced: true,
        kind: "Pod",
        verbs,
        shortNames: ["po"],
        categories: ["all"],
      },
      { name: "pods/status", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
      { name: "nodes", singularName: "", namespaced: false, kind: "Node", verbs },
    ],
  }),
  "/apis/apps/v1": json({
    resources: [{ name: "deployments", singularName: "", namespaced: true, kind: "Deployment", verbs }],
  }),
  "/apis/apps/v1beta1": json({
    resources: [{ name: "deployments", singularName: "", namespaced: true, kind: "Deployment", verbs }],
  }),
};

Deno.test("Client.discover requests each group version from a server without aggregated discovery", async () => {
  const asked: Sent[] = [];
  const errors: string[] = [];
  const resources = await clientOf(old, asked).discover({ onError: (_, groupVersion) => errors.push(groupVersion) });
  assertEquals(asked.length, 6);
  assertEquals(
    resources.map(({ group, version, plural, preferred }) => `${plural}.${version}.${group} ${preferred}`),
    ["pods.v1. true", "nodes.v1. true", "deployments.v1.apps true", "deployments.v1beta1.apps false"],
  );
  assertEquals(resources[0], POD);
  assertEquals([resources[1].singular, resources[1].scope], ["node", "Cluster"]);
  assertEquals(errors, ["metrics.k8s.io/v1beta1"]); // 404, and the others are there
});

Deno.test("Client.discover returns the other groups when /api, /apis, or the server of a group fails", async () => {
  const no = refusal(403, "Forbidden", "no");
  assertEquals((await clientOf({ "/api": no, "/apis": json(groups) }).discover()).length, 2);
  const broken = { ...old, "/apis/apps/v1": text(503, "no"), "/apis/apps/v1beta1": new TypeError("connection lost") };
  assertEquals((await clientOf(broken).discover()).map(({ plural }) => plural), ["pods", "nodes"]);
});

Deno.test("Client.discover reports nothing about a server without a core group, and any other failure of it", async () => {
  const absent = json({ paths: ["/apis", "/healthz"] }, 404);
  const reported = async (api: Response): Promise<string[]> => {
    const errors: string[] = [];
    const client = clientOf({ "/api": api, "/apis": json(groups) });
    assertEquals((await client.discover({ onError: (_, groupVersion) => errors.push(groupVersion) })).length, 2);
    return errors.sort();
  };
  assertEquals(await reported(absent), ["metrics.k8s.io/v1beta1"]); // whose server does not answer
  assertEquals(await reported(text(500, "no")), ["api", "metrics.k8s.io/v1beta1"]);
  const error = await assertRejects(() => clientOf({ "/api": absent, "/apis": absent }).discover(), StatusError);
  assertEquals(error.status.code, 404);
});

Deno.test("Client.discover rejects when nothing can be read", async () => {
  const no = refusal(403, "Forbidden", "forbidden");
  const error = await assertRejects(() => clientOf({ "/api": no, "/apis": no }).discover(), StatusError);
  assert(isForbidden(error));
  assertEquals(error.message, 'Cannot discover "/api": 403 Forbidden: forbidden');
});

Deno.test("Client.discover rejects with the abort reason, and reports no errors for it", async () => {
  const controller = new AbortController();
  const errors: string[] = [];
  const hanging: Answer = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const reason = { because: "the test" };
  const done = clientOf({ "/api": json(core), "/apis": hanging })
    .discover({ signal: controller.signal, onError: (_, groupVersion) => errors.push(groupVersion) })
    .then(() => undefined, (error) => error);
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(reason);
  assertStrictEquals(await done, reason);
  assertEquals(errors, []);
});

Deno.test("Client.resource accepts a discovered resource [F23]", async () => {
  const asked: Sent[] = [];
  const client = clientOf({
    "/api": json(core),
    "/apis": json(groups),
    "/api/v1/nodes": json({ kind: "NodeList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] }),
  }, asked);
  const nodes = (await client.discover()).find(({ plural }) => plural === "nodes")!;
  assertEquals((await client.resource(nodes).list()).resourceVersion, "1");
});

Deno.test("Client.discover caches a complete result for a minute, and refreshes it on request", async () => {
  const asked: Sent[] = [];
  using time = new FakeTime();
  const client = clientOf({ "/api": json(core), "/apis": json({ ...groups, items: [] }) }, asked);
  const first = await client.discover();
  time.tick(59_999);
  assertEquals(await client.discover(), first);
  assertEquals(asked.length, 2);
  await client.discover({ maxAgeMs: 0 });
  assertEquals(asked.length, 4);
  time.tick(60_000);
  await client.discover();
  assertEquals(asked.length, 6);
  time.setClock(time.now - 3_600_000); // the age of an answer is not measured by the time of day
  time.tick(59_999);
  await client.discover();
  assertEquals(asked.length, 6);
  time.tick(1);
  await client.discover();
  assertEquals(asked.length, 8);
  await client.discover({ maxAgeMs: Infinity });
  assertEquals(asked.length, 8);
  await assertRejects(() => client.discover({ maxAgeMs: NaN }), RangeError, "maxAgeMs must be at least 0 milliseconds");
});

Deno.test("Client.discover does not cache a result in which a group is missing", async () => {
  const asked: Sent[] = [];
  const client = clientOf({ "/api": json(core), "/apis": json(groups) }, asked);
  await client.discover();
  await client.discover();
  assertEquals(asked.length, 4);
});

function resource(
  group: string,
  version: string,
  plural: string,
  kind: string,
  more: Partial<ApiResource> = {},
): ApiResource {
  return {
    group,
    version,
    plural,
    kind,
    scope: "Namespaced",
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: ["get", "list", "watch"],
    subresources: [],
    preferred: true,
    ...more,
  };
}

const pods = resource("", "v1", "pods", "Pod", { shortNames: ["po"], categories: ["all"] });
const services = resource("", "v1", "services", "Service", { shortNames: ["svc"], categories: ["all"] });
const events = resource("", "v1", "events", "Event", { shortNames: ["ev"] });
const deployments = resource("apps", "v1", "deployments", "Deployment", { shortNames: ["deploy"] });
const oldDeployments = resource("apps", "v1beta1", "deployments", "Deployment", { preferred: false });
const newEvents = resource("events.k8s.io", "v1", "events", "Event", { shortNames: ["ev"] });
const jobs = resource("batch", "v1beta1", "oldjobs", "OldJob", { preferred: false });
const podMetrics = resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", { singular: "" });
const certificates = resource("cert-manager.io", "v1", "certificates", "Certificate", { shortNames: ["cert"] });
const po = resource("games.test", "v1", "po", "Ponytail");
const all = [pods, services, events, oldDeployments, deployments, newEvents, jobs, podMetrics, certificates];

Deno.test("findResource accepts the names that kubectl accepts", () => {
  const cases: [string, ApiResource][] = [
    ["pods", pods],
    ["Pods", pods],
    ["pod", pods],
    ["po", pods],
    ["Pod", pods],
    ["PODMETRICS", podMetrics],
    ["svc", services],
    ["deploy", deployments],
    ["Deployment", deployments],
    ["deployments.apps", deployments],
    ["deploy.apps", deployments],
    ["Deployment.apps", deployments],
    ["deployments.v1.apps", deployments],
    ["deployments.v1beta1.apps", oldDeployments],
    ["Deployment.v1beta1.apps", oldDeployments],
    ["events", events],
    ["ev", events],
    ["events.events.k8s.io", newEvents],
    ["events.v1.events.k8s.io", newEvents],
    ["events.v1", events],
    ["pods.v1.", pods],
    ["pods.", pods],
    ["pods.metrics.k8s.io", podMetrics],
    ["pods.metrics", podMetrics],
    ["cert.cert-manager", certificates],
    ["oldjobs", jobs],
    [" pods ", pods],
  ];
  for (const [text, found] of cases) assertStrictEquals(findResource(all, text), found, text);
});

Deno.test("findResource prefers a plural to a singular, and that to a short name and a kind", () => {
  assertStrictEquals(findResource([...all, po], "po"), po);
  const named = resource("games.test", "v1", "ponies", "Po", { singular: "pony" });
  assertStrictEquals(findResource([named, pods], "po"), pods);
  assertStrictEquals(findResource([named], "po"), named);
});

Deno.test("findResource suggests the name that is spelt most alike", () => {
  const cases: [string, string][] = [
    ["pdos", 'Cannot find a resource "pdos": the server has no such resource. Did you mean "pods"'],
    ["deploymnet", 'Did you mean "deployments.apps"'],
    ["certs", 'Did you mean "certificates.cert-manager.io"'],
    ["deployments.extensions", "it is not among the server's 9 resources in 7 API versions"],
    ["xylophone", "it is not among the server's 9 resources in 7 API versions"],
    ["all", 'it is a category of resources. Name one of "pods" and "services"'],
    ["", "it is not among the server's"],
  ];
  for (const [text, message] of cases) assertThrows(() => findResource(all, text), Error, message);
  assertThrows(() => findResource([], "pods"), Error, "the server lists no resources");
});

Deno.test("findResource suggests at most three names, the nearest first", () => {
  const similar = ["widgets", "gidgets", "gadgets", "midgets"].map((plural) => resource("", "v1", plural, plural));
  const error = assertThrows(() => findResource(similar, "widgetz"), Error);
  assertEquals(
    error.message,
    'Cannot find a resource "widgetz": the server has no such resource. Did you mean "widgets", "gidgets" or "midgets"?',
  );
});

const DEFINITION_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.acme.dev";

/** A fake server and its client, under fake time. */
class Installing implements Disposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  /** The conditions that the next looks after a write show, one set for each; then those of the server. */
  readonly conditions: object[][] = [];
  readonly client: Client = new Client({
    server: "http://fake",
    transport: { fetch: (request) => this.#respond(request) },
  });

  /** The number of requests of a path. */
  asked(path: string): number {
    return this.server.requests.filter((request) => request.path === path).length;
  }

  async #respond(request: Request): Promise<Response> {
    const isWritten = this.server.requests.some(({ verb }) => verb === "patch");
    const isLook = isWritten && request.method === "GET" && new URL(request.url).pathname === DEFINITION_PATH;
    const response = await this.server.fetch(request);
    const conditions = isLook ? this.conditions.shift() : undefined;
    return conditions === undefined ? response : Response.json({ ...await response.json(), status: { conditions } });
  }

  [Symbol.dispose](): void {
    assertEquals(this.time.timers, 0);
    this.client[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

const kindsOf = async ({ client }: Installing): Promise<string[]> =>
  (await client.discover()).filter(({ group }) => group === Widget.group).map(({ kind }) => kind);

Deno.test("installCrds waits until each kind is established and listed, and forgets what was discovered", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  const before = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals(await before, []);
  conditions.push([], [{ type: "Established", status: "False" }]);
  server.failNext(404, 1, ({ path }) => path === "/apis/acme.dev/v1");
  let isOver = false;
  const installed = installCrds(client, [definitionOf(Widget), definitionOf(Gadget)]).then(() => isOver = true);
  await time.tickAsync(50 + 100 + 199);
  assertEquals([isOver, installing.asked(DEFINITION_PATH), installing.asked("/apis/acme.dev/v1")], [false, 2 + 3, 1]);
  await time.tickAsync(1);
  await installed;
  const after = kindsOf(installing);
  await time.tickAsync(0);
  assertEquals((await after).sort(), ["Gadget", "Widget"]);

  const asked = server.requests.length;
  const again = installCrds(client, [definitionOf(Widget)]);
  await time.tickAsync(0);
  await again;
  assertEquals(server.requests.slice(asked).map(({ verb }) => verb), ["get", "patch", "get", "get"]);
});

Deno.test("installCrds rejects when names are taken, the server refuses, or its signal aborts", async () => {
  using installing = new Installing();
  const { client, conditions, server, time } = installing;
  conditions.push([{ type: "NamesAccepted", status: "False", message: '"widgets" is already in use' }]);
  const taken = assertRejects(
    () => installCrds(client, [definitionOf(Widget)]),
    InformerError,
    'Cannot serve "widgets.acme.dev": "widgets" is already in use',
  );
  await time.tickAsync(0);
  await taken;

  server.failNext(403, 1);
  const refused = assertRejects(() => installCrds(client, [definitionOf(Widget)]), Error, "403");
  await time.tickAsync(0);
  await refused;

  const stop = new AbortController();
  conditions.push(...Array.from({ length: 20 }, () => []));
  const stopped = assertRejects(() => installCrds(client, [definitionOf(Widget)], stop), Error, "enough");
  await time.tickAsync(5_000);
  assertEquals(conditions.length, 20 - 1 - 5 - 4); // before, after 0, 50, 150, 350, 750, 1550 ms, and then each second
  stop.abort(new Error("enough"));
  await time.tickAsync(0);
  await stopped;
});

Deno.test("a discovery that was under way when its result was forgotten is not kept", async () => {
  using installing = new Installing();
  const { client, server, time } = installing;
  const first = client.discover();
  client.forgetDiscovery();
  await time.tickAsync(0);
  await first;
  const asked = server.requests.length;
  const second = client.discover();
  await time.tickAsync(0);
  await second;
  assertEquals(server.requests.length - asked, asked);
});
