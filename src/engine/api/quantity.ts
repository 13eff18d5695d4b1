/**
 * Resource quantities such as `"500m"` and `"1.5Gi"`.
 *
 * {@linkcode parseQuantity} is the entry point: a {@linkcode ParsedQuantity} adds, compares and prints like Kubernetes.
 * A value with a binary suffix is at most 2^63-1, like an int64.
 *
 * @module
 */
import { ValueError } from "../errors/checks.ts";

/** Marks the type of quantities, which have no such member. */
export declare const quantity: unique symbol;

/**
 * A resource amount as Kubernetes writes it: `"500m"`, `"1.5Gi"`, `"2e3"` (Kubernetes `resource.Quantity`). Use
 * {@linkcode parseQuantity} to read it.
 *
 * Any string is assignable. {@linkcode ObjectDraft}, `Apply` and patches also accept a number such as `cpu: 1`, like
 * the server. The server returns text.
 */
export type Quantity = string & { readonly [quantity]?: never };

/**
 * The suffixes used to print a quantity:
 *
 * - `"BinarySI"`: powers of 1024, `Ki`, `Mi` …
 * - `"DecimalSI"`: powers of 1000, `m`, `k`, `M` …
 * - `"DecimalExponent"`: a power of ten such as `e3`.
 */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const MAX_DIGITS = 1000;
const NANO = 1_000_000_000n;
/** The largest int64, in nanos. It is a literal, so that bundles without quantities leave it out. */
const MAX_BINARY = 9_223_372_036_854_775_807_000_000_000n;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const QUANTITY = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * An exact, immutable quantity with at most nine decimal places. {@linkcode parseQuantity} creates it.
 *
 * With `<` and `Number` it counts as the nearest number. `compare` is exact. `JSON.stringify` writes its canonical
 * text.
 */
export class ParsedQuantity {
  /** The value in units of 10^-9. */
  readonly nanos: bigint;
  /** The suffixes for printing. A parsed quantity keeps its suffixes, and a sum takes its first term's suffixes. */
  readonly format: QuantityFormat;

