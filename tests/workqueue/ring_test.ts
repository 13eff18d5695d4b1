import { assertEquals } from "@std/assert";
import { Ring } from "../../src/workqueue/ring.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { collectGarbage } from "../support/garbage.ts";

Deno.test("Ring returns its items in order while it grows, wraps and shrinks", () => {
  const ring = new Ring<number>();
  const taken: number[] = [];
  let put = 0;
  for (const [pushes, shifts] of [[10, 5], [100, 20], [3, 80], [1_000, 1_000], [1, 9]]) {
    for (let i = 0; i < pushes; i++) ring.push(put++);
    for (let i = 0; i < shifts; i++) taken.push(ring.shift()!);
    assertEquals(ring.length, put - taken.length);
  }
  assertEquals(taken, Array.from({ length: put }, (_, i) => i));
  assertEquals(ring.shift(), undefined);
});

Deno.test("Ring keeps no reference to items that were taken [C124]", async () => {
  const ring = new Ring<object>();
  const refs = (() => {
    const objects = Array.from({ length: 40 }, (_, index) => ({ index }));
    for (const object of objects) ring.push(object);
    for (let i = 0; i < 10; i++) ring.shift();
    return objects.map((object) => new WeakRef(object));
  })();
  await collectGarbage();
  assertEquals(refs.map((ref) => ref.deref() === undefined), refs.map((_, index) => index < 10));
  assertEquals(ring.length, 30);
});

Deno.test("WorkQueue keeps no reference to keys that are done", async () => {
  const queue = new WorkQueue<number>();
  const refs = (() => {
    for (let key = 0; key < 40; key++) queue.add(key);
    return Array.from({ length: 10 }, () => {
      using item = queue.tryGet()!;
      return new WeakRef(item);
    });
  })();
  await collectGarbage();
  assertEquals(refs.filter((ref) => ref.deref() !== undefined).length, 0);
  assertEquals(queue.length, 30);
});

Deno.test("WorkQueue keeps no memory of a run that has ended", async () => {
  await using queue = new WorkQueue<number>();
  const run = async (): Promise<WeakRef<AbortSignal>> => {
    const stop = new AbortController();
    let seen: WeakRef<AbortSignal> | undefined;
    queue.add(1);
    await queue.run((_key, { signal }) => {
      seen = new WeakRef(signal);
      stop.abort();
    }, stop).catch(() => {});
    return seen!;
  };
  const signal = await run();
  await collectGarbage();
  assertEquals(signal.deref(), undefined);
});

Deno.test("WorkQueue iterator keeps no reference to an item that it waited for", async () => {
  const queue = new WorkQueue<number>();
  const items = queue[Symbol.asyncIterator]();
  const step = async (): Promise<WeakRef<object>> => {
    const next = items.next();
    queue.add(1);
    using item = (await next).value!;
    return new WeakRef(item);
  };
  const item = await step();
  await collectGarbage();
  assertEquals(item.deref(), undefined);
  await items.return!();
});
