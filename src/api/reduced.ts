/**
 * Marks an object that lacks fields which the server has of it: one of a cache of named fields or of metadata, or the row of a
 * table. A write of it could remove these fields, so writes refuse it.
 *
 * The value names the fields that it has. The property is enumerable, so that a copy by spreading has it too, and is left out
 * by `JSON.stringify`.
 */
export const reduced: unique symbol = /* @__PURE__ */ Symbol.for("@kube/informer/reduced");

/** An object that may have the mark {@linkcode reduced}: its type cannot be written. */
export interface Reduced {
  /** The fields that the object has, for messages. */
  readonly [reduced]?: string;
}

/**
 * An object without the mark {@linkcode reduced}: no type of reduced objects is assignable to it. `metadata` is named because the
 * compiler demands a member in common; an alias, so that it is assignable to types with an index signature.
 */
export type Whole = { readonly [reduced]?: never; readonly metadata?: unknown };

/**
 * Refuses a value that has a reduced object in it, at any depth; with `"in arrays"` only one that is part of an array.
 *
 * @throws {TypeError} that begins with `Cannot` and the action, and names the fields and what to do instead.
 */
export function refuseReduced(action: string, value: unknown, place: "anywhere" | "in arrays" = "anywhere"): void {
  const found = findReduced(value, place === "anywhere");
  if (found === undefined) return;
  throw new TypeError(
    `Cannot ${action}: it is reduced to ${found}, and the write would remove its other fields; read it by client.get(), or send ` +
      `a merge patch or an apply of the changed fields alone`,
  );
}

function findReduced(value: unknown, counts: boolean): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const mark = (value as Reduced)[reduced];
  if (counts && mark !== undefined) return mark;
  for (const part of Object.values(value)) {
    const found = findReduced(part, counts || Array.isArray(value));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `true` for types of {@linkcode Reduced} objects. */
export type IsReduced<T> = typeof reduced extends keyof T ? true : false;
