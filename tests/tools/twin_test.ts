import { assert, assertEquals, assertRejects } from "@std/assert";
import { Random } from "../../src/testing/fake/random.ts";
import { equalJson, type JsonObject } from "../../src/engine/api/json.ts";
import { ACCEPTED } from "../support/twin/accepted.ts";
import { caseOf } from "../support/twin/cases.ts";
import { answerOf, compared, fieldsOf, objectOf } from "../support/twin/compare.ts";
import { drawn, overlaid, readDrafts } from "../support/twin/drafts.ts";
import { MUTATIONS } from "../support/twin/mutations.ts";
import type { Answer, Exchange } from "../support/twin/play.ts";
import { shrinkCase, smallerBodies } from "../support/twin/shrink_case.ts";
import { partOf, signatureOf } from "../support/twin/signature.ts";
import { type Case, lineOf, PATCH_TYPES, type Step } from "../support/twin/step.ts";
import { Summary } from "../support/twin/summary.ts";
import { Types } from "../support/twin/types.ts";

// The cases of `deno task twin`: what is drawn for a seed, and in which shares.

const DRAFTS = readDrafts();
const NO_TYPES = new Types([]);

function cases(count: number, from: number, kind?: string): Case[] {
  return Array.from({ length: count }, (_, at) => caseOf(from + at, DRAFTS, NO_TYPES, kind));
}

/** The types of a kind with a list, a map, an enum and a required field. */
const TYPES = new Types([{
  components: {
    schemas: {
      Pod: {
        type: "object",
        properties: { spec: { $ref: "#/components/schemas/Spec" }, kind: { type: "string" } },
        "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Pod" }],
      },
      Spec: {
        type: "object",
        required: ["policy"],
        properties: {
          policy: { type: "string", enum: ["Always"] },
          labels: { type: "object", additionalProperties: { type: "string" } },
          items: { type: "array", items: { allOf: [{ $ref: "#/components/schemas/Spec" }] } },
        },
      },
    },
  },
}]);
const POD: JsonObject = { kind: "Pod", spec: { policy: "Always", labels: { a: "b" }, items: [{ policy: "Always" }] } };

Deno.test("twin: a seed gives the same case each time, and another seed another", () => {
  assertEquals(caseOf(17, DRAFTS, NO_TYPES), caseOf(17, readDrafts(), NO_TYPES));
  assert(!equalJson(caseOf(17, DRAFTS, NO_TYPES), caseOf(17 + DRAFTS.kinds.length, DRAFTS, NO_TYPES)));
  assertEquals(caseOf(17, DRAFTS, NO_TYPES, "Secret").kind, "Secret");
});

Deno.test("twin: 2,000 cases have 50 of each of 22 kinds, a tenth of each type of patch, and a third with mistakes", () => {
  for (const from of [1, 100_000]) {
    const drawn = cases(2_000, from);
    const byKind = Map.groupBy(drawn, ({ kind }) => kind);
    assertEquals(byKind.size, 22);
    for (const [kind, { length }] of byKind) assert(length >= 50, kind);
    const steps = drawn.flatMap(({ steps }) => steps);
    for (const patch of PATCH_TYPES) {
      assert(steps.filter((step) => step.patch === patch).length >= steps.length / 10, patch);
    }
    assert(drawn.filter(({ steps }) => steps.some(({ wrong }) => wrong !== undefined)).length >= 2_000 / 3);
    assertEquals(drawn.filter(({ steps }) => steps.length < 1 || steps.length > 6), []);
  }
});

Deno.test("twin: cases update status, delete with conditions, and apply as two managers, with and without force", () => {
  const steps = cases(500, 1).flatMap(({ steps }) => steps);
  const queries = steps.filter(({ patch }) => patch === "apply").map(({ query: { fieldManager, force } }) =>
    `${fieldManager} ${force}`
  );
  for (const expected of ["one true", "one undefined", "two true", "two undefined"]) assert(queries.includes(expected));
  for (const patch of PATCH_TYPES) {
    assert(steps.some((step) => step.patch === patch && step.subresource === "status"), patch);
  }
  assert(steps.some(({ method, subresource }) => method === "PUT" && subresource === "status"));
  const deletes = steps.filter(({ method }) => method === "DELETE").map(lineOf).join("\n");
  for (const word of ["preconditions", "gracePeriodSeconds", "propagationPolicy"]) assert(deletes.includes(word), word);
  const lines = steps.map(lineOf).join("\n");
  for (const word of ["generateName", "fieldValidation=Warn", "dryRun=All", "$setElementOrder", '"op":"test"']) {
    assert(lines.includes(word), word);
  }
});

