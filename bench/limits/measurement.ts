import { fileURLToPath } from "node:url";
import { type Command, run } from "../peers/child.ts";
import { median } from "../statistics.ts";

/** A row of the table of limits. */
export interface Limit {
  /** The name on the command line: a letter, a number, and a letter where rows come from the same runs. */
  readonly id: string;
  /** The measured quantity, and its baseline. */
  readonly what: string;
  /** The measured value. */
  readonly value: number;
  /** The greatest or least accepted value. @default {none: a figure to look at} */
  readonly accept?: { readonly most: number } | { readonly least: number };
  /** Unit of both. @default {"", a ratio} */
  readonly unit?: string;
}

/** Options of a measurement. */
export interface MeasureOptions {
  /** Runs of each side; the median counts. */
  readonly repetitions: number;
  /** The objects of a fleet. @default {20_000} */
  readonly objects?: number;
  /** The idle time before the memory of a fleet is measured again, in seconds. @default {60} */
  readonly settleSeconds?: number;
}

/** A case: it measures one limit, or some that come from the same runs. */
export interface Measurement {
  /** The ids of its limits. */
  readonly ids: readonly string[];
  /** A word that stands for all of them on the command line. @default {none} */
  readonly name?: string;
  /**
   * True if it is measured only when the command line names it: it takes long, or programs that may not be there.
   *
   * @default {false}
   */
  readonly onlyNamed?: boolean;
  /** Takes the measurements. @throws {Error} when something could not be measured. */
  measure(options: MeasureOptions): Promise<readonly Limit[]>;
}

/** Numbers by name, as a program prints them. */
export type Numbers = Readonly<Record<string, number>>;

/** Options of {@linkcode measureCase}. */
export interface CaseOptions {
  /** Arguments of the program. */
  readonly args?: readonly (string | number)[];
  /** Flags of V8, `--trace-gc`. @default {["--expose-gc"]} */
  readonly v8Flags?: readonly string[];
}

/** The longest accepted turn, in milliseconds, but for one in a thousand. */
export const TURN_MS = 20;
/** The greatest accepted delay of the event loop, as a ratio to that of a program that only parses and stores. */
export const DELAY = 1.2;

/** Returns a limit of a ratio: the greatest accepted value, or the least one. */
export function ratio(id: string, what: string, value: number, accept: number | { readonly least: number }): Limit {
  return { id, what, value, accept: typeof accept === "number" ? { most: accept } : accept };
}

/** Returns a limit in milliseconds. */
export function ms(id: string, what: string, value: number, most: number): Limit {
  return { id, what, value, accept: { most }, unit: "ms" };
}

/**
 * Returns true if the value is accepted; one that could not be measured is not. `undefined` for a figure without a
 * limit.
 */
export function isHeld({ value, accept }: Limit): boolean | undefined {
  if (accept === undefined) return undefined;
  return "most" in accept ? value <= accept.most : value >= accept.least;
}

/** Returns the command that runs a module, such as a case by its `import.meta.url`, in a process of its own. */
export function caseCommand(url: string, options: CaseOptions = {}): Command {
  const { args = [], v8Flags = ["--expose-gc"] } = options;
  return [
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--no-lock",
    ...v8Flags.length > 0 ? [`--v8-flags=${v8Flags.join(",")}`] : [],
    url.startsWith("file:") ? fileURLToPath(url) : url,
    ...args.map(String),
  ];
}

/** Runs the program of a case, and returns the numbers that it prints. @throws {Error} when it fails. */
export async function measureCase(url: string, options: CaseOptions = {}): Promise<Numbers> {
  return numbersIn(await run(caseCommand(url, options)));
}

/**
 * Returns the numbers in the output of a program: one JSON object, which may be in the middle of a line, as V8 writes
 * its traces in blocks of its own.
 *
 * @throws {Error} when there is none.
 */
export function numbersIn(output: string): Numbers {
  const found = /\{"[^{}]*\}/.exec(output);
  if (found === null) {
    throw new Error(`Cannot read the numbers of a case: found ${JSON.stringify(output.slice(0, 80))}`);
  }
  return JSON.parse(found[0]) as Numbers;
}

/** Returns the median of each number of several runs. */
export function mediansOf(runs: readonly Numbers[]): Numbers {
  return Object.fromEntries(Object.keys(runs[0]).map((name) => [name, median(runs.map((numbers) => numbers[name]))]));
}

/** Runs a case in the modes `informers` and `bare`, in turns, and returns the medians of both. */
export async function medians(
  repetitions: number,
  measure: (mode: string) => Promise<Numbers>,
): Promise<[informers: Numbers, bare: Numbers]> {
  const runs: Record<string, Numbers[]> = { informers: [], bare: [] };
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const mode of Object.keys(runs)) runs[mode].push(await measure(mode));
  }
  return [mediansOf(runs.informers), mediansOf(runs.bare)];
}

/** Checks that each run has cached so many objects. @throws {Error} when one has not. */
export function expectObjects(expected: number, ...measured: readonly Numbers[]): void {
  for (const { objects } of measured) {
    if (objects !== expected) throw new Error(`Cannot measure: ${objects} objects are cached, expected ${expected}`);
  }
}

/**
 * Collects all garbage of this process now, so that only live objects are left on the heap.
 *
 * @throws {Error} when the process was not started with `--v8-flags=--expose-gc`.
 */
export function collect(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error("Cannot collect garbage: start the process with --v8-flags=--expose-gc");
  gc();
  gc(); // what the first one only marked for finalization
}
