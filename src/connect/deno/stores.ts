/**
 * Stores of snapshots and checkpoints, in files and in Deno KV.
 *
 * {@linkcode FileSnapshots}, {@linkcode KvSnapshots}, {@linkcode FileCheckpoints} and {@linkcode KvCheckpoints} are the
 * entry points. They do not know what the bytes mean.
 *
 * @module
 */
import { decoder, encoder, type ObjectKey } from "../../api/object.ts";
import { hashOf } from "../../api/shard.ts";
import { isOlder } from "../../api/status.ts";
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
} from "../../api/stores.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { checkNames } from "../../errors/option_names.ts";
import { folderPermissions, replaceFile } from "./host.ts";

/** The number of bytes that are read at once. */
const CHUNK_BYTES = 2 * 1_024 * 1_024;

/**
 * Keeps snapshots in files, for one process: each in one of its own, which is replaced in one step. A crash leaves the
 * old one, and may leave a file `NAME.….tmp` beside it, which a write removes that comes 10 minutes later.
 *
 * It needs `--allow-read` and `--allow-write` of the folder.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect, FileSnapshots, shutdownSignal } from "@kube/informer/connect";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using signal = shutdownSignal();
 * using client = await connect();
 * const snapshots = { store: new FileSnapshots("/var/cache/watch-pods") };
 * await using informers = new SharedInformerFactory(client, { snapshots });
 * informers.forResource(Pod).addEventHandler({ onAdd: ({ key }) => console.log("there is", key) });
 * await informers.run({ signal }); // the disposal writes what has changed
 * ```
 */
export class FileSnapshots implements SnapshotStore {
  readonly #pathOf: (name: string) => string;
  readonly #maxBytes: number;

  /**
   * Keeps snapshots in a folder, which exists, as `NAME.snapshot`, or where `place` says. A name of more than 180 bytes
   * is cut, and ends with a hash of the whole name. The default of `maxBytes` is no limit.
   */
  constructor(place: string | ((name: string) => string), options: SnapshotLimit = {}) {
    checkNames("keep snapshots", options, "maxBytes");
    this.#pathOf = typeof place === "string" ? (name) => `${place}/${fileName(name)}.snapshot` : place;
    this.#maxBytes = options.maxBytes ?? Infinity;
  }

  /** Returns the content of the file of a name, if there is one. @throws {Error} when it cannot be read. */
  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = this.#pathOf(name);
    try {
      return chunksOf(await Deno.open(path));
    } catch (cause) {
      if (cause instanceof Deno.errors.NotFound) return undefined;
      throw new InformerError(`Cannot read "${path}"${hint(path, cause)}`, { cause });
    }
  }

  /**
   * Replaces the file of a name.
   *
   * @throws {RangeError} when the snapshot is too large. @throws {Error} when the file cannot be written; then it is as
   *   it was.
   */
  async set(name: string, { bytes }: StoredSnapshot): Promise<boolean> {
    await replaceByChunks(this.#pathOf(name), limitedSnapshot(name, bytes, this.#maxBytes));
    return true;
  }
}

/** Replaces a file, which its owner alone can read. @throws a `RangeError` of the chunks as it is. */
async function replaceByChunks(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    await replaceFile(path, `Cannot write "${path}"`, async (beside) => {
      using file = await Deno.open(beside, { createNew: true, write: true, mode: 0o600 });
      for await (const chunk of chunks) await writeAll(file, chunk);
      await file.syncData();
    });
  } catch (error) {
    const { message, cause } = error as Error;
    if (cause instanceof RangeError) throw cause;
    throw new InformerError(`${message}${hint(path, cause)}`, { cause });
  }
}

/** Writes all of the bytes. */
async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}

async function* chunksOf(file: Deno.FsFile): AsyncGenerator<Uint8Array, void> {
  using _file = file;
  const read = async (): Promise<Uint8Array | undefined> => {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = await file.read(chunk);
    return length === null ? undefined : chunk.subarray(0, length);
  };
  // The next chunk is read while this one is used.
  let next = read();
  try {
    for (;;) {
      const chunk = await next;
      if (chunk === undefined) return;
      next = read();
      yield chunk;
    }
  } finally {
    await next.catch(() => {}); // an error was thrown above, or is of a chunk behind the part that the reader wanted
  }
}

