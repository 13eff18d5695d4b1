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

/** The largest number of arrays in each other through which a path passes. */
export const MAX_ARRAYS = 100;

/**
 * The fields that a projection keeps of an object, as a tree of keys.
 *
 * A leaf keeps its value as it is. An inner node keeps the named members of an object, and does the same with each element
 * of an array; it keeps `null`, and drops other values, which have no members. An element of an array that is neither object
 * nor array becomes `null`, so that positions stay; so does one inside of more than {@linkcode MAX_ARRAYS} arrays.
 */
export class FieldTree {
  /** The kept members; empty for a leaf. */
  readonly members: ReadonlyMap<string, FieldTree>;

  private constructor(members: ReadonlyMap<string, FieldTree>) {
    this.members = members;
  }

  /** True if the value is kept as it is. */
  get isLeaf(): boolean {
    return this.members.size === 0;
  }

  /**
   * Returns the tree of these paths and of what a projection always keeps. A path that begins with another one adds nothing.
   *
   * @throws {SyntaxError} when one of them is no path.
   */
  static of(paths: readonly string[]): FieldTree {
    return FieldTree.#of([...ALWAYS, ...paths].map(parseFieldPath));
  }

  /** Returns the tree of these paths alone. @throws {SyntaxError} when one of them is no path. */
  static only(paths: readonly string[]): FieldTree {
    return FieldTree.#of(paths.map(parseFieldPath));
  }

  /** The paths that lead to the leaves, sorted, without those that are always kept: equal for trees that keep the same. */
  get paths(): readonly string[] {
    return this.#leaves([]).map(formatFieldPath).filter((path) => !ALWAYS.includes(path)).sort();
  }

  /** Returns `true` if the value at the end of these keys is kept as it is, wherever it is present. */
  keeps(keys: readonly string[]): boolean {
    if (this.isLeaf || keys.length === 0) return this.isLeaf;
    return this.members.get(keys[0])?.keeps(keys.slice(1)) ?? false;
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
        ) => [key, group.some((rest) => rest.length === 0) ? LEAF : FieldTree.#of(group)]),
      ),
    );
  }

  /** A tree that keeps everything. */
  static readonly leaf: FieldTree = new FieldTree(new Map());
}

const LEAF = FieldTree.leaf;
