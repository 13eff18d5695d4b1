import { UnreachableError } from "../api/errors.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { LongTimer } from "../async/time/long_timer.ts";

/** The list that is failed. */
interface Job {
  abort(error: Error): void;
}

/** Fails a list that brings no further object for too long: `fetch` does not notice a connection that carries nothing. */
export class IdleLimit implements Disposable {
  readonly #job: Job;
  readonly #idleMs: number;
  #aliveAtMs: number = monotonicMs();
  /** Armed once per idle time at most: it looks at the clock when it fires, and is not set anew at each sign of life. */
  readonly #timer: LongTimer = new LongTimer(() => this.#look());

  /** Aborts `job` when there was no {@linkcode alive} for `idleMs` milliseconds. */
  constructor(job: Job, idleMs: number) {
    this.#job = job;
    this.#idleMs = idleMs;
    this.#timer.arm(idleMs);
  }

  /** The job makes progress. */
  alive(): void {
    this.#aliveAtMs = monotonicMs();
  }

  /** Ends the limit. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #look(): void {
    const idleMs = monotonicMs() - this.#aliveAtMs;
    if (idleMs < this.#idleMs) return this.#timer.arm(this.#idleMs - idleMs);
    this.#job.abort(
      new UnreachableError(
        `Cannot go on with the list: the server has sent no further object for ${Math.round(idleMs / 1_000)} s`,
      ),
    );
  }
}
