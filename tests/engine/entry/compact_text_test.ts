import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { decoder } from "../../../src/engine/api/object.ts";
import { fieldValues } from "../../../src/engine/api/selector.ts";
import {
  binaryText,
  CompactText,
  decoded,
  outlineOf,
  TextTemplate,
  written,
} from "../../../src/engine/entry/compact_text.ts";
import { readValues } from "../../../src/engine/entry/path.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { bigPod } from "../../support/sources/big_pods.ts";
import {
  alike,
  altered,
  damaged,
  PLAIN_KEYS,
  podTree,
  randomTree,
  type Tree,
  treeOf,
  utf8Text,
  type Written,
  writtenTree,
} from "./_random_texts.ts";

/** The random pairs of texts that are compared. `RUNS=300000` compares more. */
const RUNS = Number(Deno.env.get("RUNS") ?? 6_000);
/** Three texts make four pairs. */
const ROUNDS = RUNS / 4;

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function isAscii(text: string): boolean {
  // deno-lint-ignore no-control-regex -- all of ASCII
  return /^[\x00-\x7f]*$/.test(text);
}

/** The template that fits all of these texts, if there is one. */
function templateOf(first: string, ...others: string[]): TextTemplate | undefined {
  let template: TextTemplate | undefined = TextTemplate.ofText(first);
  for (const text of others) template = template?.extended(text);
  return template;
}

/** The text in compact form; fails if it is not exact. */
function compact(template: TextTemplate, text: string): CompactText | undefined {
  const values = template.match(text, isAscii(text));
  if (values === undefined) return undefined;
  const made = new CompactText(template, values, text.length);
  const whole = made.write();
  if (isAscii(text)) assertStrictEquals(whole, text);
  else {
    assert(whole instanceof Uint8Array, "bytes stay bytes");
    assertStrictEquals(binaryText(whole), text);
  }
  assertStrictEquals(made.length, text.length);
  return made;
}

/** Fails if a range of the text is not exact. */
function sameRanges(made: CompactText, { text, ranges }: Written, random: Random): void {
  for (let i = 0; i < 4; i++) {
    const [start, end] = random.pick(ranges);
    assertStrictEquals(made.slice(start, end), decoder.decode(bytesOf(text.slice(start, end))));
  }
}

/** Keys of the parsed value on the way to some part of it; at times others. */
function somePath(random: Random, value: unknown): string[] {
  const keys: string[] = [];
  while (typeof value === "object" && value !== null) {
    const names = Object.keys(value);
    if (names.length === 0 || (keys.length > 0 && random.next() < 0.1)) break;
    const name = random.pick(names);
    value = Object.getOwnPropertyDescriptor(value, name)!.value;
    // Paths pass through arrays; a position is a key of them, too.
    if (!/^\d+$/.test(name) || random.next() < 0.4) keys.push(name);
  }
  if (random.next() < 0.05) {
    keys.splice(random.below(keys.length + 1), random.below(2), random.pick(["none", "0", "length"]));
  }
  return keys.length === 0 ? ["none"] : keys;
}

Deno.test(`${RUNS} random pairs of texts are written out byte for byte, and texts that are alike become compact`, () => {
  const random = new Random(20_261_201);
  const counts = { alike: 0, altered: 0, damaged: 0, compactAltered: 0, compactDamaged: 0, wide: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const kind = (["alike", "alike", "altered", "damaged"] as const)[random.below(4)];
    const tree = random.next() < 0.3 ? podTree(random) : randomTree(random);
    const layout = random.next() < 0.4 ? random.below(1e9) : undefined;
    const write = (it: Tree): Written => writtenTree(it, layout === undefined ? undefined : new Random(layout));
    const others = [0, 1].map(() => kind === "altered" ? altered(random, tree) : alike(random, tree));
    let all = [tree, ...others].map(write);
    if (kind === "damaged") {
      const both = random.next() < 0.5; // a damage at one place of two texts
      const seed = random.below(1e9);
      all = all.map((it, i) =>
        i === 2 || (i === 1 && !both) ? it : { text: damaged(new Random(seed), it.text), ranges: [[0, 0]] }
      );
    }
    const [a, b, c] = all.map((it) => it.text);
    counts[kind]++;
    const made = [[a, b], [a, b, c], [b, c], [c, a]].map(([first, ...others]) => templateOf(first, ...others));
    let fit = 0;
    for (const template of made) {
      for (const it of all) {
        const text = template && compact(template, it.text);
        if (text === undefined) continue;
        fit++;
        if (!isAscii(it.text)) counts.wide++;
        if (it.ranges.length > 1) sameRanges(text, it, random);
      }
    }
    if (fit > 0 && kind === "altered") counts.compactAltered++;
    if (fit > 0 && kind === "damaged") counts.compactDamaged++;
    if (kind !== "alike") continue;
    const template = made[1];
    const isOne = a === b && b === c;
    for (const text of [a, b, c]) {
      assertStrictEquals(template?.match(text, isAscii(text)) !== undefined, !isOne, [a, b, c].join("\n"));
    }
    if (a !== b) { for (const text of [a, b]) assert(made[0]!.match(text, isAscii(text)) !== undefined, text); }
  }
  const share = (count: number, of: number): void => assert(count > of * ROUNDS, JSON.stringify(counts));
  share(counts.alike, 0.45);
  share(counts.altered, 0.2);
  share(counts.damaged, 0.2);
  share(counts.compactAltered, 0.02);
  share(counts.compactDamaged, 0.02);
  share(counts.wide, 0.05);
});

