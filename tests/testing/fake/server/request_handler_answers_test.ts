import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { FakeApiServer, type FakeApiServerOptions } from "../../../../src/testing/mod.ts";
import { ask, type ConfigMap, MAPS, OPEN_SCHEMA } from "../../../support/servers/fake_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { comparable, recorded } from "../../../support/sources/recorded_exchange.ts";

// What a real kube-apiserver (1.36.3) answered, against what the fake answers to the same requests in the same state:
// status, headers that mean something, and the body member by member, in order, with the versions that were recorded.

const WIDGETS = "/apis/example.com/v1/namespaces/answers/widgets";
const PODS = "/api/v1/namespaces/answers/pods";
const HEADERS = ["content-type", "retry-after", "warning", "x-content-type-options"];

/** A server whose next version is this one. */
function until(server: FakeApiServer, version: number): void {
  if (Number(server.resourceVersion) < version) server.jump(version);
}

/** The five config maps of the recording, at its versions. */
async function filled(options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
  const server = new FakeApiServer(options);
  for (const [index, version] of [200, 202, 203, 204, 205].entries()) {
    until(server, version - 1);
    const metadata = { name: `map-${index}`, labels: { colour: index % 2 === 0 ? "red" : "blue" } };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { k: "0" } };
    assertEquals((await ask(server, `${MAPS}?fieldManager=record`, { method: "POST", body })).status, 201);
  }
  until(server, 207);
  return server;
}

interface Comparison {
  /** Members that are left out on both sides. */
  readonly without?: readonly string[];
  /** Happens while the answer is under way. */
  readonly during?: () => void | Promise<void>;
  /** The duration of the answer; of a watch, the one that it requests unless given. */
  readonly forMs?: number;
  /** Credentials to send in place of those that were not recorded. */
  readonly authorization?: string;
}

/** Asks the fake what was asked, and holds its answer to what was answered. */
async function compare(server: FakeApiServer, name: string, options: Comparison = {}): Promise<string> {
  const { method, path, headers, sent, status, answerHeaders, text } = await recorded(name);
  const { without = [], during, authorization } = options;
  const url = new URL(path, "http://fake");
  const seconds = Number(url.searchParams.get("timeoutSeconds") ?? 0);
  using time = url.searchParams.has("watch") && status === 200 ? new FakeTime(Date.now() + 5_000) : undefined;
  const response = await server.fetch(
    new Request(url, {
      method,
      headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
      ...(sent === "" ? {} : { body: sent }),
    }),
  );
  const reading = response.text();
  await during?.();
  await time?.tickAsync(options.forMs ?? seconds * 1_000);
  const found = (await reading).trimEnd();
  assertEquals(response.status, status, name);
  for (const header of HEADERS) {
    assertEquals(response.headers.get(header), answerHeaders.get(header), `${name}: ${header}`);
  }
  assertEquals(comparable(found, without), comparable(text, without), name);
  return found;
}

Deno.test("FakeApiServer lists as kube-apiserver does", async () => {
  const server = await filled();
  for (
    const name of [
      "list",
      "list-page-first",
      "list-page-next",
      "list-page-last",
      "list-empty",
      "list-rv0-ignores-limit",
      "list-exact",
      "list-not-older-than",
      "list-selector",
      "list-rv-too-large-504",
      "list-match-without-rv-422",
      "list-send-initial-events-422",
      "list-bad-field-selector-400",
      "list-bad-limit-400",
      "list-bad-rv-400",
      "list-metadata",
      "list-pretty",
      "list-cbor-or-json",
    ]
  ) await compare(server, name);
  await compare(server, "list-table", { without: ["description"] });
});

Deno.test("FakeApiServer refuses lists as kube-apiserver does, except for the wording of parser errors", async () => {
  const server = await filled();
  // The server quotes its parsers, and offers representations that the fake has not.
  for (const name of ["list-bad-continue-400", "list-bad-label-selector-400", "list-cbor-406"]) {
    await compare(server, name, { without: ["message"] });
  }
  // A refusal of YAML is YAML there.
  const { path, headers, status } = await recorded("watch-yaml-406");
  assertEquals((await ask(server, path, { headers })).status, status);
});

Deno.test("FakeApiServer refuses requests as kube-apiserver does", async () => {
  const server = await filled();
  for (
    const name of [
      "object-404",
      "resource-404",
      "group-404",
      "watch-404",
      "watch-405",
      "create-409",
      "update-409",
      "create-422",
      "delete-404",
    ]
  ) await compare(server, name);
  await compare(server, "version", { without: ["gitCommit"] });
});

Deno.test("FakeApiServer authenticates and authorizes as kube-apiserver does", async () => {
  const server = new FakeApiServer({
    tokens: { limited: "limited" },
    authorize: ({ path }) => path.includes("selfsubject"),
  });
  await compare(server, "unauthorized-401");
  await compare(server, "anonymous-403");
  const authorization = "Bearer limited";
  for (const name of ["forbidden-list-403", "forbidden-watch-403", "forbidden-cluster-403"]) {
    await compare(server, name, { authorization });
  }
  // Reviews are not kept, and so not managed; and the fake leaves the order of what was sent.
  const review = await recorded("access-review");
  const { status, json } = await ask(server, review.path, {
    method: "POST",
    headers: { authorization },
    body: review.sent,
  });
  assertEquals([status, json.status, json.spec], [201, JSON.parse(review.text).status, JSON.parse(review.text).spec]);
});

