import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { inTurn } from "../../async/in_turn.ts";
import { sleep } from "../../async/time/sleep.ts";
import { CacheDifferenceError } from "./cache_difference_error.ts";
import { addResults, type CheckResult, NOTHING_CHECKED } from "./check_result.ts";
import type { CollectionSync, CollectionSyncOptions } from "./collection_sync.ts";

/** The largest share by which the time between two checks is longer than asked for. */
const JITTER = 0.2;

/** The consistency checks of an informer, and their results. */
export class ConsistencyChecks<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  readonly #options: Pick<CollectionSyncOptions<T>, "collection" | "changes" | "report">;
  readonly #signal: AbortSignal;
  /** Only rises. */
  #differences = 0;
  #last: (CheckResult & { readonly at: Date }) | undefined;

  /** Checks nothing yet. `signal` ends the checks. */
  constructor(
    sync: CollectionSync<T>,
    options: Pick<CollectionSyncOptions<T>, "collection" | "changes" | "report">,
    signal: AbortSignal,
  ) {
    this.#sync = sync;
    this.#options = options;
    this.#signal = signal;
  }

  /** The number of objects that have differed, and the result of the last check, if there was one. */
  get status(): { readonly differences: number; readonly lastCheck?: CheckResult & { readonly at: Date } } {
    return { differences: this.#differences, ...(this.#last === undefined ? {} : { lastCheck: this.#last }) };
  }

  /** Checks all parts. Rejects as `SharedIndexInformer.check()` does. */
  async check({ signal }: Abortable = {}): Promise<CheckResult> {
    signal?.throwIfAborted();
    using job = new DerivedController(signal, this.#signal);
    return await inTurn(this.#options.collection.server, () => this.#check(job.signal), { signal: job.signal });
  }

  /** Checks while the informer is live, each `everyMs` milliseconds or up to 1.2 times that; `Infinity` is never. */
  async runEvery(everyMs: number): Promise<void> {
    if (everyMs === Infinity) return;
    const signal = this.#signal;
    const { state } = this.#sync;
    while (!signal.aborted) {
      try {
        await sleep(everyMs * (1 + JITTER * Math.random()), { signal });
        // Otherwise a list or a resumed watch repairs the cache, or nothing can be read.
        if (state.state === "live") await this.check();
      } catch (error) {
        if (!signal.aborted && state.state !== "paused") this.#options.report(error);
      }
    }
  }

  async #check(signal: AbortSignal): Promise<CheckResult> {
    const { collection, changes, report } = this.#options;
    const sync = this.#sync;
    let result = NOTHING_CHECKED;
    for (const part of sync.parts) {
      const { state } = sync.state;
      const isIdle = state === "paused" || state === "stopped";
      if (isIdle || !sync.hasSynced) {
        throw new Error(`Cannot check ${collection.informer}: it ${isIdle ? `is ${state}` : "has not synced yet"}`);
      }
      result = addResults(result, await part.check(signal));
    }
    this.#differences += result.differences;
    this.#last = { ...result, at: new Date() };
    changes.changed();
    const { differences, keys, repair, reason } = result;
    if (repair === "objects" || repair === "list") {
      const text = repair === "objects"
        ? "repaired by further reads"
        : `the collection is listed again, because ${reason}`;
      report(new CacheDifferenceError(collection.name, differences, keys, text));
    }
    return result;
  }
}
