/**
 * Values as text: `string()` and `format()` of rules.
 *
 * {@linkcode valueText}, {@linkcode format} and {@linkcode checkFormat} are the entry points. Numbers are written as Go
 * writes them: `1e+06`, and `%f` and `%e` in English.
 *
 * @module
 */
import { goFloat } from "../values/keywords.ts";

const VERB = /%(?:\.(\d+))?(.)/gs;
const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const RADIX: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };
/** The types that a verb writes, beside `dyn`. */
const TYPES: Readonly<Record<string, RegExp>> = {
  s: /^(?:string|bool|bytes|int|uint|double|type|null|list.*|map.*|google\.protobuf\.(?:Duration|Timestamp))$/,
  d: /^u?int$/,
  f: /^(?:double|string)$/,
  e: /^(?:double|string)$/,
  b: /^(?:u?int|bool)$/,
  o: /^u?int$/,
  x: /^(?:u?int|string|bytes)$/,
  X: /^(?:u?int|string|bytes)$/,
};
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Writes a number as Go does, also if it is infinite. */
function double(value: number): string {
  if (!Number.isFinite(value)) return `${value}`.replace("Infinity", "Inf").replace(/^I/, "+I");
  return Object.is(value, -0) ? "-0" : goFloat(value);
}

/** Returns a value as `string()` and `%s` write it. `isInner` is true in lists and maps, where texts have quotes. */
export function valueText(value: unknown, isInner: boolean = false): string {
  const quoted = (text: string): string => isInner ? JSON.stringify(text) : text;
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return isInner && Number.isFinite(value) ? value.toFixed(6) : quoted(double(value));
  if (Array.isArray(value)) return `[${value.map((item) => valueText(item, true)).join(", ")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${valueText(key, true)}:${valueText(item, true)}`).sort().join(", ")}}`;
  }
  if ((value as object | null)?.constructor === Object) return "{}"; // the library's empty map
  if (value instanceof Uint8Array) return (isInner ? "b" : "") + quoted(utf8.decode(value));
  if (value instanceof Date) {
    const text = value.toISOString().replace(/\.?0*Z$/, "Z");
    return isInner ? `timestamp("${text}")` : text;
  }
  const text = String(value).replace(/^Type<(.*)>$/, "$1");
  return isInner && /^-?[\d.]+s$/.test(text) ? `duration("${text}")` : text;
}

/** Refuses a list of values whose types do not fit the verbs of a text. @throws {TypeError} as kube-apiserver does. */
export function checkFormat(text: string, types: readonly string[]): void {
  const verbs = [...text.matchAll(VERB)].map(([, , verb]) => verb).filter((verb) => verb !== "%");
  if (verbs.length !== types.length) {
    throw new TypeError(`${verbs.length} arguments of string.format are expected, got ${types.length}`);
  }
  verbs.forEach((verb, at) => {
    const isKnown = Object.hasOwn(TYPES, verb);
    if (!isKnown) throw new TypeError(`unrecognized formatting clause "${verb}"`);
    if (types[at] !== "dyn" && !TYPES[verb].test(types[at])) {
      throw new TypeError(`error during formatting: %${verb} was given ${types[at]}`);
    }
  });
}

/** Writes values into a text with verbs such as `%s`. */
export function format(text: string, values: readonly unknown[]): string {
  let at = 0;
  return text.replace(VERB, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (at >= values.length) throw new RangeError(`index ${at} out of range`);
    return written(verb, values[at++], Number(precision ?? 6));
  });
}

function written(verb: string, value: unknown, precision: number): string {
  if (verb === "s") return valueText(value);
  if (verb === "f" || verb === "e") {
    if (typeof value !== "number" && !/^(?:NaN|-?Infinity)$/.test(String(value))) throw overload(verb);
    const number = Number(value);
    if (verb === "f" || !Number.isFinite(number)) {
      const fraction = { minimumFractionDigits: precision, maximumFractionDigits: precision };
      const options = { ...fraction, roundingMode: "halfEven" } as Intl.NumberFormatOptions;
      // The text is exact, a number would be rounded first.
      return new Intl.NumberFormat("en-US", options).format(number.toFixed(60) as `${number}`);
    }
    const [digits, power] = number.toExponential(6).split("e"); // Go ignores the precision
    const raised = power.slice(1).padStart(2, "0").replace(/\d/g, (digit) => DIGITS[Number(digit)]);
    return `${digits}×10${power.startsWith("-") ? "⁻" : ""}${raised}`;
  }
  const radix = RADIX[verb];
  const cased = (text: string): string => verb === "X" ? text.toUpperCase() : text;
  const whole = typeof value === "object" && value !== null ? value.valueOf() : value; // of an unsigned int
  if (typeof whole === "bigint") return cased(whole.toString(radix));
  if (typeof value === "boolean" && verb === "b") return value ? "1" : "0";
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array) || radix !== 16) throw overload(verb);
  return cased(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
}

const overload = (verb: string): TypeError => new TypeError(`no such overload for %${verb}`);
