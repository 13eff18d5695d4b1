/**
 * Cache snapshots and handler checkpoints: the state that outlives a process.
 *
 * {@linkcode SnapshotStore} and {@linkcode CheckpointStore} are interfaces. `connect` keeps both in files and in
 * `Deno.Kv`, and `controllers/reconcile` keeps checkpoints in ConfigMaps. This file stores nothing.
 *
 * @module
 */
import { ValueError } from "../errors/checks.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { ObjectKey } from "./object.ts";

/**
 * Keeps cache snapshots by name, so that they outlive a process. Implement it to keep snapshots in your own storage.
 *
 * A store must replace a snapshot in one step: readers see the previous snapshot until all bytes are written, and also
 * if the write fails.
 */
export interface SnapshotStore {
  /** Returns the bytes that were last written under a name, or `undefined` if there are none. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Writes a snapshot. Returns `false` if it kept a newer snapshot from another process. A store that only one process
   * uses need not compare versions.
   */
  set(name: string, snapshot: StoredSnapshot): Promise<boolean>;
}

/** A snapshot to write. */
export interface StoredSnapshot {
  /** The snapshot's bytes. If they fail, the write must fail. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The cache's version, or `""` if it has no order. */
  readonly version: string;
  /** If `true`, replace a newer snapshot too: it is damaged, or has versions that the server does not have. */
  readonly replacesNewer: boolean;
  /**
   * If `true`, replace a snapshot with the same version too: a list or a consistency check has repaired the cache at
   * that version. @default {false}
   */
  readonly replacesSame?: boolean;
}

/** Options for a snapshot store. */
export interface SnapshotLimit {
  /** The largest snapshot in bytes. A larger snapshot is not written. */
  readonly maxBytes?: number;
}

/**
 * Yields `bytes`, and throws after more than `maxBytes`.
 *
 * @throws {RangeError} The message says how to make the snapshot `name` smaller.
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
      throw new ValueError(
        `Cannot write the snapshot "${name}": it has more than ${maxBytes} bytes. Cache fewer fields (option "fields"), ` +
          `cache only metadata (onlyMetadata), or raise maxBytes`,
      );
    }
    yield chunk;
  }
}

/**
 * An object's last delivered uid and version. The version is `""` if the addition may not have been delivered, because
 * the handler call was interrupted or failed. A checkpoint of logs has the place in a container's log instead.
 */
export type DeliveredVersion = readonly [uid: string, resourceVersion: string];

/** A checkpoint's contents. */
export interface CheckpointRecord {
  /** Identifies the reader. Each {@linkcode Checkpoint.open} has another value. */
  readonly holder: string;
  /** Every change up to this version was delivered. `""` until the first list is delivered. */
  readonly version: string;
  /**
   * The objects that exist according to the deliveries. Some may have later versions than `version`, because a list is
   * not ordered by version.
   */
  readonly objects: ReadonlyMap<ObjectKey, DeliveredVersion>;
}

/** A record as it is in a store. */
export interface StoredCheckpoint {
  /** The record. */
  readonly record: CheckpointRecord;
  /** Identifies the last write. Only the store reads it. */
  readonly stamp: unknown;
}

/** The difference between a record and the stored record. */
export interface CheckpointChange {
  /** The stamp from the last read or write, or `undefined` if there was none. */
  readonly stamp: unknown;
  /** The keys whose objects differ. */
  readonly keys: readonly ObjectKey[];
}

/**
 * Keeps checkpoints by name. Implement it to keep checkpoints in your own storage, or use `MemoryCheckpoints`,
 * `FileCheckpoints`, `KvCheckpoints` or `ConfigMapCheckpoints`.
 */
export interface CheckpointStore {
  /** The default for {@linkcode CheckpointOptions.intervalMs}. @default {0} */
  readonly intervalMs?: number;
  /**
   * Returns a checkpoint with its stamp, or `undefined` if there is none with that name. The stamp changes with each
   * write by another reader.
   */
  get(name: string): Promise<StoredCheckpoint | undefined>;
  /**
   * Writes a record if the stamp is unchanged. If the given stamp is `undefined`, there must be no record yet.
   *
   * Returns the new stamp. Returns `undefined` if it wrote nothing, because the stamp has changed. The stored record
   * differs from the new record only in its head and at `change.keys`. The record is live, so read it before the first
   * `await`.
   */
  set(name: string, record: CheckpointRecord, change: CheckpointChange): Promise<unknown>;
  /**
   * Returns `true` for the uid of an object in which this store keeps the checkpoint. The checkpoint's reader does not
   * receive that object.
   */
  isOwn?(name: string, uid: string): boolean;
}

/**
 * Thrown when a checkpoint cannot continue. `reason` says why:
 *
 * - `"lost"`: another reader has opened it since.
 * - `"held"`: it already has a reader.
 * - `"tooLarge"`: its store cannot keep so many objects.
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
