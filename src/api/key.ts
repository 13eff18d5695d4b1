/** `"namespace/name"`, or `"name"` when cluster-scoped. */
export type ObjectKey = string;

/**
 * Returns the key of an object.
 *
 * A missing name counts as empty. Namespace and name are not checked for slashes, which the server never allows.
 *
 * @example
 * ```ts
 * import { keyOf } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(keyOf({ metadata: { namespace: "shop", name: "cart-0" } }), "shop/cart-0");
 * assertEquals(keyOf({ metadata: { name: "node-1" } }), "node-1");
 * ```
 */
export function keyOf(
  object: { readonly metadata: { readonly namespace?: string; readonly name?: string } },
): ObjectKey {
  const { namespace, name = "" } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * Splits a key into namespace and name; `namespace` is absent for a cluster-scoped object.
 *
 * @throws {SyntaxError} when the key has more than two parts.
 */
export function splitKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const parts = key.split("/");
  if (parts.length === 1) return { name: parts[0] };
  if (parts.length === 2) return { namespace: parts[0], name: parts[1] };
  throw new SyntaxError(`Cannot split key "${key}": found ${parts.length} parts, expected 1 or 2`);
}
