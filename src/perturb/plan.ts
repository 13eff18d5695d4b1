import type { Client } from "../client/client.ts";
import type { FakeApiServer } from "../testing/fake_api_server.ts";
import { Random } from "../testing/random.ts";
import type { ResourceDefinition } from "../testing/storage/definition.ts";

/** One step of a seed, as plain data. */
export type PerturbStep =
  /** A change of {@linkcode PerturbOptions.changes}. */
  | { readonly do: "change"; readonly name: string; readonly seed: number }
  /** Time passes. */
  | { readonly do: "wait"; readonly ms: number }
  /**
   * Users delete all objects that they have created; with `again`, they create each of them again as soon as it is
   * gone.
   */
  | { readonly do: "deleteAll"; readonly again: boolean }
  /** The process crashes now, and starts again after `downMs`. */
  | { readonly do: "crash"; readonly downMs: number }
  /** The process crashes at its next write, which takes effect unless it crashes before it. */
  | {
    readonly do: "crashAtWrite";
    readonly when: "before" | "during" | "after";
    readonly skip: number;
    readonly downMs: number;
  }
  /** The process is stopped by its signal, and starts again after `downMs`. */
  | { readonly do: "restart"; readonly downMs: number }
  /**
   * The process restarts on an API server that is behind for `ms`: it serves old lists, and its watches lag. It is
   * `writes` behind, or at the moment in which users last deleted an object that finalizers keep.
   */
  | { readonly do: "staleRestart"; readonly writes: number | "deletion"; readonly ms: number }
  /** The events of open watches arrive `ms` late: of all watches, or of those of one resource. */
  | { readonly do: "lag"; readonly ms: number; readonly of: number | "all" }
  /** Changes are made while no watch is open, and the history is compacted: only the last state can be observed. */
  | { readonly do: "unobserved"; readonly changes: readonly { readonly name: string; readonly seed: number }[] }
  /** A change is made just before the next write arrives. */
  | { readonly do: "race"; readonly name: string; readonly seed: number; readonly skip: number }
  /** Another writer annotates the object of each of the next writes, just before it arrives. */
  | { readonly do: "conflict"; readonly times: number }
  /** The answers of the next writes are lost after the writes have taken effect. */
  | { readonly do: "loseAnswer"; readonly times: number; readonly skip: number }
  /** The next requests that are no watches do not arrive. */
  | { readonly do: "loseRequest"; readonly times: number }
  /** The next requests, or the next writes, are refused. */
  | {
    readonly do: "refuse";
    readonly code: 429 | 500 | 503 | 504;
    readonly times: number;
    readonly writes: boolean;
    readonly retryAfterSeconds?: number;
  }
  /** The next write arrives late. */
  | { readonly do: "delayWrite"; readonly ms: number }
  /** Open watches break, or end. */
  | { readonly do: "cut"; readonly clean: boolean }
  /** Open watches expire: all collections are listed again. */
  | { readonly do: "relist" }
  /** The API server restarts. */
  | { readonly do: "serverRestart"; readonly history: "kept" | "lost" }
  /** The server's clock is ahead of the controller's. */
  | { readonly do: "skew"; readonly ms: number }
  /** The controller's time of day jumps. */
  | { readonly do: "jump"; readonly ms: number }
  /** A second process runs for `ms`. */
  | { readonly do: "second"; readonly ms: number; readonly end: "crash" | "stop" }
  /**
   * The network of the process is cut off for `ms`; requests that it has not aborted arrive afterwards. A second
   * process starts meanwhile.
   */
  | { readonly do: "pause"; readonly ms: number }
  /**
   * The requests of the process about Leases do not arrive for `ms`, or their answers do not. A second process starts
   * meanwhile.
   */
  | { readonly do: "loseRenewals"; readonly ms: number; readonly lost: "requests" | "answers" };

/** The faults of `perturb()`: the steps other than changes and waits. */
export type Fault = Exclude<PerturbStep["do"], "change" | "wait">;

