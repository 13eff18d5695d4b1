/**
 * Runs a reflector into a queue, and the queue into the function that processes changes.
 *
 * Entry point: {@linkcode Controller}, client-go's controller: an informer has one for each collection that it lists and
 * watches, and a program can run one alone. It decides when the queue is drained, and reports how far processing has come.
 * It stores nothing, delivers no events, and leaves retries to the reflector.
 *
 * @module
 */
import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import type { Deltas } from "../../queue/delta.ts";
import type { DeltaFIFO } from "../../queue/delta_fifo.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { ReflectorStore, Replacement } from "../../reflector/reflector_store.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import type { ReflectorCounters } from "../../reflector/counters.ts";
import type { ReflectorOptions } from "../../reflector/options.ts";
import { Reflector } from "../../reflector/reflector.ts";

/** Options for a {@linkcode Controller}. */
export interface ControllerOptions<T extends KubernetesObject> {
  /** The collection to list and watch. */
  readonly source: ListerWatcher<T>;
  /** The queue that orders the changes. */
  readonly queue: DeltaFIFO<Entry<T>>;
  /** Called synchronously with the changes of one key. If it throws, the reflector lists again. */
  readonly process: (deltas: Deltas<Entry<T>>) => void;
  /** Begins the replacement that a list is staged in. @default {the queue's own} */
  readonly replacing?: () => Replacement<Entry<T>>;
  /** Called after each list, batch and bookmark, when everything up to `resourceVersion` has been processed. */
  readonly onProgress?: (resourceVersion: string) => void;
  /** Called with each deletion of a watch before it is queued, also of objects that are not known. */
  readonly onDeletion?: (entry: Entry<T>) => void;
  /** Options for the reflector. */
  readonly reflector?: ReflectorOptions;
}

/**
 * Runs a reflector into a queue and the queue into `process`.
 *
 * The queue is drained after each change of a watch, so changes are processed in the order in which the server sent them,
 * across keys, and in the turn in which their bytes arrived. After a list it is drained once the list is committed. Only
 * then does the version count as seen.
 */
export class Controller<T extends KubernetesObject> {
  readonly #queue: DeltaFIFO<Entry<T>>;
  readonly #process: ControllerOptions<T>["process"];
  readonly #reflector: Reflector<T>;

  /**
   * Sends no request before it runs.
   *
   * @throws {RangeError} if an option of the reflector is out of range.
   */
  constructor(options: ControllerOptions<T>) {
    this.#queue = options.queue;
    this.#process = options.process;
    this.#reflector = new Reflector<T>(options.source, new DrainedQueue(options), options.reflector);
  }

  /** The first list has been processed. */
  get hasSynced(): boolean {
    return this.lastSyncResourceVersion !== "";
  }

  /** The version up to which everything has been processed; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#reflector.lastSyncResourceVersion;
  }

  /** The reflector's present phase. */
  get phase(): ReflectorPhase {
    return this.#reflector.phase;
  }

  /** The reflector's counters. */
  get counters(): ReflectorCounters {
    return this.#reflector.counters;
  }

  /** Processes a newer state of an object, which was read beside list and watch. The version stays. */
  repair(entry: Entry<T>): void {
    this.#queue.pass("Updated", entry, this.#process);
  }

  /** Processes the deletion of a known object, which list and watch have not shown. The version stays. */
  remove(entry: Entry<T>): void {
    this.#queue.lose(entry);
    while (this.#queue.pop(this.#process));
  }

  /** Lists again, because of `reason`: at once, or after the wait or pause of the reflector. Does nothing while it lists. */
  relist(reason: Error): void {
    this.#reflector.relist(reason);
  }

  /** Processes `entries` as a list at `resourceVersion`, from which the next {@linkcode run} watches. */
  restore(entries: readonly Entry<T>[], resourceVersion: string): void {
    this.#reflector.restore(entries, resourceVersion);
  }

  /** Begins a {@linkcode restore} whose entries are staged over several turns; see `Reflector.restoring()`. */
  restoring(): Replacement<Entry<T>> {
    return this.#reflector.restoring();
  }

  /** Lets the next {@linkcode run} begin with a list although there was a {@linkcode restore}. */
  listFirst(): void {
    this.#reflector.listFirst();
  }

  /** Ends the list or watch until {@linkcode resume}; queue and version stay. */
  pause(): void {
    this.#reflector.pause();
  }

  /** Ends a pause: resumes the watch at the last version, or lists if there is none. */
  resume(): void {
    this.#reflector.resume();
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

/** The reflector's side of a controller: each write goes into the queue, which is drained at once. */
class DrainedQueue<T extends KubernetesObject> implements ReflectorStore<Entry<T>> {
  readonly #options: ControllerOptions<T>;
  readonly #queue: DeltaFIFO<Entry<T>>;

  constructor(options: ControllerOptions<T>) {
    this.#options = options;
    this.#queue = options.queue;
  }

  add(entry: Entry<T>): void {
    this.#queue.pass("Added", entry, this.#options.process);
  }

  update(entry: Entry<T>): void {
    // mutant: update-after-batch
    this.#queue.pass("Updated", entry, this.#options.process);
  }

  delete(entry: Entry<T>): void {
    this.#options.onDeletion?.(entry);
    this.#queue.pass("Deleted", entry, this.#options.process);
  }

  replacing(): Replacement<Entry<T>> {
    const { replacing } = this.#options;
    return replacing === undefined ? this.#queue.replacing() : replacing();
  }

  resync(): void {
    this.#queue.resync();
  }

  flush(resourceVersion: string): void {
    while (this.#queue.pop(this.#options.process));
    this.#options.onProgress?.(resourceVersion);
  }
}
