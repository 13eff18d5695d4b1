/**
 * The same job for every client on this machine that can do it, side by side: one table, and below it how we stand.
 * With `--against` two versions of our own client, with `--memory-limit` the smallest memory for it, with `--reconcile`
 * controllers, with `--report` the table of README. `--help` prints the flags.
 */
import { choice, count, list, quit, readFlags } from "../../tools/flags.ts";
import { rounded, table } from "../../tools/table.ts";
import { median } from "../statistics.ts";
import { describeJob } from "./changed_bytes.ts";
import { type Job, MIXES } from "./job.ts";
import { findMemoryLimits } from "./memory_limit.ts";
import { PEERS } from "./peer.ts";
import { race, type RaceOptions, type Result } from "./race.ts";
import { raceOnApiServer } from "./real.ts";
import { raceReconcilers } from "./reconcile.ts";
import { writeReport } from "./report.ts";
import { compareVersions } from "./versions.ts";

if (isGiven("memory-limit")) {
  await findMemoryLimits().catch((error) => quit(error, 1));
  Deno.exit(0);
}
if (isGiven("against")) Deno.exit(await compareVersions().catch((error) => quit(error, 2)));
if (isGiven("reconcile")) {
  await raceReconcilers().catch((error) => quit(error, 1));
  Deno.exit(0);
}
if (isGiven("report")) {
  await writeReport().catch((error) => quit(error, 1));
  Deno.exit(0);
}
const ids = PEERS.map(({ id }) => id);
const flags = readFlags({
  task: "bench:peers",
  summary:
    "Measures clients at the same job on one server, in turns: list, follow events, relist. One table of medians.\n\n" +
    "--against COMMIT measures two versions of our own client, --memory-limit the smallest memory for it, --reconcile N\n" +
    "controllers, and --report writes README's table. --against --help prints its flags, and so do the others.",
  flags: {
    only: list("IDS", `clients, comma separated; default all:\n${ids.join(", ")}`, ids),
    reps: count("runs of each client", 3),
    pods: count("objects in the list", 10_000),
    events: count("events of the watch", 50_000),
    mix: choice(MIXES, "what an event changes; bench/README.md describes them", "metadata"),
    "streaming-lists": choice(["on", "off"], "the server offers streaming lists", "off"),
    "api-server": choice(
      ["on", "off", "only"],
      "lists from the kube-apiserver of KUBEBUILDER_ASSETS too, or these only; off for other mixes than metadata",
      "on",
    ),
    "timeout-seconds": count("deadline of one run", 180),
  },
  examples: [
    "--only keys,bare --reps 5",
    "--only read,client-go --mix status",
    "--against HEAD",
    "--memory-limit --against HEAD",
    "--reconcile 5000",
    "--report --reps 16",
  ],
});
const { only, pods, mix, reps: repetitions } = flags;
const peers = PEERS.filter(({ id }) => only?.includes(id) ?? true);
const job: Job = { pods, events: flags.events, changed: Math.max(1, Math.round(pods / 100)), mix };
const onRun: RaceOptions["onRun"] = (peer, outcome) => {
  const result = outcome instanceof Error
    ? outcome.message
    : `${rounded(outcome.syncMs)} ms, ${rounded(outcome.eventsPerSecond ?? NaN)} events/s`;
  console.error(`${peer.name}: ${result}`);
};
const timeoutMs = flags["timeout-seconds"] * 1_000;
const apiServer = mix === "metadata" ? flags["api-server"] : "off"; // only lists: the same for each mix
const results = apiServer === "only" ? new Map<string, Result[] | Error>() : await race(peers, {
  job,
  repetitions,
  streamingLists: flags["streaming-lists"] === "on",
  timeoutMs,
  onRun,
});

function isGiven(name: string): boolean {
  return Deno.args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
}

function medianOf(id: string, field: keyof Result): number {
  const runs = results.get(id);
  if (!Array.isArray(runs)) return NaN;
  return median(runs.map((run) => run[field] ?? NaN));
}

/** The number of events that ours delivers while this one delivers one. */
function times(ours: string, id: string): string {
  return rounded(medianOf(ours, "eventsPerSecond") / medianOf(id, "eventsPerSecond"));
}

