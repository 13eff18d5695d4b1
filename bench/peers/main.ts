/**
 * The same job for every client on this machine that can do it, side by side: one table, and below it how we stand. With
 * `--against`, two versions of our own client. `--help` prints the flags.
 */
import { Flags } from "../flags.ts";
import { median } from "../statistics.ts";
import { rounded, table } from "../table.ts";
import { PEERS } from "./peer.ts";
import { race, type RaceOptions, type Result } from "./race.ts";
import { raceOnApiServer } from "./real.ts";
import { raceReconcilers, RECONCILERS } from "./reconcile.ts";
import { compareVersions } from "./versions.ts";

const HELP = `Measures clients at the same job on one server: list, follow events, relist.

  deno task bench:peers [flags]                   every client on this machine, medians
  deno task bench:peers --against COMMIT [flags]  this checkout and COMMIT, ratios of pairs
  deno task bench:peers --reconcile N [flags]     controllers that patch the status of N objects
                                                  on the kube-apiserver of KUBEBUILDER_ASSETS

Flags of both:
  --only IDS             clients, comma separated: ${PEERS.map(({ id }) => id).join(", ")}
                         with --against: those before node-keys; default keys,read
  --pods N               objects in the list; default 10000
  --events N             events of the watch; default 50000, with --against 60000
  --timeout-seconds N    deadline of one run; default 180

Flags with --reconcile: --reps, --timeout-seconds, and --only with
  ${RECONCILERS.map(({ id }) => id).join(", ")}

Flags without --against:
  --reps N               runs of each client; default 3
  --streaming-lists on   the server offers streaming lists; default off
  --api-server off|only  leaves out the real kube-apiserver of KUBEBUILDER_ASSETS, or all else

Flags with --against:
  --pairs N              pairs of runs; default 15. An interval needs 5

With --against, exits with 1 when the median ratio of events/s (keys) is below 0.97, with 2 when
the versions cannot be measured.

Examples:
  deno task bench:peers --only keys,bare --reps 5
  deno task bench:peers --against HEAD
  deno task bench:peers --against v0.1.0 --only keys --pairs 25
`;

if (Deno.args.includes("--help")) {
  console.log(HELP);
  Deno.exit(0);
}
if (Deno.args.includes("--against")) {
  const failed = (error: unknown): number => {
    console.error(error);
    return 2;
  };
  Deno.exit(await compareVersions(Deno.args).catch(failed));
}
if (Deno.args.includes("--reconcile")) {
  await raceReconcilers(Deno.args);
  Deno.exit(0);
}

const flags = new Flags(Deno.args, [
  "only",
  "reps",
  "pods",
  "events",
  "streaming-lists",
  "api-server",
  "timeout-seconds",
]);
const only = flags.list("only");
const unknown = only?.filter((id) => !PEERS.some((peer) => peer.id === id)) ?? [];
if (unknown.length > 0) {
  throw new RangeError(`Cannot measure "${unknown[0]}": there are ${PEERS.map(({ id }) => id).join(", ")}`);
}
const peers = PEERS.filter(({ id }) => only === undefined || only.includes(id));
const pods = flags.count("pods", 10_000);
const job = { pods, events: flags.count("events", 50_000), changed: Math.max(1, Math.round(pods / 100)) };
const repetitions = flags.count("reps", 3);
const onRun: RaceOptions["onRun"] = (peer, outcome) => {
  const told = outcome instanceof Error
    ? outcome.message
    : `${rounded(outcome.syncMs)} ms, ${rounded(outcome.eventsPerSecond ?? NaN)} events/s`;
  console.error(`${peer.name}: ${told}`);
};
const timeoutMs = flags.count("timeout-seconds", 180) * 1_000;
const apiServer = flags.text("api-server", "on");
const results = apiServer === "only" ? new Map<string, Result[] | Error>() : await race(peers, {
  job,
  repetitions,
  streamingLists: flags.text("streaming-lists", "off") === "on",
  timeoutMs,
  onRun,
});

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
    `${job.pods} pods, then ${job.events} events, one write each, then a relist with ${job.changed} changed; ` +
      `medians of ${repetitions}, interleaved; Deno ${Deno.version.deno}\n`,
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

/** The goals against each client: ratios of ours to theirs. */
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

const goals = GOALS.flatMap(([id, goals]) =>
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
