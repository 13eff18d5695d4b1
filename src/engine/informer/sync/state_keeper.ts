/**
 * The state of an informer: live, stale, paused and so on.
 *
 * {@linkcode StateKeeper} is the entry point. It derives the state from phases of reflectors, and decides by
 * `isRefusal` which errors end the wait for a sync. Waits for a version are in `version_gate.ts`.
 *
 * @module
 */
import {
  CredentialsError,
  isForbidden,
  isNotFound,
  isUnauthorized,
  MemoryLimitError,
  StatusError,
  UnreachableError,
  UnversionedError,
} from "../../api/status.ts";
import { monotonicMs } from "../../async/time.ts";
import { causesOf, isDefect } from "../../errors/errors.ts";
import { namesOf } from "../../errors/option_names.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";

/**
 * An informer's state. With several namespaces, `status()` reports the last one in this order:
 *
 * - `idle`: it has not been started.
 * - `live`: a watch is open, and the cache is up to date.
 * - `paused`: you paused it. It sends no requests, and the cache may be old.
 * - `listing`: it lists the collection for the first time.
 * - `stale`: no watch is open at the moment. You can still read the cache, but it may be old.
 * - `unreachable`, `notFound`, `forbidden`, `unauthorized`: like `stale`, because the server does not respond, or
 *   refuses for this reason. The informer keeps trying.
 * - `stopped`: it was stopped, or failed permanently. You can still read the cache. After a stop by its signal, you can
 *   run it again.
 */
export type InformerState =
  | "idle"
  | "live"
  | "paused"
  | "listing"
  | "stale"
  | "unreachable"
  | "notFound"
  | "forbidden"
  | "unauthorized"
  | "stopped";

/** The states, the best first. */
const STATES = namesOf<Record<InformerState, unknown>>()(
  "idle live paused listing stale unreachable notFound forbidden unauthorized stopped",
);

/** The current status of one namespace in an informer. */
export interface NamespaceStatus {
  /** The namespace's name. */
  readonly namespace: string;
  /** The state. */
  readonly state: InformerState;
  /** When the namespace entered this state. */
  readonly since: Date;
  /** The error that led to the state, if there is one. */
  readonly cause?: unknown;
  /** The version up to which the cache has everything in this namespace, and `""` before its first list. */
  readonly resourceVersion: string;
  /** The number of cached objects in this namespace. */
  readonly objects: number;
}

/** Keeps an informer state: derived from the phases of one reflector, or the worst of several states. */
export class StateKeeper {
  /** The present state. */
  state: InformerState = "idle";
  /** The time of the last change of `state`. */
  since: Date = new Date();
  /** The same as `since`, on the monotonic clock. */
  #sinceMs = monotonicMs();
  /** The error that led to `state`; `undefined` while live. */
  cause: unknown;
  /** The time at which it ceased to be live: `undefined` if and only if `state` is `live` or was never set. */
  notLiveSince: Date | undefined;
  /** The time of the next request: defined if and only if the reflector, or one of several, waits for it. */
  retryAt: Date | undefined;

  /** The time for which it has been in that state, in milliseconds. */
  get stateMs(): number {
    return monotonicMs() - this.#sinceMs;
  }

  /** The error, if requests will be refused until somebody changes the configuration, the data or the permissions. */
  get refusal(): unknown {
    return this.state !== "stopped" && isRefusal(this.cause) ? this.cause : undefined;
  }

  /** Applies a phase that the reflector has entered. Returns `true` if state or cause changed. */
  entered(phase: ReflectorPhase, hasSynced: boolean): boolean {
    const state = this.state;
    const cause = this.cause;
    this.#enter(phase, hasSynced);
    return state !== this.state || cause !== this.cause;
  }

  /** Adopts the worst of several states, the first of equals, and its cause. */
  follow(others: readonly StateKeeper[]): void {
    const worst = worstOf(others);
    this.#set(worst.state, worst.cause);
    const retries = others.flatMap(({ retryAt }) => retryAt ?? []);
    this.retryAt = retries.reduce((a, b) => b < a ? b : a, retries[0]);
  }

  /** Enters the state `paused`, if it has been started and has not stopped. */
  paused(): void {
    if (this.state === "idle" || this.state === "stopped") return;
    this.#set("paused", undefined);
    this.retryAt = undefined;
  }

  /** Enters the state `stale`: the cache is that of `at`, in milliseconds since 1970. */
  restored(at: number): void {
    this.#set("stale", undefined);
    this.notLiveSince = new Date(at);
  }

  /** Leaves the state `paused`, before the reflector enters its next phase. */
  resumed(hasSynced: boolean): void {
    if (this.state === "paused") this.#set(hasSynced ? "stale" : "listing", undefined);
  }

  /** Enters the state `stopped`. Without `cause` the last one stays. */
  stopped(cause?: unknown): void {
    this.#set("stopped", cause ?? this.cause);
    this.retryAt = undefined;
  }

  #enter(phase: ReflectorPhase, hasSynced: boolean): void {
    const isTimed = phase.name === "waiting" && !(phase.error instanceof MemoryLimitError);
    this.retryAt = isTimed ? new Date(Date.now() + phase.delayMs) : undefined;
    switch (phase.name) {
      case "listing":
        // A retry keeps the state and cause of the failure before it.
        if (this.cause === undefined) this.#set(hasSynced ? "stale" : "listing", undefined);
        return;
      case "watching":
        if (phase.open) this.#set("live", undefined);
        else this.resumed(hasSynced);
        return;
      case "paused":
        this.#set("paused", undefined);
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
    if (state !== this.state) {
      this.since = new Date();
      this.#sinceMs = monotonicMs();
    }
    if (state === "live") this.notLiveSince = undefined;
    else this.notLiveSince ??= new Date();
    this.state = state;
    this.cause = cause;
  }
}

/** Returns the one whose state is the worst, the first of equals. @throws {TypeError} when there is none. */
export function worstOf(states: readonly StateKeeper[]): StateKeeper {
  return states.reduce((a, b) => STATES.indexOf(b.state) > STATES.indexOf(a.state) ? b : a);
}

/**
 * Returns `true` for answers 400, 401, 403 and 404, for missing credentials, for a missing permission of the runtime,
 * for caches that hold more than they may, for kinds without versions, and for defects of the program.
 */
function isRefusal(error: unknown): boolean {
  if (isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  if (error instanceof CredentialsError || error instanceof MemoryLimitError) return true;
  if (error instanceof UnversionedError || isDefect(error)) return true;
  if (error instanceof StatusError) return error.status.code === 400;
  return causesOf(error).some((cause) => cause instanceof Error && cause.name === "NotCapable");
}

function stateOf(error: unknown, hasSynced: boolean): InformerState {
  if (isUnauthorized(error) || error instanceof CredentialsError) return "unauthorized";
  if (isForbidden(error)) return "forbidden";
  if (isNotFound(error)) return "notFound";
  if (error instanceof UnreachableError) return "unreachable";
  return hasSynced ? "stale" : "listing";
}
