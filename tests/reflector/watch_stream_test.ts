import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { WatchStream } from "../../src/reflector/watch_stream.ts";
import { bookmark, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";

/** A signal that counts its listeners. */
function counted(): { readonly signal: AbortSignal; readonly listeners: number } {
  const { signal } = new AbortController();
  const listening = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]): void => {
    listening.add(args[1]);
    addEventListener.apply(signal, args as never);
  };
  signal.removeEventListener = (...args: unknown[]): void => {
    listening.delete(args[1]);
    removeEventListener.apply(signal, args as never);
  };
  return {
    signal,
    get listeners() {
      return listening.size;
    },
  };
}

const TIMES = { timeoutMs: 120_000 };

Deno.test("WatchStream counts changes, and keeps neither timer nor listener after it is closed", async () => {
  using time = new FakeTime();
  const parent = counted();
  const source = new ScriptedSource().watch([], [bookmark(1), bookmark(2)], END);
  const stream = new WatchStream<Thing>((signal) => source.watchChanges({ signal }), { ...TIMES, ...parent });
  assertEquals([stream.open, stream.delivered, parent.listeners, time.timers], [false, 0, 1, 1]);
  assertEquals(stream.accept(await stream.next())?.length, 0);
  assertEquals([stream.open, stream.delivered], [true, 0]);
  assertEquals(stream.accept(await stream.next())?.length, 2);
  assertEquals([stream.accept(await stream.next()), stream.delivered], [undefined, 2]);
  stream.close();
  stream.close();
  assertEquals([parent.listeners, time.timers, parent.signal.aborted], [0, 0, false]);
});

Deno.test("WatchStream that cannot be opened keeps neither timer nor listener", () => {
  using time = new FakeTime();
  const parent = counted();
  const open = (): never => {
    throw new TypeError("the selector makes no sense");
  };
  assertThrows(() => new WatchStream<Thing>(open, { ...TIMES, ...parent }), TypeError, "selector");
  assertEquals([parent.listeners, time.timers], [0, 0]);
});

Deno.test("WatchStream.fail() rejects a pending read with that error, and ends the source", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch();
  const parent = counted();
  const stream = new WatchStream<Thing>((signal) => source.watchChanges({ signal }), { ...TIMES, ...parent });
  const waiting = assertRejects(() => stream.next(), Error, "given up");
  await time.tickAsync(0);
  stream.fail(new Error("given up"));
  await waiting;
  stream.close();
  assertEquals([source.open, parent.listeners, time.timers], [0, 0, 0]);
});
