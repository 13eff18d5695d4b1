import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { type Delta, DeltaFIFO, type Deltas } from "../../../src/engine/queue/delta_fifo.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { collectHeap } from "../../support/times/heap.ts";
import { keyOf, print, Words } from "./_words.ts";

Deno.test("DeltaFIFO pops keys in the order of their first change, and queues nothing if keyOf throws [C051]", () => {
  const words = new Words([], {
    keyOf: (word) => {
      if (word === "bad") throw new RangeError("no key");
      return keyOf(word);
    },
  });
  const { queue } = words;
  for (const action of ["add", "update", "delete"] as const) {
    assertThrows(() => queue[action]("bad"), RangeError, "no key");
    assertThrows(() => queue.replace(["good@1", "bad"], "1"), RangeError, "no key");
  }
  assertEquals([queue.size, queue.hasSynced], [0, false]);
  for (const word of ["foo@1", "bar@2", "baz@3"]) queue.add(word);
  assertEquals(words.drain(), [["Added foo@1"], ["Added bar@2"], ["Added baz@3"]]);
});

Deno.test("DeltaFIFO keeps the changes of one key together, in order [C052]", () => {
  const words = new Words();
  words.queue.add("foo@1");
  words.queue.add("bar@1");
  words.queue.update("foo@2");
  words.queue.delete("foo@3");
  assertEquals(words.queue.size, 2);
  assertEquals(words.drain(), [["Added foo@1", "Updated foo@2", "Deleted foo@3"], ["Added bar@1"]]);
});

Deno.test("DeltaFIFO queues no deletion of a key that is neither queued nor known [C053]", () => {
  const words = new Words(["known@1"]);
  words.queue.delete("foo@1");
  assertEquals(words.queue.size, 0);
  words.queue.delete("known@2");
  words.queue.add("queued@1");
  words.queue.delete("queued@2");
  assertEquals(words.drain(), [["Deleted known@2"], ["Added queued@1", "Deleted queued@2"]]);
});

Deno.test("DeltaFIFO replace queues the deletions first, then the list in its order [C054]", () => {
  const words = new Words(["foo@1", "bar@1", "baz@1"]);
  words.queue.replace(["qux@1", "foo@2", "abc@1"], "2");
  assertEquals(
    words.drain(),
    [["Deleted? bar@1"], ["Deleted? baz@1"], ["Replaced qux@1"], ["Replaced foo@2"], ["Replaced abc@1"]],
  );
});

Deno.test("DeltaFIFO replace also deletes keys that are only queued, with the state queued last [C055]", () => {
  const words = new Words();
  words.queue.add("foo@1");
  words.queue.update("foo@2");
  words.queue.replace(["bar@1"], "3");
  assertEquals(words.drain(), [["Added foo@1", "Updated foo@2", "Deleted? foo@2"], ["Replaced bar@1"]]);
});

Deno.test("DeltaFIFO replace does not delete a key again that is queued as deleted [C056]", () => {
  const words = new Words(["foo@1"]);
  words.queue.delete("foo@2");
  words.queue.replace([], "3");
  assertEquals(words.drain(), [["Deleted foo@2"]]);
});

Deno.test("DeltaFIFO resync queues each known key that is not queued already [C057]", async (t) => {
  await t.step("not a queued key, and not twice", () => {
    const words = new Words(["foo@1", "bar@1", "baz@1"]);
    words.queue.update("bar@2");
    words.queue.delete("baz@1");
    words.queue.add("new@1");
    words.queue.resync();
    words.queue.resync();
    assertEquals(words.drain(), [["Updated bar@2"], ["Deleted baz@1"], ["Added new@1"], ["Sync foo@1"]]);
  });
  await t.step("keys without a value are skipped", () => {
    const queue = new DeltaFIFO<string>({
      keyOf,
      knownObjects: { keys: () => ["foo", "gone"], getByKey: (key) => key === "foo" ? "foo@1" : undefined },
    });
    queue.resync();
    assertEquals(queue.size, 1);
  });
});

