import { Child, type Command, type ProcessStat } from "./child.ts";
import { clientArgs, type Job, serverArgs } from "./job.ts";
import { denoRun, goProgram, type Peer } from "./peer.ts";
import type { Report, Settled } from "./progress.ts";

/** The figures of one client, of one run or as medians of several. */
export type Result = Omit<Report, "settles"> & ProcessStat & Settled & {
  /** Memory that is resident after the job and an idle time, without a forced collection; absent without one. */
  readonly settledRssMb?: number;
  /** Seconds of CPU in the idle time. */
  readonly settleCpuSeconds?: number;
};

/** Options of a comparison. */
export interface RaceOptions {
  /** The job of every client. */
  readonly job: Job;
  /** The number of runs of each client, which are interleaved. */
  readonly repetitions: number;
  /** The server has streaming lists. @default {false, so that every client lists} */
  readonly streamingLists?: boolean;
  /** The longest time of one run, in milliseconds. @default {180_000} */
  readonly timeoutMs?: number;
  /** Called after each run. */
  readonly onRun?: (peer: Peer, outcome: Result | Error) => void;
}

/** Sets a server back to the state before its first watch. */
export async function reset(url: string): Promise<void> {
  await (await fetch(`${url}/reset`, { method: "POST" })).body?.cancel();
}

/** The time that a server takes to make its objects, at most. */
export function prepareMs({ pods }: Job): number {
  return 60_000 + 3 * pods;
}

/**
 * Runs a client to the end of its job, and looks at it again after it has been idle for `settleMs`.
 *
 * @throws {Error} when it fails or exceeds the deadline.
 */
export async function runClient(command: Command, timeoutMs: number, settleMs = 0): Promise<Result> {
  await using client = new Child(command);
  const { settles, ...report } = JSON.parse(await client.line(timeoutMs)) as Report;
  const result: Result = { ...report, ...await client.stat() };
  if (settleMs === 0) return result;
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const { rssMb, cpuSeconds } = await client.stat();
  const idle = { settledRssMb: rssMb, settleCpuSeconds: cpuSeconds - result.cpuSeconds };
  if (!settles) return { ...result, ...idle };
  await client.ask();
  return { ...result, ...idle, ...JSON.parse(await client.line(timeoutMs)) as Settled };
}

/** Every run of each client by its id, or why it has none. */
export async function race(peers: readonly Peer[], options: RaceOptions): Promise<Map<string, Result[] | Error>> {
  const { job, repetitions, onRun } = options;
  const results = new Map<string, Result[] | Error>();
  const commands = new Map<string, Command>();
  for (const peer of peers) {
    try {
      commands.set(peer.id, await peer.command());
    } catch (error) {
      results.set(peer.id, asError(error));
      onRun?.(peer, asError(error));
    }
  }
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job, options.streamingLists)]);
  const json = await server.line(prepareMs(job));
  await using protobufServer = peers.some((peer) => peer.server === "protobuf" && commands.has(peer.id))
    ? new Child([await goProgram(), "serve", json, ...clientArgs(job)])
    : undefined;
  const protobuf = await protobufServer?.line(2 * prepareMs(job));
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const peer of peers) {
      const command = commands.get(peer.id);
      if (command === undefined || results.get(peer.id) instanceof Error) continue;
      const url = peer.server === "protobuf" ? protobuf! : json;
      await reset(url);
      try {
        const result = await runClient([...command, url, ...clientArgs(job, peer.mode)], options.timeoutMs ?? 180_000);
        results.set(peer.id, [...(results.get(peer.id) as Result[] | undefined ?? []), result]);
        onRun?.(peer, result);
      } catch (error) {
        results.set(peer.id, asError(error));
        onRun?.(peer, asError(error));
      }
    }
  }
  return results;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
