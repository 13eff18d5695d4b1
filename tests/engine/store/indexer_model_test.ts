import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { Indexer, type StoreReplacement } from "../../../src/engine/store/indexer.ts";

Deno.test("Indexer equals a naive recomputation after any operations", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40, size: "max" }), (operations) => {
      const run = new Run();
      for (const operation of operations) run.perform(operation);
    }),
    { numRuns: 500 },
  );
});

interface Thing {
  readonly name: string;
  readonly tags: readonly string[];
  /** Which index function cannot file it. */
  readonly bad?: Name;
}

type Name = "tag" | "count" | "late";

type Operation =
  | { readonly do: "add" | "update" | "set" | "delete" | "deleteByKey" | "again" | "unstage"; readonly thing: Thing }
  | { readonly do: "replace" | "stage"; readonly things: readonly Thing[] }
  | { readonly do: "stageStored" | "begin" | "commit" | "abandon" }
  | { readonly do: "more" | "less"; readonly index: Name };

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const thing: fc.Arbitrary<Thing> = fc.record({
  name,
  tags: fc.array(fc.constantFrom("red", "green", "blue", ""), { maxLength: 4 }),
  bad: fc.option(fc.constantFrom<Name>("tag", "late"), { freq: 12, nil: undefined }),
});
const things = fc.array(thing, { maxLength: 5 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("add", "update", "set", "delete", "deleteByKey", "again", "unstage"),
      thing,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("replace", "stage"), things }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom("stageStored", "begin", "commit", "abandon") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("more", "less"), index: fc.constantFrom("tag", "count", "late") }),
  },
);

/** Under what a thing is to be filed. */
const FILED: Readonly<Record<Name, (thing: Thing) => readonly string[]>> = {
  tag: (thing) => thing.tags,
  count: (thing) => [`${thing.tags.length}`],
  late: (thing) => [thing.name, ...thing.tags],
};

function filing(name: Name): (thing: Thing) => readonly string[] {
  return (thing) => {
    if (thing.bad === name) throw new BadThing(`Cannot file "${thing.name}" in "${name}"`);
    return FILED[name](thing);
  };
}

class BadThing extends Error {}

/** A store, beside the plainest thing that should be equal to it. */
class Run {
  readonly #store: Indexer<Thing, Name> = new Indexer<Thing, "tag" | "count">({
    keyOf: (thing) => thing.name,
    indexers: { tag: filing("tag"), count: filing("count") },
  }) as Indexer<Thing, Name>;
  #replacements: { readonly real: StoreReplacement<Thing>; readonly model: Map<string, Thing> }[] = [];
  #model = new Map<string, Thing>();
  readonly #indexes = new Set<Name>(["tag", "count"]);

  perform(operation: Operation): void {
    const { revision } = this.#store;
    const before = new Map(this.#model);
    this.#do(operation);
    this.#check();
    const changed = before.size !== this.#model.size ||
      [...before].some(([name, thing]) => this.#model.get(name) !== thing);
    if (changed) assertNotEquals(this.#store.revision, revision);
  }

  #do(operation: Operation): void {
    switch (operation.do) {
      case "add":
      case "update":
      case "set": {
        const { do: action, thing } = operation;
        const write = (): void =>
          action === "set" ? this.#store.set(thing.name, thing) : this.#store[action as "add" | "update"](thing);
        if (this.#can(write, [thing])) this.#model.set(thing.name, thing);
        break;
      }
      case "delete":
        this.#store.delete(operation.thing);
        this.#model.delete(operation.thing.name);
        break;
      case "deleteByKey":
        this.#store.deleteByKey(operation.thing.name);
        this.#model.delete(operation.thing.name);
        break;
      case "again": { // the very same value, which is deleted and stored anew
        const stored = this.#store.get(operation.thing);
        assertEquals(stored, this.#model.get(operation.thing.name));
        if (stored === undefined) break;
        this.#store.delete(stored);
        this.#store.add(stored);
        break;
      }
      case "replace":
        if (this.#can(() => this.#store.replace(operation.things, "1"), operation.things)) {
          this.#model = byName(operation.things);
        }
        break;
      case "begin":
        this.#replacements.push({ real: this.#store.replacing(), model: new Map() });
        break;
      case "stage":
        for (const thing of operation.things) this.#stage(thing);
        break;
      case "stageStored":
        for (const thing of this.#store) this.#stage(thing);
        break;
      case "unstage":
        for (const { real, model } of this.#replacements) {
          real.delete(operation.thing);
          model.delete(operation.thing.name);
        }
        break;
      case "commit": {
        const replacement = this.#replacements.shift();
        if (replacement === undefined) break;
        const { real, model } = replacement;
        if (!this.#can(() => real.commit("1"), model.values())) break;
        this.#model = new Map(model);
        assertEquals(this.#store.list(), [...model.values()]);
        break;
      }
      case "abandon":
        this.#replacements.pop()?.real.abandon();
        break;
      case "more": {
        const { index } = operation;
        const add = (): unknown => this.#store.withIndexers({ [index]: filing(index) });
        if (this.#indexes.has(index)) assertThrows(add, Error, `Cannot add index "${index}"`);
        else if (this.#can(add, this.#model.values(), index)) this.#indexes.add(index);
        break;
      }
      case "less": {
        const { index } = operation;
        if (this.#indexes.delete(index)) this.#store.removeIndexer(index);
        assertThrows(() => this.#store.removeIndexer(index), RangeError, `Cannot look up index "${index}"`);
        break;
      }
      default:
        operation satisfies never;
    }
  }

  #stage(thing: Thing): void {
    for (const { real, model } of this.#replacements) {
      if (this.#can(() => real.add([thing]), [thing])) model.set(thing.name, thing);
    }
  }

  /** Does it, if nobody throws; else sees that it throws. */
  #can(act: () => unknown, things: Iterable<Thing>, more?: Name): boolean {
    const bad = [...things].some(({ bad }) => bad !== undefined && (this.#indexes.has(bad) || bad === more));
    if (bad) assertThrows(act, BadThing);
    else act();
    return !bad;
  }

  #check(): void {
    const store = this.#store;
    assertEquals(store.size, this.#model.size);
    assertEquals([...store.keys()].sort(), [...this.#model.keys()].sort());
    assertEquals(byName(store.list()), this.#model);
    assertEquals([...store], store.list());
    for (const name of this.#indexes) {
      const expected = new Map<string, string[]>();
      for (const key of [...this.#model.keys()].sort()) {
        for (const value of new Set(FILED[name](this.#model.get(key)!))) {
          expected.set(value, [...expected.get(value) ?? [], key]);
        }
      }
      assertEquals(store.indexValues(name).sort(), [...expected.keys()].sort(), `values of "${name}"`);
      for (const [value, keys] of expected) {
        assertEquals(store.indexKeys(name, value), keys, `keys of "${name}" "${value}"`);
        // What is filed is what is stored, not an earlier state of it.
        for (const thing of store.byIndex(name, value)) assertEquals(thing, this.#model.get(thing.name));
      }
    }
  }
}

function byName(things: Iterable<Thing>): Map<string, Thing> {
  return new Map([...things].map((thing) => [thing.name, thing]));
}
