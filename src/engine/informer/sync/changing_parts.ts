/**
 * The parts of an informer, which run, come and go.
 *
 * {@linkcode ChangingParts} is the entry point: it begins the lists and watches, and exchanges parts in one turn, so
 * that the cache shows the objects of the parts before or of those after. It does not decide which parts are
 * wanted.
 *
 * @module
 */
import type { Selection } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import { type KubernetesObject, splitKey } from "../../api/object.ts";
import { isOlder } from "../../api/status.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { LongTimer } from "../../async/time.ts";
import type { PartSync } from "./part_sync.ts";

/** The time until a list that is older than the cache is repeated, in milliseconds. */
const LATE_MS = 2_000;

/** Ends the waits of a part that is no longer followed; they begin again with those that are. */
export class PartLeft extends Error {}

/** Runs the parts of a collection, and exchanges them. */
export class ChangingParts<T extends KubernetesObject> {
  readonly #sync: ChangingCollection<T>;
  /** Has the parts that have begun and are followed, or are staged. */
  readonly #jobs = new Map<PartSync<T>, DerivedController>();
  /** The ends of the parts that have begun and not ended. */
  readonly #ends = new Set<Promise<void>>();
  /** Set by {@linkcode start}. */
  #run: { readonly signal: AbortSignal; readonly failed: (error: unknown) => void } | undefined;
  /** Ends the change whose lists are staged: it rejects with the error. */
  undo: ((error: Error) => void) | undefined;
  /** The parts that are staged. */
  staging: readonly PartSync<T>[] = [];
  /** `true` if parts that begin are paused. */
  isPaused = false;

  /** Begins nothing before {@linkcode start}. */
  constructor(sync: ChangingCollection<T>) {
    this.#sync = sync;
  }

  /** Begins parts, now and when they come; they end with the signal. `failed` receives an error that ends one. */
  start(parts: readonly PartSync<T>[], signal: AbortSignal, failed: (error: unknown) => void): void {
    this.#run = { signal, failed };
    this.#jobs.clear(); // of a run that has ended
    for (const part of parts) this.#begin(part);
  }

  /** Resolves once all parts have ended. */
  async ended(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends);
  }

  /**
   * Follows the parts of `wanted` from now on. Parts that stay are not touched. A new part resumes the watch of a part
   * that leaves and has its objects, or it lists. With `settle`, lists are staged, and committed together once none is
   * older than the cache. It is called once: with `true` in the turn of the exchange, before it, or with `false`.
   *
   * Rejects with the reason of the signal, or the error of {@linkcode undo}; then nothing has changed.
   */
  async change(wanted: readonly Selection[], settle?: (isDone: boolean) => void, signal?: AbortSignal): Promise<void> {
    const { parts, sharesVersions, make } = this.#sync;
    const places = wanted.map(({ namespace = "" }) => namespace);
    const { selection: before = {} } = parts[0].source;
    const isOther = (["labelSelector", "fieldSelector"] as const).some((it) => before[it] !== wanted[0][it]);
    const stays = (part: PartSync<T>): boolean =>
      !isOther && places.includes(part.place) && (places.length === 1 || part.namespace !== undefined);
    const leaving = parts.filter((part) => !stays(part));
    /** The version at which a part that leaves has all objects of a place. */
    const versionOf = (place: string): string => {
      const from = leaving.find((part) => part.place === "" || part.place === place);
      return isOther || !sharesVersions ? "" : from?.gate.version ?? "";
    };
    const next = wanted.map((selection, i) => {
      const isStaged = settle !== undefined && this.#run !== undefined && versionOf(places[i]) === "";
      return parts.find((part) => part.place === places[i] && stays(part)) ??
        make(selection, places.length > 1 || settle === undefined, isStaged ? () => progress() : undefined);
    });
    const coming = next.filter((part) => !parts.includes(part));
    const staging = this.staging = coming.filter(({ staged }) => staged !== undefined);
    const behind = (): PartSync<T>[] =>
      staging.filter(({ place, staged }) =>
        leaving.some(({ place: other, gate }) =>
          (place === other || place === "" || other === "") && isOlder(staged!.version!, gate.version)
        )
      );
    const done = new Latch();
    using timer = new LongTimer(() => {
      for (const part of behind()) part.relist(new Error("the list of the new scope is older than the cache"));
    });
    const over = (isDone: boolean): void => {
      this.undo = undefined;
      this.staging = [];
      settle?.(isDone);
    };
    const undo = this.undo = (error: Error): void => {
      over(false);
      for (const part of coming) this.#end(part, error);
      done.fail(error);
    };
    const progress = (): void => {
      if (this.undo !== undo || staging.some(({ staged }) => staged!.version === undefined)) return;
      if (behind().length > 0) return timer.isArmed ? undefined : timer.arm(LATE_MS);
      over(true);
      const taken = this.#take(leaving, coming.map((part) => part.place), settle && "scope");
      for (const part of coming) part.join(taken.get(part.place) ?? [], versionOf(part.place), isOther);
      this.#sync.replace(next);
      for (const part of next) this.#begin(part);
      done.open();
    };
    for (const part of staging) this.#begin(part);
    progress();
    try {
      await done.wait({ signal });
    } catch (error) {
      if (this.undo === undo) undo(error as Error);
      if (!done.isOpen) throw error; // else it was exchanged just before the signal aborted
    }
  }

  /** Ends parts, and returns what they have cached of `places`, or nothing for all; the rest is removed. */
  #take(leaving: readonly PartSync<T>[], places: readonly string[], reason?: "scope"): Map<string, CacheEntry<T>[]> {
    // What they have read and not written is above their versions, and is read again.
    for (const part of leaving) this.#end(part, new PartLeft(`it no longer follows "${part.place}"`));
    const cached = Map.groupBy(
      places.includes("") ? [] : leaving.flatMap((part) => part.known.list()),
      (entry) => splitKey(leaving[0].serverKeyOf(entry)).namespace ?? "",
    );
    for (const [place, entries] of cached) {
      if (!places.includes(place)) { for (const entry of entries) leaving[0].moved(entry, reason); }
    }
    return cached;
  }

  #begin(part: PartSync<T>): void {
    if (this.#run === undefined || this.#jobs.has(part)) return;
    const { signal, failed } = this.#run;
    const job = new DerivedController(signal);
    if (this.isPaused) part.pause();
    this.#jobs.set(part, job);
    const ended = part.run(job).catch(failed).finally(() => {
      job.release();
      this.#ends.delete(ended);
    });
    this.#ends.add(ended);
  }

  #end(part: PartSync<T>, error: Error): void {
    this.#jobs.get(part)?.abort();
    this.#jobs.delete(part);
    part.end(error);
  }
}

/** The collection whose parts change. */
interface ChangingCollection<T extends KubernetesObject> {
  readonly parts: readonly PartSync<T>[];
  readonly sharesVersions: boolean;
  readonly make: (selection: Selection, isShared: boolean, onProgress?: () => void) => PartSync<T>;
  replace(parts: readonly PartSync<T>[]): void;
}
