import { assertEquals } from "./equality.ts";

type Loose = Record<PropertyKey, unknown>;

/** The parts already begun, per value and pattern: what leads back to itself is selected once. */
class Parts {
  readonly #parts: Map<object, Map<object, object>> = new Map();

  get(value: object, pattern: object): object | undefined {
    return this.#parts.get(value)?.get(pattern);
  }

  set(value: object, pattern: object, part: object): void {
    const parts = this.#parts.get(value) ?? new Map<object, object>();
    this.#parts.set(value, parts.set(pattern, part));
  }
}

/**
 * Asserts that `actual` has everything that `expected` has; it may have more.
 *
 * An array in `expected` is compared with the beginning of the actual one, an empty object matches any object, maps and
 * sets may have more members, and class instances count as plain objects.
 */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- callers pass objects of any interface, which have no index signature
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(select(actual, expected, new Parts()), select(expected, expected, new Parts()), msg);
}

/** The part of `value` that `pattern` speaks of; `value` itself where the two are not of one kind. */
function select<T>(value: T, pattern: unknown, made: Parts): unknown {
  if (!isObject(value) || !isObject(pattern) || value instanceof RegExp || value instanceof Date) return value;
  const known = made.get(value, pattern);
  if (known !== undefined) return known;
  if (Array.isArray(value) && Array.isArray(pattern)) {
    const part: unknown[] = [];
    made.set(value, pattern, part);
    for (let i = 0; i < Math.min(value.length, pattern.length); i++) part.push(select(value[i], pattern[i], made));
    return part;
  }
  if (value instanceof Map && pattern instanceof Map) {
    const part = new Map<unknown, unknown>();
    made.set(value, pattern, part);
    for (const [key, item] of value) {
      if (pattern.has(key)) part.set(key, select(item, pattern.get(key), made));
    }
    return part;
  }
  if (value instanceof Set && pattern instanceof Set) return value.intersection(pattern);
  return selectProperties(value, pattern, made);
}

function selectProperties(value: Loose, pattern: Loose, made: Parts): Loose {
  const part: Loose = {};
  made.set(value, pattern, part);
  const keys = Reflect.ownKeys(value);
  const common = keys.filter((key) => Object.hasOwn(pattern, key));
  // Nothing in common is shown whole, so that the message says what was there instead.
  const nothing = common.length === 0 && Reflect.ownKeys(pattern).length > 0;
  for (const key of nothing ? keys : common) {
    Object.defineProperty(part, key, {
      value: nothing ? value[key] : select(value[key], pattern[key], made),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return part;
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null;
}