Deno.test("Compact texts have the values that their parsed objects have at any path, or leave it to those who parse", () => {
  const random = new Random(20_261_202);
  let [found, unknown] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const tree = random.next() < 0.5 ? podTree(random) : randomTree(random, PLAIN_KEYS);
    const texts = [tree, alike(random, tree), alike(random, tree)].map((it) => writtenTree(it).text);
    const template = templateOf(texts[0], texts[1], texts[2])!;
    for (const text of texts) {
      const made = template && compact(template, text);
      if (made === undefined) continue;
      const object = JSON.parse(decoded(made));
      for (let i = 0; i < 3; i++) {
        const keys = somePath(random, object);
        const values = made.valuesAt(keys);
        if (values === undefined) {
          assert(text.includes("\\u0001"), "it has no reason to decline");
          unknown++;
        } else {
          assertEquals(values, fieldValues(object, keys), `${keys} of ${text}`);
          const read = readValues(text, keys);
          if (read !== undefined && isAscii(text)) assertEquals(values, read, `${keys} of ${text}`);
          found += values.length;
        }
      }
    }
  }
  assert(found > ROUNDS && unknown > 0, `${found} ${unknown}`);
});

/** A compact text with this value, next to another one, in a template that holds `other` too. */
function withValue(value: string, other = value.startsWith('"') ? `"other"` : "7"): CompactText {
  const text = (it: string): string => `{"a":${it},"b":[${it},{"a":${it}}]}`;
  return compact(templateOf(text(value), text(other))!, text(value))!;
}

Deno.test("Compact texts have the values of numbers, words, escapes and characters as JSON.parse has them", () => {
  const cases: [value: string, expected: string[]][] = [
    ["-0", ["0"]],
    ["1.0", ["1"]],
    ["1e2", ["100"]],
    ["9007199254740993", ["9007199254740992"]],
    ["true", ["true"]],
    ["null", []],
    [`"null"`, ["null"]],
    [`""`, [""]],
    [`"\\u0041\\n\\""`, [`A\n"`]],
    [`"\\u0000"`, ["\0"]],
    [`"\\u0001"`, ["\x01"]],
    [utf8Text(`"日本 é"`), ["日本 é"]],
    [`"\xff"`, ["\ufffd"]],
  ];
  for (const [value, expected] of cases) {
    assertEquals(withValue(value).valuesAt(["a"]), expected, value);
    assertEquals(withValue(value).valuesAt(["b"]), [...expected, undefined], value);
    assertEquals(withValue(value).valuesAt(["b", "a"]), expected, value);
    assertEquals(withValue(value).valuesAt(["b", "0"]), expected, value);
    assertEquals(withValue(value).valuesAt(["a", "length"]), [], value);
    assertEquals(withValue(value).valuesAt(["none"]), [], value);
  }
  // A template whose own text has the mark of a hole does not say.
  const [one, two] = [`{"a":"\\u00011","b":1}`, `{"a":"\\u00011","b":2}`];
  assertEquals(compact(templateOf(one, two)!, one)!.valuesAt(["a"]), undefined);
});

