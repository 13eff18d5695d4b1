// What a library's schema becomes as the field `a` of a kind's spec, in one line.
import { defineKind, type KindSchema, SchemaError } from "@kube/informer/schema";
import { assert, assertEquals } from "@std/assert";
import type { Json, JsonObject } from "../../../src/engine/api/json.ts";
import { memberAt, objectOr } from "../../../src/engine/api/members.ts";

/** Schemas by name, with the outcome: the schema in the CRD and what is lost, or the paths that are refused. */
export type Rows = Readonly<Record<string, readonly [schema: () => unknown, outcome: string]>>;

const NAMES = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;

/** JSON with sorted keys, in which long patterns are cut. */
function textOf(value: Json | undefined): string {
  const cut = (name: string, it: Json | undefined): Json | undefined => {
    if (name === "pattern" && typeof it === "string" && it.length > 30) return "…";
    if (typeof it !== "object" || it === null || Array.isArray(it)) return it;
    return Object.fromEntries(Object.entries(it).sort(([one], [other]) => one < other ? -1 : 1)) as JsonObject;
  };
  return JSON.stringify(value, cut);
}

function outcomeOf(spec: unknown): string {
  try {
    const { crd, changes } = defineKind({ ...NAMES, spec: spec as KindSchema });
    const schema = memberAt(crd.spec.versions[0].schema, "openAPIV3Schema", "properties", "spec", "properties", "a");
    const lost = changes.map(({ path, keyword }) => ` − ${path.slice("spec.".length)}: ${keyword}`);
    return textOf(objectOr(schema)) + lost.join("");
  } catch (error) {
    assert(error instanceof SchemaError, String(error));
    return `refused: ${[...new Set(error.faults.map(({ path }) => path.slice("spec.".length)))].join(", ")}`;
  }
}

/** Checks all rows at once, so that a failure shows each that differs. */
export function assertOutcomes(rows: Rows, spec: (schema: unknown) => unknown): void {
  const found = Object.entries(rows).map(([name, [schema]]) => [name, outcomeOf(spec(schema()))]);
  assertEquals(Object.fromEntries(found), Object.fromEntries(Object.entries(rows).map(([name, [, it]]) => [name, it])));
}

/** Checks that rows begin with each name, but for `others`, which make no schema. */
export function assertComplete(rows: Rows, names: readonly string[], others: string): void {
  const tested = new Set(Object.keys(rows).map((name) => name.split(" ")[0]));
  assertEquals(names.filter((name) => !tested.has(name) && !others.split(" ").includes(name)), []);
}
