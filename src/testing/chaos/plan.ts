/**
 * The options for `chaos()`, and a seed's plan: its steps as plain data.
 *
 * {@linkcode planOf} is the entry point. A plan depends only on the seed and the options. This file performs nothing.
 *
 * @module
 */
import type { Client } from "../../engine/client/client.ts";
import type { FakeApiServer } from "../fake/fake_api_server.ts";
import { type FaultStep, refused, retryAfter, type StepOf } from "../fake/history.ts";
import { Random } from "../fake/random.ts";
import type { ResourceDefinition } from "../fake/storage/definition.ts";

/** A change from {@linkcode ChaosOptions.changes}, with the seed for its choices. */
export interface PlannedChange {
  /** Its name in {@linkcode ChaosOptions.changes}. */
  readonly name: string;
  /** The seed for its choices. */
  readonly seed: number;
}

/**
 * One step in a seed, as plain data. Users, the controller's processes, or the network between them and the server act,
 * or the server has a fault like in a `history` from `@kube/informer/testing`.
 *
 * Request faults affect neither watches, nor requests for Leases and Events. Faults that break or end watches also
 * break or end the logs that the controller follows.
 */
export type ChaosStep =
  | FaultStep
  /** A change from {@linkcode ChaosOptions.changes}. */
  | { readonly do: "change" } & PlannedChange
  /** Time passes. */
  | { readonly do: "wait"; readonly ms: number }
  /** The next phase of an `upgrade()` begins, when the processes have settled. */
  | { readonly do: "phase"; readonly name: string }
  /**
   * Users delete all objects that they have created. With `again`, they create each object again as soon as it is gone.
   */
  | { readonly do: "deleteAll"; readonly again: boolean }
  /** The process crashes now, and starts again after `downMs`. */
  | { readonly do: "crash"; readonly downMs: number }
  /** The process crashes at its next write. The write takes effect unless the crash comes before it. */
  | {
    readonly do: "crashAtWrite";
    readonly when: "before" | "during" | "after";
    readonly skip: number;
    readonly downMs: number;
  }
  /** The process's signal aborts, and the process starts again after `downMs`. */
  | { readonly do: "restartProcess"; readonly downMs: number }
  /**
   * The process restarts on an API server that is stale for `ms`: it serves old lists, and its watches lag. It lags
   * `writes` writes, or shows the moment at which users last deleted an object that finalizers keep.
   */
  | { readonly do: "staleRestart"; readonly writes: number | "deletion"; readonly ms: number }
  /**
   * Users make changes while no watch is open, and the history is compacted, so that only the last state can be
   * observed.
   */
  | { readonly do: "unobserved"; readonly changes: readonly PlannedChange[] }
  /** A user makes a change just before the next write arrives. */
  | { readonly do: "race"; readonly skip: number } & PlannedChange
  /** The responses to the next writes are lost after the writes have taken effect. */
  | { readonly do: "loseAnswer"; readonly times: number; readonly skip: number }
  /** The next write arrives late. */
  | { readonly do: "delayWrite"; readonly ms: number }
  /** The controller's time of day jumps. */
  | { readonly do: "clockJump"; readonly ms: number }
  /** A second process runs for `ms`. */
  | { readonly do: "second"; readonly ms: number; readonly end: "crash" | "stop" }
  /**
   * The process's network is cut off for `ms`. Requests that it has not aborted arrive afterwards. A second process
   * starts meanwhile.
   */
  | { readonly do: "pause"; readonly ms: number }
  /**
   * For `ms`, the process's requests for Leases do not arrive, or their responses do not. A second process starts
   * meanwhile.
   */
  | { readonly do: "loseRenewals"; readonly ms: number; readonly lost: "requests" | "answers" };

/** The faults that `chaos()` can inject: by users, processes and their network, and nine server faults. */
export type Fault =
  | Exclude<ChaosStep["do"], FaultStep["do"] | "change" | "wait" | "phase">
  | "break"
  | "clockSkew"
  | "conflict"
  | "drop"
  | "end"
  | "forceRelist"
  | "refuse"
  | "restart"
  | "stall";

/**
 * How often each fault is chosen, by the part that it harms: later writes, views of changes, processes and their
 * clocks, or users. Faults that do harm in few places have large weights.
 */
