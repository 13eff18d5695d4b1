/**
 * Keys that become ready after a delay.
 *
 * {@linkcode DelayQueue} is the entry point. It does not know why a key is delayed, and hands each key on when its time
 * has come.
 *
 * @module
 */
import { LongTimer, monotonicMs } from "../async/time.ts";
import { type TriggerList, withTriggers } from "./triggers.ts";

/**
 * A queue of keys that become ready after a delay.
 *
 * - A key is queued once; when it is added again, the earlier of the two times and the higher priority apply, and the
 *   triggers of both.
 * - Keys become ready in the order of their times, and at equal times in the order in which the times were set.
 * - One timer serves all keys. Adding and removing a key take time logarithmic in the number of keys.
 */
export class DelayQueue<K> {
  readonly #onReady: (key: K, isLow: boolean, triggers: TriggerList) => void;
  /** Has a key if and only if its entry is in `#heap`. */
  readonly #delayed = new Map<K, DelayedKey<K>>();
  /**
   * A binary heap: no entry is before its parent (see `isBefore`), and `#heap[entry.index] === entry` for each entry.
   */
  readonly #heap: DelayedKey<K>[] = [];
  /** Armed if and only if `#heap` has an entry (except inside `add` and `#fire`). */
  readonly #timer = new LongTimer(() => this.#fire());
  /** The time for which `#timer` was last armed; while it is armed, no entry is ready before. */
  #timerMs = 0;
  /** Greater than the `sequence` of each entry. */
  #sequence = 0;

  /** @param onReady Called with each key when its time has come; the key has then left the queue. */
  constructor(onReady: (key: K, isLow: boolean, triggers: TriggerList) => void) {
    this.#onReady = onReady;
  }

  /** The number of keys in the queue. */
  get size(): number {
    return this.#heap.length;
  }

  /** Returns true when `key` is in the queue. */
  has(key: K): boolean {
    return this.#delayed.has(key);
  }

  /** Makes `key` ready after `delayMs` milliseconds, or at its present time if that is earlier. */
  add(key: K, delayMs: number, isLow: boolean = false, triggers?: TriggerList): void {
    const nowMs = monotonicMs();
    const readyMs = nowMs + delayMs;
    const known = this.#delayed.get(key);
    if (known === undefined) {
      const entry = { key, readyMs, sequence: this.#sequence++, index: this.#heap.length, isLow, triggers };
      this.#delayed.set(key, entry);
      this.#heap.push(entry);
      this.#siftUp(entry);
    } else {
      known.isLow &&= isLow;
      known.triggers = withTriggers(known.triggers, triggers);
      if (readyMs < known.readyMs) {
        known.readyMs = readyMs;
        known.sequence = this.#sequence++;
        this.#siftUp(known);
      }
    }
    this.#arm(nowMs);
  }

  /** Removes all keys and stops the timer. Returns the number of keys removed. */
  clear(): number {
    const { length } = this.#heap;
    this.#heap.length = 0;
    this.#delayed.clear();
    this.#timer[Symbol.dispose]();
    return length;
  }

  #arm(nowMs: number): void {
    const first = this.#heap.at(0);
    if (first === undefined || (this.#timer.isArmed && first.readyMs >= this.#timerMs)) return;
    this.#timerMs = first.readyMs;
    this.#timer.arm(first.readyMs - nowMs);
  }

  #fire(): void {
    // A timer may fire a little early: the key for which it was armed is ready all the same.
    const nowMs = Math.max(monotonicMs(), this.#timerMs);
    for (let first = this.#heap.at(0); first !== undefined && first.readyMs <= nowMs; first = this.#heap.at(0)) {
      this.#removeFirst(first);
      this.#onReady(first.key, first.isLow, first.triggers);
    }
    this.#arm(nowMs);
  }

  #removeFirst(first: DelayedKey<K>): void {
    this.#delayed.delete(first.key);
    const last = this.#heap.pop()!;
    if (last === first) return;
    this.#heap[0] = last;
    last.index = 0;
    this.#siftDown(last);
  }

  #siftUp(entry: DelayedKey<K>): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1];
      if (!isBefore(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #siftDown(entry: DelayedKey<K>): void {
    for (;;) {
      const left = this.#heap.at(2 * entry.index + 1);
      const right = this.#heap.at(2 * entry.index + 2);
      if (left === undefined) return;
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, entry)) return;
      this.#swap(child, entry);
    }
  }

  #swap(a: DelayedKey<K>, b: DelayedKey<K>): void {
    [a.index, b.index] = [b.index, a.index];
    this.#heap[a.index] = a;
    this.#heap[b.index] = b;
  }
}

/** A key with the time at which it becomes ready, its index in the heap, its priority and its triggers. */
interface DelayedKey<K> {
  readonly key: K;
  readyMs: number;
  sequence: number;
  index: number;
  isLow: boolean;
  triggers: TriggerList;
}

function isBefore<K>(a: DelayedKey<K>, b: DelayedKey<K>): boolean {
  return a.readyMs < b.readyMs || (a.readyMs === b.readyMs && a.sequence < b.sequence);
}
