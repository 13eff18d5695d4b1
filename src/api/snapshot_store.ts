/**
 * Keeps snapshots of caches by name, beyond the life of a process.
 *
 * A store writes a snapshot in one step: until all of its bytes are there, and when the writing fails, readers see the one before.
 */
export interface SnapshotStore {
  /** Returns the bytes that were last written under a name; `undefined` if there are none. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Writes a snapshot. Returns `false` if it has left a newer one in place, which another process has written; a store of one
   * process may do without the comparison.
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
   * If `true`, a snapshot of the same version is replaced too: a list or a consistency check has repaired the cache at that version.
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
        `Cannot write the snapshot "${name}": it has more than ${maxBytes} bytes; cache fewer fields (option "fields"), ` +
          `or metadata alone (metadataOf), or raise maxBytes`,
      );
    }
    yield chunk;
  }
}
