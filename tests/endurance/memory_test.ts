import { assert, assertEquals } from "@std/assert";
import { printedBy } from "../support/processes/program.ts";

const CHANGES = 400_000;

/** The numbers that `_compact_soak.ts` prints. */
interface Soaked {
  readonly bytes: number;
  readonly rss: number;
  readonly objects: number;
  readonly compact: number;
}

/** Runs a program of this folder in a process with `--expose-gc`, and returns the JSON that it prints. */
function run(file: string, flags: string, ...args: string[]): Promise<unknown> {
  return printedBy(new URL(file, import.meta.url), args, [`--v8-flags=--expose-gc${flags}`]);
}

Deno.test(
  "SharedIndexInformer keeps only the last version of each object after 400,000 changes",
  { timeout: 600_000 },
  async () => {
    // A heap that has room for the cache and what is on its way, and for little that grows: one reference for each of
    // the 360,000 events between the measurements is more than is accepted.
    const { counts, objects, beforeBytes, afterBytes } = await run(
      "./_many_changes.ts",
      ",--max-old-space-size=64",
      String(CHANGES),
    ) as { counts: unknown; objects: number; beforeBytes: number; afterBytes: number };
    assertEquals(counts, { updated: CHANGES * 0.9, added: CHANGES * 0.05, deleted: CHANGES * 0.05 });
    assertEquals(objects, 1_000);
    assert(
      afterBytes - beforeBytes < 2_000_000,
      `the heap grew from ${beforeBytes} to ${afterBytes} bytes between the first tenth of the changes and the last`,
    );
  },
);

/** More rollouts and events: `COMPACT_SOAK=2000000,50`. */
const [EVENTS, ROLLOUTS] = (Deno.env.get("COMPACT_SOAK") ?? "40000,10").split(",");

Deno.test(
  `SharedIndexInformer keeps no templates of compact objects from earlier rollouts: ${EVENTS} events in ${ROLLOUTS}`,
  { timeout: 3_600_000 },
  async () => {
    const { before, after, most } = await run("./_compact_soak.ts", "", EVENTS, ROLLOUTS) as {
      readonly before: Soaked;
      readonly after: Soaked;
      readonly most: number;
    };
    assertEquals([after.objects, after.compact], [2_000, 2_000]);
    assert(most <= 4, `${most} templates for objects of one form`);
    const isLong = Number(EVENTS) >= 1_000_000;
    const accepted = isLong ? 1.05 * before.bytes : before.bytes + 2_000_000;
    assert(after.bytes <= accepted, `the heap grew from ${before.bytes} to ${after.bytes} bytes`);
    if (isLong) assert(after.rss <= 1.2 * before.rss, `memory grew from ${before.rss} to ${after.rss} bytes`);
  },
);

Deno.test("SharedIndexInformer keeps no outdated object alive while handlers and iterators are added and removed", async () => {
  const alive = Object.entries(await run("./_generations.ts", "") as Record<string, number>);
  assert(alive.length > 40, `found ${alive.length} cases`);
  // The last event of the log has the state before it: one object.
  assertEquals(alive.filter(([, count]) => count > 1), []);
});
