import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import type { KubernetesObject, ObjectMeta } from "../../../src/engine/api/object.ts";
import { DecodeError } from "../../../src/engine/api/status.ts";
import { brokenEntry, entryOf } from "../../../src/engine/entry/entry.ts";
import { Quarantine } from "../../../src/engine/informer/cache/entry_transform.ts";
import { EntryLister } from "../../../src/engine/informer/cache/lister.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import type { IndexFunction } from "../../../src/engine/store/value_index.ts";

interface Thing {
  readonly name: string;
  readonly tags: string[];
}

function thing(name: string, ...tags: string[]): Thing {
  return { name, tags };
}

function byTag(thing: Thing): readonly string[] {
  return thing.tags;
}

function tagged(...things: readonly Thing[]): Indexer<Thing, "tag"> {
  const indexer = new Indexer<Thing, "tag">({ keyOf: (thing) => thing.name, indexers: { tag: byTag } });
  for (const thing of things) indexer.add(thing);
  return indexer;
}

/** All keys by tag. */
function filed(indexer: Indexer<Thing, "tag">): Record<string, string[]> {
  return Object.fromEntries(indexer.indexValues("tag").sort().map((tag) => [tag, indexer.indexKeys("tag", tag)]));
}

Deno.test("Indexer removes an index value with its last item, and not before [C104]", () => {
  const indexer = tagged(thing("a", "red"), thing("b", "red"));
  indexer.delete(thing("a"));
  assertEquals(filed(indexer), { red: ["b"] });
  indexer.add(thing("a", "red"));
  assertEquals(filed(indexer), { red: ["a", "b"] });
  indexer.delete(thing("a"));
  indexer.delete(thing("b"));
  assertEquals(
    [indexer.indexValues("tag"), indexer.byIndex("tag", "red"), indexer.indexKeys("tag", "red")],
    [[], [], []],
  );
});

Deno.test("Indexer moves an item between the values of a multi-valued index [C105]", () => {
  const indexer = tagged(thing("a", "red", "blue"), thing("b", "blue"), thing("none"));
  assertEquals(filed(indexer), { blue: ["a", "b"], red: ["a"] });
  indexer.update(thing("a", "blue", "green", "green"));
  assertEquals(filed(indexer), { blue: ["a", "b"], green: ["a"] });
  indexer.update(thing("a"));
  assertEquals(filed(indexer), { blue: ["b"] });
  indexer.update(thing("a", "blue", "blue"));
  indexer.update(thing("b", "red"));
  assertEquals(filed(indexer), { blue: ["a"], red: ["b"] });
});

Deno.test("Indexer intersects indexes by keys, and follows deletions [C107]", () => {
  const indexer = new Indexer<string, "first" | "length">({
    keyOf: (word) => word,
    indexers: { first: (word) => [word[0]], length: (word) => [`${word.length}`] },
  });
  for (const word of ["ant", "ape", "bear", "bee", "asp", "boar"]) indexer.add(word);
  const both = (first: string, length: string): string[] => {
    const others = new Set(indexer.indexKeys("length", length));
    return indexer.indexKeys("first", first).filter((key) => others.has(key));
  };
  assertEquals([both("a", "3"), both("b", "3"), both("b", "4"), both("a", "4")], [["ant", "ape", "asp"], ["bee"], [
    "bear",
    "boar",
  ], []]);
  assertEquals([indexer.indexValues("first").sort(), indexer.indexValues("length").sort()], [["a", "b"], ["3", "4"]]);
  indexer.delete("bee");
  indexer.delete("ape");
  assertEquals([both("a", "3"), both("b", "3")], [["ant", "asp"], []]);
  assertEquals(indexer.index("length", "cow").sort(), ["ant", "asp"], "those that share a value with another thing");
});

