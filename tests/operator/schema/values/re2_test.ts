import { assertEquals, assertThrows } from "@std/assert";
import { re2 } from "../../../../src/operator/schema/values/re2.ts";

/** Expressions, values that each matches, and values that it does not, as Go 1.26 has it. */
const CASES: readonly (readonly [source: string, matched: readonly string[], unmatched: readonly string[]])[] = [
  ["a\\-b", ["a-b"], ["ab"]],
  ["\\@\\#", ["@#"], ["@"]],
  ["^[\\w-.]+$", ["a.b", "a_b"], ["a b"]],
  ["^[]a]+$", ["]a"], ["b"]],
  ["^[^]^]$", ["b"], ["^"]],
  ["^[[^]$", ["[", "^"], ["a"]],
  ["^]$", ["]"], ["a"]],
  ["a{,2}", ["a{,2}"], ["aa"]],
  ["a{2}", ["aa"], ["a"]],
  ["[[:alpha:]]+[[:digit:]]$", ["a1"], ["1"]],
  ["^[^[:space:]]+$", ["ab"], ["a b"]],
  ["[:alpha:]", ["a"], ["x"]],
  ["^[[:alpha:]-]+$", ["a-b"], ["a1"]],
  ["\\Aab\\z", ["ab"], ["abc"]],
  ["(?m)\\Ab\\z", ["b"], ["a\nb"]],
  ["(?m)^b$", ["a\nb"], ["ab"]],
  ["^((?i)ab)c$", ["ABc"], ["abC"]],
  ["^(?:a(?i)b|c(?s).)$", ["aB"], ["c", "Aa"]],
  ["a(?i)b|B$", ["ab", "b", "AB"], []],
  ["(?i-s)^AB$", ["ab"], ["a\nb"]],
  ["(?i)a(?-i)b", ["ab"], ["Aa", "AB"]],
  ["(?P<x>a)b", ["ab"], ["a"]],
  ["^(?P<n>a|(?P<m>b))c?$", ["b"], ["c"]],
  ["\\Qa.b\\E$", ["a.b"], ["axb"]],
  ["^\\x{1F600}$", ["😀"], ["a"]],
  ["^\\pL+$", ["é"], ["1"]],
  ["^\\p{Greek}+$", ["αβ"], ["ab"]],
  ["^\\p{^Lu}$", ["a"], ["AB"]],
  ["^\\p{Lu}\\P{Lu}$", ["Aa"], ["AB"]],
  ["^\\s+$", [" \t\n"], ["\u000b", "\u00a0"]],
  ["^[\\s]+$", [" \t\n"], ["\u00a0"]],
  ["^\\S+$", ["\u00a0"], ["a b"]],
  ["^.$", ["😀"], ["ab"]],
  ["\\a", ["\u0007"], ["a"]],
];

for (const [source, matched, unmatched] of CASES) {
  Deno.test(`the pattern ${source} matches what it matches in Go`, () => {
    const expression = re2(source);
    assertEquals([...matched, ...unmatched].filter((value) => expression.test(value)), matched);
  });
}

Deno.test("patterns that RE2 does not have, or that are not expressed, are refused", () => {
  const sources = [
    "(a",
    "a)",
    "[a",
    "a**",
    "(?=a)",
    "(?z)a",
    "(a)\\1",
    "[z-a]",
    "\\Z",
    "\\p{Foo}",
    "[[:foo:]]",
    "(?U)a+",
  ];
  for (const source of sources) {
    assertThrows(() => re2(source), SyntaxError, `Cannot check values against the pattern ${JSON.stringify(source)}: `);
  }
});
