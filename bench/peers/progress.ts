import process from "node:process";
import type { Job, Mix } from "./job.ts";

/** The report of a client about itself after it has been idle. */
export interface Settled {
  /** Memory that is resident after a forced collection, in MB; absent without `--expose-gc`. */
  readonly collectedRssMb?: number;
  /** The live heap, and what V8 counts outside of it, in MB; absent without `--expose-gc`. */
  readonly collectedHeapMb?: number;
  /** Objects that the cache holds compactly; absent where the version knows no such thing. */
  readonly compactObjects?: number;
  /** What this saves by the cache's own account, in MB. */
  readonly compactSavedMb?: number;
}

/** The report of a client about itself when it is done. */
export interface Report {
  /** From its first request until it has delivered every object, in milliseconds. */
  readonly syncMs: number;
  /** Events delivered per second, from the first to the last; null where there are none. */
  readonly eventsPerSecond: number | null;
  /** The longest time for which the event loop was not free, in milliseconds. */
  readonly stallMs: number;
  /**
   * From the last event until it has delivered all that a relist changed, in milliseconds; absent where it does not
   * relist.
   */
  readonly relistMs?: number;
  /** True if it prints a line of {@linkcode Settled} when it is asked for one. */
  readonly settles?: boolean;
}

/** The collection of V8 that moves what is live together, and returns the pages. Others keep most of them. */
const LAST_RESORT = { type: "major", execution: "sync", flavor: "last-resort" } as const;

/** The time for which V8 returns memory after a collection, in milliseconds. */
const RETURN_MS = 500;

const PERIOD_MS = 2;

/**
 * The progress of a client written in JavaScript; without events its job is over with the list. Runs on Deno and Node.
 */
export class Progress {
  /** The job. */
  readonly job: Required<Job>;
  /** The address of the server; of a real one, the path of a kubeconfig. */
  readonly url: string;
  #began = NaN;
  #synced = NaN;
  #first = NaN;
  #last = NaN;
  #stallMs = 0;
  #watching?: ReturnType<typeof setInterval>;
  #added = 0;
  #updated = 0;
  #relisted = 0;
  readonly #done = Promise.withResolvers<number>();

  /** What a client of several modes does, such as what it reads. */
  readonly mode: string;

  /** Reads the command line: URL PODS EVENTS CHANGED MODE MIX. */
  constructor() {
    const [url, pods, events, changed, mode = "-", mix = "metadata"] = process.argv.slice(2);
    this.url = url;
    this.job = { pods: Number(pods), events: Number(events), changed: Number(changed), mix: mix as Mix };
    this.mode = mode;
  }

  /** Every object of the first list has been delivered. */
  get synced(): boolean {
    return this.#added >= this.job.pods;
  }

  /** The first request goes out now. */
  begin(): void {
    let last = this.#began = performance.now();
    this.#watching = setInterval(() => {
      const now = performance.now();
      this.#stallMs = Math.max(this.#stallMs, now - last - PERIOD_MS);
      last = now;
    }, PERIOD_MS);
  }

  /** Counts a delivered object: one of a first list, or after the last of them an event. */
  added(): void {
    if (this.synced) return this.updated();
    if (++this.#added < this.job.pods) return;
    this.#synced = performance.now();
    if (this.job.events === 0) this.#done.resolve(NaN); // only the list is measured
  }

  /** Counts a delivered change: an event, or after the last of them what a relist found. */
  updated(): void {
    const { events, changed } = this.job;
    if (this.#updated === events) {
      if (++this.#relisted === changed) this.#done.resolve(performance.now());
      return;
    }
    this.#updated++;
    if (this.#updated === 1) this.#first = performance.now();
    if (this.#updated < events) return;
    this.#last = performance.now();
    if (changed === 0) this.#done.resolve(this.#last); // no relist
  }

  /** Counts a delivered deletion, which is an event. */
  deleted(): void {
    this.updated();
  }

  /**
   * Waits for the end of the job, reports, and stays until the parent has looked at the process. When the parent asks,
   * it says what is left after a collection, with the figures of `settled`.
   */
  async finish(settled: () => Settled = () => ({})): Promise<never> {
    const end = await this.#done.promise;
    clearInterval(this.#watching); // what follows is idle
    const report: Report = {
      syncMs: this.#synced - this.#began,
      eventsPerSecond: (this.job.events - 1) * 1_000 / (this.#last - this.#first),
      stallMs: this.#stallMs,
      ...(Number.isNaN(end) ? {} : { relistMs: end - this.#last }),
      settles: true,
    };
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.stdin.once("data", async () => {
      const collected = await collectAll();
      process.stdout.write(`${JSON.stringify({ ...collected, ...settled() })}\n`);
    });
    process.stdin.resume();
    await new Promise((resolve) => process.stdin.once("end", resolve));
    process.exit(0);
  }
}

/** Collects all garbage, if the process may, and measures what is left when V8 has returned its pages. */
export async function collectAll(): Promise<Settled> {
  const { gc } = globalThis as { gc?: (options: typeof LAST_RESORT) => void };
  if (gc === undefined) return {};
  gc(LAST_RESORT);
  gc(LAST_RESORT); // what the first one only marked for finalization
  await new Promise((resolve) => setTimeout(resolve, RETURN_MS));
  const { rss, heapUsed, external } = process.memoryUsage();
  return { collectedRssMb: rss / 1e6, collectedHeapMb: (heapUsed + external) / 1e6 };
}
