import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import type { ListPart } from "../../../src/engine/api/lister_watcher.ts";
import {
  cancellable,
  CancellableStream,
  IteratorSource,
  PolledIterator,
  ReadAhead,
  Readers,
} from "../../../src/engine/async/iterate.ts";
import { refused, type Thing } from "../../support/sources/fixtures.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { END as ReadAheadEND, ScriptedSource } from "../../support/sources/scripted_source.ts";

/** A stream over the iterator that `start` creates. */
function streamOf(
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => AsyncIterator<number, void>,
): CancellableStream<number> {
  return new CancellableStream((signal) => new IteratorSource(start(signal)), signal);
}

/** Yields `items`, then waits for what never comes, unless it is to end. Knows how often it was asked and ended. */
class Source<T> implements AsyncIterable<T>, AsyncIterator<T> {
  asked = 0;
  ended = 0;
  readonly #items: T[];
  readonly #then: "stuck" | "end" | Error;

  constructor(items: readonly T[], then: "stuck" | "end" | Error = "stuck") {
    this.#items = [...items];
    this.#then = then;
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    this.asked++;
    if (this.#items.length > 0) return Promise.resolve({ done: false, value: this.#items.shift()! });
    if (this.#then === "stuck") return new Promise(() => {});
    if (this.#then === "end") return Promise.resolve({ done: true, value: undefined });
    return Promise.reject(this.#then);
  }

  return(): Promise<IteratorResult<T>> {
    this.ended++;
    return this.#then === "stuck" ? new Promise(() => {}) : Promise.resolve({ done: true, value: undefined });
  }
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

Deno.test("cancellable passes on all items, then ends, and leaves no listener behind", async () => {
  const stop = new CountedController();
  const source = new Source([1, 2, 3], "end");
  assertEquals(await all(cancellable(source, stop.signal)), [1, 2, 3]);
  assertEquals([source.asked, source.ended, stop.listeners], [4, 0, 0]);
});

Deno.test("cancellable rejects at once when the signal aborts, even if the source's next() and return() never resolve", async () => {
  const stop = new AbortController();
  const source = new Source<number>([1]);
  const items = cancellable(source, stop.signal);
  assertEquals(await items.next(), { done: false, value: 1 });
  const next = items.next();
  const reason = new Error("stop");
  stop.abort(reason);
  assertStrictEquals(await assertRejects(() => next), reason);
  assertEquals(source.ended, 1, "the source was asked to end");
  assertEquals(await items.next(), { done: true, value: undefined });
});

Deno.test("cancellable rejects when the signal aborts between two items, and does not call next() of a stuck source again", async () => {
  const stop = new AbortController();
  const source = new Source<number>([1]);
  const items = cancellable(source, stop.signal);
  await items.next();
  const reason = new Error("stop");
  stop.abort(reason);
  assertStrictEquals(await assertRejects(() => items.next()), reason);
  assertEquals(await items.next(), { done: true, value: undefined });
  assertEquals([source.asked, source.ended], [1, 1]);
});

Deno.test("cancellable drops an item that arrives together with the abort", async () => {
  const stop = new AbortController();
  const items = cancellable(new Source([1, 2], "end"), stop.signal);
  const next = items.next(); // the source has answered, but the promise has not settled
  stop.abort(new Error("stop"));
  await assertRejects(() => next, Error, "stop");
});

Deno.test("cancellable does not touch the source when the signal has aborted already", async () => {
  const source = new Source([1]);
  await assertRejects(() => cancellable(source, AbortSignal.abort(new Error("before"))).next(), Error, "before");
  assertEquals([source.asked, source.ended], [0, 0]);
});

Deno.test("cancellable calls return() of the source when its loop is left early, and waits for that", async () => {
  const stop = new CountedController();
  let closed = false;
  async function* source(): AsyncGenerator<number> {
    try {
      for (let n = 1;; n++) yield n;
    } finally {
      await new Promise<void>((resolve) => setImmediate(resolve));
      closed = true;
    }
  }
  for await (const n of cancellable(source(), stop.signal)) if (n === 3) break;
  assert(closed);
  assertEquals(stop.listeners, 0);
});

Deno.test("cancellable rejects with the abort reason even if the source's return() throws", async () => {
  const source = (end: () => Promise<never>): AsyncIterable<number> => ({
    [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}), return: end }),
  });
  const ends = [
    () => Promise.reject(new Error("cannot close")),
    () => {
      throw new Error("cannot even begin to close");
    },
  ];
  for (const end of ends) {
    const stop = new AbortController();
    const next = cancellable(source(end), stop.signal).next();
    stop.abort(new Error("stop"));
    await assertRejects(() => next, Error, "stop");
  }
});

Deno.test("cancellable throws once what the source throws, and does not call return() after that", async () => {
  const stop = new CountedController();
  const source = new Source([1], new Error("broken"));
  const items = cancellable(source, stop.signal);
  await items.next();
  await assertRejects(() => items.next(), Error, "broken");
  assertEquals(await items.next(), { done: true, value: undefined });
  assertEquals([source.ended, stop.listeners], [0, 0]);
});

Deno.test("cancellable accepts a source that has no return()", async () => {
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false, value: 1 }) }),
  };
  for await (const n of cancellable(source, new AbortController().signal)) {
    assertEquals(n, 1);
    break;
  }
});

