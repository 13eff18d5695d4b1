import type { Entry } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";

type Text = string | Uint8Array;

const decoder = new TextDecoder();

/**
 * Returns `true` if two entries hold equal objects but for `metadata.resourceVersion`. The texts of unread entries are compared,
 * else the objects, which are parsed. A broken entry equals no entry.
 */
export function sameFields<T>(a: Entry<T>, b: Entry<T>): boolean {
  if (a.error !== undefined || b.error !== undefined) return false;
  const [text, other] = [textOf(a), textOf(b)];
  // mutant: other-text-skipped
  if (text !== undefined && other !== undefined) return sameText(text, a.resourceVersion, other, b.resourceVersion);
  try {
    // mutant: unchanged-object-delivered
    return sameValue(a.object, b.object);
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

function textOf(entry: object): Text | undefined {
  return (entry as { readonly text?: Text }).text;
}

/**
 * Compares texts without the first member `"resourceVersion"` of this version. If another one than that of the metadata comes
 * first, that of the metadata is compared, and differs.
 */
function sameText(a: Text, aVersion: string, b: Text, bVersion: string): boolean {
  if (a.length - aVersion.length !== b.length - bVersion.length || typeof a !== typeof b) return false;
  const [text, other] = [stringOf(a), stringOf(b)];
  const [member, otherMember] = [`"resourceVersion":"${aVersion}"`, `"resourceVersion":"${bVersion}"`];
  const at = text.indexOf(member);
  return at !== -1 && other.startsWith(otherMember, at) && text.slice(0, at) === other.slice(0, at) &&
    text.slice(at + member.length) === other.slice(at + otherMember.length);
}

function stringOf(text: Text): string {
  return typeof text === "string" ? text : decoder.decode(text);
}

/** Compares two objects. Does not recurse: an object may be nested deeper than the stack allows. */
function sameValue(a: unknown, b: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  const metadata = (a as { readonly metadata?: unknown }).metadata;
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [value, other] = pair as [Record<string, unknown>, Record<string, unknown>];
    if (Object.is(value, other)) continue;
    if (!isPlain(value) || !isPlain(other) || Array.isArray(value) !== Array.isArray(other)) return false;
    const names = Object.keys(value);
    if (names.length !== Object.keys(other).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(other, name)) return false;
      if (value !== metadata || name !== "resourceVersion") pairs.push([value[name], other[name]]);
    }
  }
  return true;
}

/** `false` for dates, maps and others that a transform may return: what differs in them is no member. Each equals itself alone. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
