import { assertEquals } from "@std/assert";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { collectHeap } from "../support/heap.ts";

Deno.test("WorkQueue keeps no reference to keys that are done [C124]", async () => {
  const queue = new WorkQueue<number>();
  const refs = (() => {
    for (let key = 0; key < 40; key++) queue.add(key);
    return Array.from({ length: 10 }, () => {
      using item = queue.tryGet()!;
      return new WeakRef(item);
    });
  })();
  await collectHeap();
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
  await collectHeap();
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
  await collectHeap();
  assertEquals(item.deref(), undefined);
  await items.return!();
});

Deno.test("WorkItem that is kept although it is done keeps no later item of its key", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  const kept = queue.tryGet()!;
  queue.add("a");
  kept[Symbol.dispose]();
  const take = (): WeakRef<object> => {
    using item = queue.tryGet()!;
    return new WeakRef(item);
  };
  const later = take();
  await collectHeap();
  assertEquals([later.deref(), kept.key], [undefined, "a"]);
});

Deno.test("WorkQueue that was shut down keeps no cause of a delayed key", async () => {
  const queue = new WorkQueue();
  const delay = (): WeakRef<object> => {
    const cause = { type: "external" };
    queue.addAfter("a", 60_000, { cause });
    return new WeakRef(cause);
  };
  const cause = delay();
  queue.shutDown();
  await collectHeap();
  assertEquals([cause.deref(), queue.status().delayed], [undefined, 0]);
});
