import { assertEquals, assertStrictEquals } from "@std/assert";
import { ExternalStore } from "../../../src/engine/async/iterate.ts";
import { Uncaught } from "../../support/sources/informer.ts";

interface State {
  readonly rows: readonly object[];
  readonly total: number;
  readonly error?: unknown;
}

Deno.test("a snapshot, its arrays and their elements are the same while they have not changed", () => {
  let state: State = { rows: [], total: 0 };
  let reads = 0;
  const store = new ExternalStore<State>(() => {
    reads++;
    return { ...state, rows: [...state.rows] };
  });
  const { getSnapshot } = store;
  const [a, b] = [{}, {}];
  state = { rows: [a, b], total: 2 };
  const first = getSnapshot();
  assertStrictEquals(getSnapshot(), first);
  assertEquals(reads, 1);
  store.changed();
  assertStrictEquals(getSnapshot(), first);
  state = { ...state, total: 3 };
  store.changed();
  const second = getSnapshot();
  assertEquals(second, { rows: [a, b], total: 3 });
  assertStrictEquals(second.rows, first.rows);
  state = { rows: [a, {}], total: 3, error: 1 };
  store.changed();
  const third = getSnapshot();
  assertEquals([third.error, third.rows === second.rows, third.rows[0] === a], [1, false, true]);
  state = { rows: [a], total: 3, error: 1 };
  store.changed();
  assertEquals(getSnapshot().rows.length, 1);
  const before = reads;
  getSnapshot();
  assertEquals(reads, before);
});

Deno.test("listeners are called once for the changes of a turn, until they are removed", async () => {
  const store = new ExternalStore<State>(() => ({ rows: [], total: 0 }));
  const { subscribe } = store;
  const calls: string[] = [];
  const remove: Record<string, () => void> = {};
  const listener = (): void => {
    calls.push("a");
    remove.b();
    subscribe(() => calls.push("late"));
  };
  remove.a = subscribe(listener);
  remove.b = subscribe(() => calls.push("b"));
  const twice = (): void => void calls.push("c");
  remove.c = subscribe(twice);
  subscribe(twice);
  store.changed();
  store.changed();
  assertEquals(calls, []);
  await Promise.resolve();
  assertEquals(calls.splice(0), ["a", "c", "c"]);
  remove.a();
  remove.c();
  store.changed();
  await Promise.resolve();
  assertEquals(calls, ["c", "late"]);
});

Deno.test("an error of a listener is reported as uncaught, and others are called", async () => {
  using uncaught = new Uncaught();
  const store = new ExternalStore<State>(() => ({ rows: [], total: 0 }));
  let calls = 0;
  store.subscribe(() => {
    throw new Error("a bug");
  });
  store.subscribe(() => calls++);
  store.changed();
  await Promise.resolve();
  assertEquals([calls, String(uncaught.errors)], [1, "Error: a bug"]);
});
