/**
 * The keys for which one process in a group may call its reconciler.
 *
 * {@linkcode ShardedKeys} is the entry point. It decides when a key comes up, not when an event arrives, so retries and
 * mapped events pass the same place. Keys in ranges that are still coming wait with their triggers. `shard_group.ts`
 * decides which process has which range.
 *
 * @module
 */
import { type KubernetesObject, type ObjectKey, splitKey } from "../../../engine/api/object.ts";
import { commonRanges, type HashRange, rangesWithout, ShardFilter } from "../../../engine/api/shard.ts";
import { abortReason, DerivedController, isAbortOf, withResolvers } from "../../../engine/async/signals.ts";
import { endsWithin } from "../../../engine/async/time.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { type TriggerList, withTriggers } from "../../../engine/workqueue/triggers.ts";
import type { ReconcileCall } from "./calls.ts";
import type { KeySources } from "./key_sources.ts";
import type { ShardGroup } from "./shard_group.ts";

/** A reconciler, as its shards see it. */
interface Sharded {
  /** Its name in messages. */
  readonly name: string;
  /** The kinds whose caches its calls read. */
  readonly sources: KeySources;
  /** See `ReconcilerOptions.graceMs`. */
  readonly graceMs: number;
  /** Returns the uid of the cached object of a key. */
  uidOf(key: ObjectKey): string | undefined;
  /** Adds a key again, with the triggers of its next reconcile. */
  add(key: ObjectKey, triggers: TriggerList): void;
  /** Receives errors about a key. */
  report(error: unknown, key: ObjectKey): void;
}

/** A call of a reconcile, as its shards see it. */
type Call = Pick<ReconcileCall<KubernetesObject>, "key" | "signal" | "abort" | "endRequests">;

/** A call that has not returned, and may write. */
interface RunningCall {
  /** The text whose hash decides which process reconciles the key. */
  readonly text: string;
  readonly ended: PromiseWithResolvers<void>;
  /** Set when the range of the call moves, with the reason. */
  moved?: DOMException;
}

/** Ranges that were taken, and whose objects are being listed. */
interface Coming {
  readonly ranges: readonly HashRange[];
  readonly job: DerivedController;
}

/**
 * The keys that a reconciler may call for, when a group's processes divide the objects.
 *
 * - By namespace, a key belongs to the process that holds its namespace's hash, even without an object. By uid, it
 *   belongs to the process whose cache has its object. A deleted object stays there until a call for it has succeeded.
 * - A range is ready when it is held, and every cache of the reconciler has caught up with the server since it was
 *   taken. Keys in held ranges that are not ready wait.
 * - A range that is given away waits for its calls, whose signals abort. After `graceMs` their requests end. In lost
 *   ranges, requests end immediately.
 */
export class ShardedKeys implements Disposable {
  readonly #group: ShardGroup;
  readonly #reconciler: Sharded;
  readonly #ready: ShardFilter;
  readonly #held: ShardFilter;
  /** The ranges of the group at the last look: another array after each change. */
  #seen: readonly HashRange[] = [];
  #coming: readonly Coming[] = [];
  readonly #running = new Map<Call, RunningCall>();
  /** By uid: the deleted objects of this process by their keys, until a call for the deletion has succeeded. */
  readonly #deleted = new Map<ObjectKey, string>();
  /** The keys that wait for their ranges, with the triggers of their next reconcile. */
  readonly #waiting = new Map<ObjectKey, TriggerList>();
  readonly #job = new DerivedController();
  #subscriptions: readonly Disposable[] = [];

  /** Knows no range before {@linkcode start}. */
  constructor(group: ShardGroup, reconciler: Sharded) {
    this.#group = group;
    this.#reconciler = reconciler;
    this.#ready = new ShardFilter(group.by, []);
    this.#held = new ShardFilter(group.by, []);
  }

  /** True while keys wait for their ranges. */
  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Follows the ranges of the group. The informers have synced. */
  start(): void {
    const changed = (): void => {
      this.look();
      this.#endLost(); // what is being released may be lost, too
    };
    this.#subscriptions = [this.#group.onChange(changed), this.#group.onRelease((range) => this.#release(range))];
    this.look();
  }

