import { assertEquals } from "@std/assert";
import { oldestVersion } from "../../src/api/status.ts";

Deno.test("oldestVersion is the smallest version, and empty when versions cannot be compared", () => {
  const cases: [string[], string][] = [
    [["9"], "9"],
    [["10", "9", "11"], "9"],
    [["10", "9", "100000000000000000000000"], "9"],
    [["9", ""], ""],
    [["", "9"], ""],
    [["", ""], ""],
    [["abc"], "abc"],
    [["abc", "abc"], "abc"],
    [["abc", "9"], ""],
    [["9", "9", "abc"], ""],
    [[], ""],
  ];
  for (const [versions, oldest] of cases) assertEquals(oldestVersion(versions), oldest, versions.join());
});
