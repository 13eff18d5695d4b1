/**
 * The difference of two JSON values as a JSON patch (RFC 6902).
 *
 * {@linkcode patchOf} is the entry point. It writes `add`, `remove` and `replace`, and never `test`, `move` or `copy`.
 * It applies no patches.
 *
 * @module
 */
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../engine/api/json.ts";

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

/** At this depth, a value that differs is replaced as a whole: objects may be nested deeper than a stack allows. */
const MAX_DEPTH = 100;
/** The depth of lists in which equal elements are compared first. */
const MAX_LISTS = 10;

/**
 * Returns the operations that change `before` into `after`, in order. Undefined members count as absent.
 *
 * Lists keep what they have in common at both ends. The elements between are changed in place, and the rest of them is
 * removed or added.
 */
export function patchOf(before: Value, after: Value, path = "", patch: PatchOperation[] = [], depth = 0): typeof patch {
  const isShallow = depth < MAX_DEPTH;
  if (isShallow && isObject(before) && isObject(after)) patchMembers(before, after, path, patch, depth);
  else if (isShallow && isList(before) && isList(after)) patchItems(before, after, path, patch, depth);
  else if (!equalJson(before, after)) patch.push({ op: "replace", path, value: after ?? null });
  return patch;
}

type Patcher<T> = (before: T, after: T, path: string, patch: PatchOperation[], depth: number) => void;

const patchMembers: Patcher<JsonObject> = (before, after, path, patch, depth) => {
  for (const key of Object.keys(before)) {
    const old = before[key];
    const value = Object.hasOwn(after, key) ? after[key] : undefined;
    if (old === undefined || old === value) continue;
    if (value === undefined) patch.push({ op: "remove", path: pathIn(path, key) });
    else patchOf(old, value, pathIn(path, key), patch, depth + 1);
  }
  for (const key of Object.keys(after)) {
    const value = after[key];
    const isNew = !Object.hasOwn(before, key) || before[key] === undefined;
    if (isNew && value !== undefined) patch.push({ op: "add", path: pathIn(path, key), value });
  }
};

const patchItems: Patcher<readonly Json[]> = (before, after, path, patch, depth) => {
  // To compare equal elements first is faster, but costs the same again in each list around them.
  const shorter = depth > MAX_LISTS && before.length === after.length ? 0 : Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equalJson(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && equalJson(before.at(-1 - end), after.at(-1 - end))) end++;
  const [from, to] = [before.length - end, after.length - end];
  for (let at = start; at < Math.min(from, to); at++) patchOf(before[at], after[at], `${path}/${at}`, patch, depth + 1);
  for (let at = from - 1; at >= to; at--) patch.push({ op: "remove", path: `${path}/${at}` });
  for (let at = from; at < to; at++) patch.push({ op: "add", path: `${path}/${at}`, value: after[at] ?? null });
};

function pathIn(path: string, key: string): string {
  return `${path}/${/[~/]/.test(key) ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key}`;
}
