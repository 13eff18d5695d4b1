import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { Pod, Secret } from "@kube/informer/kinds/core/v1";
import { reduced } from "../../../src/engine/api/object.ts";
import { parseObject, unreadEntry } from "../../../src/engine/entry/entry.ts";
import { frozenEntry } from "../../../src/engine/entry/entry_around.ts";
import { ReducedEntry, Reduction } from "../../../src/engine/entry/reduction.ts";
import { SharedParts } from "../../../src/engine/entry/shared_parts.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { bigPod } from "../../support/sources/big_pods.ts";
import type { Thing } from "../_unread.ts";

/** The pairs of versions of each random test. All that hold for a release: SHARING_PAIRS=300000. */
const PAIRS = Number(Deno.env.get("SHARING_PAIRS") ?? 8_000);
/** The versions of one object in a row. */
const CHAIN = 8;

/** Reads versions of one object, as text and as bytes in turns. */
class Versions {
  readonly #parts = new SharedParts(() => true);
  #count = 0;

  read<T = unknown>(text: string): T {
    const identity = { key: "shop/cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7" };
    const body = this.#count++ % 2 === 0 ? text : new TextEncoder().encode(text);
    return frozenEntry(unreadEntry<Thing>(identity, body, 1, 2), this.#parts).object as T;
  }
}

type Parent = Record<string | number, unknown>;

/** Fails if two values differ in anything that a program can see: also in the order of keys, prototypes and -0. */
function assertSame(actual: unknown, wanted: unknown, text: string): void {
  if (typeof wanted !== "object" || wanted === null) return assert(Object.is(actual, wanted), text);
  assert(typeof actual === "object" && actual !== null && Object.isFrozen(actual), text);
  assertStrictEquals(Object.getPrototypeOf(actual), Object.getPrototypeOf(wanted), text);
  const keys = Object.keys(wanted);
  const own = Object.keys(actual);
  assert(own.length === keys.length && own.every((key, i) => key === keys[i]), text);
  for (const key of keys) assertSame((actual as Parent)[key], (wanted as Parent)[key], text);
}

const KEYS = [
  "a",
  "b",
  "name",
  "status",
  "k:v",
  "{",
  "a,b",
  "é",
  "日本",
  "10",
  "2",
  "constructor",
  "",
  "length",
  "toString",
];
const LEAVES = [
  "0",
  "-0",
  "1",
  "1.0",
  "12",
  "1e2",
  "100",
  "9007199254740993",
  "123456789012345678901234567890",
  "true",
  "false",
  "null",
  `""`,
  `"a"`,
  `"\\u0061"`,
  `"a\\"b"`,
  `"\\\\"`,
  `"],"`,
  `"{\\"x\\":1}"`,
  `"é"`,
  `"😀"`,
  `"\\ud800"`,
  `"${"long ".repeat(60)}"`,
  `"${"\\\\".repeat(90)}"`,
];

/** A text by its parts: members with the text of their keys, elements, or a leaf. */
type Tree = { members: [string, Tree][] } | { elements: Tree[] } | { leaf: string };

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)];
}

function leaf(random: Random): Tree {
  return { leaf: pick(random, LEAVES) };
}

function tree(random: Random, depth: number, isRoot = false): Tree {
  if (!isRoot && (depth === 0 || random.next() < 0.3)) return leaf(random);
  if (!isRoot && random.next() < 0.4) {
    return { elements: Array.from({ length: random.below(6) }, () => tree(random, depth - 1)) };
  }
  const keys = [...new Set(Array.from({ length: random.below(7) }, () => pick(random, KEYS)))];
  return { members: keys.map((key) => [JSON.stringify(key), tree(random, depth - 1)]) };
}

function textOf(it: Tree): string {
  if ("leaf" in it) return it.leaf;
  if ("elements" in it) return `[${it.elements.map(textOf)}]`;
  return `{${it.members.map(([key, value]) => `${key}:${textOf(value)}`)}}`;
}

function partsOf(it: Tree): Tree[] {
  return "leaf" in it ? [] : "elements" in it ? it.elements : it.members.map(([, value]) => value);
}

function allOf(it: Tree): Tree[] {
  return [it, ...partsOf(it).flatMap(allOf)];
}

