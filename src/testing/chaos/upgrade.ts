/**
 * Upgrades of an operator by seed: two releases, the definitions of the new one, rollback and the storage migration.
 *
 * {@linkcode upgrade} is the entry point. It adds phases to the trials of `chaos.ts`, whose changes, faults, checks and
 * shrinking it uses. What users and the administrator send is in `upgrade_requests.ts`.
 *
 * @module
 */
import { differences } from "../../engine/api/selector.ts";
import { keyOf } from "../../engine/api/object.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { Random } from "../fake/random.ts";
import { type ChaosReport, type Course, playSeeds, type Stage, type TrialResult, tryPlan } from "./chaos.ts";
import {
  type ChaosOptions,
  type ChaosPlan,
  type ControllerFunction,
  type PlannedChange,
  planOf,
  type Statement,
} from "./plan.ts";
import { type ReleaseDefinitions, type UpgradeChange, UpgradeRequests } from "./upgrade_requests.ts";

/** One release of an operator. */
export interface Release extends ReleaseDefinitions {
  /** The controllers. They are started for each process. */
  readonly controller: ControllerFunction<undefined>;
  /** Checks the state that the release must reach when it runs without the other one. @default {nothing} */
  readonly converges?: Statement<undefined>;
}

type Shared = "environment" | "invariants" | "seeds" | "elects" | "without" | "keeps" | "failures";

/** Options for {@linkcode upgrade}. */
export interface UpgradeOptions extends Pick<ChaosOptions, Shared> {
  /** The old release. */
  readonly from: Release;
  /** The new release. Its definitions keep the versions of the old one. */
  readonly to: Release;
  /** The changes that users make, by name. A seed makes some changes, in any order and any number of times. */
  readonly changes: Readonly<Record<string, UpgradeChange>>;
  /** Creates the objects that exist at the start, after the old release's definitions. @default {none} */
  readonly setup?: UpgradeChange;
  /** The first seed. @default {1} */
  readonly firstSeed?: number;
  /** The largest number of steps in a phase. @default {8} */
  readonly steps?: number;
}

const NAMES = "from to changes setup firstSeed steps environment invariants seeds elects without keeps failures";

/** The phases: the release in each of the two processes, and what happens. */
const PHASES: Readonly<Record<string, { readonly a: "from" | "to"; readonly b?: "to"; readonly text: string }>> = {
  from: { a: "from", text: "the old release runs" },
  both: { a: "from", b: "to", text: "the new definitions are installed, and both releases run" },
  to: { a: "to", text: "the new release runs" },
  rollback: { a: "from", text: "the old release runs again, with the new definitions" },
  again: { a: "to", text: "the new release runs again" },
};

/** Faults that act by themselves on objects, besides the changes of users. */
const MEDDLING = ["deleteAll", "conflict"] as const;

/** The letters "roll": whether users pause during the rollback is drawn from other numbers than the steps. */
const ROLL = 0x726f6c6c;

/** Returns a seed's plan: its phases with their steps. In every second seed, users pause from the rollback on. */
export function upgradePlanOf(seed: number, { changes, without = [], steps = 8, elects }: UpgradeOptions): ChaosPlan {
  const isQuiet = new Random(seed ^ ROLL).next() < 0.5;
  const names = Object.keys(PHASES);
  const plans = names.map((name, at) => {
    const pauses = isQuiet && (name === "rollback" || name === "again");
    const never = [...without, "race", "unobserved", ...pauses ? MEDDLING : []] as const;
    const options = { steps, elects, without: never, changes: pauses ? [] : Object.keys(changes) };
    return planOf(seed * names.length + at, options);
  });
  const phase = (at: number) => at === 0 ? [] : [{ do: "phase", name: names[at] } as const];
  return { ...plans[0], seed, steps: plans.flatMap((plan, at) => [...phase(at), ...plan.steps]) };
}

