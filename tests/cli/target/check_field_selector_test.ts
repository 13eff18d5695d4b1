import { assertThrows } from "@std/assert";
import { UsageError } from "../../../src/cli/errors/usage_error.ts";
import { checkFieldSelector } from "../../../src/cli/target/check_field_selector.ts";

Deno.test("checkFieldSelector accepts selectors that servers can parse", () => {
  for (
    const text of [
      "",
      "a=b",
      "a==b",
      "a!=b",
      "a=",
      "a=b,c!=d",
      "a=b,",
      ",a=b",
      "a=b\\,c",
      "a=b\\=c",
      "a=\\\\",
      "a.b.c=d e",
    ]
  ) {
    checkFieldSelector(text);
  }
});

Deno.test("checkFieldSelector shows the position of the error", () => {
  const cases: [string, string][] = [
    ["&&&", `found "&&&" at character 1, expected "key=value" or "key!=value"`],
    ["a=b,cd", `found "cd" at character 5, expected`],
    ["a=b,!=d", `found "!=" at character 5, expected the name of a field before it`],
    ["=b", `found "=" at character 1`],
    ["a=b=c", `found "=" at character 4, expected "\\=" in a value`],
    ["a=b\\c", `found "\\" at character 4`],
    ["a=b\\", `found "\\" at character 4`],
    ["a===b", `found "=" at character 4`],
  ];
  for (const [text, message] of cases) {
    assertThrows(() => checkFieldSelector(text), UsageError, `--field-selector "${text}": ${message}`);
  }
});
