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
import { loadRules } from "./rules/load.ts";

/** When an object of a kind is ready. The expressions are in CEL, and read the whole object as `self`. */
export interface ReadinessRule {
  /** The kind: of `defineKind`, built in, or named by group and kind. @default {every kind} */
  readonly kind?: { readonly group: string; readonly kind: string };
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
 * If several rules are for an object's kind, the first one counts. The first call loads the CEL library.
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
  const { compileExpression } = await loadRules();
  const judges = rules.map((rule) => {
    checkNames("compile readiness rules", rule, "kind ready failed message");
    const { kind, ready, failed = "false", message } = rule;
    const name = kind && `${kind.group}/${kind.kind}`;
    const compile = (member: string, text: string, written = text) => {
      const { fault, run } = compileExpression(written, ["self"]);
      const what = `the readiness rule for ${name?.replace(/^\//, "") ?? "every kind"}: the expression ${member}`;
      if (fault !== undefined) throw new ArgumentError(`Cannot compile ${what} is wrong at ${placeOf(fault, text)}`);
      return (object: object): unknown => {
        const { value, error = "it is no boolean" } = run({ self: object as JsonObject });
        if (typeof value === "boolean" || typeof value === "string" && member === "message") return value;
        throw new TypeError(`the expression ${member} has no answer: ${error}`);
      };
    };
    const [isReady, hasFailed] = [compile("ready", ready), compile("failed", failed)];
    // On lines of its own, so that its characters have their places.
    const says = message && compile("message", message, `dyn('' + (\n${message}\n))`);
    const judge: ReadinessRules = (object) => {
      try {
        const state = hasFailed(object) ? "failed" : isReady(object) ? "ready" : "progressing";
        const reason = { ready: "Ready", failed: "Failed", progressing: "NotReady" }[state];
        const own = `${state === "failed" ? failed : ready} is ${state !== "progressing"}`;
        return { state, reason, message: says ? String(says(object)) : own };
      } catch (error) {
        return { state: "progressing", reason: "RuleFailed", message: messageOf(error) };
      }
    };
    return { name, judge };
  });
  return (object) => {
    const found = `${object.apiVersion?.split("/").at(-2) ?? ""}/${object.kind}`;
    return judges.find(({ name = found }) => name === found)?.judge(object);
  };
}

/** The character that a fault points at, or at which the variable or function begins that it names last, and why. */
function placeOf(fault: string, text: string): string {
  const [, prefix, shown = "", space = ""] = /\n(>.*? \| )(.*)\n( *)\^/.exec(fault) ?? [];
  const [, name] = /(\w+)\W*$/.exec(fault.replace(/\(.*/s, "")) ?? [];
  const named = text.search(new RegExp(`(?<![.\\w])${name}\\b|(?<=\\.)${name}\\(`));
  const line = text.lastIndexOf(shown);
  const at = prefix === undefined ? Math.max(named, 0) : line < 0 ? text.length : line + space.length - prefix.length;
  return `character ${at + 1}: ${fault.split("\n")[0]}. Correct ${JSON.stringify(text)}`;
}
