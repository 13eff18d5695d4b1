/**
 * Loads the evaluator of validation rules (`x-kubernetes-validations`) when the first rule arrives.
 *
 * {@linkcode loadRules} and `hasRules` are the entry points. Other folders import only this file of `rules`,
 * so that programs without rules do not load the CEL library.
 *
 * @module
 */
import type { JsonObject } from "../../../engine/api/json.ts";
import type { CompiledExpression, CompiledRules } from "./compile.ts";

export type { CompiledExpression, CompiledRules };
export { hasRules } from "../values/object_schema.ts";

/** Compiles rules. {@linkcode loadRules} returns it. */
export interface RuleCompiler {
  /**
   * Compiles all rules of a structural schema. `at` is the schema's path in the definition, for causes.
   *
   * @default at `"spec.versions[0].schema.openAPIV3Schema"`
   */
  compile(schema: JsonObject, at?: string): CompiledRules;
  /** Compiles an expression that evaluates to a bool, and reads `variables` of any type. */
  compileExpression(text: string, variables: readonly string[]): CompiledExpression;
}

let loading: Promise<RuleCompiler> | undefined;
let loaded: RuleCompiler | undefined;

/**
 * Loads the compiler. The first call imports the CEL library, and later calls return the same promise.
 *
 * @throws {TypeError} if the library cannot be imported. The next call tries again.
 */
export function loadRules(): Promise<RuleCompiler> {
  return loading ??= import("./compile.ts").then((module) => loaded = module, (error) => {
    loading = undefined;
    throw error;
  });
}

/** Returns the compiler if {@linkcode loadRules} has loaded it, else undefined. */
export function loadedRules(): RuleCompiler | undefined {
  return loaded;
}
