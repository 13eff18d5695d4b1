/**
 * The state of an informer: live, stale, paused and so on, and waits for versions.
 *
 * {@linkcode StateKeeper} is the entry point. It derives the state from phases of reflectors, and decides by
 * `isRefusal` which errors end the wait for a sync. {@linkcode VersionGate} resolves waits for a version.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { IdentitySource, ListerWatcher } from "../../api/lister_watcher.ts";
import { type KubernetesObject, type ObjectKey, splitKey } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import {
  cannotOrder,
  compareResourceVersions,
  CredentialsError,
  isForbidden,
  isNotFound,
  isOlder,
  isResourceVersion,
  isTooLargeResourceVersion,
  isUnauthorized,
  MemoryLimitError,
  StatusError,
  UnreachableError,
} from "../../api/status.ts";
import { ReadAhead } from "../../async/iterate.ts";
import { Latch } from "../../async/signals.ts";
import { backoffMs, monotonicMs, sleep, timedController } from "../../async/time.ts";
import { causesOf } from "../../errors/errors.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";

/**
 * The state of an informer.
 *
 * - `idle`: it has not been started.
 * - `live`: it watches, and the cache is up to date.
 * - `paused`: it was paused, and sends no requests; the cache is the last known state.
 * - `listing`: it lists the collection for the first time.
 * - `stale`: it does not watch at the moment, and the cache is the last known state.
 * - `unreachable`, `notFound`, `forbidden`, `unauthorized`: as `stale`, because the server does not answer, or refuses
 *   for that reason. The informer keeps trying.
 * - `stopped`: it was stopped or has failed permanently. The cache stays readable.
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

const STATES: readonly InformerState[] = [
  "idle",
  "live",
  "paused",
  "listing",
  "stale",
  "unreachable",
  "notFound",
  "forbidden",
  "unauthorized",
  "stopped",
];

/** The present status of one namespace of an informer. */
export interface NamespaceStatus {
  /** The namespace's name. */
  readonly namespace: string;
  /** The state. */
  readonly state: InformerState;
  /** The time at which it entered that state. */
  readonly since: Date;
  /** The error that led to that state, if there is one. */
  readonly cause?: unknown;
  /** The version up to which the cache has every change of the namespace; `""` before its first list. */
  readonly resourceVersion: string;
  /** The number of cached objects. */
  readonly objects: number;
}

/** Keeps an informer state: derived from the phases of one reflector, or the worst of several states. */
export class StateKeeper {
  /** `#state` is the present state. */
  #state: InformerState = "idle";
  /** `#since` is the time of the last change of `#state`. */
  #since = new Date();
  /** The same as `#since`, on the monotonic clock. */
  #sinceMs = monotonicMs();
  /** `#cause` is the error that led to `#state`; `undefined` while live. */
  #cause: unknown;
  /** `#notLiveSince` is `undefined` if and only if `#state` is `live` or was never set. */
  #notLiveSince: Date | undefined;
  /** `#retryAt` is defined if and only if the reflector, or one of several, waits: the time of its next request. */
  #retryAt: Date | undefined;

  /** The present state. */
  get state(): InformerState {
    return this.#state;
  }

  /** The time at which it entered that state. */
  get since(): Date {
    return this.#since;
  }

  /** The time for which it has been in that state, in milliseconds. */
  get stateMs(): number {
    return monotonicMs() - this.#sinceMs;
  }

  /** The error that led to that state, if there is one. */
  get cause(): unknown {
    return this.#cause;
  }

  /** The time at which it ceased to be live; `undefined` while live. */
  get notLiveSince(): Date | undefined {
    return this.#notLiveSince;
  }

  /** The time of the next request, while the reflector waits for it and knows it. */
  get retryAt(): Date | undefined {
    return this.#retryAt;
  }

  /** The error, if requests will be refused until somebody changes the configuration, the data or the permissions. */
  get refusal(): unknown {
    return this.#state !== "stopped" && isRefusal(this.#cause) ? this.#cause : undefined;
  }

  /** Applies a phase that the reflector has entered. Returns `true` if state or cause changed. */
  entered(phase: ReflectorPhase, hasSynced: boolean): boolean {
    const state = this.#state;
    const cause = this.#cause;
    this.#enter(phase, hasSynced);
    return state !== this.#state || cause !== this.#cause;
  }

  /** Adopts the worst of several states, the first of equals, and its cause. */
  follow(others: readonly StateKeeper[]): void {
    const worst = worstOf(others);
    this.#set(worst.#state, worst.#cause);
    const retries = others.flatMap(({ retryAt }) => retryAt ?? []);
    this.#retryAt = retries.reduce((a, b) => b < a ? b : a, retries[0]);
  }

