/**
 * The last changes of a collection with their versions, by which replicas continue each other's streams.
 *
 * {@linkcode ChangeLog} is the entry point. The log is complete while a watch brings the
 * changes in order; it begins again after a list, which may hide changes.
 *
 * @module
 */
import { lowerBound } from "../../engine/api/lower_bound.ts";
import type { KubernetesObject } from "../../engine/api/object.ts";
import { compareResourceVersions, isOlder, isResourceVersion } from "../../engine/api/status.ts";
import { timedController } from "../../engine/async/time.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import { type DeletedEvent, isWatched, type ObjectEvent } from "../../engine/informer/events/event.ts";
import type { ByteBudget, Evictable } from "./budget.ts";

/** A change of a collection, as a watch of the server has sent it. */
export interface LoggedChange {
  /** The version that the collection had after it. */
  readonly version: string;
  /** The number of bytes as which it counts. */
  readonly bytes: number;
}

/** Returns `true` for the event of a change that a watch has sent. */
export function isSeen(event: ObjectEvent<KubernetesObject>): boolean {
  const { finalStateUnknown = false, reason } = event as Partial<DeletedEvent<KubernetesObject>>;
  return isWatched(event as never) && !finalStateUnknown && reason === undefined;
}

/** The bytes of a change, in addition to the texts of its states. */
const CHANGE_BYTES = 200;

/** The bytes of a state that came as something else than text. */
export const UNKNOWN_BYTES = 2_048;

/** Returns the number of bytes as which a change counts, by the states before and after it. */
export function changeBytes(...states: readonly ({ readonly textBytes?: number } | undefined)[]): number {
  return states.reduce(
    (sum, state) => sum + (state === undefined ? 0 : state.textBytes ?? UNKNOWN_BYTES),
    CHANGE_BYTES,
  );
}

/** The last changes of a collection, in the order of their versions, each with a number that rises by 1. */
export class NumberedChanges<C extends LoggedChange> {
  readonly #changes: C[] = [];
  #bytes = 0;
  #base: string;
  /** The number of the first change. */
  #first = 0;

  /** No changes yet; they follow the version `base`. */
  constructor(base: string) {
    this.#base = base;
  }

  /** The oldest version after which everything can be read. */
  get base(): string {
    return this.#base;
  }

  /** The number of bytes of its changes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the first change. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next change gets. */
  get end(): number {
    return this.#first + this.#changes.length;
  }

  /** Returns the change with a number; `undefined` after the last one. */
  at(number: number): C | undefined {
    return this.#changes[number - this.#first];
  }

  /** Yields the changes before a number, from the last one back. */
  *before(number: number): Generator<C> {
    for (let at = number - this.#first - 1; at >= 0; at--) yield this.#changes[at];
  }

  /** Adds a change, whose version is newer than the last one's. */
  push(change: C): void {
    this.#changes.push(change);
    this.#bytes += change.bytes;
  }

  /** Drops the oldest eighth of the changes, at least one, and returns the newest dropped change. */
  drop(): C {
    const dropped = this.#changes.splice(0, Math.ceil(this.#changes.length / 8));
    const last = dropped.at(-1)!;
    this.#first += dropped.length;
    this.#base = last.version;
    for (const { bytes } of dropped) this.#bytes -= bytes;
    return last;
  }

  /** Returns the number of the first change after a version, which is not older than {@linkcode base}. */
  after(version: string): number {
    const changes = this.#changes;
    return this.#first +
      lowerBound(changes.length, (at) => compareResourceVersions(changes[at].version, version) <= 0);
  }
}

/** The longest wait for a version that the cache has not reached, in milliseconds, as in kube-apiserver. */
export const REACH_MS = 3_000;

/** The versions of a state. */
export interface VersionRange {
  /** The version of its last change, or a newer version. */
  readonly first: string;
  /** The last version up to which nothing has changed since the first; `""` if the first may be a later one. */
  readonly last: string;
}

/** The owner of a log, which it asks and notifies. */
interface LogOwner<C> {
  /** Passes on all changes so far, and settles the log. */
  readonly flush: () => void;
  /** Called when the log has begun at a version: nothing before it is known. */
  readonly onBegin: () => void;
  /** Called with the last change that was dropped, as others need the bytes. */
  readonly onDrop?: (last: C) => void;
}

/**
 * The changes that an informer has received, with their versions, as long as none can be missing.
 *
 * A list may hide changes, because it shows only the newest state. So after a list, or any event that a watch did not
 * send in order, the log forgets its changes. It begins again at the next version that is known.
 */
export class ChangeLog<C extends LoggedChange> implements Evictable, Disposable {
  readonly #held: AcquiredInformer<KubernetesObject>;
  readonly #namespace: string | undefined;
  readonly #budget: ByteBudget;
  readonly #owner: LogOwner<C>;
  #ring = new NumberedChanges<C>("0");
  /** The changes after `#version`; `undefined` is a change that no watch has sent. */
  #batch: (C | undefined)[] = [];
  /** The version that the ring has reached. */
  #version = "";
  /** The version of the cache, which may have changes that were not added yet. */
  #cached = "";
  /** The number of completed lists of the informer when the ring began. */
  #lists = 0;
  /** `true` before the first version, and from a change that was not seen to the next version that is known. */
  #isBroken = true;

