import { assert, assertEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { Random, seedGlobals } from "../../src/testing/fake/random.ts";
import { FakeTime } from "../support/fake_time.ts";
import { CuttingTransport, problemsOf, type Received, Writers } from "../support/logs/play.ts";

/** Follows 50 pods through cuts, rotations and restarts. */
async function play(
  seed: number,
): Promise<{ problems: string[]; lines: number; cuts: number; gaps: number; lost: number }> {
  using time = new FakeTime();
  using _random = seedGlobals(seed);
  const random = new Random(seed);
  using server = new FakeApiServer({ seed, chunkBytes: 200 });
  const transport = new CuttingTransport(server, random, 0.8);
  using client = new Client({ server: server.url, transport });
  const writers = new Writers(server, random);
  const follow = async (name: string): Promise<Received[]> => {
    const lines: Received[] = [];
    const options = { follow: true, onInterrupted: () => {}, backoff: { initialMs: 100, maxMs: 500 } };
    for await (const line of client.resource(Pod, { namespace: "shop" }).logs(name, options)) lines.push(line);
    return lines;
  };
  const keys = Array.from({ length: 50 }, (_, i) => writers.add(`web-${i}`));
  const reads = keys.map((key) => follow(key.slice(5)));
  for (let steps = 0; steps < 4_000; steps++) {
    writers.step();
    if (random.below(20) === 0) await time.tickAsync(random.below(300));
  }
  for (const key of keys) writers.end(key);
  transport.share = 0;
  await time.tickAsync(20_000);
  const found = await Promise.all(reads);
  assertEquals(time.timers, 0);
  const problems = keys.flatMap((key, i) =>
    problemsOf(found[i], writers.written.get(key)!, writers.before.get(key)).map((it) => `${key}: ${it}`)
  );
  const all = found.flat();
  const gaps = all.filter(({ gap }) => gap).length;
  return { problems, lines: writers.lines, cuts: transport.cuts, gaps, lost: writers.lines - all.length };
}

Deno.test("logs yields each line of 50 pods once, or marks a gap, for any seed", async () => {
  let gaps = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const played = await play(seed);
    assertEquals(played.problems, [], `seed ${seed}`);
    assert(played.cuts > 100, `${played.cuts} cuts`);
    gaps += played.gaps;
  }
  assert(gaps > 0);
});
