import type { Client } from "@kube/informer";
import { LeaderElector, Manager } from "@kube/informer/reconcile";
import type { FakeApiServer } from "@kube/informer/testing";
import type { ChaosOptions } from "@kube/informer/testing/chaos";
import { cronTabs } from "../../../examples/crontab_controller.ts";
import { sleep } from "../../../src/engine/async/time.ts";
import type { ElectionClock } from "../../../src/operator/controllers/reconcile/lease_lock.ts";

/** The rates of the clocks of processes: they differ by less than the documented factor of 1.5. */
const RATES = [0.85, 1, 1.2] as const;

/** Bugs that a program can have, each with the first seed that finds it. */
export const ELECTION_BUGS = {
  "reconciles on after its leadership was lost": 5,
  "measures its lease by the time of day": 196,
} as const;

type ElectionBug = keyof typeof ELECTION_BUGS;

/** The outside of the cluster, and the processes that compete. */
export class Electorate {
  /** The schedules of the CronTabs. */
  readonly schedules: Map<string, string> = new Map();
  /** The processes that lead. */
  readonly #leaders = new Set<string>();
  /** The process that has begun to lead last. */
  #last: string | undefined;
  /** The number of requests that were checked. */
  #checked = 0;

  /** Notes that a process leads from now on, or no longer does. */
  note(identity: string, leads: boolean): void {
    if (!leads) return void this.#leaders.delete(identity);
    this.#leaders.add(identity);
    this.#last = identity;
  }

  /** The processes that lead. */
  get leaders(): string[] {
    return [...this.#leaders];
  }

  /** Returns a description of a write by a process that has never led, or after which another process began to lead. */
  foreignWrite(server: FakeApiServer): string | undefined {
    const { requests } = server;
    for (; this.#checked < requests.length; this.#checked++) {
      const { headers, resource, method, path } = requests[this.#checked];
      if (method === "GET" || resource === "leases") continue;
      const identity = headers.get("user-agent")!;
      if (identity !== this.#last) return `${identity} sends ${method} ${path}, and ${this.#last ?? "nobody"} leads`;
    }
  }
}

/** The controller of CronTabs in processes that elect a leader, with clocks of their own, for `chaos()`. */
export function elected(
  crontab: ChaosOptions<Map<string, string>>,
  bug?: ElectionBug,
): ChaosOptions<Electorate> {
  const { converges, environment: _environment, setup: _setup, changes: _changes, ...rest } = crontab;
  const { environment, setup, changes } = crontab as unknown as ChaosOptions<Electorate>;
  return {
    ...(rest as unknown as ChaosOptions<Electorate>),
    environment,
    setup,
    changes,
    elects: true,
    world: () => new Electorate(),
    controller: ({ client, signal, identity, world }) => run(client, signal, identity, world, bug),
    invariants: {
      "one process leads at most": (_server, { leaders }) => leaders.length <= 1 || `${leaders.join(" and ")} lead`,
      "only the process that led last writes": (server, world) => world.foreignWrite(server),
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
export function clockOf(identity: string): ElectionClock {
  const [letter, number] = identity.split("-");
  const rate = RATES[(Number(number) + (letter === "a" ? 0 : 1)) % RATES.length];
  return { now: () => performance.now() * rate, sleep: (ms, options) => sleep(Math.ceil(ms / rate), options) };
}
