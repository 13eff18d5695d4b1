/**
 * Readiness rules of one's own: expressions in CEL that say when an object of a kind is ready or has failed.
 *
 * {@linkcode readinessRules} is the entry point. It loads the CEL library. `controllers/readiness` takes its result as
 * a function, and knows no CEL.
 *
 * @module
 */
import type { JsonObject } from "../../engine/api/json.ts";
import { ArgumentError } from "../../engine/errors/checks.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { ReadinessRules } from "../controllers/readiness/readiness.ts";
import { type CompiledExpression, loadRules } from "./rules/load.ts";

/** When an object of a kind is ready. The expressions are in CEL, and read the whole object as `self`. */
export interface ReadinessRule {
  /** The kind: of `defineKind`, built in, or named by group and kind. */
  readonly kind: { readonly group: string; readonly kind: string };
  /** True if the object is ready: `"self.status.phase == 'Running'"`. */
  readonly ready: string;
  /** True if the object has failed. It is asked first. @default {the object never fails} */
  readonly failed?: string;
  /** A text for people: `"self.status.message"`. @default {the expression that has decided, and its value} */
  readonly message?: string;
}

/**
 * Compiles readiness rules for the option `rules` of `readiness()`, `untilReady()` and `workloadStatus()`. Use them for
 * kinds that the built-in rules misjudge, because their controllers write neither conditions nor a phase.
 *
 * - An object is `failed` if `failed` is true, `ready` if `ready` is, and else `progressing`.
 * - If an expression fails, the object is `progressing`, and the message says why. A field that is missing is such a
 *   failure: write `has(self.status) && self.status.ready` if you want another message. An expression may cost as much
 *   as kube-apiserver allows for a rule.
 *
 * The first call loads the CEL library.
 *
 * @throws {TypeError} if an expression is wrong. The message has the kind, the expression and the place in it.
 *
 * @example
 * ```ts
 * import { readiness } from "@kube/informer/readiness";
 * import { readinessRules } from "@kube/informer/schema";
 * import { assertEquals } from "@std/assert";
 *
 * const rules = await readinessRules([{
 *   kind: { group: "example.com", kind: "Backup" },
 *   ready: "self.status.phase == 'Done'",
 *   failed: "self.status.phase == 'Lost'",
 *   message: "self.status.phase + ' since ' + self.status.since",
 * }]);
 * const backup = {
 *   apiVersion: "example.com/v1",
 *   kind: "Backup",
 *   metadata: { name: "db", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-31T12:00:00Z" },
 *   status: { phase: "Lost", since: "Monday" },
 * };
 * assertEquals(readiness(backup, { rules }), { state: "failed", reason: "Failed", message: "Lost since Monday" });
 * ```
 */
export async function readinessRules(rules: readonly ReadinessRule[]): Promise<ReadinessRules> {
  const byKind = new Map<string, ReadinessRules>();
  for (const rule of rules) {
    checkNames("compile readiness rules", rule, "kind ready failed message");
    const { group, kind } = rule.kind;
    const name = `${kind}.${group}`.replace(/\.$/, "");
    if (byKind.has(name)) throw new ArgumentError(`Cannot compile two readiness rules for ${name}. Join them with ||`);
    byKind.set(name, await compileReadinessRule(rule, `the readiness rule for ${name}`));
  }
  return (object) => {
    const { apiVersion = "", kind = "" } = object;
    return byKind.get([kind, ...apiVersion.split("/").slice(0, -1)].join("."))?.(object);
  };
}

const REASONS = { ready: "Ready", failed: "Failed", progressing: "NotReady" } as const;

/**
 * Compiles a rule for objects of any kind. `what` names the rule in errors.
 *
 * @throws {TypeError} if an expression is wrong, as for {@linkcode readinessRules}.
 */
export async function compileReadinessRule(rule: Omit<ReadinessRule, "kind">, what: string): Promise<ReadinessRules> {
  const { compileExpression } = await loadRules();
  const compile = (name: string, text: string, written = text): CompiledExpression["run"] => {
    const { fault, run } = compileExpression(written, ["self"]);
    if (fault === undefined) return run;
    const why = `the expression ${name} is wrong at character ${placeOf(fault, text)}: ${fault.split("\n")[0]}`;
    throw new ArgumentError(`Cannot compile ${what}: ${why}. Correct ${JSON.stringify(text)}`);
  };
  const { ready, failed = "false", message } = rule;
  const [isReady, hasFailed] = [compile("ready", ready), compile("failed", failed)];
  const says = message === undefined ? undefined : compile("message", message, `dyn('' + (\n${message}\n))`);
  return (object) => {
    const values = { self: object as unknown as JsonObject };
    const holds = (name: string, run: CompiledExpression["run"]): boolean => {
      const { value, error = "it is neither true nor false" } = run(values);
      if (typeof value === "boolean") return value;
      throw new TypeError(`the expression ${name} has no answer: ${error}`);
    };
    try {
      const state = holds("failed", hasFailed) ? "failed" : holds("ready", isReady) ? "ready" : "progressing";
      const own = `${state === "failed" ? failed : ready} is ${state !== "progressing"}`;
      const { value = own, error } = says?.(values) ?? {};
      return { state, reason: REASONS[state], message: error ? `${own}; its message has none: ${error}` : `${value}` };
    } catch (error) {
      return { state: "progressing", reason: "RuleFailed", message: messageOf(error) };
    }
  };
}

/** The character of an expression, from 1, that a fault points at or names last. */
function placeOf(fault: string, text: string): number {
  const [, prefix, shown = "", space = ""] = /\n(>.*? \| )(.*)\n( *)\^/.exec(fault) ?? [];
  const [, name] = /(\w+)\W*$/.exec(fault.replace(/\(.*/s, "")) ?? [];
  // A variable or a function, not a member of the same name.
  if (prefix === undefined) return text.search(new RegExp(`(?<![.\\w])${name}\\b|(?<=\\.)${name}\\(`)) + 1 || 1;
  const line = text.lastIndexOf(shown);
  return 1 + (line < 0 ? text.length : line + space.length - prefix.length);
}
