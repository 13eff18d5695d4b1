/**
 * Stores of snapshots and checkpoints in files.
 *
 * {@linkcode FileSnapshots} and {@linkcode FileCheckpoints} are the entry points. They do not know what the bytes mean.
 * Stores in Deno KV are in `kv_snapshots.ts` and `kv_checkpoints.ts`.
 *
 * @module
 */
import type { FileHandle } from "node:fs/promises";
import { decoder, encoder, type ObjectKey } from "../../engine/api/object.ts";
import { hashOf } from "../../engine/api/shard.ts";
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
import { folderPermissions, replaceFile } from "./files.ts";
import { builtin, failureKind, readTextFile } from "./runtime/runtime.ts";

/** The number of bytes that are read at once. */
const CHUNK_BYTES = 2 * 1_024 * 1_024;

/**
 * Stores cache snapshots in files, for one process. Each snapshot is a file, which is replaced in one step. A crash
 * leaves the old file intact. It may also leave a file `NAME.….tmp`, which a later write removes after 10 minutes.
 *
 * It needs `--allow-read` and `--allow-write` for the folder. See the guide:
 * [Warm start](../../../docs/guides/warm-start.md).
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
   * Stores snapshots as `NAME.snapshot` in an existing folder, or at the paths that `place` returns. A name with more
   * than 180 bytes is cut, and ends with a hash. By default, `maxBytes` sets no limit.
   */
  constructor(place: string | ((name: string) => string), options: SnapshotLimit = {}) {
    checkNames("keep snapshots", options, "maxBytes");
    this.#pathOf = typeof place === "string" ? (name) => `${place}/${fileName(name)}.snapshot` : place;
    this.#maxBytes = options.maxBytes ?? Infinity;
  }

  /** Returns the stored snapshot with this name, if there is one. @throws {Error} if the file cannot be read. */
  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = this.#pathOf(name);
    const file = await foundIn(path, builtin("fs/promises").open(path));
    return file && chunksOf(file);
  }

  /**
   * Stores a snapshot, and replaces the file with this name.
   *
   * @throws {RangeError} if the snapshot is too large.
   * @throws {Error} if the file cannot be written. The old file then stays as it was.
   */
  async set(name: string, { bytes }: StoredSnapshot): Promise<boolean> {
    await replaceByChunks(this.#pathOf(name), limitedSnapshot(name, bytes, this.#maxBytes));
    return true;
  }
}

/** Returns what a read finds in a file; `undefined` if there is no file. @throws {InformerError} if it fails. */
async function foundIn<R>(path: string, read: Promise<R>): Promise<R | undefined> {
  try {
    return await read;
  } catch (cause) {
    if (failureKind(cause) === "missing") return undefined;
    throw new InformerError(`Cannot read "${path}"${hint(path, cause)}`, { cause });
  }
}

/** Replaces a file, which its owner alone can read. @throws a `RangeError` of the chunks as it is. */
async function replaceByChunks(path: string, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await replaceFile(path, `Cannot write "${path}"`, async (beside) => {
      await using file = await builtin("fs/promises").open(beside, "wx", 0o600);
      for await (const chunk of chunks) await writeAll(file, chunk);
      await file.datasync();
    });
  } catch (error) {
    const { message, cause } = error as Error;
    if (cause instanceof RangeError) throw cause;
    throw new InformerError(`${message}${hint(path, cause)}`, { cause });
  }
}

/** Writes all of the bytes. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array, void> {
  await using _file = file;
  const read = async (): Promise<Uint8Array | undefined> => {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk);
    return bytesRead === 0 ? undefined : chunk.subarray(0, bytesRead);
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
  return failureKind(cause) === "no permission flag" ? `. Run Deno with ${folderPermissions(path)}` : "";
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
 * Stores checkpoints in files, for handlers that continue after a restart. Each checkpoint is a file. A write appends a
 * line, and sometimes replaces the file in one step. If the machine crashes, the last lines may be lost, and their
 * events are delivered again.
 *
 * It needs `--allow-read` and `--allow-write` for the folder. See the guide:
 * [Continue after a restart](../../../docs/guides/continue-after-a-restart.md).
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

  /** Stores checkpoints as `NAME.checkpoint` in an existing folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the stored checkpoint with this name, if there is one. @throws {Error} if the file cannot be read. */
  async get(name: string): Promise<StoredCheckpoint | undefined> {
    const path = this.#pathOf(name);
    const text = await foundIn(path, readTextFile(path));
    if (text === undefined) return undefined;
    const [head, ...lines] = text.split("\n");
    const holder = holderOf(head);
    if (holder === undefined) {
      const found = JSON.stringify(head.slice(0, HEAD_BYTES));
      throw damaged(path, `it is not a checkpoint, because it begins with ${found}`);
    }
    const objects = new Map<ObjectKey, DeliveredVersion>();
    let version = "";
    for (const [i, text] of lines.slice(0, -1).entries()) { // the last line break is followed by nothing, or by a part of a line
      try {
        const line = JSON.parse(text) as Line;
        version = line.version;
        for (const [key, uid, resourceVersion] of line.objects) {
          if (uid === undefined || resourceVersion === undefined) objects.delete(key);
          else objects.set(key, [uid, resourceVersion]);
        }
      } catch (cause) {
        throw damaged(path, `line ${i + 2} is damaged`, { cause });
      }
    }
    return { record: { holder, version, objects }, stamp: holder };
  }

  /** Stores a checkpoint, unless another reader has written it. @throws {Error} if the file cannot be written. */
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
      await using file = await openCheckpoint(path);
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
async function openCheckpoint(path: string): Promise<FileHandle | undefined> {
  try {
    const { constants, open } = builtin("fs/promises");
    return await open(path, constants.O_RDWR | constants.O_APPEND);
  } catch (error) {
    if (failureKind(error) === "missing") return undefined;
    throw error;
  }
}

/** Returns the holder that a file begins with. */
async function holderIn(file: FileHandle | undefined): Promise<string | undefined> {
  const head = new Uint8Array(HEAD_BYTES);
  const { bytesRead = 0 } = await file?.read(head, 0, HEAD_BYTES, 0) ?? {};
  return holderOf(decoder.decode(head.subarray(0, bytesRead)));
}

function damaged(path: string, problem: string, options?: ErrorOptions): InformerError {
  return new InformerError(`Cannot read "${path}": ${problem}. Remove the file to begin from scratch`, options);
}

function holderOf(head: string): string | undefined {
  return /^\{"holder":"([0-9a-f-]+)"\}/.exec(head)?.[1];
}
