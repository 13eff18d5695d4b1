/**
 * The difference of two JSON values as a JSON patch (RFC 6902).
 *
 * {@linkcode patchOf} is the entry point. It writes `add`, `remove` and `replace`, and never `test`, `move` or `copy`.
 * It applies no patches.
 *
 * @module
 */
import { equalJson, isList, isObject, type Json, type JsonObject } from "../schema/values/json.ts";

/** An operation of a JSON patch. */
export interface PatchOperation {
  /** What it does with the value at `path`. */
  readonly op: "add" | "remove" | "replace";
  /** A JSON pointer (RFC 6901): `"/metadata/labels/example.com~1app"`. */
  readonly path: string;
  /** The value that is there afterwards, unless it is removed. */
  readonly value?: Json;
}

type Value = Json | undefined;

/** A part of the comparison: an operation that was found, or two values to compare. */
type Step = PatchOperation | { readonly before: Value; readonly after: Value; readonly path: string };

/**
 * Returns the operations that change `before` into `after`, in order. Undefined members count as absent.
 *
 * Lists keep what they have in common at both ends. The elements between are changed in place, and the rest of them is
 * removed or added.
 */
export function patchOf(before: Value, after: Value): PatchOperation[] {
  const patch: PatchOperation[] = [];
  const left: Step[] = [{ before, after, path: "" }];
  for (let step; (step = left.pop()) !== undefined;) {
    if ("op" in step) patch.push(step);
    else {
      const steps = stepsOf(step.before, step.after, step.path);
      for (let at = steps.length - 1; at >= 0; at--) left.push(steps[at]);
    }
  }
  return patch;
}

function stepsOf(before: Value, after: Value, path: string): Step[] {
  if (isObject(before) && isObject(after)) return memberSteps(before, after, path);
  if (isList(before) && isList(after)) return itemSteps(before, after, path);
  return before === after ? [] : [{ op: "replace", path, value: after ?? null }];
}

function memberSteps(before: JsonObject, after: JsonObject, path: string): Step[] {
  const steps: Step[] = [];
  for (const [key, old] of Object.entries(before)) {
    if (old === undefined) continue;
    const value = Object.hasOwn(after, key) ? after[key] : undefined;
    if (value === undefined) steps.push({ op: "remove", path: pathIn(path, key) });
    else if (value !== old) steps.push({ before: old, after: value, path: pathIn(path, key) });
  }
  for (const [key, value] of Object.entries(after)) {
    const isNew = !Object.hasOwn(before, key) || before[key] === undefined;
    if (isNew && value !== undefined) steps.push({ op: "add", path: pathIn(path, key), value });
  }
  return steps;
}

function itemSteps(before: readonly Json[], after: readonly Json[], path: string): Step[] {
  const steps: Step[] = [];
  let [start, end] = [0, 0];
  // Of lists of one length, each element is compared with the one at its place anyway.
  const shorter = before.length === after.length ? 0 : Math.min(before.length, after.length);
  while (start < shorter && equalJson(before[start], after[start])) start++;
  while (end < shorter - start && equalJson(before.at(-1 - end), after.at(-1 - end))) end++;
  const [from, to] = [before.length - end, after.length - end];
  for (let at = start; at < Math.min(from, to); at++) {
    steps.push({ before: before[at], after: after[at], path: `${path}/${at}` });
  }
  for (let at = from - 1; at >= to; at--) steps.push({ op: "remove", path: `${path}/${at}` });
  for (let at = from; at < to; at++) steps.push({ op: "add", path: `${path}/${at}`, value: after[at] ?? null });
  return steps;
}

function pathIn(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
