/**
 * Upgrades of an operator by seed: two releases, the definitions of the new one, rollback and the storage migration.
 *
 * {@linkcode upgrade} is the entry point. It adds phases to the trials of `chaos.ts`, whose changes, faults, checks and
 * shrinking it uses. What users and the administrator send is in `upgrade_requests.ts`.
 *
 * @module
 */
import { memberAt } from "../../engine/api/members.ts";
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import { formatFieldPath } from "../../engine/api/selector.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { FakeTime } from "../fake/fake_time.ts";
import { Random } from "../fake/random.ts";
import { type ChaosReport, playSeeds, playTrial, Trial, type TrialResult } from "./chaos.ts";
import {
  type ChaosOptions,
  type ChaosPlan,
  type ControllerFunction,
  type PlannedChange,
  planOf,
  type Statement,
} from "./plan.ts";
import { type ReleaseDefinitions, shortJson, type UpgradeChange, UpgradeRequests } from "./upgrade_requests.ts";

/** One release of an operator. */
export interface Release extends ReleaseDefinitions {
  /** The controllers. They are started for each process. */
  readonly controller: ControllerFunction<undefined>;
  /** Checks the state that the release must reach when it runs without the other one. @default {nothing} */
  readonly converges?: Statement<undefined>;
}

/** Options for {@linkcode upgrade}. */
export interface UpgradeOptions
  extends Pick<ChaosOptions, "environment" | "invariants" | "seeds" | "elects" | "without" | "keeps" | "failures"> {
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

/** A phase of an upgrade. In `"both"` both releases run, in `"rollback"` the old one, in `"again"` the new one. */
export type UpgradePhase = "from" | "both" | "to" | "rollback" | "again";

/** The phases: the release in each of the two processes, and what happens. */
export const PHASES: Readonly<
  Record<UpgradePhase, { readonly a: "from" | "to"; readonly b?: "to"; readonly text: string }>
> = {
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
  const names = Object.keys(PHASES) as UpgradePhase[];
  const plans = names.map((name, at) => {
    const pauses = isQuiet && (name === "rollback" || name === "again");
    const never = [...without, "race", "unobserved", ...pauses ? MEDDLING : []] as const;
    const options = { steps, elects, without: never, changes: pauses ? [] : Object.keys(changes) };
    return planOf(seed * names.length + at, options);
  });
  const phase = (at: number) => at === 0 ? [] : [{ do: "phase", name: names[at] } as const];
  return { ...plans[0], seed, steps: plans.flatMap((plan, at) => [...phase(at), ...plan.steps]) };
}

/** The time in which nothing may be written at the end of a phase: long enough for repeated requests. */
const QUIET_MS = 60_000;
/** How often the same request may be refused, and for how long: a cache may be late. */
const MOST_REFUSALS = { times: 5, ms: 10_000 };
/** What the administrator installs. */
const INSTALLED = ["customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/** Plays the phases of an upgrade. */
class UpgradeTrial extends Trial<undefined> {
  readonly #options: UpgradeOptions;
  readonly #requests: UpgradeRequests;
  #phase = PHASES.from;
  #isInstalled = false;
  /** The times at which each request was refused since faults have ended. */
  readonly #refusals = new Map<string, number[]>();
  /** The objects when the new release had settled, and the step before. */
  #before: { readonly objects: unknown; readonly step: number } | undefined;

  constructor(options: UpgradeOptions, plan: ChaosPlan, time: FakeTime) {
    const own: { trial?: UpgradeTrial } = {};
    const { from: _, to: __, setup: ___, firstSeed: ____, keeps = [], ...rest } = options;
    super(
      {
        ...rest,
        keeps: [...keeps, ...INSTALLED],
        changes: {},
        controller: (process) => own.trial!.#releases[process.identity.startsWith("a-") ? 0 : 1].controller(process),
        // Nothing is stated about both at once.
        converges: (server) => own.trial!.#phase.b ? undefined : own.trial!.#releases[0].converges?.(server, undefined),
      },
      plan,
      time,
    );
    own.trial = this;
    this.#options = options;
    this.#requests = new UpgradeRequests("http://fake", this.cluster.server, this.checks);
    this.slots.agent = "kube-informer/"; // as in production, both releases have the client's default manager
    this.network.refused = (what, response) => void this.#refused(what, response);
  }

  /** The releases in the two processes. */
  get #releases(): readonly [Release, Release] {
    const { a, b = a } = this.#phase;
    return [this.#options[a], this.#options[b]];
  }

  protected override async begin(): Promise<void> {
    const { from, setup } = this.#options;
    this.#tell(this.#phase.text);
    await this.#install(from);
    if (setup !== undefined) await this.#during(this.#requests.change(setup, new Random(this.plan.seed)));
  }

  protected override changeByName({ name, seed }: PlannedChange): Promise<void> {
    return this.#during(this.#requests.change(this.#options.changes[name], new Random(seed)));
  }

  protected override async phase(name: UpgradePhase): Promise<void> {
    const { record, slots, cluster } = this;
    await this.#settle();
    if (record.failure !== undefined) return;
    record.isSettling = false;
    this.#phase = PHASES[name];
    this.#tell(this.#phase.text);
    if (!this.#isInstalled) await this.#install(this.#options.to);
    this.#isInstalled = true;
    record.weight += cluster.objects().length; // each release may write each object again
    slots.lastsSecond = this.#phase.b !== undefined;
    if (slots.lastsSecond) return slots.start("b");
    slots.stopSecond();
    slots.restart(0);
  }

  protected override async end(): Promise<void> {
    if (this.#phase.a !== "to") await this.phase("again");
    await this.#settle();
    if (this.record.failure !== undefined) return;
    this.#tell("storage is migrated, old versions are dropped, and users delete all objects");
    await this.#during(this.#requests.migrate());
    if (this.record.failure === undefined) await this.checks.settle();
  }

  /** Ends the faults, and checks the state that the phase ends with. */
  async #settle(): Promise<void> {
    const { plan, cluster, checks, record } = this;
    if (record.failure === undefined) this.endFaults();
    this.#refusals.clear();
    await checks.converge(QUIET_MS);
    if (record.failure === undefined) await this.#during(this.#requests.check());
    if (record.failure !== undefined || this.#phase.a !== "to") return;
    const objects = comparable(cluster.objects().map(({ object }) => object));
    const { step = 0, objects: before = objects } = this.#before ?? {};
    const isSame = plan.steps.slice(step, record.step).every((it) => !["change", ...MEDDLING].includes(it.do));
    const changed = isSame ? changeIn(before, objects) : undefined;
    if (changed !== undefined) record.fail(`rollback and release change objects: ${changed}`);
    this.#before = { objects, step: record.step };
  }

  async #install(release: Release): Promise<void> {
    if (release.webhooks !== undefined) this.cluster.server.serveWebhooks(release.webhooks);
    await this.#during(this.#requests.install(release, "https://webhooks.test"));
  }

  #tell(text: string): void {
    this.record.where = ` (in the phase in which ${text})`;
    this.record.note(() => `from now on, ${text}`);
  }

  /** Lets time pass until something is done. Errors of the package are violations. */
  async #during(act: Promise<void>): Promise<void> {
    let isDone = false;
    const done = act.catch((error) => {
      if (!(error instanceof InformerError)) throw error;
      this.record.fail(errorLine(error));
    }).finally(() => isDone = true);
    for (let ms = 0; !isDone; ms = Math.min(1_000, 2 * ms + 1)) await this.time.tickAsync(ms);
    await done;
  }

  /** Counts the refusals of a request. A name that does not exist is a normal answer. */
  async #refused(what: string, response: Response): Promise<void> {
    const text = await response.text();
    const isAbsent = response.status === 404 && what.includes("GET") && text.startsWith("{");
    if (!this.record.isSettling || isAbsent || response.status === 410) return;
    const times = [...this.#refusals.get(what) ?? [], performance.now()];
    this.#refusals.set(what, times);
    if (times.length < MOST_REFUSALS.times || times.at(-1)! - times[0] < MOST_REFUSALS.ms) return;
    const why = text.startsWith("{") ? JSON.parse(text).message : text.trim();
    this.record.fail(`a request is refused again and again: ${what} → ${response.status} ${why}`);
  }
}

/** Returns objects by kind and key, without what each write changes. */
function comparable(objects: readonly object[]): unknown {
  const copies: KubernetesObject[] = JSON.parse(JSON.stringify(objects), (name, value) => {
    if (/^(uid|resourceVersion|managedFields|generation|observedGeneration)$/.test(name)) return undefined;
    return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? "a time" : value;
  });
  return Object.fromEntries(copies.map((copy) => [`${copy.kind} "${keyOf(copy)}"`, copy]));
}

/** Describes the first difference between such objects: its place and both values. */
function changeIn(before: unknown, now: unknown, keys: readonly string[] = []): string | undefined {
  if (Object.is(before, now)) return undefined;
  if (before && now && typeof before === "object" && typeof now === "object") {
    return Object.keys({ ...before, ...now })
      .map((key) => changeIn(memberAt(before, key), memberAt(now, key), [...keys, key])).find((it) => it !== undefined);
  }
  const [name, ...path] = keys;
  const [old, next] = [before, now].map((it) => shortJson(name.split(" ")[0], it));
  return `${path.length === 0 ? "" : `${formatFieldPath(path)} of `}${name}: ${old} before, ${next} now`;
}

/** Performs a plan, and checks what the options state and what holds for every upgrade. */
export function tryUpgrade(options: UpgradeOptions, plan: ChaosPlan): Promise<TrialResult> {
  return playTrial(plan.seed, (time) => new UpgradeTrial(options, plan, time));
}

/**
 * Plays the upgrade of an operator once per seed, on a fake API server in fake time, with changes and faults like
 * `chaos`. Each seed has five phases, and the processes settle at the end of each:
 *
 * 1. The old release runs.
 * 2. The new definitions and webhooks are installed. Both releases run at once.
 * 3. The new release runs.
 * 4. Rollback: the old release runs again. The new definitions stay. In every second seed, users pause from here on.
 * 5. The new release runs again.
 *
 * In the end, `migrateStorage` rewrites all objects, versions that are not stored are dropped, and users delete all
 * that they have created. Besides the rules of `chaos`, these are violations:
 *
 * - A user's write is refused, other than by 404 or 409, or a release's request is refused again and again.
 * - A field is lost that a user has written, or an object does not survive the conversion to another version and back.
 * - Rollback and release change an object while users pause. Uids, versions, generations and times do not count.
 * - Both releases write without end while nothing changes.
 * - An object cannot be migrated, the old version cannot be dropped, or a finalizer stays.
 *
 * The changes `race` and `unobserved` do not occur, because users send requests. The releases' clients have the default
 * field manager, `"kube-informer"`, so a release finds what the other one has written by `update`.
 *
 * Read the guide: [Upgrade an operator](../../../docs/controllers/upgrade.md).
 *
 * @throws {ChaosError} if seeds fail, with the phases and steps that remain after shrinking.
 *
 * @example
 * ```ts
 * import { defineKind } from "@kube/informer/schema";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { type Release, upgrade } from "@kube/informer/testing/chaos";
 * import { assertEquals } from "@std/assert";
 *
 * const names = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;
 * const Website = defineKind({ ...names, spec: { type: "object", properties: { image: { type: "string" } } } });
 * const release = (label: string): Release => ({
 *   crds: [Website],
 *   controller: async ({ client, signal }) => {
 *     await using reconciler = new Reconciler(client, Website, async ({ object, client }) => {
 *       if (object === undefined || object.metadata.labels?.[label] === "true") return;
 *       const websites = client.resource(Website, { namespace: "default" });
 *       await websites.patch(object.metadata.name, { type: "merge", body: { metadata: { labels: { [label]: "true" } } } });
 *     });
 *     await reconciler.run({ signal });
 *   },
 * });
 * const { seeds } = await upgrade({
 *   seeds: 2,
 *   from: release("old"),
 *   to: release("new"),
 *   changes: {
 *     apply: ({ client, random }) =>
 *       client.resource(Website).apply(
 *         { metadata: { name: random.pick(["blog", "cart"]) }, spec: { image: `nginx:${random.below(3)}` } },
 *         { fieldManager: "user", force: true },
 *       ),
 *   },
 * });
 * assertEquals(seeds, 2);
 * ```
 */
export async function upgrade(options: UpgradeOptions): Promise<ChaosReport> {
  checkNames("play upgrades", options, NAMES);
  const { firstSeed: from, ...rest } = options;
  const play = (plan: ChaosPlan): Promise<TrialResult> => tryUpgrade(options, plan);
  return await playSeeds({ ...rest, from }, (seed) => upgradePlanOf(seed, options), play, "upgrade({ …, firstSeed: ");
}
