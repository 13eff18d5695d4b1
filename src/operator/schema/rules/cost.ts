/**
 * The cost of rules in the units of kube-apiserver: arithmetic of estimates, and estimates of function calls.
 *
 * {@linkcode callCost} is the entry point for estimates, and {@linkcode Meter} counts while a rule runs.
 *
 * @module
 */

/** The least and the most of a size or cost. Infinity is unknown. */
export type Range = readonly [least: number, most: number];

/** A size about which nothing is known. */
export const ANY_SIZE: Range = [0, Infinity];

/** Returns the sum. */
export function add(...ranges: readonly Range[]): Range {
  return ranges.reduce((a, b) => [a[0] + b[0], a[1] + b[1]], [0, 0]);
}

const product = (a: number, b: number): number => a === 0 || b === 0 ? 0 : a * b;

/** Returns the product. */
export function times(a: Range, b: Range): Range {
  return [product(a[0], b[0]), product(a[1], b[1])];
}

/** Returns a size times a factor, rounded up. */
export function weighted(size: Range, factor: number): Range {
  return [Math.ceil(product(size[0], factor)), Math.ceil(product(size[1], factor))];
}

/** Returns the range that has both. */
export function union(a: Range, b: Range): Range {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

/** The cost of comparing two values: of the smaller one. */
export function comparison(a: Range, b: Range): Range {
  const most = Math.min(a[1], b[1]);
  return weighted([most > 0 ? 1 : 0, most], 0.1);
}

/** The cost of a match: of the text times the length of the pattern. */
export function matching(text: Range, pattern: Range): Range {
  return times(weighted(add(text, [1, 1]), 0.1), weighted(pattern, 0.25));
}

/** A call, for its estimate. */
export interface Call {
  /** The name of the function. */
  readonly name: string;
  /** The size of the receiver; undefined for a function without one. */
  readonly target: Range | undefined;
  /** The sizes of the arguments. */
  readonly sizes: readonly Range[];
  /** Integers among the arguments that are literals. */
  readonly integers: readonly (number | undefined)[];
  /** The CEL type of the receiver, else of the first argument. */
  type(): string;
  /** The CEL type of the first argument; undefined without arguments. */
  argument(): string | undefined;
  /** The size of a list's elements. */
  element(): Range;
}

/** The estimate of a call without its arguments: its cost, and the size of the result if it is known. */
export interface CallCost {
  /** The cost. */
  readonly cost: Range;
  /** The size of the result. */
  readonly size?: Range;
}

const LISTS = new Set(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"]);
const TRANSFORMS = new Set(["lowerAscii", "upperAscii", "substring", "trim"]);
const PARSERS = new Set(["cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver", "url"]);
/** 4 to 16 bytes of two addresses, compared. */
const ADDRESSES = weighted([8, 32], 0.1);

/** Estimates of the functions that have a receiver, by name. `first` is the size of the first argument. */
const METHODS: Readonly<Record<string, (call: Call, target: Range, first: Range) => CallCost>> = {
  startsWith: (_, _target, first) => ({ cost: weighted(first, 0.1) }),
  endsWith: (_, _target, first) => ({ cost: weighted(first, 0.1) }),
  contains: (_, target, first) => ({ cost: times(weighted(target, 0.1), weighted(first, 0.1)) }),
  matches: (_, target, first) => ({ cost: matching(target, first) }),
  find: (_, target, first) => ({ cost: matching(target, first), size: [0, target[1]] }),
  findAll: (_, target, first) => ({ cost: matching(target, first), size: [0, target[1]] }),
  replace: ({ sizes }, target, first) => {
    return { cost: weighted(target, 0.2), size: replaced(target, first, sizes[1] ?? ANY_SIZE) };
  },
  split: ({ integers }, target) => ({ cost: weighted(target, 0.2), size: [0, integers[1] ?? target[1]] }),
  join: ({ sizes, element }, target, first) => {
    const gaps: Range = [Math.max(0, target[0] - 1), Math.max(0, target[1] - 1)];
    const size = add(times(target, element()), sizes.length > 0 ? times(first, gaps) : [0, 0]);
    return { cost: weighted(size, 0.1), size };
  },
  format: (_, target) => ({ cost: weighted(target, 0.1) }),
  validate: (_, _target, first) => ({ cost: weighted(weighted(first, 0.1), 32) }),
  containsIP: (call, _target, first) => ({ cost: add(ADDRESSES, textCost(call, first)) }),
  containsCIDR: (call, _target, first) => ({ cost: add(ADDRESSES, [2, 3], textCost(call, first)) }),
  slice: ({ integers: [from = 0, to] }, target) => {
    const size = Math.max(0, (to ?? target[1]) - from);
    return allocated([size, size], 1);
  },
  reverse: (_, target) => allocated(target, 1),
  flatten: ({ sizes, integers }, target) => allocated(target, sizes.length === 0 ? 1 : integers[0] ?? Infinity),
  distinct: (_, target) => allocated(times(target, target), 2),
  sort: ({ type }, target) => allocated(times(target, target), type() === "list<string>" ? 2.1 : 2),
};

/** The cost of reading the first argument, if it is a text. */
function textCost(call: Call, first: Range): Range {
  return call.argument() === "string" ? weighted(first, 0.1) : [0, 0];
}

/** Estimates a call as kube-apiserver does. What has no rule here costs 1. */
export function callCost(call: Call): CallCost {
  const { name, target, sizes } = call;
  const first = sizes[0] ?? ANY_SIZE;
  if (target === undefined) return globalCost(call, first);
  if (LISTS.has(name)) return { cost: listCost(call, target) };
  if (TRANSFORMS.has(name)) return { cost: weighted(target, 0.1), size: target };
  return Object.hasOwn(METHODS, name) ? METHODS[name](call, target, first) : { cost: [1, 1] };
}

function globalCost({ name, sizes, integers, type }: Call, first: Range): CallCost {
  if (PARSERS.has(name)) return { cost: weighted(first, 0.1), ...name === "url" ? { size: first } : {} };
  switch (name) {
    case "matches":
      return { cost: matching(first, sizes[1] ?? ANY_SIZE) };
    case "ip.isCanonical":
      return { cost: weighted(first, 0.2) };
    case "bytes":
      if (type() === "string") return { cost: weighted(first, 0.1), size: [first[0], first[1] * 4] };
      break;
    case "string":
      if (type() === "bytes") return { cost: weighted(first, 0.1), size: [Math.floor(first[0] / 4), first[1]] };
      if (type() === "dyn") {
        return { cost: union([1, 1], weighted(first, 0.1)), size: [Math.floor(first[0] / 4), first[1]] };
      }
      break;
    case "strings.quote":
      return { cost: weighted(first, 0.1), size: [first[0] + 2, first[1] * 2 + 2] };
    case "sets.contains":
    case "sets.intersects":
    case "sets.equivalent":
      return { cost: add([1, 1], weighted(times(first, sizes[1]), name === "sets.equivalent" ? 2 : 1)) };
    case "lists.range":
      return allocated([integers[0] ?? Infinity, integers[0] ?? Infinity], 1);
  }
  return { cost: [1, 1] };
}

function listCost({ name, type, element }: Call, target: Range): Range {
  const kind = type();
  if (kind === "list<string>" || kind === "list<bytes>") return times(target, add([1, 1], weighted(element(), 0.1)));
  return kind.startsWith("list") || name === "includes" ? target : weighted(target, 0.1);
}

function allocated(size: Range, factor: number): CallCost {
  return { cost: add(weighted(size, factor), [11, 11]), size };
}

/** The size of a text in which texts of size `from` are replaced by texts of size `to`. */
function replaced(text: Range, from: Range, to: Range): Range {
  const end = (at: 0 | 1, other: 0 | 1, keeps: boolean): number => {
    if (from[other] === 0) return product(text[at] + 1, to[at]) + text[at];
    return keeps ? text[at] : product(Math.ceil(text[at] / from[other]), to[at]);
  };
  return [end(0, 1, from[1] <= to[0]), end(1, 0, to[1] <= from[0])];
}

/** Counts the cost of a rule while it runs. */
export class Meter {
  /** The cost that is left; negative after the rule has spent it. */
  left: number;
  #spent: RangeError | undefined;

  /** Starts with a budget. */
  constructor(left: number) {
    this.left = left;
  }

  /** Counts a cost. @throws {RangeError} when the budget is spent: the same one each time, as macros go on. */
  charge(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw this.#spent ??= new RangeError("operation cancelled: actual cost limit exceeded");
  }
}
