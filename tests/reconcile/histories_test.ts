import { assert, assertEquals } from "@std/assert";
import { ElectionHistory } from "../support/leases/elections.ts";
import { GroupHistory } from "../support/leases/groups.ts";
import type { LeaseBug, LeaseHistory, Participant } from "../support/leases/history.ts";
import { fakeLeases } from "../support/leases/servers.ts";

// Several electors on one Lease, and processes of a shard group: paused, killed, stopped, cut off, with clocks of their
// own and slow or lost answers.

/** Makes the history of a seed. */
type Histories = (seed: number, bug?: LeaseBug) => LeaseHistory<Participant>;

async function assertNoneFails(seeds: number, histories: Histories, actsOfEach: number): Promise<void> {
  let acts = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const history = histories(seed);
    const [problem] = await history.play();
    assertEquals(problem, undefined, `${history.log.join("\n")}\nseed ${seed}: ${problem}`);
    acts += history.acts;
  }
  assert(acts > actsOfEach * seeds, `found ${acts} acts in ${seeds} histories: too little happens`);
}

async function assertSomeFails(seeds: number, histories: Histories, bug: LeaseBug): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) if ((await histories(seed, bug).play()).length > 0) return;
  assert(false, "no history has found it");
}

const elections: Histories = (...of) => new ElectionHistory(...of);
const groups: Histories = (...of) => new GroupHistory(...of);

Deno.test(
  "LeaderElector never lets two lead, whatever is paused, killed, cut off or late [F36]",
  { timeout: 600_000 },
  () => assertNoneFails(250, elections, 3),
);

Deno.test(
  "LeaderElector never lets two lead on a FakeApiServer",
  () => assertNoneFails(8, (seed) => new ElectionHistory(seed, {}, fakeLeases()), 3),
);

Deno.test(
  "ShardGroup never lets two hold a range, and leaves none without holder, whatever is paused, killed, cut off or late",
  { timeout: 600_000 },
  () => assertNoneFails(100, groups, 150),
);

const BUGS: Readonly<Record<string, LeaseBug>> = {
  "writes without the version that it has read": {
    sent: (lease) => ({ ...lease, metadata: { ...lease.metadata, resourceVersion: "" } }),
  },
  "measures by the time of day": { clock: (clock) => ({ ...clock, now: () => Date.now() }) },
  "writes a shorter duration than its deadline": {
    sent: (lease) => ({ ...lease, spec: { ...lease.spec, leaseDurationSeconds: lease.spec?.holderIdentity ? 5 : 1 } }),
  },
};

const BUGS_OF_ELECTORS: typeof BUGS = {
  ...BUGS,
  "has timers that fire late by a half": {
    clock: (clock) => ({ ...clock, sleep: (ms, options) => clock.sleep(ms * (ms > 2_500 ? 1.8 : 1), options) }),
  },
};

const BUGS_OF_GROUPS: typeof BUGS = { ...BUGS, "gives a range away before its work has ended": { skipsHooks: true } };

for (const [name, bug] of Object.entries(BUGS_OF_ELECTORS)) {
  Deno.test(`histories find an elector that ${name}`, () => assertSomeFails(500, elections, bug));
}

for (const [name, bug] of Object.entries(BUGS_OF_GROUPS)) {
  Deno.test(`histories find a group that ${name}`, { timeout: 600_000 }, () => assertSomeFails(300, groups, bug));
}
