import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { exponentialBackoff } from "../../../src/engine/workqueue/rate_limiter.ts";
import type { WorkItem } from "../../../src/engine/workqueue/work_item.ts";
import { WorkQueue, type WorkQueueAddOptions } from "../../../src/engine/workqueue/work_queue.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("WorkQueue equals its model after any operations", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 120, size: "max" }), async (operations) => {
      using time = new FakeTime(0); // of its own, so that a failure leaves no timer to the runs that shrink it
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
    { numRuns: 500, examples: [[TAKEN_FROM_EMPTY], [TAKEN_BY_A_WAITER]] },
  );
});

type Operation =
  | { readonly type: "done" | "forget"; readonly key: Key }
  | { readonly type: "add" | "addRateLimited"; readonly key: Key; readonly options: WorkQueueAddOptions | undefined }
  | {
    readonly type: "addAfter";
    readonly key: Key;
    readonly ms: number;
    readonly options: WorkQueueAddOptions | undefined;
  }
  | { readonly type: "tryGet" | "get" | "shutDown" | "shutDownWithDrain" }
  | { readonly type: "abort" | "dispose"; readonly index: number }
  | { readonly type: "tick"; readonly ms: number };

type Key = typeof KEYS[number];

const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] as const;
const BASE_MS = 4;
const MAX_MS = 20;

const key = fc.constantFrom(...KEYS);
const options: fc.Arbitrary<WorkQueueAddOptions | undefined> = fc.option(
  fc.record({
    priority: fc.constantFrom("low" as const, "normal" as const),
    cause: fc.constantFrom({ type: "event" }, { type: "resync" }, { type: "external" }),
  }, { requiredKeys: [] }),
  { nil: undefined },
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("add" as const), key, options }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("addAfter" as const),
      key,
      ms: fc.integer({ min: -1, max: 12 }),
      options,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("addRateLimited" as const), key, options }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("forget" as const), key }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("tryGet" as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("get" as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("abort" as const), index: fc.nat(10) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("done" as const), key }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("dispose" as const), index: fc.nat(10) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("tick" as const), ms: fc.integer({ min: 0, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("shutDown" as const, "shutDownWithDrain" as const) }) },
);

/**
 * A key of low priority is passed by one, raised, and taken; a take from the empty queue then leaves the count at one.
 */
const TAKEN_FROM_EMPTY: Operation[] = [
  { type: "add", key: "l", options: { priority: "low" } },
  { type: "add", key: "a", options: undefined },
  { type: "tryGet" },
  { type: "add", key: "l", options: undefined },
  { type: "tryGet" },
  { type: "tryGet" },
  { type: "add", key: "d", options: { priority: "low" } },
  ...(["c", "e", "f", "g", "h", "i", "j", "k"] as const).map((key) => ({
    type: "add" as const,
    key,
    options: undefined,
  })),
  ...Array.from({ length: 9 }, () => ({ type: "tryGet" as const })),
];

/** A key of low priority that a waiting `get` receives begins the count anew, as one that has waited. */
const TAKEN_BY_A_WAITER: Operation[] = [
  { type: "add", key: "k", options: undefined },
  { type: "add", key: "a", options: { priority: "low" } },
  { type: "tryGet" },
  { type: "add", key: "a", options: undefined },
  { type: "tryGet" },
  { type: "get" },
  { type: "add", key: "b", options: { priority: "low" } },
  ...(["c", "d", "e", "f", "g", "h", "i", "j"] as const).map((key) => ({
    type: "add" as const,
    key,
    options: undefined,
  })),
  { type: "add", key: "l", options: { priority: "low" } },
  ...Array.from({ length: 9 }, () => ({ type: "tryGet" as const })),
];

/** The state that both sides are compared by. `gets` and `drains` have the result of each call so far. */
interface State {
  readonly counts: Readonly<Record<string, number | boolean>>;
  readonly retries: readonly number[];
  readonly taken: readonly string[];
  readonly running: readonly string[];
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
        return queue[operation.type](operation.key, operation.options);
      case "done":
      case "forget":
        return queue[operation.type](operation.key);
      case "addAfter":
        return queue.addAfter(operation.key, operation.ms, operation.options);
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
    const { queueLatencyMs, workDurationMs, name: _name, lastError: _error, running, ...counts } = this.queue.status();
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
      taken: this.#items.map(({ key, triggers }) => `${key} ${triggers.map(({ type }) => type)}`),
      running: running.map(({ key, runningMs, triggers }) => `${key} ${runningMs} ${triggers.map(({ type }) => type)}`),
      gets: [...this.#gets],
      drains: [...this.#drains],
    };
  }
}

