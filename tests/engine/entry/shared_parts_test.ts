import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { unreadEntry } from "../../../src/engine/entry/entry.ts";
import { frozenEntry } from "../../../src/engine/entry/entry_around.ts";
import { deepFreeze, SharedParts } from "../../../src/engine/entry/shared_parts.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { bigPod } from "../../support/sources/big_pods.ts";
import { MOVED } from "../../support/sources/moved_parts.ts";
import { parses, TEXT, type Thing } from "../_unread.ts";

/** What is read of an entry. */
interface Read {
  readonly object: Record<string, unknown>;
}

/** An unread version of the object `key`. */
function version(text: string | Uint8Array, parts: SharedParts, { key = "shop/cart-0", uid = "u-1" } = {}): Read {
  const identity = { key, namespace: "shop", uid, resourceVersion: "7" };
  return frozenEntry(unreadEntry<Thing>(identity, text, 1, 2), parts) as unknown as Read;
}

function all(): SharedParts {
  return new SharedParts(() => true);
}

/** An object with members that are compared one by one, and `data`, which is compared whole. */
const ANY = `{"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"a":[1],"b":{"c":2}},"data":{"k":"v"}}`;

Deno.test("A version shares the parts whose bytes are those of the version that was read before", () => {
  const parts = all();
  const first = version(ANY, parts).object as typeof changed;
  const texts: string[] = [];
  let changed!: { spec: Record<string, unknown>; metadata: Record<string, unknown>; data: unknown };
  parses(() => changed = version(ANY.replace(`"c":2`, `"c":3`), parts).object as typeof changed, texts);
  assertEquals(changed as unknown, JSON.parse(ANY.replace(`"c":2`, `"c":3`)));
  assertEquals(texts, ["3"]);
  assertStrictEquals(changed.metadata, first.metadata);
  assertStrictEquals(changed.data, first.data);
  assertStrictEquals(changed.spec.a, first.spec.a);
  assert(changed.spec.b !== first.spec.b);
  const again = version(ANY.replace(`"c":2`, `"c":3`).replace(`"name":"a"`, `"name":"longer"`), parts)
    .object as typeof changed;
  assertStrictEquals(again.spec, changed.spec);
  assertStrictEquals(again.metadata.labels, first.metadata.labels);
  for (const part of [again, again.metadata, again.spec, again.spec.b]) assert(Object.isFrozen(part));
});

Deno.test("A version shares nothing with another object of the same name, or if nothing was read", () => {
  const parts = all();
  const first = version(ANY, parts);
  const unread = version(ANY, parts);
  assertEquals(parts.bytes, 0);
  void first.object;
  assert(version(ANY, parts, { uid: "u-2" }).object.spec !== first.object.spec);
  assert(version(ANY, parts, { key: "shop/cart-1" }).object.spec !== first.object.spec);
  // The version that was read last has another uid.
  assert(unread.object.spec !== first.object.spec);
  assertStrictEquals(version(ANY, parts).object.spec, unread.object.spec);
});

Deno.test("A text that is not JSON, or has an unusual layout, is read as it would be alone", () => {
  const pairs = [
    [ANY, ANY.replace(`"c":2`, `"c":02`)],
    [ANY, ANY.slice(0, -1)],
    [ANY, `${ANY},"type":"MODIFIED"}`],
    [ANY, ANY.replace(`"spec":`, `"spec": `)],
    [ANY, ANY.replace(`"spec"`, `"sp\\u0065c"`)],
    [ANY, ANY.replace(`"data":`, `"spec":1,"data":`)],
    [ANY, ANY.replace(`"spec":`, `"spec":1,"spec":`)],
    [ANY, ANY.replace(`"a":[1]`, `"a":[1],"a":2`)],
    [ANY, ANY.replace(`"a":[1]`, `"a":2,"a":[1]`)],
    [ANY.replace(`"a":[1]`, `"a":[1],"a":[2]`), ANY],
    [
      ANY.replace(`"data":`, `"__proto__":{"x":[1]},"data":`),
      ANY.replace(`"data":`, `"__proto__":{"x":[1]},"9":{},"data":`),
    ],
    [ANY, ANY.replace(`{"a":[1],"b":{"c":2}}`, `[]`)],
    [ANY.replace(`{"a":[1],"b":{"c":2}}`, `null`), ANY],
    [ANY, ANY.replace(`{"a":[1],"b":{"c":2}}`, `{}`)],
    [ANY.replace(`{"a":[1],"b":{"c":2}}`, `{}`), ANY],
    ...["[1,]", "[,1]", "[ 1]", "[1 ]", "[1,2}", "[1]]", "[]", "[1,[1]", "[01]"].map((
      to,
    ) => [ANY, ANY.replace("[1]", to)]),
    [ANY, ANY.replace(`"data"`, `"da\nta"`)],
    [ANY, ANY.replace(`"data"`, `"da\x80ta"`)],
    ["[1]", ANY],
    [ANY, "{}"],
  ];
  for (const [before, after] of pairs) {
    const parts = all();
    const [first, second] = [version(before, parts), version(after, parts)];
    void first.object;
    const alone = version(after, all());
    let wanted: unknown;
    try {
      wanted = alone.object;
    } catch (error) {
      assert(error instanceof DecodeError);
      assertEquals(assertThrows(() => second.object, DecodeError).message, error.message, after);
      continue;
    }
    assertEquals(second.object, wanted as Record<string, unknown>, after);
    assertEquals(JSON.stringify(second.object), JSON.stringify(wanted), after);
  }
});

