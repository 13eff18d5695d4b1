/**
 * Label selectors, field selectors, and field paths.
 *
 * {@linkcode LabelSelector}, {@linkcode FieldSelector} and {@linkcode parseFieldPath} are the entry points. Every path
 * in this package is parsed here. {@linkcode membersAt} reads parsed objects, and `entry/path.ts` reads the same values
 * from unparsed text.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";
import { quoted } from "../errors/errors.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** One condition in a label selector. */
export interface Requirement {
  /** The label key. */
  readonly key: string;
  /** The condition that the label must meet. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "GreaterThan" | "LessThan";
  /** The values for `In`, `NotIn`, `GreaterThan` and `LessThan`. */
  readonly values: readonly string[];
}

/** A label selector in object form, like `spec.selector` in a Deployment (Kubernetes `meta/v1` LabelSelector). */
export interface LabelSelectorFields {
  /** Labels that must have these values. */
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Further conditions. */
  readonly matchExpressions?: readonly {
    /** The label key. */
    readonly key: string;
    /** `"In"`, `"NotIn"`, `"Exists"` or `"DoesNotExist"`. */
    readonly operator: string;
    /** The values for `In` and `NotIn`. */
    readonly values?: readonly string[];
  }[];
}

/**
 * A parsed label selector: a list of conditions that must all hold. Use it to filter objects locally the way the server
 * does.
 *
 * @example
 * ```ts
 * import { LabelSelector } from "@kube/informer";
 * import { assert } from "@std/assert";
 *
 * const selector = LabelSelector.parse("app in (web, api), !legacy");
 * assert(selector.matches({ app: "web" }));
 * assert(!selector.matches({ app: "web", legacy: "true" }));
 * ```
 */
export class LabelSelector {
  /** The conditions, in the order of the text. A selector without conditions matches every object. */
  readonly requirements: readonly Requirement[];

  /** Creates a selector from conditions. */
  constructor(requirements: readonly Requirement[]) {
    this.requirements = requirements;
  }

  /**
   * Parses conditions with `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `key` and `!key`, separated by commas.
   *
   * @throws {SyntaxError} if the text is not a selector. The message names the wrong character, counted from 1.
   */
  static parse(text: string): LabelSelector {
    return new LabelSelector(new Parser(text).requirements());
  }

  /**
   * Creates a selector from `spec.selector` in a Deployment, ReplicaSet, Job or similar object. A selector without
   * conditions matches every object.
   *
   * A Service's selector is a map of labels, so wrap it: `LabelSelector.from({ matchLabels: service.spec.selector })`.
   *
   * @throws {TypeError} if the selector is missing, or has an invalid key, operator or value.
   *
   * @example
   * ```ts
   * import { LabelSelector } from "@kube/informer";
   * import { assertEquals } from "@std/assert";
   *
   * const selector = LabelSelector.from({
   *   matchLabels: { app: "web" },
   *   matchExpressions: [{ key: "tier", operator: "NotIn", values: ["cache"] }],
   * });
   * assertEquals(String(selector), "app=web,tier!=cache");
   * ```
   */
  static from(selector: LabelSelectorFields): LabelSelector {
    return new LabelSelector(requirementsOf(selector));
  }

  /** Returns the selector as text, for a request's `labelSelector`. `parse()` reads it back. */
  toString(): string {
    return this.requirements.map(requirementText).join(",");
  }