const rows = (apiServer === "only" ? [] : peers).map((peer) => {
  const runs = results.get(peer.id);
  if (!Array.isArray(runs)) return [peer.name, `left out: ${runs?.message ?? "it was not run"}`];
  const fields = (["syncMs", "eventsPerSecond", "stallMs", "relistMs", "peakRssMb", "cpuSeconds"] as const)
    .map((field) => rounded(medianOf(peer.id, field)));
  return [peer.name, ...fields, times("keys", peer.id), times("read", peer.id)];
});
const left = rows.filter((row) => row.length === 2);
if (rows.length > 0) {
  console.log(
    `${describeJob(job)}\nmedians of ${repetitions}, interleaved; Deno ${Deno.version.deno}\n`,
  );
}
if (rows.length > 0) {
  console.log(table([
    [
      "client",
      "sync ms",
      "events/s",
      "worst stall ms",
      "relist ms",
      "peak RSS MB",
      "CPU s",
      "keys : this, events/s",
      "read : this, events/s",
    ],
    ...rows.filter((row) => row.length > 2),
  ]));
}
for (const [name, reason] of left) console.log(`${name}: ${reason}`);

/** The goals against each client, for the mix metadata: ratios of ours to theirs. */
const GOALS: readonly (readonly [id: string, goals: readonly Goal[]])[] = [
  ["client-node", [
    { ours: "keys", field: "syncMs", most: 0.45 },
    { ours: "keys", field: "eventsPerSecond", least: 3.5 },
    { ours: "read", field: "eventsPerSecond", least: 1.5 },
    { ours: "keys", field: "peakRssMb", most: 0.45 },
  ]],
  ["kube-rs", [
    { ours: "keys", field: "eventsPerSecond", least: 3 },
    { ours: "read", field: "eventsPerSecond", least: 1.5 },
    { ours: "keys", field: "syncMs", most: 0.6 },
    { ours: "keys", field: "peakRssMb", most: 0.7 },
  ]],
  ["client-go", [
    { ours: "read", field: "syncMs", most: 1 },
    { ours: "read", field: "eventsPerSecond", least: 1 },
    { ours: "read", field: "peakRssMb", most: 1 },
    { ours: "read", field: "cpuSeconds", most: 1 },
    { ours: "read", field: "stallMs", most: 1 },
  ]],
  ["client-go-protobuf", [
    { ours: "keys", field: "eventsPerSecond", least: 2 },
    { ours: "read", field: "eventsPerSecond", least: 1 },
    { ours: "keys", field: "syncMs", most: 0.85 },
    { ours: "keys", field: "peakRssMb", most: 1 },
    { ours: "keys", field: "cpuSeconds", most: 0.5 },
    { ours: "fields", field: "eventsPerSecond", least: 1.3 },
    { ours: "fields", field: "peakRssMb", most: 0.5 },
    { ours: "fields", field: "syncMs", most: 0.8 },
  ]],
];

interface Goal {
  readonly ours: "keys" | "read" | "fields";
  readonly field: keyof Result;
  readonly most?: number;
  readonly least?: number;
}

const FIELDS: Partial<Record<keyof Result, string>> = {
  syncMs: "time to sync",
  eventsPerSecond: "events/s",
  peakRssMb: "peak RSS",
  cpuSeconds: "CPU",
  stallMs: "worst stall",
};

const goals = (mix === "metadata" ? GOALS : []).flatMap(([id, goals]) =>
  goals.map(({ ours, field, most, least }) => {
    const ratio = medianOf(ours, field) / medianOf(id, field);
    if (!Number.isFinite(ratio)) return [];
    const reached = most === undefined ? ratio >= least! : ratio <= most;
    const wanted = most === undefined ? `>= ${least}` : `<= ${most}`;
    return [id, `${FIELDS[field]}, ${ours}`, rounded(ratio), wanted, reached ? "yes" : "no"];
  }).filter((row) => row.length > 0)
);
if (goals.length > 0) {
  console.log(`\n${table([["against", "ours : theirs", "measured", "goal", "reached"], ...goals])}`);
}

const assets = Deno.env.get("KUBEBUILDER_ASSETS");
if (apiServer !== "off" && assets !== undefined) {
  const runs = await raceOnApiServer(assets, { job, repetitions: repetitions, timeoutMs, onRun });
  const of = (id: string, field: keyof Result): string =>
    rounded(median(runs.get(id)!.map((run) => run[field] ?? NaN)));
  const fields = ["syncMs", "stallMs", "peakRssMb", "cpuSeconds"] as const;
  console.log(`\n${job.pods} pods on a real kube-apiserver, TLS, until synced; medians of ${repetitions}\n`);
  console.log(table([
    ["client", "sync ms", "worst stall ms", "peak RSS MB", "CPU s"],
    ...PEERS.filter(({ id }) => runs.has(id)).map(({ id, name }) => [name, ...fields.map((field) => of(id, field))]),
  ]));
}
