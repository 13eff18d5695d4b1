/**
 * The functions that rules can call, in addition to the CEL library's functions: Kubernetes' own, and its extensions.
 *
 * {@linkcode registerFunctions} is the entry point. `expression.ts` rewrites operators and
 * functions whose results differ from kube-apiserver's to the functions here whose names begin with `_`.
 *
 * @module
 */
import { type Environment, evaluate, Optional } from "@marcbachmann/cel-js";
import { ParsedQuantity, parseQuantity } from "../../../engine/api/quantity.ts";
import { equalJson, isObject } from "../../../engine/api/json.ts";
import { jsonKey } from "../values/json_key.ts";
import { textsOf } from "../../../engine/api/members.ts";
import { type Form, FORMS } from "../values/forms.ts";
import type { Pattern } from "../values/pattern.ts";
import { re2 } from "../values/re2.ts";
import { Meter } from "./cost.ts";
import { LIST_SCHEMAS, RAW, RuleObject } from "./declared_types.ts";
import { FORMATS as VALUE_FORMATS, isDate, parses } from "../values/formats.ts";
import { format, valueText } from "./format.ts";
import { Address, ADDRESS_KINDS, IpNetwork, ParsedUrl } from "../values/network.ts";

/** Counts the cost of the rule that runs. Rules are synchronous, so one runs at a time. */
export const running: { meter: Meter } = { meter: new Meter(Infinity) };

// deno-lint-ignore no-explicit-any
type Handler = (...values: any[]) => unknown;

const NANO = 1_000_000_000n;

/** A quantity in a rule. Go holds most as an int64 times 10^`scale`, and others as decimals, which are no integers. */
class RuleQuantity extends ParsedQuantity {
  readonly scale: number | undefined;

  constructor({ nanos, format }: ParsedQuantity, scale: number | undefined) {
    super(nanos, format);
    this.scale = scale;
  }

  plus(more: ParsedQuantity, scale: number | undefined): RuleQuantity {
    if (this.nanos === 0n || more.nanos === 0n) return this.nanos === 0n ? new RuleQuantity(more, scale) : this;
    return new RuleQuantity(
      this.add(more),
      this.scale === undefined || scale === undefined ? undefined : Math.min(this.scale, scale),
    );
  }
}

/** The scale of a quantity as `resource.ParseQuantity` chooses it; undefined for a decimal. */
function scaleOf(text: string): number | undefined {
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  const digits = Math.max(1, whole.length) + fraction.length;
  const binary = "KMGTPE".indexOf(suffix[0]) + 1;
  if (suffix.endsWith("i")) return fraction === "" && 14 - digits - 3 * binary >= 0 ? 0 : undefined;
  const exponent = /^[eE][+-]?\d/.test(suffix)
    ? Number(suffix.slice(1))
    : 3 * ("num kMGTPE".indexOf(suffix || " ") - 3);
  return digits <= 18 && exponent - fraction.length >= -9 ? exponent - fraction.length : undefined;
}

function quantityOf(text: string): RuleQuantity {
  try {
    return new RuleQuantity(parseQuantity(text), scaleOf(text));
  } catch {
    const pattern = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
    throw new SyntaxError(`quantities must match the regular expression '${pattern}'`);
  }
}

function wholeOf({ nanos, scale = -1 }: RuleQuantity): bigint {
  const whole = nanos / NANO;
  if (scale >= 0 && BigInt.asIntN(64, whole) === whole) return whole;
  throw new RangeError("cannot convert value to integer");
}

const whole = (value: bigint): RuleQuantity => new RuleQuantity(new ParsedQuantity(value * NANO, "DecimalExponent"), 0);
const negative = (value: RuleQuantity): RuleQuantity =>
  new RuleQuantity(new ParsedQuantity(-value.nanos, value.format), value.scale);

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** A semantic version in a rule. */
class Semver {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(text: string, normalize = false) {
    let version = text;
    if (normalize) {
      const parts = text.replace(/^v/, "").split(/\.(?=.*)/s);
      const three = [...parts.slice(0, 2), ...parts.length > 2 ? [parts.slice(2).join(".")] : []];
      const short = three.length < 3 && /[+-]/.test(three.at(-1)!);
      version = short ? "" : [...three, "0", "0"].slice(0, 3).map((part) => part.replace(/^0+(?=\d)/, "")).join(".");
    }
    const found = SEMVER.exec(version);
    this.numbers = found?.slice(1, 4).map(BigInt) ?? [];
    if (found === null || this.numbers.some((number) => number >= 2n ** 64n)) {
      throw new SyntaxError(`${JSON.stringify(text)} is no semantic version`);
    }
    this.pre = found[4]?.split(".") ?? [];
  }

