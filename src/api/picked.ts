import type { KubernetesObject, ObjectMeta } from "./object.ts";
import type { Reduced } from "./reduced.ts";

/** The keys of a field path, as {@linkcode parseFieldPath} reads it, behind the keys `K`. */
type Keys<P, K extends readonly string[] = []> = P extends "" ? K
  : P extends `.${infer R}` ? Keys<R, K>
  : P extends `["${infer H}"]${infer R}` ? Keys<R, [...K, H]>
  : P extends `[${string}` ? never
  : P extends `${infer H}.${infer R}` ? (H extends `${infer A}[${string}` ? Bracket<P, A, K> : Keys<R, [...K, H]>)
  : P extends `${infer A}[${string}` ? Bracket<P, A, K>
  : [...K, P & string];

/** The keys of a path that begins with `A` and a bracket. */
type Bracket<P, A extends string, K extends readonly string[]> = P extends `${A}[${infer R}` ? Keys<`[${R}`, [...K, A]>
  : never;

/** The members of `T`, of its elements if it is an array; `never` if it has none. */
type Members<T> = NonNullable<T> extends infer V
  ? V extends readonly (infer E)[] ? Members<E> : V extends object ? V : never
  : never;

/** `P` if the keys lead to a field of `T`; else a text that names the first key that does not. */
type Checked<T, P, K> = unknown extends T ? P
  : K extends readonly [infer H extends string, ...infer R extends readonly string[]]
    ? [Members<T>] extends [never] ? `"${P & string}" is no field: what should hold "${H}" has no members`
    : H extends keyof Members<T> ? Checked<Members<T>[H], P, R>
    : `"${P & string}" is no field: there is no "${H}"`
  : P;

/**
 * The paths `P`, each of them checked to lead to a field of `T`. A path that does not is replaced by a text that names the
 * key at fault, which the compiler shows.
 */
export type FieldPaths<T, P extends readonly string[]> = {
  readonly [I in keyof P]: string extends P[I] ? P[I] : Checked<T, P[I], Keys<P[I]>>;
};

/** The rest of those key lists that begin with `K`. */
type Below<L extends readonly string[], K> = L extends readonly [infer H, ...infer R extends readonly string[]]
  ? K extends H ? R : never
  : never;

/** The fields of `T` to which key lists lead. */
type PickKeys<T, L extends readonly string[]> = [] extends L ? T
  : unknown extends T ? unknown
  : T extends readonly (infer E)[] ? readonly PickKeys<E, L>[]
  : T extends object ?
      & {
        readonly [K in keyof T as string extends K ? never : K extends L[0] ? K : never]: PickKeys<T[K], Below<L, K>>;
      }
      & (string extends keyof T ? { readonly [K in NewKeys<T, L> & string]?: PickKeys<T[K & keyof T], Below<L, K>> }
        : unknown)
  : T;

/** The first keys that no member of `T` names. */
type NewKeys<T, L extends readonly string[]> = Exclude<
  L[0],
  keyof { [K in keyof T as string extends K ? never : K]: never }
>;

/** `T` with every member optional, at any depth. */
type Sparse<T> = T extends readonly (infer E)[] ? readonly Sparse<E>[]
  : T extends object ? { readonly [K in keyof T]?: Sparse<T[K]> }
  : T;

/** The fields that every projection keeps. */
interface Identified {
  readonly apiVersion?: string;
  readonly kind?: string;
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

/** The key lists of paths, and of the members whose type a kind narrows. */
type KeyLists<P extends readonly string[]> =
  | ["apiVersion"]
  | ["kind"]
  | (P[number] extends infer S ? Keys<S & string> : never);

/**
 * An object of the type `T` of which only the fields at the paths `P` are kept, and those that identify it. If the paths are not
 * known when the program is compiled, every other member is optional.
 *
 * It cannot be written back: neither `update`, nor {@linkcode Draft} or `copyOf` take it.
 */
export type Picked<T extends KubernetesObject, P extends readonly string[]> =
  & Identified
  & Reduced
  & (string extends P[number] ? Sparse<Omit<T, "metadata">> & { readonly metadata: Partial<T["metadata"]> }
    : PickKeys<T, KeyLists<P>>);
