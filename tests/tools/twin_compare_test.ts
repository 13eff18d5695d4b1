// The comparison of `deno task twin`: what counts as a difference, and how differences are summed up.
import { assertEquals } from "@std/assert";
import { acceptedDifferences } from "../support/twin/accepted.ts";
import { answerOf, compared, fieldsOf, objectOf } from "../support/twin/compare.ts";
import type { Answer, Exchange } from "../support/twin/play.ts";
import { partOf, signatureOf } from "../support/twin/signature.ts";
import { Summary } from "../support/twin/summary.ts";
import type { Case, Step } from "../support/twin/step.ts";
import type { JsonObject } from "../../src/testing/wire/json.ts";

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
  assertEquals(pathsOf(drawn(4), { ...drawn(5), spec: {} }), [
    "object spec.clusterIP",
    "object spec.clusterIPs",
    "object spec.ports",
  ]);
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
  assertEquals(pathsOf(asked, other), [
    "object metadata.name",
    "object spec.clusterIP",
    "object spec.at",
    "object spec.ports[0].port",
  ]);
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
  assertEquals(answerOf(refusal("m", first)), {
    status: 422,
    reason: "Invalid",
    causes: ["spec.a FieldValueRequired"],
  });
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

Deno.test("twin: accepted differences are the rows of the page's table", () => {
  const page =
    "# T\n| `no` | x |\n\n## Beside a real server\n\n| a | b |\n| --- | --- |\n| `object a: 1 \\| 2` | why |\n";
  assertEquals(acceptedDifferences(page), [{ signature: "object a: 1 | 2", reason: "why" }]);
  assertEquals(acceptedDifferences().length > 0, true);
});