Deno.test("Indexer stores nothing when keyOf throws, in any method that writes [C108]", () => {
  const indexer = new Indexer<string>({
    keyOf: (word) => {
      if (word === "") throw new RangeError("no key");
      return word[0];
    },
  });
  indexer.add("ant");
  const writes = [
    () => indexer.add(""),
    () => indexer.update(""),
    () => indexer.delete(""),
    () => indexer.get(""),
    () => indexer.replace(["bee", ""], "1"),
  ];
  for (const write of writes) {
    assertThrows(write, RangeError, "no key");
    assertEquals(indexer.list(), ["ant"]);
  }
});

Deno.test("Indexer reads by key, by item, all, and none", () => {
  const [a, b] = [thing("a", "red"), thing("b")];
  const indexer = tagged(a, b);
  assertEquals(indexer.size, 2);
  assertStrictEquals(indexer.getByKey("a"), a);
  assertStrictEquals(indexer.get(thing("b", "another")), b);
  assertEquals([indexer.getByKey("c"), indexer.get(thing("c"))], [undefined, undefined]);
  assertEquals([[...indexer.keys()], indexer.list(), [...indexer]], [["a", "b"], [a, b], [a, b]]);
  indexer.list().length = 0;
  indexer.byIndex("tag", "red").length = 0;
  assertEquals([indexer.list().length, indexer.byIndex("tag", "red")], [2, [a]], "the arrays are the reader's own");
});

Deno.test("Indexer's error for an unknown index names the indexes that exist", () => {
  const indexer = tagged() as unknown as Indexer<Thing, "zone">;
  const reads = [
    () => indexer.byIndex("zone", ""),
    () => indexer.indexKeys("zone", ""),
    () => indexer.indexValues("zone"),
    () => indexer.index("zone", thing("a")),
  ];
  for (const read of reads) {
    assertThrows(
      read,
      RangeError,
      `Cannot look up index "zone": it does not exist. The indexes are "tag"`,
    );
  }
  assertThrows(
    () => new Indexer<string, string>({ keyOf: String }).byIndex("zone", ""),
    RangeError,
    "There are no indexes",
  );
});

Deno.test("Indexer does not lose an item whose index values were changed in place", () => {
  const changed = thing("a", "red", "blue");
  const indexer = tagged(changed);
  changed.tags.length = 0;
  changed.tags.push("green");
  assertEquals(filed(indexer), { blue: ["a"], red: ["a"] }, "filed as it was when it was stored");
  indexer.update(thing("a", "yellow"));
  assertEquals(filed(indexer), { yellow: ["a"] });
  const late = thing("b", "red");
  indexer.replace([late], "1");
  late.tags[0] = "other";
  indexer.delete(late);
  assertEquals(filed(indexer), {});
});

Deno.test("Indexer changes nothing when an index function throws", async (t) => {
  const picky: IndexFunction<Thing> = ({ tags }) => {
    if (tags.includes("bad")) throw new TypeError("no index value");
    return tags;
  };
  const make = (): Indexer<Thing, "tag" | "picky"> => {
    const indexer = new Indexer<Thing, "tag" | "picky">({
      keyOf: (thing) => thing.name,
      indexers: { tag: byTag, picky },
    });
    indexer.add(thing("a", "red"));
    return indexer;
  };
  const actions: Record<string, (indexer: Indexer<Thing, "tag" | "picky">) => void> = {
    "adding a new one": (indexer) => indexer.add(thing("b", "bad")),
    "updating": (indexer) => indexer.update(thing("a", "blue", "bad")),
    "replacing": (indexer) => indexer.replace([thing("b", "blue"), thing("a", "bad")], "1"),
    "staging": (indexer) => indexer.replacing().add([thing("a", "bad")]),
    "more indexes": (indexer) =>
      void indexer.withIndexers({
        fine: byTag,
        broken: () => {
          throw new TypeError("no index value");
        },
      }),
  };
  for (const [name, act] of Object.entries(actions)) {
    await t.step(name, () => {
      const indexer = make();
      assertThrows(() => act(indexer), TypeError, "no index value");
      assertEquals(
        [indexer.list(), indexer.indexValues("tag"), indexer.indexValues("picky")],
        [[thing("a", "red")], ["red"], ["red"]],
      );
      assertThrows(() => (indexer as Indexer<Thing, string>).byIndex("fine", "red"), RangeError);
    });
  }
  await t.step("a commit with a value that an index added meanwhile refuses", () => {
    const indexer = tagged(thing("a", "red"));
    const replacement = indexer.replacing();
    replacement.add([thing("c", "fine"), thing("b", "bad")]);
    const more = indexer.withIndexers({ picky });
    assertThrows(() => replacement.commit("1"), TypeError, "no index value");
    assertEquals([more.list(), filed(indexer), more.indexValues("picky")], [[thing("a", "red")], { red: ["a"] }, [
      "red",
    ]]);
  });
});

