/**
 * Quantities of resources, such as `"500m"` and `"1.5Gi"`.
 *
 * {@linkcode parseQuantity} is the entry point: a {@linkcode ParsedQuantity} adds, compares and prints as Kubernetes
 * does. The largest and smallest values are those of an int64 in nanos.
 *
 * @module
 */

/** Marks the type of quantities, which have no such member. */
export declare const quantity: unique symbol;

/**
 * An amount of a resource as Kubernetes writes it: `"500m"`, `"1.5Gi"`, `"2e3"`. {@linkcode parseQuantity} reads one
 * (Kubernetes `resource.Quantity`).
 *
 * Any string can be given for it. {@linkcode ObjectDraft}, `Apply` and patches take a number too, as the server does:
 * `cpu: 1`; it answers with text.
 */
export type Quantity = string & { readonly [quantity]?: never };

/**
 * The suffixes that a quantity is printed with: `Ki`, `Mi` … of powers of 1024 (`BinarySI`), `m`, `k`, `M` … of powers
 * of 1000 (`DecimalSI`), or a power of ten such as `e3` (`DecimalExponent`).
 */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const MAX_DIGITS = 1000;
const NANO = 1_000_000_000n;
/** The largest int64, in nanos: as a literal, so that bundles without quantities leave it out. */
const MAX_BINARY = 9_223_372_036_854_775_807_000_000_000n;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const QUANTITY = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

/**
 * The value of a quantity: exact, never changed, and at most nine decimal places. {@linkcode parseQuantity} makes one.
 *
 * Where `<` and `Number` are applied to it, it counts as the nearest number; `compare` is exact. In JSON it is its
 * canonical text.
 */
export class ParsedQuantity {
  /** The value in units of 10^-9. */
  readonly nanos: bigint;
  /** The suffixes that it is printed with: those that it was written with, or that the first term of a sum had. */
  readonly format: QuantityFormat;

  /** Makes a quantity of `nanos` units of 10^-9, printed with the suffixes of `format`. */
  constructor(nanos: bigint, format: QuantityFormat) {
    this.nanos = nanos;
    this.format = format;
  }

  /**
   * Returns a negative number if this is less than `other`, a positive one if it is more, 0 if the two are equal: `"1"`
   * and `"1000m"` are.
   */
  compare(other: ParsedQuantity): -1 | 0 | 1 {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** Returns the sum. It has the format of this quantity, or of `other` if this is zero. */
  add(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /** Returns the difference. It has the format of this quantity, or of `other` if this is zero. */
  subtract(other: ParsedQuantity): ParsedQuantity {
    return new ParsedQuantity(this.nanos - other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  /**
   * Returns the value in units of 10^`exponent`, rounded away from zero to a whole number: `scaled(-3)` of `"0.5"` is
   * `500n`, thousandths of a CPU; `scaled(0)` of `"1.5Gi"` is its number of bytes.
   *
   * @throws {RangeError} when `exponent` is no whole number from -1000 to 1000.
   */
  scaled(exponent: number): bigint {
    if (!Number.isInteger(exponent) || Math.abs(exponent) > MAX_DIGITS) {
      throw new RangeError(
        `Cannot scale the quantity "${this}" to 10^${exponent}: the exponent must be a whole number from -${MAX_DIGITS} to ${MAX_DIGITS}`,
      );
    }
    return timesPowerOfTen(this.nanos, -9 - exponent);
  }

  /** Returns the nearest JavaScript number; infinity if there is none. */
  valueOf(): number {
    return Number(`${this.nanos}e-9`);
  }

  /**
   * Returns the canonical form: no fraction, and the largest suffix of the format that leaves a whole number. `"1.5Gi"`
   * is printed as `"1536Mi"`, `"0.5"` as `"500m"`.
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
 * Reads a quantity, by the grammar of Kubernetes: an optional sign, digits with an optional point, and a suffix.
 *
 * As in Kubernetes, what is finer than 10^-9 is rounded away from zero, and a value with a binary suffix is capped at
 * 2^63-1. Unlike it, a text without a digit is refused, and so are texts of more than 1000 characters and values of
 * more than 1000 digits before the point.
 *
 * A number, which {@linkcode ObjectDraft} may have, is read as its text.
 *
 * @throws {SyntaxError} when the text is no quantity.
 * @throws {RangeError} when the text or the value is too long.
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

/** Quantities that were read lately, by their text: most objects have the same few. */
const recent = new Map<string, ParsedQuantity>();
const [RECENT, RECENT_LENGTH] = [1_000, 20];

function readQuantity(text: string): ParsedQuantity {
  if (text.length > MAX_DIGITS) {
    throw new RangeError(
      `Cannot read the quantity "${
        text.slice(0, 20)
      }…": it has ${text.length} characters, but a quantity may have at most ${MAX_DIGITS}`,
    );
  }
  const parts = QUANTITY.exec(text);
  if (parts === null) {
    throw new SyntaxError(
      `Cannot read the quantity ${
        JSON.stringify(text)
      }: it must be a number and a suffix, such as "500m", "1.5Gi" or "2e3". ` +
        `The suffixes are n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, and e with a power of ten`,
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
    throw new RangeError(
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

/** The product of `value` and 10^`power`, rounded away from zero. */
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
