import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { ApiResource } from "../../../src/engine/api/resource.ts";
import { isForbidden, StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { type Answer, json, refusal, type Sent, text } from "../../support/servers/transport.ts";

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
