/**
 * Reads the events of a cursor from a checkpoint on.
 *
 * {@linkcode CheckpointReader} is the entry point; it stands between a cursor and a handler. It begins when the cache
 * is not older than the checkpoint, and passes on the differences. An event counts as delivered when the next one is
 * polled, so listeners know nothing of checkpoints.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { type KubernetesObject, type ObjectKey, splitKey } from "../../api/object.ts";
import { DecodeError } from "../../api/status.ts";
import type { DeliveredVersion } from "../../api/stores.ts";
import { brokenEntry } from "../../entry/entry.ts";
import { internals } from "../../errors/internals.ts";
import type { Quarantine } from "../cache/entry_transform.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Cursor } from "./cursors.ts";
import { Added, Deleted, type LoggedEvent, Updated } from "./event.ts";
import type { EventReader } from "./event_reader.ts";

/** The connections of a reader. */
interface CheckpointReaderOptions<T extends KubernetesObject> {
  /** Opens the cursor, at the cache as it is then. */
  readonly open: () => Cursor<T>;
  /** Resolves once the cache is not older than the call. */
  readonly present: (signal: AbortSignal) => Promise<void>;
  /** Returns the version up to which the cache has everything. */
  readonly resourceVersion: () => string;
  /** The quarantine, for the events that the reader makes. */
  readonly quarantine: Quarantine<T>;
  /** Receives errors of the store. */
  readonly report: (error: unknown) => void;
  /** Called when the reader cannot continue. */
  readonly onLost: (error: Error) => void;
}

/**
 * Reads the events of a cursor from a checkpoint on.
 *
 * It holds deliveries until the cache is not older than its beginning: the process before may have delivered any state
 * until then. The entries that the cursor starts from are compared with what was delivered, and become the differences.
 * An event is recorded when the next one is asked for, which readers do when their call has returned; while the record
 * is written, there is none. An addition is announced before: where a crash interrupts its call, and the object is
 * deleted before the next start, the deletion is delivered.
 */
export class CheckpointReader<T extends KubernetesObject> implements EventReader<T> {
  readonly #checkpoint: Checkpoint;
  /** Records deliveries in the checkpoint. */
  readonly #writer: Checkpoint[typeof internals];
  readonly #options: CheckpointReaderOptions<T>;
  readonly #job = new AbortController();
  /** Resolves when `#cursor` is set, or the reader is closed. */
  readonly #opening: Promise<void>;
  #cursor: Cursor<T> | undefined;
  /** Set until `synced` was read: the objects that were delivered, and not found in the cache so far. */
  #missing: Set<ObjectKey> | undefined;
  /** `true` if and only if nothing was delivered before the cursor was opened. */
  #isFirst = false;
  /** The events that those of the cursor that were read have become; those before `#at` were delivered. */
  #read: LoggedEvent<T>[] = [];
  #at = 0;
  /** The objects whose additions were announced, and not delivered. */
  readonly #announced = new Set<ObjectKey>();
  /** The event that the reader is at. */
  #current: LoggedEvent<T> | undefined;
  /** `true` if and only if the call about `#current` has failed. */
  #hasFailed = false;
  /** Set while a record is written that the next event waits for. */
  #saving: Promise<void> | undefined;

  /** @throws {CheckpointError} when the checkpoint has a reader, or was lost. */
  constructor(checkpoint: Checkpoint, options: CheckpointReaderOptions<T>) {
    this.#checkpoint = checkpoint;
    this.#options = options;
    this.#writer = checkpoint[internals];
    this.#writer.begin({ ...options, signal: this.#job.signal });
    this.#opening = this.#open();
  }

  get pending(): number {
    return this.#read.length - this.#at + (this.#cursor?.pending ?? 0);
  }

  get isClosed(): boolean {
    return this.#job.signal.aborted;
  }

