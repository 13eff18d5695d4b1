/**
 * Compares two versions of our client: this checkout, changes that are not committed included, and a commit. Both run
 * the same jobs against the same server, in pairs of alternating order, each run a process of its own.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choice, count, list, readFlags, text } from "../../tools/flags.ts";
import { rounded, table } from "../../tools/table.ts";
import { median, medianInterval } from "../statistics.ts";
import { describeJob } from "./changed_bytes.ts";
import { Child, type Command, run } from "./child.ts";
import { clientArgs, type Job, type Mix, MIXES, serverArgs } from "./job.ts";
import { denoRun, PEERS } from "./peer.ts";
import { reset, type Result, runClient } from "./race.ts";

/** Our clients on this Deno: the ones whose id is their mode. */
const CLIENTS = PEERS.filter(({ id, mode }) => id === mode);

/** The programs of the harness, which are the same for both versions wherever the older one can run them. */
const HARNESS = ["clients/ours.ts", "job.ts", "progress.ts", "reads.ts"].map((name) => `bench/peers/${name}`);

/** The files and folders with the code of a version, beside what {@linkcode HARNESS} needs of the project. */
const SOURCES = ["mod.ts", "deno.json", "src", "standins"];

/** The measured figures, and which direction is better. */
const FIGURES: readonly { readonly field: keyof Result; readonly name: string; readonly higherIsBetter?: true }[] = [
  { field: "syncMs", name: "sync ms" },
  { field: "eventsPerSecond", name: "events/s", higherIsBetter: true },
  { field: "relistMs", name: "relist ms" },
  { field: "peakRssMb", name: "peak RSS MB" },
  { field: "cpuSeconds", name: "CPU s" },
];

/** The least median ratio of events/s with keys that is accepted. */
const ACCEPTED = 0.97;
const CONFIDENCE = 0.9;

/** A load average from which other programs disturb the measurement noticeably. */
const BUSY = 1;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The two results of one pair. */
interface Pair {
  /** Of this checkout. */
  readonly ours: Result;
  /** Of the commit. */
  readonly theirs: Result;
}

/**
 * Runs the comparison that the command line asks for and prints one table. Returns the exit code: 1 when events/s with
 * keys are fewer than accepted, else 0.
 *
 * @throws {Error} when there is no such commit, or a run fails.
 */
export async function compareVersions(): Promise<number> {
  const flags = readFlags({
    task: "bench:peers",
    summary:
      "Measures this checkout, changes that are not committed included, beside a commit, in pairs of runs: ratios of\n" +
      "the pairs, with an interval.",
    flags: {
      against: text("COMMIT", "the commit"),
      only: list("IDS", "clients, comma separated; default keys,read", CLIENTS.map(({ id }) => id)),
      pairs: count("pairs of runs; an interval needs 5", 15),
      pods: count("objects in the list", 10_000),
      events: count("events of the watch", 60_000),
      mix: choice(MIXES, "what an event changes; bench/README.md describes them", "metadata"),
      "timeout-seconds": count("deadline of one run", 180),
    },
    examples: ["--against HEAD", "--against v0.1.0 --only keys --pairs 25", "--against HEAD --only read --mix status"],
    exits:
      `Exits with 1 when the median ratio of events/s (keys) is below ${ACCEPTED}, with 2 when the versions cannot be\n` +
      "measured or the command line is wrong.",
  });
  const { only = ["keys", "read"], pairs, pods } = flags;
  const job: Job = { pods, events: flags.events, changed: Math.max(1, Math.round(pods / 100)), mix: flags.mix };
  const timeoutMs = flags["timeout-seconds"] * 1_000;
  const [load] = Deno.loadavg();
  if (load > BUSY) {
    console.error(
      `The load average is ${load.toFixed(1)}: other programs use this machine, and intervals will be wide`,
    );
  }
  const hash = (await run(["git", "rev-parse", "--short", `${flags.against}^{commit}`], { cwd: ROOT })).trim();

  const folder = await Deno.makeTempDir({ prefix: "versions-" });
  try {
    const ours = await copyCheckout(join(folder, "new"), flags.mix);
    const theirs = await extractCommit(hash, join(folder, "old"), flags.mix);
    const measured = await measurePairs(ours, theirs, { ids: only, job, pairs, timeoutMs });
    return report(measured, job, hash);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Copies what the client needs of this checkout. Returns the client's command. */
async function copyCheckout(folder: string, mix: Mix): Promise<Command> {
  await Deno.mkdir(folder);
  await run(["cp", "-r", ...SOURCES.map((name) => join(ROOT, name)), folder]);
  await copyHarness(folder);
  const command = clientIn(folder);
  await tryOut(command, mix);
  return command;
}

/**
 * Extracts a commit and puts the harness of this checkout into it; where that does not run there, the commit's own
 * stays. Returns the client's command.
 */
async function extractCommit(hash: string, folder: string, mix: Mix): Promise<Command> {
  const archive = `${folder}.tar`;
  await Deno.mkdir(folder);
  await run(["git", "archive", "--output", archive, hash], { cwd: ROOT });
  await run(["tar", "-xf", archive, "-C", folder]);
  await copyHarness(folder);
  const command = clientIn(folder);
  try {
    await tryOut(command, mix);
  } catch (error) {
    console.error(`${hash} cannot run this checkout's client program (${(error as Error).message}); running its own`);
    if (mix === "heartbeats" || mix === "rollout") {
      throw new Error(`Cannot measure ${hash} by the mix ${mix}: its own client program may not know it`);
    }
    await run(["tar", "-xf", archive, "-C", folder]);
    await tryOut(command, mix);
  }
  return command;
}

async function copyHarness(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "bench/peers/clients"), { recursive: true });
  for (const name of HARNESS) await Deno.copyFile(join(ROOT, name), join(folder, name));
}

