import { assert, assertEquals } from "@std/assert";
import { NO_ROW, Table } from "../../../src/engine/store/table.ts";
import { Random } from "../../../src/testing/fake/random.ts";

interface Thing {
  readonly key: string;
  readonly parity: string;
}

function thing(number: number): Thing {
  return { key: `thing-${number}`, parity: number % 2 === 0 ? "even" : "odd" };
}

function table(count: number): Table<Thing> {
  const table = new Table<Thing>([{ valuesOf: ({ parity }) => [parity], byKey: false }]);
  for (let number = 0; number < count; number++) put(table, thing(number));
  return table;
}

function put(table: Table<Thing>, value: Thing): number {
  return table.set(value.key, table.rowOf(value.key), value);
}

function take(table: Table<Thing>, { key }: Thing): void {
  table.delete(key, table.rowOf(key));
}

Deno.test("Table keeps a value in its row at an update, and reuses free rows", () => {
  const rows = table(3);
  const [row, other] = [rows.rowOf("thing-1"), rows.rowOf("thing-2")];
  const even = { key: "thing-1", parity: "even" };
  assertEquals([put(rows, even), rows.at(row)], [row, even]);
  take(rows, even);
  assertEquals([rows.rowOf("thing-1"), rows.get("thing-1")], [NO_ROW, undefined]);
  assertEquals([put(rows, thing(7)), rows.rowOf("thing-2")], [row, other]);
  assertEquals(rows.list(), [thing(0), thing(2), thing(7)], "in the order in which the keys came, not in that of rows");
  assertEquals(rows.list(rows.indexes[0].bucket("odd")), [thing(7)]);
});

Deno.test("Table compacts when most rows are free, and keeps its contents and order", () => {
  const COUNT = 5_000;
  const rows = table(COUNT);
  const left = Array.from({ length: COUNT }, (_, number) => thing(number)).filter((_, number) => number % 11 === 0);
  const seen: Thing[] = [];
  for (const value of rows) { // continues over the remaining rows, wherever they have moved
    seen.push(value);
    if (seen.length > 1) continue;
    for (let number = COUNT - 1; number > 0; number--) if (number % 11 !== 0) take(rows, thing(number));
  }
  assertEquals([seen, rows.list(), [...rows.keys()]], [left, left, left.map(({ key }) => key)]);
  assert(left.every(({ key }) => rows.rowOf(key) < COUNT / 2), "less than half of the rows is left");
  assertEquals(left.map(({ key }) => rows.get(key)), left);
  const filed = (parity: string): Thing[] => {
    const found = rows.list(rows.indexes[0].bucket(parity)); // in no particular order
    return found.sort((a, b) => Number(a.key.slice(6)) - Number(b.key.slice(6)));
  };
  assertEquals(filed("odd"), left.filter(({ parity }) => parity === "odd"));
  for (const value of left) put(rows, { ...value, parity: "none" });
  assertEquals([filed("odd"), filed("none").length, rows.indexes[0].values()], [[], left.length, ["none"]]);
  for (let number = 0; number < COUNT; number++) put(rows, thing(number));
  assertEquals([rows.size, filed("even").length, filed("none")], [COUNT, COUNT / 2, []]);
});

Deno.test("Table counts the bytes of values as they were stored, and those of indexes", () => {
  interface Sized {
    key: string;
    tags: string[];
    size: number;
  }
  const definitions = [{ valuesOf: ({ tags }: Sized) => tags, byKey: false }];
  const made = (): Table<Sized> => new Table<Sized>(definitions, ({ size }) => size);
  const rows = made();
  const kept = new Map<string, Sized>();
  const check = (): void => {
    const fresh = made();
    for (const value of kept.values()) fresh.set(value.key, NO_ROW, value);
    assertEquals(rows.bytes, fresh.bytes);
  };
  const random = new Random(7);
  for (let step = 0; step < 6_000; step++) {
    const key = `key-${random.below(step < 3_000 ? 3_000 : 30)}`;
    const value = { key, tags: ["a", "b", "c"].slice(random.below(3), random.below(4)), size: random.below(1_000) };
    rows.set(key, rows.rowOf(key), value);
    kept.set(key, { ...value, tags: [...value.tags] });
    value.size = 0; // what changes in place is counted as it was stored
    value.tags.push("later");
    if (step % 1_000 === 0) check();
  }
  check();
  const withMore = { valuesOf: ({ key }: Sized) => [key], byKey: true };
  rows.addIndexes([withMore]);
  definitions.push(withMore);
  check();
  for (const key of [...kept.keys()].slice(0, -2)) { // most rows become free, and the table compacts
    rows.delete(key, rows.rowOf(key));
    kept.delete(key);
  }
  check();
  for (const key of kept.keys()) rows.delete(key, rows.rowOf(key));
  assertEquals([rows.bytes, new Table<Sized>(definitions).bytes], [0, 0]);
});

Deno.test("Table with indexes by key alone counts an update, and staged values", () => {
  const definitions = [{ valuesOf: ({ parity }: Thing) => [parity], byKey: true }];
  const known = new Table<Thing>(definitions, ({ parity }) => parity.length);
  put(known, thing(1));
  const before = known.bytes;
  put(known, { key: "thing-1", parity: "neither" });
  assertEquals(known.bytes, before + "neither".length - "odd".length);
  const staged = new Table<Thing>(known.indexes, known.sizeOf);
  staged.stage("thing-1", known.get("thing-1")!, known);
  assertEquals(staged.bytes, known.bytes);
});
