import {
  assert,
  assertEquals,
  assertFalse,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { type CacheEntry, sameVersion } from "../../../src/engine/api/entry.ts";
import { type KubernetesObject, type Reduced, reduced } from "../../../src/engine/api/object.ts";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { brokenEntry, entryOf, type JsonEntry, sameFields, unreadEntry } from "../../../src/engine/entry/entry.ts";
import { entryBytes, entryText } from "../../../src/engine/entry/entry_json.ts";
import { ReducedEntry, Reduction } from "../../../src/engine/entry/reduction.ts";
import { WrittenRowEntry } from "../../../src/engine/entry/row_entry.ts";
import { SharedParts } from "../../../src/engine/entry/shared_parts.ts";
import { TextTemplates } from "../../../src/engine/entry/text_templates.ts";
import { Pod } from "../../support/sources/bodies.ts";
import { Thing as CustomThing } from "../../support/sources/fixtures.ts";
import { holdCompactly } from "./_compact.ts";
import { asFrozen, IDENTITY, METADATA, parses, TEXT, type Thing, unread } from "../_unread.ts";

Deno.test("entryOf takes the entry's identity from the object's metadata", () => {
  const object = JSON.parse(TEXT) as Thing;
  const entry = entryOf(object);
  assertEquals(
    [entry.key, entry.namespace, entry.name, entry.uid, entry.resourceVersion, entry.error],
    ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
  );
  assertStrictEquals(entry.object, object);
  assertStrictEquals(entry.metadata, object.metadata);
  const node = entryOf({ metadata: { name: "node-1", uid: "", resourceVersion: "", creationTimestamp: "" } });
  assertEquals([node.key, node.namespace, node.name], ["node-1", "", "node-1"]);
});

Deno.test("entryOf makes a broken entry of an object without a name", () => {
  const nameless = { kind: "Pod", metadata: { namespace: "shop" } } as unknown as KubernetesObject;
  const entry = entryOf(nameless);
  assertEquals(entry.key, "");
  assertEquals(entry.error?.message, `Cannot store Pod in namespace "shop": it has no metadata.name`);
  assertStrictEquals(assertThrows(() => entry.object), entry.error);
  assertStrictEquals(assertThrows(() => entry.metadata), entry.error);
  for (const value of [{}, { metadata: {} }, { metadata: { name: "" } }, null, undefined]) {
    assertEquals(entryOf(value as unknown as KubernetesObject).key, "");
  }
});

Deno.test("unreadEntry has the object's identity without parsing it", () => {
  const entry = unread();
  const count = parses(() => {
    assertEquals(
      [entry.key, entry.namespace, entry.name, entry.uid, entry.resourceVersion, entry.error],
      ["shop/cart-0", "shop", "cart-0", "u-1", "7", undefined],
    );
  });
  assertEquals(count, 0);
});

Deno.test("unreadEntry parses the object once, and remembers it", () => {
  const entry = unread();
  assertEquals(parses(() => assertStrictEquals(entry.object, entry.object)), 1);
  assertEquals(entry.object, JSON.parse(TEXT));
  assertEquals(parses(() => assertStrictEquals(entry.metadata, entry.object.metadata)), 0);
});

Deno.test("unreadEntry parses metadata alone and once, and returns the object's own metadata once the object is parsed", () => {
  const entry = unread();
  assertEquals(parses(() => assertStrictEquals(entry.metadata, entry.metadata)), 1);
  assertEquals(entry.metadata, JSON.parse(METADATA));
  const alone = entry.metadata;
  assertEquals(parses(() => void entry.object), 1);
  assertNotStrictEquals(entry.metadata, alone);
  assertStrictEquals(entry.metadata, entry.object.metadata);
  assertEquals(alone, entry.metadata);
});

Deno.test("unreadEntry reads UTF-8 bytes, with checkpoints in bytes", () => {
  const metadata = METADATA.replace('cart"}', '日本🦕"}');
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  const entry = unread(new TextEncoder().encode(text), metadata);
  assertEquals(entry.metadata.labels, { app: "日本🦕" });
  assertEquals(entry.object, JSON.parse(text));
});

Deno.test("unreadEntry ignores members after the object in its event", () => {
  for (const behind of [`,"extra":1`, `,"a":{"metadata":{"name":"wrong"}},"b":[]`]) {
    for (const text of [TEXT + behind, new TextEncoder().encode(TEXT + behind)]) {
      const entry = unread(text);
      assertEquals(entry.metadata.name, "cart-0");
      assertEquals(entry.object, JSON.parse(TEXT));
      assertEquals(entry.error, undefined);
    }
  }
});

Deno.test("unreadEntry of broken text throws the same DecodeError to every reader, and is broken from then on", () => {
  const entry = unread(TEXT.replace(`"spec":{`, `"spec":{{`));
  assertEquals(entry.metadata.name, "cart-0");
  assert(sameVersion(entry, unread()), "no read has failed yet");
  const error = assertThrows(() => entry.object, DecodeError);
  assertEquals(error.key, "shop/cart-0");
  assertEquals(error.message, `Cannot parse "shop/cart-0" at version 7`);
  assert(error.cause instanceof SyntaxError);
  assertStrictEquals(entry.error, error);
  assertEquals(parses(() => assertStrictEquals(assertThrows(() => entry.object), error)), 0);
  assertFalse(sameVersion(entry, unread()));
  assertFalse(sameVersion(unread(), entry));
  assertFalse(sameVersion(entry, entry));
});

Deno.test("unreadEntry whose metadata cannot be parsed is broken: every read throws", () => {
  const text = TEXT.replace(`"labels":{`, `"labels":[`);
  const entry = unread(text, METADATA.replace(`"labels":{`, `"labels":[`));
  const error = assertThrows(() => entry.metadata, DecodeError);
  assertStrictEquals(assertThrows(() => entry.metadata), error);
  assertStrictEquals(assertThrows(() => entry.object), error);
  assertStrictEquals(entry.error, error);
});

Deno.test("unreadEntry parses labels alone and once, and returns those of the metadata or object once that is parsed", () => {
  const entry = unread(TEXT, METADATA, `{"app":"cart"}`);
  const texts: string[] = [];
  const count = parses(() => assertStrictEquals(entry.labels, entry.labels), texts);
  assertEquals([count, texts], [1, [`{"app":"cart"}`]]);
  assertEquals(entry.labels, { app: "cart" });
  const alone = entry.labels;
  assertEquals(parses(() => void entry.metadata), 1);
  assertEquals(entry.metadata, JSON.parse(METADATA));
  assertEquals(parses(() => assertStrictEquals(entry.labels, entry.metadata.labels)), 0);
  assertEquals(parses(() => void entry.object), 1);
  assertEquals(parses(() => assertStrictEquals(entry.labels, entry.object.metadata.labels)), 0);
  assertEquals(alone, entry.labels);
  const object = unread(TEXT, METADATA, `{"app":"cart"}`);
  assertEquals(parses(() => assertStrictEquals(object.object.metadata.labels, object.labels)), 1);
});

Deno.test("unreadEntry reads labels from UTF-8 bytes, with checkpoints in bytes", () => {
  const metadata = METADATA.replace('"cart"}', '"日本🦕"}').replace('"name"', '"note":"ä","name"');
  const text = `{"note":"ä日","metadata":${metadata},"spec":{"containers":[]}}`;
  const entry = unread(new TextEncoder().encode(text), metadata, `{"app":"日本🦕"}`);
  assertEquals(parses(() => assertEquals(entry.labels, { app: "日本🦕" })), 1);
  assertEquals(entry.object, JSON.parse(text));
});

Deno.test("unreadEntry parses nothing when there are no labels, and the metadata when the labels' position is unknown", () => {
  const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, "");
  const none = unread(TEXT.replace(METADATA, metadata), metadata, "");
  assertEquals(parses(() => assertEquals(none.labels, undefined)), 0);
  const texts: string[] = [];
  const unplaced = unread();
  assertEquals(
    parses(() => assertEquals([unplaced.labels, unplaced.labels], Array(2).fill({ app: "cart" })), texts),
    1,
  );
  assertEquals(texts, [METADATA]);
});