Deno.test("FakeApiServer watches as kube-apiserver does", async () => {
  const server = await filled();
  await compare(server, "watch", {
    forMs: 4_000,
    during: async () => {
      const body = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "map-9", labels: { colour: "red" } },
        data: { k: "0" },
      };
      await ask(server, `${MAPS}?fieldManager=record`, { method: "POST", body });
      const change = (body: unknown) =>
        ask(server, `${MAPS}/map-9?fieldManager=record`, {
          method: "PATCH",
          headers: { "content-type": "application/merge-patch+json" },
          body,
        });
      await change({ data: { k: "1" } });
      await change({ metadata: { labels: { colour: "blue" } } });
      await change({ data: { k: "2" } });
      await change({ metadata: { labels: { colour: "red" } } });
      await ask(server, `${MAPS}/map-9`, { method: "DELETE" });
    },
  });
  await compare(server, "watch-quiet-timeout");
  await compare(server, "watch-bookmarks", { during: () => until(server, 225) });
  until(server, 227);
  for (const name of ["watch-list", "watch-list-empty", "watch-list-rv", "watch-list-no-bookmarks"]) {
    await compare(server, name);
  }
  until(server, 229);
  for (
    const name of [
      "watch-list-no-match-422",
      "watch-match-422",
      "watch-list-exact-422",
      "watch-list-future-rv",
      "watch-rv0",
      "watch-no-rv",
      "watch-future-rv",
      "watch-bad-rv-500",
      "watch-one-object",
    ]
  ) await compare(server, name);
  until(server, 231);
  await compare(server, "watch-metadata");
  await compare(server, "watch-metadata-list");
  await compare(server, "watch-table", { without: ["description"] });
});

// The real server fills in what the scheduler and the kubelet need; the fake leaves a pod's desired state as it is
// sent.
const PODS_OWN = ["spec", "status", "managedFields"];

Deno.test("FakeApiServer creates, updates and deletes pods as kube-apiserver does", async () => {
  const server = await filled();
  until(server, 231);
  const watched = await server.fetch(new Request(`http://fake${PODS}?watch=1&resourceVersion=231`));
  await compare(server, "create-pod", { without: PODS_OWN });
  const status = { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] };
  await ask(server, `${PODS}/pod-0/status?fieldManager=kubelet`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: { status },
  });
  await compare(server, "delete-pod-graceful", { without: PODS_OWN });
  await compare(server, "delete-pod-now", { without: PODS_OWN });
  server.endWatches();
  const life = await recorded("watch-pod-life");
  assertEquals(comparable((await watched.text()).trimEnd(), PODS_OWN), comparable(life.text, PODS_OWN));
  await compare(server, "delete-map");
});

Deno.test("FakeApiServer serves custom resources as kube-apiserver does", async () => {
  const server = new FakeApiServer();
  const versions = [{ name: "v1", served: true, storage: true, schema: OPEN_SCHEMA }];
  const names = { plural: "widgets", singular: "widget", kind: "Widget" };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const spec = { group: "example.com", scope: "Namespaced", names, versions };
  await ask(server, definitions, { method: "POST", body: { metadata: { name: "widgets.example.com" }, spec } });
  until(server, 243);
  for (const name of ["a", "b"]) {
    const body = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name }, spec: { size: 1 } };
    await ask(server, `${WIDGETS}?fieldManager=record`, { method: "POST", body });
  }
  await compare(server, "custom-list");
  await compare(server, "custom-list-page");
  await compare(server, "custom-watch-undefined", {
    during: async () => {
      until(server, 247);
      await ask(server, `${definitions}/widgets.example.com`, { method: "DELETE" });
    },
  });
});

Deno.test("FakeApiServer expires versions as kube-apiserver does", async () => {
  const server = await filled();
  await ask(server, `${MAPS}/map-4`, { method: "DELETE" });
  until(server, 852);
  const first = await ask(server, `${MAPS}?limit=2`);
  const { path } = await recorded("list-continue-expired-410");
  assertEquals(first.json.metadata.continue, new URL(path, "http://fake").searchParams.get("continue"));
  until(server, 858);
  server.compact();
  for (
    const name of [
      "list-continue-expired-410",
      "list-continue-inconsistent",
      "list-exact-expired-410",
      "list-limit-rv-expired-410",
      "watch-too-old",
    ]
  ) {
    await compare(server, name);
  }
});

Deno.test("FakeApiServer can throttle as kube-apiserver does", async () => {
  const server = await filled();
  for (const name of ["throttled-429", "throttled-watch-429", "stopping-429"]) {
    const { text, answerHeaders } = await recorded(name);
    server.failNext({ code: 429, text, retryAfterSeconds: Number(answerHeaders.get("retry-after")) });
    await compare(server, name);
  }
  for (const name of ["initializing-429", "initializing-watch-429"]) {
    server.failNext({ code: 429, message: "storage is (re)initializing", retryAfterSeconds: 1 });
    await compare(server, name);
  }
});

Deno.test("FakeApiServer without streaming lists answers as kube-apiserver does", async () => {
  const server = await filled({ streamingList: false });
  await compare(server, "watch-list-disabled-422");
  const { path, text } = await recorded("watch-rv0-no-watch-list");
  using time = new FakeTime();
  const response = await server.fetch(new Request(`http://fake${path}`));
  const reading = response.text();
  await time.tickAsync(2_000);
  const without = ["resourceVersion"]; // recorded on another server
  assertEquals(comparable((await reading).trimEnd(), without), comparable(text, without));
});

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
  assertEquals(
    [status, json.reason, json.message],
    [413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"],
  );
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
