import { type Command, run } from "./peers/child.ts";
import { pathOf as pathInPeers } from "./peers/peer.ts";

/** Numbers by name, as a case prints them. */
export type Numbers = Readonly<Record<string, number>>;

/** How a case is run. */
export interface CaseOptions {
  /** What stands on its command line. */
  readonly args?: readonly (string | number)[];
  /** Flags of V8, `--trace-gc`. @default {["--expose-gc"]} */
  readonly v8Flags?: readonly string[];
}

/** A program beside this file that measures one thing in a process of its own: the command. */
export function caseCommand(file: string, options: CaseOptions = {}): Command {
  const { args = [], v8Flags = ["--expose-gc"] } = options;
  return [
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--no-lock",
    ...v8Flags.length > 0 ? [`--v8-flags=${v8Flags.join(",")}`] : [],
    pathInPeers(`../${file}`),
    ...args.map(String),
  ];
}

/** Runs a case to its end: the numbers that it prints. @throws {Error} when it fails. */
export async function measureCase(file: string, options: CaseOptions = {}): Promise<Numbers> {
  return numbersIn(await run(caseCommand(file, options)));
}

/**
 * The numbers among what a case has printed: one object of JSON, which may stand in the middle of a line, as V8 writes its
 * traces in blocks of its own.
 *
 * @throws {Error} when there is none.
 */
export function numbersIn(output: string): Numbers {
  const found = /\{"[^{}]*\}/.exec(output);
  if (found === null) {
    throw new Error(`Cannot read what a case has measured: found ${JSON.stringify(output.slice(0, 80))}`);
  }
  return JSON.parse(found[0]) as Numbers;
}
