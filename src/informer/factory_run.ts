import { DerivedController } from "../async/derived_controller.ts";
import { Latch } from "../async/latch.ts";

/** The end of an informer: its failure, if it has failed. */
export type InformerEnd = Promise<{ readonly error: unknown } | undefined>;

/** One `run()` of a factory: the informers that run in it, to which more may be added, and their common end. */
export class FactoryRun {
  readonly #job: DerivedController;
  readonly #ended = new Latch();
  /** Has an informer if and only if it has not ended. */
  readonly #running = new Set<InformerEnd>();
  /** The first failure of an informer. */
  #failure: { readonly error: unknown } | undefined;

  /** Stops with `signal`. */
  constructor(signal?: AbortSignal) {
    this.#job = new DerivedController(signal);
    if (this.#job.signal.aborted) this.#check();
    else this.#job.signal.addEventListener("abort", () => this.#check(), { once: true });
  }

  /** Stops the informers: aborted with the signal of the run, by `stop()`, and by the failure of an informer. */
  get signal(): AbortSignal {
    return this.#job.signal;
  }

  /** Resolves once the run was stopped and all informers have ended; rejects then with the first failure, if there is one. */
  get ended(): Promise<void> {
    return this.#ended.wait();
  }

  /** Adds a running informer. */
  add(end: InformerEnd): void {
    this.#running.add(end);
    void end.then((failure) => {
      this.#running.delete(end);
      if (failure !== undefined) {
        this.#failure ??= failure;
        this.stop();
      }
      this.#check();
    });
  }

  /** Stops all informers. */
  stop(): void {
    if (!this.#job.signal.aborted) this.#job.abort(new DOMException("The run of the factory has ended", "AbortError"));
  }

  #check(): void {
    if (!this.#job.signal.aborted || this.#running.size > 0) return;
    if (this.#failure === undefined) this.#ended.open();
    else this.#ended.fail(this.#failure.error);
  }
}
