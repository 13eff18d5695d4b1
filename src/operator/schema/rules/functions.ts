/**
 * The functions that rules can call, in addition to the CEL library's functions: Kubernetes' own, and its extensions.
 *
 * {@linkcode registerFunctions} is the entry point. `expression.ts` rewrites operators and
 * functions whose results differ from kube-apiserver's to the functions here whose names begin with `_`.
 *
 * @module
 */
import { type Environment, Optional } from "@marcbachmann/cel-js";
import { ParsedQuantity, parseQuantity } from "../../../engine/api/quantity.ts";
import { equalJson, isObject } from "../../../engine/api/json.ts";
import { jsonKey } from "../values/json_key.ts";
import { textsOf } from "../../../engine/api/members.ts";
import { type Form, FORMS } from "../values/forms.ts";
import type { Pattern } from "../values/pattern.ts";
import { re2 } from "../values/re2.ts";
import { Meter } from "./cost.ts";
import { LIST_SCHEMAS, RAW, RuleObject } from "./declared_types.ts";
import { Address, ADDRESS_KINDS, IpNetwork, ParsedUrl } from "./network.ts";

/** Counts the cost of the rule that runs. Rules are synchronous, so one runs at a time. */
export const running: { meter: Meter } = { meter: new Meter(Infinity) };

// deno-lint-ignore no-explicit-any
type Handler = (...values: any[]) => unknown;

const NANO = 1_000_000_000n;

function quantityOf(text: string): ParsedQuantity {
  try {
    return parseQuantity(text);
  } catch {
    const pattern = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
    throw new SyntaxError(`quantities must match the regular expression '${pattern}'`);
  }
}

function wholeOf({ nanos }: ParsedQuantity): bigint {
  const whole = nanos / NANO;
  if (whole * NANO === nanos && BigInt.asIntN(64, whole) === whole) return whole;
  throw new RangeError("cannot convert value to integer");
}

const plus = ({ nanos, format }: ParsedQuantity, more: bigint): ParsedQuantity =>
  new ParsedQuantity(nanos + more, format);

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
    if (found === null) throw new SyntaxError(`${JSON.stringify(text)} is no semantic version`);
    this.numbers = found.slice(1, 4).map(BigInt);
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

const DATE = /^\d{4}-(0[1-9]|1[0-2])-\d\d$/;
const fitting = (pattern: RegExp) => (text: string): boolean => pattern.test(text);
/** Longer texts are not looked at. */
const having = (form: Form, most: number) => (text: string): boolean => text.length <= most && form(text).length === 0;
/** The server replaces a `-` at the end of a prefix by a letter. */
const prefixOf = (fits: (text: string) => boolean) => (text: string): boolean => fits(text.replace(/-$/, "a"));
const isDate = (text: string): boolean => DATE.test(text) && new Date(text).toISOString().startsWith(text);
const label = having(FORMS.dnsLabel, 63);
const subdomain = having(FORMS.subdomain, 253);
const label1035 = having(FORMS.letterLabel, 63);

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
    uri: (text: string) => parses(() => new ParsedUrl(text)),
    uuid: fitting(/^[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}$/i),
    byte: fitting(/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/),
    date: isDate,
    datetime: (text: string) =>
      isDate(text.slice(0, 10)) && /^.{10}[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text),
  }).map(([name, fits]) => [name, new Format(name, fits)]),
);

function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

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
  if (isText && !/^[+-]?\d+$/.test(value)) throw new SyntaxError("type conversion error from 'string' to 'int'");
  const whole = isText ? BigInt(value.replace("+", "")) : typeof value === "number" ? BigInt(Math.trunc(value)) : value;
  if (typeof whole !== "bigint") throw new TypeError("no such overload");
  if (BigInt.asIntN(64, whole) !== whole) throw new RangeError("integer overflow");
  return whole;
}

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
 * Returns the texts that a pattern finds, as Go does: nothing is found where the match before ends. It charges for
 * text that it reads again after a match.
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

function charAt(text: string, at: bigint): string {
  const characters = [...text];
  if (at < 0n || at > characters.length) throw new RangeError(`index out of range: ${at}`);
  return characters[Number(at)] ?? "";
}

