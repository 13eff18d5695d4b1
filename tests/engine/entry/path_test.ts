import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { fieldValues } from "../../../src/engine/api/selector.ts";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { entryOf } from "../../../src/engine/entry/entry.ts";
import { field, ofEntries, readValues, valuesAt } from "../../../src/engine/entry/path.ts";
import { asFrozen, METADATA, parses, TEXT, type Thing, unread } from "../_unread.ts";

const name = field("spec.containers.name");

Deno.test("field reads an unread entry without parsing its object, and a parsed one without parsing anything", () => {
  const texts: string[] = [];
  for (const entry of [unread(), asFrozen(unread()), unread(new TextEncoder().encode(TEXT))]) {
    parses(() => assertEquals(ofEntries(name)(entry), ["app"]), texts);
    void entry.object;
    assertEquals(parses(() => assertEquals(ofEntries(name)(entry), ["app"])), 0);
  }
  assertEquals(texts, ['"app"', '"app"', '"app"']);
});

Deno.test("field reads what is not ASCII, and keys in brackets", () => {
  const metadata = METADATA.replace("}", `},"annotations":{"example.com/owner":"日本","ä":"1"}`);
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  for (const entry of [unread(text, metadata), unread(new TextEncoder().encode(text), metadata)]) {
    assertEquals(valuesAt(entry, ["note"]), ["ä日"]);
    assertEquals(valuesAt(entry, ["metadata", "annotations", "ä"]), ["1"]);
    assertEquals(ofEntries<Thing, unknown>(field('metadata.annotations["example.com/owner"]'))(entry), ["日本"]);
  }
});

Deno.test("field parses an object whose layout it cannot read, and throws the error of one that cannot be parsed", () => {
  const spaced = unread(TEXT.replace('"spec":', '"spec": '));
  assertEquals(ofEntries(name)(spaced), ["app"]);
  assertEquals(parses(() => void spaced.object), 0);
  const unparsable = unread(TEXT.replace('"spec":{', '"spec":{{'));
  const error = assertThrows(() => ofEntries(name)(unparsable), DecodeError, 'Cannot parse "shop/cart-0" at version 7');
  assertStrictEquals(unparsable.error, error);
});

Deno.test("field is an index function and makes predicates, of objects as of entries", () => {
  const object = {
    metadata: { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: {
      containers: [{ name: "app" }, { name: "proxy" }],
      replicas: 3,
      paused: false,
      empty: [],
      none: null,
      deep: {},
    },
  };
  const entry: CacheEntry<typeof object> = entryOf(object);
  const predicates = [
    [field("spec.containers.name").equals("app"), true],
    [field("spec.containers.name").equals("none"), false],
    [field("spec.containers.name").notEquals("app"), false],
    [field("spec.containers.name").notEquals("none"), true],
    [field("spec.containers.name").in("none", "proxy"), true],
    [field("spec.containers.name").in(), false],
    [field("spec.replicas").equals(3), true],
    [field("spec.replicas").equals("3"), true],
    [field("spec.paused").in(false), true],
    [field("spec.paused").exists(), true],
    [field("spec.empty").exists(), false],
    [field("spec.none").exists(), false],
    [field("spec.none").notEquals("x"), true],
    [field("spec.deep").exists(), true],
    [field("spec.deep").equals("undefined"), false],
  ] as const;
  for (const [index, [predicate, expected]] of predicates.entries()) {
    assertEquals(
      [predicate(object), ofEntries<typeof object, boolean>(predicate)(entry)],
      [expected, expected],
      `${index}`,
    );
  }
  assertEquals(field("spec.replicas")(object), ["3"]);
  assertEquals(field("spec.deep")(object), []);
  assertEquals(field("spec.containers")(object), []);
  assertEquals(String(field("spec.containers.name")), "spec.containers.name");
  assert(ofEntries((thing: typeof object) => thing.spec.replicas === 3)(entry));
});

Deno.test("field reads an element of an array of values by its position, and the elements of one of objects", () => {
  const text = `{"metadata":${METADATA},"cells":["web",3,null,{"1":"x"}],"rows":[{"0":"a"},{"0":"b"}],"length":2}`;
  const cases: [string, string[]][] = [
    ["cells.0", ["web"]],
    ["cells.1", ["3", "x"]],
    ["cells.2", []],
    ["cells.4", []],
    ["cells.length", []],
    ["rows.0", ["a", "b"]],
  ];
  for (const [keys, values] of cases) {
    const entry = unread(text);
    assertEquals([ofEntries(field(keys))(entry), field(keys)(entry.object)], [values, values], keys);
  }
});

Deno.test("field refuses a text that is no path", () => {
  assertThrows(() => field("spec..name"), SyntaxError, "Cannot read the field path");
});

const KEYS = ["a", "b", "metadata", "x.y/z", "", "{", '"', "schlüssel", "__proto__"];
/** Parts of strings that look like the structure around them. */
const PIECES = ["{", "}", "[", "]", ",", ":", '"', "\\", " ", "a", "ä日", '"a":', '"},"a":{', "\\u0022"];

const string = fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => JSON.stringify(pieces.join("")));
const scalar = fc.oneof(
  { weight: 3, arbitrary: string },
  { weight: 1, arbitrary: fc.constantFrom("null", "true", "false", "0", "-0", "1.50", "-1.5e-7", "1E+3", '"\\u0061"') },
);
/** The text of values. A key may come several times in an object; `JSON.parse` takes the last one. */
const { value, object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    scalar,
    tie("object"),
    fc.array(tie("value"), { maxLength: 4 }).map((elements) => `[${elements.join()}]`),
  ),
  object: fc.array(fc.tuple(fc.constantFrom(...KEYS), tie("value")), { maxLength: 5 })
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
}));
const keys = fc.array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 4 });