/** Asserts that what has the same text is the same object, at every depth. Returns how many objects are. */
function countSame([was, is]: [Tree, Tree], [old, now]: [unknown, unknown], text: string): number {
  if ("leaf" in is || "leaf" in was) return 0;
  if (textOf(was) === textOf(is)) {
    assertStrictEquals(now, old, text);
    return 1;
  }
  const keys: (string | number)[] = "members" in is
    ? is.members.map(([key]) => JSON.parse(key))
    : is.elements.map((_, i) => i);
  const [before, after] = [partsOf(was), partsOf(is)];
  return keys.reduce<number>((sum, key, i) => {
    return sum + countSame([before[i], after[i]], [(old as Parent)[key], (now as Parent)[key]], text);
  }, 0);
}

Deno.test("Where only leaves change, all other parts are those of the last version, at every depth", () => {
  const random = new Random(1);
  let same = 0;
  for (let pair = 0; pair < PAIRS;) {
    const versions = new Versions();
    let was = tree(random, 5, true);
    let old = versions.read(textOf(was));
    for (let i = 0; i < CHAIN; i++, pair++) {
      const is = structuredClone(was);
      const leaves = allOf(is).filter((it) => "leaf" in it);
      for (let n = random.below(3); n >= 0 && leaves.length > 0; n--) Object.assign(pick(random, leaves), leaf(random));
      const text = textOf(is);
      const now = versions.read(text);
      assertSame(now, JSON.parse(text), text);
      same += countSame([was, is], [old, now], `${textOf(was)} then ${text}`);
      [was, old] = [is, now];
    }
  }
  assert(same > PAIRS, String(same));
});

const ODD_KEYS = [`"__proto__"`, `"\\u0061"`, `"a"`, `"a\\"b"`, `"10"`, `"sp\\u0065c"`];

/** Changes the structure: parts come, go, move, and become others. Keys may be odd, and occur twice. */
function restructure(random: Random, root: Tree): void {
  const at = pick(random, allOf(root).filter((it) => !("leaf" in it)));
  if ("leaf" in at) return;
  const list: unknown[] = "elements" in at ? at.elements : at.members;
  const place = random.below(list.length + 1);
  const part = (): unknown => {
    const value = tree(random, 3);
    return "elements" in at
      ? value
      : [random.next() < 0.1 ? pick(random, ODD_KEYS) : JSON.stringify(pick(random, KEYS)), value];
  };
  switch (random.below(6)) {
    case 0:
      list.splice(place, 0, part());
      break;
    case 1:
      list.splice(place, 1);
      break;
    case 2:
      list.reverse();
      break;
    case 3:
      if (list.length > 0) list.push(list.shift());
      break;
    case 4:
      if (list.length > 0) list.splice(random.below(list.length), 1, part());
      break;
    default:
      if (list.length > 0) list.push(structuredClone(pick(random, list)));
  }
}

const INSERTED = [`"`, ",", "}", "]", "{", "[", ":", " ", "\\", "0", "\u0001", "e", "-", ".", "é"];

/** A text with one damage, or white space; often it is no JSON. */
function damaged(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + pick(random, INSERTED) + text.slice(at + 1);
    case 3:
      return text + pick(random, [`,"type":"MODIFIED"}`, "}", " ", "\n", ",1", `,"x":{}`]);
    case 4:
      return text.replaceAll(pick(random, [",", ":", "]", "}", "1"]), (it) => random.next() < 0.3 ? `${it} ` : it);
    default:
      return text.slice(0, at) + pick(random, INSERTED) + text.slice(at);
  }
}

Deno.test("Versions whose structure changes, and damaged texts, are read as they would be alone", () => {
  const random = new Random(2);
  let [read, failed] = [0, 0];
  for (let pair = 0; pair < PAIRS;) {
    const versions = new Versions();
    const root = tree(random, 5, true);
    for (let i = 0; i < CHAIN; i++, pair++) {
      for (let n = random.below(3); n >= 0; n--) restructure(random, root);
      const whole = textOf(root);
      // Half of a pair of surrogates has no bytes.
      const text = (random.next() < 0.2 ? damaged(random, whole) : whole).toWellFormed();
      let wanted: unknown;
      try {
        wanted = parseObject(text);
      } catch {
        assertThrows(() => versions.read(text), DecodeError);
        failed++;
        continue;
      }
      if (typeof wanted !== "object" || wanted === null) continue;
      assertSame(versions.read(text), wanted, text);
      read++;
    }
  }
  assert(read > 0.6 * PAIRS && failed > 0.05 * PAIRS, `${read} ${failed}`);
});

