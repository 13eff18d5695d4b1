/** One step of a seed, as plain data. */
export type PerturbStep =
  /** A change of {@linkcode PerturbOptions.changes}. */
  | { readonly do: "change"; readonly name: string; readonly seed: number }
  /** Time passes. */
  | { readonly do: "wait"; readonly ms: number }
  /** Users delete all objects that they have created; with `again`, they create each of them again as soon as it is gone. */
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
   * The process restarts on an API server that is behind for `ms`: it serves old lists, and its watches lag. It is `writes` behind,
   * or at the moment in which users last deleted an object that finalizers keep.
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
  /** The network of the process is cut off for `ms`; requests that it has not aborted arrive afterwards. A second process starts meanwhile. */
  | { readonly do: "pause"; readonly ms: number }
  /** The requests of the process about Leases do not arrive for `ms`, or their answers do not. A second process starts meanwhile. */
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