/** Describes a step in one line. */
export function describeStep(step: PerturbStep): string {
  switch (step.do) {
    case "change":
      return `change "${step.name}"`;
    case "wait":
      return `${seconds(step.ms)} pass`;
    case "deleteAll":
      return `users delete all that they have created${step.again ? ", and create it again" : ""}`;
    case "crash":
      return `the process crashes, and starts again after ${seconds(step.downMs)}`;
    case "crashAtWrite": {
      const when = {
        before: "before its write arrives",
        during: "after its write took effect, before the answer",
        after: "after the answer of its write",
      }[step.when];
      return `the process will crash ${when} (${ordinal(step.skip)}), and start again after ${seconds(step.downMs)}`;
    }
    case "restart":
      return `the process is stopped, and starts again after ${seconds(step.downMs)}`;
    case "staleRestart": {
      const state = step.writes === "deletion" ? "still at the last deletion" : `${step.writes} writes behind`;
      return `the process crashes, and starts on an API server that is ${state} for ${seconds(step.ms)}`;
    }
    case "lag":
      return `the events of ${step.of === "all" ? "all watches" : `watch ${step.of}`} arrive ${seconds(step.ms)} late`;
    case "unobserved":
      return `while no watch is open and the history is lost: ${
        step.changes.map(({ name }) => `change "${name}"`).join(", ")
      }`;
    case "race":
      return `change "${step.name}" will be made just before the next write arrives (${ordinal(step.skip)})`;
    case "conflict":
      return `another writer will annotate the objects of the next ${times(step.times)}, just before they arrive`;
    case "loseAnswer":
      return `the answers of ${times(step.times)} will be lost after they took effect (from the ${
        ordinal(step.skip)
      } on)`;
    case "loseRequest":
      return `the next ${step.times} requests will not arrive`;
    case "refuse": {
      const retry = step.retryAfterSeconds === undefined ? "" : ` and Retry-After ${step.retryAfterSeconds} s`;
      return `the next ${step.times} ${step.writes ? "writes" : "requests"} will be refused with ${step.code}${retry}`;
    }
    case "delayWrite":
      return `the next write will arrive ${seconds(step.ms)} late`;
    case "cut":
      return step.clean ? "open watches end" : "open watches break";
    case "relist":
      return "open watches expire, and everything is listed again";
    case "serverRestart":
      return `the API server restarts; its history is ${step.history}`;
    case "skew":
      return `the server's clock is ${seconds(step.ms)} ahead of the controller's`;
    case "jump":
      return `the controller's time of day jumps by ${seconds(step.ms)}`;
    case "second":
      return `a second process runs for ${seconds(step.ms)}, then ${step.end === "crash" ? "crashes" : "is stopped"}`;
    case "pause":
      return `the network of the process is cut off for ${seconds(step.ms)}; a second process starts`;
    case "loseRenewals":
      return `${
        step.lost === "requests" ? "the renewals" : "the answers of the renewals"
      } of the process's lease are lost for ${seconds(step.ms)}; a second process starts`;
    default:
      return step satisfies never;
  }
}

