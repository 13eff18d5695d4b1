/**
 * Cache snapshots in Deno KV.
 *
 * {@linkcode KvSnapshots} is the entry point. It does not know what the bytes mean.
 *
 * @module
 */
import { isOlder } from "../../engine/api/status.ts";
import {
  limitedSnapshot,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredSnapshot,
} from "../../engine/api/stores.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { KvStore, openKv, type SnapshotKv, valueOf } from "./kv_store.ts";

/** Options for {@linkcode KvSnapshots}. */
export interface KvSnapshotsOptions extends SnapshotLimit {
  /** The first parts of every key. @default {["informer-snapshots"]} */
  readonly prefix?: readonly string[];
}

/** The head of a snapshot. */
interface Head {
  /** The part of the keys of its chunks that no other snapshot has. */
  readonly id: string;
  /** The version of the cache. */
  readonly version: string;
  readonly chunks: number;
}

/** The number of bytes of a chunk: a value of Deno KV has 65,536 at most, with what describes it. */
const VALUE_BYTES = 60_000;

/** The number of chunks that are written at once: an atomic write has 800 KiB at most. */
const BATCH = 12;

/** The number of chunks that are removed at once: an atomic write has 1,000 changes at most, and 80 KiB of keys. */
const REMOVED_BATCH = 40;

/** The age from which a write counts as given up, in milliseconds. */
const GIVEN_UP_MS = 600_000;

/** The number of times that a snapshot is read which is replaced meanwhile. */
const READS = 3;

/**
 * Stores cache snapshots in Deno KV, for any number of processes. An older snapshot never replaces a newer one, and a
 * snapshot that is already there is not written again. See the guide: [Warm start](../../../docs/guides/warm-start.md).
 *
 * Chunks are written under new keys. Then one atomic write makes them the current snapshot, and the old chunks are
 * deleted. If a process stops in the middle, a later write deletes the chunks that it left.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect, KvSnapshots } from "@kube/informer/connect";
 *
 * using store = await KvSnapshots.open(); // deno run --unstable-kv; on Deno Deploy without the flag
 * using client = await connect();
 * await using informers = new SharedInformerFactory(client, { snapshots: { store } });
 * ```
 */
export class KvSnapshots implements SnapshotStore, Disposable {
  readonly #kv: KvStore;
  readonly #maxBytes: number;

  /**
   * Opens the program's default database, or the one at `path`, and stores snapshots in it. Dispose the store to close
   * the database.
   *
   * @throws {Error} if Deno KV is missing. Run Deno with `--unstable-kv`.
   */
  static async open(options: KvSnapshotsOptions & { readonly path?: string } = {}): Promise<KvSnapshots> {
    checkNames("keep snapshots", options, "path prefix maxBytes");
    const { path, ...rest } = options;
    return new KvSnapshots(await openKv(path), rest);
  }

  /** Stores snapshots in a database that you close yourself. By default, `maxBytes` is 16 MiB. */
  constructor(kv: SnapshotKv, options: KvSnapshotsOptions = {}) {
    checkNames("keep snapshots", options, "prefix maxBytes");
    const { prefix = ["informer-snapshots"], maxBytes = 16 * 1_024 * 1_024 } = options;
    this.#kv = new KvStore(kv, prefix);
    this.#maxBytes = maxBytes;
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    this.#kv[Symbol.dispose]();
  }

  /**
   * Returns the stored snapshot with this name, if there is one. It is complete in memory by then.
   *
   * @throws {Error} if it cannot be read.
   */
  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    for (let read = 0; read < READS; read++) {
      const { value: head } = await this.#kv.read<Head>(name, "head");
      if (head === undefined) return undefined;
      const found = await Array.fromAsync(this.#kv.list(name, "chunk", head.id), ([, bytes]) => bytes);
      if (found.length === head.chunks) return piecesOf(found);
    }
    throw new InformerError(`Cannot read the snapshot "${name}": chunks of it are missing`);
  }