Deno.test("DeltaFIFO has synced when the first replacement has been processed [C058] [F10]", async (t) => {
  type Step = (words: Words) => void;
  const add: Step = ({ queue }) => queue.add("foo@1");
  const update: Step = ({ queue }) => queue.update("foo@2");
  const remove: Step = ({ queue }) => queue.delete("foo@2");
  const pop: Step = (words) => void words.pop();
  const replace = (...list: string[]): Step => ({ queue }) => queue.replace(list, "9");
  const resync: Step = ({ queue }) => queue.resync();
  const abandon: Step = ({ queue }) => queue.replacing().abandon();
  const cases: readonly [string, readonly string[], readonly Step[], readonly boolean[]][] = [
    ["new", [], [], []],
    ["an add", [], [add], [true]],
    ["an update", [], [update], [true]],
    ["a delete of nothing known", [], [remove], [true]],
    ["a replacement by nothing", [], [replace()], [true]],
    ["a replacement that was abandoned", [], [abandon, replace("a@1"), pop], [false, false, true]],
    ["a replacement by two", [], [replace("a@1", "b@1"), pop, pop], [false, false, true]],
    ["deletions of the first replacement count", ["foo@1", "bar@1"], [replace(), pop, pop], [false, false, true]],
    ["an add, then a replacement", [], [add, replace("a@1", "b@1")], [true, true]],
    ["a later replacement", [], [replace("a@1"), pop, replace("a@2", "b@1")], [false, true, true]],
    ["changes meanwhile do not count", [], [replace("a@1"), add, update, pop], [false, false, false, true]],
    ["a resync is no population", ["a@1"], [resync, replace("a@2"), pop], [false, false, true]],
    ["pops of nothing", [], [pop, replace("a@1"), pop], [false, false, true]],
  ];
  for (const [name, known, steps, expected] of cases) {
    await t.step(name, () => {
      const words = new Words(known);
      assertFalse(words.queue.hasSynced);
      const seen = steps.map((step) => {
        step(words);
        return words.queue.hasSynced;
      });
      assertEquals(seen, expected);
    });
  }
  await t.step("not while the last key is processed, only after it", () => {
    const { queue } = new Words();
    queue.replace(["a@1", "b@1"], "1");
    const during: unknown[] = [];
    while (queue.pop(({ key, initial }) => during.push([key, initial, queue.hasSynced])));
    queue.update("a@2");
    queue.pop(({ key, initial }) => during.push([key, initial, queue.hasSynced]));
    assertEquals(during, [["a", true, false], ["b", true, false], ["a", false, true]]);
  });
});

Deno.test("DeltaFIFO pop returns false at once if the queue is empty; a closed queue refuses writes and can be drained [C059]", () => {
  const words = new Words(["known@1"]);
  const { queue } = words;
  assertFalse(queue.pop(() => {}));
  queue.add("foo@1");
  const begun = queue.replacing();
  queue.close();
  queue.close();
  assertThrows(() => queue.add("bar@1"), Error, "Cannot add to the queue: it is closed");
  assertThrows(() => queue.update("foo@2"), Error, "Cannot add to the queue: it is closed");
  assertThrows(() => queue.delete("foo@2"), Error, "Cannot delete from the queue: it is closed");
  assertThrows(() => queue.resync(), Error, "Cannot resync the queue: it is closed");
  for (const replace of [() => queue.replacing(), () => queue.replace([], "1"), () => begun.commit("1")]) {
    assertThrows(replace, Error, "Cannot replace the queue: it is closed");
  }
  assertEquals(words.drain(), [["Added foo@1"]]);
  assertFalse(queue.pop(() => {}));
});

Deno.test("DeltaFIFO is closed when it is disposed", () => {
  const { queue } = new Words();
  queue[Symbol.dispose]();
  assertThrows(() => queue.add("a@1"), Error, "it is closed");
});

