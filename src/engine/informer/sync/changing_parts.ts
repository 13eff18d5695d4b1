/**
 * The parts of an informer, which run, come and go.
 *
 * {@linkcode ChangingParts} is the entry point: it begins the lists and watches, and exchanges parts in one turn, so
 * that the cache shows the objects of the parts before or of those after. It does not decide which parts are wanted.
 *
 * @module
 */
import type { Selection } from "../../api/call_options.ts";
import { type KubernetesObject, splitKey } from "../../api/object.ts";
import { isOlder } from "../../api/status.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { LongTimer } from "../../async/time.ts";
import type { CollectionSync } from "./collection_sync.ts";
import type { PartSync } from "./part_sync.ts";

/** The time until a list that is older than the cache is repeated, in milliseconds; doubled each time. */
const LATE_MS = 1_000;

/** Ends the waits of a part that is no longer followed; they begin again with those that are. */
export class PartLeft extends Error {}

/** A change of parts. */
export interface PartChange {
  /** The selections of all parts after it. */
  readonly wanted: readonly Selection[];
  /** With `"scope"`, the parts are exchanged when all new ones are listed, else at once. */
  readonly reason: "moved" | "scope";
  /** Called once: with `true` in the turn of the exchange, before it, or with `false` if nothing changes. */
  readonly settle?: (isDone: boolean) => void;
  /** Ends it before the exchange. */
  readonly signal?: AbortSignal;
}

/** Runs the parts of a collection, and exchanges them. */
export class ChangingParts<T extends KubernetesObject> {
  readonly #sync: ChangingCollection<T>;
  /** Has the parts that have begun and are followed, or are staged. */
  readonly #jobs = new Map<PartSync<T>, DerivedController>();
  /** The ends of the parts that have begun and not ended. */
  readonly #ends = new Set<Promise<void>>();
  /** Set by {@linkcode start}. */
  #run: { readonly signal: AbortSignal; readonly failed: (error: unknown) => void } | undefined;
  /** Ends the change whose lists are staged. */
  #undo: ((error: Error) => void) | undefined;
  /** The parts that are staged. */
  staging: readonly PartSync<T>[] = [];
  /** Parts that begin are paused. */
  isPaused = false;

  /** Begins nothing before {@linkcode start}. */
  constructor(sync: ChangingCollection<T>) {
    this.#sync = sync;
  }

  /** Begins parts, now and when they come; they end with the signal. `failed` receives an error that ends one. */
  start(parts: readonly PartSync<T>[], signal: AbortSignal, failed: (error: unknown) => void): void {
    this.#run = { signal, failed };
    for (const part of parts) this.#begin(part);
  }

  /** Resolves once all parts have ended. */
  async ended(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends);
  }

  /** Ends the change whose lists are staged: it rejects with `error`. */
  end(error: Error): void {
    this.#undo?.(error);
  }

  /**
   * Exchanges parts. Those that stay are not touched. One that comes resumes the watch of a part that goes and has its
   * objects, or it lists. Lists that are staged are committed together, once none is older than the cache.
   *
   * Rejects with the reason of the signal, or the error of {@linkcode end}; then nothing has changed.
   */
  async change({ wanted, reason, settle = () => {}, signal }: PartChange): Promise<void> {
    const { parts, sharesVersions, make } = this.#sync;
    const isOther = selectorsOf(parts[0].source.selection) !== selectorsOf(wanted[0]);
    const stays = (part: PartSync<T>): boolean =>
      !isOther && (wanted.length === 1 || part.namespace !== undefined) &&
      wanted.some((selection) => placeOf(selection) === placeOf(part.source.selection));
    const leaving = parts.filter((part) => !stays(part));
    /** The version at which a part that leaves has all objects of a selection. */
    const versionOf = (selection?: Selection): string => {
      const places = ["", placeOf(selection)];
      const from = leaving.find(({ source }) => places.includes(placeOf(source.selection)));
      return isOther || !sharesVersions ? "" : from?.gate.version ?? "";
    };
    const isStaged = reason === "scope" && this.#run !== undefined;
    const next = wanted.map((selection) => {
      const known = parts.find((it) => stays(it) && placeOf(it.source.selection) === placeOf(selection));
      const onProgress = isStaged && versionOf(selection) === "" ? (): void => progress() : undefined;
      return known ?? make(selection, wanted.length > 1 || reason === "moved", onProgress);
    });
    const coming = next.filter((part) => !parts.includes(part));
    const staging = this.staging = coming.filter(({ staged }) => staged !== undefined);
    const behind = (): PartSync<T>[] =>
      staging.filter(({ source, staged }) =>
        leaving.some((other) => {
          const [a, b] = [source, other.source].map(({ selection }) => placeOf(selection));
          return (a === "" || b === "" || a === b) && isOlder(staged!.version!, other.gate.version);
        })
      );
    const done = new Latch();
    let lateMs = LATE_MS;
    using timer = new LongTimer(() => {
      for (const part of behind()) part.relist(new Error("the list of the new scope is older than the cache"));
      lateMs *= 2;
    });
    const over = (isDone: boolean): void => {
      this.#undo = undefined;
      this.staging = [];
      settle(isDone);
    };
    const undo = this.#undo = (error: Error): void => {
      over(false);
      for (const part of coming) this.#end(part, error);
      done.fail(error);
    };
    const progress = (): void => {
      if (this.#undo !== undo || staging.some(({ staged }) => staged!.version === undefined)) return;
      if (behind().length > 0) return timer.isArmed ? undefined : timer.arm(lateMs);
      over(true);
      // What the others have read and not written is above their versions, and is read again.
      for (const part of leaving) this.#end(part, new PartLeft(`it no longer follows "${part.namespace}"`));
      const { cache: { entryTransform }, writer } = this.#sync;
      const cached = Map.groupBy(
        wanted.some((it) => placeOf(it) === "") ? [] : leaving.flatMap((part) => part.known.list()),
        (entry) => splitKey(entryTransform.serverKeyOf(entry)).namespace,
      );
      for (const [place, entries] of cached) {
        if (coming.some(({ source }) => placeOf(source.selection) === place)) continue;
        for (const entry of entries) writer.moved(entry, reason);
      }
      for (const part of this.#run === undefined ? [] : coming) {
        const { source: { selection }, staged } = part;
        const own = cached.get(placeOf(selection)) ?? [];
        if (staged === undefined) part.join(own, versionOf(selection));
        else part.commit(own, isOther);
      }
      this.#sync.replace(next);
      if (this.#run !== undefined) { for (const part of next) this.#begin(part); }
      done.open();
    };
    for (const part of staging) this.#begin(part);
    progress();
    try {
      await done.wait({ signal });
    } catch (error) {
      if (this.#undo === undo) undo(error as Error);
      if (!done.isOpen) throw error; // else it was exchanged just before the signal aborted
    }
  }

  #begin(part: PartSync<T>): void {
    if (this.#jobs.has(part)) return;
    const { signal, failed } = this.#run!;
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
    part.leave();
    this.#jobs.get(part)?.abort();
    this.#jobs.delete(part);
    part.end(error, undefined);
  }
}

/** The collection whose parts change. */
type ChangingCollection<T extends KubernetesObject> = Pick<
  CollectionSync<T>,
  "cache" | "make" | "parts" | "replace" | "sharesVersions" | "writer"
>;

/** The namespace of a selection; `""` for all. */
function placeOf({ namespace = "" }: Selection = {}): string {
  return namespace;
}

function selectorsOf({ labelSelector = "", fieldSelector = "" }: Selection = {}): string {
  return JSON.stringify([labelSelector, fieldSelector]);
}
