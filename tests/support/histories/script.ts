import { history, type HistoryStep, type WriteStep } from "@kube/informer/testing";
import { Random } from "../../../src/testing/fake/random.ts";

/** The options of an informer of a history. */
export interface InformerPlan {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly metadataOnly: boolean;
  readonly streamingList: "auto" | "on" | "off";
  readonly pageSize: number;
  readonly watchTimeoutMs: number;
  readonly parse: "lazy" | "eager";
  /** The fields that are kept of objects. */
  readonly fields?: readonly string[];
  /** The treatment of updates that change no kept field. */
  readonly deliverUnchanged?: boolean;
  /** If `true`, it has an index, which reads all objects. */
  readonly indexed?: boolean;
  /** True if a transform changes each object. */
  readonly transform?: boolean;
  /** True if that transform changes its name too. */
  readonly renames?: boolean;
  /** True if a factory makes it, which keeps its snapshots. */
  readonly factory?: boolean;
}

/** The reason why a snapshot cannot be restored: damage, or an informer of something else. */
export interface SnapshotFault {
  readonly kind: "flip" | "cut" | "selection" | "form" | "transform" | "cluster";
  /** The place of damage: 0 is the first byte, 1 would be the one after the last. */
  readonly share: number;
  /** The number of the bit that is flipped. */
  readonly bit: number;
}

/** A history of the server that went back, before informers start. */
export interface WentBack {
  /** The place in the history at which it continues: 1 is its end; 0 is a cluster made anew. */
  readonly share: number;
  /** The writes before informers start. An object that stays is not written: its versions would be given twice. */
  readonly writes: readonly WriteStep[];
  /** The number of versions that the server then jumps. */
  readonly jump: number;
}

/** The behaviour of a listener of a history. */
export interface ListenerPlan {
  readonly kind: "keys" | "reads" | "slow" | "throws" | "latestPerKey" | "events" | "filter";
  readonly resyncMs: number;
}

/** A step of a history, of the server or of the informers that watch it. */
export type ScriptStep =
  | HistoryStep
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "informer"; readonly plan: InformerPlan; readonly listeners: readonly ListenerPlan[] }
  | { readonly do: "stopInformer"; readonly which: number }
  | { readonly do: "pauseInformer"; readonly which: number }
  /** Resumes it, if it is paused. */
  | { readonly do: "resumeInformer"; readonly which: number }
  /** Its run ends by its signal. */
  | { readonly do: "endRun"; readonly which: number }
  /** All informers run again whose run has ended. */
  | { readonly do: "runAgain" }
  | { readonly do: "listener"; readonly which: number; readonly plan: ListenerPlan }
  | { readonly do: "removeListener"; readonly which: number; readonly listener: number }
  /** Compares it with the server, while the steps that follow happen. */
  | { readonly do: "checkInformer"; readonly which: number }
  /** Lists that name a version are refused. */
  | { readonly do: "refuseVersioned"; readonly code: number; readonly times: number }
  /** Watches are answered, say nothing, and end at once. */
  | { readonly do: "shortWatches"; readonly ms: number }
  /** The next streaming list begins with a bookmark that does not end it. */
  | { readonly do: "earlyBookmark" }
  /** The next watch begins with the latest deletion, delivered again. */
  | { readonly do: "lateDeletion" }
  /** Each informer writes a snapshot, and continues. */
  | { readonly do: "keepSnapshots" }
  /** The process of all informers ends: by a crash, or after a last snapshot. */
  | { readonly do: "stopProcess"; readonly crash: boolean }
  /** The process starts again: the same informers and listeners, each informer from its last snapshot. */
  | {
    readonly do: "startProcess";
    /** True if listeners are added before the restore, and not after it. */
    readonly listenFirst: boolean;
    /** The fault of one of the snapshots, if it has one. */
    readonly fault?: SnapshotFault & { readonly which: number };
    /** The change of the server's history meanwhile. */
    readonly server?: "compacted" | WentBack;
  }
  /** All informers have caught up within this time, with no more than so many requests. */
  | { readonly do: "expectWithin"; readonly ms: number; readonly requests?: number };