Deno.test("readValues returns what a walk of the parsed object returns, and declines only arrays of arrays", () => {
  let found = 0;
  fc.assert(
    fc.property(object, keys, fc.constantFrom("", `,"a":{"b":"behind"}}`), (text, keys, behind) => {
      const values = readValues(text + behind, keys);
      if (values === undefined) return assert(/\[\[|,\[/.test(text), "it has no reason to decline");
      assertEquals(values, fieldValues(JSON.parse(text), keys));
      found += values.length;
    }),
    { numRuns: 5_000 },
  );
  assert(found > 100, `${found} values were found`);
});

Deno.test("readValues returns the same, or declines, where there is white space between tokens", () => {
  let read = 0;
  fc.assert(
    fc.property(object, keys, fc.nat(), (text, keys, place) => {
      const colons = [...text.matchAll(/":|",|},|":{/g)];
      const at = colons.length === 0 ? 1 : colons[place % colons.length].index + 1;
      const spaced = `${text.slice(0, at)} ${text.slice(at)}`;
      const values = readValues(spaced, keys);
      if (values === undefined) return;
      read++;
      assertEquals(values, fieldValues(JSON.parse(spaced), keys));
    }),
    { numRuns: 5_000 },
  );
  assert(read > 100, `${read} texts were read`);
});

Deno.test("readValues uses the range of the metadata, for paths below it and to pass it over", () => {
  fc.assert(
    fc.property(object, value, fc.constantFrom(["metadata", "a"], ["a"], ["b", "a"]), (metadata, other, keys) => {
      const text = `{"b":${other},"metadata":${metadata},"a":${other}}`;
      const start = text.lastIndexOf(metadata, text.length - other.length - 6);
      const values = readValues(text, keys, start, start + metadata.length);
      if (values !== undefined) assertEquals(values, fieldValues(JSON.parse(text), keys));
    }),
    { numRuns: 2_000 },
  );
  // The range alone is read: what is before it is no JSON here, and its content is not when another path is read.
  assertEquals(readValues(`?,"metadata":{"name":"a"}`, ["metadata", "name"], 13, 25), ["a"]);
  assertEquals(readValues(`{"metadata":{? },"spec":{"a":"b"}}`, ["spec", "a"], 12, 16), ["b"]);
});

Deno.test("readValues finds keys that are written with escapes", () => {
  const cases: [string, string[], string[]][] = [
    [`{"sp\\u0065c":{"a":"1"}}`, ["spec", "a"], ["1"]],
    [`{"spec":{"a":"1"},"sp\\u0065c":{"a":"2"}}`, ["spec", "a"], ["2"]],
    [`{"a\\/b":"1"}`, ["a/b"], ["1"]],
    [`{"a\\u0026b":"1"}`, ["a&b"], ["1"]],
    [`{"a\\\\":"1"}`, ["a\\"], ["1"]],
    [`{"a\\tb":"1"}`, ["a\\tb"], []],
  ];
  for (const [text, keys, expected] of cases) assertEquals(readValues(text, keys), expected, text);
});

Deno.test("readValues takes the text of numbers and booleans, and a mark in place of an object, and no null", () => {
  const text = `{"a":[1.50,-0,1e3,true,false,null,{"b":1},"c",{"a":{}}],"b":{"a":[]}}`;
  assertEquals(readValues(text, ["a"]), ["1.5", "0", "1000", "true", "false", undefined, "c", undefined]);
  assertEquals(readValues(text, ["a", "a"]), [undefined]);
  assertEquals(readValues(text, ["b", "a"]), []);
  assertEquals(readValues(text, ["b", "a", "c"]), []);
});

Deno.test("readValues declines a text that ends anywhere before its object does, and one that is no JSON where it reads", () => {
  const text = `{"a":[{"b":[1,"]"],"c":{"d":"}"}}],"e":{"f":true},"g":"\\""}`;
  for (let end = 0; end < text.length; end++) {
    assertEquals(readValues(text.slice(0, end), ["g"]), undefined, text.slice(0, end));
  }
  assertEquals(readValues(text, ["g"]), ['"']);
  for (const unparsable of [`{"a":{{"b":1}}`, `{"a":"\\x"}`, `{"a" "b"}`, `{"\\x":1,"a":2}`, `{"a":?}`, `[`]) {
    assertEquals(readValues(unparsable, ["a"]), undefined, unparsable);
  }
});

Deno.test("readValues costs what a text is long, however often brackets are in strings, and however deep it is", () => {
  const many = 100_000;
  const texts = [
    `{"a":[${Array(many).fill('"]"').join()}],"b":"c"}`,
    `{"a":[${Array(many).fill('"[,"').join()}],"b":"c"}`,
    `{"a":${"[".repeat(many)}${"]".repeat(many)},"b":"c"}`,
    `{"a":${'{"a":'.repeat(many)}1${"}".repeat(many)},"b":"c"}`,
    `{"a":[${Array(many).fill("[1]").join()}],"b":"c"}`,
    `{"a":"${"\\\\".repeat(many)}","b":"c"}`,
  ];
  for (const text of texts) assertEquals(readValues(text, ["b"]), ["c"], text.slice(0, 20));
});

Deno.test("fieldValues walks arrays that are nested deeper than the stack allows", () => {
  const text = `{"a":${"[".repeat(100_000)}{"b":1}${"]".repeat(100_000)}}`;
  assertEquals(readValues(text, ["a", "b"]), undefined);
  assertEquals(fieldValues(JSON.parse(text), ["a", "b"]), ["1"]);
});