  /** A log of the informer of `held`, or of one of its namespaces. */
  constructor(held: AcquiredInformer<KubernetesObject>, budget: ByteBudget, owner: LogOwner<C>, namespace?: string) {
    this.#held = held;
    this.#budget = budget;
    this.#owner = owner;
    this.#namespace = namespace;
  }

  /** The last changes. */
  get ring(): NumberedChanges<C> {
    return this.#ring;
  }

  /** The number of bytes of the changes. */
  get bytes(): number {
    return this.#ring.bytes;
  }

  /** The version up to which it has all changes; `""` while that is not known. */
  get version(): string {
    return this.#isBroken ? "" : this.#version;
  }

  /** The version that was reached last. */
  get reached(): string {
    return this.#version;
  }

  /** The versions of the present state. */
  get range(): VersionRange {
    const { ring } = this;
    if (this.#isBroken) return this.bound;
    return { first: ring.at(ring.end - 1)?.version ?? ring.base, last: this.#version };
  }

  /** A version that no state so far is newer than; `""` before the first one. */
  get bound(): VersionRange {
    const isBehind = this.#version === "" || isOlder(this.#version, this.#cached);
    return { first: isBehind ? this.#cached : this.#version, last: "" };
  }

  /** Returns `true` if all changes up to a version have been received. */
  has(version: string): boolean {
    return this.version !== "" && !isOlder(this.#version, version);
  }

  /** Returns the number of the first change after a state; `undefined` if the later changes are not known. */
  after({ first, last }: VersionRange): number | undefined {
    if (last === "" || !this.has(first) || isOlder(last, this.#ring.base)) return undefined;
    return this.#ring.after(isOlder(this.#version, last) ? this.#version : last);
  }

  /** Adds the next change; `undefined` is a change that no watch has sent. */
  add(change: C | undefined): void {
    this.#batch.push(change);
  }

  /**
   * Takes over the changes that were added, and returns `true` if there were any.
   *
   * @param version The version of the cache.
   * @param lists The number of completed lists of the informer.
   * @param isComplete `true` if all changes up to the version were added.
   */
  settle(version: string, lists: number, isComplete: boolean): boolean {
    const batch = this.#batch;
    if (isResourceVersion(version)) this.#cached = version;
    this.#batch = [];
    if (lists !== this.#lists) this.#isBroken = true;
    for (const change of batch) {
      if (change === undefined || !isOlder(this.#version, change.version)) this.#isBroken = true;
      if (this.#isBroken) continue;
      this.#version = change!.version;
      this.#ring.push(change!);
      this.#budget.keep(this, change!.bytes);
    }
    if (isComplete && isResourceVersion(version)) {
      this.#version = version;
      if (this.#isBroken) this.#begin(lists);
    }
    return batch.length > 0;
  }

  /** Waits until all changes up to a version were received, `"0"` for any, for 3 s; returns whether they were. */
  async reach(version: string, signal: AbortSignal): Promise<boolean> {
    const isThere = (): boolean => {
      this.#owner.flush();
      return this.has(version);
    };
    if (isThere()) return true;
    using wait = timedController(REACH_MS, "The cache lags behind the API server", signal, this.#held.signal);
    try {
      await this.#held.informer.waitForVersion(version, { signal: wait.signal, namespace: this.#namespace });
    } catch {
      return false; // the wait has ended, or the server's history went back
    }
    while (!wait.signal.aborted && !isThere()) await nextTurn();
    return !wait.signal.aborted;
  }

  /** Drops the oldest changes. */
  shrink(): void {
    const last = this.#ring.drop();
    this.#owner.onDrop?.(last);
  }

  /** Keeps no changes any more. */
  [Symbol.dispose](): void {
    this.#budget.drop(this);
  }

  #begin(lists: number): void {
    this.#budget.drop(this);
    this.#ring = new NumberedChanges<C>(this.#version);
    this.#lists = lists;
    this.#isBroken = false;
    this.#owner.onBegin();
  }
}
