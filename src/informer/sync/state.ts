import { CredentialsError, isForbidden, isNotFound, isUnauthorized, UnreachableError } from "../../api/errors.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";

/**
 * How an informer is doing.
 *
 * - `idle`: it has not been started.
 * - `live`: it follows the changes.
 * - `listing`: it is getting the collection for the first time.
 * - `stale`: it does not follow at the moment; the cache shows what was.
 * - `unreachable`, `notFound`, `forbidden`, `unauthorized`: as `stale`, and the server does not answer, or refuses for that
 *   reason. It keeps trying.
 * - `stopped`: it was told to stop; the cache stays readable.
 */
export type InformerState =
  | "idle"
  | "live"
  | "listing"
  | "stale"
  | "unreachable"
  | "notFound"
  | "forbidden"
  | "unauthorized"
  | "stopped";

const STATES: readonly InformerState[] = [
  "idle",
  "live",
  "listing",
  "stale",
  "unreachable",
  "notFound",
  "forbidden",
  "unauthorized",
  "stopped",
];

/** What is true right now of one of the namespaces that an informer follows. */
export interface NamespaceStatus {
  /** The namespace. */
  readonly namespace: string;
  /** How it is doing. */
  readonly state: InformerState;
  /** Since when it is in that state. */
  readonly since: Date;
  /** Why, when something is wrong. */
  readonly cause?: unknown;
  /** The version up to which the cache has everything of it; `""` before its first list. */
  readonly resourceVersion: string;
  /** How many objects of it are cached. */
  readonly objects: number;
}

/** Keeps a state: by the phases that a reflector enters, or as the worst of others. */
export class StateKeeper {
  #state: InformerState = "idle";
  #since = new Date();
  #cause: unknown;
  #notLiveSince: Date | undefined;
  #retryAt: Date | undefined;

  /** How the informer is doing. */
  get state(): InformerState {
    return this.#state;
  }

  /** Since when. */
  get since(): Date {
    return this.#since;
  }

  /** Why, when something is wrong. */
  get cause(): unknown {
    return this.#cause;
  }

  /** Since when it is not live. */
  get notLiveSince(): Date | undefined {
    return this.#notLiveSince;
  }

  /** When it next asks the server, while it waits for that. */
  get retryAt(): Date | undefined {
    return this.#retryAt;
  }

  /** The cause, when the server refuses: as long as nobody changes something there, it will go on refusing. */
  get refusal(): unknown {
    const refused = this.#state === "unauthorized" || this.#state === "forbidden" || this.#state === "notFound";
    return refused ? this.#cause : undefined;
  }

  /** The reflector has entered a phase; whether that changed state or cause. */
  entered(phase: ReflectorPhase, hasSynced: boolean): boolean {
    const state = this.#state;
    const cause = this.#cause;
    this.#enter(phase, hasSynced);
    return state !== this.#state || cause !== this.#cause;
  }

  /** Takes over the state that is worst, and its cause; of equals the first. */
  follow(others: readonly StateKeeper[]): void {
    const worst = others.reduce((a, b) => STATES.indexOf(b.#state) > STATES.indexOf(a.#state) ? b : a);
    this.#set(worst.#state, worst.#cause);
    const retries = others.flatMap(({ retryAt }) => retryAt ?? []);
    this.#retryAt = retries.reduce((a, b) => b < a ? b : a, retries[0]);
  }

  /** It has ended, for good. */
  stopped(cause?: unknown): void {
    this.#set("stopped", cause ?? this.#cause);
    this.#retryAt = undefined;
  }

  #enter(phase: ReflectorPhase, hasSynced: boolean): void {
    this.#retryAt = phase.name === "waiting" ? new Date(Date.now() + phase.delayMs) : undefined;
    switch (phase.name) {
      case "listing":
        // While it tries again, what was wrong still is.
        if (this.#cause === undefined) this.#set(hasSynced ? "stale" : "listing", undefined);
        return;
      case "watching":
        if (phase.open) this.#set("live", undefined);
        return;
      case "waiting":
        this.#set(stateOf(phase.error, hasSynced), phase.error);
        return;
      case "stopped":
        return;
      default:
        phase satisfies never;
    }
  }

  #set(state: InformerState, cause: unknown): void {
    if (state !== this.#state) this.#since = new Date();
    if (state === "live") this.#notLiveSince = undefined;
    else this.#notLiveSince ??= new Date();
    this.#state = state;
    this.#cause = cause;
  }
}

function stateOf(error: unknown, hasSynced: boolean): InformerState {
  if (isUnauthorized(error) || error instanceof CredentialsError) return "unauthorized";
  if (isForbidden(error)) return "forbidden";
  if (isNotFound(error)) return "notFound";
  if (error instanceof UnreachableError) return "unreachable";
  return hasSynced ? "stale" : "listing";
}