Deno.test("Indexer replacing computes index values once, when values are staged, and none for unchanged values", () => {
  let calls = 0;
  const indexer = new Indexer<Thing, "tag">({
    keyOf: (thing) => thing.name,
    indexers: {
      tag: (thing) => {
        calls++;
        return thing.tags;
      },
    },
  });
  const [stays, goes] = [thing("a", "red"), thing("b", "red")];
  indexer.replace([stays, goes], "1");
  assertEquals(calls, 2);
  const replacement = indexer.replacing();
  replacement.add([stays, thing("c", "blue")]);
  assertEquals([calls, filed(indexer)], [3, { red: ["a", "b"] }]);
  replacement.commit("2");
  assertEquals([calls, filed(indexer)], [3, { blue: ["c"], red: ["a"] }]);
  assertStrictEquals(indexer.getByKey("a"), stays);
});

Deno.test("Indexer replacing allows staged values to be deleted, can be abandoned, and is used once", () => {
  const indexer = tagged(thing("a", "red"));
  const abandoned = indexer.replacing();
  abandoned.add([thing("b", "blue")]);
  abandoned.abandon();
  const uses = [
    () => abandoned.add([]),
    () => abandoned.delete(thing("b")),
    () => abandoned.commit("1"),
  ];
  const messages = uses.map((use) => assertThrows(use, Error).message);
  assertEquals(
    messages,
    ["add to", "delete from", "commit"].map((action) => `Cannot ${action} the replacement: it is over`),
  );
  assertEquals(filed(indexer), { red: ["a"] });
  const replacement = indexer.replacing();
  replacement.add([thing("b", "blue"), thing("c", "blue")]);
  replacement.delete(thing("b"));
  replacement.commit("1");
  assertThrows(() => replacement.commit("1"), Error, "it is over");
  assertEquals(filed(indexer), { blue: ["c"] });
});

Deno.test("Indexer replacing transforms each value once, and calls onCommit when the store has them", () => {
  const indexer = tagged(thing("old", "red"));
  const transformed: string[] = [];
  const committed: unknown[] = [];
  const staged = indexer.replacing({
    transform: (value) => {
      transformed.push(value.name);
      return thing(`${value.name}!`, ...value.tags);
    },
    onCommit: () => committed.push(filed(indexer)),
  });
  staged.add([thing("a", "blue"), thing("b", "blue")]);
  staged.delete(thing("a"));
  assertEquals([transformed, committed], [["a", "b", "a"], []]);
  staged.commit("1");
  assertEquals(committed, [{ blue: ["b!"] }]);
  const abandoned = indexer.replacing({ onCommit: () => committed.push("again") });
  abandoned.abandon();
  assertThrows(() => abandoned.commit("2"), Error, "it is over");
  assertEquals(committed.length, 1);
});

Deno.test("Indexer removes an index also from values that are staged, though another one was added since", () => {
  const indexer = new Indexer<Thing, string>({
    keyOf: (thing) => thing.name,
    indexers: { tag: byTag, size: ({ tags }) => [String(tags.length)] },
  });
  const replacement = indexer.replacing();
  replacement.add([thing("a", "red")]);
  indexer.removeIndexer("tag");
  indexer.withIndexers({ name: ({ name }) => [name] });
  replacement.add([thing("b", "red", "blue")]);
  replacement.commit("1");
  assertEquals([indexer.indexValues("size").sort(), indexer.indexValues("name").sort()], [["1", "2"], ["a", "b"]]);
  assertThrows(() => indexer.byIndex("tag", "red"), RangeError, 'The indexes are "size", "name"');
});

