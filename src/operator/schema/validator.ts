/**
 * Validates objects of a custom kind without a server: defaults, schema, and rules in CEL.
 *
 * {@linkcode loadValidator} is the entry point. It asks no webhooks, and checks no metadata.
 *
 * @module
 */
import type { StatusCause } from "../../engine/api/status.ts";
import type { JsonObject } from "../../engine/api/json.ts";
import { objectOr } from "../../engine/api/members.ts";
import { type ScalarSchema, schemaOfKind, type Struct } from "./values/object_schema.ts";
import { prune } from "./values/prune.ts";
import { hasRules, loadRules } from "./rules/load.ts";
import { customCauses, type ScalePaths } from "./values/validate.ts";
import { SchemaError, type SchemaFault } from "./lower_schema.ts";

/** Finds what the server would refuse in an object, or in its update from `previous`. */
export type Validator = (object: object, previous?: object) => readonly StatusCause[];

const UNCHECKED: ScalarSchema = { type: "any" };

/**
 * Returns what checks objects by a schema of a CRD.
 *
 * @throws {SchemaError} if a rule in CEL is wrong, or too expensive.
 */
export async function loadValidator(rules: JsonObject, scale?: ScalePaths): Promise<Validator> {
  const schema = schemaOfKind(rules, UNCHECKED);
  const compiled = hasRules(rules) ? (await loadRules()).compile(rules) : undefined;
  const faults = compiled?.causes ?? [];
  if (faults.length > 0) throw new SchemaError(faultsOf(faults));
  return (object, previous): readonly StatusCause[] =>
    customCauses(schema, compiled, complete(schema, object), previous && complete(schema, previous), scale);
}

const SCHEMA_PATH = /^spec\.(?:validation|versions\[\d+\]\.schema)\.openAPIV3Schema\.?/;

/** Paths of a definition, and what `defineKind` has instead. */
const OPTION_PATHS: readonly (readonly [RegExp, string])[] = [
  [/^spec\.(?:names\.|versions\[0\]\.)?(?:subresources\.)?/, ""],
  [/^additionalPrinterColumns/, "columns"],
  [/JSONPath$/, "jsonPath"],
  [/^name$/, "version"],
  [/^(selectableFields\[\d+\])\.jsonPath$/, "$1"],
];

/**
 * Returns what kube-apiserver refuses in a definition by the paths of the schema that was written, `spec.image`, or of
 * the options, `columns[0].jsonPath`.
 */
export function faultsOf(causes: readonly StatusCause[]): SchemaFault[] {
  return causes.map(({ field = "", message = "" }) => ({
    path: SCHEMA_PATH.test(field)
      ? field.replace(SCHEMA_PATH, "").replace(/(^|\.)properties\[([^\]]+)\]/g, "$1$2")
      : OPTION_PATHS.reduce((path, [found, option]) => path.replace(found, option), field),
    message,
  }));
}

/** The object as the server has it: without unknown fields, and with defaults. */
function complete(schema: Struct, object: object): JsonObject {
  return objectOr(prune(schema, object as JsonObject, "", []));
}