Deno.test("Compact texts have the values at many paths, and remember those of their template", () => {
  const [one, two] = [1, 2].map((value) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, value])))
  );
  const template = templateOf(one, two)!;
  const [a, b] = [compact(template, one)!, compact(template, two)!];
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 200; i++) assertEquals([a, b].map((it) => it.valuesAt([`k${i}`])), [["1"], ["2"]]);
  }
  const { parse } = JSON;
  const texts: string[] = [];
  JSON.parse = (text: string): unknown => (texts.push(text), parse(text));
  try {
    for (let i = 0; i < 9; i++) void [a, b].map((it) => it.valuesAt(["k7"]));
  } finally {
    JSON.parse = parse;
  }
  assertEquals(texts.filter((it) => it.length > 1).length, 1, "the template is looked at once");
});

Deno.test("Templates do not fit texts with other members, elements or kinds of values", () => {
  const text = `{"a":"x","b":[1,2],"c":{"d":null}}`;
  const others = [
    `{"a":"x","b":[1,2],"c":{"e":null}}`,
    `{"a":"x","b":[1,2,3],"c":{"d":null}}`,
    `{"a":"x","b":[1],"c":{"d":null}}`,
    `{"a":"x","b":[1,2],"c":{"d":"null"}}`,
    `{"a":1,"b":[1,2],"c":{"d":null}}`,
    `{"a":"x","b":[1,2],"c":{"d":{}}}`,
    `{"a":"x","b":[1,2],"c":{"d":[]}}`,
    `{"a":"x","c":{"d":null},"b":[1,2]}`,
    `{"a":"x","b":[1,2],"c":{"d":null}} `,
    `{"a": "x","b":[1,2],"c":{"d":null}}`,
    `{"a":"x","b":[1,2],"c":{"d":null},"a":"x"}`,
    `{"a":"\\","b":[1,2],"c":{"d":null}}`,
    `{"a":"x","b":[1,2],"c":{"d":null}`,
    `"a":"x","b":[1,2],"c":{"d":null}}`,
    "{}",
    "",
  ];
  const template = templateOf(text, text.replace("x", "y").replace("[1,2]", "[3,4]").replace("null", "5"))!;
  assert(template.match(text, true) !== undefined);
  for (const other of others) {
    assertEquals(template.match(other, true), undefined, other);
    assertEquals(template.extended(other), undefined, other);
    assertEquals(TextTemplate.ofText(text).extended(other), undefined, other);
    assertEquals(TextTemplate.ofText(other).extended(text), undefined, other);
  }
});

Deno.test("Texts with control characters that separate values are not held compactly, their escapes are", () => {
  const text = (value: string): string => `{"a":"${value}","b":"${"x".repeat(9)}"}`;
  const template = templateOf(text("1"), text("2"))!;
  for (const separator of ["\x00", "\x01", "\x02"]) {
    for (const isAscii of [true, false]) {
      assertEquals(template.match(text(separator), isAscii), undefined);
      assertEquals(template.match(text(`1${separator}2`), isAscii), undefined);
    }
    assertEquals(templateOf(text(separator), text("2")), undefined);
    assertEquals(templateOf(text("2"), text(separator)), undefined);
  }
  for (const value of ["\\u0000", "\\u0001", "\\u0002", "\x03", "\x1f"]) {
    assert(compact(template, text(value)) !== undefined, value);
  }
  assertEquals(template.match(`{"a":"1","b":"${"x".repeat(8)}\x00"}`, true), undefined);
});

Deno.test("Templates of texts that are no JSON have no holes that reach into two values of another text", () => {
  const [one, two] = [`{"a":1"b":0}`, `{"a":2"b":0}`]; // a comma is missing
  for (const template of [templateOf(one, two), templateOf(two, one)]) {
    for (const text of [`{"a":1,"b":0}`, `{"a":{},"b":0}`]) assertEquals(template?.match(text, true), undefined, text);
  }
  const [three, four] = [`{"a":"x"1,"b":0}`, `{"a":"x"2,"b":0}`];
  assertEquals(templateOf(three, four)?.match(`{"a":"x",","b":0}`, true), undefined);
});