/** Performs a plan, and checks what the options state and what holds for every upgrade. */
export async function tryUpgrade(options: UpgradeOptions, plan: ChaosPlan): Promise<TrialResult> {
  const { from: _, to: __, setup: ___, keeps = [], ...rest } = options;
  const installed = ["customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
  let course: UpgradeCourse | undefined;
  const trial: ChaosOptions = {
    ...rest,
    keeps: [...keeps, ...installed],
    changes: {},
    controller: (process) => course!.releaseOf(process.identity).controller(process),
    converges: (server) => course!.converges(server, undefined),
  };
  try {
    return await tryPlan(trial, plan, (stage) => course = new UpgradeCourse(options, stage));
  } finally {
    course?.[Symbol.dispose]();
  }
}

/** The time in which nothing may be written at the end of a phase: long enough for repeated requests. */
const QUIET_MS = 60_000;
/** How often the same request may be refused, and for how long: a cache may be late. */
const MOST_REFUSALS = { times: 5, ms: 10_000 };
/** The time for what a user or the administrator does. */
const ACT_MS = 600_000;

/** Plays the phases of an upgrade. */
class UpgradeCourse implements Course, Disposable {
  readonly #options: UpgradeOptions;
  readonly #stage: Stage;
  readonly #requests: UpgradeRequests;
  #phase = PHASES.from;
  #isInstalled = false;
  /** The times at which each request was refused since faults have ended. */
  readonly #refusals = new Map<string, number[]>();
  /** The objects when the new release had settled, and the step before. */
  #before: { readonly objects: Readonly<Record<string, unknown>>; readonly step: number } | undefined;

  constructor(options: UpgradeOptions, stage: Stage) {
    this.#options = options;
    this.#stage = stage;
    const { cluster, checks: { record }, network } = stage;
    this.#requests = new UpgradeRequests({
      transport: cluster.server,
      server: "http://fake",
      url: "https://webhooks.test",
      fail: (violation) => record.fail(violation),
      created: (uid) => cluster.own(uid),
    });
    network.refused = (what, response) => void this.#refused(what, response);
    this.#tell();
  }

  /** The release that runs in a process. */
  releaseOf(identity: string): Release {
    const { a, b = a } = this.#phase;
    return this.#options[identity.startsWith("a-") ? a : b];
  }

  /** What the release states that runs without the other one. */
  readonly converges: Statement<undefined> = (server) => {
    const { a, b } = this.#phase;
    return b === undefined ? this.#options[a].converges?.(server, undefined) : undefined;
  };

  async begin(): Promise<void> {
    const { from, setup } = this.#options;
    await this.#install(from);
    if (setup !== undefined) await this.#during(this.#requests.change(setup, new Random(this.#stage.plan.seed)));
  }

  async change({ name, seed }: PlannedChange): Promise<void> {
    await this.#during(this.#requests.change(this.#options.changes[name], new Random(seed)));
  }

  async phase(name: string): Promise<void> {
    await this.#settle();
    if (this.#stage.checks.record.failure === undefined) await this.#enter(name);
  }

  async end(): Promise<void> {
    const { checks } = this.#stage;
    await this.#settle();
    if (checks.record.failure !== undefined) return;
    if (this.#phase.a !== "to") {
      await this.#enter("again");
      await this.#settle();
    }
    if (checks.record.failure === undefined) await this.#during(this.#requests.migrate());
    checks.record.where = ` (in the end: storage is migrated, old versions are dropped, and users delete all objects)`;
    if (checks.record.failure === undefined) await checks.settle();
  }

  [Symbol.dispose](): void {
    this.#requests[Symbol.dispose]();
  }

  /** Ends the faults, and checks the state that the phase ends with. */
  async #settle(): Promise<void> {
    const { plan, cluster, checks, endFaults } = this.#stage;
    const { record } = checks;
    endFaults();
    this.#refusals.clear();
    await checks.converge(QUIET_MS);
    if (record.failure === undefined) await this.#during(this.#requests.check());
    if (record.failure !== undefined || this.#phase.a !== "to") return;
    const objects = comparable(cluster.objects().map(({ object }) => object));
    const since = plan.steps.slice(this.#before?.step ?? 0, record.step);
    if (this.#before !== undefined && !since.some((it) => it.do === "change" || MEDDLING.some((name) => name === it.do))) {
      const [changed] = differences(this.#before.objects, objects);
      if (changed !== undefined) record.fail(`rollback and release change objects: ${changed} differs from before`);
    }
    this.#before = { objects, step: record.step };
  }

  async #enter(name: string): Promise<void> {
    const { slots, checks: { record }, cluster } = this.#stage;
    record.isSettling = false;
    this.#phase = PHASES[name];
    this.#tell();
    if (!this.#isInstalled) {
      this.#isInstalled = true;
      await this.#install(this.#options.to);
    }
    // Each release may write each object again.
    record.weight += cluster.objects().length;
    slots.lastsSecond = this.#phase.b !== undefined;
    if (slots.lastsSecond) return slots.start("b");
    slots.stopSecond();
    slots.restart(0);
  }

  async #install(release: Release): Promise<void> {
    if (release.webhooks !== undefined) this.#stage.cluster.server.serveWebhooks(release.webhooks);
    await this.#during(this.#requests.install(release));
  }

  #tell(): void {
    const { record } = this.#stage.checks;
    const { text } = this.#phase;
    record.where = ` (in the phase in which ${text})`;
    record.note(() => `from now on, ${text}`);
  }

  /** Lets time pass until something is done. */
  async #during(act: Promise<void>): Promise<void> {
    let isDone = false;
    const end = (): void => void (isDone = true);
    act.then(end, end);
    for (let [waitedMs, ms] = [0, 0]; !isDone && waitedMs < ACT_MS; waitedMs += ms, ms = Math.min(1_000, 2 * ms + 1)) {
      await this.#stage.time.tickAsync(ms);
    }
    if (isDone) await act;
    else this.#stage.checks.record.fail(`a user waits for an answer for more than ${ACT_MS / 1_000} s`);
  }

  /** Counts the refusals of a request; the first answer to a name that does not exist is none. */
  async #refused(what: string, response: Response): Promise<void> {
    const { record } = this.#stage.checks;
    const text = await response.text();
    const isAbsent = response.status === 404 && what.includes("GET") && text.startsWith("{");
    if (!record.isSettling || isAbsent || response.status === 410) return;
    const times = [...this.#refusals.get(what) ?? [], performance.now()];
    this.#refusals.set(what, times);
    if (times.length < MOST_REFUSALS.times || times.at(-1)! - times[0] < MOST_REFUSALS.ms) return;
    const why = text.startsWith("{") ? JSON.parse(text).message : text.trim();
    record.fail(`a request is refused again and again: ${what} → ${response.status} ${why}`);
  }
}

/** Returns objects by kind and key, without what each write changes. */
function comparable(objects: readonly object[]): Readonly<Record<string, unknown>> {
  const copies: { kind: string; metadata: { name: string; namespace?: string } }[] = JSON.parse(
    JSON.stringify(objects),
    (name, value) => {
      if (/^(uid|resourceVersion|managedFields|generation|observedGeneration)$/.test(name)) return undefined;
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? "a time" : value;
    },
  );
  return Object.fromEntries(copies.map((copy) => [`${copy.kind} "${keyOf(copy)}"`, copy]));
}

export async function upgrade(options: UpgradeOptions): Promise<ChaosReport> {
  checkNames("play upgrades", options, NAMES);
  const { seeds = 100, firstSeed = 1, failures = 1 } = options;
  checkCounts("play upgrades", { seeds, firstSeed, failures }, { min: 1 });
  return await playSeeds({ seeds, from: firstSeed, mostFailures: failures }, (seed) => upgradePlanOf(seed, options), {
    play: (plan) => tryUpgrade(options, plan),
    call: "upgrade({ …, firstSeed: ",
  });
}
