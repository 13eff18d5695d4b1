/**
 * Follows one informer for the streams of clients, for as long as they need it.
 *
 * {@linkcode FollowedCache} is the entry point. It settles the change logs of its reader, which is `event_feed.ts` or
 * `kubernetes_watch.ts`. It keeps no object and writes no stream.
 *
 * @module
 */
import type { KubernetesObject } from "../../engine/api/object.ts";
import { LongTimer } from "../../engine/async/time.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import type { DeletedEvent, HandlerRegistration, ObjectEvent } from "../../engine/informer/events/event.ts";
import type { InformerStatus } from "../../engine/informer/status.ts";
import type { ChangeLog, LoggedChange } from "./change_log.ts";
import type { RelaySettings } from "./options.ts";
import type { StreamedResponse } from "./streamed_response.ts";

/** A reader of a followed cache, which distributes its changes. Its disposal disposes the {@linkcode FollowedCache}. */
interface CacheReader extends Disposable {
  /** The open streams. */
  readonly streams: Iterable<StreamedResponse>;
  /** One log, or one for each namespace with versions of its own, in the informer's order. Empty without versions. */
  readonly logs: readonly (Pick<ChangeLog<LoggedChange>, "settle"> & Disposable)[];
  /** Called with a new or changed object. */
  put(event: ObjectEvent<KubernetesObject>): void;
  /** Called with a deleted object. */
  delete(event: DeletedEvent<KubernetesObject>): void;
  /** Called when the informer's status has changed. */
  statusChanged(status: InformerStatus): void;
  /** Called every `heartbeatMs`. */
  beat(): void;
  /** Passes on all changes so far, and settles the logs. */
  flush(): void;
}

/** How a cache is followed. */
interface FollowOptions {
  /** The handler's name. */
  readonly name: string;
  /** How long it is followed after its last use, in milliseconds. */
  readonly lingerMs: number;
  /** Called once, with the disposal. */
  readonly onOver: () => void;
}

/** Holds an informer from its construction to its disposal, which comes `lingerMs` after the end of its last use. */
export class FollowedCache implements Disposable {
  /** Holds the informer, and is disposed with this. */
  readonly held: AcquiredInformer<KubernetesObject>;
  /** The handler that follows it. */
  readonly registration: HandlerRegistration;
  readonly #reader: CacheReader;
  readonly #options: FollowOptions;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #linger = new LongTimer(() => this.#reader[Symbol.dispose]());
  #users = 0;
  #isSynced = false;
  /** `true` if and only if a flush is scheduled. */
  #isDue = false;
  #isOver = false;

  /** Follows the informer of `held` for a reader. */
  constructor(
    held: AcquiredInformer<KubernetesObject>,
    reader: CacheReader,
    { heartbeatMs }: Pick<RelaySettings, "heartbeatMs">,
    options: FollowOptions,
  ) {
    this.held = held;
    this.#reader = reader;
    this.#options = options;
    const put = (event: ObjectEvent<KubernetesObject>): void => reader.put(event);
    this.registration = held.addEventHandler({
      onAdd: put,
      onUpdate: put,
      onDelete: (event) => reader.delete(event),
      onSynced: () => {
        this.#isSynced = true;
        reader.flush();
        this.settle();
        for (const stream of reader.streams) stream.write();
      },
    }, { name: options.name, resyncMs: 0, slowMs: Infinity });
    this.#heartbeat = setInterval(() => reader.beat(), heartbeatMs);
    void this.#followState();
  }

  /** `true` once the cache has synced. Changes before that are objects of snapshots. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** `true` once it was disposed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Follows the cache until the result is disposed, and `lingerMs` longer. */
  use(): Disposable {
    this.#users++;
    this.#linger[Symbol.dispose]();
    return {
      [Symbol.dispose]: (): void => {
        if (--this.#users === 0 && !this.#isOver) this.#linger.arm(this.#options.lingerMs);
      },
    };
  }

  /** Flushes the reader in a later turn, once for all changes until then. */
  flushLater(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    void nextTurn().then(() => {
      this.#isDue = false;
      if (!this.#isOver) this.#reader.flush();
    });
  }

  /** Makes the logs take over the changes so far. Returns `true` if there were any. */
  settle(): boolean {
    const { logs } = this.#reader;
    if (!this.#isSynced || logs.length === 0) return false;
    const { completedLists, resourceVersion, namespaces } = this.held.informer.status();
    const isComplete = this.registration.pending === 0;
    const settled = logs.map((log, index) =>
      log.settle(namespaces?.[index]?.resourceVersion ?? resourceVersion, completedLists, isComplete)
    );
    return settled.includes(true);
  }

  /** Ends all streams, and releases the informer. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onOver();
    this.#linger[Symbol.dispose]();
    clearInterval(this.#heartbeat);
    this.registration.remove();
    for (const stream of [...this.#reader.streams]) stream.end("closed");
    for (const log of this.#reader.logs) log[Symbol.dispose]();
    this.held[Symbol.dispose]();
  }

  async #followState(): Promise<void> {
    try {
      const changes = this.held.informer.statusChanges({ signal: this.held.signal });
      for await (const status of changes) this.#reader.statusChanged(status);
    } catch (error) {
      if (!this.#isOver) throw error;
    }
    if (this.#isOver) return;
    this.#reader.flush();
    this.#reader[Symbol.dispose]();
  }
}
