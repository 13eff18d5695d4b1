import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { type Answer, ask, MAPS, patch, WORKLOAD } from "../../support/fake_server.ts";

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
  "a token for a few seconds": [
    (server) =>
      ask(server, `${ACCOUNTS}/a/token`, {
        method: "POST",
        body: { kind: "TokenRequest", spec: { expirationSeconds: 5 } },
      }),
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: ' +
    "may not specify a duration less than 10 minutes",
  ],
  "a patch that is no JSON": [
    (server) => patch(server, `${MAPS}/a`, "json-patch", "["),
    "400 invalid JSON patch",
  ],
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