  poll(): LoggedEvent<T> | undefined {
    this.#record();
    if (this.#saving !== undefined) return undefined;
    while (!this.isClosed) {
      const next = this.#read[this.#at];
      if (next === undefined) {
        this.#read = [];
        this.#at = 0;
        if (!this.#take()) return undefined;
        continue;
      }
      if (next.type === "added" && this.#checkpoint.objects.get(next.key)?.[0] !== next.uid) this.#announce(next);
      if (this.#saving !== undefined) return undefined;
      this.#at++;
      if (next.type === "added") this.#announced.delete(next.key);
      return this.#current = next;
    }
  }

  wait(): Promise<void> {
    return this.#saving ?? this.#cursor?.wait() ?? this.#opening;
  }

  resync(entries: readonly CacheEntry<T>[]): void {
    this.#cursor?.resync(entries);
  }

  failed(): void {
    this.#hasFailed = true;
  }

  close(): void {
    this.#job.abort();
    this.#cursor?.close();
  }

  settled(): Promise<void> {
    for (const key of this.#announced) this.#writer.delivered(key, undefined);
    return this.#writer.end();
  }

  async #open(): Promise<void> {
    try {
      await this.#options.present(this.#job.signal);
      if (this.isClosed) return;
      this.#cursor = this.#options.open();
      this.#missing = new Set(this.#checkpoint.objects.keys());
      this.#isFirst = this.#checkpoint.version === "";
    } catch (error) {
      if (!this.isClosed) this.#options.onLost(error as Error);
    }
  }

  /** Reads an event of the cursor, if there is one. */
  #take(): boolean {
    const read = this.#cursor?.poll();
    if (read === undefined) return false;
    if (read.type !== "synced" && this.#writer.isOwn(read.uid)) return true;
    if (this.#missing === undefined) this.#read.push(read);
    else for (const event of this.#differences(read, this.#missing)) this.#read.push(event);
    return true;
  }

  /** Records that additions are about to be delivered: the next one, and of initial ones those that can be read now. */
  #announce(next: Added<T>): void {
    while ((this.#missing !== undefined || !this.#checkpoint.isImmediate) && this.#take());
    for (const event of [next, ...this.#read]) {
      if (event !== next && (event.type !== "added" || this.#checkpoint.objects.get(event.key) !== undefined)) continue;
      const { key, uid } = event;
      this.#writer.delivered(key, [uid, ""]);
      this.#announced.add(key);
    }
    this.#saving = this.#writer.saveSoon().finally(() => this.#saving = undefined);
  }

  /** Returns the events that lead from what was delivered to an initial entry, or behind all of them. */
  #differences(read: LoggedEvent<T>, missing: Set<ObjectKey>): LoggedEvent<T>[] {
    const { quarantine } = this.#options;
    if (read.type === "synced") {
      this.#missing = undefined;
      return [...Array.from(missing, (key) => this.#deleted(key, this.#checkpoint.objects.get(key)!)), read];
    }
    const { key, uid, resourceVersion, entry } = read;
    const known = this.#checkpoint.objects.get(key);
    missing.delete(key);
    if (known === undefined || (known[0] === uid && known[1] === "")) {
      return [new Added(entry, quarantine, this.#isFirst)];
    }
    if (known[0] !== uid) return [this.#deleted(key, known), new Added(entry, quarantine, false)];
    if (known[1] === resourceVersion) return [];
    return [new Updated(entry, quarantine, stateless<T>(key, known), false)];
  }

  #deleted(key: ObjectKey, known: DeliveredVersion): Deleted<T> {
    return new Deleted(stateless<T>(key, known), this.#options.quarantine, true);
  }

  /** Records the event that the reader has been at. */
  #record(): void {
    const event = this.#current;
    if (event === undefined) return;
    const hasFailed = this.#hasFailed;
    this.#current = undefined;
    this.#hasFailed = false;
    const checkpoint = this.#writer;
    if (event.type === "synced") checkpoint.reached(event.resourceVersion);
    else if (!hasFailed) {
      checkpoint.delivered(event.key, event.type === "deleted" ? undefined : [event.uid, event.resourceVersion]);
    }
    // A cursor that was closed has dropped what was pending.
    if (this.#missing === undefined && !this.isClosed && this.pending === 0) {
      checkpoint.reached(this.#options.resourceVersion());
    }
    this.#saving = checkpoint.save()?.finally(() => this.#saving = undefined);
  }
}

/** Returns an entry of a state that nobody has any more. */
function stateless<T extends KubernetesObject>(
  key: ObjectKey,
  [uid, resourceVersion]: DeliveredVersion,
): CacheEntry<T> {
  const message =
    `Cannot read "${key}" at version ${resourceVersion}: a checkpoint keeps only uid and version, not the object`;
  const { namespace = "" } = splitKey(key);
  return brokenEntry({ key, namespace, uid, resourceVersion }, new DecodeError(message, { key }));
}
