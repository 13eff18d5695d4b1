import type { KubernetesObject, ObjectMeta } from "./object.ts";
import type { Reduced } from "./reduced.ts";
import type { Scalar } from "./written.ts";

/** The keys of a field path, as {@linkcode parseFieldPath} reads it, behind the keys `K`. */
export type PathKeys<P, K extends readonly string[] = []> = P extends "" ? K
  : P extends `.${infer R}` ? PathKeys<R, K>
  : P extends `["${infer H}"]${infer R}` ? PathKeys<R, [...K, H]>
  : P extends `[${string}` ? never
  : P extends `${infer H}.${infer R}`
    ? (H extends `${infer A}[${string}` ? BracketPathKeys<P, A, K> : PathKeys<R, [...K, H]>)
  : P extends `${infer A}[${string}` ? BracketPathKeys<P, A, K>
  : [...K, P & string];

/** The keys of a path that begins with `A` and a bracket. */
export type BracketPathKeys<P, A extends string, K extends readonly string[]> = P extends `${A}[${infer R}`
  ? PathKeys<`[${R}`, [...K, A]>
  : never;

/** The members of `T`, of its elements if it is an array; `never` if it has none. */
export type MembersOf<T> = NonNullable<T> extends infer V
  ? V extends readonly (infer E)[] ? MembersOf<E> : V extends Scalar ? never : V extends object ? V : never
  : never;

/** No value is of this type. The compiler shows `Why` where a path leads to no field. */
export interface NoField<Why extends string> {
  /** The reason. */
  readonly $noField: Why;
}

/** `P` if the keys lead to a field of `T`; else a type that names the first key that does not. */
export type CheckedPath<T, P, K> = unknown extends T ? P
  : K extends readonly [infer H extends string, ...infer R extends readonly string[]]
    ? [MembersOf<T>] extends [never] ? NoField<`${P & string} is no field: what should hold ${H} has no members`>
    : H extends keyof MembersOf<T> ? CheckedPath<MembersOf<T>[H], P, R>
    : NoField<`${P & string} is no field: there is no ${H}`>
  : P;

/**
 * The paths `P`, each of them checked to lead to a field of `T`. A path that does not is replaced by {@linkcode NoField}, in
 * which the compiler shows the key at fault.
 */
export type FieldPaths<T, P extends readonly string[]> = {
  readonly [I in keyof P]: string extends P[I] ? P[I] : CheckedPath<T, P[I], PathKeys<P[I]>>;
};

/** The rest of those key lists that begin with `K`. */
export type KeysBelow<L extends readonly string[], K> = L extends
  readonly [infer H, ...infer R extends readonly string[]] ? K extends H ? R : never
  : never;

/** The fields of `T` to which key lists lead. */
export type PickedPart<T, L extends readonly string[]> = [] extends L ? T
  : unknown extends T ? unknown
  : T extends readonly (infer E)[] ? readonly PickedPart<E, L>[]
  : T extends Scalar ? T
  : T extends object ?
      & {
        readonly [K in keyof T as string extends K ? never : K extends L[0] ? K : never]: PickedPart<
          T[K],
          KeysBelow<L, K>
        >;
      }
      & (string extends keyof T
        ? { readonly [K in UnnamedKeys<T, L> & string]?: PickedPart<T[K & keyof T], KeysBelow<L, K>> }
        : unknown)
  : T;

/** The first keys that no member of `T` names. */
export type UnnamedKeys<T, L extends readonly string[]> = Exclude<
  L[0],
  keyof { [K in keyof T as string extends K ? never : K]: never }
>;

/** `T` with every member optional, at any depth. */
export type SparsePart<T> = T extends readonly (infer E)[] ? readonly SparsePart<E>[]
  : T extends Scalar ? T
  : T extends object ? { readonly [K in keyof T]?: SparsePart<T[K]> }
  : T;

/** The fields that every projection keeps. */
export interface IdentifiedObject {
  /** Group and version. */
  readonly apiVersion?: string;
  /** The kind. */
  readonly kind?: string;
  /** The identity, the version and the owners of the object. */
  readonly metadata: Pick<
    ObjectMeta,
    | "name"
    | "namespace"
    | "uid"
    | "resourceVersion"
    | "generation"
    | "creationTimestamp"
    | "deletionTimestamp"
    | "ownerReferences"
  >;
}

/** `true` for a union of types. */
export type IsUnion<U, All = U> = true extends (U extends unknown ? [All] extends [U] ? false : true : never) ? true
  : false;

/** `true` if each of the paths is one text, so that all of them are kept: not for `string[]`, nor for one path or another. */
export type PathsAreKnown<P extends readonly string[]> = number extends P["length"] ? false
  : true extends IsUnion<P> | { readonly [I in keyof P]: IsUnion<P[I]> }[number] ? false
  : string extends P[number] ? false
  : true;

/**
 * An object of the type `T` of which only the fields at the paths `P` are kept, and those that identify it. If the paths are not
 * known when the program is compiled (an array that is no tuple, or a path that is one or another), every other member is optional.
 *
 * It cannot be written back: neither `update`, nor {@linkcode Draft} or `copyOf` take it.
 */
export type Picked<T extends KubernetesObject, P extends readonly string[]> =
  & IdentifiedObject
  & Reduced
  & (PathsAreKnown<P> extends true ? PickedPart<T, ["apiVersion"] | ["kind"] | PathKeys<P[number]>>
    : SparsePart<Omit<T, "metadata">> & { readonly metadata: Partial<T["metadata"]> });

/**
 * `T`, or {@linkcode Picked} where paths are given. The compiler explains a call that no signature of a method takes by the last
 * one, so paths are optional in that: a misspelt path or option is then at fault, and not that there are paths, or none.
 */
export type Kept<T extends KubernetesObject, P extends readonly string[]> = [P] extends [never] ? T : Picked<T, P>;
