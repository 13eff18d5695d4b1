import { assertEquals, assertThrows } from "@std/assert";
import { type OptionTable, plainRows, readOptions, withDefaults } from "../../../src/engine/errors/option_table.ts";

interface Options {
  readonly name?: string;
  readonly graceMs?: number;
  readonly attempts?: number;
  readonly mode?: "fast" | "slow";
}

const OPTIONS = {
  ...plainRows("name"),
  graceMs: { default: 10, ms: { min: 1, finite: true } },
  attempts: { default: 3, count: { min: 1 } },
  mode: { default: "fast" },
} as const satisfies OptionTable<Options>;

Deno.test("readOptions fills in the defaults of options that are missing or undefined, and keeps the others", () => {
  const { graceMs, attempts, mode }: Required<Omit<Options, "name">> = readOptions<Options, typeof OPTIONS>("open", {
    attempts: undefined,
    mode: "slow",
  }, OPTIONS);
  assertEquals([graceMs, attempts, mode], [10, 3, "slow"]);
  const none = undefined as unknown as Options; // JavaScript has no types
  assertEquals(readOptions<Options, typeof OPTIONS>("open", none, OPTIONS).graceMs, 10);
  assertEquals(Object.keys(readOptions<Options, typeof OPTIONS>("open", {}, OPTIONS)), ["graceMs", "attempts", "mode"]);
});

Deno.test("readOptions refuses an option that no row has, and values that a row does not allow", () => {
  const read = (options: object): unknown => readOptions<Options, typeof OPTIONS>("open", options, OPTIONS);
  assertThrows(() => read({ nam: "a" }), TypeError, 'Cannot open: there is no option "nam". Did you mean "name"?');
  assertThrows(
    () => read({ other: 1 }),
    TypeError,
    'there is no option "other". Remove it. The options are name, graceMs, attempts, mode',
  );
  assertThrows(
    () => read({ graceMs: 0 }),
    RangeError,
    "Cannot open: graceMs must be at least 1 milliseconds and finite",
  );
  assertThrows(() => read({ graceMs: Infinity }), RangeError, "graceMs");
  assertThrows(() => read({ attempts: 1.5 }), RangeError, "Cannot open: attempts must be a whole number of at least 1");
});

Deno.test("withDefaults leaves out what the table does not have", () => {
  const options: Options & { readonly other: number } = { name: "a", other: 1 };
  assertEquals({ ...withDefaults<Options, typeof OPTIONS>(options, OPTIONS) }, {
    name: "a",
    graceMs: 10,
    attempts: 3,
    mode: "fast",
  });
});

Deno.test("an option table has a row for each option and no other, by its types", () => {
  // @ts-expect-error: there is no row for "name".
  const missing = { graceMs: {}, attempts: {}, mode: {} } satisfies OptionTable<Options>;
  // @ts-expect-error: "quick" is no mode.
  const wrong = { ...plainRows("name graceMs attempts"), mode: { default: "quick" } } as const satisfies OptionTable<
    Options
  >;
  const more = { ...plainRows("name graceMs attempts mode other") } satisfies OptionTable<Options>;
  const options: Options = {};
  // @ts-expect-error: there is no option "other".
  readOptions("open", options, more);
  assertEquals([missing, wrong].map((table) => Object.keys(table).length), [3, 4]);
});