Deno.test("cancellable adds one listener to the signal, however many items pass", async () => {
  const stop = new CountedController();
  const source = new Source(Array.from({ length: 100 }, (_, n) => n), "end");
  for await (const _ of cancellable(source, stop.signal)) assertEquals(stop.listeners, 1);
  assertEquals(stop.listeners, 0);
});

Deno.test("CancellableStream opens its source at the first next(), and ends when the source ends", async () => {
  let started = 0;
  const counting = new CountedController();
  const iterator = streamOf(counting.signal, async function* (): AsyncGenerator<number, void, undefined> {
    started++;
    yield await Promise.resolve(1);
  });
  assertEquals([started, counting.listeners], [0, 0]);
  assertEquals(await iterator.next(), { done: false, value: 1 });
  assertEquals([started, counting.listeners], [1, 1]);
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals([started, counting.listeners], [1, 0]);
});

Deno.test("CancellableStream never opens its source after return()", async () => {
  let started = 0;
  const iterator = streamOf(undefined, async function* (): AsyncGenerator<number, void, undefined> {
    started++;
    yield await Promise.resolve(1);
  });
  assertEquals(await iterator.return(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(started, 0);
});

Deno.test("CancellableStream ends a pending next() on return()", async () => {
  let reason: unknown;
  const iterator = streamOf(undefined, async function* (signal): AsyncGenerator<number, void, undefined> {
    yield 1;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(reason = signal.reason)));
  });
  await iterator.next();
  const waiting = iterator.next();
  assertEquals(await iterator.return(), { done: true, value: undefined });
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals((reason as DOMException).name, "AbortError");
});

Deno.test("CancellableStream rejects with the error that its source makes of a result that it cannot decode, and ends", async () => {
  const counting = new CountedController();
  const items = new CancellableStream<number>(() => ({
    read: () => Promise.resolve("garbage"),
    decode: () => {
      throw new Error("not a number");
    },
    fail: (cause) => new Error("Cannot read", { cause }),
    cancel: () => Promise.resolve(),
  }), counting.signal);
  const { cause } = await assertRejects(() => items.next(), Error, "Cannot read");
  assertEquals((cause as Error).message, "not a number");
  assertEquals(await items.next(), { done: true, value: undefined });
  assertEquals(counting.listeners, 0);
});

Deno.test("CancellableStream throws the error of a source whose return() fails, unless the signal has aborted", async () => {
  const source = async function* (): AsyncGenerator<number, void, undefined> {
    try {
      yield await Promise.resolve(1);
    } finally {
      // deno-lint-ignore no-unsafe-finally -- what a body throws that is cancelled
      throw new Error("cannot let go");
    }
  };
  const left = streamOf(undefined, source);
  await left.next();
  await assertRejects(() => left.return(), Error, "cannot let go");
  const controller = new AbortController();
  const stopped = streamOf(controller.signal, source);
  await stopped.next();
  controller.abort();
  assertEquals(await stopped.return(), { done: true, value: undefined });
});

Deno.test("CancellableStream answers overlapping calls of next() in order", async () => {
  let asked = 0;
  const answers: ((result: IteratorResult<number, void>) => void)[] = [];
  const iterator = streamOf(undefined, () => ({
    next: () => {
      asked++;
      return new Promise((resolve) => answers.push(resolve));
    },
    return: () => Promise.resolve({ done: true, value: undefined }),
  }));
  const items = [iterator.next(), iterator.next(), iterator.next()];
  assertEquals(asked, 1, "a source is asked for one item at a time");
  answers[0]({ done: false, value: 1 });
  assertEquals(await items[0], { done: false, value: 1 });
  await Promise.resolve();
  assertEquals(asked, 2);
  answers[1]({ done: true, value: undefined });
  assertEquals(await items[1], { done: true, value: undefined });
  await new Promise((resolve) => setImmediate(resolve));
  answers[2]?.({ done: true, value: undefined });
  assertEquals(await items[2], { done: true, value: undefined });
});

