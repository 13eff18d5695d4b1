import type { FieldTree } from "../api/field_tree.ts";

/**
 * Returns the fields of a value that `tree` keeps: a new object, whose leaves are those of `value`. `undefined` if nothing
 * is kept of a value without members.
 */
export function pickFields(value: unknown, tree: FieldTree): unknown {
  if (tree.isLeaf || value === null) return value;
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) return value.map((element) => pickFields(element, tree) ?? null);
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const below = tree.members.get(key);
    const kept = below === undefined ? undefined : pickFields(member, below);
    if (kept !== undefined) Object.defineProperty(picked, key, { value: kept, ...PROPERTY });
  }
  return picked;
}

/** A plain property, also under the key `__proto__`. */
const PROPERTY = { enumerable: true, configurable: true, writable: true };