  /** Returns `true` if all conditions hold. `!=` and `notin` also hold if the label is missing, like in Kubernetes. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    return holdAll(this.requirements, labels);
  }
}

/**
 * Returns the `matches` function for {@linkcode LabelSelector.parse}, without the rest of the class, which keeps
 * bundles small.
 */
export function labelMatcher(text: string): LabelSelector["matches"] {
  const requirements = new Parser(text).requirements();
  return (labels) => holdAll(requirements, labels);
}

function holdAll(requirements: readonly Requirement[], labels: Labels): boolean {
  for (const requirement of requirements) if (!holds(requirement, labels)) return false;
  return true;
}

function requirementsOf(selector: LabelSelectorFields): Requirement[] {
  const fail = (problem: string): never => {
    throw new ArgumentError(`Cannot create a label selector from ${JSON.stringify(selector)}: ${problem}`);
  };
  if (typeof selector !== "object" || selector === null) {
    fail("it is not an object with matchLabels or matchExpressions");
  }
  const unknown = Object.keys(selector).find((name) => name !== "matchLabels" && name !== "matchExpressions");
  if (unknown !== undefined) {
    fail(`"${unknown}" is neither matchLabels nor matchExpressions. Put labels into matchLabels`);
  }
  const all = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...selector.matchExpressions ?? [],
  ];
  return all.map(({ key, operator, values }) => {
    const found = values ?? [];
    if (!isKey(key)) fail(`"${key}" is not a label key`);
    const wrong = found.find((value) => typeof value !== "string" || (value !== "" && !NAME.test(value)));
    if (wrong !== undefined) fail(`"${wrong}" is not a label value`);
    if (operator === "In" || operator === "NotIn") {
      if (found.length === 0) fail(`${operator} has no values for "${key}"`);
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (found.length > 0) fail(`${operator} of "${key}" has values`);
    } else return fail(`operator "${operator}" is not In, NotIn, Exists or DoesNotExist`);
    return { key, operator, values: [...found] };
  });
}

function isKey(text: string): boolean {
  const slash = text.indexOf("/");
  const prefix = text.slice(0, Math.max(slash, 0));
  if (!NAME.test(text.slice(slash + 1))) return false;
  return slash < 0 || (prefix.length <= 253 && prefix.split(".").every((part) => PREFIX_PART.test(part)));
}