Deno.test("Indexer replacing reuses the index values of stored values, also for an index added meanwhile", () => {
  const kept = thing("kept", "red");
  const indexer = tagged(kept);
  const staged = indexer.replacing();
  staged.add([kept, thing("new", "red")]);
  let calls = 0;
  const more = indexer.withIndexers({
    late: ({ tags }) => {
      calls++;
      return tags;
    },
  });
  staged.add([thing("later", "blue"), thing("none")]);
  assertEquals(calls, 3, "of what was there, and of what came since");
  kept.tags[0] = "changed";
  staged.commit("1");
  assertEquals(calls, 4, "of what came before, but not of what is kept");
  assertEquals(
    [more.indexKeys("tag", "red"), more.indexKeys("late", "red"), more.indexValues("late").sort()],
    [["kept", "new"], ["kept", "new"], ["blue", "red"]],
  );
});

Deno.test("Indexer revision changes with every change, and only then", () => {
  const indexer = tagged(thing("a", "red"));
  const staged = indexer.replacing();
  const reads: Record<string, () => unknown> = {
    "looking up": () => indexer.lookUp("a"),
    "listing": () => indexer.byIndex("tag", "red"),
    "deleting what is not there": () => indexer.deleteByKey("b"),
    "staging": () => staged.add([thing("c", "red")]),
    "adding an index": () => indexer.withIndexers({ name: ({ name }) => [name] }),
  };
  for (const [name, read] of Object.entries(reads)) {
    const before = indexer.revision;
    read();
    assertEquals(indexer.revision, before, name);
  }
  const changes: Record<string, () => unknown> = {
    "adding": () => indexer.add(thing("b")),
    "updating by the same": () => indexer.set("b", indexer.getByKey("b")!),
    "deleting": () => indexer.delete(thing("b")),
    "committing": () => staged.commit("1"),
    "replacing nothing by nothing": () => indexer.replace([], "2"),
  };
  const seen = new Set([indexer.revision]);
  for (const [name, change] of Object.entries(changes)) {
    change();
    assert(!seen.has(indexer.revision), name);
    seen.add(indexer.revision);
  }
});

Deno.test("Indexer iteration continues over the old contents when everything is replaced", () => {
  const indexer = tagged(thing("a"), thing("b"));
  const seen: string[] = [];
  for (const { name } of indexer) {
    seen.push(name);
    if (name === "a") indexer.replace([thing("c")], "1");
  }
  assertEquals(seen, ["a", "b"]);
  assert(indexer.getByKey("c"));
});

Deno.test("Indexer lookUpNext() continues after the last key looked up, and a value stored then takes that place", () => {
  const store = new Indexer<string>({ keyOf: (word) => word[0] });
  assertEquals(store.lookUpNext(), undefined);
  store.replace(["ant", "bee", "cat", "dog"], "1");
  assertEquals([store.lookUpNext(), store.lookUpNext()], ["ant", "bee"]);
  assertEquals([store.lookUp("a"), store.lookUpNext()], ["ant", "bee"]);
  store.set("b", "bat");
  assertEquals(store.list(), ["ant", "bat", "cat", "dog"]);
  assertEquals([store.lookUpNext(), store.lookUpNext(), store.lookUpNext()], ["cat", "dog", undefined]);
  store.delete("bat");
  assertEquals([store.lookUp("a"), store.lookUpNext()], ["ant", undefined]);
  assertEquals([store.lookUp("z"), store.lookUpNext()], [undefined, "ant"]);
});