type InformerStep = ScriptStep & { readonly do: "informer" };

/** A history as data: it can be printed, cut down and played again. */
export interface Script {
  readonly seed: number;
  readonly faults: "none" | "harmless" | "all";
  /** The number of writes that the server remembers. */
  readonly history: number;
  /** The size of the chunks of its answers, in bytes. */
  readonly chunkBytes: number;
  /** If `true`, the server has streaming lists. */
  readonly streamingList: boolean;
  readonly steps: readonly ScriptStep[];
  /** Lost events are repaired by checks, and never by a relist that the history forces. */
  readonly checks?: boolean;
  /** The number of relists of the first informer, where that is known: at least, at most. */
  readonly relists?: readonly [number, number];
  /** The number of changes that come too late, and are skipped. */
  readonly outdated?: number;
}

/** The script of a seed: the same one for the same seed. */
export function scriptOf(seed: number): Script {
  const random = new Random(seed ^ 0x5eed);
  const bursts = new Random(seed ^ 0xb0b);
  const pauses = new Random(seed ^ 0x9a5e);
  const reductions = new Random(seed ^ 0xf1e1d);
  const checking = new Random(seed ^ 0xc4ec);
  const renaming = new Random(seed ^ 0x4e7a);
  const ends = new Random(seed ^ 0xa6a17);
  const checks = checking.next() < 0.5;
  const faults = random.pick(["none", "harmless", "all", "all"] as const);
  const steps: ScriptStep[] = [];
  for (const step of history(seed, { faults, steps: 10 + random.below(30) })) {
    if (steps.length === 0 || random.next() < 0.08) {
      if (random.next() < 0.3) steps.push({ do: "spread", times: 1, intervalMs: random.pick([1, 30, 300]) });
      steps.push(renamed(renaming, informer(random, reductions)));
    }
    if (random.next() < 0.06) steps.push({ do: "stopInformer", which: random.below(8) });
    if (random.next() < 0.12) steps.push({ do: "listener", which: random.below(8), plan: listener(random) });
    if (random.next() < 0.06) steps.push({ do: "removeListener", which: random.below(8), listener: random.below(8) });
    const pausing = pauses.next();
    if (pausing < 0.15) steps.push({ do: "pauseInformer", which: pauses.below(8) });
    if (pausing < 0.02 || pausing > 0.9) steps.push({ do: "resumeInformer", which: pauses.below(8) });
    const ending = ends.next();
    if (ending < 0.1) steps.push({ do: "endRun", which: ends.below(8) });
    if (ending < 0.02 || ending > 0.75) steps.push({ do: "runAgain" });
    if (checks && checking.next() < 0.1) steps.push({ do: "checkInformer", which: checking.below(8) });
    steps.push(step);
    if (bursts.next() < 0.1) steps.push(...burst(bursts));
    if (random.next() < 0.6) steps.push({ do: "wait", ms: random.pick([0, 1, 30, 700, 5_000, 70_000, 250_000]) });
  }
  const restarts = new Random(seed ^ 0x4e57a47);
  return {
    seed,
    faults,
    history: faults === "all" ? random.pick([3, 20, 10_000]) : 10_000,
    chunkBytes: random.pick([5, 40, 300, 65_536]),
    streamingList: random.next() < 0.8,
    steps: restarts.next() < 0.2 ? withRestarts(restarts, steps, faults) : steps,
    checks,
  };
}

/** Lets the process of the informers end and start again, once or twice. */
function withRestarts(random: Random, steps: readonly ScriptStep[], faults: Script["faults"]): ScriptStep[] {
  const found = steps.map((step): ScriptStep => {
    if (step.do !== "informer") return step;
    const transform = random.next() < 0.4 && step.plan.fields === undefined;
    const factory = random.next() < 0.5;
    return { ...step, plan: { ...step.plan, transform, factory } };
  });
  for (let times = 1 + random.below(2); times > 0; times--) {
    const stop = 1 + random.below(found.length);
    const start = Math.min(found.length, stop + random.below(8));
    const wait = { do: "wait", ms: random.pick([0, 30, 5_000, 70_000]) } as const;
    const crash = random.next() < 0.3;
    found.splice(start, 0, startProcess(random, faults));
    found.splice(stop, 0, ...crash ? [] : [wait], { do: "stopProcess", crash });
    if (crash) found.splice(1 + random.below(stop), 0, wait, { do: "keepSnapshots" });
  }
  return found;
}

