import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { Entry } from "../../src/api/options.ts";
import { DecodeError } from "../../src/api/status.ts";
import type { KubernetesObject, ObjectMeta } from "../../src/api/object.ts";
import { entryOf } from "../../src/entry/entry.ts";
import { brokenEntry } from "../../src/entry/entry.ts";
import { EntryLister } from "../../src/informer/cache/lister.ts";
import { Quarantine } from "../../src/informer/cache/entry_transform.ts";
import { Indexer } from "../../src/store/indexer.ts";

/** A lister, what it reads, and what it reports. */
class Cache {
  /** `"labels shop/cart"`, `"object shop/cart"`. */
  reads: string[] = [];
  readonly reported: unknown[] = [];
  readonly store: Indexer<Entry<KubernetesObject>, "namespace"> = new Indexer<Entry<KubernetesObject>, "namespace">({
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
        labels: { get: (): Entry<KubernetesObject>["labels"] => (reads.push(`labels ${key}`), entry.labels) },
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