/** The same in plain arrays, with nothing clever. */
class Model {
  #nowMs: number;
  #isShutDown = false;
  #waiting: Waiting[] = [];
  #taken: { key: Key; isOpen: boolean; sinceMs: number; triggers: string[]; again?: Waiting }[] = [];
  #delayed: { key: Key; readyMs: number; order: number }[] = [];
  readonly #delayedWith = new Map<Key, { isLow: boolean; triggers: string[] }>();
  #order = 0;
  /** The keys of normal priority taken since the last one of low priority, while both waited. */
  #passed = 0;
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
        this.#add(operation.key, withOptions(operation.options));
        break;
      case "addAfter":
        this.#addAfter(operation.key, operation.ms, operation.options);
        break;
      case "addRateLimited": {
        const failures = this.#failures.get(operation.key) ?? 0;
        this.#failures.set(operation.key, failures + 1);
        this.#addAfter(operation.key, Math.min(MAX_MS, BASE_MS * 2 ** failures), operation.options);
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
        lowPriority: this.#waiting.filter(({ isLow }) => isLow).length,
        processing: open.length,
        returning: open.filter(({ again }) => again !== undefined).length,
        delayed: this.#delayed.length,
        errors: 0,
        unfinishedWorkMs: running.reduce((sum, ms) => sum + ms, 0),
        longestRunningMs: Math.max(0, ...running),
        timers: this.#delayed.length > 0 ? 1 : 0,
      },
      retries: KEYS.map((key) => this.#failures.get(key) ?? 0),
      taken: this.#taken.map(({ key, triggers }) => `${key} ${triggers}`),
      running: open.map(({ key, sinceMs, triggers }) => `${key} ${this.#nowMs - sinceMs} ${triggers}`),
      gets: [...this.#gets],
      drains: [...this.#drains],
    };
  }

  #add(key: Key, added: { isLow: boolean; triggers: string[] }): void {
    if (this.#isShutDown) return void this.#sums.dropped++;
    const open = this.#taken.find((item) => item.key === key && item.isOpen);
    const waiting = this.#waiting.find((item) => item.key === key);
    const known = waiting ?? open?.again;
    if (known === undefined) {
      this.#sums.adds++;
      const item = { key, addedMs: this.#nowMs, ...added };
      if (open !== undefined) open.again = item;
      else this.#waiting.push(item);
      return;
    }
    known.triggers = union(known.triggers, added.triggers);
    if (!known.isLow || added.isLow) return;
    known.isLow = false;
    if (known !== waiting) return;
    this.#waiting = this.#waiting.filter((item) => item !== known);
    this.#waiting.push(known);
  }

  #addAfter(key: Key, ms: number, options: WorkQueueAddOptions | undefined): void {
    if (this.#isShutDown) return void this.#sums.dropped++;
    this.#sums.retries++;
    const added = withOptions(options);
    if (ms <= 0) return this.#add(key, added);
    const known = this.#delayedWith.get(key);
    this.#delayedWith.set(key, {
      isLow: added.isLow && (known?.isLow ?? true),
      triggers: union(known?.triggers ?? [], added.triggers),
    });
    const readyMs = this.#nowMs + ms;
    const entry = this.#delayed.find((it) => it.key === key);
    if (entry !== undefined && entry.readyMs <= readyMs) return;
    this.#delayed = this.#delayed.filter((it) => it !== entry);
    this.#delayed.push({ key, readyMs, order: this.#order++ });
    this.#delayed.sort((a, b) => a.readyMs - b.readyMs || a.order - b.order);
  }

  #take(): Key | undefined {
    const normal = this.#waiting.find(({ isLow }) => !isLow);
    const low = this.#waiting.find(({ isLow }) => isLow);
    if (normal !== undefined && low !== undefined) this.#passed++;
    const item = normal === undefined || (low !== undefined && this.#passed === 8) ? low : normal;
    if (item === undefined) return undefined; // nothing was taken: the count stays
    if (item === low) this.#passed = 0;
    this.#waiting = this.#waiting.filter((it) => it !== item);
    this.#taken.push({ key: item.key, isOpen: true, sinceMs: this.#nowMs, triggers: item.triggers });
    this.#sums.latencies++;
    this.#sums.latencyMs += this.#nowMs - item.addedMs;
    return item.key;
  }

  #finish(item: { isOpen: boolean; sinceMs: number; again?: Waiting } | undefined): void {
    if (item === undefined || !item.isOpen) return;
    item.isOpen = false;
    this.#sums.durations++;
    this.#sums.durationMs += this.#nowMs - item.sinceMs;
    if (item.again !== undefined) this.#waiting.push(item.again);
    item.again = undefined;
  }

  #passOneMs(): void {
    this.#nowMs++;
    while (this.#delayed.length > 0 && this.#delayed[0].readyMs <= this.#nowMs) {
      const { key } = this.#delayed.shift()!;
      const added = this.#delayedWith.get(key)!;
      this.#delayedWith.delete(key);
      this.#add(key, added);
      this.#serve();
    }
  }

  #close(): void {
    this.#isShutDown = true;
    this.#sums.dropped += this.#delayed.length;
    this.#delayed = [];
    this.#delayedWith.clear();
    this.#gets.forEach((outcome, index) => outcome === "pending" && (this.#gets[index] = "none"));
  }

  /** Gives waiting items to pending gets. */
  #serve(): void {
    for (let index; (index = this.#gets.indexOf("pending")) >= 0 && this.#waiting.length > 0;) {
      this.#gets[index] = this.#take()!;
    }
  }
}

interface Waiting {
  readonly key: Key;
  readonly addedMs: number;
  isLow: boolean;
  triggers: string[];
}

function withOptions(options: WorkQueueAddOptions = {}): { isLow: boolean; triggers: string[] } {
  return { isLow: options.priority === "low", triggers: [options.trigger ?? []].flat().map(({ type }) => type) };
}

function union(a: string[], b: string[]): string[] {
  return [...new Set([...a, ...b])];
}
