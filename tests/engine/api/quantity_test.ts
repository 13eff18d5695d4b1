import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { ParsedQuantity, parseQuantity, type QuantityFormat } from "../../../src/engine/api/quantity.ts";
import * as tables from "./_quantity_tables.ts";

/** A value of a table: an integer times a power of ten. */
function quantity(unscaled: bigint, power: number, format: QuantityFormat = "DecimalSI"): ParsedQuantity {
  if (power < -9) assertEquals(unscaled % 10n ** BigInt(-9 - power), 0n, "a table's value is finer than 10^-9");
  return new ParsedQuantity(
    power >= -9 ? unscaled * 10n ** BigInt(power + 9) : unscaled / 10n ** BigInt(-9 - power),
    format,
  );
}

const formats: readonly QuantityFormat[] = ["BinarySI", "DecimalSI", "DecimalExponent"];

/** Values of all sizes and formats that `parseQuantity` gives. */
const anyQuantity = fc.tuple(
  fc.constantFrom(...formats),
  fc.oneof(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.bigInt({ min: -5000n, max: 5000n })),
  fc.constantFrom(1n, 1000n, 1024n, 10n ** 9n, 1024n * 10n ** 9n, 1024n ** 3n * 10n ** 9n),
).map(([format, value, unit]) => new ParsedQuantity(value * unit, format));

Deno.test("parseQuantity reads what apimachinery reads, with either sign", () => {
  for (const [text, [unscaled, power, format]] of tables.PARSED) {
    for (const [sign, factor] of [["", 1n], ["+", 1n], ["-", -1n]] as const) {
      const parsed = parseQuantity(sign + text);
      assertEquals(parsed.nanos, factor * quantity(unscaled, power).nanos, sign + text);
      assertEquals(parsed.format, format, sign + text);
    }
  }
});

Deno.test("parseQuantity refuses what apimachinery refuses, and texts without a digit", () => {
  for (
    const text of [
      ...tables.REFUSED,
      ".",
      "-",
      "+.",
      "Ki",
      "e3",
      ".Mi",
      "1\n",
      "١",
      "0x10",
      "1_000",
      "NaN",
      "1e",
      "1ee3",
    ]
  ) {
    const error = assertThrows(() => parseQuantity(text), SyntaxError);
    assertStringIncludes(
      error.message,
      `Cannot read the quantity ${JSON.stringify(text)}: it must be a number and a suffix`,
    );
  }
});

Deno.test("a quantity prints the canonical form that apimachinery prints", () => {
  for (const [[unscaled, power, format], canonical, other] of tables.PRINTED) {
    assertEquals(`${quantity(unscaled, power, format)}`, canonical);
    assertEquals(`${parseQuantity(canonical)}`, canonical);
    if (other !== "") assertEquals(`${parseQuantity(other)}`, canonical, other);
    if (unscaled !== 0n) assertEquals(`${quantity(-unscaled, power, format)}`, `-${canonical}`);
  }
  assertEquals(`${parseQuantity("5e0")}`, "5");
  for (const [text, canonical] of tables.REPRINTED) {
    assertEquals(`${parseQuantity(text)}`, canonical);
    assertEquals(`${parseQuantity("-" + text)}`, `-${canonical}`);
  }
});

Deno.test("a quantity that is greater than any suffix keeps its value in print", () => {
  assertEquals(`${parseQuantity("5000E")}`, "5000E");
  assertEquals(`${parseQuantity("5000e18")}`, "5e21");
  assertEquals(`${new ParsedQuantity(1024n ** 7n * 10n ** 9n, "BinarySI")}`, "1024Ei");
  assertEquals(JSON.stringify({ memory: parseQuantity("1.5Gi") }), `{"memory":"1536Mi"}`);
});

Deno.test("compare orders as apimachinery does", () => {
  for (const [a, b, order] of tables.COMPARED_TEXTS) assertEquals(parseQuantity(a).compare(parseQuantity(b)), order);
  for (const [a, powerOfA, b, powerOfB, order] of tables.COMPARED) {
    // The table's values are finer than 10^-9: both sides times 10^10 have the same order.
    const [x, y] = [quantity(a, powerOfA + 10), quantity(b, powerOfB + 10)];
    assertEquals(x.compare(y), order, `${a}e${powerOfA} ${b}e${powerOfB}`);
    assertEquals(y.compare(x), order === 0 ? 0 : -order);
  }
});