Deno.test("Indexer lookUp() sees values stored and removed since the last lookup of that key", () => {
  const store = new Indexer<string, "length">({
    keyOf: (word) => word[0],
    indexers: { length: (word) => [String(word.length)] },
  });
  assertEquals(store.lookUp("a"), undefined);
  store.set("a", "ant");
  assertEquals([store.lookUp("a"), store.byIndex("length", "3")], ["ant", ["ant"]]);
  store.deleteByKey("a");
  assertEquals([store.lookUp("a"), store.byIndex("length", "3")], [undefined, []]);
  store.replace(["ape"], "1");
  assertEquals(store.lookUp("a"), "ape");
  store.set("a", "adder");
  assertEquals([store.getByKey("a"), store.byIndex("length", "3"), store.size], ["adder", [], 1]);
});

Deno.test("Indexer calls the function of a byKey index once per key, and keeps the array that it returns", () => {
  const shared = ["shared"];
  let calls = 0;
  const indexer = new Indexer<Thing, "tag" | "name">({
    keyOf: (thing) => thing.name,
    indexers: { tag: byTag, name: () => (calls++, shared) },
    byKey: ["name"],
  });
  indexer.add(thing("a", "red"));
  indexer.add(thing("a", "blue"));
  assertEquals([calls, indexer.indexKeys("tag", "blue"), indexer.indexKeys("name", "shared")], [1, ["a"], ["a"]]);
  shared[0] = "renamed";
  indexer.delete(thing("a"));
  assertEquals(indexer.indexValues("name"), ["shared"], "the store has no copy of the array");
});

Deno.test("Indexer files an item under thousands of values, and an update costs as many steps", () => {
  const values = (from: number): string[] => Array.from({ length: 20_000 }, (_, i) => `v${from + i}`);
  const indexer = tagged(thing("a", ...values(0)));
  const startedAt = performance.now();
  indexer.update(thing("a", ...values(10_000)));
  const tookMs = performance.now() - startedAt;
  assertEquals([indexer.indexKeys("tag", "v9999"), indexer.indexKeys("tag", "v29999")], [[], ["a"]]);
  assert(tookMs < 1_000, `${tookMs} ms`); // by comparing each with each it is some 5 s
});

/** A lister, what it reads, and what it reports. */
class Cache {
  /** `"labels shop/cart"`, `"object shop/cart"`. */
  reads: string[] = [];
  readonly reported: unknown[] = [];
  readonly store: Indexer<CacheEntry<KubernetesObject>, "namespace"> = new Indexer<
    CacheEntry<KubernetesObject>,
    "namespace"
  >({
    keyOf: (entry) => entry.key,
    indexers: { namespace: (entry) => [entry.namespace] },
  });
  readonly lister: EntryLister<KubernetesObject> = new EntryLister(
    this.store,
    new Quarantine((error) => this.reported.push(error), (entry) => this.store.getByKey(entry.key) === entry),
  );

  add(key: string, labels?: Readonly<Record<string, string>>): KubernetesObject {
    const [name, namespace] = key.split("/").reverse();
    const object = { metadata: { name, namespace, uid: key, resourceVersion: "1", creationTimestamp: "", labels } };
    const { reads } = this;
    const entry = entryOf<KubernetesObject>(object);
    this.store.add(
      Object.create(entry, {
        key: { value: entry.key },
        namespace: { value: entry.namespace },
        labels: { get: (): CacheEntry<KubernetesObject>["labels"] => (reads.push(`labels ${key}`), entry.labels) },
        metadata: { get: (): ObjectMeta => (reads.push(`metadata ${key}`), entry.metadata) },
        object: { get: (): KubernetesObject => (reads.push(`object ${key}`), entry.object) },
      }),
    );
    return object;
  }

  /** Names of what was found, sorted, and what was read for it. */
  seen(found: readonly KubernetesObject[]): { readonly names: string[]; readonly reads: string[] } {
    const reads = this.reads.splice(0).sort();
    return { names: found.map(({ metadata }) => metadata.name).sort(), reads };
  }
}