Deno.test("Templates have no holes for equal values, and no text has a template without holes", () => {
  const text = (name: string, note: string): string => JSON.stringify({ name, app: "cart", note, count: 1 });
  const template = templateOf(text("a", "n"), text("b", "n"))!;
  assertEquals(template.parts, [`{"name":"`, `","app":"cart","note":"n","count":1}`]);
  assertEquals(template.match(text("c", "n"), true), "\x00c");
  assertEquals(template.match(text("c", "é"), true), undefined);
  assertEquals(template.extended(text("d", "o"))!.parts, [`{"name":"`, `","app":"cart","note":"`, `","count":1}`]);
  const same = templateOf(text("a", "n"), text("a", "n"));
  assertEquals([same?.parts.length, same?.match(text("a", "n"), true)], [1, undefined]);
  assertEquals([template.isString(1), templateOf(`{"a":1}`, `{"a":2}`)!.isString(1)], [true, false]);
  assertEquals([templateOf("{}", "{}"), templateOf("", "")], [undefined, undefined]);
});

Deno.test("A compact text counts what it saves, and its template what it takes", () => {
  const text = (name: string): string => JSON.stringify({ name, app: "x".repeat(1_000) });
  const template = templateOf(text("aa"), text("b"))!;
  const made = compact(template, text("cart"))!;
  assertEquals(made.values, "\x00cart");
  assertEquals(made.length, text("cart").length);
  // Its values take the bytes of the value and a separator.
  assert(made.savedBytes < text("").length && made.savedBytes > text("").length - 100, String(made.savedBytes));
  assert(template.bytes > text("").length + 100 && template.bytes < text("").length + 1_000, String(template.bytes));
  const many = (it: number): string => JSON.stringify(Array(100).fill(it));
  assert(templateOf(many(1), many(2))!.bytes > many(1).length + 100 * 32, "each hole takes a part");
});

Deno.test("A value that a text has in two holes is held once, and written and read in both", () => {
  const text = (a: string, b: string, word = "12345"): string => {
    return `{"a":"${a}","b":"${b}","c":${word},"d":"${word}","e":["${a}"]}`;
  };
  const template = templateOf(text("one-of-a", "one-of-b"), text("twins", "twins"))!;
  const cases: [string, values: string][] = [
    [text("same", "same"), "\x00same\x00\x02\x00\x02"],
    [text("same", "other"), "\x00same\x00other\x00\x02"],
    [text("", ""), "\x00\x00\x02\x00\x02"],
  ];
  for (const [it, values] of cases) {
    const made = compact(template, it)!;
    assertEquals(made.values, values);
    assertEquals(made.savedBytes - it.length, -48 - values.length);
    const { a, b, e } = JSON.parse(it);
    assertEquals([["a"], ["b"], ["e"], ["c"], ["d"]].map((keys) => made.valuesAt(keys)), [[a], [b], e, ["12345"], [
      "12345",
    ]]);
    for (const part of [`"${a}"`, `["${a}"]`, `"${b}"`]) {
      const start = it.lastIndexOf(part);
      assertEquals(made.slice(start, start + part.length), part);
    }
  }
  // A number and a string with the same text are twins, and keep their kinds.
  const words = templateOf(text("a", "b", "1111"), text("c", "d", "2222"))!;
  assertEquals(words.twins, [0, 0, 0, 0, 3, 0]);
  const word = compact(words, text("x", "y", "5678"))!;
  assertEquals(word.values, "\x00x\x00y\x005678\x00\x02\x00x");
  assertEquals([word.valuesAt(["c"]), word.valuesAt(["d"])], [["5678"], ["5678"]]);
});

/** A realistic pod, without managedFields: their keys have its address. */
function podOf(index: number): ReturnType<typeof bigPod> {
  const pod = bigPod(index);
  delete pod.metadata.managedFields;
  return pod;
}

Deno.test("Large realistic pods become a tenth of their text, and are exact at their metadata and labels", () => {
  for (const note of ["", "né 🦕"]) {
    const texts = [0, 1, 2, 3].map((i) => {
      const pod = podOf(i);
      Object.assign(pod.metadata.annotations!, { note });
      return utf8Text(JSON.stringify(pod));
    });
    const template = templateOf(texts[0], ...texts.slice(1))!;
    for (const [i, text] of texts.entries()) {
      const made = compact(template, text)!;
      assert(made.values.length < text.length / 10, `${made.values.length} of ${text.length}`);
      const pod = JSON.parse(decoded(made));
      for (const part of [pod.metadata, pod.metadata.labels, pod.status, pod.spec.containers[1]]) {
        const json = utf8Text(JSON.stringify(part));
        const start = text.indexOf(json);
        assertEquals(made.slice(start, start + json.length), JSON.stringify(part), `${i}`);
      }
      assertEquals(made.valuesAt(["spec", "containers", "name"]), ["app", "proxy"]);
      assertEquals(made.valuesAt(["metadata", "uid"]), [pod.metadata.uid]);
      assertEquals(made.valuesAt(["metadata", "annotations", "note"]), [note]);
    }
  }
});

