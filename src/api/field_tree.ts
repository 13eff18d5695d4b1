import { formatFieldPath, parseFieldPath } from "./field_path.ts";

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
 * A leaf keeps its value as it is. An inner node keeps the named members of an object, and does the same with each element
 * of an array; it keeps `null`, and drops other values, which have no members. An element of an array that is neither object
 * nor array becomes `null`, so that positions stay; so does one inside of more than {@linkcode MAX_ARRAYS} arrays.
 *
 * An inner node of {@linkcode without} keeps all other members too, and values without members. Of those that it names, it
 * drops the ones that are {@linkcode isNothing}.
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
   * Returns the tree of these paths and of what a projection always keeps. A path that begins with another one adds nothing.
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

  /** The paths that lead to the leaves, sorted, without those that are always kept: equal for trees that keep the same. */
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