/** File systems take names of 255 bytes, and a temporary file has an ending of its own. */
const LONGEST_NAME = 180;

/** Returns a name that files may have everywhere. A long one is cut, and has a hash of the whole name. */
function fileName(name: string): string {
  const full = encodeURIComponent(name).replaceAll("*", "%2A");
  if (full.length <= LONGEST_NAME) return full;
  const hash = `~${hashOf(full).toString(16)}`;
  return full.slice(0, LONGEST_NAME - hash.length) + hash;
}

/** Returns the end of the message of an error: the flags that would permit it, if they are missing. */
function hint(path: string, cause: unknown): string {
  return cause instanceof Deno.errors.NotCapable ? `; run Deno with ${folderPermissions(path)}` : "";
}

/** A key of Deno KV, as {@linkcode KvSnapshots} uses them. */
export type SnapshotKvKey = readonly (string | number)[];

/** The parts of `Deno.Kv` that {@linkcode KvSnapshots} uses. */
export interface SnapshotKv {
  /** Returns the value of a key and its stamp; `null` for both if there is none. */
  get(key: SnapshotKvKey): Promise<{ readonly value: unknown; readonly versionstamp: string | null }>;
  /** Yields the values of the keys that begin with `prefix`. */
  list(
    selector: { readonly prefix: SnapshotKvKey },
  ): AsyncIterable<{ readonly key: readonly unknown[]; readonly value: unknown }>;
  /** Begins an atomic write. */
  atomic(): SnapshotKvWrite;
}

/** The parts of `Deno.AtomicOperation` that {@linkcode KvSnapshots} uses. */
export interface SnapshotKvWrite {
  /** Writes only if the key has this stamp. */
  check(check: { readonly key: SnapshotKvKey; readonly versionstamp: string | null }): SnapshotKvWrite;
  /** Writes a value. */
  set(key: SnapshotKvKey, value: unknown): SnapshotKvWrite;
  /** Removes a value. */
  delete(key: SnapshotKvKey): SnapshotKvWrite;
  /** Does all of it, or nothing. */
  commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }>;
}

/** Options of {@linkcode KvSnapshots}. */
export interface KvSnapshotsOptions extends SnapshotLimit {
  /** The beginning of the keys. @default {["informer-snapshots"]} */
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

/**
 * All values are bytes: other values are written as V8 of the moment writes them, and an older version may be unable to
 * read that.
 */

/** The number of times that a snapshot is read which is replaced meanwhile. */
const READS = 3;

/**
 * Keeps snapshots in Deno KV, for any number of processes: an older one never replaces a newer one, and one that is
 * there already is not written again.
 *
 * A snapshot is written in chunks under keys of its own; then one atomic write makes it the current one, and the chunks
 * of the one before are removed. Chunks of a process that was stopped while it wrote are removed by the first snapshot
 * that is written 10 minutes later, those of one that was stopped while it removed by the next one.
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

  /** `#opened` is the database if {@linkcode open} has opened it. */
  #opened: Disposable | undefined;

  /**
   * Opens the default database of the program, or the one of a path or address, and keeps snapshots in it. The disposal
   * closes it.
   *
   * @throws {Error} when Deno has no KV: run it with `--unstable-kv`.
   */
  static async open(options: KvSnapshotsOptions & { readonly path?: string } = {}): Promise<KvSnapshots> {
    checkNames("keep snapshots", options, "path prefix maxBytes");
    const kv = await openKv(options.path);
    const snapshots = new KvSnapshots(kv, { prefix: options.prefix, maxBytes: options.maxBytes });
    snapshots.#opened = kv;
    return snapshots;
  }

  /** Keeps snapshots in a database that the caller closes. The default of `maxBytes` is 16 MiB. */
  constructor(kv: SnapshotKv, options: KvSnapshotsOptions = {}) {
    checkNames("keep snapshots", options, "prefix maxBytes");
    const { prefix = ["informer-snapshots"], maxBytes = 16 * 1_024 * 1_024 } = options;
    this.#kv = kv;
    this.#prefix = prefix;
    this.#maxBytes = maxBytes;
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    this.#opened?.[Symbol.dispose]();
    this.#opened = undefined;
  }

