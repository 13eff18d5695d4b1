/**
 * The checks of CRDs, which are loaded when the first one is written by a request.
 *
 * {@linkcode loadDefinitionChecks} and {@linkcode definitionRule} are the entry points. The checks are in
 * `schema/definition.ts`. CRDs that a test creates itself before that are not checked.
 *
 * @module
 */
import { loadedRules } from "../../../operator/schema/rules/load.ts";
import type { Rule } from "./checks.ts";

let loaded: typeof import("../../../operator/schema/definition.ts") | undefined;

/** Loads the checks; returns `undefined` if they are loaded. */
export function loadDefinitionChecks(): Promise<void> | undefined {
  if (loaded !== undefined) return undefined;
  return import("../../../operator/schema/definition.ts").then((module) => void (loaded = module));
}

/** Reports why kube-apiserver refuses a CRD. */
export const definitionRule: Rule = (object, _, causes) =>
  void causes.push(...loaded?.definitionCauses(object, loadedRules()) ?? []);
