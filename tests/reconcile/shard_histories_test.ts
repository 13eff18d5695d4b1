import { assert, assertEquals } from "@std/assert";
import { type GroupBug, GroupHistory } from "./_group_history.ts";

// Processes of a shard group: paused, killed, stopped, cut off, with clocks of their own and slow or lost answers.

async function firstFailure(
  seeds: number,
  bug?: GroupBug,
): Promise<{ readonly seed: number; readonly problem: string; readonly log: string } | undefined> {
  let moves = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const history = new GroupHistory(seed, bug);
    const [problem] = await history.play();
    if (problem !== undefined) return { seed, problem, log: history.log.join("\n") };
    moves += history.moves;
  }
  assert(moves > 150 * seeds, `found ${moves} moves in ${seeds} histories: too little happens`);
  return undefined;
}

Deno.test(
  "ShardGroup never lets two hold a range, and leaves none without holder, whatever is paused, killed, cut off or late",
  { timeout: 600_000 },
  async () => {
    const failure = await firstFailure(30);
    assertEquals(failure, undefined, `${failure?.log}\nseed ${failure?.seed}: ${failure?.problem}`);
  },
);

const BUGS: Readonly<Record<string, GroupBug>> = {
  "writes without the version that it has read": {
    sent: (lease) => ({ ...lease, metadata: { ...lease.metadata, resourceVersion: "" } }),
  },
  "gives a range away before its work has ended": { skipsHooks: true },
  "measures by the time of day": { clock: (clock) => ({ ...clock, now: () => Date.now() }) },
  "writes a shorter duration than its deadline": {
    sent: (lease) => ({ ...lease, spec: { ...lease.spec, leaseDurationSeconds: 5 } }),
  },
};

for (const [name, bug] of Object.entries(BUGS)) {
  Deno.test(`histories find a group that ${name}`, { timeout: 600_000 }, async () => {
    const failure = await firstFailure(300, bug);
    assert(failure !== undefined, "no history has found it");
  });
}