Deno.test("Parts are shared beyond ASCII, of bytes that are part of a larger buffer, and of long members", () => {
  const parts = all();
  const text = (name: string, size: number): string => {
    return JSON.stringify({ metadata: { name: `grün${name}` }, spec: { é: ["🦕"] }, data: { text: "x".repeat(size) } });
  };
  const bytes = (name: string, size = 70_000): Uint8Array => {
    const own = new TextEncoder().encode(text(name, size));
    const larger = new Uint8Array(own.length + 10);
    larger.set(own, 5);
    return larger.subarray(5, -5);
  };
  const arrived = bytes("1");
  const first = version(arrived, parts).object;
  new Uint8Array(arrived.buffer).fill(0); // the buffer is used again
  const second = version(bytes("22"), parts).object;
  assertEquals(second, JSON.parse(text("22", 70_000)));
  assertStrictEquals(second.spec, first.spec);
  assertStrictEquals(second.data, first.data);
  const third = version(bytes("333", 70_001), parts).object;
  assertStrictEquals(third.spec, first.spec);
  assert(third.data !== first.data);
});

Deno.test("An object of thousands of members shares those that have not changed", () => {
  const parts = all();
  const of = (members: number, last: number): string => {
    const spec = Object.fromEntries(Array.from({ length: members }, (_, i) => [`k${i}`, [i === 0 ? last : i]]));
    return JSON.stringify({ metadata: {}, spec });
  };
  for (const members of [900, 2_000]) {
    const first = version(of(members, 1), parts).object as { spec: Record<string, unknown> };
    const second = version(of(members, 2), parts).object as typeof first;
    assertEquals(second, JSON.parse(of(members, 2)));
    assertStrictEquals(second.spec.k5, first.spec.k5);
  }
});

Deno.test("SharedParts counts what it keeps, and keeps no versions of deleted objects for long", () => {
  const cached = new Set<string>();
  const parts = new SharedParts((key) => cached.has(key));
  let notes = 0;
  parts.onKept = () => notes++;
  const read = (key: string): void => void version(TEXT, parts, { key }).object;
  for (let i = 0; i < 100; i++) {
    cached.add(`shop/${i}`);
    read(`shop/${i}`);
    read(`shop/${i}`);
  }
  const each = parts.bytes / 100;
  assert(each > TEXT.length && each < TEXT.length + 500, String(each));
  assertEquals(notes, 200);
  // Handlers still read the deletions that come last.
  for (let i = 0; i < 100; i++) {
    cached.delete(`shop/${i}`);
    parts.deleted(`shop/${i}`);
  }
  assertEquals(parts.bytes, 64 * each);
  // Deleted objects that are read late are forgotten, too.
  for (let i = 0; i < 10_000; i++) read(`late/${i}`);
  assert(parts.bytes < 300 * each, String(parts.bytes / each));
  parts.isOn = false;
  parts.clear();
  read("shop/1");
  assertEquals(parts.bytes, 0);
  parts.isOn = true;
  read("shop/1");
  assertEquals(parts.bytes, each);
});

Deno.test("deepFreeze freezes what is not frozen, and no shared part twice", () => {
  const shared = deepFreeze({ a: [{}] });
  const value = deepFreeze({ shared, own: { b: [] } });
  assert([value, value.own, value.own.b].every(Object.isFrozen));
});

/** An array by the texts of its elements. */
interface Elements {
  readonly elements: readonly string[];
}

type Value = string | Elements | Member[];
type Member = [key: string, value: Value];

const KEYS = [
  "metadata",
  "spec",
  "status",
  "kind",
  "data",
  "a",
  "b",
  "10",
  "2",
  "__proto__",
  "ü",
  "x\\ny",
  "constructor",
];
const VALUES = [
  "1",
  "12",
  `"s"`,
  "null",
  "{}",
  "[]",
  `[{"a":1}]`,
  `{"b":[1,2]}`,
  `"\\"}]"`,
  `{"a":"{\\\\"}`,
  "-1.5e3",
  "true",
  `{"é":[{"x":{}}]}`,
];

