/**
 * Stores of snapshots and checkpoints in Deno KV.
 *
 * {@linkcode KvSnapshots} and {@linkcode KvCheckpoints} are the entry points. They do not know what the bytes mean.
 * Stores in files are in `file_stores.ts`.
 *
 * @module
 */
import { decoder, encoder, type ObjectKey } from "../../engine/api/object.ts";
import { isOlder } from "../../engine/api/status.ts";
import {
  type CheckpointChange,
  type CheckpointRecord,
  type CheckpointStore,
  type DeliveredVersion,
  limitedSnapshot,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredCheckpoint,
  type StoredSnapshot,
} from "../../engine/api/stores.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { isDeno } from "./runtime/runtime.ts";

/** A Deno KV key, as {@linkcode KvSnapshots} uses it. */
export type SnapshotKvKey = readonly (string | number)[];

/** The part of `Deno.Kv` that {@linkcode KvSnapshots} and {@linkcode KvCheckpoints} use. */
export interface SnapshotKv {
  /** Returns a key's value and version stamp, or `null` for both if there is none. */
  get(key: SnapshotKvKey): Promise<{ readonly value: unknown; readonly versionstamp: string | null }>;
  /** Yields the values whose keys begin with `prefix`. */
  list(
    selector: { readonly prefix: SnapshotKvKey },
  ): AsyncIterable<{ readonly key: readonly unknown[]; readonly value: unknown }>;
  /** Begins an atomic write. */
  atomic(): SnapshotKvWrite;
}

