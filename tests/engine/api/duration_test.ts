import { assertEquals, assertThrows } from "@std/assert";
import { formatDuration, parseDuration } from "../../../src/engine/api/duration.ts";

Deno.test("parseDuration reads what Go's time.ParseDuration reads, without a sign", () => {
  // From the table of Go's time_test.go; milliseconds in place of nanoseconds.
  const cases: [string, number][] = [
    ["0", 0],
    ["5s", 5_000],
    ["30s", 30_000],
    ["1478s", 1_478_000],
    ["5.0s", 5_000],
    ["5.6s", 5_600],
    ["5.s", 5_000],
    [".5s", 500],
    ["1.0s", 1_000],
    ["1.00s", 1_000],
    ["1.004s", 1_004],
    ["1.0040s", 1_004],
    ["100.00100s", 100_001],
    ["10ns", 0.00001],
    ["11us", 0.011],
    ["12µs", 0.012],
    ["12μs", 0.012],
    ["13ms", 13],
    ["14s", 14_000],
    ["15m", 900_000],
    ["16h", 57_600_000],
    ["3h30m", 12_600_000],
    ["10.5s4m", 250_500],
    ["1h2m3s4ms5us6ns", 3_723_004.005006],
    ["39h9m14.425s", 140_954_425],
    ["52763797000ns", 52_763.797],
    ["0.3333333333333333333h", 1_200_000],
    ["0.100000000000000000000h", 360_000],
    ["2562047h47m", 9_223_372_020_000],
    ["0.07s", 70],
    ["0.29s", 290],
    ["0.4ns", 0], // nanoseconds are the smallest part
  ];
  for (const [text, ms] of cases) assertEquals(parseDuration(text), ms, text);
});

Deno.test("parseDuration names a text that is no duration, and shows how to write one", () => {
  for (
    const text of ["", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "3000000", "1m 30s", "30s,", "1e3s", "1minute"]
  ) {
    assertThrows(() => parseDuration(text), SyntaxError, `Cannot read the duration "${text}": `, text);
  }
  assertThrows(() => parseDuration("-5s"), SyntaxError, 'numbers with units, such as "1h30m" or "250ms"');
  assertThrows(() => parseDuration("90"), SyntaxError, 'such as "90s"');
  for (const text of ["2562047h48m", "9223372036854775808ns", "1".repeat(400) + "h"]) {
    assertThrows(() => parseDuration(text), RangeError, 'it must be shorter than "2562047h48m"', text);
  }
});

Deno.test("formatDuration prints what Go's Duration.String prints, and parseDuration reads it back", () => {
  // From the table of Go's time_test.go.
  const cases: [string, number][] = [
    ["0s", 0],
    ["1ns", 0.000001],
    ["1.1µs", 0.0011],
    ["2.2ms", 2.2],
    ["3.3s", 3_300],
    ["4m5s", 245_000],
    ["4m5.001s", 245_001],
    ["5h6m7.001s", 18_367_001],
    ["8m0.000000001s", 480_000.000001],
    ["1h0m0s", 3_600_000],
    ["1h30m0s", 5_400_000],
    ["10s", 10_000],
    ["999.999ms", 999.999],
    ["2562047h47m0s", 9_223_372_020_000],
  ];
  for (const [text, ms] of cases) assertEquals([formatDuration(ms), parseDuration(text)], [text, ms]);
  for (const ms of [-1, NaN, Infinity, 9_223_372_036_855]) {
    assertThrows(() => formatDuration(ms), RangeError, `but it is ${ms}`);
  }
});
