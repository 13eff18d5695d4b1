import { assertEquals } from "@std/assert";
import { FakeApiServer, type RequestAttributes } from "../../../../src/testing/mod.ts";
import { ask, MAPS } from "../../../support/servers/fake_server.ts";
import { statusObject } from "../../../support/servers/transport.ts";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

Deno.test("FakeApiServer allows all requests by default", async () => {
  assertEquals((await ask(new FakeApiServer(), MAPS)).status, 200);
  assertEquals((await ask(new FakeApiServer(), MAPS, bearer("anything"))).status, 200);
});

Deno.test("FakeApiServer answers 401 to unknown tokens and 403 to no token", async () => {
  const server = new FakeApiServer({ tokens: { "t-1": "alice" } });
  assertEquals((await ask(server, MAPS, bearer("t-1"))).status, 200);
  const unknown = await ask(server, MAPS, bearer("nobody-knows-this"));
  assertEquals(
    [unknown.status, unknown.text],
    [
      401,
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n',
    ],
  );
  assertEquals((await ask(server, MAPS, bearer("constructor"))).status, 401);
  const anonymous = await ask(server, MAPS);
  assertEquals(anonymous.status, 403);
  assertEquals(anonymous.headers.get("x-content-type-options"), "nosniff");
  assertEquals(
    anonymous.json,
    statusObject(
      403,
      "Forbidden",
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "answers"',
      { details: { kind: "configmaps" } },
    ),
  );
  assertEquals((await ask(server, "/version")).status, 200);
  assertEquals((await ask(server, "/apis")).json.message, 'forbidden: User "system:anonymous" cannot get path "/apis"');
});

Deno.test("FakeApiServer calls a tokens function for each request", async () => {
  const valid = new Set(["old"]);
  const server = new FakeApiServer({ tokens: (token) => valid.has(token) ? "alice" : undefined });
  assertEquals((await ask(server, MAPS, bearer("old"))).status, 200);
  valid.delete("old");
  assertEquals((await ask(server, MAPS, bearer("old"))).status, 401);
});

Deno.test("FakeApiServer forbids what authorize rejects, and names the verb and resource", async () => {
  const asked: RequestAttributes[] = [];
  const server = new FakeApiServer({
    tokens: { t: "limited" },
    authorize: (attributes) => {
      asked.push(attributes);
      return false;
    },
  });
  const cases: [method: string, path: string, message: string][] = [
    [
      "GET",
      `${MAPS}?watch=1`,
      'configmaps is forbidden: User "limited" cannot watch resource "configmaps" in API group "" in the namespace "answers"',
    ],
    [
      "GET",
      "/apis/apps/v1/deployments",
      'deployments.apps is forbidden: User "limited" cannot list resource "deployments" in API group "apps" at the cluster scope',
    ],
    [
      "DELETE",
      `${MAPS}/x`,
      'configmaps "x" is forbidden: User "limited" cannot delete resource "configmaps" in API group "" in the namespace "answers"',
    ],
    [
      "PATCH",
      "/api/v1/namespaces/a/pods/x/status",
      'pods "x" is forbidden: User "limited" cannot patch resource "pods/status" in API group "" in the namespace "a"',
    ],
    [
      "DELETE",
      MAPS,
      'configmaps is forbidden: User "limited" cannot deletecollection resource "configmaps" in API group "" in the namespace "answers"',
    ],
    [
      "GET",
      "/apis/nothing.com/v1/x",
      'x.nothing.com is forbidden: User "limited" cannot list resource "x" in API group "nothing.com" at the cluster scope',
    ],
  ];
  for (const [method, path, message] of cases) {
    const { status, json } = await ask(server, path, { method, ...bearer("t") });
    assertEquals([status, json.message], [403, message]);
  }
  assertEquals(asked[3], {
    user: "limited",
    verb: "patch",
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "status",
    namespace: "a",
    name: "x",
    path: "/api/v1/namespaces/a/pods/x/status",
  });
});

Deno.test("FakeApiServer answers with the status that authorize returns", async () => {
  const authorize = ({ verb }: RequestAttributes) =>
    Promise.resolve(verb === "list" ? { code: 429, message: "slow down", retryAfterSeconds: 3 } : true);
  const server = new FakeApiServer({ authorize });
  const { status, json, headers } = await ask(server, MAPS);
  assertEquals([status, json.message, json.reason], [429, "slow down", "TooManyRequests"]);
  assertEquals(headers.get("retry-after"), "3");
  assertEquals((await ask(server, `${MAPS}/x`)).status, 404);
});

Deno.test("FakeApiServer answers access reviews for the requesting user", async () => {
  const server = new FakeApiServer({
    tokens: { t: "alice" },
    authorize: ({ resource, verb }) => resource !== "secrets" || verb === "create",
  });
  const review = async (resource: string): Promise<unknown> => {
    const spec = { resourceAttributes: { verb: "watch", resource, namespace: "answers" } };
    const { status, json } = await ask(server, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      method: "POST",
      ...bearer("t"),
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec },
    });
    assertEquals(status, 201);
    return json.status.allowed;
  };
  assertEquals([await review("pods"), await review("secrets")], [true, false]);
});
