import {
  limitedSnapshot,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredSnapshot,
} from "../../api/snapshot_store.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { folderPermissions, replaceFile } from "../host/replace_file.ts";

/** The number of bytes that are read at once. */
const CHUNK_BYTES = 2 * 1_024 * 1_024;

/**
 * Keeps snapshots in files, for one process: each in one of its own, which is replaced in one step. A crash leaves the old one, and
 * may leave a file `NAME.….tmp` beside it, which a write removes that comes 10 minutes later.
 *
 * It needs `--allow-read` and `--allow-write` of the folder.
 *
 * @example
 * ```ts ignore
 * import { SharedInformerFactory } from "@kube/informer";
 * import { connect, FileSnapshots, shutdownSignal } from "@kube/informer/deno";
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
   * Keeps snapshots in a folder, which exists, as `NAME.snapshot`, or where `place` says. The default of `maxBytes` is no limit.
   */
  constructor(place: string | ((name: string) => string), { maxBytes = Infinity }: SnapshotLimit = {}) {
    this.#pathOf = typeof place === "string" ? (name) => `${place}/${fileName(name)}.snapshot` : place;
    this.#maxBytes = maxBytes;
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
   * @throws {RangeError} when the snapshot is too large. @throws {Error} when the file cannot be written; then it is as it was.
   */
  async set(name: string, { bytes }: StoredSnapshot): Promise<boolean> {
    const path = this.#pathOf(name);
    try {
      await replaceFile(path, `Cannot write "${path}"`, async (beside) => {
        using file = await Deno.open(beside, { createNew: true, write: true, mode: 0o600 });
        for await (const chunk of limitedSnapshot(name, bytes, this.#maxBytes)) {
          for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
        }
        await file.syncData();
      });
    } catch (error) {
      const { message, cause } = error as Error;
      if (cause instanceof RangeError) throw cause;
      throw new InformerError(`${message}${hint(path, cause)}`, { cause });
    }
    return true;
  }
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

/** Returns a name that files may have everywhere. */
function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll("*", "%2A");
}

function hint(path: string, cause: unknown): string {
  return cause instanceof Deno.errors.NotCapable ? `; run Deno with ${folderPermissions(path)}` : "";
}
