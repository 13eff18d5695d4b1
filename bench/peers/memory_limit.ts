/**
 * The smallest memory in which a client of ours can do its job: the first list and the events, without a relist.
 *
 * {@linkcode findMemoryLimits} is the entry point. No cgroup is needed, so it runs without rights of its own: the
 * process gets the heap that V8 would take of such a container, and may never have more resident memory than the limit.
 * Linux would kill it there, and this program does.
 *
 * @module
 */
import { choice, count, readFlags, text, toggle } from "../../tools/flags.ts";
import { rounded, table } from "../../tools/table.ts";
import { hashOf, withCheckouts } from "./checkouts.ts";
import { Child } from "./child.ts";
import { clientArgs, type Job, serverArgs } from "./job.ts";
import { denoRun, pathOf, PEERS } from "./peer.ts";
import type { Report } from "./progress.ts";
import { prepareMs, reset } from "./race.ts";

/** The limits that are tried: from 64 MB in steps of 5 % to 9 GB. */
const LIMITS_MB = Array.from({ length: 102 }, (_, step) => Math.round(64 * 1.05 ** step));

/** The time between two looks at the resident memory. The kernel keeps its maximum, so that none is overlooked. */
const LOOK_MS = 100;

/** A run under a limit. */
interface Attempt {
  /** Why it failed; `undefined` if it did the job. */
  readonly failure?: string;
  readonly peakRssMb: number;
  readonly syncMs: number;
}

/** What a version needs. */
interface Need {
  readonly limitMb: number;
  readonly heapMb: number;
  /** The run under this limit with the most memory. */
  readonly attempt: Attempt;
}

/**
 * Finds the smallest limits for this checkout and for a commit, and prints them.
 *
 * @throws {Error} when the job fails under each limit.
 */
export async function findMemoryLimits(): Promise<void> {
  const flags = readFlags({
    task: "bench:peers",
    summary:
      "Finds the smallest memory in which the first list and the events succeed, in steps of 5 %. V8 gets a part\n" +
      "of the limit as its heap, and the resident memory of the process must never be above the limit.",
    flags: {
      "memory-limit": toggle("finds the limits"),
      against: text("COMMIT", "a commit to measure too"),
      only: choice(PEERS.filter(({ id, mode }) => id === mode).map(({ id }) => id), "the client", "keys"),
      pods: count("objects in the list", 100_000),
      events: count("events of the watch", 10_000),
      "heap-percent": count("V8's part of the limit; V8 itself takes half of a container", 50),
      runs: count("runs that must succeed under the limit", 3),
      "timeout-seconds": count("deadline of one run, after which it has failed", 120),
    },
    examples: ["--memory-limit --against HEAD~10", "--memory-limit --pods 10000 --heap-percent 75"],
  });
  const job: Job = { pods: flags.pods, events: flags.events, changed: 0 };
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job)]);
  const url = await server.line(prepareMs(job));
  const need = async (name: string, program: string): Promise<Need> => {
    const attempt = async (limitMb: number): Promise<Attempt> => {
      await reset(url);
      const heapMb = heapOf(limitMb, flags["heap-percent"]);
      const command = denoRun(program, `--v8-flags=--max-heap-size=${heapMb}`);
      const outcome = await tryLimit([...command, url, ...clientArgs(job, flags.only)], {
        limitMb,
        timeoutMs: flags["timeout-seconds"] * 1_000,
      });
      console.error(`${name}, ${limitMb} MB: ${outcome.failure ?? `done, ${rounded(outcome.peakRssMb)} MB`}`);
      return outcome;
    };
    const found = await smallest(attempt, flags.runs);
    return { ...found, heapMb: heapOf(found.limitMb, flags["heap-percent"]) };
  };
  const needs: [string, Need][] = [];
  if (flags.against === undefined) {
    needs.push(["this checkout", await need("this checkout", pathOf("clients/ours.ts"))]);
  } else {
    const hash = await hashOf(flags.against);
    await withCheckouts(hash, "metadata", async ({ ours, theirs }) => {
      needs.push(["this checkout", await need("this checkout", ours)], [hash, await need(hash, theirs)]);
    });
  }
  console.log(
    `${job.pods} pods and ${job.events} events, ${flags.only}, V8 with ${flags["heap-percent"]} % of the limit; ` +
      `${flags.runs} of ${flags.runs} runs; Deno ${Deno.version.deno}\n`,
  );
  console.log(table([
    ["version", "smallest limit MB", "of it V8's heap MiB", "peak RSS MB", "sync ms", "by the first"],
    ...needs.map(([name, { limitMb, heapMb, attempt }]) => [
      name,
      String(limitMb),
      String(heapMb),
      rounded(attempt.peakRssMb),
      rounded(attempt.syncMs),
      (limitMb / needs[0][1].limitMb).toFixed(2),
    ]),
  ]));
}

/** V8's heap in MiB, as its flag takes it. */
function heapOf(limitMb: number, percent: number): number {
  return Math.floor(limitMb * 1e6 * percent / 100 / 1_048_576);
}

/**
 * Finds the smallest limit under which so many runs succeed: by halves, then upwards while one fails.
 *
 * @throws {Error} when the job fails under each limit.
 */
export async function smallest(
  attempt: (limitMb: number) => Promise<Attempt>,
  runs: number,
): Promise<{ readonly limitMb: number; readonly attempt: Attempt }> {
  let [failed, done] = [-1, LIMITS_MB.length];
  while (done - failed > 1) {
    const middle = Math.floor((failed + done) / 2);
    if ((await attempt(LIMITS_MB[middle])).failure === undefined) done = middle;
    else failed = middle;
  }
  for (; done < LIMITS_MB.length; done++) {
    const attempts: Attempt[] = [];
    while (attempts.length < runs && attempts.every(({ failure }) => failure === undefined)) {
      attempts.push(await attempt(LIMITS_MB[done]));
    }
    if (attempts.some(({ failure }) => failure !== undefined)) continue;
    return { limitMb: LIMITS_MB[done], attempt: attempts.reduce((a, b) => a.peakRssMb > b.peakRssMb ? a : b) };
  }
  throw new Error(`Cannot find a limit: the job fails under each, up to ${LIMITS_MB.at(-1)} MB`);
}

/** Runs a client, and kills it when it has more resident memory than the limit. */
async function tryLimit(
  command: readonly [string, ...string[]],
  { limitMb, timeoutMs }: { readonly limitMb: number; readonly timeoutMs: number },
): Promise<Attempt> {
  await using client = new Child(command);
  let peakRssMb = 0;
  const look = async (): Promise<void> => {
    // NaN of a process that has ended already changes nothing.
    const { peakRssMb: seen } = await client.stat();
    if (seen > peakRssMb) peakRssMb = seen;
  };
  const timer = setInterval(async () => {
    await look();
    if (peakRssMb > limitMb) client.kill();
  }, LOOK_MS);
  try {
    const { syncMs } = JSON.parse(await client.line(timeoutMs)) as Report;
    await look();
    return { peakRssMb, syncMs, ...peakRssMb > limitMb ? { failure: aboveLimit(peakRssMb) } : {} };
  } catch (error) {
    const text = (error as Error).message;
    const failure = peakRssMb > limitMb
      ? aboveLimit(peakRssMb)
      : /ended with (SIG(?:TRAP|ABRT|ILL))/.exec(text)?.[1].replace(/^/, "V8 had not enough heap: ") ?? text;
    return { peakRssMb, syncMs: NaN, failure };
  } finally {
    clearInterval(timer);
  }
}

function aboveLimit(peakRssMb: number): string {
  return `${rounded(peakRssMb)} MB were resident`;
}
