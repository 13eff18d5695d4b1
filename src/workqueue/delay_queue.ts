import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { LongTimer } from "../async/time/long_timer.ts";

/**
 * Keys that become ready later.
 *
 * - A key is in it once; of several times asked for, the earliest counts.
 * - Keys come out by their times, those of equal times in the order in which the times were set.
 * - One timer, for the earliest, however many keys; adding and taking out cost the logarithm of their number.
 */
export class DelayQueue<K> {
  readonly #onReady: (key: K) => void;
  readonly #entries = new Map<K, Entry<K>>();
  /** A binary heap: no entry is due before the one at half its index. */
  readonly #heap: Entry<K>[] = [];
  readonly #timer = new LongTimer(() => this.#fire());
  /** When the timer is due. */
  #timerMs = 0;
  #sequence = 0;

  /** Tells `onReady` of each key when its time has come. */
  constructor(onReady: (key: K) => void) {
    this.#onReady = onReady;
  }

  /** How many keys wait for their time. */
  get size(): number {
    return this.#heap.length;
  }

  /** Makes `key` ready after `delayMs` milliseconds, or when it was to be anyway if that is earlier. */
  add(key: K, delayMs: number): void {
    const nowMs = monotonicMs();
    const readyMs = nowMs + delayMs;
    const known = this.#entries.get(key);
    if (known === undefined) {
      const entry = { key, readyMs, sequence: this.#sequence++, index: this.#heap.length };
      this.#entries.set(key, entry);
      this.#heap.push(entry);
      this.#siftUp(entry);
    } else if (readyMs < known.readyMs) {
      known.readyMs = readyMs;
      known.sequence = this.#sequence++;
      this.#siftUp(known);
    } else {
      return;
    }
    this.#arm(nowMs);
  }

  /** Forgets all keys and the timer; says how many keys there were. */
  clear(): number {
    const { length } = this.#heap;
    this.#heap.length = 0;
    this.#entries.clear();
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
    // What the timer was armed for is due, even if timers are a little early.
    const nowMs = Math.max(monotonicMs(), this.#timerMs);
    for (let first = this.#heap.at(0); first !== undefined && first.readyMs <= nowMs; first = this.#heap.at(0)) {
      this.#removeFirst(first);
      this.#onReady(first.key);
    }
    this.#arm(nowMs);
  }

  #removeFirst(first: Entry<K>): void {
    this.#entries.delete(first.key);
    const last = this.#heap.pop()!;
    if (last === first) return;
    this.#heap[0] = last;
    last.index = 0;
    this.#siftDown(last);
  }

  #siftUp(entry: Entry<K>): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1];
      if (!isBefore(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #siftDown(entry: Entry<K>): void {
    for (;;) {
      const left = this.#heap.at(2 * entry.index + 1);
      const right = this.#heap.at(2 * entry.index + 2);
      if (left === undefined) return;
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, entry)) return;
      this.#swap(child, entry);
    }
  }

  #swap(a: Entry<K>, b: Entry<K>): void {
    [a.index, b.index] = [b.index, a.index];
    this.#heap[a.index] = a;
    this.#heap[b.index] = b;
  }
}

interface Entry<K> {
  readonly key: K;
  readyMs: number;
  sequence: number;
  index: number;
}

function isBefore<K>(a: Entry<K>, b: Entry<K>): boolean {
  return a.readyMs < b.readyMs || (a.readyMs === b.readyMs && a.sequence < b.sequence);
}