function pick(random: Random, from: readonly string[]): string {
  return from[random.below(from.length)];
}

/** Members of an object. Some have members themselves. Now and then the text is unusual. */
function members(random: Random, depth = 0): Member[] {
  const count = random.below(6);
  return Array.from({ length: count }, () => {
    const key = pick(random, KEYS);
    const isDivided = depth < 2 && random.next() < (depth === 0 ? 0.6 : 0.2);
    if (isDivided) return [key, members(random, depth + 1)];
    return [key, random.next() < 0.3 ? { elements: values(random) } : pick(random, VALUES)];
  });
}

function values(random: Random): string[] {
  return Array.from({ length: random.below(5) }, () => pick(random, VALUES));
}

/** The kinds of places that may have white space. A text has it in one of them, as it is declined sooner in others. */
const PLACES = [
  "before elements",
  "behind elements",
  "in empty arrays",
  "before keys",
  "before colons",
  "before values",
  "behind values",
  "in empty objects",
] as const;
type Place = typeof PLACES[number];

/** The text of a value, with white space at some of these places. */
function textOf(value: Value, place?: Place, random = new Random(1)): string {
  if (typeof value === "string") return value;
  const at = (it: Place): string => place === it && random.next() < 0.5 ? " " : "";
  if ("elements" in value) {
    const elements = value.elements.map((it) => at("before elements") + it + at("behind elements"));
    return `[${elements.length === 0 ? at("in empty arrays") : elements}]`;
  }
  const members = value.map(([key, it]) => {
    const before = `${at("before keys")}"${key}"${at("before colons")}:`;
    return before + at("before values") + textOf(it, place, random) + at("behind values");
  });
  return `{${members.length === 0 ? at("in empty objects") : members}}`;
}

function changed(random: Random, object: Member[], depth = 0): Member[] {
  const result = object.map(([key, value]): Member => {
    if (random.next() < 0.7) return [key, value];
    if (random.next() < 0.8) {
      if (Array.isArray(value)) return [key, changed(random, value, depth + 1)];
      if (typeof value !== "string") {
        const elements = value.elements.map((it) => random.next() < 0.7 ? it : pick(random, VALUES));
        if (random.next() < 0.2) elements.splice(random.below(4), random.below(2), ...values(random));
        return [key, { elements }];
      }
    }
    return random.next() < 0.5 ? [key, pick(random, VALUES)] : [pick(random, KEYS), value];
  });
  if (random.next() < 0.1) result.splice(random.below(result.length + 1), 0, ...members(random, depth + 1));
  if (random.next() < 0.1) result.splice(random.below(result.length + 1), 1);
  if (random.next() < 0.05) result.reverse();
  return result;
}

const DIVIDED: readonly string[] = ["metadata", "spec", "status"];