function startProcess(random: Random, faults: Script["faults"]): ScriptStep {
  const kind = random.pick(["flip", "flip", "cut", "selection", "form", "transform", "cluster"] as const);
  const fault = { kind, share: random.next(), bit: random.below(8), which: random.below(8) };
  const server = random.next();
  return {
    do: "startProcess",
    listenFirst: random.next() < 0.5,
    ...(random.next() < 0.3 ? { fault } : {}),
    ...(server < 0.25 ? { server: "compacted" as const } : {}),
    // Faults that lead to lists would hide that a history which went back is not found.
    ...(server > 0.6 && faults !== "all" ? { server: wentBack(random) } : {}),
  };
}

function wentBack(random: Random): WentBack {
  const writes = Array.from({ length: random.below(5) }, (): WriteStep => {
    const object = { namespace: random.pick(["a", "b"]), name: `n${random.below(5)}` };
    if (random.next() < 0.2) return { do: "delete", ...object };
    return { do: "write", ...object, tier: random.pick(["web", "db"]), value: random.below(1_000), again: true };
  });
  return { share: random.next() < 0.4 ? 0 : random.next(), writes, jump: random.pick([0, 0, 0, 1_000]) };
}

/** Writes in one turn, on so few objects that several changes of each arrive in one chunk. */
function burst(random: Random): ScriptStep[] {
  return Array.from({ length: 4 + random.below(4) }, () => ({
    do: "write",
    namespace: "a",
    name: random.pick(["n0", "n1"]),
    tier: random.pick(["web", "db"]),
    value: random.below(1_000),
    again: random.next() < 0.1,
  }));
}

function informer(random: Random, reductions: Random): InformerStep {
  const scope = random.pick([{}, {}, { namespace: "a" }, { labelSelector: "tier=web" }]);
  const reduced = reductions.next() < 0.3 ? reduction(reductions) : {};
  return {
    do: "informer",
    plan: {
      ...scope,
      metadataOnly: random.next() < 0.15,
      streamingList: random.pick(["auto", "auto", "off"]),
      pageSize: random.pick([1, 2, 3, 500]),
      watchTimeoutMs: random.pick([20_000, 120_000]),
      parse: random.pick(["lazy", "eager"]),
      ...reduced,
    },
    // Without an index, the objects of some informers are not read: then texts are compared, not objects.
    listeners: Array.from({ length: 1 + random.below(3) }, () => listener(random)).map((plan) =>
      reduced.indexed === false ? { ...plan, kind: plan.kind === "slow" ? plan.kind : "keys" } : plan
    ),
  };
}

/** Lets a transform rename the objects of some informers. */
function renamed(random: Random, step: InformerStep): InformerStep {
  return random.next() < 0.3 && step.plan.fields === undefined
    ? { ...step, plan: { ...step.plan, transform: true, renames: true } }
    : step;
}

/** Labels are kept always: filters and indexes read them. */
function reduction(random: Random): Partial<InformerPlan> {
  return {
    fields: random.pick([["metadata.labels"], ["metadata.labels"], ["metadata.labels.tier", "data"]]),
    ...random.next() < 0.3 ? { deliverUnchanged: true as const } : {},
    ...random.next() < 0.5 ? { indexed: false, parse: "lazy" as const } : {},
  };
}

function listener(random: Random): ListenerPlan {
  return {
    kind: random.pick(["keys", "reads", "reads", "slow", "throws", "latestPerKey", "events", "filter"]),
    resyncMs: random.next() < 0.2 ? random.pick([20_000, 300_000]) : 0,
  };
}

/** A script in a form that people read: a line to a step. */
export function printed(script: Script): string {
  const { steps, ...head } = script;
  return [JSON.stringify(head), ...steps.map((step, i) => `${String(i).padStart(3)}  ${JSON.stringify(step)}`)].join(
    "\n",
  );
}
