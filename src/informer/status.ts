import { CredentialsError, isForbidden, isNotFound, isUnauthorized, UnreachableError } from "../api/errors.ts";
import type { ReflectorPhase } from "../reflector/phase.ts";
import type { ReflectorCounters } from "../reflector/reflector.ts";
import type { HandlerStatus } from "./processor.ts";

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

/** What is true of an informer right now. */
export interface InformerStatus {
  /** How it is doing; of several namespaces, the one that is doing worst: the latest in the order of `InformerState`. */
  readonly state: InformerState;
  /** Since when it is in that state. */
  readonly since: Date;
  /** Why, when something is wrong. */
  readonly cause?: unknown;
  /** Since when it is not `live`; none while it is, or before it was started. */
  readonly notLiveSince?: Date;
  /** When it next asks the server, while it waits for that. Of several namespaces, the first to ask. */
  readonly retryAt?: Date;
  /** The version up to which the cache has everything; `""` before the first list. Of several namespaces, the oldest. */
  readonly resourceVersion: string;
  /** How each namespace is doing, when it follows several. */
  readonly namespaces?: readonly NamespaceStatus[];
  /** How many objects are cached. */
  readonly objects: number;
  /** How far a list under way has come, and how many objects it still has to bring, where the server says. */
  readonly listing?: { readonly objects: number; readonly remaining?: number };
  /** When the server last said anything. */
  readonly lastByteAt?: Date;
  /** When the server last said how far it is. */
  readonly lastBookmarkAt?: Date;
  /** Changes the server has told. */
  readonly events: number;
  /** Lists begun, not counting those that came over a watch. */
  readonly lists: number;
  /** Watches begun, those that bring a list too. */
  readonly watches: number;
  /** Lists begun within the last minute, without the first one. */
  readonly recentRelists: number;
  /** Watches of the last minute that resumed where the one before had ended. */
  readonly recentResumes: number;
  /** When and why the last watch ended, with its error if there was one; none before one has. */
  readonly lastWatchEnd?: { readonly at: Date; readonly reason: string; readonly error?: unknown };
  /** What went wrong so far: failed lists and watches, handlers, filters, index functions, transforms, objects. */
  readonly errors: number;
  /** Cached objects known to be unreadable. */
  readonly quarantined: number;
  /** Changes that were older than what was cached, and were passed over. */
  readonly outdated: number;
  /** Those who are told. */
  readonly handlers: readonly HandlerStatus[];
}

/** What several reflectors have done, as one. */
export function totalOf(
  all: readonly ReflectorCounters[],
): Pick<
  InformerStatus,
  | "listing"
  | "lastByteAt"
  | "lastBookmarkAt"
  | "events"
  | "lists"
  | "watches"
  | "recentRelists"
  | "recentResumes"
  | "lastWatchEnd"
> {
  const sum = (of: (counters: ReflectorCounters) => number): number => all.reduce((total, it) => total + of(it), 0);
  const lastByteAt = Math.max(...all.map((it) => it.lastByteAt));
  const lastBookmarkAt = Math.max(...all.map((it) => it.lastBookmarkAt));
  const ends = all.flatMap(({ lastWatchEnd }) => lastWatchEnd ?? []);
  const lastEnd = ends.reduce((a, b) => b.at > a.at ? b : a, ends[0]);
  const remaining = all.some((it) => it.remaining !== undefined);
  const listing = all.some((it) => it.listed !== undefined) && {
    objects: sum((it) => it.listed ?? 0),
    ...(remaining ? { remaining: sum((it) => it.remaining ?? 0) } : {}),
  };
  return {
    ...(listing ? { listing } : {}),
    ...(lastByteAt === 0 ? {} : { lastByteAt: new Date(lastByteAt) }),
    ...(lastBookmarkAt === 0 ? {} : { lastBookmarkAt: new Date(lastBookmarkAt) }),
    events: sum((it) => it.events),
    lists: sum((it) => it.lists),
    watches: sum((it) => it.watches),
    recentRelists: sum((it) => it.recentRelists),
    recentResumes: sum((it) => it.recentResumes),
    ...(lastEnd === undefined ? {} : { lastWatchEnd: { ...lastEnd, at: new Date(lastEnd.at) } }),
  };
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