  compare(other: Semver): number {
    for (const at of [0, 1, 2]) {
      if (this.numbers[at] !== other.numbers[at]) return this.numbers[at] < other.numbers[at] ? -1 : 1;
    }
    if (this.pre.length === 0 || other.pre.length === 0) return Math.sign(other.pre.length - this.pre.length);
    for (let at = 0; at < Math.min(this.pre.length, other.pre.length); at++) {
      const [a, b] = [this.pre[at], other.pre[at]];
      if (a === b) continue;
      const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
      if (left !== right) return left ? -1 : 1;
      return (left ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
    }
    return Math.sign(this.pre.length - other.pre.length);
  }

  toString(): string {
    return `${this.numbers} ${this.pre}`;
  }
}

/** A named format in a rule. */
class Format {
  readonly name: string;
  readonly fits: (text: string) => boolean;

  constructor(name: string, fits: (text: string) => boolean) {
    this.name = name;
    this.fits = fits;
  }
}

/** Longer texts are not looked at. */
const having = (form: Form, most: number) => (text: string): boolean => text.length <= most && form(text).length === 0;
/** The server replaces a `-` at the end of a prefix by a letter. */
const prefixOf = (fits: (text: string) => boolean) => (text: string): boolean => fits(text.replace(/-$/, "a"));
const label = having(FORMS.dnsLabel, 63);
const subdomain = having(FORMS.subdomain, 253);
const label1035 = having(FORMS.letterLabel, 63);

/** The formats that schemas have, too. */
const SHARED = ["uri", "uuid", "byte", "date", "datetime"];

/** The named formats. */
const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    dns1123Label: label,
    dns1123Subdomain: subdomain,
    dns1035Label: label1035,
    dns1123LabelPrefix: prefixOf(label),
    dns1123SubdomainPrefix: prefixOf(subdomain),
    dns1035LabelPrefix: prefixOf(label1035),
    qualifiedName: having(FORMS.labelKey, 253 + 1 + 63),
    labelValue: having(FORMS.labelValue, 63),
    ...Object.fromEntries(SHARED.map((name) => [name, VALUE_FORMATS.get(name)!.fits as (text: string) => boolean])),
  }).map(([name, fits]) => [name, new Format(name, fits)]),
);

const sizeOf = (value: unknown): number =>
  typeof value === "string" || Array.isArray(value) ? value.length : value instanceof Map ? value.size : 1;