const WEIGHTS = {
  writes: { crashAtWrite: 8, race: 3, conflict: 2, loseAnswer: 3, break: 1, refuse: 6, delayWrite: 1 },
  views: { staleRestart: 6, stall: 4, unobserved: 2, drop: 1, end: 1, forceRelist: 1, restart: 1 },
  processes: { crash: 2, restartProcess: 1, clockSkew: 2, clockJump: 3, second: 2, pause: 3, loseRenewals: 8 },
  users: { deleteAll: 1 },
};
const WEIGHT: Readonly<Record<Fault, number>> = {
  ...WEIGHTS.writes,
  ...WEIGHTS.views,
  ...WEIGHTS.processes,
  ...WEIGHTS.users,
};

/** How a step of a fault is made, and how it is described. */
interface FaultKind<Step> {
  make(random: Random, change: () => PlannedChange): Step;
  describe(step: Step): string;
}

/** The faults, in the order in which they are drawn. */
const FAULTS: { readonly [Name in Fault]: FaultKind<StepOf<Name, ChaosStep>> } = {
  deleteAll: {
    make: (random) => ({ do: "deleteAll", again: random.next() < 0.5 }),
    describe: ({ again }) => `users delete all that they have created${again ? ", and create it again" : ""}`,
  },
  crash: {
    make: (random) => ({ do: "crash", downMs: random.pick(DOWN_MS) }),
    describe: ({ downMs }) => `the process crashes, and starts again after ${seconds(downMs)}`,
  },
  crashAtWrite: {
    make: (random) => ({
      do: "crashAtWrite",
      when: random.pick(["before", "during", "after"]),
      skip: random.below(6),
      downMs: random.pick(DOWN_MS),
    }),
    describe: ({ when, skip, downMs }) =>
      `the process will crash ${CRASHES[when]} (${ordinal(skip)}), and start again after ${seconds(downMs)}`,
  },
  restartProcess: {
    make: (random) => ({ do: "restartProcess", downMs: random.pick(DOWN_MS) }),
    describe: ({ downMs }) => `the process is stopped, and starts again after ${seconds(downMs)}`,
  },
  staleRestart: {
    make: (random) => ({
      do: "staleRestart",
      writes: random.next() < 0.4 ? "deletion" : 1 + random.below(random.pick([5, 25])),
      ms: random.pick(FAULT_MS),
    }),
    describe: ({ writes, ms }) => {
      const state = writes === "deletion" ? "still at the last deletion" : `${writes} writes behind`;
      return `the process crashes, and starts on an API server that is ${state} for ${seconds(ms)}`;
    },
  },
  stall: {
    make: (random) => ({
      do: "stall",
      ms: random.pick(FAULT_MS),
      ...(random.next() < 0.5 ? {} : { of: random.below(3) }),
    }),
    describe: ({ ms, of }) =>
      `the events of ${of === undefined ? "all watches" : `watch ${of}`} arrive ${seconds(ms)} late`,
  },
  unobserved: {
    make: (random, change) => ({ do: "unobserved", changes: Array.from({ length: 1 + random.below(3) }, change) }),
    describe: ({ changes }) =>
      `while no watch is open and the history is lost: ${changes.map(({ name }) => `change "${name}"`).join(", ")}`,
  },
  race: {
    make: (random, change) => ({ do: "race", ...change(), skip: random.below(3) }),
    describe: ({ name, skip }) => `change "${name}" will be made just before the next write arrives (${ordinal(skip)})`,
  },
  conflict: {
    make: (random) => ({ do: "conflict", times: 1 + random.below(3) }),
    describe: ({ times }) =>
      `another writer will annotate the objects of the next ${writes(times)}, just before they arrive`,
  },
  loseAnswer: {
    make: (random) => ({ do: "loseAnswer", times: 1 + random.below(2), skip: random.below(3) }),
    describe: ({ times, skip }) =>
      `the answers of ${writes(times)} will be lost after they took effect (from the ${ordinal(skip)} on)`,
  },
  break: {
    make: (random) => ({ do: "break", times: 1 + random.below(3) }),
    describe: ({ times }) => `the next ${times} requests will not arrive`,
  },
  refuse: {
    make: (random) => ({
      ...refused(random, [429, 429, 500, 503, 504], () => random.next() < 0.7 ? "write" : "any"),
      ...retryAfter(random),
    }),
    describe: ({ code, times, verb, retryAfterSeconds }) => {
      const retry = retryAfterSeconds === undefined ? "" : ` and Retry-After ${retryAfterSeconds} s`;
      return `the next ${times} ${verb === "write" ? "writes" : "requests"} will be refused with ${code}${retry}`;
    },
  },
  delayWrite: {
    make: (random) => ({ do: "delayWrite", ms: random.pick(FAULT_MS) }),
    describe: ({ ms }) => `the next write will arrive ${seconds(ms)} late`,
  },
  drop: { make: () => ({ do: "drop" }), describe: () => "open watches and logs break" },
  end: { make: () => ({ do: "end" }), describe: () => "open watches and logs end" },
  forceRelist: {
    make: () => ({ do: "forceRelist" }),
    describe: () => "open watches expire, and everything is listed again",
  },
  restart: {
    make: (random) => ({ do: "restart", history: random.pick(["kept", "lost"]) }),
    describe: ({ history }) => `the API server restarts; its history is ${history}`,
  },
  clockSkew: {
    make: (random) => ({ do: "clockSkew", ms: random.pick(SKEW_MS) }),
    describe: ({ ms }) => `the server's clock is ${seconds(ms)} ahead of the controller's`,
  },
  clockJump: {
    make: (random) => ({ do: "clockJump", ms: random.pick(SKEW_MS) }),
    describe: ({ ms }) => `the controller's time of day jumps by ${seconds(ms)}`,
  },
  second: {
    make: (random) => ({ do: "second", ms: random.pick(FAULT_MS), end: random.pick(["crash", "stop"]) }),
    describe: ({ ms, end }) =>
      `a second process runs for ${seconds(ms)}, then ${end === "crash" ? "crashes" : "is stopped"}`,
  },
  pause: {
    make: (random) => ({ do: "pause", ms: random.pick([1_000, 20_000, 60_000]) }),
    describe: ({ ms }) => `the network of the process is cut off for ${seconds(ms)}; a second process starts`,
  },
  loseRenewals: {
    make: (random) => ({
      do: "loseRenewals",
      ms: random.pick([5_000, 20_000, 60_000]),
      lost: random.pick(["requests", "answers"]),
    }),
    describe: ({ ms, lost }) =>
      `${lost === "requests" ? "the renewals" : "the answers of the renewals"} of the process's lease are lost for ${
        seconds(ms)
      }; a second process starts`,
  },
};

