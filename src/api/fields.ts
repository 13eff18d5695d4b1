/**
 * The fields that an informer keeps, as paths: which ones there are, and what type they leave.
 *
 * {@linkcode FieldTree} is the entry point: it has the paths as a tree of keys. The types beside it check paths at
 * compile time. The tree reads no objects; `Projector` and `Reduction` apply it to bytes and to objects.
 *
 * @module
 */
import type { KubernetesObject, ObjectMeta, Reduced } from "./object.ts";
import { type Resource, resourceName } from "./resource.ts";
import { formatFieldPath, parseFieldPath } from "./selector.ts";
import type { EnumLiterals, Scalar } from "./written.ts";

/** The fields that a projection always keeps: those that identify an object, its version and its owners. */
const ALWAYS: readonly string[] = [
  "apiVersion",
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.creationTimestamp",
  "metadata.deletionTimestamp",
  "metadata.ownerReferences",
];

/** The managed fields of an object, which may be left out of kept metadata. */
export const MANAGED_FIELDS = "metadata.managedFields";

/** Returns `true` if one of the paths names the managed fields, or a part of them. */
export function namesManagedFields(paths: readonly string[]): boolean {
  return paths.some((path) => parseFieldPath(path).slice(0, 2).join(".") === MANAGED_FIELDS);
}

/** The largest number of arrays in each other through which a path passes. */
export const MAX_ARRAYS = 100;

/**
 * The fields that a projection keeps of an object, as a tree of keys.
 *
 * A leaf keeps its value as it is. An inner node keeps the named members of an object, and does the same with each
 * element of an array; it keeps `null`, and drops other values, which have no members. An element of an array that is
 * neither object nor array becomes `null`, so that positions stay; so does one inside of more than
 * {@linkcode MAX_ARRAYS} arrays.
 *
 * An inner node of {@linkcode without} keeps all other members too, and values without members. Of those that it names,
 * it drops the ones that are {@linkcode isNothing}.
 */
export class FieldTree {
  /** The members that are not treated as the others are; empty for a leaf. */
  readonly members: ReadonlyMap<string, FieldTree>;
  /** True if all other members are kept as they are. */
  readonly keepsOthers: boolean;

  private constructor(members: ReadonlyMap<string, FieldTree>, keepsOthers = false) {
    this.members = members;
    this.keepsOthers = keepsOthers;
  }

  /** True if the value is kept as it is. */
  get isLeaf(): boolean {
    return this.members.size === 0 && this.keepsOthers;
  }

  /** True if the value is dropped. */
  get isNothing(): boolean {
    return this.members.size === 0 && !this.keepsOthers;
  }

  /** The tree of the member with this key. */
  below(key: string): FieldTree {
    return this.members.get(key) ?? (this.keepsOthers ? FieldTree.leaf : FieldTree.nothing);
  }

  /**
   * Returns the tree of these paths and of what a projection always keeps. A path that begins with another one adds
   * nothing.
   *
   * @throws {SyntaxError} when one of them is no path.
   */
  static of(paths: readonly string[]): FieldTree {
    return FieldTree.#of([...ALWAYS, ...paths].map(parseFieldPath));
  }

  /**
   * Returns the tree that keeps the same but the fields at these paths; this one if it keeps none of them.
   *
   * @throws {SyntaxError} when one of them is no path.
   */
  without(paths: readonly string[]): FieldTree {
    return paths.map(parseFieldPath).reduce<FieldTree>((tree, keys) => tree.#without(keys), this);
  }

  /**
   * The paths that lead to the leaves, sorted, without those that are always kept: equal for trees that keep the same.
   */
  get paths(): readonly string[] {
    return this.#leaves([]).map(formatFieldPath).filter((path) => !ALWAYS.includes(path)).sort();
  }

  /** Returns `true` if the value at the end of these keys is kept as it is, wherever it is present. */
  keeps(keys: readonly string[]): boolean {
    if (this.isLeaf || keys.length === 0) return this.isLeaf;
    return this.below(keys[0]).keeps(keys.slice(1));
  }

  #without([key, ...rest]: readonly string[]): FieldTree {
    const below = this.below(key);
    const left = rest.length === 0 ? FieldTree.nothing : below.#without(rest);
    if (left === below) return this;
    const members = new Map(this.members).set(key, left);
    if (left.isNothing && !this.keepsOthers) members.delete(key);
    return new FieldTree(members, this.keepsOthers);
  }

  #leaves(keys: readonly string[]): readonly (readonly string[])[] {
    return this.isLeaf ? [keys] : [...this.members].flatMap(([key, below]) => below.#leaves([...keys, key]));
  }

