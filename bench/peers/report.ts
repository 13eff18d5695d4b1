/**
 * The report of `deno task bench:peers --report`: runs all clients, and writes their medians to
 * `bench/reports/peers.json`, and from there to the table of README and to the chart.
 *
 * {@linkcode writeReport} is the entry point. `tools/pictures/benchmark.ts` draws the chart.
 *
 * @module
 */
import { dirname, join, resolve } from "node:path";
import { choice, count, readFlags, text, toggle } from "../../tools/flags.ts";
import { median } from "../statistics.ts";
import { podItem } from "../_data.ts";
import { run } from "./child.ts";
import type { Job } from "./job.ts";
import { type Peer, PEERS } from "./peer.ts";
import { race, type Result } from "./race.ts";
import { type Client, type LargeJob, REPORT, type Report, ROOT } from "./report_data.ts";

/** What must be committed before a report: what clients run, and what measures them. Reports are written by it. */
const MEASURED = ["mod.ts", "src", "standins", "bench", ":!bench/reports"];

/** The part of README that is written here is between these lines. */
const BEGIN = "<!-- Written by deno task bench:peers --report -->";
const END = "<!-- End of the written part -->";

/** The default job, which README describes. */
const DEFAULT: Job = { pods: 10_000, events: 50_000, changed: 100 };

/** The objects of the job with many. */
const LARGE_PODS = 100_000;

/** The clients in the table of README, and what ours are called there. */
const ROWS: readonly (readonly [id: string, name?: string])[] = [
  ["keys", "`@kube/informer`, only keys read"],
  ["read", "`@kube/informer`, every object read"],
  ["node-keys", "`@kube/informer` on Node, keys"],
  ["client-node"],
  ["client-go-protobuf"],
  ["client-go"],
  ["kube-rs"],
];

/** The clients whose peak memory is measured with many pods, in the order of README. */
const LARGE = ["keys", "client-go-protobuf", "client-go", "kube-rs"];

/**
 * Measures all clients and writes the report, as the command line asks for it.
 *
 * @throws {Error} when code is not committed, or a client cannot be built or fails.
 */
export async function writeReport(): Promise<void> {
  const flags = readFlags({
    task: "bench:peers",
    summary: "Measures all clients at the default job, and writes their medians to bench/reports/peers.json, to the\n" +
      "table of README, and to the chart of docs. mod.ts, src, standins and bench must be committed.",
    flags: {
      report: toggle("writes the report"),
      reps: count("runs of each client; 16 or more for figures to publish", 5),
      pods: count("objects in the list; another number needs --to", DEFAULT.pods),
      events: count("events of the watch; another number needs --to", DEFAULT.events),
      large: choice(["on", "off"], `the peak memory of ${LARGE.join(", ")} with many pods too`, "on"),
      "large-pods": count("objects in that list; another number needs --to", LARGE_PODS),
      "large-reps": count("runs of each client at that job", 3),
      "timeout-seconds": count("deadline of one run; that job has five times as long", 180),
      to: text("FOLDER", "for a try: writes to README.md and bench/reports of FOLDER, a copy, and draws no chart"),
    },
    examples: [
      "--report --reps 16",
      "--report --reps 1 --large-reps 1 --pods 1000 --large-pods 2000 --events 1000 --to /tmp/copy",
    ],
    exits:
      "Exits with 1 when code is not committed, or a client cannot be built or fails; with 2 when the command line\n" +
      "is wrong.",
  });
  const { pods, events, reps: repetitions, to } = flags;
  const largePods = flags["large-pods"];
  const isDefault = pods === DEFAULT.pods && events === DEFAULT.events && largePods === LARGE_PODS;
  if (!isDefault && to === undefined) {
    throw new Error(
      "Cannot write a report of another job: README describes the default one. Add --to FOLDER for a try",
    );
  }
  const changes = await uncommitted();
  if (changes !== "") {
    throw new Error(`Cannot write a report: these files differ from the commit. Commit or stash them:\n${changes}`);
  }

  const commit = (await run(["git", "rev-parse", "--short=8", "HEAD"], { cwd: ROOT })).trim();
  const [load] = Deno.loadavg();
  const timeoutMs = flags["timeout-seconds"] * 1_000;
  const largeReps = flags["large-reps"];
  const large = flags.large === "off" ? undefined : await measure(
    LARGE.map((id) => PEERS.find((peer) => peer.id === id)!),
    { pods: largePods, events, repetitions: largeReps, timeoutMs: 5 * timeoutMs },
  );
  const clients = await measure(PEERS, { pods, events, repetitions, timeoutMs });
  const report: Report = {
    measuredOn: Temporal.Now.plainDateISO().toString(),
    commit,
    machine: machineOf(await Deno.readTextFile("/proc/cpuinfo"), await Deno.readTextFile("/proc/meminfo")),
    load: Number(load.toFixed(1)),
    runtime: `Deno ${Deno.version.deno}`,
    repetitions,
    job: `${figure(pods)} pods over plain HTTP, then ${figure(events)} events of one write each`,
    objectKb: objectKb(),
    clients,
    ...large === undefined ? {} : {
      large: {
        pods: largePods,
        repetitions: largeReps,
        clients: large.map(({ id, client, peakRssMb }) => ({ id, client, peakRssMb })),
      },
    },
  };
  const folder = to === undefined ? ROOT : resolve(to);
  const file = join(folder, REPORT);
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
  const readme = join(folder, "README.md");
  await Deno.writeTextFile(readme, await withReport(await Deno.readTextFile(readme), report));
  console.log(`Written: ${file}, ${readme}`);
  if (to !== undefined) return;
  console.log(await run([Deno.execPath(), "task", "--quiet", "pictures", "benchmark"], { cwd: ROOT }));
  console.log("Read the sentences below the table of README: do the new figures say the same?");
}

