/**
 * Reads fields of entries without parsing the object.
 *
 * {@linkcode field} is the entry point for programs, {@linkcode readValues} for this package. A search in the text is
 * exact or declines, and then the object is parsed. Paths themselves are parsed in `api/selector.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import type { CheckedPath, PathKeys } from "../api/fields.ts";
import { type FieldValue, fieldValues, parseFieldPath } from "../api/selector.ts";

/** An entry that can read single fields without parsing its object. */
interface UnreadFields {
  valuesAt(keys: readonly string[]): readonly FieldValue[];
}

/**
 * Returns what the keys of a field path lead to in the object of an entry; see {@linkcode fieldValues}. The object is
 * not parsed for it, if the entry can do without.
 *
 * @throws {DecodeError} when the object cannot be read.
 */
export function valuesAt(entry: CacheEntry<unknown>, keys: readonly string[]): readonly FieldValue[] {
  return (entry as Partial<UnreadFields>).valuesAt?.(keys) ?? fieldValues(entry.object, keys);
}

/**
 * `T` if the path `P` leads to a field of it. If the field is an enum, it must have the values `V`. Otherwise a text
 * that names the wrong key or value, which the compiler shows.
 */
export type Having<T, P extends string, V = never> = string extends P ? T
  : CheckedPath<T, P, PathKeys<P>, V> extends P ? T
  : CheckedPath<T, P, PathKeys<P>, V>;

/** A function of objects of which {@linkcode field} has another form, for entries, which parses nothing. */
interface EntryFunction<R> {
  readonly [OF_ENTRY]: (entry: CacheEntry<unknown>) => R;
}

/** The key of that form. */
const OF_ENTRY = Symbol("the function of entries");

/** A value that a field may have; see {@linkcode field}. */
export type FieldLiteral = string | number | boolean;

/** A condition on a field, which names the values `V`; see {@linkcode field}. */
export interface FieldPredicate<P extends string, V = never> {
  /** Returns `true` if the condition holds for an object. */
  <T>(object: Having<T, P, V>): boolean;
}

/**
 * A field of objects, by its path; see {@linkcode field}. As an index function it returns the field's values: strings,
 * and numbers and booleans as text. An object, `null` or missing field is no value; a path through arrays has several.
 */
export interface FieldPath<P extends string> {
  /** Returns the values that an object has in this field. */
  <T>(object: Having<T, P>): readonly string[];
  /** Holds if one of the values is this one. */
  equals<const V extends FieldLiteral>(value: V): FieldPredicate<P, V>;
  /** Holds if none of the values is this one; also if there is no value. */
  notEquals<const V extends FieldLiteral>(value: V): FieldPredicate<P, V>;
  /** Holds if one of the values is one of these. */
  in<const V extends FieldLiteral>(...values: V[]): FieldPredicate<P, V>;
  /** Holds if the field is there and is not `null`; an empty array is not there, an empty object is. */
  exists(): FieldPredicate<P>;
  /** Returns the path. */
  toString(): string;
}

/**
 * Returns a field of objects, for an index or a filter. An informer reads the field from the unparsed text of an
 * object, for a tenth of the cost of parsing a pod. If the object is already parsed, it reads the parsed field.
 *
 * Dots separate keys. A key with characters other than letters, digits, `_`, `-` and `$` is a JSON string in brackets:
 * `metadata.annotations["example.com/owner"]`. A path passes through arrays: `spec.containers.image` is the image of
 * each container. In an array of strings or numbers, a number is the position of an element.
 *
 * The compiler refuses a path that the objects do not have, and a value that an enum does not have. It does not check a
 * path or value whose type is `string`: use such a string for a value that only newer servers have.
 *
 * @throws {SyntaxError} when the text is no path; the message names the offending character, counted from 1.
 *
 * @example
 * ```ts
 * import { Client, field, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod, { indexers: { node: field("spec.nodeName") } });
 * pods.addEventHandler({ onAdd: ({ key }) => console.log(key, "runs") }, { filter: field("status.phase").equals("Running") });
 * informers.start();
 * await informers.waitForCacheSync();
 * assertEquals(pods.indexer.indexKeys("node", "worker-1"), ["shop/cart-0"]);
 * ```
 */