  /** Creates a quantity of `nanos` units of 10^-9, printed with the suffixes in `format`. */
  constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos;
    this.format = format;
  }

  /**
   * Compares two quantities: negative if this is less than `other`, positive if it is more, 0 if they are equal. `"1"`
   * and `"1000m"` are equal.
   */
  compare(other: ParsedQuantity): -1 | 0 | 1 {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** Returns the sum. It has this quantity's format, or the format of `other` if this is zero. */
  add(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /** Returns the difference. It has this quantity's format, or the format of `other` if this is zero. */
  subtract(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos - other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /**
   * Returns the value in units of 10^`exponent`, rounded away from zero to a whole number. For example, `scaled(-3)`
   * turns `"0.5"` into `500n` thousandths of a CPU, and `scaled(0)` turns `"1.5Gi"` into bytes.
   *
   * @throws {RangeError} if `exponent` is not a whole number from -1000 to 1000.
   */
  scaled(exponent: number): bigint {
    if (!Number.isInteger(exponent) || Math.abs(exponent) > MAX_DIGITS) {
      throw new ValueError(
        `Cannot scale the quantity "${this}" to 10^${exponent}: the exponent must be a whole number from -${MAX_DIGITS} to ${MAX_DIGITS}`,
      );
    }
    return timesPowerOfTen(this.nanos, -9 - exponent);
  }

  /** Returns the nearest JavaScript number, or infinity if the value is too large. */
  valueOf(): number {
    return Number(`${this.nanos}e-9`);
  }

  /**
   * Returns the canonical form: no fraction, and the largest suffix that leaves a whole number. `"1.5Gi"` is printed as
   * `"1536Mi"`, and `"0.5"` as `"500m"`.
   *
   * A `BinarySI` value between -1024 and 1024, or with a fraction, is printed as `DecimalSI`.
   */
  toString(): string {
    const binary = this.format === "BinarySI" && this.nanos % NANO === 0n && magnitude(this.nanos) >= 1024n * NANO;
    return binary ? printBinary(this.nanos / NANO) : printDecimal(this.nanos, this.format === "DecimalExponent");
  }

  /** Returns the canonical form, which `JSON.stringify` writes. */
  toJSON(): Quantity {
    return this.toString();
  }
}

/**
 * Parses a quantity in the Kubernetes grammar: an optional sign, digits with an optional point, and a suffix. Use it to
 * add up or compare requests and limits.
 *
 * A part finer than 10^-9 is rounded away from zero, and a value with a binary suffix is capped at 2^63-1, like in
 * Kubernetes. Unlike Kubernetes, it refuses a text without digits, more than 1,000 characters, or more than 1,000
 * digits before the point.
 *
 * It also accepts a number, which {@linkcode ObjectDraft} may contain, and reads it as text.
 *
 * @throws {SyntaxError} if the text is not a quantity.
 * @throws {RangeError} if the text or the value is too long.
 *
 * @example
 * ```ts
 * import { parseQuantity } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const limit = parseQuantity("1.5Gi");
 * assertEquals(limit.toString(), "1536Mi");
 * assertEquals(limit.compare(parseQuantity("1500M")), 1);
 * assertEquals(limit.add(parseQuantity("512Mi")).toString(), "2Gi");
 * assertEquals(Number(parseQuantity("250m")), 0.25);
 * ```
 */
export function parseQuantity(value: Quantity | number): ParsedQuantity {
  const text = String(value);
  let quantity = recent.get(text);
  if (quantity !== undefined) return quantity;
  quantity = readQuantity(text);
  if (recent.size === RECENT) recent.clear();
  if (text.length <= RECENT_LENGTH) recent.set(text, quantity);
  return quantity;
}

/** Recently parsed quantities by their text, because most objects have the same few quantities. */
const recent = new Map<string, ParsedQuantity>();
const [RECENT, RECENT_LENGTH] = [1_000, 20];

function readQuantity(text: string): ParsedQuantity {
  if (text.length > MAX_DIGITS) {
    throw new ValueError(
      `Cannot read the quantity "${text.slice(0, 20)}…": it has ${text.length} characters, but a quantity may have ` +
        `at most ${MAX_DIGITS}`,
    );
  }
  const parts = QUANTITY.exec(text);
  if (parts === null) {
    throw new SyntaxError(
      `Cannot read the quantity ${JSON.stringify(text)}: it must be a number and a suffix, such as "500m", "1.5Gi" ` +
        `or "2e3". The suffixes are n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, and e with a power of ten`,
    );
  }
  const [, sign, whole, fraction = "", suffix = ""] = parts;
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  const format = binary > 0 ? "BinarySI" : decimal >= 0 ? "DecimalSI" : "DecimalExponent";
  const exponent = format === "DecimalExponent"
    ? Number(suffix.slice(1))
    : format === "DecimalSI"
    ? 3 * decimal - 9
    : 0;

  const digits = BigInt(whole + fraction);
  const power = exponent - fraction.length;
  if (digits !== 0n && digits.toString().length + power > MAX_DIGITS) {
    throw new ValueError(
      `Cannot read the quantity "${text}": it has more than ${MAX_DIGITS} digits before the point. Write a smaller power of ten`,
    );
  }
  const mantissa = binary > 0 ? digits << BigInt(10 * binary) : digits;
  let nanos = timesPowerOfTen(mantissa, power + 9);
  if (binary > 0 && nanos > MAX_BINARY) nanos = MAX_BINARY;
  return new ParsedQuantity(
    sign === "-" ? -nanos : nanos,
    binary > 0 && nanos > 0n && nanos < NANO ? "DecimalSI" : format,
  );
}

/** Multiplies `value` by 10^`power`, and rounds away from zero. */
function timesPowerOfTen(value: bigint, power: number): bigint {
  if (value === 0n) return 0n;
  if (power >= 0) return value * 10n ** BigInt(power);
  const unit = value < 0n ? -1n : 1n;
  // Less than one, whatever the power is: do not compute 10^2147483648.
  if (value.toString().length < -power) return unit;
  const divisor = 10n ** BigInt(-power);
  return value / divisor + (value % divisor === 0n ? 0n : unit);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function printBinary(value: bigint): string {
  let step = 0;
  while (step + 1 < BINARY_SUFFIXES.length && value % 1024n === 0n) {
    value /= 1024n;
    step++;
  }
  return `${value}${BINARY_SUFFIXES[step]}`;
}

function printDecimal(nanos: bigint, withExponent: boolean): string {
  if (nanos === 0n) return "0";
  const digits = nanos.toString();
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  const step = Math.min(Math.floor(zeros / 3), withExponent ? Infinity : DECIMAL_SUFFIXES.length - 1);
  const power = 3 * step - 9;
  const suffix = !withExponent ? DECIMAL_SUFFIXES[step] : power === 0 ? "" : `e${power}`;
  return digits.slice(0, digits.length - 3 * step) + suffix;
}
