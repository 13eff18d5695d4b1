import { assertEquals } from "@std/assert";
import { ageOf } from "../../../../src/cli/terminal/text/age_of.ts";

Deno.test("ageOf rounds down as kubectl does", () => {
  const now = Date.UTC(2026, 0, 10);
  const cases: [number, string][] = [
    [0, "0s"],
    [-5, "0s"],
    [119, "119s"],
    [120, "2m"],
    [125, "2m5s"],
    [7_200, "120m"],
    [28_800, "8h"],
    [172_799, "47h"],
    [172_800, "2d"],
  ];
  for (const [seconds, age] of cases) {
    assertEquals(ageOf(new Date(now - seconds * 1_000).toISOString(), now), age, String(seconds));
  }
  assertEquals(ageOf(undefined, now), "<unknown>");
  assertEquals(ageOf("yesterday", now), "<unknown>");
});
