import { assert, assertEquals } from "@std/assert";
import { ElectionHistory, type ElectorBug } from "./_election_history.ts";
import { FakeLeaseServer, type LeaseServer, MemoryLeaseServer } from "./_lease_servers.ts";

// Several electors on one Lease: paused, killed, stopped, cut off, with clocks of their own and slow or lost answers.

async function firstFailure(
  seeds: number,
  server: () => LeaseServer,
  bug?: ElectorBug,
): Promise<{ readonly seed: number; readonly problem: string; readonly log: string } | undefined> {
  let terms = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const history = new ElectionHistory(seed, server(), bug);
    const [problem] = await history.play();
    if (problem !== undefined) return { seed, problem, log: history.log.join("\n") };
    terms += history.terms;
  }
  assert(terms > 3 * seeds, `found ${terms} terms in ${seeds} histories: too little happens`);
  return undefined;
}

Deno.test(
  "LeaderElector never lets two lead, whatever is paused, killed, cut off or late [F36]",
  { timeout: 600_000 },
  async () => {
    const failure = await firstFailure(250, () => new MemoryLeaseServer());
    assertEquals(failure, undefined, `${failure?.log}\nseed ${failure?.seed}: ${failure?.problem}`);
  },
);

Deno.test("LeaderElector never lets two lead on a FakeApiServer", async () => {
  const failure = await firstFailure(8, () => new FakeLeaseServer());
  assertEquals(failure, undefined, `${failure?.log}\nseed ${failure?.seed}: ${failure?.problem}`);
});

const BUGS: Readonly<Record<string, ElectorBug>> = {
  "writes without the version that it has read": {
    sent: (lease) => ({ ...lease, metadata: { ...lease.metadata, resourceVersion: "" } }),
  },
  "measures by the time of day": { clock: (clock) => ({ ...clock, now: () => Date.now() }) },
  "writes a shorter duration than its deadline": {
    sent: (lease) => ({ ...lease, spec: { ...lease.spec, leaseDurationSeconds: lease.spec?.holderIdentity ? 5 : 1 } }),
  },
  "has timers that fire late by a half": {
    clock: (clock) => ({ ...clock, sleep: (ms, options) => clock.sleep(ms * (ms > 2_500 ? 1.8 : 1), options) }),
  },
};

for (const [name, bug] of Object.entries(BUGS)) {
  Deno.test(`histories find an elector that ${name}`, async () => {
    const failure = await firstFailure(500, () => new MemoryLeaseServer(), bug);
    assert(failure !== undefined, "no history has found it");
  });
}