Deno.test("DeltaFIFO transforms incoming values [C060]", async (t) => {
  await t.step("once, and not at a resync", () => {
    const words = new Words(["known@1", "gone@1"], { transform: (word) => `${word}!` });
    const { queue } = words;
    queue.add("a@1");
    queue.update("a@2");
    queue.delete("a@3");
    queue.resync();
    assertEquals(words.drain(), [["Added a@1!", "Updated a@2!", "Deleted a@3!"], ["Sync known@1"], ["Sync gone@1"]]);
    queue.replace(["known@2"], "2");
    assertEquals(words.drain(), [["Deleted? gone@1"], ["Replaced known@2!"]]);
  });
  await t.step("and queues nothing when the transform throws", () => {
    const words = new Words(["known@1"], {
      transform: (word) => {
        if (word.startsWith("bad")) throw new RangeError("cannot transform");
        return word;
      },
    });
    const { queue } = words;
    for (
      const action of [
        () => queue.add("bad@1"),
        () => queue.update("bad@1"),
        () => queue.delete("bad@1"),
        () => queue.replace(["good@1", "bad@1"], "1"),
      ]
    ) {
      assertThrows(action, RangeError, "cannot transform");
      assertEquals([queue.size, queue.hasSynced], [0, false]);
    }
  });
});

Deno.test("DeltaFIFO keeps the order of keys that are queued while another key is processed [C061]", () => {
  const { queue } = new Words();
  for (const word of ["a@1", "b@1", "c@1"]) queue.add(word);
  const order: string[] = [];
  let more = 3;
  while (
    queue.pop(({ key, deltas }) => {
      order.push(`${key} ${deltas.length}`);
      if (more-- <= 0) return;
      queue.update(`${key}@2`); // again, behind all that waits
      queue.update("c@2"); // waits already, and keeps its place
      queue.add(`new${more}@1`);
    })
  );
  assertEquals(order, ["a 1", "b 1", "c 3", "a 1", "new2 1", "b 1", "new1 1", "c 2", "new0 1"]);
});

Deno.test("DeltaFIFO keeps the order of changes and replacements of a key [C068]", () => {
  const words = new Words();
  words.queue.add("foo@1");
  words.queue.replace([], "1");
  words.queue.replace(["foo@2"], "2");
  words.queue.replace(["foo@3", "bar@3"], "3");
  assertEquals(words.drain(), [
    ["Added foo@1", "Deleted? foo@1", "Replaced foo@2", "Replaced foo@3"],
    ["Replaced bar@3"],
  ]);
});

Deno.test("DeltaFIFO merges the changes of a key [C071]", async (t) => {
  await t.step("two updates are popped together", () => {
    const words = new Words();
    words.queue.update("foo@1");
    words.queue.update("foo@2");
    assertEquals(words.drain(), [["Updated foo@1", "Updated foo@2"]]);
  });
  await t.step("of two deletions in a row, the one that knows more is kept", async (t) => {
    await t.step("the first, if both know the last state", () => {
      const words = new Words(["foo@1"]);
      words.queue.delete("foo@2");
      words.queue.delete("foo@3");
      assertEquals(words.drain(), [["Deleted foo@2"]]);
    });
    await t.step("the other, if one was only noticed by a relist", () => {
      const words = new Words(["foo@1"]);
      words.queue.replace([], "2");
      words.queue.delete("foo@3");
      assertEquals(words.drain(), [["Deleted foo@3"]]);
    });
    await t.step("both, if another change is between them", () => {
      const words = new Words(["foo@1"]);
      words.queue.delete("foo@2");
      words.queue.add("foo@3");
      words.queue.delete("foo@4");
      assertEquals(words.drain(), [["Deleted foo@2", "Added foo@3", "Deleted foo@4"]]);
    });
  });
  await t.step("a replacement queues Replaced, or Sync without emitReplaced", () => {
    const words = new Words(["gone@1"], { emitReplaced: false });
    words.queue.replace(["foo@1"], "1");
    assertEquals(words.drain(), [["Deleted? gone@1"], ["Sync foo@1"]]);
  });
  await t.step("an error of processing is thrown; the deltas are removed and count as processed", () => {
    const { queue } = new Words();
    queue.replace(["a@1", "b@1"], "1");
    const error = new Error("cannot process");
    const process = (): never => {
      throw error;
    };
    assertStrictEquals(assertThrows(() => queue.pop(process)), error);
    assertEquals([queue.size, queue.hasSynced], [1, false]);
    assertThrows(() => queue.pop(process));
    assertEquals([queue.size, queue.hasSynced], [0, true]);
  });
});