Deno.test("CancellableStream answers a next() that is called as another one resolves behind those that wait, and later ones at once", async () => {
  const source = new Source<number>([1, 2, 3, 4]);
  const items = streamOf(undefined, () => source);
  const first = items.next();
  const third = first.then(() => items.next());
  const second = items.next();
  assertEquals((await Promise.all([first, second, third])).map(({ value }) => value), [1, 2, 3]);
  void items.next();
  assertEquals(source.asked, 4);
});

Deno.test("CancellableStream ends at once on return() while its source's next() and return() never resolve", async () => {
  const source = new Source<number>([]);
  const stop = new CountedController();
  let signal: AbortSignal | undefined;
  const stream = streamOf(stop.signal, (own) => {
    signal = own;
    return source;
  });
  const waiting = [stream.next(), stream.next()];
  assertEquals(await stream.return(), { done: true, value: undefined });
  assertEquals(await Promise.all(waiting), Array(2).fill({ done: true, value: undefined }));
  assertEquals([source.asked, source.ended, stop.listeners, signal?.aborted], [1, 1, 0, true]);
});

Deno.test("CancellableStream calls return() of its source as soon as the signal aborts, also between two reads", async () => {
  const source = new Source([1]);
  const stop = new CountedController();
  const stream = cancellable(source, stop.signal);
  await stream.next();
  stop.abort(new Error("stop"));
  assertEquals([source.ended, stop.listeners], [1, 0]);
  assertEquals(await stream.return(), { done: true, value: undefined });
  assertEquals(await stream.next(), { done: true, value: undefined });
  assertEquals(source.ended, 1);
});

Deno.test("CancellableStream rejects the first of several pending calls of next() when the signal aborts", async () => {
  const stop = new AbortController();
  const stream = cancellable(new Source<number>([]), stop.signal);
  const [first, second] = [stream.next(), stream.next()];
  stop.abort(new Error("stop"));
  await assertRejects(() => first, Error, "stop");
  assertEquals(await second, { done: true, value: undefined });
});

Deno.test("CancellableStream rejects with the error of opening its source", async () => {
  const stop = new CountedController();
  const stream = streamOf(stop.signal, () => {
    throw new Error("cannot open");
  });
  await assertRejects(() => stream.next(), Error, "cannot open");
  assertEquals([await stream.next(), stop.listeners], [{ done: true, value: undefined }, 0]);
});

Deno.test("cancellable returns a stream of the same signal as it is, and wraps one of another signal", async () => {
  const [stop, other] = [new AbortController(), new AbortController()];
  const inner = cancellable(new Source<number>([]), stop.signal);
  assertStrictEquals(cancellable(inner, stop.signal), inner);
  const outer = cancellable(inner, other.signal);
  const next = outer.next();
  other.abort(new Error("stop"));
  await assertRejects(() => next, Error, "stop");
});

Deno.test("CancellableStream drops items that its source yields after the stream was cancelled", async () => {
  const calls: string[] = [];
  const stop = new AbortController();
  for (const answer of ["resolve", "reject"] as const) {
    let settle!: () => void;
    const stream = new CancellableStream<number>(() => ({
      read: () => new Promise((resolve, reject) => settle = answer === "resolve" ? () => resolve(1) : reject),
      decode: () => {
        calls.push("decode");
        return { done: false, value: 1 };
      },
      fail: () => calls.push("fail"),
      cancel: () => Promise.resolve(),
    }), stop.signal);
    const waiting = stream.next();
    await stream.return();
    settle();
    assertEquals(await waiting, { done: true, value: undefined });
  }
  await new Promise((resolve) => setImmediate(resolve));
  assertEquals(calls, []);
});

const END = { done: true, value: undefined } as const;

/** Yields the numbers that were put into it. */
class Numbers extends PolledIterator<number> {
  readonly calls: string[] = [];
  readonly #values: number[] = [];

  put(value: number): void {
    this.#values.push(value);
    this.wake();
  }

  protected override poll(): number | undefined {
    return this.#values.shift();
  }

