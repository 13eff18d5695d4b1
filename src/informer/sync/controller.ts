import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import type { Deltas } from "../../queue/delta.ts";
import type { DeltaFIFO } from "../../queue/delta_fifo.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { ReflectorStore } from "../../reflector/reflector_store.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import type { ReflectorCounters } from "../../reflector/counters.ts";
import type { ReflectorOptions } from "../../reflector/options.ts";
import { Reflector } from "../../reflector/reflector.ts";

/** What a controller connects. */
export interface ControllerOptions<T extends KubernetesObject> {
  /** What is followed. */
  readonly source: ListerWatcher<T>;
  /** Where changes are ordered. */
  readonly queue: DeltaFIFO<Entry<T>>;
  /** What is done with them, in this turn; what it throws makes the reflector list again. */
  readonly process: (deltas: Deltas<Entry<T>>) => void;
  /** How the source is followed. */
  readonly reflector?: ReflectorOptions;
}

/**
 * Runs a reflector into a queue and the queue into `process`.
 *
 * The queue is popped after each change of a watch, so changes are processed in the order in which the server sent them,
 * across keys, and in the turn in which their bytes arrived. A replacement is popped when the reflector flushes, which it
 * does once per list, batch and bookmark; only then does the version count as seen.
 */
export class Controller<T extends KubernetesObject> {
  readonly #queue: DeltaFIFO<Entry<T>>;
  readonly #reflector: Reflector<T>;

  /** Asks nothing before it is run. @throws {RangeError} when an option of the reflector is out of range. */
  constructor(options: ControllerOptions<T>) {
    const { source, queue, process } = options;
    const drain = (): void => {
      // mutant: version-before-batch
      while (queue.pop(process));
    };
    const store: ReflectorStore<Entry<T>> = {
      add: (entry) => {
        queue.add(entry);
        drain();
      },
      update: (entry) => {
        // mutant: update-after-batch
        queue.update(entry);
        drain();
      },
      delete: (entry) => {
        queue.delete(entry);
        drain();
      },
      replacing: () => queue.replacing(),
      resync: () => queue.resync(),
      flush: (resourceVersion) => {
        drain();
        queue.flush(resourceVersion);
      },
    };
    this.#queue = queue;
    this.#reflector = new Reflector<T>(source, store, options.reflector);
  }

  /** Whether the first list has been processed. */
  get hasSynced(): boolean {
    return this.#queue.hasSynced;
  }

  /** The version up to which everything has been processed; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#reflector.lastSyncResourceVersion;
  }

  /** Where the reflector is in its cycle. */
  get phase(): ReflectorPhase {
    return this.#reflector.phase;
  }

  /** What the reflector has done so far. */
  get counters(): ReflectorCounters {
    return this.#reflector.counters;
  }

  /** Ends the watch and lists anew, because of `reason`; does nothing unless it watches. */
  relist(reason: Error): void {
    this.#reflector.relist(reason);
  }

  /** Runs until the signal aborts, then closes the queue and resolves. */
  async run(options: Abortable = {}): Promise<void> {
    try {
      await this.#reflector.run(options);
    } finally {
      this.#queue.close();
    }
  }
}
