/**
 * What the toolkit is held against: ratios of ours to a named baseline, from one run, each beside what is accepted.
 *
 * `deno task bench:limits [--only L7,L8] [--reps 3]`; ends with 1 when a limit is not held. Ids with a letter behind the
 * number are parts of one limit: `--only L16` means all of its parts.
 */
import { Flags } from "./flags.ts";
import * as decoding from "./limits/decoding.ts";
import { CLIENT_NODE, EVENTS } from "./limits/events.ts";
import { HEAP } from "./limits/heap.ts";
import { LARGE } from "./limits/large.ts";
import { LATENCY } from "./limits/latency.ts";
import { isHeld, type Limit, type Measurement } from "./limits/limit.ts";
import { LISTS } from "./limits/lists.ts";
import { PIPELINE } from "./limits/pipeline.ts";
import * as relists from "./limits/relists.ts";
import { STORE } from "./limits/store.ts";
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
];

const flags = new Flags(Deno.args, ["only", "reps"]);
const only = flags.list("only");
const repetitions = flags.count("reps", 3);

function isWanted(id: string): boolean {
  return only === undefined || only.some((name) => name === id || name === id.replace(/[a-z]$/, ""));
}

const ids = MEASUREMENTS.flatMap((measurement) => measurement.ids);
const unknown = only?.find((name) => !ids.some((id) => id === name || id.replace(/[a-z]$/, "") === name));
if (unknown !== undefined) throw new RangeError(`Cannot measure "${unknown}": there are ${ids.join(", ")}`);

function text(value: number, { unit }: Limit): string {
  return unit === undefined ? rounded(value) : `${rounded(value)} ${unit}`;
}

const rows: string[][] = [];
let missed = 0;
for (const measurement of MEASUREMENTS) {
  const wanted = measurement.ids.filter(isWanted);
  if (wanted.length === 0) continue;
  console.error(`measuring ${wanted.join(", ")} …`);
  try {
    for (const limit of await measurement.measure({ repetitions })) {
      if (!isWanted(limit.id)) continue;
      const held = isHeld(limit);
      if (!held) missed++;
      const { accept } = limit;
      const accepted = "most" in accept ? `<= ${text(accept.most, limit)}` : `>= ${text(accept.least, limit)}`;
      rows.push([limit.id, limit.what, text(limit.value, limit), accepted, held ? "yes" : "NO"]);
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
Deno.exit(missed === 0 ? 0 : 1);