  /** Enters the state `paused`, if it has been started and has not stopped. */
  paused(): void {
    if (this.#state === "idle" || this.#state === "stopped") return;
    this.#set("paused", undefined);
    this.#retryAt = undefined;
  }

  /** Enters the state `stale`: the cache is that of `at`, in milliseconds since 1970. */
  restored(at: number): void {
    this.#set("stale", undefined);
    this.#notLiveSince = new Date(at);
  }

  /** Leaves the state `paused`, before the reflector enters its next phase. */
  resumed(hasSynced: boolean): void {
    if (this.#state === "paused") this.#set(hasSynced ? "stale" : "listing", undefined);
  }

  /** Enters the state `stopped`. Without `cause` the last one stays. */
  stopped(cause?: unknown): void {
    this.#set("stopped", cause ?? this.#cause);
    this.#retryAt = undefined;
  }

  #enter(phase: ReflectorPhase, hasSynced: boolean): void {
    const isTimed = phase.name === "waiting" && !(phase.error instanceof MemoryLimitError);
    this.#retryAt = isTimed ? new Date(Date.now() + phase.delayMs) : undefined;
    switch (phase.name) {
      case "listing":
        // A retry keeps the state and cause of the failure before it.
        if (this.#cause === undefined) this.#set(hasSynced ? "stale" : "listing", undefined);
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
    if (state !== this.#state) {
      this.#since = new Date();
      this.#sinceMs = monotonicMs();
    }
    if (state === "live") this.#notLiveSince = undefined;
    else this.#notLiveSince ??= new Date();
    this.#state = state;
    this.#cause = cause;
  }
}

/** Returns the one whose state is the worst, the first of equals. @throws {TypeError} when there is none. */
export function worstOf(states: readonly StateKeeper[]): StateKeeper {
  return states.reduce((a, b) => STATES.indexOf(b.state) > STATES.indexOf(a.state) ? b : a);
}

/** Resolves waits for a resource version once the store has reached it. */
export class VersionGate {
  /** `#version` is the version last passed to {@linkcode reached}. */
  #version = "";
  /** `#over` is `undefined` if and only if {@linkcode end} was not called. */
  #over: unknown;
  /** No pending wait is for an older version; `undefined` only if there is none. */
  #nearest: string | undefined;
  /** `#waiting` has a waiter if and only if its wait is pending. */
  readonly #waiting = new Set<{ readonly version: string; readonly latch: Latch }>();

  /** The version up to which the store has every change; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Records that the store has every change up to `version`. If that is older than before, pending waits reject. */
  reached(version: string): void {
    const before = this.#version;
    this.#version = version;
    const back = before !== "" && isOlder(version, before);
    if (this.#nearest === undefined) return;
    if (isResourceVersion(version) && !back && isOlder(version, this.#nearest)) return;
    this.#nearest = undefined;
    for (const { version: awaited, latch } of this.#waiting) {
      if (!isResourceVersion(version)) latch.fail(cannotOrder(version));
      else if (back) {
        latch.fail(new Error(`Cannot wait for version ${awaited}: the server went back from ${before} to ${version}`));
      } else if (!isOlder(version, awaited)) latch.open();
      else this.#await(awaited);
    }
  }

  /**
   * Resolves once the store has `version`.
   *
   * @throws {RangeError} if it or the store's version is not a decimal number.
   */
  async wait(version: string, options: Abortable): Promise<void> {
    if (this.#version === "") compareResourceVersions(version, version);
    else if (compareResourceVersions(this.#version, version) >= 0) return;
    if (this.#over !== undefined) throw this.#over;
    const waiter = { version, latch: new Latch() };
    this.#waiting.add(waiter);
    this.#await(version);
    try {
      await waiter.latch.wait(options);
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  /** Rejects pending and later waits with `error`. */
  end(error: Error): void {
    this.#over = error;
    for (const { latch } of this.#waiting) latch.fail(error);
  }

  #await(version: string): void {
    if (this.#nearest === undefined || isOlder(version, this.#nearest)) this.#nearest = version;
  }
}

/**
 * Returns `true` for answers 400, 401, 403 and 404, for missing credentials, for a missing permission of the runtime,
 * and for caches that hold more than they may.
 */
function isRefusal(error: unknown): boolean {
  if (isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  if (error instanceof CredentialsError || error instanceof MemoryLimitError) return true;
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

/** A part of a cache that was restored from a snapshot. */
interface RestoredPart {
  /** The restored objects. */
  readonly entries: readonly CacheEntry<unknown>[];
  /** The version of the snapshot. */
  readonly version: string;
  /** Returns the key that the server has for an entry. */
  readonly originalKey: (entry: CacheEntry<unknown>) => ObjectKey;
}

/** The longest wait, in milliseconds. A server that has not reached a version says so after 3 s. */
const WAIT_MS = 5_000;

/** The number of newest objects that are asked for: those that expire do so in their order. */
const NEWEST = 3;

/** The number of oldest objects that are asked for then: those that have not changed for long may stay. */
const OLDEST = 2;

/**
 * Returns why restored objects are not known to be those of the server; `undefined` if one of them is, or there are
 * none. A watch from a version that a server has not reached is silent, and one of another history misses changes.
 *
 * The server is asked for one object after the other, by lists of its metadata alone, until it has one: the newest
 * first, as objects that expire do so in their order. One that answers 400 cannot read the version, which is none of
 * its own. Another refusal, a server that cannot be reached, and one that takes longer than 5 s do not answer the
 * question, and count as `undefined`.
 */
export async function snapshotMismatch(
  { entries, version, originalKey }: RestoredPart,
  identities: IdentitySource,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const asked = sampleOf(entries);
  using job = timedController(WAIT_MS, "The server takes too long", signal);
  try {
    for (const entry of asked) {
      const key = originalKey(entry);
      const found = await find(key, version, identities, job.signal);
      if (found?.uid === entry.uid) return undefined;
      if (found !== undefined && (isOlder(found.resourceVersion, version) || found.resourceVersion === version)) {
        return `its "${key}" is another object; was the cluster made anew, or restored from a backup?`;
      }
    }
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) {
      return `it cannot read version ${JSON.stringify(version)}: ${error.status.message}; was the snapshot changed?`;
    }
    if (!isTooLargeResourceVersion(error)) return undefined;
    return `it has not reached version ${version}; was the cluster made anew, or restored from a backup?`;
  }
  if (asked.length === 0) return undefined;
  const keys = asked.map((entry) => `"${originalKey(entry)}"`).join(", ");
  return `it has none of ${keys}; were they deleted, or was the cluster made anew?`;
}

/** Returns the object that the server has of a key, at `version` or later. */
async function find(
  key: ObjectKey,
  version: string,
  identities: IdentitySource,
  signal: AbortSignal,
): Promise<CacheEntry<KubernetesObject> | undefined> {
  const { namespace, name } = splitKey(key);
  const page = new ReadAhead((signal) =>
    identities.listEntries({
      signal,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`,
      resourceVersion: version,
      resourceVersionMatch: "NotOlderThan",
    }), signal);
  let found: CacheEntry<KubernetesObject> | undefined;
  for (let part; (part = await page.next()) !== undefined;) found ??= part.entries.find((entry) => entry.key === key);
  return found;
}

/** Returns the newest entries, and then the oldest. */
function sampleOf(entries: readonly CacheEntry<unknown>[]): readonly CacheEntry<unknown>[] {
  const newest = firstOf(entries, NEWEST, (a, b) => isOlder(b.resourceVersion, a.resourceVersion));
  const oldest = firstOf(entries, OLDEST, (a, b) => isOlder(a.resourceVersion, b.resourceVersion));
  return [...new Set([...newest, ...oldest])];
}

/** Returns the first `count` entries in the order of `isBefore`. */
function firstOf(
  entries: readonly CacheEntry<unknown>[],
  count: number,
  isBefore: (a: CacheEntry<unknown>, b: CacheEntry<unknown>) => boolean,
): CacheEntry<unknown>[] {
  const first: CacheEntry<unknown>[] = [];
  for (const entry of entries) {
    const place = first.findIndex((other) => isBefore(entry, other));
    first.splice(place === -1 ? first.length : place, 0, entry);
    first.length = Math.min(first.length, count);
  }
  return first;
}

/** A part of a cache that follows its server. */
interface FollowingPart {
  readonly source: ListerWatcher<unknown>;
  /** The version reached, and the waits for one. */
  readonly gate: { wait(version: string, options: { readonly signal: AbortSignal }): Promise<void> };
  /** Resolves after the first list or restore. */
  waitForSync(options: { readonly patient: boolean; readonly signal: AbortSignal }): Promise<void>;
}

/**
 * Resolves once a part has reached the version that its server had after the call. Requests that fail are reported, and
 * sent again; so is one whose version a server that went back does not reach.
 */
export async function reachNewest(
  part: FollowingPart,
  signal: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  const { source, gate } = part;
  for (let failures = 0;; failures++) {
    try {
      const page = new ReadAhead((signal) => (source.identities ?? source).listEntries({ limit: 1, signal }), signal);
      let version = "";
      for (let list; (list = await page.next()) !== undefined;) version ||= list.resourceVersion ?? "";
      await part.waitForSync({ patient: true, signal });
      if (isResourceVersion(version)) await gate.wait(version, { signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      report(error);
    }
    await sleep(backoffMs(failures, {}), { signal });
  }
}
