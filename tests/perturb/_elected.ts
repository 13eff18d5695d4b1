import type { Client } from "@kube/informer";
import { LeaderElector, Manager } from "@kube/informer/reconcile";
import type { FakeApiServer } from "@kube/informer/testing";
import type { PerturbOptions } from "@kube/informer/testing/perturb";
import { cronTabs } from "../../examples/crontab_controller.ts";
import { sleep } from "../../src/async/time/sleep.ts";
import type { ElectionClock } from "../../src/reconcile/election/election_clock.ts";

/** The default `graceMs` of a reconciler, and the time that a request may be on its way. */
const GRACE_MS = 30_000 + 100;

/** The rates of the clocks of processes: they differ by less than the documented factor of 1.5. */
const RATES = [0.85, 1, 1.2] as const;

/** Ways in which a program could be wrong. */
export type ElectionBug = "reconciles on after its leadership was lost" | "measures its lease by the time of day";

/** The outside of the cluster, and the processes that compete. */
export class Electorate {
  /** The schedules of the CronTabs. */
  readonly schedules: Map<string, string> = new Map();
  /** The time at which each process ended to lead; undefined while it leads. */
  readonly #endedMs = new Map<string, number | undefined>();
  /** The number of requests that were checked. */
  #checked = 0;

  /** Notes that a process leads from now on, or no longer does. */
  note(identity: string, leads: boolean): void {
    this.#endedMs.set(identity, leads ? undefined : performance.now());
  }

  /** The processes that lead. */
  get leaders(): string[] {
    return [...this.#endedMs].filter(([, endedMs]) => endedMs === undefined).map(([identity]) => identity);
  }

  /** Returns a description of a write that has arrived too late after the end of its process's leadership, or before it. */
  lateWrite(server: FakeApiServer): string | undefined {
    const { requests } = server;
    for (; this.#checked < requests.length; this.#checked++) {
      const { headers, resource, method, path } = requests[this.#checked];
      if (method === "GET" || resource === "leases") continue;
      const identity = headers.get("user-agent")!;
      if (!this.#endedMs.has(identity)) return `${identity} has never led, and sends ${method} ${path}`;
      const lateMs = performance.now() - (this.#endedMs.get(identity) ?? Infinity);
      if (lateMs > GRACE_MS) return `${identity} sends ${method} ${path} ${lateMs} ms after its leadership`;
    }
  }
}

/** The controller of CronTabs in processes that elect a leader, with clocks of their own, for `perturb()`. */
export function elected(
  crontab: PerturbOptions<Map<string, string>>,
  bug?: ElectionBug,
): PerturbOptions<Electorate> {
  const { converges, environment: _environment, setup: _setup, changes: _changes, ...rest } = crontab;
  const { environment, setup, changes } = crontab as unknown as PerturbOptions<Electorate>;
  return {
    ...(rest as unknown as PerturbOptions<Electorate>),
    environment,
    setup,
    changes,
    elects: true,
    world: () => new Electorate(),
    controller: ({ client, signal, identity, world }) => run(client, signal, identity, world, bug),
    invariants: {
      "one process leads at most": (_server, { leaders }) => leaders.length <= 1 || `${leaders.join(" and ")} lead`,
      "only a leader writes, and reconciles in flight at its end for graceMs": (server, world) =>
        world.lateWrite(server),
    },
    converges: (server, { schedules }) => converges(server, schedules),
  };
}

async function run(
  client: Client,
  signal: AbortSignal,
  identity: string,
  world: Electorate,
  bug: ElectionBug | undefined,
): Promise<void> {
  const clock = bug === "measures its lease by the time of day" ? { now: Date.now, sleep } : clockOf(identity);
  const elector = new LeaderElector(client, { name: "crontabs", namespace: "default", identity, clock });
  await using tabs = cronTabs(client, world.schedules);
  if (bug === "reconciles on after its leadership was lost") {
    return await elector.run((leadership) => {
      world.note(identity, true);
      leadership.signal.addEventListener("abort", () => world.note(identity, false), { once: true });
      return tabs.run({ signal });
    }, { signal });
  }
  const onPhase = (phase: string): void => {
    if (phase === "running" || phase === "stopping") world.note(identity, phase === "running");
  };
  await new Manager({ reconcilers: [tabs], elector, onPhase }).run({ signal });
}

/** A clock that runs too slow or too fast, by the number of the process. */
function clockOf(identity: string): ElectionClock {
  const [letter, number] = identity.split("-");
  const rate = RATES[(Number(number) + (letter === "a" ? 0 : 1)) % RATES.length];
  return { now: () => performance.now() * rate, sleep: (ms, options) => sleep(Math.ceil(ms / rate), options) };
}