/** The number of parts that are the same: most of those with the same text. */
function identical(
  [before, after]: readonly [Member[], Member[]],
  [old, now]: readonly [Record<string, unknown>, Record<string, unknown>],
  isTop = true,
): number {
  let count = 0;
  const known = new Map(before);
  for (const [key, value] of after) {
    const other = known.get(key);
    if (other === undefined || !/^[[{]/.test(textOf(value))) continue;
    if (textOf(other) === textOf(value)) {
      if (now[key] === old[key]) count++;
    } else if (isTop && DIVIDED.includes(key) && Array.isArray(other) && Array.isArray(value)) {
      count += identical([other, value], [old[key], now[key]] as never, false);
    } else if (isElements(other) && isElements(value)) {
      const [others, array] = [old[key], now[key]] as unknown[][];
      for (const [i, element] of value.elements.entries()) {
        if (element === other.elements[i] && array[i] === others[i]) count++;
      }
    }
  }
  return count;
}

function isElements(value: Value): value is Elements {
  return typeof value === "object" && "elements" in value;
}

function isUsual(object: Member[], isTop = true): boolean {
  if (new Set(object.map(([key]) => key)).size < object.length) return false;
  return object.every(([key, value]) => {
    if (key.includes("\\") || key === "__proto__") return false;
    return !isTop || !DIVIDED.includes(key) || !Array.isArray(value) || isUsual(value, false);
  });
}

Deno.test("200,000 random pairs of versions are read as JSON.parse reads them, and most equal parts are the same", () => {
  const random = new Random(42);
  let shared = 0;
  let usual = 0;
  for (let round = 0; round < 20_000; round++) {
    const parts = all();
    let before = members(random);
    let old = version(textOf(before), parts).object;
    for (let i = 0; i < 10; i++) {
      const after = changed(random, before);
      const text = textOf(after);
      const now = version(text, parts).object;
      const wanted = JSON.parse(text);
      if (JSON.stringify(now) !== JSON.stringify(wanted)) assertEquals(now, wanted, `${textOf(before)} then ${text}`);
      assert(Object.getPrototypeOf(now) === Object.prototype, text);
      if (isUsual(before) && isUsual(after)) {
        usual++;
        shared += identical([before, after], [old, now]);
      }
      [before, old] = [after, now];
    }
  }
  assert(usual > 70_000 && shared > 50_000, `${usual} ${shared}`);
});

Deno.test("50,000 random pairs of versions with white space are read as JSON.parse reads them", () => {
  const random = new Random(43);
  for (let round = 0; round < 5_000; round++) {
    const parts = all();
    const place = PLACES[round % PLACES.length];
    // Few values, so that the elements of two versions are equal at other places, too.
    const array = (): Elements => ({ elements: values(random).map(() => pick(random, VALUES.slice(2, 6))) });
    let spec: Member[] = [["a", array()], ["b", "{}"], ["c", array()]];
    for (let i = 0; i < 10; i++) {
      const text = textOf([["metadata", []], ["spec", spec]], random.next() < 0.5 ? place : undefined, random);
      const [now, wanted] = [version(text, parts).object, JSON.parse(text)];
      if (JSON.stringify(now) !== JSON.stringify(wanted)) assertEquals(now, wanted, text);
      spec = random.next() < 0.2 ? changed(random, spec, 1) : spec.map(([key]) => [key, array()]);
    }
  }
});

Deno.test("A version with white space behind an element shares nothing of that array", () => {
  for (const [before, after] of [[`[{"x":1} ,2]`, "[9,9,2]"], [`[[] ,{"b":1} ,{"c":1}]`, `[1,2,{"b":1},4,{"c":1}]`]]) {
    const parts = all();
    void version(ANY.replace("[1]", before), parts).object;
    const second = version(ANY.replace("[1]", after), parts).object as { spec: { a: unknown } };
    assertEquals(second.spec.a, JSON.parse(after));
  }
});

/** Returns the number of texts that are cut while `act` runs: one for each part or key that is looked at. */
function cuts(act: () => void): number {
  const { slice } = String.prototype;
  let count = 0;
  String.prototype.slice = function (this: string, start, end): string {
    count++;
    return slice.call(this, start, end);
  };
  try {
    act();
  } finally {
    String.prototype.slice = slice;
  }
  return count;
}

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, it) => sum + countValues(it), 1);
}

for (const [what, textOfVersion] of Object.entries(MOVED)) {
  Deno.test(`SharedParts looks at no more than five parts for each value that JSON.parse reads: ${what}`, () => {
    const parts = all();
    const texts = Array.from({ length: 4 }, (_, v) => textOfVersion(v));
    const read = texts.map((text) => version(text, parts));
    const count = cuts(() => read.forEach((it) => it.object));
    read.forEach((it, i) => assert(JSON.stringify(it.object) === JSON.stringify(JSON.parse(texts[i]))));
    const values = texts.reduce((sum, text) => sum + countValues(JSON.parse(text)), 0);
    assert(count <= 5 * values + 500, `${count} for ${values} values`);
  });
}

Deno.test("A version that moved too much is shared from the next one on", () => {
  const parts = all();
  const text = (order: "as before" | "reversed", data: number): string => {
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
    if (order === "reversed") keys.reverse();
    return JSON.stringify({ metadata: {}, spec: Object.fromEntries(keys.map((key) => [key, []])), data });
  };
  const read = (...given: Parameters<typeof text>) => version(text(...given), parts).object as { spec: unknown };
  const first = read("as before", 1);
  const moved = read("reversed", 2);
  assert(moved.spec !== first.spec);
  assertStrictEquals(read("reversed", 3).spec, moved.spec);
});

Deno.test("Pods whose status and metadata change share their spec, labels and annotations", () => {
  const parts = all();
  const pod = bigPod(1) as unknown as { metadata: Record<string, unknown>; status: Record<string, unknown> };
  let last = version(JSON.stringify(pod), parts).object as typeof pod & { spec: unknown };
  for (let i = 0; i < 5; i++) {
    pod.metadata.resourceVersion = String(10 ** i);
    pod.status.phase = `phase ${i}`;
    const next = version(JSON.stringify(pod), parts).object as typeof last;
    assertEquals(next as unknown, JSON.parse(JSON.stringify(pod)));
    assertStrictEquals(next.spec, last.spec);
    for (const key of ["labels", "annotations", "ownerReferences"]) {
      assertStrictEquals(next.metadata[key], last.metadata[key]);
    }
    assertStrictEquals(next.status.containerStatuses, last.status.containerStatuses);
    last = next;
  }
});