/** Runs clients at a job, and returns their medians. @throws {Error} when one cannot be built or fails. */
async function measure(
  peers: readonly Peer[],
  options: {
    readonly pods: number;
    readonly events: number;
    readonly repetitions: number;
    readonly timeoutMs: number;
  },
): Promise<Client[]> {
  const { pods, events, repetitions, timeoutMs } = options;
  let runs = 0;
  const results = await race(peers, {
    job: { pods, events, changed: Math.max(1, Math.round(pods / 100)) },
    repetitions,
    timeoutMs,
    onRun: ({ name }, outcome) => {
      if (outcome instanceof Error) throw new Error(`Cannot measure ${name}: ${outcome.message}`, { cause: outcome });
      console.error(`run ${++runs} of ${repetitions * peers.length}, ${figure(pods)} pods: ${name}`);
    },
  });
  return peers.map(({ id, name }) => clientOf(id, name, results.get(id) as Result[]));
}

/** The files that differ from the commit, a line each. */
async function uncommitted(): Promise<string> {
  return (await run(["git", "status", "--porcelain", "--", ...MEASURED], { cwd: ROOT })).trimEnd();
}

/** The medians of a client, with three digits or more. */
function clientOf(id: string, client: string, runs: readonly Result[]): Client {
  const of = (field: keyof Result): number => {
    const value = median(runs.map((run) => run[field] ?? NaN));
    return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  };
  return {
    id,
    client,
    syncMs: of("syncMs"),
    eventsPerSecond: of("eventsPerSecond"),
    worstStallMs: of("stallMs"),
    relistMs: of("relistMs"),
    peakRssMb: of("peakRssMb"),
    cpuSeconds: of("cpuSeconds"),
  };
}

/** Describes a machine by the texts of `/proc/cpuinfo` and `/proc/meminfo`. */
export function machineOf(cpuinfo: string, meminfo: string): string {
  const models = [...cpuinfo.matchAll(/^model name\s*:\s*(.+)$/gm)].map(([, name]) => name);
  const cores = [...cpuinfo.matchAll(/^processor\s*:/gm)].length;
  const model = models[0]?.replaceAll(/\((?:R|TM)\)| CPU| Processor|\s*@.*$/gi, "").trim() ?? "unknown model";
  const kib = Number(/^MemTotal:\s*(\d+) kB$/m.exec(meminfo)?.[1]);
  const article = /^[aeiou]/i.test(model) ? "an" : "a";
  return `${cores} ${cores === 1 ? "core" : "cores"} of ${article} ${model}, ${Math.round(kib / 1_048_576)} GiB`;
}

