/**
 * Two versions of our client in a folder: this checkout, changes that are not committed included, and a commit. Both
 * get the client program of this checkout, so that a change of the harness does not count.
 *
 * {@linkcode withCheckouts} is the entry point. It measures nothing: `versions.ts` and `memory_limit.ts` do.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child, type Command, run } from "./child.ts";
import { clientArgs, type Job, type Mix, serverArgs } from "./job.ts";
import { denoRun } from "./peer.ts";
import { runClient } from "./race.ts";

/** The programs of the harness, which are the same for both versions wherever the older one can run them. */
const HARNESS = ["clients/ours.ts", "job.ts", "progress.ts", "reads.ts"].map((name) => `bench/peers/${name}`);

/** The files and folders with the code of a version. {@linkcode HARNESS} runs with them. */
const SOURCES = ["mod.ts", "deno.json", "src", "standins"];

/** The folder of this checkout. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Both versions, while they are there. */
export interface Checkouts {
  /** The client program of this checkout. */
  readonly ours: string;
  /** The commit's. */
  readonly theirs: string;
}

/** Resolves the name of a commit to its short hash. @throws {Error} when there is none. */
export async function hashOf(commit: string): Promise<string> {
  return (await run(["git", "rev-parse", "--short", `${commit}^{commit}`], { cwd: ROOT })).trim();
}

/** Puts the files of a commit into a new folder. Returns a function that puts them there again. */
export async function extract(hash: string, folder: string): Promise<() => Promise<unknown>> {
  const archive = `${folder}.tar`;
  await Deno.mkdir(folder);
  await run(["git", "archive", "--output", archive, hash], { cwd: ROOT });
  const unpack = (): Promise<unknown> => run(["tar", "-xf", archive, "-C", folder]);
  await unpack();
  return unpack;
}

/**
 * Copies both versions into a temporary folder for as long as `use` takes.
 *
 * @throws {Error} when a version cannot run a tiny job.
 */
export async function withCheckouts<T>(
  hash: string,
  mix: Mix,
  use: (checkouts: Checkouts) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "versions-" });
  try {
    const ours = await copyCheckout(join(folder, "new"), mix);
    const theirs = await extractCommit(hash, join(folder, "old"), mix);
    return await use({ ours, theirs });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Copies what the client needs of this checkout. Returns the client's program. */
async function copyCheckout(folder: string, mix: Mix): Promise<string> {
  await Deno.mkdir(folder);
  await run(["cp", "-r", ...SOURCES.map((name) => join(ROOT, name)), folder]);
  await copyHarness(folder);
  const program = join(folder, HARNESS[0]);
  await tryOut(denoRun(program), mix);
  return program;
}

/**
 * Extracts a commit and puts the harness of this checkout into it; where that does not run there, the commit's own
 * stays. Returns the client's program.
 */
async function extractCommit(hash: string, folder: string, mix: Mix): Promise<string> {
  const unpack = await extract(hash, folder);
  await copyHarness(folder);
  const program = join(folder, HARNESS[0]);
  try {
    await tryOut(denoRun(program), mix);
  } catch (error) {
    console.error(`${hash} cannot run this checkout's client program (${(error as Error).message}); running its own`);
    if (mix === "heartbeats" || mix === "rollout") {
      throw new Error(`Cannot measure ${hash} by the mix ${mix}: its own client program may not know it`);
    }
    await unpack();
    await tryOut(denoRun(program), mix);
  }
  return program;
}

async function copyHarness(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "bench/peers/clients"), { recursive: true });
  for (const name of HARNESS) await Deno.copyFile(join(ROOT, name), join(folder, name));
}

/** Does a tiny job, so that what follows finds the program compiled. @throws {Error} when the program does not run. */
async function tryOut(command: Command, mix: Mix): Promise<void> {
  const job: Job = { pods: 10, events: 10, changed: 1, mix };
  await using server = new Child([...denoRun("server.ts"), ...serverArgs(job)]);
  await runClient([...command, await server.line(60_000), ...clientArgs(job, "keys")], 60_000);
}