Deno.test("unreadEntry whose labels cannot be parsed is broken: every read throws", () => {
  const labels = `{"app":"cart",}`;
  const metadata = METADATA.replace(`{"app":"cart"}`, labels);
  const entry = unread(TEXT.replace(METADATA, metadata), metadata, labels);
  const error = assertThrows(() => entry.labels, DecodeError);
  assertEquals(error.message, `Cannot parse "shop/cart-0" at version 7`);
  for (const read of [() => entry.labels, () => entry.metadata, () => entry.object]) {
    assertStrictEquals(assertThrows(read), error);
  }
  assertStrictEquals(entry.error, error);
});

Deno.test("Entry labels of a parsed object are its own, and undefined where they are missing or null", () => {
  const object = JSON.parse(TEXT) as Thing;
  assertStrictEquals(entryOf(object).labels, object.metadata.labels);
  for (const labels of ["", `,"labels":null`]) {
    const text = TEXT.replace(`,"labels":{"app":"cart"}`, labels);
    const metadata = METADATA.replace(`,"labels":{"app":"cart"}`, labels);
    assertEquals([entryOf(JSON.parse(text) as Thing).labels, unread(text, metadata).labels], [undefined, undefined]);
  }
});

Deno.test("brokenEntry keeps its identity and throws its error", () => {
  const error = new DecodeError("Cannot read it", { key: "shop/cart-0" });
  const entry = brokenEntry<KubernetesObject>(IDENTITY, error);
  assertEquals([entry.key, entry.name, entry.uid, entry.resourceVersion], ["shop/cart-0", "cart-0", "u-1", "7"]);
  assertStrictEquals(entry.error, error);
  assertStrictEquals(assertThrows(() => entry.object), error);
  assertStrictEquals(assertThrows(() => entry.metadata), error);
  assertStrictEquals(assertThrows(() => entry.labels), error);
});