/** Compares two values as Kubernetes does: in sets and maps the order of elements is ignored. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    // deno-lint-ignore eqeqeq
    return (typeof a === "bigint" || typeof b === "bigint") && typeof a !== "string" && typeof b !== "string" && a == b;
  }
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && equalLists(a, b);
  if (a instanceof RuleObject) {
    const names = Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(a)));
    return b instanceof RuleObject && Object.keys(a[RAW]).length === Object.keys(b[RAW]).length &&
      names.every((name) => name === "constructor" || equal(memberOf(a, name), memberOf(b, name)));
  }
  if (a instanceof Map || isObject(a) && Object.getPrototypeOf(a) === Object.prototype) {
    const [left, right] = [entriesOf(a), entriesOf(b)];
    return left.size === right.size &&
      [...left].every(([key, value]) => right.has(key) && equal(value, right.get(key)));
  }
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalJson([...a], [...b]);
  if (a.constructor !== b.constructor) return false;
  if (a instanceof Date) return a.getTime() === (b as Date).getTime();
  if (a instanceof Optional) {
    const other = b as Optional;
    return a.hasValue() === other.hasValue() && (!a.hasValue() || equal(a.value(), other.value()));
  }
  return a instanceof ParsedQuantity ? a.nanos === (b as ParsedQuantity).nanos : String(a) === String(b);
}

const memberOf = (object: RuleObject, name: string): unknown => (object as unknown as Record<string, unknown>)[name];
const entriesOf = (value: object): ReadonlyMap<unknown, unknown> =>
  value instanceof Map ? value : new Map(Object.entries(value));

/** Returns what identifies an element of a list: its keys in a list of type map, and itself in a set. */
function keyIn(list: readonly unknown[]): ((item: unknown) => unknown) | undefined {
  const schema = LIST_SCHEMAS.get(list);
  if (schema?.["x-kubernetes-list-type"] === "set") return (item) => item;
  if (schema?.["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = textsOf(schema["x-kubernetes-list-map-keys"]);
  return (item) => item instanceof RuleObject ? jsonKey(keys.map((key) => item[RAW][key] ?? null)) : item;
}

/** Returns a function that finds the places of the elements with the key of an element. Objects as keys are charged. */
function places(list: readonly unknown[], key: (item: unknown) => unknown): (item: unknown) => number[] {
  const hashOf = (item: unknown): unknown => {
    const found = key(item);
    return typeof found === "object" ? "object" : typeof found === "string" ? found : Number(found);
  };
  const known = Map.groupBy(list.keys(), (at) => hashOf(list[at]));
  return (item) => {
    const found = known.get(hashOf(item)) ?? [];
    if (found.length > 1) running.meter.charge(found.length);
    return found.filter((at) => equal(key(list[at]), key(item)));
  };
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  const key = keyIn(a);
  if (key === undefined) return a.every((item, at) => equal(item, b[at]));
  const [left, right] = [places(a, key), places(b, key)];
  return b.every((item) => left(item).some((at) => equal(a[at], item))) && a.every((item) => right(item).length > 0);
}

/** Adds two lists; a set or map keeps the places of its elements, and takes what is new or changed from `b`. */
function concatenated(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const key = keyIn(a);
  const all = [...a, ...b];
  if (key === undefined) return all;
  const placesOf = places(all, key);
  for (const item of b) all[placesOf(item)[0]] = item;
  const sum = all.filter((item, at) => at < a.length || placesOf(item)[0] === at);
  const schema = LIST_SCHEMAS.get(a);
  if (schema !== undefined) LIST_SCHEMAS.set(sum, schema);
  return sum;
}

function integer(value: unknown): bigint {
  const isText = typeof value === "string";
  if (isText && !/^[+-]?\d+$/.test(value)) throw notA("int");
  const whole = isText ? BigInt(value.replace("+", "")) : typeof value === "number" ? BigInt(Math.trunc(value)) : value;
  if (typeof whole !== "bigint") throw new TypeError("no such overload");
  if (BigInt.asIntN(64, whole) !== whole) throw new RangeError("integer overflow");
  return whole;
}

/** Refuses an integer, a duration or a time that is too large for Go. */
function bounded(value: unknown): unknown {
  if (typeof value === "bigint") return integer(value);
  const isTime = value instanceof Date;
  if (isTime ? !(value >= FIRST_TIME && value <= LAST_TIME) : BigInt.asIntN(64, nanosOf(value)) !== nanosOf(value)) {
    throw new RangeError(`${isTime ? "timestamp" : "duration"} overflow`);
  }
  return value;
}

const [FIRST_TIME, LAST_TIME] = [new Date(-62_135_596_800_000), new Date(253_402_300_799_999)];
const nanosOf = (duration: unknown): bigint =>
  (duration as Addable).seconds * NANO + BigInt((duration as Addable).nanos);

function timeOf(text: string): unknown {
  if (!/^.{10}T([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) || !isDate(text.slice(0, 10))) {
    throw new SyntaxError("invalid timestamp argument");
  }
  return bounded(new Date(text));
}

const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;

function doubleOf(text: string): number {
  const [, sign, name] = /^([+-]?)(inf|infinity|nan)$/i.exec(text) ?? [];
  const value = name === undefined
    ? Number(text.replaceAll("_", ""))
    : /nan/i.test(name)
    ? NaN
    : Number(`${sign}Infinity`);
  if (name === undefined && (!FLOAT.test(text) || !Number.isFinite(value))) throw notA("double");
  return value;
}

function boolOf(text: string): boolean {
  if (!/^(?:[01tTfF]|true|True|TRUE|false|False|FALSE)$/.test(text)) throw notA("bool");
  return /^[1tT]/.test(text);
}

const notA = (type: string): SyntaxError => new SyntaxError(`type conversion error from 'string' to '${type}'`);

function within(value: unknown, range: unknown): boolean {
  if (Array.isArray(range)) {
    running.meter.charge(range.length);
    return range.some((item) => equal(item, value));
  }
  if (typeof range !== "object" || range === null) throw new TypeError("no such overload");
  return entriesOf(range).has(value);
}

function has(value: unknown, name: string): boolean {
  if (value instanceof Optional) return value.hasValue() && has(value.value(), name);
  if (value instanceof RuleObject) return memberOf(value, name) !== undefined;
  if (typeof value !== "object" || value === null) throw new TypeError("no such overload");
  return entriesOf(value).has(name);
}

const matchCost = (characters: number, source: string): number =>
  Math.ceil(characters / 10) * Math.ceil(source.length / 4);

/** Returns the compiled expression, and charges for one run over the text. */
function patternOf(source: string, text: string): Pattern {
  running.meter.charge(matchCost(1 + text.length, source));
  return re2(source);
}

/**
 * Returns the texts that a pattern finds, as Go does: nothing is found where the match before ends. Text that is read
 * again after a match is charged.
 */
function findAll(text: string, source: string, most = -1n): string[] {
  const pattern = patternOf(source, text);
  const found: string[] = [];
  for (let at = 0, end = -1, last = 0; at <= text.length && (most < 0n || found.length < most);) {
    const match = pattern.find(text, at);
    if (match === undefined) break;
    const [from, to, read] = match;
    if (last > at) running.meter.charge(matchCost(Math.min(read, last) - at, source));
    if (to > from || from !== end) found.push(text.slice(from, to));
    at = to > from ? to : to + (text.codePointAt(to)! > 0xffff ? 2 : 1);
    [end, last] = [to, Math.max(read, last)];
  }
  return found;
}

function replace(text: string, from: string, to: string, most = -1n): string {
  const parts = from === "" ? [...text] : text.split(from);
  const all = from === "" ? ["", ...parts, ""] : parts;
  const count = most < 0n ? Infinity : Number(most);
  return all.map((part, at) => at === 0 ? part : (at <= count ? to : from) + part).join("");
}

/** Where a character of a text begins, as JavaScript counts. */
const unitAt = (text: string, at: bigint): number => [...text].slice(0, Number(at)).join("").length;

/** Finds a text, as Go counts characters. */
function positionOf(text: string, part: string, from: bigint, search: "indexOf" | "lastIndexOf"): bigint {
  if (part === "") return from;
  if (from < 0n) throw new RangeError(`index out of range: ${from}`);
  const unit = text[search](part, unitAt(text, from));
  return unit < 0 ? -1n : BigInt([...text.slice(0, unit)].length);
}

function substring(text: string, from: bigint, to?: bigint): string {
  const characters = [...text];
  const end = to ?? BigInt(characters.length);
  if (from < 0n || from > end || end > characters.length) throw new RangeError(`index out of range: ${from}, ${end}`);
  return characters.slice(Number(from), Number(end)).join("");
}

function split(text: string, separator: string, most = -1n): string[] {
  const parts = separator === "" ? [...text] : text.split(separator);
  const left = most < 0n ? parts.length : Number(most);
  return left === 0 || parts.length <= left
    ? parts.slice(0, left)
    : [...parts.slice(0, left - 1), parts.slice(left - 1).join(separator)];
}

function charAt(text: string, at: bigint): string {
  const characters = [...text];
  if (at < 0n || at > characters.length) throw new RangeError(`index out of range: ${at}`);
  return characters[Number(at)] ?? "";
}

/** Returns what can be compared with `<`. */
const ordinal = (value: unknown): number =>
  (value instanceof Uint8Array ? Array.from(value, (byte) => String.fromCharCode(byte)).join("") : value) as number;
const below = (a: unknown, b: unknown): boolean => ordinal(a) < ordinal(b);

function extreme(list: readonly unknown[], name: string, isBetter: (a: unknown, b: unknown) => boolean): unknown {
  if (list.length === 0) throw new RangeError(`${name} called on empty list`);
  return list.reduce((best, item) => isBetter(item, best) ? item : best);
}

const compareValues = (a: unknown, b: unknown): number => below(a, b) ? -1 : below(b, a) ? 1 : 0;

const optionalAt = (list: readonly unknown[], at: number): Optional =>
  list.length === 0 ? Optional.none() : Optional.of(list[at]);
const sortedBy = (list: readonly unknown[], keys: readonly unknown[]): unknown[] =>
  list.map((_, at) => at).sort((a, b) => compareValues(keys[a], keys[b])).map((at) => list[at]);

function slice(list: readonly unknown[], from: bigint, to: bigint): unknown[] {
  if (from < 0n || to > list.length || from > to) throw new RangeError(`cannot slice(${from}, ${to})`);
  return list.slice(Number(from), Number(to));
}

const subset = (all: readonly unknown[], some: readonly unknown[]): boolean => some.every((item) => within(item, all));

function merged(maps: readonly object[]): Map<unknown, unknown> {
  const sum = new Map<unknown, unknown>();
  for (const [key, value] of maps.flatMap((map) => [...entriesOf(map)])) {
    if (sum.has(key)) throw new RangeError(`insert failed: key ${valueText(key)} already exists`);
    sum.set(key, value);
  }
  return sum;
}

/** Functions by their signature. */
type Functions = Readonly<Record<string, Handler>>;

/** Functions of lists whose elements have an order. */
const ordered = (type: string): Functions => ({
  [`list<${type}>.isSorted(): bool`]: (list) => list.every((item: unknown, at: number) => !below(item, list[at - 1])),
  [`list<${type}>.min(): ${type}`]: (list) => extreme(list, "min", below),
  [`list<${type}>.max(): ${type}`]: (list) => extreme(list, "max", (a, b) => below(b, a)),
});

/** Functions that compare two values of a type. */
const comparing = (type: string, compare: (a: never, b: never) => number): Functions => ({
  [`${type}.isGreaterThan(${type}): bool`]: (a, b) => compare(a as never, b as never) > 0,
  [`${type}.isLessThan(${type}): bool`]: (a, b) => compare(a as never, b as never) < 0,
  [`${type}.compareTo(${type}): int`]: (a, b) => BigInt(compare(a as never, b as never)),
});

const ORDERED = ["int", "double", "string", "bytes", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp"];
/** A duration, whose class the library keeps for itself. */
type Addable = { readonly seconds: bigint; readonly nanos: number; addDuration(other: Addable): Addable };
const bigints = (list: readonly unknown[]): bigint[] => list.map((_, at) => BigInt(at));
const firstOf = (list: readonly unknown[], item: unknown): number => list.findIndex((other) => equal(other, item));
const lastOf = (list: readonly unknown[], item: unknown): number => list.findLastIndex((other) => equal(other, item));
const named = (of: (name: string) => [string, Handler], names: readonly string[]): Functions =>
  Object.fromEntries(names.map(of));

/**
 * The functions that new rules can call on Kubernetes 1.37. As kube-apiserver does, these are what the version before
 * has, so that it can be downgraded.
 */
const FUNCTIONS: Functions = {
  "_eq(A, A): bool": equal,
  "_same(dyn, dyn): bool": (a, b) => {
    running.meter.charge(Math.ceil(Math.min(sizeOf(a), sizeOf(b)) / 10));
    return equal(a, b);
  },
  "_in(A, list<A>): bool": within,
  "_in(K, map<K, V>): bool": within,
  "_within(dyn, dyn): bool": within,
  "_add(list<A>, list<A>): list<A>": concatenated,
  "_has(dyn, string): bool": has,
  "_matches(string, string): bool": (text, pattern) => patternOf(pattern, text).test(text),
  "_tick(int, A): A": (cost, value) => (running.meter.charge(Number(cost)), value),
  "_indices(list<A>): list<int>": bigints,
  "_map(list<K>, list<V>): map<K, V>": (keys, values) =>
    new Map(keys.map((key: unknown, at: number) => [key, values[at]])),
  "_merge(list<map<K, V>>): map<K, V>": merged,
  "_nonZero(A): optional<A>": (value) => isZero(value) ? Optional.none() : Optional.of(value),
  "_int(dyn): int": integer,
  "_double(string): double": doubleOf,
  "_bool(string): bool": boolOf,
  "_string(dyn): string": (value) => valueText(value),
  "_timestamp(string): google.protobuf.Timestamp": timeOf,
  "_bounded(A): A": bounded,
  "_rest(int, int): int": (a, b) => (b === 0n || bounded(a / b), a % b),
  "_order(bytes): string": ordinal,
  "_indexOf(string, string): int": (text, part) => positionOf(text, part, 0n, "indexOf"),
  "_indexOf(string, string, int): int": (text, part, from) => positionOf(text, part, from, "indexOf"),
  "_lastIndexOf(string, string): int": (text, part) => positionOf(text, part, BigInt([...text].length), "lastIndexOf"),
  "_lastIndexOf(string, string, int): int": (text, part, from) => positionOf(text, part, from, "lastIndexOf"),
  "_substring(string, int): string": substring,
  "_substring(string, int, int): string": substring,
  "_split(string, string): list<string>": split,
  "_split(string, string, int): list<string>": split,
  "_lowerAscii(string): string": (text) => text.replace(/[A-Z]+/g, (part: string) => part.toLowerCase()),
  "_upperAscii(string): string": (text) => text.replace(/[a-z]+/g, (part: string) => part.toUpperCase()),
  "int(google.protobuf.Duration): int": nanosOf,
  "string(google.protobuf.Timestamp): string": (time) => valueText(time),
  "string(google.protobuf.Duration): string": (span) => valueText(span),
  "int(google.protobuf.Timestamp): int": (time) => BigInt(Math.floor(time.getTime() / 1000)),
  "string.charAt(int): string": charAt,
  "string.replace(string, string): string": replace,
  "string.replace(string, string, int): string": replace,
  "string.find(string): string": (text, pattern) => findAll(text, pattern, 1n)[0] ?? "",
  "string.findAll(string): list<string>": findAll,
  "string.findAll(string, int): list<string>": findAll,
  ...Object.assign({}, ...ORDERED.map(ordered)) as Functions,
  "list<int>.sum(): int": (list) => integer(list.reduce((a: bigint, b: bigint) => a + b, 0n)),
  "list<google.protobuf.Duration>.sum(): google.protobuf.Duration": (list) =>
    list.reduce((a: Addable, b: Addable) => bounded(a.addDuration(b)), evaluate('duration("0s")')),
  "list<double>.sum(): double": (list) => list.reduce((a: number, b: number) => a + b, 0),
  "list<A>.indexOf(A): int": (list, item) => BigInt(firstOf(list, item)),
  "list<A>.lastIndexOf(A): int": (list, item) => BigInt(lastOf(list, item)),
  "isURL(string): bool": (text) => parses(() => new ParsedUrl(text)),
  "url(string): URL": (text) => new ParsedUrl(text),
  ...named(
    (name) => [`URL.${name}(): string`, (url) => url.parts[name]],
    "getScheme getHost getHostname getPort getEscapedPath".split(" "),
  ),
  "URL.getQuery(): map<string, list<string>>": (url) => url.query(),
  "isQuantity(string): bool": (text) => parses(() => parseQuantity(text)),
  "quantity(string): kubernetes.Quantity": quantityOf,
  "sign(kubernetes.Quantity): int": ({ nanos }) => nanos < 0n ? -1n : nanos > 0n ? 1n : 0n,
  "kubernetes.Quantity.isInteger(): bool": (quantity) => parses(() => wholeOf(quantity)),
  "kubernetes.Quantity.asInteger(): int": wholeOf,
  "kubernetes.Quantity.asApproximateFloat(): double": Number,
  ...comparing("kubernetes.Quantity", (a: ParsedQuantity, b: ParsedQuantity) => a.compare(b)),
  "kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity": (a, b) => a.plus(b, b.scale),
  "kubernetes.Quantity.add(int): kubernetes.Quantity": (a, b) => a.plus(whole(b), 0),
  "kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity": (a, b) => a.plus(negative(b), b.scale),
  "kubernetes.Quantity.sub(int): kubernetes.Quantity": (a, b: bigint) => a.plus(whole(-b), 0),
  "string.format(list<dyn>): string": format,
  "strings_quote(string): string": (text) => JSON.stringify(text),
  "sets_contains(list<A>, list<A>): bool": subset,
  "sets_equivalent(list<A>, list<A>): bool": (a, b) => subset(a, b) && subset(b, a),
  "sets_intersects(list<A>, list<A>): bool": (a, b) => a.some((item: unknown) => within(item, b)),
  "isIP(string): bool": (text) => parses(() => Address.parse(text)),
  "ip(string): net.IP": Address.parse,
  "ip_isCanonical(string): bool": (text) => Address.parse(text).toString() === text,
  "string(net.IP): string": String,
  "net.IP.family(): int": (ip) => BigInt(ip.family),
  ...named((name) => [`net.IP.${name}(): bool`, ADDRESS_KINDS[name]], Object.keys(ADDRESS_KINDS)),
  "isCIDR(string): bool": (text) => parses(() => IpNetwork.parse(text)),
  "cidr(string): net.CIDR": IpNetwork.parse,
  "string(net.CIDR): string": String,
  "net.CIDR.containsIP(string): bool": (network, text) => network.contains(Address.parse(text)),
  "net.CIDR.containsIP(net.IP): bool": (network, ip) => network.contains(ip),
  "net.CIDR.containsCIDR(string): bool": (network, text) => network.contains(IpNetwork.parse(text)),
  "net.CIDR.containsCIDR(net.CIDR): bool": (network, other) => network.contains(other),
  "net.CIDR.ip(): net.IP": (network) => network.address,
  "net.CIDR.masked(): net.CIDR": (network) => network.masked(),
  "net.CIDR.prefixLength(): int": (network) => BigInt(network.bits),
  "format_named(string): optional<Format>": (name) => Optional.of(FORMATS.get(name)),
  ...named((name) => [`format_${name}(): Format`, () => FORMATS.get(name)], [...FORMATS.keys()]),
  "Format.validate(string): optional<list<string>>": (format, text) =>
    format.fits(text) ? Optional.none() : Optional.of([`does not match the format ${format.name}`]),
  "isSemver(string): bool": (text) => parses(() => new Semver(text)),
  "isSemver(string, bool): bool": (text, normalize) => parses(() => new Semver(text, normalize)),
  "semver(string): kubernetes.Semver": (text) => new Semver(text),
  "semver(string, bool): kubernetes.Semver": (text, normalize) => new Semver(text, normalize),
  ...comparing("kubernetes.Semver", (a: Semver, b: Semver) => a.compare(b)),
  "kubernetes.Semver.major(): int": (version) => version.numbers[0],
  "kubernetes.Semver.minor(): int": (version) => version.numbers[1],
  "kubernetes.Semver.patch(): int": (version) => version.numbers[2],
  ...named((type) => [`list<${type}>.sort(): list<${type}>`, (list) => list.toSorted(compareValues)], ORDERED),
  ...named((type) => [`_sortBy(list<A>, list<${type}>): list<A>`, sortedBy], ORDERED),
  "list<A>.first(): optional<A>": (list) => optionalAt(list, 0),
  "list<A>.last(): optional<A>": (list) => optionalAt(list, list.length - 1),
  "list<A>.slice(int, int): list<A>": slice,
  "list<list<A>>.flatten(): list<A>": (list) => list.flat(),
  "list<dyn>.flatten(int): list<dyn>": (list, depth) => list.flat(Number(depth)),
  "list<A>.distinct(): list<A>": (list) => list.filter((item: unknown, at: number) => firstOf(list, item) === at),
  "list<A>.reverse(): list<A>": (list) => list.toReversed(),
  "lists_range(int): list<int>": (size) => bigints(Array(Number(size)).fill(0)),
};

function isZero(value: unknown): boolean {
  if (value instanceof RuleObject) return Object.keys(value[RAW]).length === 0;
  return value === null || value === false || value === "" || value === 0 || value === 0n ||
    (typeof value === "object" &&
      (Array.isArray(value) ? value.length === 0 : value instanceof Map && value.size === 0));
}

/** Registers the types and functions that rules can use. */
export function registerFunctions(environment: Environment): void {
  const types = { URL: ParsedUrl, "kubernetes.Quantity": RuleQuantity, "net.IP": Address, "net.CIDR": IpNetwork };
  for (const [name, ctor] of Object.entries({ ...types, Format, "kubernetes.Semver": Semver })) {
    environment.registerType(name, ctor);
  }
  for (const [signature, body] of Object.entries(FUNCTIONS)) {
    environment.registerFunction(signature, (...values) => body(...values));
  }
}
