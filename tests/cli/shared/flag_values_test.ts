import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../src/cli/shared/usage.ts";
import { durationMs } from "../../../src/cli/shared/flag_values.ts";

Deno.test("durationMs adds up units such as 1h30m", () => {
  const cases: [string, number][] = [
    ["0", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["1h1m1s1ms", 3_661_001],
    ["596h", 2_145_600_000],
  ];
  for (const [text, ms] of cases) assertEquals(durationMs(text, "timeout"), ms, text);
});

Deno.test("durationMs refuses invalid durations, and names the flag", () => {
  for (const text of ["", "3", "3x", "s", "-3s", "1m 30s", "30s,", "1e3s", "∞"]) {
    assertThrows(() => durationMs(text, "resync"), UsageError, `--resync must be a duration`, text);
  }
});

Deno.test("durationMs refuses durations longer than a timer allows", () => {
  assertThrows(() => durationMs("597h", "timeout"), UsageError, `--timeout must be at most "596h", but it is "597h"`);
});