/** An unread entry; `bytes` holds it as bytes, as text outside of ASCII is held. */
function entry(
  version: string,
  rest: object = {},
  { bytes = false, annotations = {} } = {},
): CacheEntry<KubernetesObject> {
  const text = JSON.stringify({ metadata: { annotations, name: "a", resourceVersion: version }, ...rest });
  const identity = { key: "a", namespace: "", uid: "", resourceVersion: version };
  const end = text.indexOf("}", text.indexOf(`"name"`)) + 1;
  return unreadEntry(identity, bytes ? new TextEncoder().encode(text) : text, 12, end);
}

function read<T>(entry: CacheEntry<T>): CacheEntry<T> {
  void entry.object;
  return entry;
}

Deno.test("sameFields compares the fields but for the version, whether entries are read, frozen, or bytes", () => {
  const forms = [
    (entry: CacheEntry<KubernetesObject>) => entry,
    read,
    asFrozen,
    (entry: CacheEntry<KubernetesObject>) => read(asFrozen(entry)),
  ];
  for (const bytes of [false, true]) {
    for (const one of forms) {
      for (const other of forms) {
        const made = (version: string, value: unknown) => entry(version, { spec: { value } }, { bytes });
        assert(sameFields(one(made("9", ["é"])), other(made("10", ["é"]))));
        assert(!sameFields(one(made("9", ["a"])), other(made("10", ["b"]))));
        assert(!sameFields(one(made("9", ["a"])), other(made("10", ["a", null]))));
        assert(!sameFields(one(made("9", {})), other(made("10", []))));
        assert(!sameFields(one(made("9", null)), other(made("10", 0))));
      }
    }
  }
});

