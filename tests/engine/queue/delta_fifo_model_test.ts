import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { DeltaFIFO, type Deltas, type QueueReplacement } from "../../../src/engine/queue/delta_fifo.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { apply, keyOf, print } from "./_words.ts";

Deno.test("DeltaFIFO and Indexer together equal their model after any operations", () => {
  fc.assert(
    fc.property(
      fc.record({ known: fc.oneof(list, fc.constant([])), comparing: fc.boolean() }),
      fc.array(operation, { maxLength: 60, size: "max" }),
      ({ known, comparing }, operations) => {
        const run = new Run(known, comparing);
        for (const operation of operations) run.perform(operation);
        run.settle();
      },
    ),
    { numRuns: 500 },
  );
});

type Operation =
  | { readonly do: "add" | "update" | "delete"; readonly word: string }
  | { readonly do: "replace" | "stage"; readonly words: readonly string[] }
  | { readonly do: "unstage"; readonly word: string }
  | { readonly do: "commit" | "abandon" | "resync" | "pop" | "settle" };

const word = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.integer({ min: 1, max: 3 }))
  .map(([key, version]) => `${key}@${version}`);
const list = fc.array(word, { maxLength: 6 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("add", "update", "delete"), word }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("replace"), words: list }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("stage"), words: list }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unstage"), word }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("pop") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("commit", "abandon", "resync", "settle") }) },
);

/** A queue and a store, beside what should be true of them. */
class Run {
  readonly #store = new Indexer<string, "version">({ keyOf, indexers: { version: (word) => [word.split("@")[1]] } });
  readonly #queue: DeltaFIFO<string>;
  readonly #comparing: boolean;
  #replacement: QueueReplacement<string> | undefined;

  /** The objects that exist once all deltas have been processed. */
  readonly #latest = new Map<string, string>();
  /** The objects that exist according to the processed deltas. */
  readonly #processed = new Map<string, string>();
  /** Keys that wait, in the order in which they are to come. */
  readonly #waiting: string[] = [];
  readonly #staged = new Map<string, string>();
  /** Keys that are still to be processed before it has synced; none: nothing has come yet. */
  #awaited: Set<string> | undefined;

  constructor(known: readonly string[], comparing: boolean) {
    for (const word of known) {
      this.#store.add(word);
      this.#latest.set(keyOf(word), word);
      this.#processed.set(keyOf(word), word);
    }
    this.#comparing = comparing;
    this.#queue = new DeltaFIFO({
      keyOf,
      knownObjects: this.#store,
      ...(comparing ? { same: (known: string, word: string) => known === word } : {}),
    });
  }

  perform(operation: Operation): void {
    switch (operation.do) {
      case "add":
      case "update": {
        const { word } = operation;
        this.#queue[operation.do](word);
        this.#awaited ??= new Set();
        this.#queued(keyOf(word), word);
        break;
      }
      case "delete": {
        const key = keyOf(operation.word);
        this.#queue.delete(operation.word);
        this.#awaited ??= new Set();
        if (this.#waiting.includes(key) || this.#processed.has(key)) this.#queued(key, undefined);
        break;
      }
      case "replace":
        this.#queue.replace(operation.words, "1");
        this.#replaced(new Map(operation.words.map((word) => [keyOf(word), word])));
        break;
      case "stage":
        this.#replacement ??= this.#queue.replacing();
        this.#replacement.add(operation.words);
        for (const word of operation.words) this.#staged.set(keyOf(word), word);
        break;
      case "unstage":
        this.#replacement?.delete(operation.word);
        this.#staged.delete(keyOf(operation.word));
        break;
      case "commit":
        if (this.#replacement === undefined) return;
        this.#replacement.commit("1");
        this.#replaced(this.#staged);
        this.#over();
        break;
      case "abandon":
        this.#replacement?.abandon();
        this.#over();
        break;
      case "resync":
        this.#queue.resync();
        for (const key of this.#processed.keys()) this.#wait(key);
        break;
      case "pop":
        this.#pop();
        break;
      case "settle":
        this.settle();
        break;
      default:
        operation satisfies never;
    }
    this.#check();
  }

  /** Pops all that waits: the store is then what it should be. */
  settle(): void {
    while (this.#pop());
    this.#check();
    assertEquals(sorted(this.#store), sorted(this.#latest.values()));
    assertEquals(sorted(this.#processed.values()), sorted(this.#latest.values()));
    for (const version of ["1", "2", "3"]) {
      assertEquals(
        sorted(this.#store.byIndex("version", version)),
        sorted([...this.#latest.values()].filter((word) => word.endsWith(version))),
      );
    }
  }

  #over(): void {
    this.#replacement = undefined;
    this.#staged.clear();
  }

  #wait(key: string): void {
    if (!this.#waiting.includes(key)) this.#waiting.push(key);
  }

  #queued(key: string, word: string | undefined): void {
    this.#wait(key);
    if (word === undefined) this.#latest.delete(key);
    else this.#latest.set(key, word);
  }

  #replaced(list: ReadonlyMap<string, string>): void {
    for (const key of [...this.#processed.keys(), ...this.#latest.keys()]) {
      if (!list.has(key) && this.#latest.has(key)) this.#queued(key, undefined);
    }
    for (const [key, word] of list) {
      if (!this.#comparing || this.#latest.get(key) !== word) this.#queued(key, word);
    }
    this.#awaited ??= new Set(this.#waiting);
  }

  #pop(): boolean {
    const synced = this.#synced;
    const expected = this.#waiting.shift();
    const popped = this.#queue.pop((deltas) => {
      assertEquals([deltas.key, deltas.initial], [expected, !synced]);
      assertEquals(this.#queue.hasSynced, synced, "not synced before the last one has been processed");
      this.#checkDeltas(deltas);
      apply(this.#store, deltas);
    });
    assertEquals(popped, expected !== undefined);
    if (expected !== undefined) this.#awaited?.delete(expected);
    return popped;
  }

  /**
   * Fails if the deltas have gaps: only an existing object is deleted or synced again, and the latter without a change.
   */
  #checkDeltas({ key, deltas }: Deltas<string>): void {
    assert(deltas.length > 0);
    for (const delta of deltas) {
      const context = `${deltas.map(print)}, after ${this.#processed.get(key)}`;
      assertEquals(keyOf(delta.value), key, context);
      if (delta.type === "Deleted") {
        assert(this.#processed.delete(key), context);
        continue;
      }
      if (delta.type === "Sync") assertEquals(this.#processed.get(key), delta.value, context);
      this.#processed.set(key, delta.value);
    }
  }

  get #synced(): boolean {
    return this.#awaited?.size === 0;
  }

  #check(): void {
    assertEquals([this.#queue.size, this.#queue.hasSynced], [this.#waiting.length, this.#synced]);
  }
}

function sorted(words: Iterable<string>): string[] {
  return [...words].sort();
}