  /**
   * Returns the current snapshot of a name, if there is one. It has been read by then.
   *
   * @throws {Error} when it cannot be read.
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
   * Writes a snapshot, unless there is a newer one, or one of the same version that it does not replace.
   *
   * @throws {RangeError} when it is larger than `maxBytes`; then nothing was written.
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
        throw new InformerError(`Cannot write the snapshot "${name}": it took longer than 10 minutes`);
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

/** Returns a value as JSON, in bytes; see {@linkcode encoder}. */
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

/** A line of a file behind the first: the version, and objects that were delivered or, without a version, deleted. */
interface Line {
  readonly version: string;
  readonly objects: readonly (readonly [ObjectKey, ...DeliveredVersion] | readonly [ObjectKey])[];
}

/** The first line of a file: `{"holder":"UUID"}`. */
const HEAD_BYTES = 50;

/** A file is written anew when so many bytes were appended, and as many as it had then. */
const APPENDED_BYTES = 64 * 1_024;

/**
 * Keeps checkpoints in files, each in one of its own: a write appends a line, and now and then the file is replaced in
 * one step. A crash of the machine may lose the last lines, so that their events are repeated.
 *
 * It needs `--allow-read` and `--allow-write` of the folder.
 *
 * @example
 * ```ts ignore
 * import { Checkpoint, SharedInformerFactory } from "@kube/informer";
 * import { connect, FileCheckpoints, shutdownSignal } from "@kube/informer/connect";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using signal = shutdownSignal();
 * using client = await connect();
 * await using checkpoint = await Checkpoint.open(new FileCheckpoints("/var/lib/notifier"), { name: "pods" });
 * await using informers = new SharedInformerFactory(client);
 * informers.forResource(Pod).addEventHandler({ onAdd: ({ key }) => console.log("new", key) }, { checkpoint });
 * await informers.run({ signal });
 * ```
 */
export class FileCheckpoints implements CheckpointStore {
  readonly #folder: string;
  /** The number of bytes of files that were replaced last, and of those appended since; unset after a failure. */
  readonly #sizes = new Map<string, { replaced: number; appended: number }>();

  /** Keeps checkpoints in a folder, which exists, as `NAME.checkpoint`. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the checkpoint of a name, if there is one. @throws {Error} when the file cannot be read. */
  async get(name: string): Promise<StoredCheckpoint | undefined> {
    const path = this.#pathOf(name);
    let text: string;
    try {
      text = await Deno.readTextFile(path);
    } catch (cause) {
      if (cause instanceof Deno.errors.NotFound) return undefined;
      throw new InformerError(`Cannot read "${path}"${hint(path, cause)}`, { cause });
    }
    const [head, ...lines] = text.split("\n");
    const holder = holderOf(head);
    if (holder === undefined) {
      throw new InformerError(
        `Cannot read "${path}": found ${JSON.stringify(head.slice(0, HEAD_BYTES))}, no checkpoint`,
      );
    }
    const objects = new Map<ObjectKey, DeliveredVersion>();
    let version = "";
    for (const text of lines.slice(0, -1)) { // behind the last end of a line there is nothing, or a part of a line
      const line = JSON.parse(text) as Line;
      version = line.version;
      for (const [key, uid, resourceVersion] of line.objects) {
        if (uid === undefined || resourceVersion === undefined) objects.delete(key);
        else objects.set(key, [uid, resourceVersion]);
      }
    }
    return { record: { holder, version, objects }, stamp: holder };
  }

