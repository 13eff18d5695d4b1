/**
 * Field paths that an informer keeps: their tree, and the types that they produce.
 *
 * {@linkcode FieldTree} is the entry point: it holds the paths as a tree of keys. The types in this file check paths at
 * compile time. The tree reads no objects. `Projector` applies it to bytes, and `Reduction` applies it to objects.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";
import type { KubernetesObject, ObjectMeta, Reduced } from "./object.ts";
import { type Resource, resourceName } from "./resource.ts";
import { formatFieldPath, parseFieldPath } from "./selector.ts";
import type { EnumLiterals, Scalar } from "./written.ts";

/** The fields that every projection keeps. They identify an object, its version and its owners. */
const ALWAYS: readonly string[] = (
  "apiVersion kind metadata.name metadata.namespace metadata.uid metadata.resourceVersion " +
  "metadata.generation metadata.creationTimestamp metadata.deletionTimestamp metadata.ownerReferences"
).split(" ");

/** The path to an object's managed fields, which can be dropped when the other metadata is kept. */
export const MANAGED_FIELDS = "metadata.managedFields";

/** Returns `true` if a path leads to the managed fields, or to a part of them. */
export function namesManagedFields(paths: readonly string[]): boolean {
  return paths.some((path) => parseFieldPath(path).slice(0, 2).join(".") === MANAGED_FIELDS);
}

/** The deepest nesting of arrays that a path passes through. */
export const MAX_ARRAYS = 100;

/**
 * The fields that a projection keeps, as a tree of keys.
 *
 * A leaf keeps its value unchanged. An inner node keeps only the named members, and treats each array element the same
 * way. It keeps `null`, and drops other values that have no members. An array element that is neither an object nor an
 * array becomes `null`, so that positions stay the same. An element inside more than {@linkcode MAX_ARRAYS} arrays also
 * becomes `null`.
 *
 * {@linkcode without} returns inner nodes that also keep all unnamed members, and values without members. They drop the
 * named members that are {@linkcode isNothing}.
 */
export class FieldTree {
  /** The members with their own subtree. Empty for a leaf. */
  readonly members: ReadonlyMap<string, FieldTree>;
  /** `true` if all other members are kept unchanged. */
  readonly keepsOthers: boolean;

  private constructor(members: ReadonlyMap<string, FieldTree>, keepsOthers = false) {
    this.members = members;
    this.keepsOthers = keepsOthers;
  }

  /** `true` if the value is kept unchanged. */
  get isLeaf(): boolean {
    return this.members.size === 0 && this.keepsOthers;
  }

  /** `true` if the value is dropped. */
  get isNothing(): boolean {
    return this.members.size === 0 && !this.keepsOthers;
  }

  /** Returns the subtree for the member with this key. */
  below(key: string): FieldTree {
    return this.members.get(key) ?? (this.keepsOthers ? FieldTree.leaf : FieldTree.nothing);
  }

  /**
   * Creates a tree from paths, and adds the fields that a projection always keeps. A path below another path adds
   * nothing.
   *
   * @throws {SyntaxError} if a path does not parse.
   */
  static of(paths: readonly string[]): FieldTree {
    return FieldTree.#of([...ALWAYS, ...paths].map(parseFieldPath));
  }