Deno.test("DeltaFIFO replacing changes nothing before its commit, and nothing when it is abandoned", () => {
  const words = new Words(["known@1"]);
  const { queue } = words;
  const replacement = queue.replacing();
  replacement.add(["a@1", "b@1"]);
  replacement.add(["c@1"]);
  assertEquals([queue.size, queue.hasSynced], [0, false]);
  replacement.abandon();
  assertThrows(() => replacement.commit("1"), Error, "Cannot commit the replacement: it is over");
  assertThrows(() => replacement.add([]), Error, "Cannot add to the replacement: it is over");
  assertThrows(() => replacement.delete("a@1"), Error, "Cannot delete from the replacement: it is over");
  assertEquals(words.drain(), []);
});

Deno.test("DeltaFIFO replace neither queues nor transforms a value that is the same as the known one", () => {
  interface Thing {
    readonly key: string;
    readonly version: number;
    readonly transformed?: boolean;
  }
  const known = new Indexer<Thing>({ keyOf: (thing) => thing.key });
  let transforms = 0;
  const queue = new DeltaFIFO<Thing>({
    keyOf: (thing) => thing.key,
    knownObjects: known,
    same: (known, value) => known.version === value.version,
    transform: (thing) => ({ ...thing, transformed: ++transforms > 0 }),
  });
  known.add({ key: "a", version: 1, transformed: true });
  known.add({ key: "b", version: 1, transformed: true });
  queue.replace([{ key: "a", version: 1 }, { key: "b", version: 2 }], "2");
  const deltas: Delta<Thing>[] = [];
  while (queue.pop((popped) => deltas.push(...popped.deltas)));
  assertEquals(deltas, [{ type: "Replaced", value: { key: "b", version: 2, transformed: true } }]);
  assertEquals(transforms, 1);
});

Deno.test("DeltaFIFO replacing counts the bytes of transformed values that are not known", () => {
  const known = new Indexer<string>({ keyOf });
  known.add("foo@1");
  const queue = new DeltaFIFO<string>({
    ...{ keyOf, knownObjects: known, same: (known, value) => known === value },
    transform: (word) => `${word}!`,
    sizeOf: (word) => word.length,
  });
  const replacement = queue.replacing();
  replacement.add(["foo@1", "bar@1"]);
  replacement.add(["foo@22"]);
  assertEquals(replacement.bytes, "bar@1!".length + "foo@22!".length);
});

Deno.test("DeltaFIFO replacing costs as much as it changes if nothing was queued meanwhile", () => {
  const store = new Indexer<string>({ keyOf });
  for (let n = 0; n < 100; n++) store.add(`${n}@1`);
  const looks = { keys: 0, getByKey: 0 };
  const queue = new DeltaFIFO<string>({
    keyOf,
    same: (known, word) => known === word,
    knownObjects: {
      get size() {
        return store.size;
      },
      get revision() {
        return store.revision;
      },
      keys: () => (looks.keys++, store.keys()),
      getByKey: (key) => (looks.getByKey++, store.getByKey(key)),
    },
  });
  const drained = (): string[] => {
    const words: string[] = [];
    while (queue.pop(({ deltas }) => words.push(...deltas.map(print))));
    return words;
  };
  const replace = (words: readonly string[], meanwhile = (): void => {}): readonly [string[], number, number] => {
    const replacement = queue.replacing();
    replacement.add(words);
    meanwhile();
    looks.keys = looks.getByKey = 0;
    replacement.commit("2");
    return [drained(), looks.keys, looks.getByKey];
  };
  const all = [...store];
  assertEquals(replace(all), [[], 0, 0]);
  assertEquals(replace([...all.slice(1), "0@2", "new@1"]), [["Replaced 0@2", "Replaced new@1"], 0, 4]);
  assertEquals(replace(all.slice(1)), [["Deleted? 0@1"], 1, 1], "one is missing: all are looked at for which");
  // Something has changed in between: all is compared anew.
  assertEquals(replace(all, () => store.update("7@2")), [["Replaced 7@1"], 1, 100]);
  assertEquals(replace(["5@9", ...all]), [["Replaced 7@1"], 1, 100], "a key that came twice");
});

Deno.test("DeltaFIFO replace with equal contents has synced at once", () => {
  const words = new Words(["a@1", "b@1"], { same: (known, value) => known === value });
  words.queue.replace(["b@1", "a@1"], "1");
  assertEquals([words.queue.size, words.queue.hasSynced], [0, true]);
});