Deno.test("written and decoded return the whole text, of each form in which it is held", () => {
  const bytes = new TextEncoder().encode(`{"a":"é"}`);
  assertEquals([written("{}"), decoded("{}"), decoded(bytes)], ["{}", "{}", `{"a":"é"}`]);
  assertStrictEquals(written(bytes), bytes);
  assertEquals(decoded(withValue(utf8Text(`"é"`))), `{"a":"é","b":["é",{"a":"é"}]}`);
  assertEquals(written(withValue("1")), `{"a":1,"b":[1,{"a":1}]}`);
  for (const length of [0, 1, 4_095, 4_096, 4_097, 70_000]) {
    const random = new Random(length);
    const large = Uint8Array.from({ length }, () => random.below(256));
    assertEquals(bytesOf(binaryText(large)), large);
  }
});

Deno.test("A text counts as a user of its template until it is released, once", () => {
  const template = templateOf(`{"a":1}`, `{"a":2}`)!;
  let unused = 0;
  template.onUnused = () => unused++;
  const [one, two] = [`{"a":1}`, `{"a":2}`].map((text) => compact(template, text)!);
  for (const it of [one, one, two]) it.use();
  assertEquals(template.users, 2);
  one.release();
  one.release();
  assertEquals([template.users, unused], [1, 0]);
  two.release();
  two.release();
  assertEquals([template.users, unused], [0, 1]);
  assertEquals([one.write(), two.valuesAt(["a"])], [`{"a":1}`, ["2"]], "they can still be read");
  one.use(); // it is in a cache again
  one.release();
  assertEquals([template.users, unused], [0, 2]);
});

Deno.test("Outlines have the places of values, and equal shapes for texts whose values differ alone", () => {
  const text = `{"a" : "x\\"" , "b":[-1.5,true],"c":{}}`;
  const { places } = outlineOf(text);
  const values = places.filter((_, i) => i % 2 === 0).map((start, i) => text.slice(start, places[2 * i + 1]));
  assertEquals(values, [`x\\"`, "-1.5", "true"]);
  const random = new Random(20_261_203);
  let differ = 0;
  for (let round = 0; round < 2_000; round++) {
    const tree = podTree(random);
    const [one, same, other] = [tree, alike(random, tree), altered(random, tree)].map((it) => writtenTree(it).text);
    assertEquals(outlineOf(one).shape, outlineOf(same).shape);
    if (templateOf(one, other) === undefined) {
      differ++;
      assert(outlineOf(one).shape !== outlineOf(other).shape, `${one}\n${other}`);
    }
  }
  assert(differ > 1_000, String(differ));
});

Deno.test("Texts that are nested deeply are exact, and have their values", () => {
  for (const [open, close] of [[`{"a":`, "}"], ["[", "]"], [`[{"a":`, "}]"]]) {
    const text = (value: number): string => `{"a":${open.repeat(5_000)}${value}${close.repeat(5_000)},"b":${value}}`;
    const template = templateOf(text(1), text(2))!;
    const made = compact(template, text(34))!;
    assertEquals(made.valuesAt(["b"]), ["34"]);
    assertEquals(made.slice(0, made.length), text(34));
  }
});

/** The characters that are looked at, copied or searched while `act` runs. */
function steps(act: () => void): number {
  let count = 0;
  const names = ["charCodeAt", "indexOf", "slice", "includes", "split", "startsWith"] as const;
  const originals = names.map((name) => String.prototype[name] as (...given: unknown[]) => unknown);
  for (const [i, name] of names.entries()) {
    Object.defineProperty(String.prototype, name, {
      configurable: true,
      writable: true,
      value(this: string, ...given: unknown[]): unknown {
        const result = originals[i].apply(this, given);
        count++;
        if (name === "slice") count += (result as string).length;
        else if (name === "includes" || name === "split") count += this.length;
        else if (name === "indexOf") {
          count += (result === -1 ? this.length : result as number) - Number(given[1] ?? 0);
        }
        return result;
      },
    });
  }
  try {
    act();
  } finally {
    for (const [i, name] of names.entries()) {
      Object.defineProperty(String.prototype, name, { configurable: true, writable: true, value: originals[i] });
    }
  }
  return count;
}

