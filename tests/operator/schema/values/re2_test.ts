import { assert, assertEquals, assertThrows } from "@std/assert";
import { Pattern } from "../../../../src/operator/schema/values/pattern.ts";
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

/** Expressions that Go 1.26 refuses, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  "(a": "missing closing ): `(a`",
  "a)": "unexpected ): `a)`",
  "[a": "missing closing ]: `[a`",
  "[": "missing closing ]: `[`",
  "[[:alpha:": "missing closing ]: `[[:alpha:`",
  "[z-a]": "invalid character class range: `z-a`",
  "[[:foo:]]": "invalid character class range: `[:foo:]`",
  "\\p{Foo}": "invalid character class range: `\\p{Foo}`",
  "\\p{Grek}": "invalid character class range: `\\p{Grek}`",
  "\\p{Lu": "invalid character class range: `\\p{Lu`",
  "a**": "invalid nested repetition operator: `**`",
  "a+?{2}b": "invalid nested repetition operator: `+?{2}`",
  "*": "missing argument to repetition operator: `*`",
  "(|+?)": "missing argument to repetition operator: `+?`",
  "a{1001}": "invalid repeat count: `{1001}`",
  "a{2,1}": "invalid repeat count: `{2,1}`",
  "(?:a{40}){30}b": "invalid repeat count: `{30}`",
  "(?=a)": "invalid or unsupported Perl syntax: `(?=`",
  "(?i-)a": "invalid or unsupported Perl syntax: `(?i-)`",
  "(?P<n!>a)": "invalid named capture: `(?P<n!>`",
  "x(?<n": "invalid named capture: `(?<n`",
  "(a)\\1": "invalid escape sequence: `\\1`",
  "\\Z": "invalid escape sequence: `\\Z`",
  "\\C": "invalid escape sequence: `\\C`",
  "[\\b]": "invalid escape sequence: `\\b`",
  "\\xg0": "invalid escape sequence: `\\xg0`",
  "\\x{1g": "invalid escape sequence: `\\x{1g`",
  "\\x{110000}": "invalid escape sequence: `\\x{110000`",
  "\\é": "invalid escape sequence: `\\é`",
  "a\\": "trailing backslash at end of expression: ``",
};

Deno.test("patterns that RE2 does not have are refused with the words of Go", () => {
  for (const [source, why] of Object.entries(REFUSED)) {
    const { message } = assertThrows(() => re2(source), SyntaxError);
    assertEquals([source, message], [source, `error parsing regexp: ${why}`]);
  }
});

Deno.test("patterns that are too large or too deep are refused", () => {
  const deep = "(".repeat(1_001) + ")".repeat(1_001);
  assertThrows(() => re2(deep), SyntaxError, "error parsing regexp: expression nests too deeply: `((");
  const large = "(?:ab?){1000}".repeat(40);
  assertThrows(() => re2(large), SyntaxError, "error parsing regexp: expression too large: `(?:ab?)");
  assertEquals(re2("(".repeat(900) + "a" + ")".repeat(900)).test("a"), true);
});

Deno.test("patterns find what Perl prefers, and (?U) turns the preference round", () => {
  const found = (source: string, text: string): string | undefined => {
    const match = re2(source).find(text);
    return match && text.slice(match[0], match[1]);
  };
  assertEquals(found("a+", "baaa"), "aaa");
  assertEquals(found("a+?", "baaa"), "a");
  assertEquals(found("(?U)a+", "baaa"), "a");
  assertEquals(found("(?U)a+?", "baaa"), "aaa");
  assertEquals(found("(?U:a+)a*", "baaa"), "aaa");
  assertEquals(found("a|ab", "xab"), "a");
  assertEquals(found("(?:|a)+", "aaa"), "");
  assertEquals(found("c", "ab"), undefined);
});

Deno.test("what patterns remember of texts is bounded, in one pattern and in all", () => {
  let random = 1;
  const text = Array.from({ length: 12_000 }, () => "ab"[(random = random * 16_807 % 2_147_483_647) % 2]).join("");
  const before = Pattern.held;
  const pattern = re2("a[ab]{14}c");
  assertEquals(pattern.test(text), false);
  assert(Pattern.held - before <= 310_000, `${Pattern.held - before}`);
  assertEquals(pattern.test(`${text}c`), /a[ab]{14}c/.test(`${text}c`));
  for (let at = 0; at < 40; at++) re2(`a[ab]{14}c{${at + 1}}`).test(text.slice(0, 6_000));
  assert(Pattern.held <= 3_400_000, `${Pattern.held}`);
});
