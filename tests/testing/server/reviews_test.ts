import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask } from "../../support/fake_server.ts";

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