Deno.test("One changed byte anywhere is read as it would be alone", () => {
  const text = `{"a":{"b":[1,{"a":"x","c":-0,"é":"\\u0061"}],"b2":{"a":[],"d":{}}},"k":"v","n":[1.0,1e2,true,null]}`;
  for (let at = 0; at < text.length; at++) {
    for (const byte of [...INSERTED, "a", "b", "1", "n"]) {
      const changed = text.slice(0, at) + byte + text.slice(at + 1);
      const versions = new Versions();
      versions.read(text);
      let wanted: unknown;
      try {
        wanted = parseObject(changed);
      } catch {
        assertThrows(() => versions.read(changed), DecodeError);
        continue;
      }
      assertSame(versions.read(changed), wanted, changed);
      assertSame(versions.read(text), JSON.parse(text), changed);
    }
  }
});

Deno.test("A value deep in an element changes, and its siblings stay", () => {
  const versions = new Versions();
  const pod = structuredClone(bigPod(1)) as unknown as { status: { containerStatuses: { state: unknown }[] } };
  const before = versions.read<typeof pod>(JSON.stringify(pod));
  pod.status.containerStatuses[0].state = { running: { startedAt: "2027-03-01T00:00:01Z" } };
  const after = versions.read<typeof pod>(JSON.stringify(pod));
  assertSame(after, JSON.parse(JSON.stringify(pod)), "a pod");
  const [old, now] = [before.status.containerStatuses, after.status.containerStatuses] as unknown as Parent[][];
  assert(old[0].state !== now[0].state);
  for (const key of Object.keys(now[0])) if (key !== "state") assertStrictEquals(now[0][key], old[0][key]);
  for (let i = 1; i < now.length; i++) assertStrictEquals(now[i], old[i]);
});

Deno.test("Elements are found again where one came before them, or went, and where one of them changed too", () => {
  const condition = (type: string, status: string) => ({ type, status, detail: { of: [type, "and more of it"] } });
  const list = [condition("Ready", "True"), condition("Initialized", "True"), condition("Scheduled", "True")];
  const versions = new Versions();
  const read = (conditions: unknown[]) => {
    const text = JSON.stringify({ metadata: { name: "a" }, spec: { x: [{}] }, status: { conditions } });
    const object = versions.read<{ spec: unknown; status: { conditions: typeof list } }>(text);
    assertEquals(object as unknown, JSON.parse(text));
    return object;
  };
  const first = read(list);
  const added = read([condition("Added", "False"), ...list]);
  assertStrictEquals(added.spec, first.spec);
  for (let i = 0; i < 3; i++) assertStrictEquals(added.status.conditions[i + 1], first.status.conditions[i]);
  const moved = read([{ ...list[1], status: "False" }, list[2]]);
  assertStrictEquals(moved.status.conditions[1], first.status.conditions[2]);
  assert(moved.status.conditions[0] !== first.status.conditions[1]);
  assertStrictEquals(moved.status.conditions[0].detail, first.status.conditions[1].detail);
});

Deno.test("A key that occurs twice is read as JSON.parse reads it, also beside places that changed before", () => {
  for (
    const [before, after] of [
      [`{"a":1,"a":2,"b":3}`, `{"a":5,"a":2,"b":3}`],
      [`{"m":{"a":1},"m":{"b":[{"c":1}]}}`, `{"m":{"a":1},"m":{"b":[{"c":2}]}}`],
      [`{"m":{"a":[{"x":[1]}]},"m":1}`, `{"m":{"a":[{"x":[1,2]}]},"m":1}`],
      [`{"a":{"x":1},"b":1}`, `{"a":{"x":1,"x":2},"b":1}`],
    ]
  ) {
    const versions = new Versions();
    versions.read(before);
    for (const text of [after, after.replace("1", "7"), before]) {
      assertSame(versions.read(text), JSON.parse(text), text);
    }
  }
});