function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`;
    case "GreaterThan":
      return `${key}>${values[0]}`;
    case "LessThan":
      return `${key}<${values[0]}`;
    default:
      return operator satisfies never;
  }
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined; // null is none, as in Go
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "GreaterThan":
      return value !== undefined && isInteger(value) && BigInt(value) > BigInt(values[0]);
    case "LessThan":
      return value !== undefined && isInteger(value) && BigInt(value) < BigInt(values[0]);
    default:
      return operator satisfies never;
  }
}

/** Accepts 64-bit integers, like Kubernetes. A label value cannot begin with a sign. */
function isInteger(text: string): boolean {
  return INTEGER.test(text) && BigInt(text) <= LARGEST;
}

const INTEGER = /^[0-9]{1,63}$/;
const LARGEST = 2n ** 63n - 1n;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX_PART = /^(?!-)[-a-z0-9]+(?<!-)$/;
const EQUALITIES = ["==", "!=", "="];
const SYMBOLS = [...EQUALITIES, ..."!(),<>"];
const CONDITIONS: Readonly<Record<string, Requirement["operator"]>> = {
  "=": "In",
  "==": "In",
  "!=": "NotIn",
  in: "In",
  notin: "NotIn",
  "<": "LessThan",
  ">": "GreaterThan",
};

class Parser {
  readonly #text: string;
  /** The next token and its index. `undefined` at the end. */
  #token: string | undefined;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  /** Reads the next token. It looks at each character a few times at most. */
  #advance(): void {
    const text = this.#text;
    let at = this.#at + (this.#token?.length ?? 0);
    while (/\s/.test(text[at] ?? "")) at++;
    let end = at;
    while (/[^\s=!(),<>]/.test(text[end] ?? "")) end++;
    this.#at = at;
    this.#token = text.slice(at, end) || SYMBOLS.find((symbol) => text.startsWith(symbol, at));
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    if (this.#token === undefined) return found;
    do found.push(this.#requirement()); while (
      this.#token !== undefined && this.#take(`"," or the end`, (text) => text === ",")
    );
    return found;
  }

  #requirement(): Requirement {
    if (this.#token === "!") {
      this.#advance();
      return { key: this.#key(), operator: "DoesNotExist", values: [] };
    }
    const key = this.#key();
    if (this.#token === undefined || this.#token === ",") return { key, operator: "Exists", values: [] };
    const condition = this.#take(`"${Object.keys(CONDITIONS).join('", "')}", "," or the end`, (text) => {
      return Object.hasOwn(CONDITIONS, text);
    });
    const value = (): string => /[<>]/.test(condition) ? this.#integer() : this.#value();
    return { key, operator: CONDITIONS[condition], values: condition.endsWith("in") ? this.#set() : [value()] };
  }

  #key(): string {
    return this.#take(`a label key such as "app" or "example.com/tier"`, isKey);
  }

  /** A value may be empty: `app=`, `app in ()` and `app in (,a)` are selectors. */
  #value(): string {
    const token = this.#token;
    if (token === undefined || token === "," || token === ")") return "";
    return this.#take("a label value of at most 63 letters, digits, '-', '_' and '.'", (text) => NAME.test(text));
  }

  #integer(): string {
    return this.#take("an integer from 0 to 2^63-1", isInteger);
  }

  #set(): string[] {
    this.#take(`"("`, (text) => text === "(");
    const values = [this.#value()];
    while (this.#token === ",") {
      this.#advance();
      values.push(this.#value());
    }
    this.#take(`"," or ")"`, (text) => text === ")");
    return values;
  }

  /** Returns the token, and reads the next token. @throws {SyntaxError} if the token is not accepted. */
  #take(expected: string, accepts: (text: string) => boolean): string {
    const token = this.#token;
    if (token === undefined || !accepts(token)) refuse("parse label selector", this.#text, this.#at, expected, token);
    this.#advance();
    return token;
  }
}

/** @throws {SyntaxError} which names the character in a text where something else was expected. */
function refuse(action: string, text: string, at: number, expected: string, found?: string): never {
  const shown = found === undefined ? "its end" : `"${quoted(found)}"`;
  throw new SyntaxError(
    `Cannot ${action} "${quoted(text)}": found ${shown} at character ${at + 1}, expected ${expected}`,
  );
}

/**
 * Splits a field path into its keys: `spec.nodeName` has two keys, `metadata.annotations["example.com/owner"]` has
 * three.
 *
 * - Dots separate keys.
 * - A key with characters other than letters, digits, `_`, `-` and `$` is a JSON string in brackets.
 * - A path passes through arrays without naming them: `spec.containers.image` means each container's image.
 * - In an array of texts or numbers, a number selects the element at that position: `cells.1` in a table row.
 *
 * @throws {SyntaxError} if the text is not a path. The message names the wrong character, counted from 1.
 */
export function parseFieldPath(path: string): readonly string[] {
  const { keys, end } = readFieldPath(path);
  return end === path.length ? keys : refuseFieldPath(path, end);
}

/**
 * Reads a field path inside a text, up to a character that cannot be part of a path. `end` is that character's index.
 * It looks at each character once or twice, whatever the text is.
 *
 * @throws {SyntaxError} if there is no path.
 */
export function readFieldPath(text: string, from = 0): { readonly keys: readonly string[]; readonly end: number } {
  const keys: string[] = [];
  for (let at = from;;) {
    let end = at;
    if (text[at] === "[") {
      for (end += 2; end < text.length && text[end] !== '"';) end += text[end] === "\\" ? 2 : 1;
      if (text[at + 1] + text[end] + text[end + 1] !== '""]') refuseFieldPath(text, at);
      try {
        keys.push(JSON.parse(text.slice(at + 1, end + 1)));
      } catch {
        refuseFieldPath(text, at); // an escape or a character that JSON does not have
      }
      at = end + 2;
    } else if (at === from || text[at] === ".") {
      if (at > from) at = ++end;
      while (PLAIN.test(text[end] ?? "")) end++;
      if (end === at) refuseFieldPath(text, at);
      keys.push(text.slice(at, end));
      at = end;
    } else return { keys, end };
  }
}

/**
 * Splits a list of paths at its commas, but for commas in quotes.
 *
 * @throws {SyntaxError} if one of them is not a path, or has more than `longest` characters.
 */
export function splitFieldPaths(list: string, longest: number): string[] {
  const paths: string[] = [];
  for (let begin = 0;;) {
    const { end } = readFieldPath(list, begin);
    if (end - begin > longest) {
      throw new SyntaxError(`a field path has ${end - begin} characters, but ${longest} is the limit`);
    }
    paths.push(list.slice(begin, end));
    if (end === list.length) return paths;
    if (list[end] !== ",") refuseFieldPath(list, end);
    begin = end + 1;
  }
}

/** @throws {SyntaxError} which names the character at an index. */
function refuseFieldPath(text: string, at: number): never {
  refuse("read the field path", text, at, `a key such as spec, or ["example.com/owner"]`, text[at]);
}

/** A character in a key that needs no quotes. */
const PLAIN = /[\w$-]/;

/** Joins keys to a path, which {@linkcode parseFieldPath} reads back. A number is an index, which it does not read. */
export function formatFieldPath(keys: readonly (string | number)[]): string {
  return keys.map((key, i) =>
    typeof key === "string" && /^[\w$-]+$/.test(key) ? (i === 0 ? key : `.${key}`) : `[${JSON.stringify(key)}]`
  ).join("");
}

/** The text of a string, number or boolean at the end of a field path. `undefined` stands for an object. */
export type FieldValue = string | undefined;

/** Returns the values at a field path as text, without nulls. An array counts as its elements. */
export function fieldValues(value: unknown, keys: readonly string[]): readonly FieldValue[] {
  return elementsAt(value, keys).map((value) => typeof value === "object" ? undefined : String(value));
}

/** Returns the values like {@linkcode membersAt}, but without nulls. An array counts as its elements. */
export function elementsAt(value: unknown, keys: readonly string[]): readonly unknown[] {
  return flat(membersAt(value, keys)).filter((value) => (value ?? null) !== null);
}

/**
 * Returns the unchanged values at a field path. Several values are possible, because a path passes through arrays. If a
 * key is missing, there is no value.
 */
export function membersAt(value: unknown, keys: readonly string[]): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const key of keys) {
    const next: unknown[] = [];
    for (const holder of [...found.filter(Array.isArray), ...flat(found)]) {
      if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) continue;
      const member = (holder as Readonly<Record<string, unknown>>)[key];
      // In an array, a position names only a text or a number: the path passes through to objects and arrays.
      if (!Array.isArray(holder) || (key !== "length" && typeof member !== "object")) next.push(member);
    }
    found = next;
  }
  return found;
}

/**
 * Replaces nested arrays by their elements. It looks at each value once, at any depth, without recursion, because
 * arrays may be nested deeper than the stack allows. An array inside itself is left out there.
 */
function flat(values: readonly unknown[]): readonly unknown[] {
  if (!values.some(Array.isArray)) return values;
  const elements = values.flat(); // fast, and mostly enough
  if (!elements.some(Array.isArray)) return elements;
  const found: unknown[] = [];
  const open = new Set<readonly unknown[]>();
  const within = [{ array: values, next: 0 }];
  for (let place = within.at(-1); place !== undefined; place = within.at(-1)) {
    const value = place.array[place.next++];
    if (place.next > place.array.length) open.delete(within.pop()!.array);
    else if (!Array.isArray(value)) found.push(value);
    else if (!open.has(value)) {
      open.add(value);
      within.push({ array: value, next: 0 });
    }
  }
  return found;
}

/** One condition in a field selector. */
export interface FieldRequirement {
  /** The keys in the field's path. */
  readonly keys: readonly string[];
  /** The value to compare with. */
  readonly value: string;
  /** `true` if the field must equal the value, `false` if it must differ. */
  readonly equal: boolean;
}

/**
 * A parsed field selector: conditions on fields, which must all hold.
 *
 * A server accepts only the fields that a kind supports in selectors. {@linkcode FieldSelector.matches} reads any
 * field.
 *
 * @example
 * ```ts
 * import { FieldSelector } from "@kube/informer";
 * import { assert } from "@std/assert";
 *
 * const selector = FieldSelector.parse("spec.nodeName=worker-1,status.phase!=Running");
 * assert(selector.matches({ spec: { nodeName: "worker-1" }, status: { phase: "Pending" } }));
 * ```
 */
export class FieldSelector {
  /** The conditions. */
  readonly requirements: readonly FieldRequirement[];
  readonly #text: string;

  private constructor(text: string, requirements: readonly FieldRequirement[]) {
    this.#text = text;
    this.requirements = requirements;
  }

  /**
   * Parses conditions with `=`, `==` and `!=`, separated by commas. In values, write a backslash before `,`, `=` and a
   * backslash (apimachinery `fields.ParseSelector`).
   *
   * @throws {SyntaxError} if the text is not a selector. The message names the wrong character, counted from 1.
   */
  static parse(text: string): FieldSelector {
    return new FieldSelector(text, parse(text));
  }

  /** `true` if there are no conditions, so that every object matches. */
  get isEmpty(): boolean {
    return this.requirements.length === 0;
  }

  /**
   * Returns `true` if all conditions hold. A field is a path like in `fields`, and passes through arrays: `=` holds if
   * one of the values is equal, `!=` if none is. A missing field equals `""`.
   */
  matches(object: object): boolean {
    return this.matchesValues((keys) => fieldValues(object, keys));
  }

  /**
   * Returns `true` like {@linkcode matches}, but calls `read` for the values at a path. `undefined` stands for an
   * object.
   */
  matchesValues(read: (keys: readonly string[]) => readonly (string | undefined)[]): boolean {
    return areEqual(this.requirements, read);
  }

  /** Returns the text that was parsed. */
  toString(): string {
    return this.#text;
  }
}

/**
 * Returns the `matches` function for {@linkcode FieldSelector.parse}, without the rest of the class, which keeps
 * bundles small.
 */
export function fieldMatcher(text: string): FieldSelector["matches"] {
  const requirements = parse(text);
  return (object) => areEqual(requirements, (keys) => fieldValues(object, keys));
}

function areEqual(
  requirements: readonly FieldRequirement[],
  read: (keys: readonly string[]) => readonly FieldValue[],
): boolean {
  return requirements.every(({ keys, value, equal }) => {
    const values = read(keys);
    return (values.includes(value) || (value === "" && values.every((value) => value === undefined))) === equal;
  });
}

function parse(text: string): FieldRequirement[] {
  const found: FieldRequirement[] = [];
  const fail = (found: string, at: number, expected: string): never =>
    refuse("parse field selector", text, at, expected, found);
  let begin = 0;
  let operator: string | undefined;
  let [field, from] = ["", 0];
  for (let at = 0; at <= text.length; at++) {
    const next = text[at];
    if (next === undefined || next === ",") {
      const term = text.slice(begin, at);
      if (operator !== undefined) {
        const value = text.slice(from, at).replaceAll(/\\(.)/g, "$1");
        found.push({ keys: parseFieldPath(field), value, equal: operator !== "!=" });
      } else if (term !== "") fail(term, begin, `"field=value" or "field!=value"`);
      begin = at + 1;
      operator = undefined;
    } else if (operator === undefined) {
      operator = EQUALITIES.find((operator) => text.startsWith(operator, at));
      if (operator === undefined) continue;
      if (at === begin) fail(operator, at, "the name of a field before it");
      field = text.slice(begin, at);
      at += operator.length - 1;
      from = at + 1;
    } else if (next === "=") {
      fail("=", at, `"\\=" in a value`);
    } else if (next === "\\" && !/[\\,=]/.test(text[++at] ?? "")) fail("\\", at - 1, `"\\\\" in a value`);
  }
  return found;
}

/** The number of comparisons before compared pairs are remembered. Few values need more. */
const MANY_PAIRS = 1_000;

/**
 * Returns `true` if two values are deeply equal. `resourceVersion` may differ in `metadata`, which is a part of the
 * first value.
 *
 * It does not recurse, because objects may be nested deeper than the stack allows. Values may have cycles or shared
 * parts: a pair that occurs again counts as equal.
 */
export function sameValue(a: unknown, b: unknown, metadata?: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  let equals: Map<unknown, unknown> | undefined;
  let compared = 0;
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [value, other] = pair as [Record<string, unknown>, Record<string, unknown>];
    if (Object.is(value, other)) continue;
    if (!isPlain(value) || !isPlain(other) || Array.isArray(value) !== Array.isArray(other)) return false;
    if (++compared > MANY_PAIRS) {
      equals ??= new Map();
      const [last, otherLast] = [lastOf(equals, value), lastOf(equals, other)];
      if (last === otherLast) continue;
      equals.set(last, otherLast);
    }
    if (Array.isArray(value) && value.length !== other.length) return false; // long ones have many names
    const names = Object.keys(value);
    if (names.length !== Object.keys(other).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(other, name)) return false;
      if (Object.is(value[name], other[name])) continue;
      if (value !== metadata || name !== "resourceVersion") pairs.push([value[name], other[name]]);
    }
  }
  return true;
}

/**
 * Returns the last value in a chain of values that are equal if all compared pairs are equal. A pair joins two chains,
 * so there are fewer pairs than values.
 */
function lastOf(equals: ReadonlyMap<unknown, unknown>, value: unknown): unknown {
  for (let next = equals.get(value); next !== undefined; next = equals.get(value)) value = next;
  return value;
}

/**
 * Returns `true` for plain objects and arrays. Returns `false` for dates, maps and other objects that a transform may
 * return: their contents are not members, so each equals only itself.
 */
export function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** Metadata that each write changes. */
const OF_EACH_WRITE: readonly string[] = ["resourceVersion", "managedFields"];

/**
 * Returns the paths of all fields that differ between two objects, without duplicates. Use it to log or decide what an
 * update has changed.
 *
 * - The paths work with `field()` and `fields`. They pass through arrays: `spec.containers.image` means that some
 *   container's image has changed.
 * - The path ends at an array if the lengths differ, or the elements are texts or numbers.
 * - If only one object has a field, the path ends there. It also ends at a depth of 50 levels. A member that is
 *   `undefined` counts as absent.
 * - Paths are in the order of the objects' members.
 * - `metadata.resourceVersion` and `metadata.managedFields` are left out, because every write changes them.
 *
 * @example
 * ```ts
 * import { differences } from "@kube/informer";
 * import { pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const before = pod({ name: "cart-0", image: "cart:1" });
 * const after = pod({ name: "cart-0", image: "cart:2", labels: { "example.com/tier": "front" } });
 * assertEquals(differences(before, after), ["metadata.labels", "spec.containers.image"]);
 * ```
 */
export function differences(before: unknown, after: unknown): readonly string[] {
  const found = new Set<string>();
  addDifferences(before, after, { keys: [], depth: 0 }, found, new Map());
  return [...found];
}

/** The depth at which values are compared as a whole. Otherwise the paths could become arbitrarily long. */
const DEEPEST = 50;

function addDifferences(
  before: unknown,
  after: unknown,
  { keys, depth }: { readonly keys: readonly string[]; readonly depth: number },
  found: Set<string>,
  met: Map<unknown, unknown>,
): void {
  if (depth === DEEPEST ? sameValue(before, after) : Object.is(before, after)) return;
  const isList = Array.isArray(before);
  const areAlike = isStructure(before) && isStructure(after) && isList === Array.isArray(after);
  if (depth === DEEPEST || !areAlike || (isList && before.length !== (after as { readonly length?: unknown }).length)) {
    return void found.add(formatFieldPath(keys));
  }
  if (met.get(before) === after) return; // they have cycles
  met.set(before, after);
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (keys.length === 1 && keys[0] === "metadata" && OF_EACH_WRITE.includes(name)) continue;
    const [old, now] = [before, after].map((it) => Object.hasOwn(it, name) ? it[name] : undefined);
    addDifferences(old, now, { keys: isList ? keys : [...keys, name], depth: depth + 1 }, found, met);
  }
}

function isStructure(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