/** Texts of about `size` bytes whose reading might cost more than their size. */
const HOSTILE: Readonly<Record<string, (size: number, value: string) => string>> = {
  "a string of backslashes": (size, it) => `{"a":"${"\\\\".repeat(size / 2)}","b":"${it}"}`,
  "backslashes without an end": (size, it) => `{"b":"${it}","a":"${"\\".repeat(size - 1 | 1)}`,
  "a string of quotes": (size, it) => `{"a":"${'\\"'.repeat(size / 2)}","b":"${it}"}`,
  "quotes": (size, it) => `{"b":"${it}","a":${'"'.repeat(size)}}`,
  "empty strings with space": (size, it) => `["${it}"${',"" '.repeat(size / 4)}]`,
  "strings with space and no comma": (size, it) => `["${it}",${'"" '.repeat(size / 3)}1]`,
  "space behind a string": (size, it) => `["${it}"${" ".repeat(size)}]`,
  "numbers": (size, it) => `[${`${it},`.repeat(size / 2)}1]`,
  "strings": (size, it) => `[${`"${it}",`.repeat(size / 4)}1]`,
  "one number": (size, it) => `[${it.repeat(size)}]`,
  "one string": (size, it) => `["${it.repeat(size)}"]`,
  "keys": (size, it) => `{${`"k":${it},`.repeat(size / 6)}"k":1}`,
  "brackets": (size, it) => `${"[".repeat(size / 2)}${it}${"]".repeat(size / 2)}`,
  "colons": (size, it) => `[${it}${":".repeat(size)}]`,
};

for (const [what, textOf] of Object.entries(HOSTILE)) {
  Deno.test(`Learning and using a template costs what a text is long: ${what}`, () => {
    const [small, large] = [25_000, 100_000].map((size) =>
      steps(() => {
        const texts = ["1", "2", "3"].map((it) => textOf(size, it));
        const template = templateOf(texts[0], texts[1], texts[2]);
        for (const text of texts) {
          outlineOf(text);
          const values = template?.match(text, true);
          if (values !== undefined) new CompactText(template!, values, text.length).write();
        }
      })
    );
    assert(large <= 80 * 100_000, `${large} steps`);
    assert(large <= 5 * small, `${small} steps, and ${large} for four times the size`);
  });
}

Deno.test("Trees are written as JSON that has their values", () => {
  const pod = JSON.parse(JSON.stringify(podOf(3)));
  assertEquals(JSON.parse(writtenTree(treeOf(pod)).text), pod);
  assertEquals(JSON.parse(writtenTree(treeOf(pod), new Random(1)).text), pod);
});

Deno.test("Compact texts leave values that are no JSON to those who parse all of the text", () => {
  for (const value of ["01", "tru", "-", `"\\x"`, `"\n"`, `"\\u12"`]) {
    const text = withValue(value);
    assertEquals(text.valuesAt(["a"]), undefined, value);
    assertEquals(text.valuesAt(["b", "a"]), undefined, value);
  }
});

Deno.test("Compact texts keep the mark of a byte order at the beginning of a value", () => {
  assertEquals(withValue(utf8Text(`"\ufeffa\ufeff"`)).valuesAt(["a"]), ["\ufeffa\ufeff"]);
});

Deno.test("Templates do not mix up paths whose keys have control characters", () => {
  const text = withValue("1");
  assertEquals(text.valuesAt(["b", "a"]), ["1"]);
  assertEquals(text.valuesAt(["b\0a"]), []);
  assertEquals(text.valuesAt([]), [undefined]);
  assertEquals(text.valuesAt([""]), []);
});

Deno.test("The values at a path through many elements cost what a compact text is long", () => {
  const counts = [4_000, 16_000].map((size) => {
    const text = (value: string): string => `{"a":[${`"${value}",`.repeat(size)}{}]}`;
    const made = compact(templateOf(text("1"), text("2"))!, text("3"))!;
    void made.valuesAt(["a"]); // the template is looked at once
    return steps(() => assertEquals(made.valuesAt(["a"])?.length, size + 1));
  });
  assert(counts[1] <= 5 * counts[0] && counts[1] <= 40 * 16_000, `${counts}`);
});
