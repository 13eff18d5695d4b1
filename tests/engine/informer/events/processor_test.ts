import { assert, assertEquals } from "@std/assert";
import { Quarantine } from "../../../../src/engine/informer/cache/entry_transform.ts";
import { ObjectCache } from "../../../../src/engine/informer/cache/object_cache.ts";
import { Added } from "../../../../src/engine/informer/events/event.ts";
import { Processor } from "../../../../src/engine/informer/events/processor.ts";
import { entry, type Thing } from "../../../support/sources/fixtures.ts";
import { collectHeap } from "../../../support/times/heap.ts";

const quarantine = new Quarantine<Thing>(() => {}, () => true);

function processor(errors: unknown[] = []): Processor<Thing> {
  return new Processor<Thing>({
    name: "the test",
    cache: new ObjectCache<Thing>(undefined, { freeze: false, compact: false, parse: "lazy" }, () => {}),
    resourceVersion: () => "1",
    present: () => Promise.resolve(),
    report: (error) => errors.push(error),
    waitForSync: (_handler, _signal, call) => call(),
    resyncMs: 0,
    graceMs: 1_000,
  });
}

Deno.test("Processor stop() removes the handler that calls it, and does not wait for that call", async () => {
  const events = processor();
  const called = Promise.withResolvers<boolean>();
  events.add({
    onAdd: async (_event, { signal }) => {
      await events.stop(events.caller);
      called.resolve(signal.aborted);
    },
  }, {});
  events.log.append(new Added(entry("a", 1), quarantine, false));
  assertEquals(await called.promise, true);
  await Promise.resolve();
  assertEquals(events.status, []);
});

Deno.test("Processor has no caller once a handler has thrown", async () => {
  const errors: unknown[] = [];
  const events = processor(errors);
  events.add({
    onAdd: () => {
      throw new Error("thrown");
    },
  }, {});
  events.log.append(new Added(entry("a", 1), quarantine, false));
  for (let i = 0; i < 10; i++) await Promise.resolve();
  assertEquals([errors.length, events.caller], [1, undefined]);
  await events.stop();
});

Deno.test("Processor keeps nothing of a handler that was removed", async () => {
  const events = processor();
  const removed = await (async (): Promise<WeakRef<object>> => {
    const handler = {};
    await events.add(handler, {})[Symbol.asyncDispose]();
    return new WeakRef(handler);
  })();
  for (let i = 0; i < 10 && removed.deref() !== undefined; i++) await collectHeap();
  assert(removed.deref() === undefined);
  await events.stop();
});