Deno.test("sameFields takes values without members of their own for equal only where they are the same", () => {
  class Hidden {
    readonly #value: number;
    constructor(value: number) {
      this.#value = value;
    }
    get value(): number {
      return this.#value;
    }
  }
  const made = (at: unknown) => entryOf({ metadata: { name: "a", resourceVersion: "1" }, at } as never);
  const pairs = [
    [new Date(1), new Date(2)],
    [new Map([[1, 1]]), new Map([[2, 2]])],
    [new Set([1]), new Set([2])],
    [new URL("http://a/"), new URL("http://b/")],
    [new Hidden(1), new Hidden(2)],
  ];
  for (const [a, b] of pairs) {
    assert(!sameFields(made(a), made(b)));
    assert(sameFields(made(a), made(a)));
  }
  assert(sameFields(made(Object.assign(Object.create(null), { a: [1] })), made({ a: [1] })));
});

Deno.test("sameFields compares objects with cycles: a pair that is met again counts as equal", () => {
  const ring = (length: number, value = 0): unknown => {
    const all = Array.from({ length }, (_, i): Record<string, unknown> => ({ at: i === length - 1 ? value : 0 }));
    all.forEach((it, i) => it.next = all[(i + 1) % length]);
    return all[0];
  };
  const parents = (count: number, last: string): unknown => {
    const containers = Array.from({ length: count }, (_, i): Record<string, unknown> => ({ name: `c${i}` }));
    const pod = { spec: { containers }, last };
    for (const container of containers) Object.assign(container, { pod, all: containers });
    return pod;
  };
  const doubled = (levels: number, innermost: unknown): unknown => {
    let value = innermost;
    for (let i = 0; i < levels; i++) value = [value, { value }];
    return value;
  };
  const made = (at: unknown) => entryOf({ metadata: { name: "a", resourceVersion: "1" }, at } as never);
  const same = (a: unknown, b: unknown): boolean => sameFields(made(a), made(b));
  assert(same(ring(1), ring(1)) && same(ring(2), ring(3)) && same(ring(997), ring(1_009)));
  assert(!same(ring(3), ring(3, 1)) && !same(ring(5_000), ring(5_000, 1)) && !same(ring(997), ring(1_009, 1)));
  assert(same(parents(50, "a"), parents(50, "a")) && !same(parents(50, "a"), parents(50, "b")));
  assert(
    same(doubled(60, 1), doubled(60, 1)) && !same(doubled(60, 1), doubled(60, 2)),
    "parts that are many times in it",
  );
});

Deno.test("sameFields compares the metadata of large objects, too", () => {
  const made = (version: string, note: string) =>
    entryOf({
      metadata: { name: "a", resourceVersion: version, annotations: { note } },
      at: Array.from({ length: 5_000 }, (_, i) => ({ i })),
    } as never);
  assert(sameFields(made("1", "a"), made("2", "a")));
  assert(!sameFields(made("1", "a"), made("2", "b")));
});

Deno.test("sameFields is false for objects that cannot be compared, as a getter of a transform throws", () => {
  const made = () =>
    entryOf({
      metadata: { name: "a" },
      get at(): never {
        throw new Error("a getter");
      },
    } as never);
  assert(!sameFields(made(), made()));
});

Deno.test("sameFields compares a field that looks like the version", () => {
  const made = (version: string, annotation: string) =>
    entry(version, {}, { annotations: { resourceVersion: annotation } });
  assert(!sameFields(made("5", "5"), made("6", "6")));
  assert(!sameFields(made("5", "6"), made("6", "5")));
  assert(sameFields(made("5", "7"), made("6", "7")));
  const quoted = (version: string) => entry(version, { spec: `"resourceVersion":"${version}"` });
  assert(!sameFields(quoted("5"), quoted("6")));
});