Deno.test("DeltaFIFO pop continues with waiting keys when processing calls pop too", () => {
  const { queue } = new Words();
  for (const word of ["a@1", "b@1", "c@1"]) queue.add(word);
  const order: string[] = [];
  const process = ({ key }: Deltas<string>): void => {
    order.push(key);
    if (key === "a") queue.pop(process);
  };
  while (queue.pop(process));
  assertEquals(order, ["a", "b", "c"]);
  queue.add("d@1");
  assert(queue.pop(process), "after it had been empty");
  assertEquals(order, ["a", "b", "c", "d"]);
});

Deno.test("DeltaFIFO treats a key that was popped and comes again as new, while many others wait", () => {
  const words = new Words();
  for (let n = 0; n < 3_000; n++) words.queue.add(`word-${n}@1`);
  words.queue.update("word-0@2");
  assertEquals(words.pop(), ["Added word-0@1", "Updated word-0@2"]);
  words.queue.update("word-0@3");
  words.queue.update("word-1@2");
  assertEquals(words.queue.size, 3_000);
  assertEquals(words.pop(), ["Added word-1@1", "Updated word-1@2"]);
  // Enough that the queue drops the places of keys that were removed.
  for (let n = 2; n < 2_000; n++) assertEquals(words.pop(), [`Added word-${n}@1`]);
  words.queue.update("word-0@4");
  words.queue.update("word-5@9");
  words.queue.update("word-2500@2");
  const rest = words.drain();
  assertEquals(rest.length, 1_002);
  assertEquals(rest[500], ["Added word-2500@1", "Updated word-2500@2"]);
  assertEquals(rest.slice(1_000), [["Updated word-0@3", "Updated word-0@4"], ["Updated word-5@9"]]);
});

Deno.test("DeltaFIFO is empty when all of many keys have been popped, and takes new ones", () => {
  const words = new Words();
  for (const round of [1, 2]) {
    for (let n = 0; n < 3_000; n++) words.queue.add(`word-${n}@${round}`);
    assertEquals(words.drain().length, 3_000);
    assertEquals([words.queue.size, words.pop()], [0, undefined]);
    words.queue.add(`another@${round}`);
    assertEquals(words.drain(), [[`Added another@${round}`]]);
  }
});

Deno.test("DeltaFIFO does not grow with the number of keys that were queued and popped", async (t) => {
  const CHANGES = 100_000;
  for (const waiting of [0, 1, 10]) {
    await t.step(`while ${waiting} wait`, async () => {
      const { queue } = new Words();
      const change = (n: number): void => {
        queue.update(`word-${n}@1`);
        if (queue.size > waiting) queue.pop(() => {});
      };
      const heapAt = async (end: number): Promise<number> => {
        for (let n = end - CHANGES; n < end; n++) change(n);
        await collectHeap();
        return Deno.memoryUsage().heapUsed;
      };
      const [before, after] = [await heapAt(CHANGES), await heapAt(2 * CHANGES)];
      assert(after - before < CHANGES, `the heap grew by ${after - before} bytes over ${CHANGES} changes`);
      assertEquals(queue.size, waiting);
    });
  }
});

Deno.test("DeltaFIFO replacing keeps none of its values after it is abandoned", async () => {
  interface Thing {
    readonly key: string;
  }
  const keyOf = ({ key }: Thing): string => key;
  const queue = new DeltaFIFO<Thing>({
    keyOf,
    knownObjects: new Indexer<Thing>({ keyOf }),
    same: (known, value) => known === value,
  });
  const replacement = queue.replacing();
  const staged = (() => {
    const things = [{ key: "a" }, { key: "b" }];
    replacement.add(things);
    return things.map((thing) => new WeakRef(thing));
  })();
  await collectHeap();
  assertEquals(staged.map((ref) => ref.deref()?.key), ["a", "b"]);
  replacement.abandon();
  await collectHeap();
  assertEquals(staged.map((ref) => ref.deref()?.key), [undefined, undefined]);
  assertThrows(() => replacement.commit("1"), Error, "it is over");
});
