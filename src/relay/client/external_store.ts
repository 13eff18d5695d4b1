/**
 * Snapshots of a subscription's state, in the form that user interfaces read.
 *
 * {@linkcode ExternalStore} is the entry point. It does not know how the state changes.
 *
 * @module
 */
import { callObserver } from "../../engine/async/signals.ts";

/** Publishes snapshots of changing state, in the form that React's `useSyncExternalStore` reads. */
export class ExternalStore<S extends object> {
  readonly #read: () => S;
  /** Each call of {@linkcode subscribe} adds a separate member, because the same function may be given twice. */
  readonly #listeners = new Set<{ readonly call: () => void }>();
  #snapshot: S | undefined;
  /** `true` if the state may differ from the snapshot. */
  #isStale = false;
  /** `true` from a change until the listeners are called. */
  #isDue = false;

  /** Creates a store. `read` returns the present state as a new object. */
  constructor(read: () => S) {
    this.#read = read;
  }

  /** Calls `listener` once per turn with changes. Call the returned function to unsubscribe. */
  readonly subscribe: (listener: () => void) => () => void = (call) => {
    const listener = { call };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Returns the present state: the same object until a member changes. */
  readonly getSnapshot: () => S = () => {
    const last = this.#snapshot;
    if (last !== undefined && !this.#isStale) return last;
    this.#isStale = false;
    return this.#snapshot = last === undefined ? this.#read() : reuse(last, this.#read());
  };

  /** Tells the store that the state may have changed. */
  changed(): void {
    this.#isStale = true;
    if (this.#isDue || this.#listeners.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      for (const listener of [...this.#listeners]) {
        if (this.#listeners.has(listener)) callObserver(listener.call); // an earlier one may have removed it
      }
    });
  }
}

/**
 * Returns `last` if all members are the same. Otherwise returns `next`, and replaces its arrays by equal arrays from
 * `last`.
 */
function reuse<S extends object>(last: S, next: S): S {
  const [known, members] = [last, next] as Record<string, unknown>[];
  let isChanged = false;
  for (const name in members) {
    if (isSame(known[name], members[name])) members[name] = known[name];
    else isChanged = true;
  }
  return isChanged ? next : last;
}

function isSame(last: unknown, next: unknown): boolean {
  if (!Array.isArray(last) || !Array.isArray(next)) return last === next;
  return last.length === next.length && next.every((element, index) => element === last[index]);
}