Deno.test("twin: managers share untyped fields, and give up those that they no longer apply", () => {
  const isGivenUp = ({ steps }: Case): boolean =>
    steps.some(({ patch, query, body }, at) =>
      patch === "apply" && Object.keys((body as JsonObject).spec ?? {}).length === 0 &&
      steps.slice(0, at).some((step) => step.patch === "apply" && step.query.fieldManager === query.fieldManager)
    );
  const shared = cases(500, 1, "Machine").filter(({ steps }) => steps.slice(1).every(({ patch }) => patch === "apply"));
  assert(shared.filter(isGivenUp).length >= 25, String(shared.filter(isGivenUp).length));
});

Deno.test("twin: marks of drafts are drawn, and none is left in a case", () => {
  const draft = { "a?": 1, "b*": [2], "*": [{ c: 3 }], list: [1, 2, 3] };
  assertEquals(drawn(new Random(1), draft, 1), { a: 1, b: 2, c: 3, list: [1, 2, 3] });
  const least = drawn(new Random(1), draft, 0) as { readonly list: readonly number[] };
  assertEquals({ ...least, list: least.list.length }, { b: 2, c: 3, list: 1 });
  const lines = cases(500, 1).flatMap(({ steps }) => steps.map(lineOf));
  assertEquals(lines.filter((line) => /"[\w.\/-]*[?*]+":/.test(line)), []);
});

Deno.test("twin: an overlay puts its members into an object, and null removes", () => {
  assertEquals(overlaid({ a: { b: 1, c: 2 }, d: [1] }, { a: { c: null, e: {} }, d: [2] }), {
    a: { b: 1, e: {} },
    d: [2],
  });
  assertEquals(overlaid(undefined, { a: null }), { a: null });
});

Deno.test("twin: mutations follow the server's schema, through references", () => {
  const type = TYPES.of("v1", "Pod");
  const seen = (name: string): string[] =>
    [...new Set(Array.from({ length: 200 }, (_, seed) => MUTATIONS[name](new Random(seed), TYPES, POD, type)))]
      .map((body) => JSON.stringify(body));
  const missing = seen("a missing field");
  assert(missing.includes('{"kind":"Pod","spec":{"labels":{"a":"b"},"items":[{"policy":"Always"}]}}'));
  assert(missing.includes('{"kind":"Pod","spec":{"policy":"Always","labels":{"a":"b"},"items":[{}]}}'));
  assert(seen("no value of an enum").some((body) => body.includes('"items":[{"policy":"Bogus"}]')));
  assert(seen("a wrong type").some((body) => body.includes('"labels":{"a":5}')));
  assert(
    seen("a field of the schema").some((body) => /"items":\[\{"policy":"Always","labels":\{"a":"b"\}\}\]/.test(body)),
  );
});

// The comparison of `deno task twin`: what counts as a difference, and how differences are summed up.

const STEP: Step = { method: "POST", collection: "/api/v1/namespaces/${ns}/pods", object: "a", query: {} };
const CASE: Case = { seed: 1, kind: "Pod", steps: [STEP] };

function answer(body: JsonObject, status = 200): Answer {
  return { status, body, warnings: [] };
}

function exchange(real: Answer, fake: Answer): Exchange {
  return { step: STEP, real, fake };
}

function pathsOf(real: JsonObject, fake: JsonObject): string[] {
  return compared(exchange(answer(real), answer(fake))).differences.map(({ category, path }) => `${category} ${path}`);
}

Deno.test("twin: what a server draws by chance or by the clock is left out, and its absence is not", () => {
  const drawn = (n: number): JsonObject => ({
    kind: "Service",
    metadata: {
      name: `web-a-bcdf${n}`,
      generateName: "web-a-",
      uid: `00000000-0000-4000-8000-00000000000${n}`,
      resourceVersion: String(n),
      creationTimestamp: new Date(Date.now() - n * 1_000).toISOString(),
    },
    spec: { clusterIP: `10.0.0.${n}`, clusterIPs: [`10.0.0.${n}`], ports: [{ port: 80, nodePort: 30_000 + n }] },
    labels: { "controller-uid": `00000000-0000-4000-8000-00000000000${n}`, job: `web-a-bcdf${n}` },
  });
  assertEquals(pathsOf(drawn(4), drawn(5)), []);
  assertEquals(
    pathsOf(drawn(4), { ...drawn(5), spec: {} }),
    ["object spec.clusterIP", "object spec.clusterIPs", "object spec.ports"],
  );
});

