import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { exponentialBackoff } from "../../src/workqueue/rate_limiter.ts";
import type { WorkItem } from "../../src/workqueue/work_item.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { FakeTime } from "../support/fake_time.ts";

Deno.test("WorkQueue equals its model after any operations", async () => {
  using time = new FakeTime(0);
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 120, size: "max" }), async (operations) => {
      const real = new Real(time);
      const model = new Model(time.now);
      for (const operation of operations) {
        real.perform(operation);
        model.perform(operation);
        // Promises settle before the next operation; faked time does not pass.
        for (let i = 0; i < 4; i++) await Promise.resolve();
        assertEquals(real.state(), model.state(), JSON.stringify(operation));
      }
      real.queue.shutDown();
      assertEquals(time.timers, 0);
    }),
    { numRuns: 500 },
  );
});

type Operation =
  | { readonly type: "add" | "addRateLimited" | "done" | "forget"; readonly key: Key }
  | { readonly type: "addAfter"; readonly key: Key; readonly ms: number }
  | { readonly type: "tryGet" | "get" | "shutDown" | "shutDownWithDrain" }
  | { readonly type: "abort" | "dispose"; readonly index: number }
  | { readonly type: "tick"; readonly ms: number };

type Key = typeof KEYS[number];

const KEYS = ["a", "b", "c", "d"] as const;
const BASE_MS = 4;
const MAX_MS = 20;

const key = fc.constantFrom(...KEYS);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("add" as const), key }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("addAfter" as const), key, ms: fc.integer({ min: -1, max: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("addRateLimited" as const, "forget" as const), key }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("tryGet" as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("get" as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("abort" as const), index: fc.nat(10) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("done" as const), key }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("dispose" as const), index: fc.nat(10) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("tick" as const), ms: fc.integer({ min: 0, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("shutDown" as const, "shutDownWithDrain" as const) }) },
);

/** The state that both sides are compared by. `gets` and `drains` have the result of each call so far. */
interface State {
  readonly counts: Readonly<Record<string, number | boolean>>;
  readonly retries: readonly number[];
  readonly taken: readonly Key[];
  readonly gets: readonly string[];
  readonly drains: readonly boolean[];
}

class Real {
  readonly queue = new WorkQueue<Key>({ rateLimiter: exponentialBackoff({ baseMs: BASE_MS, maxMs: MAX_MS }) });
  readonly #time: FakeTime;
  readonly #items: WorkItem<Key>[] = [];
  readonly #controllers: AbortController[] = [];
  readonly #gets: string[] = [];
  readonly #drains: boolean[] = [];

  constructor(time: FakeTime) {
    this.#time = time;
  }

