import { Random } from "../../testing/objects/random.ts";
import type { PerturbOptions } from "./options.ts";
import type { Fault, PerturbStep } from "./perturb_step.ts";

/** The steps of a seed, and the settings of its server. */
export interface PerturbPlan {
  /** The seed. It is also that of names, uids and `Math.random`. */
  readonly seed: number;
  /** True if the server has streaming lists; without them, first lists may be stale. */
  readonly streamingList: boolean;
  /** The most time that a request takes, and its answer, in milliseconds; 0 for a server that answers in the same moment. */
  readonly latencyMs: number;
  /** The most time that a chunk of a watch takes, in milliseconds. */
  readonly watchMs: number;
  /** The steps. */
  readonly steps: readonly PerturbStep[];
}

/** The options that a plan depends on. */
export type PlanOptions = Pick<PerturbOptions<never>, "steps" | "without" | "elects"> & {
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
