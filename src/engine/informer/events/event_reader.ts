/**
 * What handlers and event streams know of the processor that they read from, as types.
 *
 * {@linkcode EventSource} is the entry point: it opens an {@linkcode EventReader} for each of them. `processor.ts`
 * implements it, and `cursors.ts` and `checkpoint_reader.ts` have the readers.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { Added, HandlerOptions, LoggedEvent } from "./event.ts";

/** The source of the events of a handler or stream; see `Cursor`. */
export interface EventReader<T extends KubernetesObject> {
  /** The number of events that have not been read. */
  readonly pending: number;
  /** `true` after `close()`, which ends the events of the reader. */
  readonly isClosed: boolean;
  /** The next event, if there is one; asking for it says that the call about the one before has returned. */
  poll(): LoggedEvent<T> | undefined;
  /** Resolves when there may be another event, or the reader was closed. */
  wait(): Promise<void>;
  /** Adds entries as updates with `resync`. */
  resync(entries: readonly CacheEntry<T>[]): void;
  /** The call about the event that was read last has failed. */
  failed(): void;
  /** Drops everything that has not been read, and ends a wait. */
  close(): void;
  /** Resolves when nothing is left to do after `close()`, and the last call. */
  settled(): Promise<void> | undefined;
}

/** A processor's connection to its informer. */
export interface ProcessorOptions<T extends KubernetesObject> {
  /** The informer's name in messages. */
  readonly name: string;
  /** The cached objects. */
  readonly cache: ObjectCache<T>;
  /** Returns the version up to which the cache has everything. */
  readonly resourceVersion: () => string;
  /** Resolves once the cache is not older than the call. */
  readonly present: (signal: AbortSignal) => Promise<void>;
  /** Called with each error of a handler or stream. */
  readonly report: (error: unknown) => void;
  /** Awaits `call`, the wait for the sync of a handler; its end by the signal or a removal becomes a `WaitError`. */
  readonly waitForSync: (handler: string, signal: AbortSignal | undefined, call: () => Promise<void>) => Promise<void>;
  /** The resync period of handlers that name none, in milliseconds. */
  readonly resyncMs: number;
  /** The time that `stop()` waits for running calls, in milliseconds. */
  readonly graceMs: number;
}

/** The calls with which a reader learns that something went wrong. */
export interface ReaderCallbacks {
  /** Called with each error that the filter throws. */
  readonly onFilterError: (error: unknown) => void;
  /** Called when the reader is further behind than the `{ max }` of `backlog`, with an error that says how far. */
  readonly onOverrun: (error: Error) => void;
  /** Called with the error with which a checkpoint ends. */
  readonly onLost: (error: Error) => void;
}

/** A handler or event stream, as its processor follows it. */
export interface Followed<T extends KubernetesObject> {
  /** Delivers these entries as a resync. */
  resync(entries: readonly CacheEntry<T>[]): void;
}

/** What opens the readers of handlers and streams, and follows them. */
export interface EventSource<T extends KubernetesObject> {
  readonly options: ProcessorOptions<T>;
  /** Measures additions; set if and only if the delivery of new objects to handlers is to be measured. */
  readonly deliveryTimes: { delivered(event: Added<T>): void } | undefined;
  /**
   * Opens what a handler or stream reads from, at the cache as it is, or at its checkpoint.
   *
   * @throws {Error} when the informer has stopped; `action` is part of the message.
   * @throws {RangeError} when an option is out of range.
   */
  open(action: string, options: HandlerOptions<T>, callbacks: ReaderCallbacks, key?: ObjectKey): EventReader<T>;
  /** Follows a reader that has begun: its resync period begins, too. */
  begun(reader: Followed<T>, options: HandlerOptions<T>, key?: ObjectKey): void;
  /** Forgets a reader that has ended. */
  ended(reader: Followed<T>): void;
}