const CRASHES = {
  before: "before its write arrives",
  during: "after its write took effect, before the answer",
  after: "after the answer of its write",
} as const;

/** How long processes are down, faults last, and clocks are ahead, in milliseconds. */
const DOWN_MS = [0, 20, 1_000, 60_000];
const FAULT_MS = [20, 1_000, 10_000, 60_000];
const SKEW_MS = [-3_600_000, -5_000, 5_000, 3_600_000];

/** Describes a step in one line. */
export function describeStep(step: ChaosStep): string {
  if (step.do === "change") return `change "${step.name}"`;
  if (step.do === "wait") return `${seconds(step.ms)} pass`;
  if (step.do === "phase") return `phase "${step.name}" begins, when the processes have settled`;
  const kind = (FAULTS as Partial<Record<ChaosStep["do"], FaultKind<ChaosStep>>>)[step.do];
  return kind?.describe(step) ?? JSON.stringify(step);
}

/** Returns the number of faults and changes that a step stands for. */
export function weightOf(step: ChaosStep): number {
  if (step.do === "wait" || step.do === "phase") return 0;
  if (step.do === "unobserved") return 1 + step.changes.length;
  return "times" in step ? step.times : ["second", "pause", "loseRenewals"].includes(step.do) ? 3 : 1;
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

function writes(count: number): string {
  return count === 1 ? "write" : `${count} writes`;
}

function ordinal(skip: number): string {
  return ["1st", "2nd", "3rd"][skip] ?? `${skip + 1}th`;
}

/** A process in which a controller runs. */
export interface ProcessContext<World> {
  /** The process's client. After a crash its requests reach no server, and are never answered. */
  readonly client: Client;
  /** Aborts when the process is to stop, and when it has crashed. */
  readonly signal: AbortSignal;
  /** The process's name, for leader election: `"a-1"`, after a restart `"a-2"`, and `"b-1"` for a second process. */
  readonly identity: string;
  /** The systems outside the cluster, from {@linkcode ChaosOptions.world}. They survive crashes. */
  readonly world: World;
}

/**
 * Runs a controller until `signal` aborts, then returns. If it rejects, or returns before that, the process ends like
 * in a pod, and starts again after a second.
 */
export type ControllerFunction<World> = (process: ProcessContext<World>) => Promise<void>;

/**
 * A change that a user or another controller makes, directly on the server, in one turn. Choose only with `random`. You
 * may return a description.
 */
export type UserChange<World> = (server: FakeApiServer, random: Random, world: World) => string | void;

/**
 * Checks the server and world. The statement holds if you return nothing or `true`. It is violated if you return
 * `false` or a text that says what is wrong, or if you throw.
 */
export type Statement<World> = (server: FakeApiServer, world: World) => boolean | string | void;

/** Options for `chaos()`. */
export interface ChaosOptions<World = undefined> {
  /** The controller. It is started for each process. */
  readonly controller: ControllerFunction<World>;
  /** The changes that users make, by name. A seed makes some changes, in any order and any number of times. */
  readonly changes: Readonly<Record<string, UserChange<World>>>;
  /**
   * Checks the state that the controller must reach and keep after changes and faults have ended. It must also hold
   * after all objects that the controller has not created were deleted.
   */
  readonly converges: Statement<World>;
  /** Statements that must always hold, by name. They are checked after each step and each write. @default {none} */
  readonly invariants?: Readonly<Record<string, Statement<World>>>;
  /** Creates the objects that exist at the start. @default {none} */
  readonly setup?: UserChange<World>;
  /** Creates the systems outside the cluster, for each seed. @default {undefined} */
  readonly world?: () => World;
  /**
   * Plays the cluster's other controllers, for example sets pod phases. It is called as time passes. Garbage collection
   * is built in, and pods are removed when their grace period is over. @default {nothing}
   */
  readonly environment?: Statement<World>;
  /**
   * The server's custom resources. Without this option, a custom resource gets 404 until `setup` or a change creates an
   * object. @default {none}
   */
  readonly resources?: readonly ResourceDefinition[];
  /** The number of seeds. @default {100} */
  readonly seeds?: number;
  /** The first seed. @default {1} */
  readonly from?: number;
  /** The largest number of steps in a seed. Each seed has at least a third as many. @default {30} */
  readonly steps?: number;
  /**
   * If `true`, the controller elects a leader: the fault `"loseRenewals"` occurs too. Other request faults do not
   * affect requests for Leases. @default {false}
   */
  readonly elects?: boolean;
  /** Faults that do not occur. @default {none} */
  readonly without?: readonly Fault[];
  /**
   * The plural names of resources whose objects may remain after all objects that the controller has not created were
   * deleted. @default {none, besides leases and events}
   */
  readonly keeps?: readonly string[];
  /** After how many failing seeds to stop. @default {1} */
  readonly failures?: number;
}

/** A seed's steps, and its server settings. */
export interface ChaosPlan {
  /** The seed. It also determines names, uids and `Math.random`. */
  readonly seed: number;
  /** `true` if the server has streaming lists. Without them, first lists may be stale. */
  readonly streamingList: boolean;
  /** The longest time for a request and for its response, in milliseconds. 0 for a server that responds at once. */
  readonly latencyMs: number;
  /** The longest time for a watch chunk, in milliseconds. */
  readonly watchMs: number;
  /** The steps. */
  readonly steps: readonly ChaosStep[];
}

/** The options that a plan depends on. */
type PlanOptions = Pick<ChaosOptions<never>, "steps" | "without" | "elects"> & {
  readonly changes: readonly string[];
};

/** Returns a seed's plan. The same seed and options give the same plan. */
export function planOf(seed: number, { steps = 30, ...options }: PlanOptions): ChaosPlan {
  const random = new Random(seed ^ PLAN);
  const count = random.next() < 0.5 ? steps : Math.ceil(steps / 3) + random.below(Math.ceil(steps * 2 / 3));
  return {
    seed,
    streamingList: random.next() < 0.5,
    latencyMs: random.pick([0, 3, 30]),
    watchMs: random.pick([0, 5, 100]),
    steps: new Planner(random, options).steps(count),
  };
}

/** The letters "plan": the steps of a seed are drawn from other numbers than its names, uids and latencies. */
const PLAN = 0x706c616e;

/** The lengths of waits between motifs: short ones, and longer ones. */
const PAUSES = [[0, 1, 5, 30], [5, 100, 1_000, 5_000], [0, 30, 1_000, 20_000, 90_000]] as const;

/** The lengths of waits after which a controller is likely to be in the middle of what it does. */
const MOMENTS = [0, 1, 3, 10, 30, 100] as const;

/**
 * The motifs of which the steps of a seed consist: changes that the controller follows, and faults where they do harm.
 * Faults of writes are there before the changes that lead to writes; a view is late, or lost, before or just after
 * changes; a process ends, or loses its network or its clock, between two changes.
 */
const MOTIFS = [
  ["changes", "wait"],
  ["writes", "changes", "wait"],
  ["writes", "changes", "wait"],
  ["views", "changes", "wait"],
  ["changes", "moment", "views", "wait"],
  ["users", "wait", "changes", "wait", "views", "wait"],
  ["changes", "moment", "processes", "changes", "wait"],
  ["changes", "moment", "processes", "changes", "wait"],
  ["processes", "wait", "processes", "wait"],
] as const;

/** Draws the steps of a plan. */
class Planner {
  readonly #random: Random;
  /** The faults that may occur, each as often as its weight. */
  readonly #faults: readonly Fault[];
  /** A few of them, which occur more often: bugs need a pair of them more often than one of each. */
  readonly #own: readonly Fault[];
  /** The changes that users make: few kinds in most seeds, so that no other one undoes what they lead to. */
  readonly #changes: readonly string[];
  /** A few motifs. In one seed of six, changes alone. */
  readonly #motifs: readonly (typeof MOTIFS[number])[];
  readonly #pause: readonly number[];
  #last: PlannedChange | undefined;

  constructor(random: Random, { without = [], elects = false, changes }: Omit<PlanOptions, "steps">) {
    const isPossible = (fault: Fault): boolean =>
      !without.includes(fault) && (elects || fault !== "loseRenewals") &&
      (changes.length > 0 || (fault !== "race" && fault !== "unobserved"));
    this.#random = random;
    this.#faults = (Object.keys(FAULTS) as Fault[]).filter(isPossible)
      .flatMap((fault) => Array<Fault>(WEIGHT[fault]).fill(fault));
    const kinds = this.#faults.length === 0 ? 0 : random.below(5);
    this.#own = Array.from({ length: kinds }, () => random.pick(this.#faults));
    const few = Array.from({ length: random.pick([1, 2, 3, 5]) }, () => random.pick(changes));
    this.#changes = changes.length === 0 || random.next() < 0.2 ? changes : few;
    this.#motifs = random.next() < 1 / 6 ? MOTIFS.slice(0, 1) : Array.from({ length: 3 }, () => random.pick(MOTIFS));
    this.#pause = random.pick(PAUSES);
  }

  steps(count: number): ChaosStep[] {
    const found: ChaosStep[] = [];
    while (found.length < count) {
      for (const part of this.#random.pick(this.#motifs)) found.push(...this.#part(part));
    }
    return found.slice(0, count);
  }

  #part(part: typeof MOTIFS[number][number]): ChaosStep[] {
    const random = this.#random;
    switch (part) {
      case "wait":
        return [{ do: "wait", ms: random.pick(this.#pause) }];
      case "moment":
        return [{ do: "wait", ms: random.pick(MOMENTS) }];
      case "changes":
        if (this.#changes.length === 0) return [];
        return Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => ({ do: "change", ...this.#change() }));
      default: {
        const all = this.#faults.filter((fault) => fault in WEIGHTS[part]);
        const own = this.#own.filter((fault) => fault in WEIGHTS[part]);
        if (all.length === 0) return [];
        const faults = own.length > 0 && random.next() < 0.6 ? own : all;
        return [FAULTS[random.pick(faults)].make(random, () => this.#change())];
      }
    }
  }

  /** A change: often of the kind, or of the object, of the one before; sometimes the same again. */
  #change(): PlannedChange {
    const random = this.#random;
    const last = this.#last;
    if (last !== undefined && random.next() < 0.15) return last;
    const name = last !== undefined && random.next() < 0.25 ? last.name : random.pick(this.#changes);
    const first = last !== undefined && random.next() < 0.5 ? new Random(last.seed).next() : random.next() ** 2;
    return this.#last = { name, seed: seedNear(random, first) };
  }
}

/** The number of seeds of changes. */
const SEEDS = 1_000_000;

/** A seed whose first number is about `first`: with it, a change most often chooses its object. */
function seedNear(random: Random, first: number): number {
  for (;;) {
    const found = random.below(SEEDS);
    if (Math.abs(new Random(found).next() - first) < 0.02) return found;
  }
}