/** The mean size of a pod as an item of a list, in kB. */
function objectKb(): number {
  const sizes = Array.from({ length: 100 }, (_, index) => JSON.stringify(podItem(index)).length);
  return Number((sizes.reduce((sum, size) => sum + size) / sizes.length / 1_000).toFixed(1));
}

function figure(value: number, digits = 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * Returns the text of README with a report between the two lines that enclose it.
 *
 * @throws {Error} if the text does not have them.
 */
export async function withReport(readme: string, report: Report): Promise<string> {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`Cannot find "${BEGIN}" and "${END}" in README.md`);
  const part = `${BEGIN}\n\n${await readmePart(report)}\n\n${END}`;
  return await formatted(readme.slice(0, begin) + part + readme.slice(end + END.length));
}

async function readmePart(report: Report): Promise<string> {
  const { job, objectKb, repetitions, commit, measuredOn, machine } = report;
  // Loaded only here: it draws pictures with much code.
  const { benchmarkAlt } = await import("../../tools/pictures/benchmark.ts");
  const { htmlOf, PICTURES } = await import("../../tools/pictures/pictures.ts");
  const { benchmark } = PICTURES;
  const words = { ...benchmark.words, alt: benchmarkAlt(report) };
  const rows = ROWS.map(([id, name]) => {
    const client = report.clients.find((client) => client.id === id);
    if (client === undefined) throw new Error(`Cannot write the table of README: the report has no client "${id}"`);
    const shown = name ?? shownName(client);
    const { syncMs, eventsPerSecond, worstStallMs, peakRssMb, cpuSeconds } = client;
    const figures = [syncMs, eventsPerSecond, worstStallMs, peakRssMb].map((value) => figure(value));
    return `| ${[shown, ...figures, figure(cpuSeconds, 1)].join(" | ")} |`;
  });
  return [
    `The benchmark follows ${job.replace(" pods ", ` pods of ${objectKb} kB `)}. Each client has a process of its own.`,
    `The table shows medians of ${repetitions} ${
      repetitions === 1 ? "run" : "runs"
    } of commit ${commit} on ${measuredOn}, with ${machine}.`,
    "Compare only the ratios: `deno task bench:peers` measures them on your machine.\n",
    `${htmlOf("benchmark", { ...benchmark, words }, "./docs/pictures")}\n`,
    "| client | first sync, ms | events/s | longest stall, ms | peak memory, MB | CPU, s |",
    "| --- | --: | --: | --: | --: | --: |",
    ...rows,
    ...report.large === undefined ? [] : ["", ...largeRow(report.large)],
  ].join("\n");
}

function shownName({ client }: Pick<Client, "client">): string {
  return client.replace(/^@\S+/, "`$&`");
}

/** The table with one row: the peak memory of each client with many pods. */
function largeRow({ pods, repetitions, clients }: LargeJob): string[] {
  const nameOf = (client: Pick<Client, "id" | "client">): string =>
    ROWS.find(([id]) => id === client.id)?.[1] ?? shownName(client);
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row([repetitions === 1 ? "one run" : `medians of ${repetitions} runs`, ...clients.map(nameOf)]),
    row(["---", ...clients.map(() => "--:")]),
    row([`${figure(pods)} pods: peak memory, MB`, ...clients.map(({ peakRssMb }) => figure(peakRssMb))]),
  ];
}

/** The text of a page as `deno fmt` writes it. */
async function formatted(page: string): Promise<string> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext", "md", "-"],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = new Response(process.stdout).text();
  await new Blob([page]).stream().pipeTo(process.stdin);
  if (!(await process.status).success) throw new Error("Cannot format README.md: deno fmt failed");
  return await output;
}