Deno.test("sameFields is false for an entry that is broken or cannot be parsed", () => {
  const identity = { key: "a", namespace: "", uid: "", resourceVersion: "6" };
  assert(!sameFields(entry("5"), brokenEntry(identity, new DecodeError("broken"))));
  assert(!sameFields(read(entry("5")), unreadEntry(identity, `{"metadata":{]}`, 12, 14)));
});

Deno.test("sameFields is true for equal texts and false for different ones, as for their objects", () => {
  fc.assert(fc.property(fc.json(), fc.json(), (a, b) => {
    const [one, other] = [JSON.parse(a), JSON.parse(b)].map((spec, i) => entry(String(9 + i), { spec }));
    assertEquals(sameFields(one, other), JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b)));
    assert(sameFields(read(one), entry("12", { spec: JSON.parse(a) })));
  }));
});

Deno.test("entries of custom kinds differ by integers that JavaScript rounds, and are written with them once they are read", () => {
  const texts = ["9007199254740993", "9007199254740992"].map((id) =>
    `{"metadata":{"name":"a","resourceVersion":"1"},"id":${id}}`
  );
  const [a, b] = texts.map((text) => unreadEntry(IDENTITY, text, 12, 46, undefined, undefined, true));
  for (const entry of [a, b]) void entry.object;
  assertEquals([a, b].map((entry) => entryText(entry)), texts);
  assertEquals([sameFields(a, b), sameFields(b, a), sameFields(a, a)], [false, false, true]);
});

/** What differs between the objects below. */
interface Parts {
  readonly name?: string;
  readonly version?: string;
  readonly phase?: string;
  readonly id?: string;
  /** The text of `status`. */
  readonly status?: string;
}

/** The text of an object, and where its metadata and labels are. */
function pieces(
  { name = "cart-0", version = "7", phase = "Running", id = "1", status }: Parts,
): readonly [string, string, string] {
  const labels = `{"app":"cart","of":${JSON.stringify(name)}}`;
  const metadata =
    `{"name":${JSON.stringify(name)},"namespace":"shop","uid":"u-${id}","resourceVersion":"${version}",` +
    `"labels":${labels},"annotations":{"note":"${"x".repeat(400)}"}}`;
  const rest = `"spec":{"id":${id},"ids":[${id},null,-0,1.0],"empty":{}}`;
  const text = `{"kind":"Pod","apiVersion":"v1","metadata":${metadata},${rest},` +
    `"status":${status ?? `{"phase":${JSON.stringify(phase)},"a":{"b":${JSON.stringify(phase)}}}`}}`;
  return [text, metadata, labels];
}

type Make = (parts: Parts) => JsonEntry<KubernetesObject>;

/** Makes entries of texts, or bytes, by `of`. */
function made(
  of: (...given: [typeof IDENTITY, string | Uint8Array, number, number, number, number]) => JsonEntry<KubernetesObject>,
  isBytes = false,
): Make {
  return (parts) => {
    const [text, metadata, labels] = pieces(parts);
    const encode = (text: string): string | Uint8Array => isBytes ? new TextEncoder().encode(text) : text;
    const at = (position: number): number => encode(text.slice(0, position)).length;
    const { name = "cart-0", version = "7", id = "1" } = parts;
    const identity = { key: `shop/${name}`, namespace: "shop", uid: `u-${id}`, resourceVersion: version };
    const [start, labelsStart] = [text.indexOf(metadata), text.indexOf(labels)];
    return of(
      identity,
      encode(text),
      at(start),
      at(start + metadata.length),
      at(labelsStart),
      at(labelsStart + labels.length),
    );
  };
}