Deno.test("Lister lists the objects that a selector matches, and parses no more than needed [C109]", async (t) => {
  const cache = new Cache();
  cache.add("shop/cart", { app: "web", tier: "front" });
  cache.add("shop/till", { app: "till" });
  cache.add("bank/vault", { app: "web" });
  cache.add("bank/bare");
  const { lister } = cache;
  await t.step("all: labels are not read", () => {
    for (const list of [() => lister.list(), () => lister.list(""), () => lister.list("  ")]) {
      assertEquals(cache.seen(list()), {
        names: ["bare", "cart", "till", "vault"],
        reads: ["object bank/bare", "object bank/vault", "object shop/cart", "object shop/till"],
      });
    }
  });
  await t.step("some: only matching objects are parsed entirely, of the others the labels", () => {
    assertEquals(cache.seen(lister.list("app=web,tier!=back,!gone")), {
      names: ["cart", "vault"],
      reads: [
        "labels bank/bare",
        "labels bank/vault",
        "labels shop/cart",
        "labels shop/till",
        "object bank/vault",
        "object shop/cart",
      ],
    });
    assertEquals(cache.seen(lister.list("!app")).names, ["bare"]);
  });
  await t.step("none", () => {
    assertEquals(cache.seen(lister.list("app,!app")).names, []);
  });
  await t.step("one namespace: objects of others are not read", () => {
    assertEquals(cache.seen(lister.namespace("shop").list("app=web")), {
      names: ["cart"],
      reads: ["labels shop/cart", "labels shop/till", "object shop/cart"],
    });
    assertEquals(cache.seen(lister.namespace("bank").list()), {
      names: ["bare", "vault"],
      reads: ["object bank/bare", "object bank/vault"],
    });
    assertEquals(cache.seen(lister.namespace("empty").list()), { names: [], reads: [] });
  });
});

Deno.test("Lister get and namespace().get find the cache's own object, or undefined", () => {
  const cache = new Cache();
  const cart = cache.add("shop/cart");
  const node = cache.add("node-1");
  const { lister } = cache;
  assertStrictEquals(lister.get("shop/cart"), cart);
  assertStrictEquals(lister.namespace("shop").get("cart"), cart);
  assertStrictEquals(lister.namespace("").get("node-1"), node);
  assertEquals(cache.seen(lister.namespace("").list()).names, ["node-1"]);
  assertEquals(
    [lister.get("cart"), lister.get("bank/cart"), lister.namespace("bank").get("cart")],
    [undefined, undefined, undefined],
  );
});

Deno.test("Lister reads the current contents at each call", () => {
  const cache = new Cache();
  const shop = cache.lister.namespace("shop");
  assertEquals(shop.list("app=web"), []);
  const cart = cache.add("shop/cart", { app: "web" });
  assertEquals(shop.list("app=web"), [cart]);
  shop.list("app=web").length = 0;
  assertEquals(cache.lister.list("app=web"), [cart], "the array is the reader's own");
});

Deno.test("Lister shows the position of a selector's error, also at the second call", () => {
  const cache = new Cache();
  cache.add("shop/cart");
  for (let time = 0; time < 2; time++) {
    for (const lister of [cache.lister, cache.lister.namespace("shop")]) {
      assertThrows(() => lister.list("app in web"), SyntaxError, `found "web" at character 8, expected "("`);
    }
  }
});

Deno.test("Lister skips broken objects in lists and reports each once; get throws", () => {
  const cache = new Cache();
  const cart = cache.add("shop/cart", { app: "web" });
  const error = new DecodeError("Cannot parse", { key: "shop/broken" });
  const identity = { key: "shop/broken", namespace: "shop", uid: "u", resourceVersion: "1" };
  cache.store.add(brokenEntry<KubernetesObject>(identity, error));
  assertEquals(
    [cache.lister.list(), cache.lister.list("app"), cache.lister.namespace("shop").list()],
    [[cart], [cart], [cart]],
  );
  assertStrictEquals(assertThrows(() => cache.lister.get("shop/broken"), DecodeError), error);
  assertEquals(cache.reported.length, 1);
  assert(cache.reported[0] === error);
});
