import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import { parseFieldPath } from "../../api/field_path.ts";
import { nextTurn } from "../../async/next_turn.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** So many entries are looked at in one turn: less than 1 ms. */
const TURN = 1_000;

/** Reported once by an informer of a kind found by discovery, when it has synced and no object has some of the named fields. */
export class UnknownFieldsError extends InformerError {
  /** `"UnknownFieldsError"`. */
  override readonly name = "UnknownFieldsError";
  /** The paths that lead to a value in no object. */
  readonly paths: readonly string[];

  /** Names the resource and the paths. */
  constructor(resource: string, paths: readonly string[]) {
    super(
      `No cached object of "${resource}" has ${
        paths.map((path) => JSON.stringify(path)).join(" or ")
      }: look for a mistake in ` +
        `the paths of fields, or ignore this error`,
    );
    this.paths = paths;
  }
}

/** Returns the paths that lead to a value in none of the entries; none without entries. It parses few entries, in short turns. */
export async function unknownFields(entries: Iterable<Entry<unknown>>, paths: readonly string[]): Promise<string[]> {
  const left = new Map(paths.map((path) => [path, parseFieldPath(path)]));
  let looked = 0;
  for (const entry of entries) {
    if (++looked % TURN === 0) await nextTurn();
    for (const [path, keys] of left) if (mayHave(entry, keys) && hasAt(objectOf(entry), keys)) left.delete(path);
    if (left.size === 0) break;
  }
  return looked === 0 ? [] : [...left.keys()];
}

/** The text of an unread entry that does not have the last key has no such field: keys with escapes are parsed at once. */
function mayHave(entry: Entry<unknown>, keys: readonly string[]): boolean {
  const { text } = entry as { readonly text?: unknown };
  return typeof text !== "string" || text.includes(JSON.stringify(keys[keys.length - 1]));
}

function objectOf(entry: Entry<unknown>): unknown {
  try {
    return entry.object;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function hasAt(value: unknown, keys: readonly string[]): boolean {
  if (keys.length === 0) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((element) => hasAt(element, keys));
  return Object.hasOwn(value, keys[0]) && hasAt((value as Record<string, unknown>)[keys[0]], keys.slice(1));
}
