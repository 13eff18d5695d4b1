/**
 * Values in order, by rank: a tree in which each node counts its values.
 *
 * {@linkcode RankTree} is the entry point. The counts give each value its rank, and keep the tree balanced. It knows
 * nothing of objects and notifies nobody.
 *
 * @module
 */

interface Node<V> {
  value: V;
  left: Node<V> | undefined;
  right: Node<V> | undefined;
  /** The number of values in this subtree. */
  size: number;
}

/** A subtree may weigh so many times as much as its sibling. */
const MAX_RATIO = 3;

/** An outer grandchild that weighs so many times less than the inner one takes two rotations. */
const INNER_RATIO = 2;

/**
 * Values in order, by rank: the position that a value has, and the value at a position, each in O(log n).
 *
 * It is a weight-balanced tree: the sizes that ranks are counted by also keep it balanced. The ratios 3 and 2 are those
 * for which that was proved (Hirai and Yamamoto, "Balancing weight-balanced trees", 2011).
 */
export class RankTree<V> {
  readonly #compare: (a: V, b: V) => number;
  #root: Node<V> | undefined;

  /** An empty tree. `compare` is a total order: it returns 0 for no two values that are in the tree together. */
  constructor(compare: (a: V, b: V) => number) {
    this.#compare = compare;
  }

  /** The number of values. */
  get size(): number {
    return sizeOf(this.#root);
  }

  /** Returns the number of values that are before `value`, which need not be in the tree. */
  rankOf(value: V): number {
    let rank = 0;
    for (let node = this.#root; node !== undefined;) {
      if (this.#compare(value, node.value) <= 0) node = node.left;
      else {
        rank += sizeOf(node.left) + 1;
        node = node.right;
      }
    }
    return rank;
  }

  /** Returns the value at a position; `undefined` if there is none. */
  at(rank: number): V | undefined {
    let node = this.#root;
    while (node !== undefined) {
      const left = sizeOf(node.left);
      if (rank === left) return node.value;
      if (rank < left) node = node.left;
      else {
        rank -= left + 1;
        node = node.right;
      }
    }
  }

  /** Returns the values at the positions from `from` up to, but not including, `to`, in O(log n) and their number. */
  slice(from: number, to: number): V[] {
    const found: V[] = [];
    const walk = (node: Node<V> | undefined, first: number): void => {
      if (node === undefined || first >= to || first + node.size <= from) return;
      walk(node.left, first);
      const rank = first + sizeOf(node.left);
      if (rank >= from && rank < to) found.push(node.value);
      walk(node.right, rank + 1);
    };
    walk(this.#root, 0);
    return found;
  }

  /**
   * Puts `value` in the place of the one that compares as 0 with it. Returns `false`, and does nothing, if there is
   * none.
   */
  replace(value: V): boolean {
    for (let node = this.#root; node !== undefined;) {
      const order = this.#compare(value, node.value);
      if (order === 0) {
        node.value = value;
        return true;
      }
      node = order < 0 ? node.left : node.right;
    }
    return false;
  }

  /** Adds a value. */
  add(value: V): void {
    this.#root = this.#added(this.#root, value);
  }

  /** Removes a value that is in the tree. */
  delete(value: V): void {
    this.#root = this.#deleted(this.#root, value);
  }

  #added(node: Node<V> | undefined, value: V): Node<V> {
    if (node === undefined) return { value, left: undefined, right: undefined, size: 1 };
    if (this.#compare(value, node.value) < 0) node.left = this.#added(node.left, value);
    else node.right = this.#added(node.right, value);
    return balanced(node);
  }

  #deleted(node: Node<V> | undefined, value: V): Node<V> | undefined {
    if (node === undefined) return undefined;
    const order = this.#compare(value, node.value);
    if (order < 0) node.left = this.#deleted(node.left, value);
    else if (order > 0) node.right = this.#deleted(node.right, value);
    else if (node.left === undefined) return node.right;
    else if (node.right === undefined) return node.left;
    else {
      let next = node.right;
      while (next.left !== undefined) next = next.left;
      node.right = withoutFirst(node.right);
      node.value = next.value;
    }
    return balanced(node);
  }
}

function sizeOf(node: Node<unknown> | undefined): number {
  return node === undefined ? 0 : node.size;
}

function weightOf(node: Node<unknown> | undefined): number {
  return sizeOf(node) + 1;
}

function withoutFirst<V>(node: Node<V>): Node<V> | undefined {
  if (node.left === undefined) return node.right;
  node.left = withoutFirst(node.left);
  return balanced(node);
}

/** Returns the root of this subtree, with its size, after one of its children has changed by one value. */
function balanced<V>(node: Node<V>): Node<V> {
  const { left, right } = node;
  if (right !== undefined && weightOf(right) > MAX_RATIO * weightOf(left)) {
    if (weightOf(right.left) >= INNER_RATIO * weightOf(right.right)) node.right = rotatedRight(right);
    return rotatedLeft(node);
  }
  if (left !== undefined && weightOf(left) > MAX_RATIO * weightOf(right)) {
    if (weightOf(left.right) >= INNER_RATIO * weightOf(left.left)) node.left = rotatedLeft(left);
    return rotatedRight(node);
  }
  return sized(node);
}

function rotatedLeft<V>(node: Node<V>): Node<V> {
  const root = node.right!;
  node.right = root.left;
  root.left = sized(node);
  return sized(root);
}

function rotatedRight<V>(node: Node<V>): Node<V> {
  const root = node.left!;
  node.left = root.right;
  root.right = sized(node);
  return sized(root);
}

function sized<V>(node: Node<V>): Node<V> {
  node.size = sizeOf(node.left) + sizeOf(node.right) + 1;
  return node;
}
