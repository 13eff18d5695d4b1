// What others put into an object decides what reading it costs: at most a number of steps for each byte of it.
//
// Steps are counted, by proxies around objects, texts and bytes; times are not measured. An object may be what a
// kube-apiserver accepts: up to 10,000 levels, and 1.5 MB.
import { asTable, differences, field, onlyFields, onlyMetadata } from "@kube/informer";
import { assert } from "@std/assert";
import { FieldTree } from "../../../src/engine/api/fields.ts";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { elementsAt, FieldSelector, membersAt, sameValue } from "../../../src/engine/api/selector.ts";
import { JsonWalker } from "../../../src/engine/entry/json_text.ts";
import { Projector } from "../../../src/engine/entry/projector.ts";
import { ObjectReader } from "../../../src/engine/client/decode/object_reader.ts";
import { entryOf, sameFields } from "../../../src/engine/entry/entry.ts";
import { entryText } from "../../../src/engine/entry/entry_json.ts";
import { pickFields } from "../../../src/engine/entry/reduction.ts";
import { EntrySelector } from "../../../src/engine/entry/entry_selector.ts";
import { ofEntries, readValues } from "../../../src/engine/entry/path.ts";
import { heldBytes, largestFields } from "../../../src/engine/informer/cache/memory_report.ts";
import { parseSortKey } from "../../../src/engine/informer/cache_view.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { Thing } from "../../support/sources/fixtures.ts";
import { asFrozen } from "../_unread.ts";

/** The methods of arrays that look at all elements. */
const WALKS = ["flat", "filter", "map", "some", "every", "slice", "includes", "join", "find", Symbol.iterator];

/** Counts what is done with values that it wraps. */
class Steps {
  count = 0;
  readonly #wrapped = new WeakMap<object, object>();

  /** Each access to the object, or to a part of it, is a step. */
  object<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#wrapped.get(value);
    if (known !== undefined) return known as T;
    const step = <R>(result: R): R => {
      this.count++;
      return result;
    };
    const handler: ProxyHandler<object> = {
      get: (target, name) => step(this.object(Reflect.get(target, name))),
      has: (target, name) => step(Reflect.has(target, name)),
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target);
        this.count += keys.length;
        return step(keys);
      },
      getOwnPropertyDescriptor: (target, name) => {
        const found = Reflect.getOwnPropertyDescriptor(target, name);
        if (found?.configurable && "value" in found) found.value = this.object(found.value);
        return step(found);
      },
      defineProperty: (target, name, { value: _same, ...attributes }) => {
        return step(Reflect.defineProperty(target, name, attributes));
      },
      isExtensible: (target) => step(Reflect.isExtensible(target)),
      preventExtensions: (target) => step(Reflect.preventExtensions(target)),
    };
    const proxy = new Proxy(value, handler);
    this.#wrapped.set(value, proxy);
    return proxy as T;
  }

  /**
   * While `read` runs, the elements of arrays that are walked are steps, also of new arrays, and objects that are
   * frozen, or asked for that.
   */
  during(read: () => unknown): void {
    const counted = (
      holder: object,
      names: readonly PropertyKey[],
      steps: (self: unknown, result: unknown) => number,
    ) => {
      return names.map((name): () => void => {
        const attributes = Object.getOwnPropertyDescriptor(holder, name)!;
        // deno-lint-ignore no-this-alias -- the array that a method is called of
        const owner = this;
        Object.defineProperty(holder, name, {
          ...attributes,
          value(this: unknown, ...given: unknown[]): unknown {
            const result = attributes.value.apply(this, given);
            owner.count += 1 + steps(this, result);
            return result;
          },
        });
        return () => void Object.defineProperty(holder, name, attributes);
      });
    };
    const lengthOf = (value: unknown): number => Array.isArray(value) ? value.length : 0;
    const undo = [
      ...counted(Object, ["freeze", "isFrozen"], () => 0),
      ...counted(Object, ["values", "keys", "entries"], (_, result) => lengthOf(result)),
      ...counted(Array.prototype, WALKS, (self, result) => lengthOf(self) + lengthOf(result)),
    ];
    try {
      read();
    } finally {
      for (const restore of undo) restore();
    }
  }

  /** Each character that is read is a step. */
  text(text: string): string {
    const counted = (steps: number): void => void (this.count += Math.max(1, steps));
    return {
      length: text.length,
      charCodeAt: (at: number) => (counted(1), text.charCodeAt(at)),
      slice: (start: number, end = text.length) => (counted(end - start), text.slice(start, end)),
      indexOf: (part: string, from = 0) => {
        const at = text.indexOf(part, from);
        counted((at === -1 ? text.length : at) - from);
        return at;
      },
    } as string;
  }

  /** Each byte that is read is a step. */
  bytes(bytes: Uint8Array): Uint8Array {
    const search = (name: "indexOf" | "lastIndexOf") => (byte: number, from: number) => {
      const at = bytes[name](byte, from);
      this.count += 1 + Math.abs((at === -1 ? name === "indexOf" ? bytes.length : 0 : at) - from);
      return at;
    };
    const methods: Readonly<Record<string, unknown>> = {
      indexOf: search("indexOf"),
      lastIndexOf: search("lastIndexOf"),
      subarray: (start: number, end: number) => (this.count += Math.max(1, end - start), bytes.subarray(start, end)),
    };
    return new Proxy(bytes, {
      get: (target, name) => {
        this.count++;
        return methods[name as string] ?? Reflect.get(target, name, target);
      },
    });
  }
}

