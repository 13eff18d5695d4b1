/**
 * Snapshots of caches, and checkpoints of handlers: the state that outlives a process.
 *
 * {@linkcode SnapshotStore} and {@linkcode CheckpointStore} are interfaces. `connect` keeps both in files and in
 * `Deno.Kv`, and `controllers/reconcile` keeps checkpoints in ConfigMaps. This file stores nothing.
 *
 * @module
 */
import { InformerError } from "../errors/informer_error.ts";
import type { ObjectKey } from "./object.ts";

/**
 * Keeps snapshots of caches by name, beyond the life of a process.
 *
 * A store writes a snapshot in one step: until all of its bytes are there, and when the writing fails, readers see the
 * one before.
 */
export interface SnapshotStore {
  /** Returns the bytes that were last written under a name; `undefined` if there are none. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Writes a snapshot. Returns `false` if it has left a newer one in place, which another process has written; a store
   * of one process may do without the comparison.
   */
  set(name: string, snapshot: StoredSnapshot): Promise<boolean>;
}

/** A snapshot to be written. */
export interface StoredSnapshot {
  /** The snapshot. If they fail, the write fails. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The version of the cache; `""` if it has no order. */
  readonly version: string;
  /** If `true`, a newer snapshot is replaced too: it is damaged, or of versions that the server does not have. */
  readonly replacesNewer: boolean;
  /**
   * If `true`, a snapshot of the same version is replaced too: a list or a consistency check has repaired the cache at
   * that version.
   * @default {false}
   */
  readonly replacesSame?: boolean;
}

/** Options of a store. */
export interface SnapshotLimit {
  /** The largest snapshot, in bytes; a larger one is not written. */
  readonly maxBytes?: number;
}

/**
 * Yields `bytes`, and fails when there are more than `maxBytes`.
 *
 * @throws {RangeError} that says how to make the snapshot `name` smaller.
 */
export async function* limitedSnapshot(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new RangeError(
        `Cannot write the snapshot "${name}": it has more than ${maxBytes} bytes. Cache fewer fields (option "fields"), ` +
          `cache only metadata (onlyMetadata), or raise maxBytes`,
      );
    }
    yield chunk;
  }
}

/**
 * The uid and the version of an object that were delivered last. The version is `""` where it is not known if the
 * addition was delivered, because its call was interrupted or has failed.
 */
export type DeliveredVersion = readonly [uid: string, resourceVersion: string];

/** The contents of a checkpoint. */
export interface CheckpointRecord {
  /** Identifies the reader; each {@linkcode Checkpoint.open} has another one. */
  readonly holder: string;
  /** Every change up to this version was delivered; `""` before the first list was. */
  readonly version: string;
  /** The objects that exist by what was delivered. Some may be of later versions: a list has no order of versions. */
  readonly objects: ReadonlyMap<ObjectKey, DeliveredVersion>;
}

/** A record as it is in a store. */
export interface StoredCheckpoint {
  /** The record. */
  readonly record: CheckpointRecord;
  /** Identifies the last write. Only the store reads it. */
  readonly stamp: unknown;
}

/** The difference of a record from the one in the store. */
export interface CheckpointChange {
  /** The stamp of the last read or write; `undefined` where there was none. */
  readonly stamp: unknown;
  /** The keys of the objects that differ. */
  readonly keys: readonly ObjectKey[];
}

/**
 * Keeps checkpoints by name: `MemoryCheckpoints`, and in other entry points `FileCheckpoints`, `KvCheckpoints` and
 * `ConfigMapCheckpoints`.
 */
export interface CheckpointStore {
  /** The default of {@linkcode CheckpointOptions.intervalMs}. @default {0} */
  readonly intervalMs?: number;
  /**
   * Returns the contents and their stamp, another one after each write by another reader; `undefined` if there is no
   * checkpoint of that name.
   */
  get(name: string): Promise<StoredCheckpoint | undefined>;
  /**
   * Writes a record if the stamp is still the one given, and there is none if that is `undefined`. Returns the new
   * stamp, and `undefined` where it has written nothing, because the stamp is another one. What is in the store
   * differs from the record by its head and by these keys. The record is live: it is read before the first `await`.
   */
  set(name: string, record: CheckpointRecord, change: CheckpointChange): Promise<unknown>;
  /**
   * Returns `true` for the uid of an object in which it keeps a checkpoint. No reader of that checkpoint receives it.
   */
  isOwn?(name: string, uid: string): boolean;
}

/**
 * A checkpoint cannot be read on. `reason` is `"lost"` where another reader has opened it since, `"held"` where it has
 * a reader, and `"tooLarge"` where its store cannot keep so many objects.
 */
export class CheckpointError extends InformerError {
  /** `"CheckpointError"`. */
  override readonly name = "CheckpointError";
  /** The kind of failure. */
  readonly reason: "lost" | "held" | "tooLarge";

  /** Creates an error. */
  constructor(message: string, reason: CheckpointError["reason"]) {
    super(message);
    this.reason = reason;
  }
}
