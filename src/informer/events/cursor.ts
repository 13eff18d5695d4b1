import type { Entry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Pacer } from "../../async/pacer.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import type { LoggedEvent, SyncedEvent } from "./event.ts";
import { EventFilter } from "./event_filter.ts";
import type { EventLog } from "./event_log.ts";

/** The beginning of a cursor, taken in one turn: the cache's contents and the log's end belong together. */
export interface CursorStart<T extends KubernetesObject> {
  /** The cached entries, which are read first, and dropped as soon as they were read: they may be all of a cache. */
  readonly entries: readonly Entry<T>[];
  /** The `synced` event, which is read after the entries; `undefined` before the sync, whose event the log will have. */
  readonly synced: SyncedEvent | undefined;
  /** The log, which is read from its present end on. */
  readonly log: EventLog<T>;
  /** The quarantine, for the events that the cursor makes. */
  readonly quarantine: Quarantine<T>;
  /** The pacer, which shares event-loop time among all cursors of the informer. */
  readonly pacer: Pacer;
}

/** A restriction of a cursor to some objects. */
export interface CursorSelection<T> {
  /** Reads the events of those objects alone for which it holds; see {@linkcode EventFilter}. */
  readonly filter?: (object: T) => boolean;
  /** Called with each error that `filter` throws. */
  readonly onFilterError: (error: unknown) => void;
}

/**
 * Reads an informer's events for one handler or stream, in order: the entries it starts from, then the log, with resyncs in
 * between. Subclasses decide what is left to read of a long backlog.
 *
 * A reader calls {@linkcode Cursor.poll} until that returns nothing, then awaits {@linkcode Cursor.wait}, until
 * {@linkcode Cursor.isClosed}. The cursor makes it give way to the event loop, together with all others of the pacer.
 */
export abstract class Cursor<T extends KubernetesObject> {
  readonly #log: EventLog<T>;
  readonly #pacer: Pacer;
  readonly #filter: EventFilter<T> | undefined;
  /** `true` from `close()` on. */
  #isClosed = false;
  /** `true` if and only if the last `poll()` returned nothing because the time of this turn is used up. */
  #givesWay = false;
  /** The pacer's turn in which `poll()` was last called, or a wait for the log has ended since. */
  #turn: number;
  /** Set if and only if a `wait()` has not resolved; ends it. */
  #endWait: (() => void) | undefined;

  constructor(start: CursorStart<T>, { filter, onFilterError }: CursorSelection<T>) {
    this.#log = start.log;
    this.#pacer = start.pacer;
    this.#turn = start.pacer.turns;
    this.#filter = filter && new EventFilter(filter, start.quarantine, onFilterError);
  }

  /** The number of events that have not been read, before `filter` is applied. */
  abstract get pending(): number;

  /** `true` once the cursor was closed: there are no more events. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next event, if there is one and the reader need not give way. */
  poll(): LoggedEvent<T> | undefined {
    const { turns } = this.#pacer;
    // A reader that has waited took no time from others: it need not queue behind those that did.
    let mayGoOn = turns !== this.#turn;
    this.#turn = turns;
    while (!this.#isClosed) {
      // Each event counts, also one that is left out.
      this.#givesWay = !mayGoOn && this.#pacer.step();
      if (this.#givesWay) return undefined;
      mayGoOn = false;
      const read = this.take();
      if (read === undefined) return undefined;
      const event = this.#filter === undefined ? read : this.#filter.apply(read);
      if (event !== undefined) return event;
    }
  }

  /**
   * Waits until `poll()` may return an event, after it has returned none: for the reader's turn, or for the log. Resolves
   * when the cursor is closed, too. There is one wait at a time.
   */
  wait(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    // Not an async function: what the reader does next must come before the pacer lets another one continue.
    return new Promise((resolve) => {
      const isQueued = this.#givesWay;
      const end = (): void => {
        this.#endWait = undefined;
        // A reader that was idle has no turn of its own: it asks the pacer.
        if (!isQueued) this.#turn = this.#pacer.turns;
        resolve();
      };
      const leave = isQueued ? this.#pacer.onTurn(end) : this.onceLogged(end);
      this.#endWait = (): void => {
        leave();
        end();
      };
    });
  }

  /** Adds these entries as updates with `resync`, unless an earlier resync has not been read to its end. */
  resync(entries: readonly Entry<T>[]): void {
    if (this.#isClosed) return;
    this.add(entries);
    if (!this.#givesWay) this.#endWait?.();
  }

  /** Drops everything that has not been read, and ends a wait. */
  close(): void {
    this.#isClosed = true;
    this.clear();
    this.#endWait?.();
  }

  /** Calls `wake`, once, when there is something to read, unless the returned function is called before. */
  protected onceLogged(wake: () => void): () => void {
    return this.#log.onceAppended(wake);
  }

  /** The next event in order, which thereby counts as read. */
  protected abstract take(): LoggedEvent<T> | undefined;

  /** Adds a resync. */
  protected abstract add(resync: readonly Entry<T>[]): void;

  /** Drops everything that has not been read, and leaves the log. */
  protected abstract clear(): void;
}
