import type { ObjectKey } from "../api/key.ts";
import type { Resource } from "../api/resource.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { ReconcileRecord } from "./status.ts";

/** A call of a reconcile that begins. */
export interface StartedReconcile {
  /** The name of the reconciler. */
  readonly reconciler: string;
  /** The resource of the reconciled object. */
  readonly resource: Resource;
  /** The key. */
  readonly key: ObjectKey;
  /** The number of retries of this key since it last succeeded. */
  readonly retries: number;
  /** The causes of the call, at most 8. */
  readonly causes: readonly Cause[];
}

/** Observes one call of a reconcile. */
export interface ReconcileObserver {
  /** Calls `reconcile` once, and returns its result. An error that it throws beside is a failure of the reconcile. */
  call<R>(reconcile: () => R): R;
  /** Called once, when the call has returned or its time is over. An error that it throws is reported as uncaught. */
  ended(record: ReconcileRecord): void;
}

/** Called before each call of a reconcile, with its facts. Returns its observer; `undefined` for one that is not observed. */
export type ObserveReconcile = (call: StartedReconcile) => ReconcileObserver | undefined;
