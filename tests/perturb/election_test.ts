import { assert, assertEquals } from "@std/assert";
import { isAlreadyExists } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { planOf } from "../../src/perturb/plan.ts";
import { tryPlan } from "../../src/perturb/trial.ts";
import { elected, type ElectionBug } from "../support/perturb/elected.ts";
import { crontab } from "../support/perturb/examples.ts";

/** Seeds that have found the bugs: they are tried first, so that the tests are quick. */
const FOUND: Readonly<Record<ElectionBug, number>> = {
  "reconciles on after its leadership was lost": 49,
  "measures its lease by the time of day": 188,
};

for (const [bug, found] of Object.entries(FOUND) as [ElectionBug, number][]) {
  Deno.test(`perturb finds an elected program that ${bug} within 500 seeds`, { timeout: 600_000 }, async () => {
    const options = elected(crontab, bug);
    const fails = async (seed: number): Promise<boolean> => {
      const plan = planOf(seed, { ...options, changes: Object.keys(options.changes) });
      return (await tryPlan(options, plan)).failure?.startsWith("the invariant") ?? false;
    };
    let seed = 0;
    if (!await fails(found)) { for (seed = 1; seed <= 500 && !await fails(seed);) seed++; }
    assert(seed <= 500, "no seed has found it");
  });
}

Deno.test("renewals are lost in plans of programs that elect a leader, and in no others", () => {
  const has = (elects: boolean): boolean =>
    Array.from({ length: 100 }, (_, index) => planOf(index + 1, { elects, changes: ["a"] }))
      .some(({ steps }) => steps.some((step) => step.do === "loseRenewals"));
  assertEquals([has(true), has(false)], [true, false]);
});

for (const lost of ["requests", "answers"] as const) {
  Deno.test(`lost ${lost} of renewals: those about leases alone, of the process that loses them, for a time`, async () => {
    const log: string[] = [];
    const steps = [{ do: "wait", ms: 500 }, { do: "loseRenewals", ms: 3_000, lost }, {
      do: "wait",
      ms: 10_000,
    }] as const;
    const { failure } = await tryPlan({
      changes: {},
      converges: () => {},
      controller: async ({ client, identity, signal }) => {
        const leases = client.resource(Lease, { namespace: "default" });
        const attempt = async (): Promise<void> => {
          const result = await leases.create({ metadata: { name: identity } }, { timeoutMs: 1_000 }).then(
            () => "created",
            (error) => isAlreadyExists(error) ? "exists" : "no answer",
          );
          log.push(`${identity} ${result}`);
        };
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await attempt();
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        await attempt();
        await new Promise<void>((resolve) =>
          signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })
        );
      },
    }, { seed: 1, streamingList: false, latencyMs: 0, watchMs: 0, steps });
    assertEquals(failure, undefined);
    const again = lost === "requests" ? "created" : "exists";
    assertEquals(log.filter((line) => line.startsWith("a-1")), ["a-1 no answer", `a-1 ${again}`]);
    assertEquals(log.filter((line) => line.startsWith("b-1")), ["b-1 created", "b-1 exists"]);
  });
}