/** The part of `Deno.AtomicOperation` that {@linkcode KvSnapshots} and {@linkcode KvCheckpoints} use. */
export interface SnapshotKvWrite {
  /** Makes the write fail unless the key has this version stamp. */
  check(check: { readonly key: SnapshotKvKey; readonly versionstamp: string | null }): SnapshotKvWrite;
  /** Writes a value. */
  set(key: SnapshotKvKey, value: unknown): SnapshotKvWrite;
  /** Deletes a value. */
  delete(key: SnapshotKvKey): SnapshotKvWrite;
  /** Applies everything, or nothing. */
  commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }>;
}

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
  readonly #kv: SnapshotKv;
  readonly #prefix: readonly string[];
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
    this.#kv = kv;
    this.#prefix = prefix;
    this.#maxBytes = maxBytes;
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    close(this.#kv);
  }

  /**
   * Returns the stored snapshot with this name, if there is one. It is complete in memory by then.
   *
   * @throws {Error} if it cannot be read.
   */
  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    for (let read = 0; read < READS; read++) {
      const { head } = await this.#head(name);
      if (head === undefined) return undefined;
      const { id, chunks } = head;
      const found: Uint8Array[] = [];
      for await (const { value } of this.#kv.list({ prefix: this.#key(name, "chunk", id) })) {
        found.push(value as Uint8Array);
      }
      if (found.length === chunks) return piecesOf(found);
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
    const { head } = await this.#head(name);
    const choice = compare(snapshot, head);
    if (choice !== "replace") return choice === "same";
    const chunks = await chunked(limitedSnapshot(name, bytes, this.#maxBytes));
    await this.#removeGivenUp(name);
    const id = crypto.randomUUID();
    await this.#kv.atomic().set(this.#key(name, "writing", id), bytesOf(Date.now())).commit();
    for (let first = 0; first < chunks.length; first += BATCH) {
      const write = this.#kv.atomic();
      for (let at = first; at < Math.min(first + BATCH, chunks.length); at++) {
        write.set(this.#key(name, "chunk", id, at), chunks[at]);
      }
      await write.commit();
    }
    return await this.#switch(name, { id, version, chunks: chunks.length }, snapshot);
  }

  /** Makes a snapshot, whose chunks are written, the current one, unless there is a newer one now. */
  async #switch(name: string, next: Head, snapshot: StoredSnapshot): Promise<boolean> {
    const [key, writing] = [this.#key(name, "head"), this.#key(name, "writing", next.id)];
    for (;;) {
      const { head: last, versionstamp } = await this.#head(name);
      const mark = await this.#kv.get(writing);
      // Another process has given this write up, and removes its chunks.
      if (mark.value === null) {
        throw new InformerError(`Cannot write the snapshot "${name}": the write took longer than 10 minutes`);
      }
      const choice = compare(snapshot, last);
      if (choice !== "replace") {
        await this.#giveUp(name, next.id);
        return choice === "same";
      }
      const write = this.#kv.atomic().check({ key, versionstamp }).check({
        key: writing,
        versionstamp: mark.versionstamp,
      })
        .set(key, bytesOf(next)).delete(writing);
      if (last !== undefined) write.set(this.#key(name, "removing", last.id), bytesOf(Date.now()));
      if (!(await write.commit()).ok) continue;
      if (last !== undefined) await this.#remove(name, last.id);
      return true;
    }
  }

  /** Removes the chunks of writes that were given up, and of snapshots whose removal did not end. */
  async #removeGivenUp(name: string): Promise<void> {
    for await (const { key, value } of this.#kv.list({ prefix: this.#key(name, "writing") })) {
      if (Date.now() - (valueOf(value) as number) > GIVEN_UP_MS) await this.#giveUp(name, key.at(-1) as string);
    }
    for await (const { key } of this.#kv.list({ prefix: this.#key(name, "removing") })) {
      await this.#remove(name, key.at(-1) as string);
    }
  }

  /** Gives up a write: a process that is still at it sees that its mark is gone. */
  async #giveUp(name: string, id: string): Promise<void> {
    const removing = this.#key(name, "removing", id);
    await this.#kv.atomic().delete(this.#key(name, "writing", id)).set(removing, bytesOf(Date.now())).commit();
    await this.#remove(name, id);
  }

  /** Removes chunks, and then the mark that says so. */
  async #remove(name: string, id: string): Promise<void> {
    const keys: SnapshotKvKey[] = [];
    for await (const { key } of this.#kv.list({ prefix: this.#key(name, "chunk", id) })) {
      keys.push(key as SnapshotKvKey);
    }
    for (let first = 0; first < keys.length; first += REMOVED_BATCH) {
      const write = this.#kv.atomic();
      for (const key of keys.slice(first, first + REMOVED_BATCH)) write.delete(key);
      await write.commit();
    }
    await this.#kv.atomic().delete(this.#key(name, "removing", id)).commit();
  }

  async #head(name: string): Promise<{ readonly head: Head | undefined; readonly versionstamp: string | null }> {
    const { value, versionstamp } = await this.#kv.get(this.#key(name, "head"));
    return { head: value === null ? undefined : valueOf(value) as Head, versionstamp };
  }

  #key(name: string, ...rest: SnapshotKvKey): SnapshotKvKey {
    return [...this.#prefix, name, ...rest];
  }
}

/**
 * Returns a value as JSON, in bytes: other values are written as V8 of the moment writes them, and an older version may
 * be unable to read that.
 */
function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(value));
}