function clientIn(folder: string): Command {
  return denoRun(join(folder, HARNESS[0]));
}

/** Does a tiny job, so that what follows finds the program compiled. @throws {Error} when the program does not run. */
async function tryOut(command: Command, mix: Mix): Promise<void> {
  const job: Job = { pods: 10, events: 10, changed: 1, mix };
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job)]);
  await runClient([...command, await server.line(60_000), ...clientArgs(job, "keys")], 60_000);
}

/** The pairs of each client by its id; progress goes to standard error. */
async function measurePairs(
  ours: Command,
  theirs: Command,
  options: { readonly ids: readonly string[]; readonly job: Job; readonly pairs: number; readonly timeoutMs: number },
): Promise<Map<string, Pair[]>> {
  const { ids, job, pairs, timeoutMs } = options;
  const measured = new Map<string, Pair[]>(ids.map((id) => [id, []]));
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job)]);
  const url = await server.line(60_000);
  const measure = async (command: Command, id: string): Promise<Result> => {
    await reset(url);
    return await runClient([...command, url, ...clientArgs(job, id)], timeoutMs);
  };
  for (let pair = 0; pair < pairs; pair++) {
    for (const id of ids) {
      const first = await measure(pair % 2 === 0 ? ours : theirs, id);
      const second = await measure(pair % 2 === 0 ? theirs : ours, id);
      const results = pair % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first };
      measured.get(id)!.push(results);
      const [a, b] = [results.ours, results.theirs].map(({ eventsPerSecond }) => rounded(eventsPerSecond ?? NaN));
      console.error(`pair ${pair + 1} of ${pairs}, ${id}: ${a} events/s, then ${b} at the commit`);
    }
  }
  return measured;
}

/** Prints the table and the verdict. Returns the exit code. */
function report(measured: ReadonlyMap<string, readonly Pair[]>, job: Job, hash: string): number {
  const count = Math.max(...[...measured.values()].map((pairs) => pairs.length));
  const confidence = medianInterval(new Array<number>(count).fill(1), CONFIDENCE)?.confidence;
  console.log(
    `${
      describeJob(job)
    }\n${count} pairs; Deno ${Deno.version.deno}\nRatios above 1: this checkout is better than ${hash}. The interval of the median is of ` +
      `order statistics, ${confidence === undefined ? "which need 5 pairs" : `${(100 * confidence).toFixed(1)} %`}.\n`,
  );
  const rows = [...measured].flatMap(([id, pairs]) =>
    FIGURES.map((figure) => {
      const { field, name } = figure;
      const ratios = ratiosOf(pairs, figure);
      const interval = medianInterval(ratios, CONFIDENCE);
      const medians = (["ours", "theirs"] as const)
        .map((side) => rounded(median(pairs.map((pair) => pair[side][field] ?? NaN))));
      return [
        id,
        name,
        ...medians,
        median(ratios).toFixed(3),
        interval === undefined ? "-" : `${interval.from.toFixed(3)} to ${interval.to.toFixed(3)}`,
      ];
    })
  );
  console.log(table([["job", "figure", "this checkout", hash, "ratio", "interval"], ...rows]));
  const keys = measured.get("keys");
  if (keys === undefined) return 0;
  const ratio = median(ratiosOf(keys, FIGURES.find(({ field }) => field === "eventsPerSecond")!));
  const held = ratio >= ACCEPTED;
  console.log(
    `\nevents/s (keys): ${ratio.toFixed(3)}, ${held ? "at least" : "less than"} the accepted ${ACCEPTED.toFixed(2)}`,
  );
  return held ? 0 : 1;
}

/** The ratio of each pair; above 1 this checkout is better. */
function ratiosOf(pairs: readonly Pair[], { field, higherIsBetter }: (typeof FIGURES)[number]): number[] {
  return pairs.map(({ ours, theirs }) => {
    const ratio = (ours[field] ?? NaN) / (theirs[field] ?? NaN);
    return higherIsBetter ? ratio : 1 / ratio;
  });
}
