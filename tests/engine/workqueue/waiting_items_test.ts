import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { WorkQueue } from "../../../src/engine/workqueue/work_queue.ts";

function takeAllByPriority<K extends string | number>(queue: WorkQueue<K>): K[] {
  const keys: K[] = [];
  for (let item; (item = queue.tryGet()) !== undefined; item[Symbol.dispose]()) keys.push(item.key);
  return keys;
}

Deno.test("WorkQueue hands out keys of normal priority before those of low priority, but one low in eight keys", () => {
  const queue = new WorkQueue<number>();
  for (let key = 0; key < 4; key++) queue.add(key, { priority: "low" });
  for (let key = 100; key < 116; key++) queue.add(key);
  const normal = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
  assertEquals(takeAllByPriority(queue), [...normal(100, 7), 0, ...normal(107, 7), 1, ...normal(114, 2), 2, 3]);
});

Deno.test("a key of low priority is handed out in time, however many keys of normal priority are added [F19]", () => {
  fc.assert(fc.property(fc.nat(20), fc.array(fc.nat(9), { maxLength: 40 }), fc.nat(7), (before, loads, taken) => {
    const queue = new WorkQueue<number>();
    let next = 1000;
    // The share may stand anywhere when the key is added.
    queue.add(-2, { priority: "low" });
    for (let i = 0; i < taken; i++) queue.add(next++);
    for (let i = 0; i < taken; i++) queue.tryGet()![Symbol.dispose]();
    for (let key = 0; key < before; key++) queue.add(key, { priority: "low" });
    queue.add(-1, { priority: "low" });
    const bound = 8 * (before + 1 + 1); // one more waits before it: the first
    for (let takes = 1;; takes++) {
      for (let load = loads[takes % loads.length] ?? 1; load >= 0; load--) queue.add(next++);
      using item = queue.tryGet()!;
      if (item.key === -1) return;
      assert(takes < bound, `not among the first ${bound} keys`);
    }
  }));
});

Deno.test("a key of normal priority waits for few of low priority", () => {
  const queue = new WorkQueue<number>();
  for (let key = 0; key < 1000; key++) queue.add(key, { priority: "low" });
  for (let key = 1000; key < 1070; key++) queue.add(key);
  const keys = takeAllByPriority(queue);
  assertEquals(keys.indexOf(1069) + 1, 70 + 9);
});

Deno.test("a waiting key of low priority moves behind those of normal priority when it is added with that", () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "c"]) queue.add(key, { priority: "low" });
  queue.add("d");
  queue.add("b");
  queue.add("d", { priority: "low" }); // stays
  assertEquals(queue.status().lowPriority, 2);
  assertEquals(takeAllByPriority(queue), ["d", "b", "a", "c"]);
});
