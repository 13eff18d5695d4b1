import { refuseReduced, type Whole } from "./reduced.ts";
import type { EnumLiterals, Scalar, WrittenScalar } from "./written.ts";

/**
 * A value that can be changed: `T` without `readonly`, at any depth, and with enums closed. `Enums` is computed from `T`;
 * leave it out.
 *
 * `Mutable<Pod>` is what `update` takes, and can be read as a `Pod`.
 */
export type Mutable<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? WrittenScalar<T, Enums>
  : T extends readonly (infer Item)[] ? Mutable<Item>[]
  : { -readonly [Name in keyof T]: Mutable<T[Name]> };

/**
 * Returns a deep copy of an object or of a part of it, which can be changed: objects of a cache are its own.
 *
 * @throws {TypeError} when it has a part that is {@linkcode reduced}, which cannot be written; `structuredClone` copies it.
 *
 * @example
 * ```ts
 * import { copyOf } from "@kube/informer";
 * import { pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const cart = copyOf(pod({ name: "cart-0" }));
 * cart.metadata.labels = { app: "cart" };
 * cart.spec.containers[0].image = "registry.example.com/cart:2";
 * assertEquals(cart.metadata.name, "cart-0");
 * ```
 */
export function copyOf<T>(value: T & (Whole | null | undefined)): Mutable<T> {
  refuseReduced("copy an object for a write", value);
  return structuredClone(value) as Mutable<T>;
}
