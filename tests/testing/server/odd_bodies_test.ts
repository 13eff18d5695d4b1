import fc from "fast-check";
import { assertEquals } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { ask, type ConfigMap, MAPS } from "../../support/fake_server.ts";

const NAMES = ["a", "toString", "valueOf", "__proto__", "name", "uid", "metadata", "spec", "k:{", "f:a", "containers"];
const odd = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, -1, 1e308, "", "x", "2026-01-01T00:00:00Z", ...NAMES),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 3 }),
  ),
})).value;

/** An object of which some members are odd. */
function oddMembers(members: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const arbitraries = Object.entries(members).map(([name, usual]) =>
    [name, fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd })] as const
  );
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys: [] });
}

const METADATA = {
  name: "a",
  generateName: "a-",
  namespace: "answers",
  uid: undefined,
  resourceVersion: undefined,
  labels: { a: "b" },
  annotations: undefined,
  finalizers: ["a.b/c"],
  ownerReferences: [{ uid: "u", name: "o" }],
  managedFields: [{ manager: "m", operation: "Apply", fieldsV1: { "k:{": {}, "f:a": {} } }],
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  generation: undefined,
};
const KINDS = [
  ["/api/v1/namespaces/answers/configmaps", "v1", "ConfigMap"],
  ["/api/v1/namespaces/answers/pods", "v1", "Pod"],
  ["/api/v1/namespaces/answers/events", "v1", "Event"],
  ["/apis/events.k8s.io/v1/namespaces/answers/events", "events.k8s.io/v1", "Event"],
  ["/apis/apps/v1/namespaces/answers/deployments", "apps/v1", "Deployment"],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition"],
] as const;
const CRD = {
  group: "x.com",
  scope: "Namespaced",
  names: { plural: "ws", kind: "W" },
  versions: [{ name: "v1", served: true, storage: true, additionalPrinterColumns: [{ name: "N", jsonPath: ".spec" }] }],
};
const request = fc.constantFrom(...KINDS).chain(([path, apiVersion, kind]) => {
  const object = oddMembers(METADATA).chain((metadata) =>
    oddMembers({
      apiVersion,
      kind,
      metadata,
      spec: kind.startsWith("Custom") ? CRD : { containers: [{ name: "c", image: "i" }], replicas: 1 },
      status: { phase: "Running" },
      data: { k: "v" },
    })
  );
  const operation = fc.record({
    op: fc.oneof(fc.constantFrom("add", "test", "copy", "move", "replace"), odd),
    path: fc.oneof(fc.constantFrom("/metadata/labels", "/spec/containers/0", "/metadata", ""), odd),
    from: fc.oneof(fc.constantFrom("/metadata/labels", "/spec"), odd),
    value: odd,
  }, { requiredKeys: [] });
  const deletion = oddMembers({
    kind: "DeleteOptions",
    apiVersion: "v1",
    dryRun: ["All"],
    propagationPolicy: "Orphan",
    gracePeriodSeconds: 0,
    preconditions: { uid: "u" },
  });
  const patch = (type: string, body: fc.Arbitrary<unknown>) => fc.tuple(fc.constant(`PATCH ${type}`), body);
  const asked = fc.oneof(
    fc.tuple(fc.constant("POST"), object),
    fc.tuple(fc.constant("PUT"), object),
    patch("merge-patch+json", object),
    patch("strategic-merge-patch+json", object),
    patch("apply-patch+yaml", object),
    patch("json-patch+json", fc.array(operation, { maxLength: 3 })),
    fc.tuple(fc.constant("DELETE"), deletion),
  );
  const part = fc.constantFrom("", "", "/status", "/scale");
  return fc.record({ path: fc.constant(path), asked, part, table: fc.boolean() });
});
const review = oddMembers({ spec: { nonResourceAttributes: { verb: "get", path: "/" } } });

Deno.test("FakeApiServer answers every body of JSON, however odd its members are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 8 }), review, async (requests, review) => {
      using server = new FakeApiServer();
      for (const { path, asked: [how, body], part, table } of requests) {
        const [method, type = "json"] = how.split(" ");
        const where = method === "POST" ? path : `${path}/a${method === "DELETE" ? "" : part}?fieldManager=m`;
        const accept = table ? "application/json;as=Table;g=meta.k8s.io;v=v1" : "application/json";
        const headers = { "content-type": `application/${type}`, accept };
        const answer = await ask(server, where, { method, body: JSON.stringify(body), headers });
        assertEquals(answer.json?.status === "Failure" ? answer.json.code : 0, answer.status < 400 ? 0 : answer.status);
        await ask(server, path, { headers: { accept } });
      }
      server.collectGarbage();
      const body = JSON.stringify(review);
      await ask(server, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { method: "POST", body });
    }),
    { numRuns: Number(Deno.env.get("RUNS") ?? 150) },
  );
});

Deno.test("FakeApiServer refuses metadata of another type as kube-apiserver does", async () => {
  const server = new FakeApiServer();
  server.create<ConfigMap>({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", scope: "Namespaced" }, {
    metadata: { namespace: "answers", name: "a" },
  });
  const cases: [metadata: unknown, found: string, field: string][] = [
    [{ name: { toString: "x" } }, "object", "name"],
    [{ name: ["a"] }, "array", "name"],
    [{ uid: 5 }, "number", "uid"],
    [{ resourceVersion: {} }, "object", "resourceVersion"],
    [{ namespace: true }, "bool", "namespace"],
    [{ generateName: 5 }, "number", "generateName"],
  ];
  for (const [metadata, found, field] of cases) {
    for (const [method, path] of [["POST", MAPS], ["PUT", `${MAPS}/a`]]) {
      const { status, json } = await ask(server, path, { method, body: { metadata } });
      assertEquals(
        [status, json.message],
        [
          400,
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ' +
          `${found} into Go struct field ObjectMeta.metadata.${field} of type string`,
        ],
      );
    }
  }
});

Deno.test("FakeApiServer takes bodies of 3 MiB, and answers 413 to larger ones without keeping them", async () => {
  using server = new FakeApiServer();
  const body = (bytes: number): string => {
    const object = `"involvedObject":{"namespace":"answers"}`;
    const [head, tail] = [`{"metadata":{"name":"m${bytes}"},${object},"message":"`, '"}'];
    return `${head}${"x".repeat(bytes - head.length - tail.length)}${tail}`;
  };
  const events = "/api/v1/namespaces/answers/events";
  assertEquals((await ask(server, events, { method: "POST", body: body(3_145_728) })).status, 201);
  const { status, json } = await ask(server, events, { method: "POST", body: body(3_145_729) });
  assertEquals([status, json.reason, json.message], [
    413,
    "RequestEntityTooLarge",
    "Request entity too large: limit is 3145728",
  ]);
  assertEquals(server.requests.map(({ body }) => body?.length), [3_145_728, undefined]);
});

Deno.test("FakeApiServer remembers requests with at most 64 MiB of bodies, the latest ones", async () => {
  using server = new FakeApiServer();
  const body = `{"x":"${"x".repeat(3_000_000)}"}`;
  for (let at = 0; at < 30; at++) await ask(server, `${MAPS}/n${at}`, { method: "PUT", body });
  assertEquals(server.requests.length, 22);
  assertEquals(server.requests.at(-1)?.path, `${MAPS}/n29`);
  await ask(server, MAPS);
  assertEquals(server.requests.length, 23);
});