Deno.test("twin: what was asked for is compared: addresses, times, names, numbers", () => {
  const asked = {
    metadata: { name: "web-12345" },
    spec: { clusterIP: "None", at: "2024-01-02T03:04:05Z", ports: [{ port: 1 }] },
  };
  const other = {
    metadata: { name: "web-54321" },
    spec: { clusterIP: "", at: "2024-01-02T03:04:06Z", ports: [{ port: 2 }] },
  };
  assertEquals(
    pathsOf(asked, other),
    ["object metadata.name", "object spec.clusterIP", "object spec.at", "object spec.ports[0].port"],
  );
  assertEquals(pathsOf({ spec: {} }, {}), ["object spec"]);
  assertEquals(pathsOf({ a: null }, {}), ["object a"]);
});

Deno.test("twin: managedFields are compared apart, without times and in any order", () => {
  const entry = (manager: string, fields: JsonObject, time: string): JsonObject => ({
    manager,
    operation: "Apply",
    time,
    fieldsV1: fields,
  });
  const real = { metadata: { managedFields: [entry("a", { "f:x": {} }, "1"), entry("b", {}, "2")] } };
  const fake = { metadata: { managedFields: [entry("b", {}, "3"), entry("a", { "f:x": {} }, "4")] } };
  assertEquals(pathsOf(real, fake), []);
  assertEquals(
    pathsOf(real, { metadata: { managedFields: [entry("a", {}, "1")] } }),
    [
      "fields a Apply.fieldsV1.f:x",
      "fields b Apply",
    ],
  );
  assertEquals(
    Object.keys(fieldsOf({ metadata: { managedFields: [entry("a", {}, "1"), entry("a", {}, "2")] } })).length,
    2,
  );
  assertEquals(objectOf(real), { metadata: {} });
});

Deno.test("twin: of a refusal, code, reason, fields and reasons of causes count in any order, and texts apart", () => {
  const refusal = (message: string, ...causes: JsonObject[]): Answer =>
    answer({ kind: "Status", reason: "Invalid", message, details: { name: "a", causes } }, 422);
  const first = { field: "spec.a", reason: "FieldValueRequired", message: "x" };
  const second = { field: "spec.b", reason: "FieldValueInvalid", message: "y" };
  const { categories, differences } = compared(exchange(refusal("m", first, second), refusal("n", second, first)));
  assertEquals(categories, ["answer", "object", "texts"]);
  assertEquals(differences.map(({ category, path }) => `${category} ${path}`), ["texts message"]);
  assertEquals(
    answerOf(refusal("m", first)),
    { status: 422, reason: "Invalid", causes: ["spec.a FieldValueRequired"] },
  );
  // Since 1.38, a text or list below a bound has a reason of its own.
  const bounds = (...reasons: string[]): unknown =>
    answerOf(refusal("m", ...reasons.map((reason) => ({ ...first, reason })))).causes;
  assertEquals(
    bounds("FieldValueTooShort", "FieldValueTooFew", "FieldValueTooLong"),
    bounds("FieldValueInvalid", "FieldValueInvalid", "FieldValueTooLong"),
  );
  const fewer = compared(exchange(refusal("m", first, second), refusal("m", first)));
  assertEquals(fewer.differences.map(({ category, path }) => `${category} ${path}`), ["answer causes", "texts causes"]);
});

Deno.test("twin: where status codes differ, nothing else is compared", () => {
  const { categories, differences } = compared(
    exchange(answer({ spec: 1 }, 201), answer({ kind: "Status", reason: "X" }, 400)),
  );
  assertEquals(categories, ["answer"]);
  assertEquals(differences.every(({ category }) => category === "answer"), true);
});

Deno.test("twin: a signature leaves out the kind, indexes, names and keys", () => {
  const signatures = (real: JsonObject, fake: JsonObject, collection: string): string[] => {
    const played = { ...exchange(answer(real), answer(fake)), step: { ...STEP, collection } };
    return compared(played).differences.map((difference) =>
      `${partOf(difference, played)} ${signatureOf(difference, played)}`
    );
  };
  const pod = { containers: [{ name: "a" }, { name: "b", policy: "Always" }] };
  const bare = { containers: [{ name: "a" }, { name: "b" }] };
  const expected = ["val object POD.containers[].policy: string | nothing"];
  assertEquals(signatures({ spec: pod }, { spec: bare }, "/api/v1/namespaces/n/pods"), expected);
  const deployment = "/apis/apps/v1/namespaces/n/deployments";
  assertEquals(
    signatures({ spec: { template: { spec: pod } } }, { spec: { template: { spec: bare } } }, deployment),
    expected,
  );
  assertEquals(signatures({ metadata: { labels: { x: "1" } } }, { metadata: { labels: {} } }, deployment), [
    "val object metadata.labels.*: string | nothing",
  ]);
  const managed = (key: string): JsonObject => ({
    metadata: {
      managedFields: [{ manager: "m", operation: "Update", fieldsV1: { "f:spec": { "f:ports": { [key]: {} } } } }],
    },
  });
  assertEquals(signatures(managed('k:{"port":53,"protocol":"UDP"}'), managed('k:{"port":53}'), deployment), [
    "ssa fields f:spec.f:ports[k port,protocol]: {} | nothing, Update",
    "ssa fields f:spec.f:ports[k port]: nothing | {}, Update",
  ]);
});