/** The kinds of unread entries. */
const KINDS: Readonly<Record<string, Make>> = {
  "text": made((...given) => unreadEntry(...given)),
  "bytes": made((...given) => unreadEntry(...given), true),
  "without the place of labels": made((identity, text, start, end) => unreadEntry(identity, text, start, end)),
  "of a custom kind": made((...given) => unreadEntry(...given, true)),
  "bytes of a custom kind": made((...given) => unreadEntry(...given, true), true),
  "reduced": made((...given) =>
    new ReducedEntry(Reduction.of(onlyFields(Pod, ["status", "spec"] as string[]))!, ...given)
  ),
  "reduced, of a custom kind": made((...given) =>
    new ReducedEntry(Reduction.of(onlyFields(CustomThing, ["spec", "status.phase"] as string[]))!, ...given)
  ),
  "of a row": made(
    (identity, text, ...places) => new WrittenRowEntry(Reduction.metadata, identity, text as Uint8Array, ...places),
    true,
  ),
};

const LARGE = "9007199254740993";
/** Objects that differ by values of all kinds. */
const OBJECTS: readonly Parts[] = [
  {},
  { name: "cart-1", version: "10", phase: "Pending" },
  { name: "cart-é 🦕", phase: 'a"\\\n\u2028' },
  { id: LARGE, phase: "" },
  { id: "-0", version: "8" },
];

/** An entry that is compact, next to another one, in templates of their own. */
function compacted(
  make: Make,
  parts: Parts,
): { readonly entry: JsonEntry<KubernetesObject>; readonly templates: TextTemplates } {
  const [entry, templates] = [make(parts), new TextTemplates()];
  become(entry, make, templates);
  return { entry, templates };
}

function become(entry: JsonEntry<KubernetesObject>, make: Make, templates = new TextTemplates()): void {
  const other = make({ name: "cart-other", id: "5", phase: "other", version: "3" });
  assertEquals([entry.savedBytes, holdCompactly(other, templates)], [0, false]);
  assert(holdCompactly(entry, templates));
  assert(entry.savedBytes > 400, `${entry.savedBytes}`);
}

/** All that an entry tells, in the order in which it is asked; an error as its text. */
function told(entry: JsonEntry<KubernetesObject>, reads: readonly ("labels" | "metadata" | "object")[]): unknown[] {
  const tell = (): unknown[] => [
    ...[entry.key, entry.name, entry.uid, entry.resourceVersion, entry.textBytes, entry.isParsed, entry.text],
    ...[entry.unread, entry.error?.message],
  ];
  const texts = (): unknown[] => [entryText(entry), entryText(entry, "metadata"), entryBytes(entry)];
  return [
    tell(),
    texts(),
    ...reads.flatMap((read) => {
      const value = entry[read];
      assertStrictEquals(entry[read], value);
      const mark = (value as Reduced)[reduced];
      return [value, JSON.stringify(value), mark, Object.isFrozen(value), tell()];
    }),
    entry.valuesAt(["status", "phase"]),
    entry.valuesAt(["spec", "ids"]),
    texts(),
  ];
}

const ORDERS = [["object"], ["metadata", "object"], ["labels", "metadata", "object"], [
  "metadata",
  "labels",
  "object",
]] as const;

