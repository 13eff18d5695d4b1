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

/**
 * Returns the operations that change `before` into `after`, in order. Undefined members count as absent.
 *
 * Lists keep what they have in common at both ends. The elements between are changed in place, and the rest of them is
 * removed or added.
 */
export function patchOf(before: Value, after: Value, path = "", patch: PatchOperation[] = []): PatchOperation[] {
  if (isObject(before) && isObject(after)) patchMembers(before, after, path, patch);
  else if (isList(before) && isList(after)) patchItems(before, after, path, patch);
  else if (before !== after) patch.push({ op: "replace", path, value: after ?? null });
  return patch;
}

function patchMembers(before: JsonObject, after: JsonObject, path: string, patch: PatchOperation[]): void {
  for (const [key, old] of Object.entries(before)) {
    if (old === undefined) continue;
    const to = pathIn(path, key);
    const value = Object.hasOwn(after, key) ? after[key] : undefined;
    if (value === undefined) patch.push({ op: "remove", path: to });
    else patchOf(old, value, to, patch);
  }
  for (const [key, value] of Object.entries(after)) {
    const isNew = !Object.hasOwn(before, key) || before[key] === undefined;
    if (isNew && value !== undefined) patch.push({ op: "add", path: pathIn(path, key), value });
  }
}

function patchItems(before: readonly Json[], after: readonly Json[], path: string, patch: PatchOperation[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equalJson(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && equalJson(before.at(-1 - end), after.at(-1 - end))) end++;
  const [from, to] = [before.length - end, after.length - end];
  for (let at = start; at < Math.min(from, to); at++) patchOf(before[at], after[at], `${path}/${at}`, patch);
  for (let at = from - 1; at >= to; at--) patch.push({ op: "remove", path: `${path}/${at}` });
  for (let at = from; at < to; at++) patch.push({ op: "add", path: `${path}/${at}`, value: after[at] ?? null });
}

function pathIn(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
