/**
 * Measures the limits of the toolkit, most of them ratios of ours to a named baseline from the same run, and prints one
 * table: each value beside the accepted one. `--help` prints its flags. Each file in `limits` is a case: it declares
 * its limits, and is the program that is run for each side.
 */
import { join } from "node:path";
import { count, list, quit, readFlags, text } from "../tools/flags.ts";
import { rounded, table } from "../tools/table.ts";
import { FIELDS_HEAP, HEAP, WEIGHTS } from "./limits/cached.ts";
import { CHECKED } from "./limits/checked.ts";
import { CHURN } from "./limits/churned.ts";
import { JOINED } from "./limits/clusters.ts";
import { COLLECTIONS } from "./limits/collections.ts";
import { COMMIT } from "./limits/commit.ts";
import { COUNTED } from "./limits/counted.ts";
import * as decoding from "./limits/decoding.ts";
import { DERIVED } from "./limits/derived.ts";
import { CLIENT_NODE, EVENTS, FIELDS_EVENTS } from "./limits/events.ts";
import * as fleets from "./limits/fleets.ts";
import { HANDLERS } from "./limits/handlers.ts";
import { IDLE } from "./limits/idle.ts";
import { IMPORT } from "./limits/imported.ts";
import { LARGE as LARGE_LIST } from "./limits/large_list.ts";
import { LATENCY } from "./limits/latency.ts";
import { LARGE, LISTS } from "./limits/lists.ts";
import { LOGS } from "./limits/logs.ts";
import { isHeld, type Limit, type Measurement } from "./limits/measurement.ts";
import { MILLION } from "./limits/million.ts";
import { PAGE } from "./limits/page.ts";
import { PIPELINE } from "./limits/pipeline.ts";
import { PROCESSES } from "./limits/processes.ts";
import { KUBERNETES_READERS } from "./limits/readers.ts";
import { RELAY } from "./limits/relay.ts";
import * as relists from "./limits/relists.ts";
import { RESTORE } from "./limits/restore.ts";
import { SELECT } from "./limits/select.ts";
import { SHARDED_CACHE } from "./limits/sharded_cache.ts";
import { SHARDS } from "./limits/shards.ts";
import * as started from "./limits/started.ts";
import { STORE } from "./limits/store.ts";
import { STRANGERS } from "./limits/strangers.ts";
import { VIEW } from "./limits/view.ts";
import { WORKLOAD_STATUS } from "./limits/workload_status.ts";
import { extract, hashOf } from "./peers/checkouts.ts";

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
  started.VERSION,
  started.ANSWERS,
  CHECKED,
  WEIGHTS,
  CHURN,
  FIELDS_EVENTS,
  FIELDS_HEAP,
  SHARDS,
  DERIVED,
  WORKLOAD_STATUS,
  RELAY,
  KUBERNETES_READERS,
  IDLE,
  PAGE,
  VIEW,
  RESTORE,
  MILLION,
  COUNTED,
  SHARDED_CACHE,
  PROCESSES,
  JOINED,
  STRANGERS,
  LOGS,
  fleets.TEMPLATE,
  fleets.WORKLOADS,
  fleets.RANDOM,
];

/** The names of a limit on the command line: its id, and what stands for several. */
function namesOf(id: string, caseName?: string): string[] {
  return [id, id.replace(/(?<=\d)[a-z]$/, ""), id.split("-")[0], ...caseName === undefined ? [] : [caseName]];
}

const { only, reps: repetitions, objects, settle: settleSeconds, against } = readFlags({
  task: "bench:limits",
  summary: "Measures speed, memory and stalls beside baselines, and prints each value beside the accepted one.",
  flags: {
    only: list(
      "IDS",
      "limits to measure, comma separated; default all but those of cases that take long, or need\n" +
        "programs that may not be there. L16 is L16t to L16m; fields, million and others are whole cases",
      [...new Set(MEASUREMENTS.flatMap(({ ids, name }) => ids.flatMap((id) => namesOf(id, name))))],
    ),
    reps: count("runs of each side, of which there are medians", 3),
    objects: count("objects of each fleet", 20_000),
    against: text("COMMIT", "the same limits by the programs of a commit too, in a second table; it needs --only"),
    settle: count("seconds of idle time before the memory of a fleet is measured again", 60),
  },
  examples: ["--only L7,M6", "--only million --against HEAD~10", "--only fleet --reps 1 --objects 2000 --settle 5"],
  exits: "Exits with 1 when a limit is not held, with 2 when the command line is wrong.",
});

/** Takes the measurements, prints them, and returns how many limits are not held. */
async function report(): Promise<number> {
  const isWanted = (id: string, caseName?: string): boolean =>
    only === undefined || namesOf(id, caseName).some((name) => only.includes(name));
  const rows: string[][] = [];
  let missed = 0;
  for (const measurement of MEASUREMENTS) {
    const wanted = measurement.ids.filter((id) => isWanted(id, measurement.name));
    if (wanted.length === 0 || (only === undefined && measurement.onlyNamed)) continue;
    console.error(`measuring ${wanted.join(", ")} …`);
    try {
      for (const limit of await measurement.measure({ repetitions, objects, settleSeconds })) {
        if (!wanted.includes(limit.id)) continue;
        const held = isHeld(limit);
        if (held === false) missed++;
        rows.push([limit.id, limit.what, figure(limit.value, limit), accepted(limit), HELD.get(held)!]);
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

function figure(value: number, { unit }: Limit): string {
  return unit === undefined ? rounded(value) : `${rounded(value)} ${unit}`;
}

function accepted(limit: Limit): string {
  const { accept } = limit;
  if (accept === undefined) return "";
  return "most" in accept ? `<= ${figure(accept.most, limit)}` : `>= ${figure(accept.least, limit)}`;
}

/** Prints the table of a commit, whose programs measure: paths in `src` may have been others. */
async function reportAt(hash: string, ids: readonly string[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "limits-" });
  try {
    await extract(hash, join(folder, "commit"));
    console.log(`\nAt ${hash}:\n`);
    const program = join(folder, "commit/bench/limits.ts");
    const args = ["run", "-A", "--quiet", "--no-lock", program, "--only", ids.join(","), "--reps", String(repetitions)];
    // Its exit code says which limits that commit holds, and a command line that it does not know.
    await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (against !== undefined && only === undefined) {
  quit("Cannot compare all limits with a commit: it takes an hour. Add --only IDS", 2);
}
const hash = against === undefined ? undefined : await hashOf(against).catch((error) => quit(error, 2));
const missed = await report();
if (hash !== undefined) await reportAt(hash, only!);
Deno.exit(missed === 0 ? 0 : 1);
