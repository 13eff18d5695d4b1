import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { type Answer, ask, CONTAINERS, MAPS, patch, WORKLOAD } from "../../../support/servers/fake_server.ts";

// deno-lint-ignore no-explicit-any -- answers in JSON
type Document = any;

const options = {
  tokens: { "token-of-ann": "ann", "token-of-bob": "bob" },
  authorize: ({ user, resource, namespace }: Document): boolean =>
    resource.endsWith("reviews") || (user === "bob" && namespace === "shop"),
};

async function review(path: string, spec: object, server = new FakeApiServer(options)): Promise<Document> {
  const { status, json } = await ask(server, path, {
    method: "POST",
    headers: { authorization: "Bearer token-of-ann" },
    body: { spec },
  });
  return status === 201 ? json.status : [status, json.message];
}

const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const attributes = { verb: "get", resource: "pods", namespace: "shop" };

Deno.test("a TokenReview names the user of a token", async () => {
  const path = "/apis/authentication.k8s.io/v1/tokenreviews";
  const { authenticated, user } = await review(path, { token: "token-of-bob" });
  assertEquals([authenticated, user], [true, { username: "bob", groups: ["system:authenticated"] }]);
  assertEquals(await review(path, { token: "nope" }), { user: {}, error: "invalid bearer token" });
});

Deno.test("a SubjectAccessReview asks for another user, a local one in its namespace alone", async () => {
  const path = `${AUTHORIZATION}/subjectaccessreviews`;
  assertEquals(await review(path, { user: "bob", resourceAttributes: attributes }), { allowed: true });
  assertEquals(await review(path, { user: "ann", resourceAttributes: attributes }), { allowed: false });
  assertEquals((await review(path, { user: "bob" }))[0], 422);
  const local = `${AUTHORIZATION}/namespaces/shop/localsubjectaccessreviews`;
  assertEquals(await review(local, { user: "bob", resourceAttributes: attributes }), { allowed: true });
  const elsewhere = { ...attributes, namespace: "other" };
  assertEquals((await review(local, { user: "bob", resourceAttributes: elsewhere }))[0], 422);
});

Deno.test("a SelfSubjectRulesReview is complete where no function authorizes", async () => {
  const path = `${AUTHORIZATION}/selfsubjectrulesreviews`;
  assertEquals((await review(path, { namespace: "shop" })).incomplete, true);
  const free = await review(path, { namespace: "shop" }, new FakeApiServer());
  const [all, reviews] = free.resourceRules;
  assertEquals([free.incomplete, all], [false, { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
  // Rules that every user has are listed beside those of this one.
  const resources = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"];
  assertEquals(reviews, { verbs: ["create"], apiGroups: ["authorization.k8s.io"], resources });
  const [, discovery, info] = free.nonResourceRules;
  assertEquals(info.nonResourceURLs, ["/healthz", "/livez", "/readyz", "/version", "/version/"]);
  assertEquals([discovery.verbs, discovery.nonResourceURLs.length], [["get"], 11]);
  assertEquals((await review(path, {}))[0], 400);
});

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

Deno.test("FakeApiServer refuses invalid scales, and scales of resources without one", async () => {
  const fake = await server();
  assertEquals((await patch(fake, `${PATH}/web/scale`, "merge-patch", { spec: { replicas: -1 } })).status, 422);
  assertEquals((await ask(fake, `${PATH}/web/scale`, { method: "DELETE" })).status, 405);
  assertEquals((await ask(fake, `${MAPS}/web/scale`)).status, 404);
  assertEquals((await ask(fake, `${PATH}/nobody/scale`)).status, 404);
});

const DEPLOYMENTS = "/apis/apps/v1/namespaces/answers/deployments";
const ACCOUNTS = "/api/v1/namespaces/answers/serviceaccounts";

async function serverWithKinds(): Promise<FakeApiServer> {
  const server = new FakeApiServer();
  const objects: readonly (readonly [string, object])[] = [
    [DEPLOYMENTS, { metadata: { name: "a" }, spec: WORKLOAD }],
    [ACCOUNTS, { metadata: { name: "a" } }],
    [MAPS, { metadata: { name: "a" } }],
  ];
  for (const [path, body] of objects) assertEquals((await ask(server, path, { method: "POST", body })).status, 201);
  return server;
}

const REFUSED: Readonly<Record<string, readonly [ask: (server: FakeApiServer) => Promise<Answer>, string]>> = {
  "a negative scale": [
    (server) => patch(server, `${DEPLOYMENTS}/a/scale`, "merge-patch", { spec: { replicas: -1 } }),
    '422 Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  "a patch that is no JSON": [(server) => patch(server, `${MAPS}/a`, "json-patch", "["), "400 invalid JSON patch"],
  "a patch of another media type": [
    (server) => patch(server, `${MAPS}/a`, "other", {}),
    "415 415: Unsupported Media Type",
  ],
  "a creation at the path of an object": [
    (server) => ask(server, `${MAPS}/b`, { method: "POST", body: { metadata: { name: "b" } } }),
    "405 the server does not allow this method on the requested resource",
  ],
};

for (const [name, [request, refusal]] of Object.entries(REFUSED)) {
  Deno.test(`${name} is refused as by a server`, async () => {
    using server = await serverWithKinds();
    const { status, json } = await request(server);
    assertEquals(`${status} ${json.message}`, refusal);
  });
}

Deno.test("the finalizers of a namespace are changed by its subresource", async () => {
  using server = new FakeApiServer();
  const namespaces = "/api/v1/namespaces";
  const { json } = await ask(server, namespaces, { method: "POST", body: { metadata: { name: "a" } } });
  const finalizers = ["kubernetes", "example.com/f"];
  const body = { ...json, spec: { finalizers } };
  const answer = await ask(server, `${namespaces}/a/finalize`, { method: "PUT", body });
  assertEquals(answer.json.spec.finalizers, finalizers);
});