  perform(operation: Operation): void {
    const { queue } = this;
    switch (operation.type) {
      case "add":
      case "addRateLimited":
      case "done":
      case "forget":
        return queue[operation.type](operation.key);
      case "addAfter":
        return queue.addAfter(operation.key, operation.ms);
      case "tryGet": {
        const item = queue.tryGet();
        if (item !== undefined) this.#items.push(item);
        return;
      }
      case "get": {
        const index = this.#gets.push("pending") - 1;
        const controller = new AbortController();
        this.#controllers.push(controller);
        queue.get({ signal: controller.signal }).then((item) => {
          if (item !== undefined) this.#items.push(item);
          this.#gets[index] = item?.key ?? "none";
        }, (reason) => this.#gets[index] = reason);
        return;
      }
      case "abort":
        return this.#controllers[operation.index]?.abort("aborted");
      case "dispose":
        return this.#items[operation.index]?.[Symbol.dispose]();
      case "tick":
        return this.#time.tick(operation.ms);
      case "shutDown":
        return queue.shutDown();
      case "shutDownWithDrain": {
        const index = this.#drains.push(false) - 1;
        queue.shutDownWithDrain().then(() => this.#drains[index] = true);
        return;
      }
      default:
        return operation satisfies never;
    }
  }

  state(): State {
    const { queueLatencyMs, workDurationMs, name: _name, lastError: _error, ...counts } = this.queue.status();
    return {
      counts: {
        ...counts,
        length: this.queue.length,
        latencies: queueLatencyMs.count,
        latencyMs: queueLatencyMs.sumMs,
        durations: workDurationMs.count,
        durationMs: workDurationMs.sumMs,
        timers: this.#time.timers,
      },
      retries: KEYS.map((key) => this.queue.retries(key)),
      taken: this.#items.map(({ key }) => key),
      gets: [...this.#gets],
      drains: [...this.#drains],
    };
  }
}

/** The same in plain arrays, with nothing clever. */
class Model {
  #nowMs: number;
  #isShutDown = false;
  #waiting: { key: Key; addedMs: number }[] = [];
  #taken: { key: Key; isOpen: boolean; sinceMs: number; addedAgainMs?: number }[] = [];
  #delayed: { key: Key; readyMs: number; order: number }[] = [];
  #order = 0;
  readonly #failures = new Map<Key, number>();
  readonly #gets: string[] = [];
  readonly #drains: boolean[] = [];
  readonly #sums = { adds: 0, retries: 0, dropped: 0, latencies: 0, latencyMs: 0, durations: 0, durationMs: 0 };

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  perform(operation: Operation): void {
    switch (operation.type) {
      case "add":
        this.#add(operation.key);
        break;
      case "addAfter":
        this.#addAfter(operation.key, operation.ms);
        break;
      case "addRateLimited": {
        const failures = this.#failures.get(operation.key) ?? 0;
        this.#failures.set(operation.key, failures + 1);
        this.#addAfter(operation.key, Math.min(MAX_MS, BASE_MS * 2 ** failures));
        break;
      }
      case "forget":
        this.#failures.delete(operation.key);
        break;
      case "tryGet":
        this.#take();
        break;
      case "get": {
        const key = this.#take();
        this.#gets.push(key ?? (this.#isShutDown ? "none" : "pending"));
        break;
      }
      case "abort":
        if (this.#gets[operation.index] === "pending") this.#gets[operation.index] = "aborted";
        break;
      case "done":
        this.#finish(this.#taken.find(({ key, isOpen }) => key === operation.key && isOpen));
        break;
      case "dispose":
        this.#finish(this.#taken[operation.index]);
        break;
      case "tick":
        for (let i = 0; i < operation.ms; i++) this.#passOneMs();
        break;
      case "shutDown":
        this.#close();
        this.#drains.fill(true);
        break;
      case "shutDownWithDrain":
        this.#close();
        this.#drains.push(false);
        break;
      default:
        operation satisfies never;
    }
    this.#serve();
    if (this.#waiting.length === 0 && !this.#taken.some(({ isOpen }) => isOpen)) this.#drains.fill(true);
  }

  state(): State {
    const open = this.#taken.filter(({ isOpen }) => isOpen);
    const running = open.map(({ sinceMs }) => this.#nowMs - sinceMs);
    return {
      counts: {
        ...this.#sums,
        isShutDown: this.#isShutDown,
        waiting: this.#waiting.length,
        length: this.#waiting.length,
        processing: open.length,
        returning: open.filter(({ addedAgainMs }) => addedAgainMs !== undefined).length,
        delayed: this.#delayed.length,
        errors: 0,
        unfinishedWorkMs: running.reduce((sum, ms) => sum + ms, 0),
        longestRunningMs: Math.max(0, ...running),
        timers: this.#delayed.length > 0 ? 1 : 0,
      },
      retries: KEYS.map((key) => this.#failures.get(key) ?? 0),
      taken: this.#taken.map(({ key }) => key),
      gets: [...this.#gets],
      drains: [...this.#drains],
    };
  }

  #add(key: Key): void {
    if (this.#isShutDown) return void this.#sums.dropped++;
    const open = this.#taken.find((item) => item.key === key && item.isOpen);
    if (this.#waiting.some((item) => item.key === key) || open?.addedAgainMs !== undefined) return;
    this.#sums.adds++;
    if (open !== undefined) open.addedAgainMs = this.#nowMs;
    else this.#waiting.push({ key, addedMs: this.#nowMs });
  }

  #addAfter(key: Key, ms: number): void {
    if (this.#isShutDown) return void this.#sums.dropped++;
    this.#sums.retries++;
    if (ms <= 0) return this.#add(key);
    const readyMs = this.#nowMs + ms;
    const known = this.#delayed.find((entry) => entry.key === key);
    if (known !== undefined && known.readyMs <= readyMs) return;
    this.#delayed = this.#delayed.filter((entry) => entry !== known);
    this.#delayed.push({ key, readyMs, order: this.#order++ });
    this.#delayed.sort((a, b) => a.readyMs - b.readyMs || a.order - b.order);
  }

  #take(): Key | undefined {
    const item = this.#waiting.shift();
    if (item === undefined) return undefined;
    this.#taken.push({ key: item.key, isOpen: true, sinceMs: this.#nowMs });
    this.#sums.latencies++;
    this.#sums.latencyMs += this.#nowMs - item.addedMs;
    return item.key;
  }

  #finish(item: { key: Key; isOpen: boolean; sinceMs: number; addedAgainMs?: number } | undefined): void {
    if (item === undefined || !item.isOpen) return;
    item.isOpen = false;
    this.#sums.durations++;
    this.#sums.durationMs += this.#nowMs - item.sinceMs;
    if (item.addedAgainMs !== undefined) this.#waiting.push({ key: item.key, addedMs: item.addedAgainMs });
  }

  #passOneMs(): void {
    this.#nowMs++;
    while (this.#delayed.length > 0 && this.#delayed[0].readyMs <= this.#nowMs) {
      this.#add(this.#delayed.shift()!.key);
      this.#serve();
    }
  }

  #close(): void {
    this.#isShutDown = true;
    this.#sums.dropped += this.#delayed.length;
    this.#delayed = [];
    this.#gets.forEach((outcome, index) => outcome === "pending" && (this.#gets[index] = "none"));
  }

  /** Gives what waits to who waits. */
  #serve(): void {
    for (let index; (index = this.#gets.indexOf("pending")) >= 0 && this.#waiting.length > 0;) {
      this.#gets[index] = this.#take()!;
    }
  }
}
