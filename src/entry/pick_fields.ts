import { type FieldTree, MAX_ARRAYS } from "../api/field_tree.ts";

/**
 * Returns the fields of a value that `tree` keeps: a new object, whose leaves are those of `value`. `undefined` if nothing
 * is kept of a value without members.
 */
export function pickFields(value: unknown, tree: FieldTree): unknown {
  return pick(value, tree, 0);
}

function pick(value: unknown, tree: FieldTree, arrays: number): unknown {
  if (tree.isLeaf || value === null) return value;
  if (typeof value !== "object") return tree.keepsOthers ? value : undefined;
  if (Array.isArray(value)) {
    return arrays === MAX_ARRAYS ? undefined : value.map((element) => pick(element, tree, arrays + 1) ?? null);
  }
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const below = tree.below(key);
    const kept = below.isNothing ? undefined : pick(member, below, 0);
    if (kept !== undefined) Object.defineProperty(picked, key, { value: kept, ...PROPERTY });
  }
  return picked;
}

/** A plain property, also under the key `__proto__`. */
const PROPERTY = { enumerable: true, configurable: true, writable: true };