export function field<const P extends string>(text: P): FieldPath<P> {
  const keys = parseFieldPath(text);
  const oneOf = (values: readonly FieldLiteral[]) => {
    const texts = new Set<FieldValue>(values.map(String));
    return (found: readonly FieldValue[]): boolean => found.some((value) => texts.has(value));
  };
  return Object.assign(over(keys, (found) => found.filter((value) => value !== undefined)), {
    equals: (value: FieldLiteral) => over(keys, oneOf([value])),
    notEquals: (value: FieldLiteral) => over(keys, (found) => !oneOf([value])(found)),
    in: (...values: FieldLiteral[]) => over(keys, oneOf(values)),
    exists: () => over(keys, (found) => found.length > 0),
    toString: () => text,
  });
}

/** Returns a function of objects as one of entries. One that {@linkcode field} made reads the field alone. */
export function ofEntries<T, R>(ofObjects: (object: T) => R): (entry: CacheEntry<T>) => R {
  return (ofObjects as Partial<EntryFunction<R>>)[OF_ENTRY] ?? ((entry) => ofObjects(entry.object));
}

/** Returns `true` if a function of objects has to parse them: if it was not made by {@linkcode field}. */
export function parsesObjects(ofObjects: (object: never) => unknown): boolean {
  return !(OF_ENTRY in ofObjects);
}

/** A function of what the keys lead to, in both forms. */
function over<R>(
  keys: readonly string[],
  of: (values: readonly FieldValue[]) => R,
): ((object: unknown) => R) & EntryFunction<R> {
  return Object.assign((object: unknown): R => of(fieldValues(object, keys)), {
    [OF_ENTRY]: (entry: CacheEntry<unknown>): R => of(valuesAt(entry, keys)),
  });
}

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_N = 110;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * The levels of objects that are walked by member. Objects below are skipped by their braces, which needs no recursion.
 */
const LEVELS = 3;
/** So many quotes are looked at to find one that begins a string. */
const TRIES = 8;
/** Stands for a depth at which nothing is collected. */
const SKIP = -1;

/**
 * Returns what `fieldValues` returns of the parsed object, without parsing more than the values. Returns `undefined` if
 * it declines: at white space between tokens, and at arrays of arrays, or with a position in them, on the way. For a
 * text that is not JSON the result is undefined too, or any.
 *
 * @param text The JSON text of an object; behind the object it may continue.
 * @param keys The keys of a field path.
 * @param metadataStart The position of the value of `metadata`, if it is known; then that is not searched.
 * @param metadataEnd The position behind that value.
 */