  /** Writes a checkpoint, unless another reader has written it. @throws {Error} when the file cannot be written. */
  async set(name: string, record: CheckpointRecord, { stamp, keys }: CheckpointChange): Promise<unknown> {
    const path = this.#pathOf(name);
    const sizes = this.#sizes.get(name);
    const { holder, version } = record;
    const isReplaced = sizes === undefined || stamp !== holder ||
      sizes.appended > Math.max(APPENDED_BYTES, sizes.replaced);
    const written = isReplaced ? record.objects.keys() : keys;
    const objects = Array.from(written, (key): Line["objects"][number] => [key, ...record.objects.get(key) ?? []]);
    const line = `${JSON.stringify({ version, objects } satisfies Line)}\n`;
    const bytes = encoder.encode(isReplaced ? `${JSON.stringify({ holder })}\n${line}` : line);
    this.#sizes.delete(name);
    try {
      using file = await openCheckpoint(path);
      if (await holderIn(file) !== stamp) return undefined;
      if (!isReplaced) await writeAll(file!, bytes);
    } catch (cause) {
      throw new InformerError(`Cannot write "${path}"${hint(path, cause)}`, { cause });
    }
    if (isReplaced) await replaceByChunks(path, [bytes]);
    const { replaced, appended } = isReplaced ? { replaced: bytes.length, appended: -bytes.length } : sizes;
    this.#sizes.set(name, { replaced, appended: appended + bytes.length });
    return holder;
  }

  #pathOf(name: string): string {
    return `${this.#folder}/${fileName(name)}.checkpoint`;
  }
}

/** Opens a file to read and append; `undefined` if there is none. */
async function openCheckpoint(path: string): Promise<Deno.FsFile | undefined> {
  try {
    return await Deno.open(path, { read: true, append: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Returns the holder that a file begins with. */
async function holderIn(file: Deno.FsFile | undefined): Promise<string | undefined> {
  const head = new Uint8Array(HEAD_BYTES);
  return holderOf(decoder.decode(head.subarray(0, await file?.read(head) ?? 0)));
}

function holderOf(head: string): string | undefined {
  return /^\{"holder":"([0-9a-f-]+)"\}/.exec(head)?.[1];
}

/** The head of a checkpoint in Deno KV. */
type CheckpointHead = Pick<CheckpointRecord, "holder" | "version">;

/** The head of a checkpoint, and its stamp. */
interface Stamp {
  readonly head: CheckpointHead;
  readonly versionstamp: string | null;
}

/** Opens Deno KV. @throws {Error} when Deno has none. */
async function openKv(path: string | undefined): Promise<SnapshotKv & Disposable> {
  const { openKv } = Deno as { readonly openKv?: (path?: string) => Promise<SnapshotKv & Disposable> };
  if (openKv === undefined) throw new InformerError("Cannot open Deno KV: run Deno with --unstable-kv");
  return await openKv(path);
}

/** The number of objects that are written at once: an atomic write has 80 KiB of keys at most. */
const CHECKPOINT_BATCH = 100;

/**
 * Keeps checkpoints in Deno KV: a head, and a value for each object. Each write checks that the head is still that of
 * its reader.
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
  /** The database if {@linkcode open} has opened it. */
  #opened: Disposable | undefined;

  /**
   * Opens the default database of the program, or the one of a path or address, and keeps checkpoints in it. The
   * disposal closes it.
   *
   * @throws {Error} when Deno has no KV: run it with `--unstable-kv`.
   */
  static async open(
    options: { readonly path?: string; readonly prefix?: readonly string[] } = {},
  ): Promise<KvCheckpoints> {
    checkNames("keep checkpoints", options, "path prefix");
    const kv = await openKv(options.path);
    const checkpoints = new KvCheckpoints(kv, { prefix: options.prefix });
    checkpoints.#opened = kv;
    return checkpoints;
  }

  /** Keeps checkpoints in a database that the caller closes, under keys that begin with `informer-checkpoints`. */
  constructor(kv: SnapshotKv, options: { readonly prefix?: readonly string[] } = {}) {
    checkNames("keep checkpoints", options, "prefix");
    this.#kv = kv;
    this.#prefix = options.prefix ?? ["informer-checkpoints"];
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    this.#opened?.[Symbol.dispose]();
    this.#opened = undefined;
  }

  /** Returns the checkpoint of a name, if there is one. @throws what the database throws. */
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

  /** Writes a checkpoint, unless another reader has written it. @throws what the database throws. */
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
