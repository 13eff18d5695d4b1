/**
 * Measures the limits of the toolkit, most of them ratios of ours to a named baseline from the same run, and prints one
 * table: each value beside the accepted one.
 *
 * `deno task bench:limits [--only L7,M6] [--reps 3]`; ends with 1 when a limit is not held. Ids with a letter behind the
 * number, or behind a dash, come from the same case: `--only L16` and `--only fields` mean all of them. Cases
 * that take long, or programs that may not be there, are measured only when they are named: `--only million,metadata`. Each
 * file in `limits` is a case: it declares its limits, and is the program that is run for each side.
 */
import { Flags } from "./flags.ts";
import { isHeld, type Limit, type Measurement } from "./limits/_measurement.ts";
import { FIELDS_HEAP, HEAP, WEIGHTS } from "./limits/cached.ts";
import { CHURN } from "./limits/churned.ts";
import { COLLECTIONS } from "./limits/collections.ts";
import { COMMIT } from "./limits/commit.ts";
import * as decoding from "./limits/decoding.ts";
import { CLIENT_NODE, EVENTS, FIELDS_EVENTS, METADATA } from "./limits/events.ts";
import { HANDLERS } from "./limits/handlers.ts";
import { IMPORT } from "./limits/imported.ts";
import { LARGE as LARGE_LIST } from "./limits/large_list.ts";
import { LATENCY } from "./limits/latency.ts";
import { LARGE, LISTS } from "./limits/lists.ts";
import { MILLION } from "./limits/million.ts";
import { PIPELINE } from "./limits/pipeline.ts";
import * as relists from "./limits/relists.ts";
import { RELAY } from "./limits/relay.ts";
import { RESTORE } from "./limits/restore.ts";
import { SELECT } from "./limits/select.ts";
import { STORE } from "./limits/store.ts";
import { VIEW } from "./limits/view.ts";
import { rounded, table } from "./table.ts";

const MEASUREMENTS: readonly Measurement[] = [
  decoding.PODS,
  decoding.LEASES,
  LISTS,
  LARGE,
  EVENTS,
  relists.PODS,
  relists.LEASES,
  PIPELINE,
  STORE,
  HEAP,
  LATENCY,
  CLIENT_NODE,
  LARGE_LIST,
  COMMIT,
  SELECT,
  HANDLERS,
  COLLECTIONS,
  IMPORT,
  WEIGHTS,
  CHURN,
  FIELDS_EVENTS,
  FIELDS_HEAP,
  RELAY,
  VIEW,
  RESTORE,
  METADATA,
  MILLION,
];

/**
 * Takes the measurements that a command line asks for, prints them, and returns how many limits are not held.
 *
 * @throws {RangeError} when the command line names an id that does not exist.
 */
async function report(args: readonly string[]): Promise<number> {
  const flags = new Flags(args, ["only", "reps"]);
  const only = flags.list("only");
  const repetitions = flags.count("reps", 3);
  const isNamed = (id: string, name: string): boolean =>
    name === id || name === id.replace(/[a-z]$/, "") || id.startsWith(`${name}-`);
  const isWanted = (id: string, caseName?: string): boolean =>
    only === undefined || only.some((name) => name === caseName || isNamed(id, name));

  const ids = MEASUREMENTS.flatMap((measurement) => measurement.ids);
  const names = MEASUREMENTS.flatMap(({ name }) => name ?? []);
  const unknown = only?.find((name) => !names.includes(name) && !ids.some((id) => isNamed(id, name)));
  if (unknown !== undefined) {
    throw new RangeError(`Cannot measure "${unknown}": there are ${[...ids, ...names].join(", ")}`);
  }

  const rows: string[][] = [];
  let missed = 0;
  for (const measurement of MEASUREMENTS) {
    const wanted = measurement.ids.filter((id) => isWanted(id, measurement.name));
    if (wanted.length === 0 || (only === undefined && measurement.onlyNamed)) continue;
    console.error(`measuring ${wanted.join(", ")} …`);
    try {
      for (const limit of await measurement.measure({ repetitions })) {
        if (!wanted.includes(limit.id)) continue;
        const held = isHeld(limit);
        if (held === false) missed++;
        rows.push([limit.id, limit.what, text(limit.value, limit), accepted(limit), HELD.get(held)!]);
      }
    } catch (error) {
      missed++;
      rows.push([wanted.join(" "), error instanceof Error ? error.message : String(error), "-", "", "NO"]);
    }
  }
  console.log(table([["id", "what", "measured", "accept", "held"], ...rows]));
  console.log(
    `\nmedians of ${repetitions} and more, both sides interleaved, on ${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}; ` +
      (missed === 0 ? "all held" : `${missed} not held`),
  );
  return missed;
}

const HELD: ReadonlyMap<boolean | undefined, string> = new Map([[true, "yes"], [false, "NO"], [undefined, ""]]);

function text(value: number, { unit }: Limit): string {
  return unit === undefined ? rounded(value) : `${rounded(value)} ${unit}`;
}

function accepted(limit: Limit): string {
  const { accept } = limit;
  if (accept === undefined) return "";
  return "most" in accept ? `<= ${text(accept.most, limit)}` : `>= ${text(accept.least, limit)}`;
}

Deno.exit(await report(Deno.args) === 0 ? 0 : 1);