export function readValues(
  text: string,
  keys: readonly string[],
  metadataStart = -1,
  metadataEnd = -1,
): readonly FieldValue[] | undefined {
  const reader = new ValueReader(text, keys, metadataStart, metadataEnd);
  const isMetadata = metadataStart !== -1 && keys[0] === "metadata";
  try {
    return reader.collect(isMetadata ? metadataStart : 0, isMetadata ? 1 : 0) === -1 ? undefined : reader.values;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Reads by searches for quotes and brackets: the runtime does these several times faster than a loop over characters.
 *
 * Whether a position is inside a string follows from the quotes behind it: one that is not followed by what may follow
 * a string begins one, so the number of quotes before the first of this kind is odd if and only if the position is in a
 * string.
 *
 * Methods that return the position behind a value return -1 where they decline.
 */
class ValueReader {
  readonly values: FieldValue[] = [];
  readonly #text: string;
  readonly #keys: readonly string[];
  readonly #metadataStart: number;
  readonly #metadataEnd: number;
  /** `#inString` says whether the positions before the quote at `#to`, behind the quote before it, are in a string. */
  #inString = false;
  #to = 0;

  constructor(text: string, keys: readonly string[], metadataStart: number, metadataEnd: number) {
    this.#text = text;
    this.#keys = keys;
    this.#metadataStart = metadataStart;
    this.#metadataEnd = metadataEnd;
  }

  /** Collects what the keys from `depth` on lead to in the value at `at`. */
  collect(at: number, depth: number): number {
    const first = this.#text.charCodeAt(at);
    if (first === OPEN_BRACKET) return this.#collectElements(at, depth);
    const isLast = depth === this.#keys.length;
    if (first === OPEN_BRACE && !isLast) return this.#members(at, depth, LEVELS);
    const end = this.#endOfValue(at, LEVELS);
    if (end === -1 || !isLast || first === LETTER_N) return end;
    // Parsing copies the string: a slice would keep all of the text in memory.
    this.values.push(first === OPEN_BRACE ? undefined : String(JSON.parse(this.#text.slice(at, end))));
    return end;
  }

  #collectElements(at: number, depth: number): number {
    const text = this.#text;
    if (text.charCodeAt(at + 1) === CLOSE_BRACKET) return at + 2;
    if (depth < this.#keys.length && /^\d/.test(this.#keys[depth])) return -1; // a position
    for (let code = COMMA; code === COMMA; code = text.charCodeAt(at)) {
      at++;
      at = text.charCodeAt(at) === OPEN_BRACKET ? -1 : this.collect(at, depth);
      if (at === -1) return -1;
    }
    return text.charCodeAt(at) === CLOSE_BRACKET ? at + 1 : -1;
  }

  /**
   * Walks the object at `at`, and collects from its member of the key at `depth`, if there is one: the last one counts.
   */
  #members(at: number, depth: number, levels: number): number {
    const text = this.#text;
    const before = this.values.length;
    if (text.charCodeAt(at + 1) === CLOSE_BRACE) return at + 2;
    for (let code = COMMA; code === COMMA; code = text.charCodeAt(at)) {
      const start = at + 2;
      if (text.charCodeAt(at + 1) !== QUOTE) return -1;
      const end = this.#nextQuote(start);
      if (text.charCodeAt(end + 1) !== COLON) return -1;
      const value = end + 2;
      if (depth !== SKIP && this.#isKey(start, end, this.#keys[depth])) {
        this.values.length = before;
        at = this.collect(value, depth + 1);
      } else if (value === this.#metadataStart) at = this.#metadataEnd;
      else at = this.#endOfValue(value, levels - 1);
      if (at === -1) return -1;
    }
    return text.charCodeAt(at) === CLOSE_BRACE ? at + 1 : -1;
  }

  #endOfValue(at: number, levels: number): number {
    const text = this.#text;
    const first = text.charCodeAt(at);
    if (first === QUOTE) {
      const end = this.#nextQuote(at + 1);
      return end === text.length ? -1 : end + 1;
    }
    if (first === OPEN_BRACKET) return this.#endOfNested(at, "[", "]");
    if (first === OPEN_BRACE) return levels > 0 ? this.#members(at, SKIP, levels) : this.#endOfNested(at, "{", "}");
    if (first <= SPACE) return -1;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return at;
    }
    return -1;
  }

  #endOfNested(at: number, open: string, close: string): number {
    const text = this.#text;
    this.#inString = false;
    this.#to = this.#nextQuote(at);
    let nextOpen = text.indexOf(open, at + 1);
    let nextClose = text.indexOf(close, at + 1);
    for (let depth = 1; nextClose !== -1;) {
      if (nextOpen !== -1 && nextOpen < nextClose) {
        if (!this.#isInString(nextOpen)) depth++;
        nextOpen = text.indexOf(open, nextOpen + 1);
      } else {
        if (!this.#isInString(nextClose) && --depth === 0) return nextClose + 1;
        nextClose = text.indexOf(close, nextClose + 1);
      }
    }
    return -1;
  }

  /** True if the text of a key, between its quotes, is `key`. @throws {SyntaxError} when an escape in it is none. */
  #isKey(start: number, end: number, key: string): boolean {
    const text = this.#text;
    const raw = text.slice(start, end);
    return raw.includes("\\") ? JSON.parse(`"${raw}"`) === key : raw === key;
  }

  /** True if a position is in a string. Within a nested value, positions are asked for in rising order. */
  #isInString(at: number): boolean {
    if (at < this.#to) return this.#inString;
    const { length } = this.#text;
    const first = this.#nextQuote(at);
    let quote = first;
    let isOdd = false;
    for (let tries = 0; tries < TRIES; tries++) {
      if (quote === length || this.#beginsString(quote)) {
        this.#to = first;
        return this.#inString = isOdd;
      }
      isOdd = !isOdd;
      quote = this.#nextQuote(quote + 1);
    }
    // Counted from the last known quote, many ambiguous ones cost as much as the text is long, and not its square.
    while (this.#to <= at) {
      this.#inString = !this.#inString;
      this.#to = this.#nextQuote(this.#to + 1);
    }
    return this.#inString;
  }

  /** True if the quote at `at` cannot end a string, because of what follows it. */
  #beginsString(at: number): boolean {
    const next = this.#text.charCodeAt(at + 1);
    return next > SPACE && next !== COMMA && next !== COLON && next !== CLOSE_BRACE && next !== CLOSE_BRACKET;
  }

  /** The first quote from `at` on that is not escaped; the length of the text if there is none. */
  #nextQuote(at: number): number {
    const text = this.#text;
    for (;; at++) {
      at = text.indexOf('"', at);
      if (at === -1) return text.length;
      let before = at;
      while (text.charCodeAt(before - 1) === BACKSLASH) before--;
      if ((at - before) % 2 === 0) return at;
    }
  }
}