function nested(levels: number, around: (within: string) => string, innermost = "1"): string {
  return around("\0").split("\0").map((part) => part.repeat(levels)).join(innermost);
}

/** The text of a value of about `size` bytes, by what it is. */
const VALUES: Readonly<Record<string, (size: number) => string>> = {
  "deep objects": (size) => nested(Math.min(size / 6, 9_000), (it) => `{"a":${it}}`),
  "deep arrays": (size) => nested(Math.min(size / 2, 9_000), (it) => `[${it}]`, ""),
  "deep objects in arrays": (size) => nested(Math.min(size / 8, 4_500), (it) => `[{"a":${it}}]`),
  "a wide array": (size) => `[${"1,".repeat(size / 2)}1]`,
  "a wide array of texts": (size) => `[${'"a",'.repeat(size / 4)}"b"]`,
  "many keys": (size) => `{${Array.from({ length: size / 12 }, (_, i) => `"a${i}":"${i}"`).join()}}`,
  "many keys of one beginning": (size) => {
    return `{${Array.from({ length: size / 108 }, (_, i) => `"${"a".repeat(100)}${i}":1`).join()}}`;
  },
  "many objects": (size) => `[${'{"a":1,"b":{}},'.repeat(size / 15)}{"a":[1]}]`,
  "many arrays": (size) => `[${"[1],".repeat(size / 4)}[]]`,
  "many empty arrays and objects": (size) => `[${'{"a":[]},{"a":{}},[],{},'.repeat(size / 24)}1]`,
  "one deep array in a wide one": (size) => `[${nested(size / 4, (it) => `[${it}]`, "")},${"1,".repeat(size / 4)}1]`,
  "a wide array within deep ones": (size) => nested(size / 8, (it) => `[${it}]`, `${"1,".repeat(size / 4)}1`),
  "wide and deep, at each level": (size) => nested(size / 10, (it) => `[1,2,${it},"a"]`, "3"),
  "wide and deep objects": (size) => nested(Math.min(size / 18, 9_000), (it) => `{"b":1,"a":${it},"c":2}`),
  "wide and deep objects in arrays": (size) => nested(size / 24, (it) => `[{"b":1},{"a":${it}},[]]`),
  "arrays of arrays, as a tree": (size) => {
    const tree = (size: number): string => size < 8 ? "1" : `[${tree(size / 2 - 1)},${tree(size / 2 - 1)}]`;
    return tree(size);
  },
  "one long name": (size) => `{"${"a".repeat(size)}":1}`,
  "one long text": (size) => `"${"a".repeat(size)}"`,
  "a text of quotes": (size) => `"${'\\"'.repeat(size / 2)}"`,
  "a text of backslashes": (size) => `"${"\\\\".repeat(size / 2)}"`,
  "a text of brackets": (size) => `"${"[{]}".repeat(size / 4)}"`,
  "texts of brackets, quotes and backslashes": (size) => `[${'"[\\"{\\\\",'.repeat(size / 10)}"]"]`,
  "brackets before many backslashes": (size) => `{"a":["${"[".repeat(size / 2)}","${"\\\\".repeat(size / 4)}"]}`,
  "many texts of commas and colons": (size) => `{"a":[${'",:","}",'.repeat(size / 9)}1]}`,
  "many numbers": (size) => `{"a":${"1".repeat(size / 2)},"b":[${"1e9,".repeat(size / 8)}1]}`,
  "many managedFields": (size) => `[${'{"managedFields":[1]},'.repeat(size / 22)}{}]`,
};

/** The paths that are read, of `spec.x`, where the value is. */
const PATHS = ["spec.x", "spec.x.a", "spec.x.a.a.a.a", "spec.x.0", "spec.x.length", "spec.x.a.b", "spec.none"];

function textOf(value: string): string {
  const metadata = `{"name":"a","namespace":"b","uid":"u","resourceVersion":"5","labels":{"app":"web"},` +
    `"managedFields":[{"manager":"m","fieldsV1":${value.startsWith("{") ? value : "{}"}}]}`;
  return `{"apiVersion":"acme.dev/v1","kind":"Thing","metadata":${metadata},"spec":{"x":${value}},"status":{}}`;
}