  /**
   * Returns true if a key may be called for now. If its range is not ready, the key is added again later. Other keys
   * are left to other processes.
   */
  admits(key: ObjectKey, triggers: TriggerList): boolean {
    this.look();
    const text = this.#textOf(key);
    if (text === undefined || !this.#held.hasText(text)) return false;
    if (this.#ready.hasText(text)) return true;
    this.#waiting.set(key, withTriggers(this.#waiting.get(key), triggers));
    return false;
  }

  /** An object of the reconciled kind was deleted. */
  deleted(key: ObjectKey, uid: string): void {
    if (this.#group.by === "uid") this.#deleted.set(key, uid);
  }

  /** An object of the reconciled kind exists, or moved to another process. */
  present(key: ObjectKey): void {
    this.#deleted.delete(key);
  }

  /** A call for a key that was admitted begins. */
  begin(call: Call): void {
    this.#running.set(call, { text: this.#textOf(call.key)!, ended: withResolvers() });
  }

  /** Returns true if a call's range has moved since the call began. Reports an error that has another reason. */
  hasMoved(call: Call, thrown: unknown): boolean {
    const moved = this.#running.get(call)?.moved;
    if (moved === undefined) return false;
    if (!isAbortOf(call.signal, thrown)) this.#reconciler.report(thrown, call.key);
    return true;
  }

  /** A call has succeeded, and need not run again. */
  succeeded(call: Call): void {
    if (this.#deleted.get(call.key) === this.#running.get(call)?.text) this.#deleted.delete(call.key);
  }

  /** A call has returned, or can no longer write. */
  end(call: Call): void {
    this.#running.get(call)?.ended.resolve();
    this.#running.delete(call);
  }

  /** Follows no ranges any longer. */
  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    this.#job.abort(over());
  }

  /** The text to hash for a key, or `undefined` if the key belongs to no known process. */
  #textOf(key: ObjectKey): string | undefined {
    if (this.#group.by === "namespace") return splitKey(key).namespace ?? "";
    return this.#reconciler.uidOf(key) ?? this.#deleted.get(key);
  }

  /** Compares the ranges of the group with its ranges at the last look. Ends the requests of calls in lost ranges. */
  look(): void {
    const held = this.#group.ranges();
    if (held === this.#seen) return;
    this.#seen = held;
    this.#held.ranges = held;
    this.#ready.ranges = commonRanges(this.#ready.ranges, held);
    for (const [key, uid] of this.#deleted) if (!this.#held.hasText(uid)) this.#deleted.delete(key);
    this.#prepare(held);
    this.#addWaiting();
    this.#endLost();
  }

  /** Ends the requests of calls whose ranges another process may hold: they must not write any more. */
  #endLost(): void {
    const releasing = new ShardFilter(this.#group.by, this.#group.releasing());
    for (const [call, running] of this.#running) {
      if (this.#held.hasText(running.text) || releasing.hasText(running.text)) continue;
      running.moved ??= movedOf(call.key);
      call.endRequests(running.moved);
    }
  }

  /** Begins to list ranges that have come, and stops listing ranges that went. */
  #prepare(held: readonly HashRange[]): void {
    const kept = this.#coming.filter(({ ranges }) => rangesWithout(ranges, held).length === 0);
    for (const coming of this.#coming) if (!kept.includes(coming)) coming.job.abort(over());
    const known = [...this.#ready.ranges, ...kept.flatMap(({ ranges }) => ranges)];
    const ranges = rangesWithout(held, known);
    this.#coming = kept;
    if (ranges.length === 0) return;
    const coming = { ranges, job: new DerivedController(this.#job.signal) };
    this.#coming = [...kept, coming];
    void this.#list(coming);
  }

  /** Makes ranges ready when every cache has their objects, unless they are given away before. */
  async #list(coming: Coming): Promise<void> {
    using job = coming.job;
    const { ranges } = coming;
    try {
      await Promise.all(
        Array.from(
          this.#reconciler.sources,
          ({ informer: { [internals]: { sync, checks } }, isSharded }) =>
            isSharded ? sync.holding(ranges, job.signal) : checks.untilChecked(job.signal),
        ),
      );
    } catch (error) {
      if (isAbortOf(job.signal, error)) return;
      throw error;
    }
    if (job.signal.aborted) return;
    this.#coming = this.#coming.filter((it) => it !== coming);
    this.#ready.ranges = [...this.#ready.ranges, ...ranges];
    this.#addWaiting();
  }

  /** Adds the keys that have waited for ranges. If a range is still not ready, its keys wait again. */
  #addWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [key, triggers] of waiting) this.#reconciler.add(key, triggers);
  }

  /** Resolves when no call of a range that is given away can write. */
  async #release(range: HashRange): Promise<void> {
    this.look();
    const filter = new ShardFilter(this.#group.by, [range]);
    const calls = [...this.#running].filter(([, { text }]) => filter.hasText(text));
    if (calls.length === 0) return;
    for (const [call, running] of calls) call.abort(running.moved = movedOf(call.key));
    await endsWithin(this.#reconciler.graceMs, Promise.all(calls.map(([, { ended }]) => ended.promise)));
    for (const [call, { moved }] of calls.filter(([call]) => this.#running.has(call))) {
      const { name, graceMs } = this.#reconciler;
      call.endRequests(moved);
      const error = new Error(
        `The reconcile of "${call.key}" has not returned ${graceMs} ms after its range moved, so "${name}" gives the ` +
          `range away and aborts the requests of the call`,
      );
      this.#reconciler.report(error, call.key);
    }
  }
}

const over = abortReason("The ranges are not followed any longer");

function movedOf(key: ObjectKey): DOMException {
  return new DOMException(`Another process holds the range of "${key}"`, "AbortError");
}
