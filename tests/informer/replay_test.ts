import { assertEquals, assertStrictEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import type { SharedIndexInformerOptions } from "../../src/informer/options.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { Thing, thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { Notes } from "../support/informer.ts";
import { Wire } from "./_wire.ts";

interface Doubling {
  readonly informer: SharedIndexInformer<Thing>;
  readonly notes: Notes;
  /** The objects that were transformed, such as `"a@5"`. */
  readonly calls: string[];
  readonly errors: unknown[];
}

/** Follows `wire`, with a transform that doubles the size in place, and counts its calls. */
async function doubling(
  time: FakeTime,
  wire: Wire,
  options: SharedIndexInformerOptions<Thing> = {},
): Promise<Doubling> {
  const errors: unknown[] = [];
  const calls: string[] = [];
  const client = new Client({ server: "http://wire", transport: wire });
  const informer = new SharedIndexInformer<Thing>(client.resource(Thing), {
    reflector: { streamingList: "off" },
    onError: (error) => errors.push(error),
    transform: (object) => {
      calls.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
      const { spec } = object as { spec: { size: number } };
      spec.size *= 2;
      return object;
    },
    ...options,
  });
  const notes = new Notes();
  informer.addEventHandler(notes);
  void informer.run();
  await time.tickAsync(0);
  notes.take();
  return { informer, notes, calls, errors };
}

for (const freeze of [false, true]) {
  Deno.test(`SharedIndexInformer does not transform a cached object again when a watch replays it, freeze: ${freeze}`, async () => {
    using time = new FakeTime();
    const wire = new Wire(10, thing("a", 5));
    const { informer, notes, calls, errors } = await doubling(time, wire, { freeze });
    await using _ = informer;
    const cached = informer.lister.namespace("default").get("a");
    for (const type of ["ADDED", "MODIFIED"]) {
      wire.send({ type, object: thing("a", 5) });
      await time.tickAsync(0);
    }
    assertEquals([calls, notes.take(), errors], [["a@5"], [], []]);
    assertEquals(cached?.spec.size, 2);
    assertStrictEquals(informer.lister.namespace("default").get("a"), cached);
    wire.send({ type: "DELETED", object: thing("a", 5) });
    let size = 0;
    informer.addEventHandler({ onDelete: ({ object }) => void (size = object.spec.size) });
    await time.tickAsync(0);
    assertEquals([calls, notes.take(), errors, size], [["a@5"], ["- default/a@5"], [], 2]);
  });
}

Deno.test("SharedIndexInformer transforms each object once, also if a batch returns to a cached version", async () => {
  using time = new FakeTime();
  const wire = new Wire(10, thing("a", "blue"));
  const { informer, notes, calls } = await doubling(time, wire);
  await using _ = informer;
  // Versions that have no order: the last one sent counts.
  wire.send({ type: "MODIFIED", object: thing("a", "red") }, { type: "MODIFIED", object: thing("a", "blue") });
  await time.tickAsync(0);
  assertEquals([calls, notes.take()], [["a@blue", "a@red"], ["~ default/a@blue→red", "~ default/a@red→blue"]]);
  assertEquals(informer.lister.list().map(({ spec }) => spec.size), [2]);
});
