import process from "node:process";
import type { Job, Mix } from "./job.ts";

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
}

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
    setInterval(() => {
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
    if (this.#updated === events) this.#last = performance.now();
  }

  /** Counts a delivered deletion, which is an event. */
  deleted(): void {
    this.updated();
  }

  /** Waits for the end of the job, reports, and stays until the parent has looked at the process. */
  async finish(): Promise<never> {
    const end = await this.#done.promise;
    const report: Report = {
      syncMs: this.#synced - this.#began,
      eventsPerSecond: (this.job.events - 1) * 1_000 / (this.#last - this.#first),
      stallMs: this.#stallMs,
      ...(Number.isNaN(end) ? {} : { relistMs: end - this.#last }),
    };
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.stdin.resume();
    await new Promise((resolve) => process.stdin.once("end", resolve));
    process.exit(0);
  }
}
