/**
 * Compares two versions of our client: this checkout, changes that are not committed included, and a commit. Both run
 * the same jobs against the same server, in pairs of alternating order, each run a process of its own.
 */
import { choice, count, list, readFlags, text } from "../../tools/flags.ts";
import { rounded, table } from "../../tools/table.ts";
import { median, medianInterval } from "../statistics.ts";
import { describeJob } from "./changed_bytes.ts";
import { type Checkouts, hashOf, withCheckouts } from "./checkouts.ts";
import { Child } from "./child.ts";
import { clientArgs, type Job, MIXES, serverArgs } from "./job.ts";
import { denoRun, PEERS } from "./peer.ts";
import { prepareMs, reset, type Result, runClient } from "./race.ts";

/** Our clients on this Deno: the ones whose id is their mode. */
const CLIENTS = PEERS.filter(({ id, mode }) => id === mode);

/** The measured figures, and which direction is better. */
const FIGURES: readonly {
  readonly field: keyof Result;
  readonly name: string;
  readonly higherIsBetter?: true;
  /** Measured only with --settle. */
  readonly settled?: true;
}[] = [
  { field: "syncMs", name: "sync ms" },
  { field: "eventsPerSecond", name: "events/s", higherIsBetter: true },
  { field: "relistMs", name: "relist ms" },
  { field: "peakRssMb", name: "peak RSS MB" },
  { field: "cpuSeconds", name: "CPU s" },
  { field: "settledRssMb", name: "settled RSS MB", settled: true },
  { field: "collectedRssMb", name: "collected RSS MB", settled: true },
  { field: "collectedHeapMb", name: "collected heap MB", settled: true },
];

/** Figures without a ratio, measured only with --settle: one may be 0, and a commit may hold nothing compactly. */
const PLAIN = [
  ["settleCpuSeconds", "CPU s, settling"],
  ["compactObjects", "compact objects"],
  ["compactSavedMb", "saved by these MB"],
] as const satisfies readonly (readonly [keyof Result, string])[];

/** The least median ratio of events/s with keys that is accepted. */
const ACCEPTED = 0.97;
const CONFIDENCE = 0.9;

/** A load average from which other programs disturb the measurement noticeably. */
const BUSY = 1;

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
      settle: count("seconds of idle time after the job, with figures of memory after it; without it none", 0),
      "timeout-seconds": count("deadline of one run", 180),
    },
    examples: [
      "--against HEAD",
      "--against v0.1.0 --only keys --pairs 25",
      "--against HEAD --only read --mix status",
      "--against HEAD --pods 100000 --pairs 5 --settle 60",
    ],
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
  const hash = await hashOf(flags.against!);
  const measured = await withCheckouts(
    hash,
    flags.mix,
    (checkouts) => measurePairs(checkouts, { ids: only, job, pairs, timeoutMs, settleMs: flags.settle * 1_000 }),
  );
  return report(measured, job, { hash, settleSeconds: flags.settle });
}

/** The pairs of each client by its id; progress goes to standard error. */
async function measurePairs(
  { ours, theirs }: Checkouts,
  options: {
    readonly ids: readonly string[];
    readonly job: Job;
    readonly pairs: number;
    readonly timeoutMs: number;
    readonly settleMs: number;
  },
): Promise<Map<string, Pair[]>> {
  const { ids, job, pairs, timeoutMs, settleMs } = options;
  const measured = new Map<string, Pair[]>(ids.map((id) => [id, []]));
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job)]);
  const url = await server.line(prepareMs(job));
  const v8Flags = settleMs > 0 ? ["--v8-flags=--expose-gc"] : []; // by itself it changes nothing
  const measure = async (program: string, id: string): Promise<Result> => {
    await reset(url);
    return await runClient([...denoRun(program, ...v8Flags), url, ...clientArgs(job, id)], timeoutMs, settleMs);
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
function report(
  measured: ReadonlyMap<string, readonly Pair[]>,
  job: Job,
  { hash, settleSeconds }: { readonly hash: string; readonly settleSeconds: number },
): number {
  const count = Math.max(...[...measured.values()].map((pairs) => pairs.length));
  const confidence = medianInterval(new Array<number>(count).fill(1), CONFIDENCE)?.confidence;
  console.log(
    `${
      describeJob(job)
    }\n${count} pairs; Deno ${Deno.version.deno}\nRatios above 1: this checkout is better than ${hash}. The interval of the median is of ` +
      `order statistics, ${confidence === undefined ? "which need 5 pairs" : `${(100 * confidence).toFixed(1)} %`}.\n`,
  );
  if (settleSeconds > 0) {
    console.log(
      `Settled: idle for ${settleSeconds} s after the job. Collected: after that and a forced collection, which returns pages.\n`,
    );
  }
  const figures = FIGURES.filter(({ settled }) => !settled || settleSeconds > 0);
  const rows = [...measured].flatMap(([id, pairs]) => [
    ...figures.map((figure) => {
      const ratios = ratiosOf(pairs, figure);
      const interval = medianInterval(ratios, CONFIDENCE);
      return [
        id,
        figure.name,
        ...mediansOf(pairs, figure.field),
        median(ratios).toFixed(3),
        interval === undefined ? "-" : `${interval.from.toFixed(3)} to ${interval.to.toFixed(3)}`,
      ];
    }),
    ...PLAIN.map(([field, name]) => [id, name, ...mediansOf(pairs, field), "-", "-"])
      .filter((row) => row[2] !== "-" || row[3] !== "-"),
  ]);
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

/** The medians of both sides. */
function mediansOf(pairs: readonly Pair[], field: (typeof FIGURES)[number]["field"]): string[] {
  return (["ours", "theirs"] as const).map((side) => rounded(median(pairs.map((pair) => pair[side][field] ?? NaN))));
}

/** The ratio of each pair; above 1 this checkout is better. */
function ratiosOf(pairs: readonly Pair[], { field, higherIsBetter }: (typeof FIGURES)[number]): number[] {
  return pairs.map(({ ours, theirs }) => {
    const ratio = (ours[field] ?? NaN) / (theirs[field] ?? NaN);
    return higherIsBetter ? ratio : 1 / ratio;
  });
}
