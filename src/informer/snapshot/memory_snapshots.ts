import { isOlder } from "../../api/resource_version.ts";
import {
  limitedSnapshot,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredSnapshot,
} from "../../api/snapshot_store.ts";

/** Keeps snapshots in memory, for tests, and for factories that follow each other in one process. */
export class MemorySnapshots implements SnapshotStore {
  readonly #snapshots = new Map<string, { readonly version: string; readonly chunks: readonly Uint8Array[] }>();
  readonly #maxBytes: number;

  /** There are none at first. The default of `maxBytes` is no limit. */
  constructor({ maxBytes = Infinity }: SnapshotLimit = {}) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the last snapshot of a name, if there is one. */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = this.#snapshots.get(name);
    return Promise.resolve(found && chunksOf(found.chunks));
  }

  /** Keeps a snapshot, unless there is a newer one. @throws {RangeError} when it is too large. */
  async set(name: string, { bytes, version, replacesNewer }: StoredSnapshot): Promise<boolean> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of limitedSnapshot(name, bytes, this.#maxBytes)) chunks.push(chunk);
    if (!replacesNewer && isOlder(version, this.#snapshots.get(name)?.version ?? "")) return false;
    this.#snapshots.set(name, { version, chunks });
    return true;
  }
}

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