Deno.test("sums and differences are those of apimachinery, in the format of the first term that is not zero", () => {
  for (
    const [[a, b, expected], sum] of [
      ...tables.SUMS.map((row) => [row, true] as const),
      ...tables.DIFFERENCES.map((row) => [row, false] as const),
    ]
  ) {
    const result = sum ? quantity(...a).add(quantity(...b)) : quantity(...a).subtract(quantity(...b));
    assertEquals(result.nanos, quantity(...expected).nanos);
    assertEquals(result.format, a[0] === 0n ? b[2] : a[2]);
  }
  for (const text of ["100m", "1Gi"]) {
    const [zero, value] = [parseQuantity("0"), parseQuantity(text)];
    assertEquals([`${value.add(zero)}`, `${zero.add(value)}`, `${value.subtract(zero)}`], [text, text, text]);
    assertEquals(`${zero.subtract(value)}`, `-${text}`);
  }
});

Deno.test("scaled rounds away from zero, as apimachinery does", () => {
  for (const [text, power, unscaled, expectedPower] of tables.ROUNDED) {
    const rounded = quantity(parseQuantity(text).scaled(power), power);
    assertEquals(rounded.nanos, quantity(unscaled, expectedPower).nanos, `${text} to 10^${power}`);
  }
  for (const [power, unit, expected] of tables.SCALED) assertEquals(quantity(1n, power).scaled(unit), expected);
  for (const bad of [0.5, NaN, Infinity, 1001]) {
    assertThrows(() => parseQuantity("1").scaled(bad), RangeError, "Cannot scale");
  }
});

Deno.test("a quantity counts as the nearest number", () => {
  for (const [value, nearest] of tables.NUMBERS) assertEquals(Number(quantity(...value)), nearest);
  assertEquals(
    ["2Ki", "1.1Ki", "1Mi", "2Gi"].map((text) => Number(parseQuantity(text))),
    [2048, 1126.4, 1048576, 2 ** 31],
  );
  // Rounded once: to a number of 10^-9 first, it would end in 83.
  assertEquals(Number(parseQuantity("27021597764222986n")), 27021597.764222987);
  assert(parseQuantity("999Mi") < parseQuantity("1Gi"), "the order is that of the numbers, not of the texts");
});

Deno.test("the canonical form of any quantity is read as the same quantity, and printed as itself if its suffix names the format", () => {
  fc.assert(
    fc.property(anyQuantity, (value) => {
      const printed = value.toString();
      // A binary suffix is capped at 2^63-1 when it is read; a sum is not.
      fc.pre(!(value.format === "BinarySI" && Math.abs(Number(value)) >= 2 ** 63));
      const read = parseQuantity(printed);
      assertEquals(read.nanos, value.nanos, printed);
      // As in apimachinery, a BinarySI value without a suffix is read as DecimalSI: 5000 prints "5000", which reads as
      // 5k.
      if (value.format === "BinarySI" && !printed.endsWith("i")) assertEquals(read.format, "DecimalSI", printed);
      else assertEquals(read.toString(), printed);
      assertEquals(parseQuantity(read.toString()).nanos, value.nanos, printed);
    }),
    { examples: [5000n, -5000n].map((value) => [new ParsedQuantity(value * 10n ** 9n, "BinarySI")]) },
  );
});

Deno.test("compare is a total order, and adding the same quantity keeps it", () => {
  fc.assert(fc.property(anyQuantity, anyQuantity, anyQuantity, (a, b, c) => {
    assertEquals(a.compare(a), 0);
    assertEquals(a.compare(b) + b.compare(a), 0);
    if (a.compare(b) <= 0 && b.compare(c) <= 0) assert(a.compare(c) <= 0);
    assertEquals(a.add(c).compare(b.add(c)), a.compare(b));
    assertEquals(a.add(b).compare(b.add(a)), 0);
    assertEquals(a.add(b).subtract(b).compare(a), 0);
  }));
});

Deno.test("texts that no quantity needs are refused or rounded without computing large powers", () => {
  const refused = [
    "1e999999999",
    "1e4294967296",
    "-1E1001",
    "1e" + "9".repeat(900),
    "9".repeat(10_000),
    "0".repeat(100_000),
    "1".repeat(10_000_000) + "x",
    "9".repeat(1001) + "Ki",
  ];
  for (const text of refused) {
    assertStringIncludes(assertThrows(() => parseQuantity(text), RangeError).message, "Cannot read the quantity");
  }
  assertEquals(`${parseQuantity("1e-999999999")}`, "1e-9");
  assertEquals(`${parseQuantity("-1e-" + "9".repeat(900))}`, "-1e-9");
  assertEquals(`${parseQuantity("0e999999999")}`, "0");
  assertEquals(parseQuantity("9".repeat(990) + "Ki").nanos, (2n ** 63n - 1n) * 10n ** 9n);
  assertEquals(`${parseQuantity("1" + "0".repeat(999))}`, `1${"0".repeat(981)}E`);
});

Deno.test("parseQuantity reads a number as its text", () => {
  const texts = [0.25, 1, -3, 1e21, 1e-7].map((value) => String(parseQuantity(value)));
  assertEquals(texts, ["250m", "1", "-3", "1e21", "100e-9"]);
  assertThrows(() => parseQuantity(NaN), SyntaxError);
});
