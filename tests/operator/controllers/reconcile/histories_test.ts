import { assert } from "@std/assert";
import { groupsOf, KINDS, playLeases } from "../../../support/histories/kinds.ts";
import { ElectionHistory } from "../../../support/leases/elections.ts";
import { GroupHistory } from "../../../support/leases/groups.ts";
import type { LeaseBug, LeaseHistory, Participant } from "../../../support/leases/history.ts";
import { fakeLeases } from "../../../support/leases/servers.ts";

// Several electors on one Lease, and processes of a shard group: paused, killed, stopped, cut off, with clocks of their
// own and slow or lost answers.

/** Makes the history of a seed. */
type Histories = (seed: number, bug?: LeaseBug) => LeaseHistory<Participant>;

async function assertSomeFails(seeds: number, histories: Histories, bug: LeaseBug): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) if ((await histories(seed, bug).play()).length > 0) return;
  assert(false, "no history has found it");
}

const elections: Histories = (...of) => new ElectionHistory(...of);
const groups: Histories = (...of) => new GroupHistory(...of);

for (const { from, to, play } of groupsOf(KINDS.electors)) {
  Deno.test(`electors ${from} to ${to}: no two lead, whatever is paused, killed, cut off or late [F36]`, play);
}

const playOnServer = (seed: number): Promise<number> => playLeases(new ElectionHistory(seed, {}, fakeLeases()));

for (const { from, to, play } of groupsOf({ seeds: 8, group: 8, least: 3, play: playOnServer })) {
  Deno.test(`electors ${from} to ${to} on a FakeApiServer: no two lead`, play);
}

for (const { from, to, play } of groupsOf(KINDS.groups)) {
  Deno.test(
    `groups ${from} to ${to}: no two hold a range, and none is left without holder, whatever is paused, killed, cut ` +
      "off or late",
    { timeout: 600_000 },
    play,
  );
}

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
