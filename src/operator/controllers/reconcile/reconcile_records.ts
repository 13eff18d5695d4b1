/**
 * The work of a reconciler so far, for its status: outcomes, triggers, times, and the last reconciles.
 *
 * {@linkcode ReconcileRecords} is the entry point. It decides nothing, and tells the observer of a call how it ended.
 *
 * @module
 */
import { Histogram } from "../../../engine/async/histogram.ts";
import { callObserver } from "../../../engine/async/signals.ts";
import { monotonicMs } from "../../../engine/async/time.ts";
import type { Trigger } from "../../../engine/workqueue/triggers.ts";
import type { ReconcileObserver, ReconcileOutcome, ReconcileRecord, ReconcilerStatus } from "./options.ts";

/** The number of ended reconciles that `status` has. */
const RECENT = 16;

/** Counts the reconciles of one reconciler. */
export class ReconcileRecords {
  /** See `ReconcilerStatus.stale`. */
  stale = 0;
  /** See `ReconcilerStatus.eventErrors`. */
  eventErrors = 0;
  readonly #outcomes: Record<ReconcileOutcome, number> = {
    succeeded: 0,
    requeued: 0,
    retried: 0,
    failed: 0,
    terminal: 0,
    timedOut: 0,
    stopped: 0,
  };
  readonly #times = new Histogram();
  readonly #triggers: Record<string, number> = {};
  readonly #recent: ReconcileRecord[] = [];

  /** The counts so far, as copies. */
  get status(): Pick<
    ReconcilerStatus,
    "outcomes" | "reconcileMs" | "triggers" | "recent" | "stale" | "eventErrors"
  > {
    return {
      outcomes: { ...this.#outcomes },
      reconcileMs: this.#times.durations,
      triggers: { ...this.#triggers },
      recent: [...this.#recent],
      stale: this.stale,
      eventErrors: this.eventErrors,
    };
  }

  /** Counts a reconcile that begins, once for each type of its triggers. */
  began(triggers: readonly Trigger[]): void {
    const types = triggers.map(({ type }) => type);
    for (const type of types.length > 1 ? new Set(types) : types) {
      this.#triggers[type] = (this.#triggers[type] ?? 0) + 1;
    }
  }

  /** Records a reconcile that has ended, and tells its observer. */
  ended(
    call: Pick<ReconcileRecord, "key" | "triggers"> & { readonly beganMs: number },
    observer: ReconcileObserver | undefined,
    outcome: ReconcileOutcome,
    error?: unknown,
  ): void {
    this.#outcomes[outcome]++;
    const { key, triggers, beganMs } = call;
    this.#times.add(monotonicMs() - beganMs);
    const record = { key, triggers, outcome, at: new Date(), ...(error === undefined ? {} : { error }) };
    this.#recent.push(record);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (observer !== undefined) callObserver(() => observer.ended(record));
  }
}
