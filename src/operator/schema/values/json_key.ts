/**
 * Writes values as texts by which lists find equal elements, in time that is linear in the list.
 *
 * {@linkcode jsonKey} is the entry point. Two values are compared by `equalJson`, which is faster.
 *
 * @module
 */
import type { JsonObject } from "../../../engine/api/json.ts";

/** Returns a text that two values of any depth share if and only if `equalJson` says that they are equal. */
export function jsonKey(value: unknown): string {
  const parts: string[] = [];
  for (const left = [value]; left.length > 0;) {
    const part = left.pop();
    const members = typeof part === "object" && part !== null ? part as JsonObject : undefined;
    const names = members && Object.keys(members).filter((name) => members[name] !== undefined).sort();
    parts.push(JSON.stringify(names ?? part), Array.isArray(part) ? "[]" : names === undefined ? "" : "{}");
    for (const name of names ?? []) left.push(members![name]);
  }
  return parts.join();
}