type Ways = Readonly<Record<string, (steps: Steps, object: KubernetesObject, text: string) => unknown>>;

/** The ways to read an object. The object is counted already; the text is not. */
const WAYS: Ways = {
  ...Object.fromEntries(PATHS.flatMap((it): [string, Ways[string]][] => {
    const values = field(it as string);
    const keys = it.split(".");
    const selector = FieldSelector.parse(`${it}=1,${it}!=2`);
    return [
      [`field("${it}")`, (_, object) => values(object)],
      [`field("${it}").exists()`, (_, object) => values.exists()(object)],
      [`field("${it}") of an unread text`, (steps, _, text) => readValues(steps.text(text), keys)],
      [`field("${it}") of an entry`, (_, object) => ofEntries<KubernetesObject, unknown>(values)(entryOf(object))],
      [`an index by "${it}"`, (_, object) => {
        const indexer = new Indexer<KubernetesObject, string>({ keyOf: () => "b/a", indexers: { x: values } });
        indexer.add(object);
        indexer.update(object);
        indexer.deleteByKey("b/a");
      }],
      [`a field selector of "${it}"`, (_, object) => selector.matches(object)],
      [`a sort key of "${it}"`, (_, object) => parseSortKey<KubernetesObject>(it).by(object)],
      [`members at "${it}"`, (_, object) => membersAt(object, keys)],
      [`elements at "${it}"`, (_, object) => elementsAt(object, keys)],
      [`fields ["${it}"] of an object`, (_, object) => pickFields(object, FieldTree.of([it]))],
      [`fields ["${it}"] of bytes`, (steps, _, text) => {
        const bytes = steps.bytes(new TextEncoder().encode(text));
        new Projector(FieldTree.of([it])).project(bytes, 0, bytes.length);
      }],
      [`an entry of fields ["${it}"]`, (steps, _, text) => {
        const bytes = steps.bytes(new TextEncoder().encode(text));
        const resource = onlyFields(Thing, [it] as string[]);
        return new ObjectReader({ resource, managedFields: "drop" }).read(bytes, 0, bytes.length);
      }],
    ];
  })),
  "a label selector": (_, object) => {
    return new EntrySelector({ labelSelector: "app in (web,api),!b" }).matches(entryOf(object));
  },
  "metadata of bytes": (steps, _, text) =>
    new JsonWalker().walk(steps.bytes(new TextEncoder().encode(text)), 0, text.length),
  ...Object.fromEntries([Thing, onlyMetadata(Thing), asTable(Thing)].flatMap((resource) => {
    return (["keep", "drop", { manager: "m" }] as const).map((managedFields): [string, Ways[string]] => {
      const name = `an entry of ${resource.representation ?? "object"}, managedFields ${JSON.stringify(managedFields)}`;
      return [name, (steps, _, text) => {
        const bytes = steps.bytes(new TextEncoder().encode(text));
        return new ObjectReader({ resource, managedFields }).read(bytes, 0, bytes.length);
      }];
    });
  })),
  "the size in memory": (_, object) => heldBytes(entryOf(object)),
  "the largest fields": (_, object) => largestFields([entryOf(object)]),
  "its text": (_, object) => entryText(entryOf(object)),
  // A proxy of a frozen object must be one, so that it could count nothing.
  "freezing": (_, _object, text) => asFrozen(entryOf(JSON.parse(text))).object,
  "equality": (steps, object, text) => assert(sameValue(object, steps.object(JSON.parse(text)))),
  "equality of entries": (steps, object, text) =>
    assert(sameFields(entryOf(object), entryOf(steps.object(JSON.parse(text))))),
  "differences": (steps, object, text) => differences(object, steps.object(JSON.parse(text.replaceAll("1", "7")))),
};

/** So many steps are made for a byte: a walk over an object by a proxy has several for each member. */
const STEPS = 20;

for (const [what, value] of Object.entries(VALUES)) {
  Deno.test(`an object with ${what} costs no reader more than its size`, () => {
    const text = textOf(value(8_000));
    for (const [way, read] of Object.entries(WAYS)) {
      const steps = new Steps();
      const object = steps.object(JSON.parse(text));
      steps.during(() => read(steps, object, text));
      assert(steps.count <= STEPS * text.length, `${way}: ${steps.count} steps for ${text.length} bytes`);
    }
  });
}

Deno.test("an object of as many levels as a server accepts is read in each way", () => {
  for (const value of [nested(9_900, (it) => `{"a":${it}}`), nested(9_900, (it) => `[${it}]`)]) {
    const text = textOf(value);
    for (const read of Object.values(WAYS)) read(new Steps(), JSON.parse(text), text);
  }
});
