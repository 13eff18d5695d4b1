/** Prototypes whose instances keep their value in slots nobody can list, and print all of it. */
const PRINTED: ReadonlySet<unknown> = new Set<unknown>([
  RegExp.prototype,
  URL.prototype,
  URLSearchParams.prototype,
  Intl.Locale.prototype,
  // Older runtimes have no Temporal, and so no values of it.
  ...(typeof Temporal === "undefined" ? [] : [
    Temporal.Duration.prototype,
    Temporal.Instant.prototype,
    Temporal.PlainDate.prototype,
    Temporal.PlainDateTime.prototype,
    Temporal.PlainMonthDay.prototype,
    Temporal.PlainTime.prototype,
    Temporal.PlainYearMonth.prototype,
    Temporal.ZonedDateTime.prototype,
  ]),
]);

type Keyed = Record<PropertyKey, unknown>;

/**
 * Whether two values have the same structure and content.
 *
 * - `0` and `-0` are equal, and so are two `NaN`.
 * - A key that is missing and a key that is undefined are different.
 * - Prototypes must be the same, except that an object without one is like a plain object.
 * - Of class instances the inherited getters are compared as well, private fields are not.
 * - Errors are compared with their stacks, so two of them are hardly ever equal.
 * - Functions are equal only to themselves.
 *
 * @throws {TypeError} when both values, or two that stand in the same place, are a `WeakMap` or a `WeakSet`.
 */
export function equal(a: unknown, b: unknown): boolean {
  return new Comparison().compare(a, b);
}

/** One comparison, with what it assumes about the pairs it is in the middle of. */
class Comparison {
  readonly #assumed: Map<object, object> = new Map();

  compare(a: unknown, b: unknown): boolean {
    if (a === b || Object.is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
    const prototype = Object.getPrototypeOf(a);
    if ((prototype ?? Object.prototype) !== (Object.getPrototypeOf(b) ?? Object.prototype)) return false;
    if (PRINTED.has(prototype)) return String(a) === String(b);
    const bytes = elements(a);
    if (bytes !== undefined) return sameElements(bytes, elements(b) ?? []);
    if (a instanceof WeakMap) throw new TypeError("Cannot compare WeakMap instances");
    if (a instanceof WeakSet) throw new TypeError("Cannot compare WeakSet instances");
    if (a instanceof WeakRef && b instanceof WeakRef) return this.compare(a.deref(), b.deref());
    if (this.#assumed.get(a) === b) return true;
    if (Object.keys(a).length !== Object.keys(b).length) return false;
    this.#assumed.set(a, b);
    if (a instanceof Set && b instanceof Set) return this.#sameSet(a, b);
    if (a instanceof Map && b instanceof Map) return this.#sameMap(a, b);
    return this.#sameProperties(a as Keyed, b as Keyed, prototype);
  }

  #sameProperties(a: Keyed, b: Keyed, prototype: unknown): boolean {
    const plain = prototype === null || prototype === Object.prototype || prototype === Array.prototype;
    const keys = plain ? Reflect.ownKeys({ ...a, ...b }) : [...inheritedKeys(a), ...inheritedKeys(b)];
    return keys.every((key) => (key in a) === (key in b) && this.compare(a[key], b[key]));
  }

  #sameSet(a: Set<unknown>, b: Set<unknown>): boolean {
    if (a.size !== b.size) return false;
    const rest = new Set([...b].filter((member) => !a.has(member)));
    return [...a].every((member) => b.has(member) || this.#take(rest, (other) => this.compare(member, other)));
  }

  #sameMap(a: Map<unknown, unknown>, b: Map<unknown, unknown>): boolean {
    if (a.size !== b.size) return false;
    if ([...a.keys()].every((key) => typeof key !== "object" || key === null)) {
      return [...a].every(([key, value]) => b.has(key) && this.compare(value, b.get(key)));
    }
    const rest = new Set(b);
    return [...a].every(([key, value]) =>
      this.#take(rest, ([otherKey, other]) => this.compare(key, otherKey) && this.compare(value, other))
    );
  }

  /** Removes the first candidate that `matches`, so that it stands for one member only. */
  #take<T>(candidates: Set<T>, matches: (candidate: T) => boolean): boolean {
    for (const candidate of candidates) {
      if (matches(candidate)) return candidates.delete(candidate);
    }
    return false;
  }
}

/** The elements of binary data; undefined for everything else. */
function elements(value: object): ArrayLike<unknown> | undefined {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return value as unknown as ArrayLike<unknown>;
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Uint8Array(value);
  return undefined;
}

function sameElements(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i] && !Object.is(a[i], b[i])) return false;
  }
  return true;
}

/** Every key of an object and of its prototypes, enumerable or not, below those that all objects share. */
function inheritedKeys(value: object): Set<PropertyKey> {
  const keys = new Set<PropertyKey>();
  for (
    let holder: object | null = value;
    holder !== null && holder !== Object.prototype && holder !== Array.prototype;
    holder = Object.getPrototypeOf(holder)
  ) {
    for (const key of Reflect.ownKeys(holder)) keys.add(key);
  }
  return keys;
}
