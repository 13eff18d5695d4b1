import { assertEquals } from "@std/assert";
import { preciseTime } from "../../../src/engine/api/precise_time.ts";

Deno.test("preciseTime writes all times in one form, whose order is their order", () => {
  const noon = "2026-01-31T12:00:00.000000000Z";
  assertEquals(
    ["2026-01-31T12:00:00Z", "2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00.000Z", noon].map(preciseTime),
    [noon, noon, noon, noon],
  );
  assertEquals(preciseTime("2026-01-01T00:30:00.123456789+01:00"), "2025-12-31T23:30:00.123456789Z");
  for (const other of ["", "noon", "2026-01-31 12:00:00Z", "2026-13-31T12:00:00Z", "2026-01-31T12:00:00.1234567890Z"]) {
    assertEquals(preciseTime(other), undefined, other);
  }
});