Deno.test("twin: a case is equal in a category when all its requests are, and shares are of the cases compared in it", () => {
  const summary = new Summary([{ signature: "object POD", reason: "known" }]);
  const same = exchange(answer({ spec: 1 }), answer({ spec: 1 }));
  const other = exchange(answer({ spec: 1 }), answer({ spec: 2 }));
  const refused = exchange(answer({}), answer({ kind: "Status", reason: "X" }, 400));
  summary.add(CASE, [same, other]);
  summary.add(CASE, [same]);
  summary.add(CASE, [refused]);
  assertEquals(summary.cases.answer, { compared: 3, equal: 2 });
  assertEquals(summary.cases.object, { compared: 2, equal: 1 });
  assertEquals(summary.requests.object, { compared: 3, equal: 2 });
  assertEquals(summary.cases.fields, { compared: 0, equal: 0 });
  assertEquals([summary.reaches(0.5), summary.reaches(0.51)], [true, false]);
  const known = summary.groups().find(({ category }) => category === "object");
  assertEquals([known?.accepted, known?.cases, known?.kinds.get("Pod")], ["known", 1, 1]);
});

Deno.test("twin: a difference that is decided for a kind does not count, but is listed", () => {
  const other = exchange(answer({ spec: 1 }), answer({ spec: 2 }));
  for (const [kind, equal] of [["Pod", 1], ["Service", 0]] as const) {
    const summary = new Summary([{ signature: "object POD", reason: "known", isDecided: true, kind }]);
    summary.add(CASE, [other]);
    assertEquals([summary.cases.object, summary.groups().length], [{ compared: 1, equal }, 1]);
  }
});

Deno.test("twin: accepted differences have signatures of their own, and reasons", () => {
  assertEquals(new Set(ACCEPTED.map(({ signature }) => signature)).size, ACCEPTED.length);
  for (const { signature, reason } of ACCEPTED) assert(signature.length > 5 && reason.length > 20, signature);
});

// The shrinker of `deno task twin`: requests and members that do not matter are left out.

function step(body: Step["body"]): Step {
  return { method: "POST", collection: "/c", object: "a", query: {}, body };
}

const LONG_CASE: Case = {
  seed: 7,
  kind: "Pod",
  steps: [
    step({ x: 1 }),
    step({
      kind: "Pod",
      metadata: { name: "a", labels: { a: "b" } },
      spec: { list: [{ bad: 1, good: 2 }, { good: 3 }] },
    }),
    step({ y: [1] }),
  ],
};

function isBad({ body }: Step): boolean {
  return JSON.stringify(body).includes('"bad"');
}

Deno.test("twin: a case shrinks to the request and the members that matter", async () => {
  const { steps, seen } = await shrinkCase(
    LONG_CASE,
    (steps) => Promise.resolve(steps.some(isBad) ? steps.length : undefined),
  );
  assertEquals(steps.map(({ body }) => body), [{ kind: "Pod", metadata: { name: "a" }, spec: { list: [{ bad: 1 }] } }]);
  assertEquals(seen, 1);
});

Deno.test("twin: a request that another needs stays", async () => {
  const needs = (steps: readonly Step[]): Promise<true | undefined> =>
    Promise.resolve(steps.length >= 2 && steps.some(isBad) ? true : undefined);
  const { steps } = await shrinkCase(LONG_CASE, needs);
  assertEquals(steps.length, 2);
  assert(isBad(steps[steps.length - 1]) || isBad(steps[0]));
});

Deno.test("twin: a case is played no more often than asked, and one that shows nothing is an error", async () => {
  let plays = 0;
  await shrinkCase(LONG_CASE, (steps) => Promise.resolve(++plays > 0 && steps.some(isBad) ? true : undefined), 12);
  assert(plays <= 12, String(plays));
  await assertRejects(() => shrinkCase(LONG_CASE, () => Promise.resolve(undefined)), Error, "seed 7");
});

Deno.test("twin: smaller bodies lack one member or element each, and keep kind and name", () => {
  const bodies = [...smallerBodies({ kind: "Pod", metadata: { name: "a" }, list: [{ b: 1 }] })];
  assertEquals(bodies, [
    { kind: "Pod", metadata: { name: "a" } },
    { kind: "Pod", metadata: { name: "a" }, list: [] },
    { kind: "Pod", metadata: { name: "a" }, list: [{}] },
  ]);
  assertEquals([...smallerBodies(undefined)], []);
});
