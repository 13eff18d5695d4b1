import { assertEquals } from "@std/assert";
import type { Pattern } from "../../../../src/operator/schema/values/pattern.ts";
import { re2 } from "../../../../src/operator/schema/values/re2.ts";

const CASES = new URL("../../../support/schema/re2_search.txt", import.meta.url);

/** Returns the text of a literal of Go. */
function unquoted(literal: string): string {
  const escape = /\\(?:x(?<hex>[0-9a-f]{2})|U(?<long>[0-9a-f]{8})|u(?<short>[0-9a-f]{4})|(?<letter>.))/gs;
  return literal.slice(1, -1).replace(escape, (...match) => {
    const { hex, long, short, letter } = match.at(-1);
    const code = long ?? short ?? hex;
    if (code !== undefined) return String.fromCodePoint(parseInt(code, 16));
    return { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }[letter as string] ?? letter;
  });
}

/** Returns a match as the file has it: the places in UTF-8. */
function placesOf(pattern: Pattern, text: string): string {
  const match = pattern.find(text);
  const bytes = (end: number): number => new TextEncoder().encode(text.slice(0, end)).length;
  return match === undefined ? "-" : `${bytes(match[0])}-${bytes(match[1])}`;
}

/** The expressions of the file, with their texts and what is found in each. */
function* cases(): Generator<{ source: string; texts: readonly string[]; results: readonly string[] }> {
  let texts: string[] = [];
  let found: { source: string; texts: readonly string[]; results: string[] } | undefined;
  let isText = false;
  for (const line of Deno.readTextFileSync(CASES).split("\n")) {
    if (line === "" || line.startsWith("#") || /^[A-Z]/.test(line)) continue;
    if (line.startsWith('"') && isText) texts.push(unquoted(line));
    else if (/^[-\d]/.test(line)) found!.results.push(line);
    else {
      if (found !== undefined) yield found;
      found = line.startsWith('"') ? { source: unquoted(line), texts, results: [] } : undefined;
      if (line === "strings") texts = [];
      isText = line === "strings" || (isText && line !== "regexps");
    }
  }
  if (found !== undefined) yield found;
}

Deno.test("patterns find what RE2 finds in its own cases, which Go runs too", () => {
  let ran = 0;
  for (const { source, texts, results } of cases()) {
    if (source.includes("\\C")) continue; // one byte, which Go has not
    const [full, part] = [re2(`\\A(?:${source})\\z`), re2(source)];
    assertEquals(results.length, texts.length, source);
    results.forEach((result, at) => {
      const text = texts[at];
      // As in Go's own test: RE2's \B looks between the bytes of one character.
      if (source.includes("\\B") && /\P{ASCII}/u.test(text)) return;
      const wanted = result.split(";").slice(0, 2).map((places) => places.split(" ")[0]);
      assertEquals([source, text, placesOf(full, text), placesOf(part, text)], [source, text, ...wanted]);
      assertEquals([full.test(text), part.test(text)], wanted.map((places) => places !== "-"), source);
      ran++;
    });
  }
  assertEquals(ran, 1_804);
});