  protected override begin(): void {
    this.calls.push("begin");
    if (this.#values.includes(-1)) throw new Error("cannot begin");
  }

  protected override finish(): void {
    this.calls.push("finish");
  }
}

Deno.test("PolledIterator answers calls of next() in order, however many wait, and ends all of them", async () => {
  const numbers = new Numbers(undefined);
  const calls = [1, 2, 3, 4].map(() => numbers.next());
  await Promise.resolve();
  numbers.put(10);
  numbers.put(20);
  assertEquals(await calls[0], { done: false, value: 10 });
  assertEquals(await calls[1], { done: false, value: 20 });
  assertEquals(await numbers.return(), END);
  assertEquals(await Promise.all(calls.slice(2)), [END, END]);
  assertEquals(numbers.calls, ["begin", "finish"]);
});

Deno.test("PolledIterator ends without an error when one of its signals aborts, before or while it is read", async () => {
  for (const which of ["first", "second"]) {
    const [own, other] = [new CountedController(), new CountedController()];
    const numbers = [1, 2, 3].map(() => new Numbers(own.signal));
    for (const each of numbers) each.endWith(other.signal);
    numbers[0].put(1);
    assertEquals((await numbers[0].next()).value, 1);
    const waiting = numbers[1].next();
    await Promise.resolve();
    numbers[0].put(2); // is dropped
    assertEquals([own.listeners, other.listeners], [2, 2]);
    (which === "first" ? own : other).abort(new Error("enough"));
    assertEquals([await waiting, await numbers[0].next(), await numbers[2].next()], [END, END, END]);
    assertEquals([own.listeners, other.listeners], [0, 0]);
    assertEquals(numbers[2].calls, ["finish"]);
  }
});

Deno.test("PolledIterator rejects once with the failure that ends it, or with what its beginning throws", async () => {
  const numbers = new Numbers(undefined);
  const waiting = [numbers.next(), numbers.next()];
  await Promise.resolve();
  numbers.end({ error: new Error("lost") });
  await assertRejects(() => waiting[0], Error, "lost");
  assertEquals(await waiting[1], END);
  const other = new Numbers(undefined);
  other.put(-1);
  await assertRejects(() => other.next(), Error, "cannot begin");
  assertEquals([await other.next(), other.calls], [END, ["begin", "finish"]]);
});

/** A reader of the next list of `source`. */
function readerOf(source: ScriptedSource, signal?: AbortSignal): ReadAhead<ListPart<Thing>> {
  return new ReadAhead((signal) => source.listEntries({ signal }), signal);
}

Deno.test("ReadAhead requests the first item before the first next(), and each later one only at its next()", async () => {
  const source = new ScriptedSource().list({ entries: [], continue: "t" }, { entries: [] }, ReadAheadEND);
  const reader = readerOf(source);
  assertEquals(source.calls[0]?.asked ?? false, false);
  reader.request();
  assertEquals(source.calls[0].asked, true);
  assertEquals((await reader.next())?.continue, "t");
  assertEquals((await reader.next())?.continue, undefined);
  assertEquals(await reader.next(), undefined);
  await reader.close();
  assertEquals(source.open, 0);
});

Deno.test("ReadAhead keeps the error of its first item until next(), and drops it when it is closed before", async () => {
  for (const isRead of [true, false]) {
    const source = new ScriptedSource().list(refused(500));
    const reader = readerOf(source);
    reader.request();
    if (isRead) await assertRejects(() => reader.next(), Error, "500");
    await reader.close();
    assertEquals(source.open, 0);
  }
});

Deno.test("ReadAhead close does not wait for a source that never answers", async () => {
  const source = new ScriptedSource().list();
  const reader = readerOf(source);
  reader.request();
  source.calls[0].ignoresAbort = true;
  await reader.close();
  assertEquals(source.calls[0].over, "returned");
});

Deno.test("ReadAhead leaves no listener on its signal when the source cannot be opened", () => {
  let listeners = 0;
  const { signal } = new AbortController();
  signal.addEventListener = (): void => void listeners++;
  signal.removeEventListener = (): void => void listeners--;
  const open = (): never => {
    throw new TypeError("no such source");
  };
  assertThrows(() => new ReadAhead(open, signal), TypeError, "no such source");
  assertEquals(listeners, 0);
});

Deno.test("readers are open from their beginning to their end, and end with their source, also those that begin later", async () => {
  class Reader extends PolledIterator<number> {
    protected override poll(): number | undefined {
      return 1;
    }
  }
  const readers = new Readers<Reader>();
  const stop = new AbortController();
  const [first, second, late] = [stop.signal, undefined, undefined].map((signal) => new Reader(signal, readers));
  assertEquals([...readers], []);
  for (const reader of [first, second]) assertEquals(await reader.next(), { done: false, value: 1 });
  assertEquals([...readers], [first, second]);
  stop.abort();
  assertEquals([[...readers], readers.haveEnded], [[second], false]);
  readers.end({ error: new Error("refused") });
  readers.end();
  for (const reader of [second, late]) await assertRejects(() => reader.next(), Error, "refused");
  assertEquals([[...readers], readers.haveEnded], [[], true]);
});
