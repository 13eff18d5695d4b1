// The cases of `deno task twin`: what is drawn for a seed, and in which shares.
import { assert, assertEquals } from "@std/assert";
import { caseOf } from "../support/twin/cases.ts";
import { drawn, overlaid, readDrafts } from "../support/twin/drafts.ts";
import { MUTATIONS } from "../support/twin/mutations.ts";
import { type Case, lineOf, PATCH_TYPES } from "../support/twin/step.ts";
import { Types } from "../support/twin/types.ts";
import { Random } from "../../src/testing/random.ts";
import { equalJson, type JsonObject } from "../../src/testing/wire/json.ts";

const DRAFTS = readDrafts();
const NO_TYPES = new Types([]);

function cases(count: number, from: number): Case[] {
  return Array.from({ length: count }, (_, at) => caseOf(from + at, DRAFTS, NO_TYPES));
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