for (const [kind, make] of Object.entries(KINDS)) {
  Deno.test(`An entry ${kind} that is held compactly is read as it would be otherwise`, () => {
    for (const parts of OBJECTS) {
      // Strings are ASCII only.
      if (typeof make(parts).text === "string" && parts.name?.includes("é")) continue;
      for (const reads of ORDERS) {
        for (const isShared of [false, true]) {
          const plain = make(parts);
          const { entry, templates } = compacted(make, parts);
          for (const it of [plain, entry]) if (isShared) it.share(new SharedParts(() => true));
          assertEquals(told(entry, reads), told(plain, reads));
          assertEquals([entry.savedBytes, entry.text], [0, undefined]);
          assertEquals(templates.size, isShared && !(parts.id === LARGE && kind.includes("custom")) ? 1 : 0);
        }
      }
    }
  });

  Deno.test(`An entry ${kind} that is held compactly has fields and values without a parse`, () => {
    for (const parts of OBJECTS) {
      if (typeof make(parts).text === "string" && parts.name?.includes("é")) continue;
      const { entry } = compacted(make, parts);
      const paths = [
        ["metadata", "name"],
        ["spec", "id"],
        ["spec", "ids"],
        ["spec", "ids", "0"],
        ["status"],
        ["kind"],
        ["none"],
      ];
      for (const path of paths) assertEquals(entry.valuesAt(path), make(parts).valuesAt(path), `${path}`);
      assert(!entry.isParsed);
      const others = [
        make(parts),
        make({ ...parts, version: "100" }),
        compacted(make, { ...parts, version: "100" }).entry,
      ];
      for (const other of others) assert(sameFields(entry, other) && sameFields(other, entry));
      const different = make({ ...parts, phase: "different" });
      assert(!sameFields(entry, different) && !sameFields(different, entry));
      assert(!sameFields(compacted(make, { ...parts, phase: "different" }).entry, entry));
      assert(!entry.isParsed);
    }
  });

  Deno.test(`An entry ${kind} keeps what was read of it when it becomes compact`, () => {
    const reads = ["labels", "metadata", "object"] as const;
    for (let at = 0; at < reads.length; at++) {
      const entry = make({});
      const before = reads.slice(0, at).map((read) => entry[read]);
      become(entry, make);
      const { labels, metadata } = entry;
      if (at > 1) assertStrictEquals(metadata, before[1]);
      else if (at > 0 && kind !== "without the place of labels") assertEquals(labels, before[0]);
      assertStrictEquals(entry.metadata, metadata);
      const { object } = entry;
      assertStrictEquals(entry.object, object);
      assertStrictEquals(entry.metadata, object.metadata);
      assertEquals(object.metadata, metadata);
    }
    // Once it has been parsed there is no text.
    const entry = make({});
    void entry.object;
    const templates = new TextTemplates();
    for (let i = 0; i < 2; i++) assert(!holdCompactly(entry, templates));
    assertEquals([entry.savedBytes, templates.size], [0, 0]);
  });

  Deno.test(`An entry ${kind} that is broken gives the same error when it is held compactly, and uses no template`, () => {
    const cases: [Parts, ("labels" | "metadata" | "object")[]][] = [
      [{ status: `{"phase":01,"a":{"b":"x"}}` }, ["object"]],
      [{ status: `{"phase":"\\x","a":{"b":"x"}}` }, ["object"]],
      [{ status: `{"phase":"\n","a":{"b":"x"}}` }, ["object"]],
      [{ id: "tru" }, ["object"]],
      [{ version: "\n" }, ["metadata", "object"]],
    ];
    for (const [parts, reads] of cases) {
      const plain = make(parts);
      const { entry, templates } = (() => {
        const other: Parts = {
          ...parts,
          name: "cart-other",
          status: parts.status?.replace("01", "02").replace("x", "y"),
        };
        const [entry, templates] = [make(parts), new TextTemplates()];
        assert(!holdCompactly(make(other), templates) && holdCompactly(entry, templates));
        return { entry, templates };
      })();
      for (const read of reads) {
        const [error, expected] = [entry, plain].map((it) => assertThrows(() => it[read], DecodeError));
        assertEquals([error.message, error.key, `${error.cause}`], [
          expected.message,
          expected.key,
          `${expected.cause}`,
        ]);
        assertStrictEquals(assertThrows(() => entry.object), error);
        assertStrictEquals(entry.error, error);
      }
      assertEquals([entry.savedBytes, entry.text, templates.size, templates.bytes], [0, undefined, 0, 0]);
      entry.release();
    }
  });
}