  static #of(paths: readonly (readonly string[])[]): FieldTree {
    const members = new Map<string, (readonly string[])[]>();
    for (const [key, ...rest] of paths) {
      const group = members.get(key);
      if (group === undefined) members.set(key, [rest]);
      else group.push(rest);
    }
    return new FieldTree(
      new Map(
        [...members].map((
          [key, group],
        ) => [key, group.some((rest) => rest.length === 0) ? FieldTree.leaf : FieldTree.#of(group)]),
      ),
    );
  }

  /** A tree that keeps everything. */
  static readonly leaf: FieldTree = new FieldTree(new Map(), true);

  /** A tree that keeps nothing. */
  static readonly nothing: FieldTree = new FieldTree(new Map());
}

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

/** No value is of this type. The compiler shows `Why` where a path leads to no field, or to one without a value. */
export interface NoField<Why extends string> {
  /** The reason. */
  readonly $noField: Why;
}

/** `P` if the keys lead to a field of `T`; else a type that names the first key that does not. */
export type CheckedPath<T, P, K, V = never> = unknown extends T ? P
  : K extends readonly [infer H extends string, ...infer R extends readonly string[]]
    ? [MembersOf<T>] extends [never] ? NoField<`${P & string} is no field: what should hold ${H} has no members`>
    : H extends keyof MembersOf<T> ? CheckedPath<MembersOf<T>[H], P, R, V>
    : NoField<`${P & string} is no field: there is no ${H}`>
  : [UnknownValue<T, V>] extends [never] ? P
  : NoField<`${P & string} is never ${UnknownValue<T, V>}`>;

/** The literals of `V` that an enum `T`, or an enum in an array, does not have; `never` for other types. */
export type UnknownValue<T, V> = NonNullable<T> extends readonly (infer E)[] ? UnknownValue<E, V>
  : [EnumLiterals<T>] extends [never] ? never
  : Exclude<EnumLiterals<V>, EnumLiterals<T>>;

/**
 * The paths `P`, each of them checked to lead to a field of `T`. A path that does not is replaced by
 * {@linkcode NoField}, in which the compiler shows the key at fault.
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

/**
 * `true` if each of the paths is one text, so that all of them are kept: not for `string[]`, nor for one path or
 * another.
 */
export type PathsAreKnown<P extends readonly string[]> = number extends P["length"] ? false
  : true extends IsUnion<P> | { readonly [I in keyof P]: IsUnion<P[I]> }[number] ? false
  : string extends P[number] ? false
  : true;

/**
 * An object of the type `T` of which only the fields at the paths `P` are kept, and those that identify it. If the
 * paths are not known when the program is compiled (an array that is no tuple, or a path that is one or another), every
 * other member is optional.
 *
 * It cannot be written back: neither `update`, nor {@linkcode ObjectDraft} or `copyOf` take it.
 */
export type Picked<T extends KubernetesObject, P extends readonly string[]> =
  & IdentifiedObject
  & { readonly metadata: Pick<T["metadata"], "namespace"> }
  & Reduced
  & (PathsAreKnown<P> extends true ? PickedPart<T, ["apiVersion"] | ["kind"] | PathKeys<P[number]>>
    : SparsePart<Omit<T, "metadata">> & { readonly metadata: Partial<T["metadata"]> });

/**
 * Returns the same resource with objects reduced to the fields at these paths, and to those that identify them. The
 * rest is skipped as the bytes arrive, and never parsed, so an informer of it needs a fraction of the memory.
 *
 * - A path passes through arrays: `"spec.containers.image"` keeps the image of each container. A key with other
 *   characters than letters, digits, `_`, `-` and `$` is written in brackets:
 *   `metadata.annotations["example.com/owner"]`.
 * - Always kept: apiVersion, kind, and of the metadata name, namespace, uid, resourceVersion, generation,
 *   creationTimestamp, deletionTimestamp and ownerReferences.
 * - The compiler checks that each path leads to a field of `T`. Paths that are not known until run time (`string[]`)
 *   give a type whose members are optional.
 * - The objects cannot be written back: see {@linkcode Picked}.
 *
 * @throws {SyntaxError} when one of them is no path.
 * @throws {TypeError} when `fields` is not an array of strings, or the resource is of metadata or of tables.
 *
 * @example
 * ```ts
 * import { Client, onlyFields, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(onlyFields(Pod, ["spec.nodeName", "status.phase"])));
 * pods.run();
 * await pods.waitForCacheSync();
 * assertEquals(pods.lister.get("shop/cart-0")?.spec.nodeName, "worker-1");
 * ```
 */
export function onlyFields<T extends KubernetesObject, const P extends readonly string[]>(
  resource: Resource<T>,
  fields: P & FieldPaths<T, P>,
): Resource<Picked<T, P>> {
  const { representation = "object", $type: _type, ...rest } = resource;
  if (representation !== "object") {
    throw new TypeError(
      `Cannot reduce "${resourceName(resource)}" to fields: the resource has the representation "${representation}". ` +
        `Use the resource itself`,
    );
  }
  const paths: unknown = fields;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    throw new TypeError(
      `Cannot reduce "${resourceName(resource)}" to fields: ${JSON.stringify(fields)} is not an array of paths`,
    );
  }
  const kept = FieldTree.of(paths).paths;
  // Metadata is kept without its managed fields where no path names them.
  const isAbsorbed = namesManagedFields(paths) && !namesManagedFields(kept);
  return Object.freeze({ ...rest, fields: Object.freeze(isAbsorbed ? [...kept, MANAGED_FIELDS].sort() : kept) });
}