/** Returns the number of faults and changes that a step stands for. */
export function weightOf(step: PerturbStep): number {
  if (step.do === "wait") return 0;
  if (step.do === "unobserved") return 1 + step.changes.length;
  return "times" in step ? step.times : ["second", "pause", "loseRenewals"].includes(step.do) ? 3 : 1;
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

function times(count: number): string {
  return count === 1 ? "write" : `${count} writes`;
}

function ordinal(skip: number): string {
  return ["1st", "2nd", "3rd"][skip] ?? `${skip + 1}th`;
}

/** One process of a controller under test. */
export interface ProcessContext<World> {
  /** The client of this process. After a crash its requests reach no server, and are never answered. */
  readonly client: Client;
  /** Aborts when the process is to stop, and when it has crashed. */
  readonly signal: AbortSignal;
  /** The name of the process, for leader election: `"a-1"`; after a restart `"a-2"`; a second process is `"b-1"`. */
  readonly identity: string;
  /** The systems outside of the cluster: the value of {@linkcode PerturbOptions.world}. They survive crashes. */
  readonly world: World;
}

/**
 * Runs a controller until `signal` aborts, then returns. A rejection, or a return before that, ends the process as in a
 * pod: it is started again after a second.
 */
export type ControllerFunction<World> = (process: ProcessContext<World>) => Promise<void>;

/**
 * A change that a user, or another controller, makes: directly on the server, in one turn. It chooses with `random`
 * alone, and may return a description of what it did.
 */
export type UserChange<World> = (server: FakeApiServer, random: Random, world: World) => string | void;

/**
 * A statement about server and world. It holds when nothing or `true` is returned; it is violated by `false`, by a text
 * that says what is wrong, and by an error.
 */
export type Statement<World> = (server: FakeApiServer, world: World) => boolean | string | void;

/** Options for `perturb()`. */
export interface PerturbOptions<World = undefined> {
  /** The controller. It is started for each process. */
  readonly controller: ControllerFunction<World>;
  /** The changes that users make, by name. A seed makes some of them, in any order, and any number of times. */
  readonly changes: Readonly<Record<string, UserChange<World>>>;
  /**
   * The state that the controller must reach when changes and faults have ended, and keep. It must also hold after all
   * objects that the controller has not created were deleted.
   */
  readonly converges: Statement<World>;
  /** Statements that hold at every moment, by name: they are checked after each step and each write. @default {none} */
  readonly invariants?: Readonly<Record<string, Statement<World>>>;
  /** Makes the objects that exist at first. @default {none} */
  readonly setup?: UserChange<World>;
  /** Creates the systems outside of the cluster, for each seed. @default {undefined} */
  readonly world?: () => World;
  /**
   * Does the work of other controllers of the cluster, such as setting the phase of pods; called as time passes. The
   * garbage collector, and the removal of pods whose grace period is over, are there already. @default {nothing}
   */
  readonly environment?: Statement<World>;
  /**
   * Custom resources of the server. Without them, one that `setup` or a change creates is served from then on, and 404
   * is answered before. @default {none}
   */
  readonly resources?: readonly ResourceDefinition[];
  /** The number of seeds. @default {100} */
  readonly seeds?: number;
  /** The first seed. @default {1} */
  readonly from?: number;
  /** The most steps of a seed; it has at least a third of them. @default {30} */
  readonly steps?: number;
  /**
   * True for a controller that elects a leader: the fault `"loseRenewals"` occurs, too. Other faults of requests spare
   * those about Leases. @default {false}
   */
  readonly elects?: boolean;
  /** Faults that do not occur. @default {none} */
  readonly without?: readonly Fault[];
  /**
   * The most writes for each change, start and fault, on average over a seed. Writes of Leases and Events do not count.
   * @default {10}
   */
  readonly writesPerChange?: number;
  /** The most writes in `quietMs` while nothing changes. Writes of Leases and Events do not count. @default {0} */
  readonly quietWrites?: number;
  /** The time in which nothing may happen after the controller has converged, in milliseconds. @default {120_000} */
  readonly quietMs?: number;
  /**
   * The time that the controller has to converge after changes and faults have ended, in milliseconds.
   *
   * @default {600_000}
   */
  readonly settleMs?: number;
  /**
   * The plural names of resources whose objects may be left when all objects that the controller has not created were
   * deleted.
   * @default {none, besides leases and events}
   */
  readonly keeps?: readonly string[];
  /** The number of failing seeds after which it ends. @default {1} */
  readonly failures?: number;
  /** Called after each seed. */
  readonly onSeed?: (seed: number) => void;
}

/** The steps of a seed, and the settings of its server. */
export interface PerturbPlan {
  /** The seed. It is also that of names, uids and `Math.random`. */
  readonly seed: number;
  /** True if the server has streaming lists; without them, first lists may be stale. */
  readonly streamingList: boolean;
  /**
   * The most time that a request takes, and its answer, in milliseconds; 0 for a server that answers in the same
   * moment.
   */
  readonly latencyMs: number;
  /** The most time that a chunk of a watch takes, in milliseconds. */
  readonly watchMs: number;
  /** The steps. */
  readonly steps: readonly PerturbStep[];
}

/** The options that a plan depends on. */
type PlanOptions = Pick<PerturbOptions<never>, "steps" | "without" | "elects"> & {
  readonly changes: readonly string[];
};

/** Returns the plan of a seed: the same one for the same seed and options. */
export function planOf(seed: number, { steps = 30, without = [], elects = false, changes }: PlanOptions): PerturbPlan {
  const random = new Random(seed ^ 0x9e37);
  const faults = (Object.keys(WEIGHTS) as Fault[]).filter((fault) =>
    !without.includes(fault) && (elects || fault !== "loseRenewals")
  )
    .flatMap((fault) => Array<Fault>(WEIGHTS[fault]).fill(fault));
  // A seed has a few kinds of faults, each several times: bugs need a pair of them more often than one of each.
  const own = faults.length === 0 ? [] : Array.from({ length: 1 + random.below(4) }, () => random.pick(faults));
  const planned: PerturbStep[] = [];
  const count = Math.ceil(steps / 3) + random.below(Math.ceil(steps * 2 / 3));
  const pause = random.pick(PAUSES);
  const fault = (): void => {
    if (own.length > 0) planned.push(faultStep(random.pick(own), random, changes));
  };
  while (planned.length < count) {
    const turn = random.next();
    if (turn < 0.15) fault();
    else if (turn < 0.2 && faults.includes("deleteAll")) {
      planned.push(faultStep("deleteAll", random, changes));
    } else if (turn < 0.6 && changes.length > 0) {
      // A fault that waits for a write most often harms the writes that follow a change.
      if (random.next() < 0.4) fault();
      planned.push({ do: "change", name: random.pick(changes), seed: random.below(1_000_000) });
    } else planned.push({ do: "wait", ms: random.pick(pause) });
  }
  return {
    seed,
    streamingList: random.next() < 0.5,
    latencyMs: random.pick([0, 3, 30]),
    watchMs: random.pick([0, 5, 100]),
    steps: planned,
  };
}

/** The lengths of waits: short ones, and longer ones. */
const PAUSES = [[0, 1, 5, 30], [5, 100, 1_000, 5_000], [0, 30, 1_000, 20_000, 90_000]] as const;

/** The faults, with their weights. Those of which few places do harm have large ones. */
const WEIGHTS: Readonly<Record<Fault, number>> = {
  deleteAll: 1,
  crash: 2,
  crashAtWrite: 8,
  restart: 1,
  staleRestart: 6,
  lag: 4,
  unobserved: 2,
  race: 3,
  conflict: 2,
  loseAnswer: 3,
  loseRequest: 1,
  refuse: 6,
  delayWrite: 1,
  cut: 1,
  relist: 1,
  serverRestart: 1,
  skew: 2,
  jump: 1,
  second: 2,
  pause: 3,
  loseRenewals: 8,
};

function faultStep(fault: Fault, random: Random, changes: readonly string[]): PerturbStep {
  const downMs = random.pick([0, 20, 1_000, 60_000]);
  const ms = random.pick([20, 1_000, 10_000, 60_000]);
  const change = (): { readonly name: string; readonly seed: number } => {
    return { name: random.pick(changes), seed: random.below(1_000_000) };
  };
  switch (fault) {
    case "deleteAll":
      return { do: fault, again: random.next() < 0.7 };
    case "crash":
    case "restart":
      return { do: fault, downMs };
    case "crashAtWrite":
      return { do: fault, when: random.pick(["before", "during", "after"] as const), skip: random.below(6), downMs };
    case "staleRestart": {
      const writes = random.next() < 0.4 ? "deletion" : 1 + random.below(random.pick([5, 25]));
      return { do: fault, writes, ms };
    }
    case "lag":
      return { do: fault, ms, of: random.next() < 0.5 ? "all" : random.below(3) };
    case "unobserved":
      return { do: fault, changes: Array.from({ length: changes.length === 0 ? 0 : 1 + random.below(3) }, change) };
    case "race":
      return changes.length === 0 ? { do: "cut", clean: false } : { do: fault, ...change(), skip: random.below(3) };
    case "conflict":
    case "loseRequest":
      return { do: fault, times: 1 + random.below(3) };
    case "loseAnswer":
      return { do: fault, times: 1 + random.below(2), skip: random.below(3) };
    case "refuse": {
      const code = random.pick([429, 429, 500, 503, 504] as const);
      const retryAfterSeconds = random.next() < 0.5 ? 1 + random.below(5) : undefined;
      const refuse = { do: fault, code, times: 1 + random.below(3), writes: random.next() < 0.7 };
      return retryAfterSeconds === undefined ? refuse : { ...refuse, retryAfterSeconds };
    }
    case "delayWrite":
      return { do: fault, ms };
    case "cut":
      return { do: fault, clean: random.next() < 0.5 };
    case "relist":
      return { do: fault };
    case "serverRestart":
      return { do: fault, history: random.pick(["kept", "lost"] as const) };
    case "skew":
    case "jump":
      return { do: fault, ms: random.pick([-3_600_000, -5_000, 5_000, 3_600_000]) };
    case "second":
      return { do: fault, ms, end: random.pick(["crash", "stop"] as const) };
    case "pause":
      return { do: fault, ms: random.pick([1_000, 20_000, 60_000]) };
    case "loseRenewals":
      return {
        do: fault,
        ms: random.pick([5_000, 20_000, 60_000]),
        lost: random.pick(["requests", "answers"] as const),
      };
    default:
      return fault satisfies never;
  }
}
