import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Entry } from "../../src/api/entry.ts";
import { DecodeError } from "../../src/api/errors.ts";
import type { KubernetesObject } from "../../src/api/object.ts";
import { entryOf } from "../../src/entry/entry_of.ts";
import { frozenEntry } from "../../src/entry/frozen_entry.ts";
import { brokenEntry, unreadEntry } from "../../src/entry/json_entry.ts";
import { sameFields } from "../../src/entry/same_fields.ts";

/** An unread entry; `bytes` holds it as bytes, as text outside of ASCII is held. */
function entry(version: string, rest: object = {}, { bytes = false, annotations = {} } = {}): Entry<KubernetesObject> {
  const text = JSON.stringify({ metadata: { annotations, name: "a", resourceVersion: version }, ...rest });
  const identity = { key: "a", namespace: "", uid: "", resourceVersion: version };
  const end = text.indexOf("}", text.indexOf(`"name"`)) + 1;
  return unreadEntry(identity, bytes ? new TextEncoder().encode(text) : text, 12, end);
}

function read<T>(entry: Entry<T>): Entry<T> {
  void entry.object;
  return entry;
}

Deno.test("sameFields compares the fields but for the version, whether entries are read, frozen, or bytes", () => {
  const forms = [
    (entry: Entry<KubernetesObject>) => entry,
    read,
    frozenEntry,
    (entry: Entry<KubernetesObject>) => read(frozenEntry(entry)),
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