/** Returns the value of {@linkcode bytesOf}. */
function valueOf(bytes: unknown): unknown {
  return JSON.parse(decoder.decode(bytes as Uint8Array));
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

/** The head of a checkpoint in Deno KV. */
type CheckpointHead = Pick<CheckpointRecord, "holder" | "version">;

/** The head of a checkpoint, and its stamp. */
interface Stamp {
  readonly head: CheckpointHead;
  readonly versionstamp: string | null;
}

/** Opens Deno KV, for {@linkcode close}. @throws {Error} when Deno has none. */
async function openKv(path: string | undefined): Promise<SnapshotKv> {
  const { openKv } = (isDeno() ? globalThis.Deno : {}) as {
    openKv?: (path?: string) => Promise<SnapshotKv & Disposable>;
  };
  if (openKv === undefined) {
    throw new InformerError(
      isDeno()
        ? "Cannot open Deno KV: Deno has it disabled. Run Deno with --unstable-kv"
        : "Cannot open Deno KV: this runtime does not have it. Use a store in files, or pass a database from the package @deno/kv",
    );
  }
  const kv = await openKv(path);
  opened.set(kv, kv);
  return kv;
}

/** The open databases of {@linkcode openKv}. */
const opened = new WeakMap<SnapshotKv, Disposable>();

/** Closes a database that {@linkcode openKv} has opened; leaves others to the caller. */
function close(kv: SnapshotKv): void {
  opened.get(kv)?.[Symbol.dispose]();
  opened.delete(kv);
}

/** The number of objects that are written at once: an atomic write has 80 KiB of keys at most. */
const CHECKPOINT_BATCH = 100;

/**
 * Stores checkpoints in Deno KV, as a head and a value for each object. Each write checks that no other reader has
 * taken the checkpoint over. See the guide:
 * [Continue after a restart](../../../docs/guides/continue-after-a-restart.md).
 *
 * @example
 * ```ts ignore
 * import { Checkpoint } from "@kube/informer";
 * import { KvCheckpoints } from "@kube/informer/connect";
 *
 * using store = await KvCheckpoints.open(); // deno run --unstable-kv; on Deno Deploy without the flag
 * await using checkpoint = await Checkpoint.open(store, { name: "pods" });
 * ```
 */
export class KvCheckpoints implements CheckpointStore, Disposable {
  readonly #kv: SnapshotKv;
  readonly #prefix: readonly string[];

  /**
   * Opens the program's default database, or the one at `path`, and stores checkpoints in it. Dispose the store to
   * close the database.
   *
   * @throws {Error} if Deno KV is missing. Run Deno with `--unstable-kv`.
   */
  static async open(
    options: { readonly path?: string; readonly prefix?: readonly string[] } = {},
  ): Promise<KvCheckpoints> {
    checkNames("keep checkpoints", options, "path prefix");
    const { path, ...rest } = options;
    return new KvCheckpoints(await openKv(path), rest);
  }

  /**
   * Stores checkpoints in a database that you close yourself, under keys that begin with `informer-checkpoints`, or
   * `prefix`.
   */
  constructor(kv: SnapshotKv, options: { readonly prefix?: readonly string[] } = {}) {
    checkNames("keep checkpoints", options, "prefix");
    this.#kv = kv;
    this.#prefix = options.prefix ?? ["informer-checkpoints"];
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    close(this.#kv);
  }

  /** Returns the stored checkpoint with this name, if there is one. @throws the database's error. */
  async get(name: string): Promise<StoredCheckpoint | undefined> {
    const { value, versionstamp } = await this.#kv.get(this.#key(name, "head"));
    if (value === null) return undefined;
    const head = valueOf(value) as CheckpointHead;
    const objects = new Map<ObjectKey, DeliveredVersion>();
    for await (const { key, value } of this.#kv.list({ prefix: this.#key(name, "object") })) {
      objects.set(key.at(-1) as string, valueOf(value) as DeliveredVersion);
    }
    return { record: { ...head, objects }, stamp: { head, versionstamp } satisfies Stamp };
  }

  /** Stores a checkpoint, unless another reader has written it. @throws the database's error. */
  async set(
    name: string,
    { holder, version, objects }: CheckpointRecord,
    { stamp, keys }: CheckpointChange,
  ): Promise<unknown> {
    const states = keys.map((key) => [key, objects.get(key)] as const);
    let { head, versionstamp } = stamp as Stamp | undefined ?? { head: { holder, version: "" }, versionstamp: null };
    for (let first = 0; first === 0 || first < states.length; first += CHECKPOINT_BATCH) {
      const key = this.#key(name, "head");
      const write = this.#kv.atomic().check({ key, versionstamp });
      for (const [key, state] of states.slice(first, first + CHECKPOINT_BATCH)) {
        if (state === undefined) write.delete(this.#key(name, "object", key));
        else write.set(this.#key(name, "object", key), bytesOf(state));
      }
      // The version moves with the last object.
      head = { holder, version: first + CHECKPOINT_BATCH < states.length ? head.version : version };
      const result = await write.set(key, bytesOf(head)).commit();
      if (!result.ok) return undefined;
      versionstamp = result.versionstamp ?? null;
    }
    return { head, versionstamp } satisfies Stamp;
  }

  #key(name: string, ...rest: SnapshotKvKey): SnapshotKvKey {
    return [...this.#prefix, name, ...rest];
  }
}