  /**
   * Returns a tree that also drops the fields at these paths. Returns this tree if it keeps none of them.
   *
   * @throws {SyntaxError} if a path does not parse.
   */
  without(paths: readonly string[]): FieldTree {
    return paths.map(parseFieldPath).reduce<FieldTree>((tree, keys) => tree.#without(keys), this);
  }

  /**
   * The sorted paths to the leaves, without the fields that are always kept. Trees that keep the same fields have equal
   * paths.
   */
  get paths(): readonly string[] {
    return this.#leaves([]).map(formatFieldPath).filter((path) => !ALWAYS.includes(path)).sort();
  }

  /** Returns `true` if the value at the end of these keys is kept unchanged, wherever it is present. */
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

/** The keys in a field path, as {@linkcode parseFieldPath} reads it. They follow the keys `K`. */
export type PathKeys<P, K extends readonly string[] = []> = P extends "" ? K
  : P extends `.${infer R}` ? PathKeys<R, K>
  : P extends `["${infer H}"]${infer R}` ? PathKeys<R, [...K, H]>
  : P extends `[${string}` ? never
  : P extends `${infer H}.${infer R}`
    ? (H extends `${infer A}[${string}` ? BracketPathKeys<P, A, K> : PathKeys<R, [...K, H]>)
  : P extends `${infer A}[${string}` ? BracketPathKeys<P, A, K>
  : [...K, P & string];

/** The keys in a path that begins with `A` and a bracket. */
export type BracketPathKeys<P, A extends string, K extends readonly string[]> = P extends `${A}[${infer R}`
  ? PathKeys<`[${R}`, [...K, A]>
  : never;

/** The members of `T`, or of its elements if `T` is an array. `never` if there are none. */
export type MembersOf<T> = NonNullable<T> extends infer V
  ? V extends readonly (infer E)[] ? MembersOf<E> : V extends Scalar ? never : V extends object ? V : never
  : never;

/**
 * An impossible type. The compiler shows `Why` if a path leads to no field, or if the field cannot have the given
 * value.
 */
export interface NoField<Why extends string> {
  /** The reason. */
  readonly $noField: Why;
}

/** `P` if the keys lead to a field of `T`. Otherwise a {@linkcode NoField} type that names the first wrong key. */
export type CheckedPath<T, P, K, V = never> = unknown extends T ? P
  : K extends readonly [infer H extends string, ...infer R extends readonly string[]]
    ? [MembersOf<T>] extends [never] ? NoField<`${P & string} is no field: what should hold ${H} has no members`>
    : H extends keyof MembersOf<T> ? CheckedPath<MembersOf<T>[H], P, R, V>
    : NoField<`${P & string} is no field: there is no ${H}`>
  : [UnknownValue<T, V>] extends [never] ? P
  : NoField<`${P & string} is never ${UnknownValue<T, V>}`>;

/** The literals in `V` that the enum `T`, or an enum in an array, does not have. `never` for other types. */
export type UnknownValue<T, V> = NonNullable<T> extends readonly (infer E)[] ? UnknownValue<E, V>
  : [EnumLiterals<T>] extends [never] ? never
  : Exclude<EnumLiterals<V>, EnumLiterals<T>>;

/**
 * Checks that each path in `P` leads to a field of `T`. A wrong path becomes {@linkcode NoField}, in which the compiler
 * shows the wrong key.
 */
export type FieldPaths<T, P extends readonly string[]> = {
  readonly [I in keyof P]: string extends P[I] ? P[I] : CheckedPath<T, P[I], PathKeys<P[I]>>;
};

/** The remaining keys in each key list that begins with `K`. */
export type KeysBelow<L extends readonly string[], K> = L extends
  readonly [infer H, ...infer R extends readonly string[]] ? K extends H ? R : never
  : never;

/** The part of `T` that key lists lead to. */
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

/** The first keys that are not named members of `T`. */
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
  /** The object's identity, version and owners. */
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

/** `true` for a union type. */
export type IsUnion<U, All = U> = true extends (U extends unknown ? [All] extends [U] ? false : true : never) ? true
  : false;

/**
 * `true` if the compiler knows each path, so that all paths are kept. `false` for `string[]`, and for a path with
 * several possible texts.
 */
export type PathsAreKnown<P extends readonly string[]> = number extends P["length"] ? false
  : true extends IsUnion<P> | { readonly [I in keyof P]: IsUnion<P[I]> }[number] ? false
  : string extends P[number] ? false
  : true;

/**
 * An object reduced to the fields at the paths `P`, plus the fields that identify it. {@linkcode onlyFields} produces
 * it.
 *
 * If the compiler does not know the paths (for example `string[]`, or a path with several possible texts), every other
 * member is optional. You cannot write the object back: `update`, {@linkcode ObjectDraft} and `copyOf` refuse it.
 */
export type Picked<T extends KubernetesObject, P extends readonly string[]> =
  & IdentifiedObject
  & { readonly metadata: Pick<T["metadata"], "namespace"> }
  & Reduced
  & (PathsAreKnown<P> extends true ? PickedPart<T, ["apiVersion"] | ["kind"] | PathKeys<P[number]>>
    : SparsePart<Omit<T, "metadata">> & { readonly metadata: Partial<T["metadata"]> });

/**
 * Returns a resource whose objects contain only the fields at these paths, plus the fields that identify them. Use it
 * to cache large objects: the other fields are skipped as bytes and never parsed, so an informer needs a fraction of
 * the memory.
 *
 * - A path passes through arrays: `"spec.containers.image"` keeps each container's image.
 * - Write a key in brackets if it has characters other than letters, digits, `_`, `-` and `$`:
 *   `metadata.annotations["example.com/owner"]`.
 * - These fields are always kept: apiVersion, kind, and from the metadata name, namespace, uid, resourceVersion,
 *   generation, creationTimestamp, deletionTimestamp and ownerReferences.
 * - The compiler checks that each path leads to a field of `T`. With paths known only at run time (`string[]`), all
 *   other members are optional.
 * - You cannot write the objects back, see {@linkcode Picked}.
 *
 * @throws {SyntaxError} if a path does not parse.
 * @throws {TypeError} if `fields` is not an array of strings, or the resource is already reduced to metadata or to
 * tables.
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
    throw new ArgumentError(
      `Cannot reduce "${resourceName(resource)}" to fields: the resource has the representation "${representation}". ` +
        `Use the resource itself`,
    );
  }
  const paths: unknown = fields;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    throw new ArgumentError(
      `Cannot reduce "${resourceName(resource)}" to fields: ${JSON.stringify(fields)} is not an array of paths`,
    );
  }
  const kept = FieldTree.of(paths).paths;
  // Metadata is kept without its managed fields where no path names them.
  const isAbsorbed = namesManagedFields(paths) && !namesManagedFields(kept);
  return Object.freeze({ ...rest, fields: Object.freeze(isAbsorbed ? [...kept, MANAGED_FIELDS].sort() : kept) });
}