Deno.test("A compact entry uses its template until it is released, parsed, or forgotten by SharedParts", () => {
  const make = KINDS.text;
  for (const isKept of [false, true]) {
    const templates = new TextTemplates();
    const parts = new SharedParts(() => true);
    const entries = ["cart-1", "cart-2", "cart-3", "cart-4"].map((name) => make({ name }));
    assertEquals(entries.map((entry) => holdCompactly(entry, templates)), [false, true, true, true]);
    const [, one, two, three] = entries;
    if (isKept) { for (const entry of [one, two, three]) entry.share(parts); }
    one.release();
    one.release();
    two.release();
    assertEquals(templates.size, 1, "the third one uses it");
    void three.object;
    three.release();
    assertEquals(templates.size, isKept ? 1 : 0);
    parts.clear();
    assertEquals([templates.size, templates.bytes], [0, 0]);
    assertEquals(one.object, make({ name: "cart-2" }).object, "it can still be read");
    for (const entry of entries) entry.release();
  }
});

Deno.test("A cached entry that is read says so, if it was compact", () => {
  const templates = new TextTemplates();
  const read: string[] = [];
  templates.onRead = (key) => void read.push(key);
  const entries = ["cart-1", "cart-2"].map((name) => KINDS.text({ name }));
  for (const entry of entries) holdCompactly(entry, templates);
  for (const entry of entries) void entry.metadata;
  assertEquals(read, []);
  for (const entry of entries) void [entry.object, entry.object];
  assertEquals(read, ["shop/cart-2"]);
});

Deno.test("A compact entry that is looked at again stays as it is, and counts as one user", () => {
  const { entry, templates } = compacted(KINDS.text, {});
  const { savedBytes, text } = entry;
  for (let i = 0; i < 3; i++) assert(!holdCompactly(entry, templates));
  assertEquals([entry.savedBytes, entry.text, templates.size], [savedBytes, text, 1]);
  entry.release();
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("A compact entry leaves its template for one that saves more", () => {
  const { entry, templates } = compacted(KINDS.text, {});
  const { savedBytes, text } = entry;
  // All but the name is equal here.
  const others = new TextTemplates();
  assert(!holdCompactly(KINDS.text({ name: "cart-9" }), others) && holdCompactly(entry, others));
  assert(entry.savedBytes > savedBytes, `${savedBytes} ${entry.savedBytes}`);
  assertEquals([entry.text, templates.size, others.size], [text, 0, 1]);
  // The first one saves less.
  const again = KINDS.text({ name: "cart-other", id: "5", phase: "other", version: "3" });
  assert(!holdCompactly(again, templates) && !holdCompactly(entry, templates));
  assertEquals(others.size, 1);
  entry.release();
  assertEquals(others.size, 0);
});

Deno.test("SharedParts count as a user of the template of a text that nobody counted when it was read", () => {
  const parts = new SharedParts(() => true);
  const templates = new TextTemplates();
  const entries = ["cart-1", "cart-2"].map((name) => KINDS.text({ name }));
  assertEquals(entries.map((entry) => entry.compact(templates)), [false, true]);
  entries[1].share(parts);
  void entries[1].object;
  templates.dropUnused();
  assertEquals(templates.size, 1);
  parts.clear();
  assertEquals(templates.size, 0);
});

Deno.test("valuesAt of a compact entry throws the DecodeError of the text, where a value is no JSON", () => {
  for (const [status, good] of [[`{"phase":tru}`, `{"phase":1}`], [`{"phase":"\\x"}`, `{"phase":"x"}`]]) {
    const [entry, plain] = [KINDS.text({ status }), KINDS.text({ status })];
    const templates = new TextTemplates();
    holdCompactly(KINDS.text({ status: good, name: "cart-other" }), templates);
    assert(holdCompactly(entry, templates));
    const [error, expected] = [entry, plain].map((it) =>
      assertThrows(() => it.valuesAt(["status", "phase"]), DecodeError)
    );
    assertEquals([error.message, `${error.cause}`], [expected.message, `${expected.cause}`]);
    assertStrictEquals(entry.error, error);
    assertEquals(templates.size, 0);
  }
});
