/**
 * Fake time, which passes only when a test says so.
 *
 * {@linkcode FakeTime} is the entry point. Unlike the fake time in `@std/testing`, it knows when the next timer is due,
 * and fires a timer that throws only once.
 *
 * @module
 */
import { nextTurn } from "../../engine/async/turns.ts";
import { internals } from "../../engine/errors/internals.ts";

/**
 * Fake time, which passes only when your test calls {@linkcode tick} or {@linkcode tickAsync}. Use it to test timeouts,
 * retries and resyncs in milliseconds. Only one can exist at a time.
 *
 * Until you dispose it, it replaces `setTimeout`, `setInterval`, `clearTimeout`, `clearInterval`,
 * `AbortSignal.timeout`, `Date` and `performance.now`. `setImmediate`, message channels, input and output stay real.
 *
 * Unlike with timers from test libraries, a callback that throws, or lets time pass itself, is not called again.
 * {@linkcode tickAsync} jumps from timer to timer instead of millisecond by millisecond.
 *
 * @example
 * ```ts
 * import { FakeTime } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime(0);
 * const slept = new Promise((resolve) => setTimeout(() => resolve(Date.now()), 800));
 * await time.tickAsync(800);
 * assertEquals(await slept, 800);
 * ```
 */
export class FakeTime implements Disposable {
  /** Milliseconds since time was faked. Timers use it. */
  #elapsedMs = 0;
  /** The time of day at which time was faked. {@linkcode setClock} moves it. */
  #epochMs: number;
  #lastId = FIRST_ID;
  #disposed = false;
  readonly #timers = new Map<number, Timer>();
  readonly #real: { readonly [Name in FakedName]: PropertyDescriptor };
  readonly #restoreNow: () => void;