/** Returns a value as `format` writes it. */
function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value instanceof Date) return value.toISOString().replace(/\.?0*Z$/, "Z");
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${shown(key)}: ${shown(item)}`).sort().join(", ")}}`;
  }
  return String(value);
}

function format(text: string, values: readonly unknown[]): string {
  let at = 0;
  return text.replace(/%(?:\.(\d+))?(.)/gs, (_, digits: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (at >= values.length) throw new RangeError(`index ${at} out of range`);
    const value = values[at++];
    const precision = digits === undefined ? 6 : Number(digits);
    const radix = { d: 10, b: 2, o: 8, x: 16, X: 16 }[verb];
    if (verb === "s") return shown(value);
    if (verb === "f") return Number(value).toFixed(precision);
    if (verb === "e") return Number(value).toExponential(precision).replace(/e([+-])(\d)$/, "e$10$2");
    if (radix === undefined) throw new SyntaxError(`unrecognized formatting clause "${verb}"`);
    if (typeof value === "bigint" || typeof value === "number" && verb === "d") {
      const written = value.toString(radix);
      return verb === "X" ? written.toUpperCase() : written;
    }
    if (typeof value === "boolean" && verb === "b") return value ? "1" : "0";
    if (typeof value !== "string" || radix !== 16) throw new TypeError(`no such overload for %${verb}`);
    const bytes = Array.from(new TextEncoder().encode(value), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return verb === "X" ? bytes.toUpperCase() : bytes;
  });
}

const below = (a: unknown, b: unknown): boolean => (a as number) < (b as number);

function extreme(list: readonly unknown[], name: string, isBetter: (a: unknown, b: unknown) => boolean): unknown {
  if (list.length === 0) throw new RangeError(`${name} called on empty list`);
  return list.reduce((best, item) => isBetter(item, best) ? item : best);
}

const compareValues = (a: unknown, b: unknown): number => below(a, b) ? -1 : below(b, a) ? 1 : 0;

function slice(list: readonly unknown[], from: bigint, to: bigint): unknown[] {
  if (from < 0n || to > list.length || from > to) throw new RangeError(`cannot slice(${from}, ${to})`);
  return list.slice(Number(from), Number(to));
}

const subset = (all: readonly unknown[], some: readonly unknown[]): boolean => some.every((item) => within(item, all));

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

const ORDERED = ["int", "double", "string", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp"];
const bigints = (list: readonly unknown[]): bigint[] => list.map((_, at) => BigInt(at));
const firstOf = (list: readonly unknown[], item: unknown): number => list.findIndex((other) => equal(other, item));
const lastOf = (list: readonly unknown[], item: unknown): number => list.findLastIndex((other) => equal(other, item));
const named = (of: (name: string) => [string, Handler], names: readonly string[]): Functions =>
  Object.fromEntries(names.map(of));

/** The functions by the minor version of Kubernetes that introduced them. */
const FUNCTIONS: Readonly<Record<number, Functions>> = {
  0: {
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
    "_merge(list<map<K, V>>): map<K, V>": (maps) => new Map(maps.flatMap((map: object) => [...entriesOf(map)])),
    "_nonZero(A): optional<A>": (value) => isZero(value) ? Optional.none() : Optional.of(value),
    "_int(dyn): int": integer,
    "string(google.protobuf.Timestamp): string": shown,
    "string(google.protobuf.Duration): string": shown,
    "int(google.protobuf.Timestamp): int": (time) => BigInt(Math.floor(time.getTime() / 1000)),
    "string.charAt(int): string": charAt,
    "string.replace(string, string): string": replace,
    "string.replace(string, string, int): string": replace,
    "string.find(string): string": (text, pattern) => findAll(text, pattern, 1n)[0] ?? "",
    "string.findAll(string): list<string>": findAll,
    "string.findAll(string, int): list<string>": findAll,
    ...Object.assign({}, ...ORDERED.map(ordered)) as Functions,
    "list<int>.sum(): int": (list) => list.reduce((a: bigint, b: bigint) => a + b, 0n),
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
  },
  28: {
    "isQuantity(string): bool": (text) => parses(() => parseQuantity(text)),
    "quantity(string): kubernetes.Quantity": quantityOf,
    "sign(kubernetes.Quantity): int": ({ nanos }) => nanos < 0n ? -1n : nanos > 0n ? 1n : 0n,
    "kubernetes.Quantity.isInteger(): bool": (quantity) => parses(() => wholeOf(quantity)),
    "kubernetes.Quantity.asInteger(): int": wholeOf,
    "kubernetes.Quantity.asApproximateFloat(): double": Number,
    ...comparing("kubernetes.Quantity", (a: ParsedQuantity, b: ParsedQuantity) => a.compare(b)),
    "kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity": (a, b) => plus(a, b.nanos),
    "kubernetes.Quantity.add(int): kubernetes.Quantity": (a, b) => plus(a, b * NANO),
    "kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity": (a, b: ParsedQuantity) => plus(a, -b.nanos),
    "kubernetes.Quantity.sub(int): kubernetes.Quantity": (a, b: bigint) => plus(a, -b * NANO),
  },
  29: {
    "string.format(list<dyn>): string": format,
    "strings_quote(string): string": (text) => JSON.stringify(text),
    "sets_contains(list<A>, list<A>): bool": subset,
    "sets_equivalent(list<A>, list<A>): bool": (a, b) => subset(a, b) && subset(b, a),
    "sets_intersects(list<A>, list<A>): bool": (a, b) => a.some((item: unknown) => within(item, b)),
  },
  30: {
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
  },
  31: {
    "format_named(string): optional<Format>": (name) => Optional.of(FORMATS.get(name)),
    ...named((name) => [`format_${name}(): Format`, () => FORMATS.get(name)], [...FORMATS.keys()]),
    "Format.validate(string): optional<list<string>>": (format, text) =>
      format.fits(text) ? Optional.none() : Optional.of([`does not match the format ${format.name}`]),
  },
  33: {
    "isSemver(string): bool": (text) => parses(() => new Semver(text)),
    "isSemver(string, bool): bool": (text, normalize) => parses(() => new Semver(text, normalize)),
    "semver(string): kubernetes.Semver": (text) => new Semver(text),
    "semver(string, bool): kubernetes.Semver": (text, normalize) => new Semver(text, normalize),
    ...comparing("kubernetes.Semver", (a: Semver, b: Semver) => a.compare(b)),
    "kubernetes.Semver.major(): int": (version) => version.numbers[0],
    "kubernetes.Semver.minor(): int": (version) => version.numbers[1],
    "kubernetes.Semver.patch(): int": (version) => version.numbers[2],
  },
  34: {
    ...named((type) => [`list<${type}>.sort(): list<${type}>`, (list) => list.toSorted(compareValues)], ORDERED),
    "list<A>.slice(int, int): list<A>": slice,
    "list<list<A>>.flatten(): list<A>": (list) => list.flat(),
    "list<dyn>.flatten(int): list<dyn>": (list, depth) => list.flat(Number(depth)),
    "list<A>.distinct(): list<A>": (list) => list.filter((item: unknown, at: number) => firstOf(list, item) === at),
    "list<A>.reverse(): list<A>": (list) => list.toReversed(),
    "lists_range(int): list<int>": (size) => bigints(Array(Number(size)).fill(0)),
  },
  37: { "list<A>.includes(A): bool": (list, item) => within(item, list) },
};

function isZero(value: unknown): boolean {
  if (value instanceof RuleObject) return Object.keys(value[RAW]).length === 0;
  return value === null || value === false || value === "" || value === 0 || value === 0n ||
    (typeof value === "object" &&
      (Array.isArray(value) ? value.length === 0 : value instanceof Map && value.size === 0));
}

/**
 * Registers the types and functions that a version of Kubernetes has. As kube-apiserver does, new rules can call what
 * the version before has, so that it can be downgraded.
 */
export function registerFunctions(environment: Environment, version: number): void {
  const types = { URL: ParsedUrl, "kubernetes.Quantity": ParsedQuantity, "net.IP": Address, "net.CIDR": IpNetwork };
  for (const [name, ctor] of Object.entries({ ...types, Format, "kubernetes.Semver": Semver })) {
    environment.registerType(name, ctor);
  }
  for (const [since, functions] of Object.entries(FUNCTIONS)) {
    if (Number(since) >= version) continue;
    for (const [signature, body] of Object.entries(functions)) {
      environment.registerFunction(signature, (...values) => body(...values));
    }
  }
}