  /**
   * Stores a snapshot, unless the stored one is newer, or has the same version and must stay.
   *
   * @throws {RangeError} if the snapshot is larger than `maxBytes`. Nothing is written then.
   */
  async set(name: string, snapshot: StoredSnapshot): Promise<boolean> {
    const { bytes, version } = snapshot;
    const { value: head } = await this.#kv.read<Head>(name, "head");
    const choice = compare(snapshot, head);
    if (choice !== "replace") return choice === "same";
    const chunks = await chunked(limitedSnapshot(name, bytes, this.#maxBytes));
    await this.#removeGivenUp(name);
    const id = crypto.randomUUID();
    await this.#kv.write([[[name, "writing", id], Date.now()]]);
    for (let first = 0; first < chunks.length; first += BATCH) {
      const batch = chunks.slice(first, first + BATCH);
      await this.#kv.write(batch.map((chunk, i) => [[name, "chunk", id, first + i], chunk]));
    }
    return await this.#switch(name, { id, version, chunks: chunks.length }, snapshot);
  }

  /** Makes a snapshot, whose chunks are written, the current one, unless there is a newer one now. */
  async #switch(name: string, next: Head, snapshot: StoredSnapshot): Promise<boolean> {
    const [key, writing] = [[name, "head"], [name, "writing", next.id]];
    for (;;) {
      const { value: last, version } = await this.#kv.read<Head>(...key);
      const mark = await this.#kv.read<number>(...writing);
      // Another process has given this write up, and removes its chunks.
      if (mark.value === undefined) {
        throw new InformerError(`Cannot write the snapshot "${name}": the write took longer than 10 minutes`);
      }
      const choice = compare(snapshot, last);
      if (choice !== "replace") {
        await this.#giveUp(name, next.id);
        return choice === "same";
      }
      const removing = last === undefined ? [] : [[[name, "removing", last.id], Date.now()] as const];
      const changes = [[key, next], [writing, undefined], ...removing] as const;
      if (await this.#kv.write(changes, [key, version], [writing, mark.version]) === undefined) continue;
      if (last !== undefined) await this.#remove(name, last.id);
      return true;
    }
  }

  /** Removes the chunks of writes that were given up, and of snapshots whose removal did not end. */
  async #removeGivenUp(name: string): Promise<void> {
    for await (const [id, begun] of this.#kv.list(name, "writing")) {
      if (Date.now() - valueOf<number>(begun) > GIVEN_UP_MS) await this.#giveUp(name, id);
    }
    for await (const [id] of this.#kv.list(name, "removing")) await this.#remove(name, id);
  }

  /** Gives up a write: a process that is still at it sees that its mark is gone. */
  async #giveUp(name: string, id: string | number): Promise<void> {
    await this.#kv.write([[[name, "writing", id], undefined], [[name, "removing", id], Date.now()]]);
    await this.#remove(name, id);
  }

  /** Removes chunks, and then the mark that says so. */
  async #remove(name: string, id: string | number): Promise<void> {
    const places = await Array.fromAsync(this.#kv.list(name, "chunk", id), ([at]) => [name, "chunk", id, at]);
    for (let first = 0; first < places.length; first += REMOVED_BATCH) {
      await this.#kv.write(places.slice(first, first + REMOVED_BATCH).map((place) => [place, undefined]));
    }
    await this.#kv.write([[[name, "removing", id], undefined]]);
  }
}

/** Returns whether a snapshot replaces the current one, which else is of the same version, or newer. */
function compare(snapshot: StoredSnapshot, head: Head | undefined): "replace" | "same" | "leave" {
  const { version, replacesNewer, replacesSame = false } = snapshot;
  if (head === undefined || version === "" || replacesNewer) return "replace";
  if (version === head.version) return replacesSame ? "replace" : "same";
  return isOlder(version, head.version) ? "leave" : "replace";
}

/** Returns bytes as chunks of the same length, but for the last one. */
async function chunked(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let used = VALUE_BYTES;
  for await (const part of bytes) {
    for (let at = 0; at < part.length;) {
      if (used === VALUE_BYTES) {
        chunks.push(new Uint8Array(VALUE_BYTES));
        used = 0;
      }
      const taken = part.subarray(at, at + VALUE_BYTES - used);
      chunks.at(-1)!.set(taken, used);
      used += taken.length;
      at += taken.length;
    }
  }
  if (chunks.length > 0) chunks[chunks.length - 1] = chunks.at(-1)!.slice(0, used);
  return chunks;
}

async function* piecesOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