  /** @internal */
  readonly [internals] = {
    /** Returns how long each armed timer still waits, in milliseconds. */
    dueInMs: (): number[] =>
      [...this.#timers.values()].map(({ dueMs }) => dueMs - this.#elapsedMs).sort((a, b) => a - b),
  };

  /**
   * Stops time at `startMs`, in milliseconds since 1970. The default is the start of 2026.
   *
   * @throws {Error} if another `FakeTime` is active.
   */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    if (active !== undefined) throw new Error("Cannot fake time: another FakeTime is active. Dispose it first");
    active = this;
    this.#epochMs = startMs;
    const realDate = Date;
    const realNow = performance.now;
    // A whole number, so that differences of later times are exact.
    const monotonicEpochMs = Math.ceil(performance.now());
    const { clearTimeout: clearReal } = globalThis;
    const clear = (id?: number): void => {
      // A timer that was armed before time was faked is a real one.
      if (id === undefined || !(this.#timers.delete(id) || id > FIRST_ID)) clearReal(id);
    };
    const fakes: { readonly [Name in FakedName]: unknown } = {
      setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) => this.#arm(callback, ms, args, false),
      setInterval: (callback: Callback, ms?: number, ...args: unknown[]) => this.#arm(callback, ms, args, true),
      clearTimeout: clear,
      clearInterval: clear,
      Date: new Proxy(realDate, {
        apply: () => new realDate(this.now).toString(),
        construct: (_target, args, newTarget) =>
          Reflect.construct(realDate, args.length === 0 ? [this.now] : args, newTarget),
        get: (target, name) => name === "now" ? () => this.now : Reflect.get(target, name),
      }),
    };
    const real: Partial<Record<FakedName, PropertyDescriptor>> = {};
    for (const name of FAKED) {
      real[name] = Object.getOwnPropertyDescriptor(globalThis, name)!;
      Object.defineProperty(globalThis, name, { value: fakes[name], configurable: true, writable: true });
    }
    this.#real = real as Record<FakedName, PropertyDescriptor>;
    const realTimeout = AbortSignal.timeout;
    performance.now = () => monotonicEpochMs + this.#elapsedMs;
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController();
      this.#arm(() => controller.abort(new DOMException("Signal timed out.", "TimeoutError")), ms, [], false);
      return controller.signal;
    };
    this.#restoreNow = () => {
      performance.now = realNow;
      AbortSignal.timeout = realTimeout;
    };
  }

  /** The time of day in milliseconds since 1970, like `Date.now()`. */
  get now(): number {
    return this.#epochMs + this.#elapsedMs;
  }

  /** Sets the time of day, like a time server does. No timer fires, and `performance.now` stays the same. */
  setClock(ms: number): void {
    this.#epochMs = ms - this.#elapsedMs;
  }

  /** The number of armed timers. Expect 0 at the end of a test, because Deno's sanitizers do not see faked timers. */
  get timers(): number {
    return this.#timers.size;
  }

  /**
   * Lets `ms` milliseconds pass, and fires the timers that become due, in order, each at its own time. Promises
   * continue only after the call has returned.
   *
   * If a callback throws, the call throws the same error, and the rest of the time does not pass.
   *
   * @throws {RangeError} if `ms` is negative or not a number.
   * @throws {Error} if a million timers fire.
   */
  tick(ms: number): void {
    const end = this.#end(ms);
    let fired = 0;
    while (this.#fireNext(end)) fired = checkEndless(fired);
    this.#elapsedMs = Math.max(this.#elapsedMs, end);
  }

  /**
   * Lets time pass like {@linkcode tick}, but promises continue too. Use it for code with `await`.
   *
   * Promises get five event loop turns before, between and after the times at which timers are due. Timers armed
   * meanwhile fire too. `tickAsync(0)` lets promises continue while no time passes.
   */
  async tickAsync(ms: number): Promise<void> {
    const end = this.#end(ms);
    let fired = 0;
    do {
      await turns();
      while (this.#fireNext(end)) {
        fired = checkEndless(fired);
        if (!this.#isDue(this.#elapsedMs)) await turns();
      }
      this.#elapsedMs = Math.max(this.#elapsedMs, end);
      await turns();
    } while (this.#isDue(end));
  }

  /** Restores the real time. Armed timers are dropped. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    active = undefined;
    this.#timers.clear();
    for (const name of FAKED) Object.defineProperty(globalThis, name, this.#real[name]);
    this.#restoreNow();
  }

  #arm(callback: Callback, ms: number | undefined, args: unknown[], repeats: boolean): number {
    // As with real timers, a delay that is no number, or has more than 31 bits, is 0.
    const whole = Math.trunc(Number(ms));
    const delayMs = whole > 0 && whole <= 2 ** 31 - 1 ? whole : 0;
    const intervalMs = repeats ? Math.max(1, delayMs) : 0;
    const id = ++this.#lastId;
    this.#timers.set(id, {
      id,
      dueMs: this.#elapsedMs + (intervalMs || delayMs),
      intervalMs,
      fire: () => callback(...args),
    });
    return id;
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers.values()) {
      if (next === undefined || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.id < next.id)) {
        next = timer;
      }
    }
    return next;
  }

  #isDue(end: number): boolean {
    const next = this.#next();
    return next !== undefined && next.dueMs <= end;
  }

  #fireNext(end: number): boolean {
    const timer = this.#next();
    if (timer === undefined || timer.dueMs > end) return false;
    this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
    // Before the call, so that a callback that throws, ticks or clears itself finds it gone.
    if (timer.intervalMs > 0) timer.dueMs += timer.intervalMs;
    else this.#timers.delete(timer.id);
    timer.fire();
    return true;
  }

  #end(ms: number): number {
    if (!(ms >= 0)) throw new RangeError(`Cannot let time pass: ms must be at least 0, but it is ${ms}`);
    return this.#elapsedMs + ms;
  }
}

type Callback = (...args: unknown[]) => void;

type FakedName = typeof FAKED[number];

interface Timer {
  readonly id: number;
  dueMs: number;
  /** 0 for a timer that fires once. */
  readonly intervalMs: number;
  readonly fire: () => void;
}

const FAKED = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] as const;

/** Greater than all real timer ids, so that no id is both. */
const FIRST_ID = 2 ** 40;

/** The number of event loop turns between two times in `tickAsync`. */
const TURNS = 5;

let active: FakeTime | undefined;

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
}

function checkEndless(fired: number): number {
  if (fired >= 1_000_000) {
    throw new Error("Cannot let time pass: a million timers have fired, so some timers start each other without end");
  }
  return fired + 1;
}