Deno.test("A version with 100,000 leaves of which one changes shares the rest", () => {
  const versions = new Versions();
  const text = (changed: number): string => {
    return `{"metadata":{},"spec":{"list":[${
      Array.from({ length: 50_000 }, (_, i) => `{"n":${i === 40_000 ? changed : i}}`)
    }]}}`;
  };
  const [before, after] = [1, 22].map((n) => versions.read<{ spec: { list: unknown[] } }>(text(n)).spec.list);
  assertEquals(before.flatMap((it, i) => it === after[i] ? [] : [i]), [40_000]);
  assertEquals(after[40_000], { n: 22 });
});

Deno.test("Odd keys and white space are read as JSON.parse reads them, between places that change", () => {
  const long = `{"text":"which is long enough to be worth a comparison"}`;
  for (
    const [before, after] of [
      [`{"a":{"__proto__":{"x":1},"b":1}}`, `{"a":{"__proto__":{"x":2},"b":1}}`],
      [`{"m":{"a":${long}}}`, `{"m":{"a":${long},"__proto__":${long}}}`],
      [`{"m":{"a":${long}}}`, `{"m":{"a":${long},"b":${long},"b":[${long}]}}`],
      [`{"\\u0061":1,"b":2}`, `{"\\u0061":3,"b":2}`],
      [`{"a\\"b":{"c":1}}`, `{"a\\"b":{"c":3}}`],
      [`{"n":[ "a,b",1,2]}`, `{"n":[ "a,b",3,2]}`],
      [`{"n":[null ],"b":1}`, `{"n":[[] ,{}],"b":1}`],
      [`{"n":[1]}`, `{"n":[1]},"type":"MODIFIED"`],
      [`{"n":[1]}`, `{"n":[1]`],
      [`{"n":[1]},"type":"MODIFIED"`, `{"n":[1]},"type":"ADDED"`],
      [`{"n":[1]},"a":{}`, `{"n":[1]},"a":{"b":1}`],
      [`{"n":[1]},"a":[1]`, `{"n":[1]}`],
    ]
  ) {
    const versions = new Versions();
    versions.read(before);
    let wanted: unknown;
    try {
      wanted = parseObject(after);
    } catch {
      assertThrows(() => versions.read(after), DecodeError, undefined, after);
      continue;
    }
    assertSame(versions.read(after), wanted, after);
  }
});

Deno.test("Objects that are reduced stay marked when some of their parts are those of the last version", () => {
  const parts = new SharedParts(() => true);
  const read = (reduction: Reduction, object: unknown) => {
    const identity = { key: "shop/cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7" };
    const entry = new ReducedEntry<Thing>(reduction, identity, JSON.stringify(object), 1, 2, -1, -1);
    return frozenEntry(entry, parts).object as unknown as Record<string, Record<string, { [reduced]?: string }[]>>;
  };
  const fields = Reduction.of(Pod, { fields: ["spec.containers.name"] as never[] })!;
  const pod = (names: string[]) => ({ metadata: { name: "a" }, spec: { containers: names.map((name) => ({ name })) } });
  const long = "a name that is long enough to be worth a comparison";
  const first = read(fields, pod([`${long} 1`, `${long} 2`]));
  for (const names of [[`${long} 1`, `${long} 3`], [`${long} 0`, `${long} 1`, `${long} 3`]]) {
    const { spec } = read(fields, pod(names));
    for (const part of [spec, ...spec.containers]) {
      assert((part as { [reduced]?: string })[reduced] !== undefined && Object.isFrozen(part), `${names}`);
    }
    assertEquals(spec.containers.map((it) => (it as { name?: string }).name), names);
  }
  assert(Object.isFrozen(first));
  parts.clear();
  const noData = Reduction.of(Secret as never, { secretData: "drop" })!;
  read(noData, { metadata: { name: "a", resourceVersion: "1" }, type: "Opaque" });
  const second = read(noData, { metadata: { name: "a", resourceVersion: "2" }, type: "Opaque" });
  assertThrows(() => second.data, TypeError, "Cannot read");
});
