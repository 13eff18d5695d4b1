import type { ObjectKey } from "../api/object.ts";
import { InformerError } from "../errors/informer_error.ts";
import type {
  DeliveredVersion,
  PositionChange,
  PositionRecord,
  PositionStore,
  StoredPosition,
} from "../api/position.ts";
import {
  bytesOf,
  fileName,
  hint,
  replaceByChunks,
  type SnapshotKv,
  type SnapshotKvKey,
  valueOf,
  writeAll,
} from "./snapshots.ts";

/** A line of a file behind the first: the version, and objects that were delivered or, without a version, deleted. */
interface Line {
  readonly version: string;
  readonly objects: readonly (readonly [ObjectKey, ...DeliveredVersion] | readonly [ObjectKey])[];
}

/** The first line of a file: `{"holder":"UUID"}`. */
const HEAD_BYTES = 50;

/** A file is written anew when so many bytes were appended, and as many as it had then. */
const APPENDED_BYTES = 64 * 1_024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Keeps positions in files, each in one of its own: a write appends a line, and now and then the file is replaced in
 * one step. A crash of the machine may lose the last lines, so that their events are repeated.
 *
 * It needs `--allow-read` and `--allow-write` of the folder.
 *
 * @example
 * ```ts ignore
 * import { Position, SharedInformerFactory } from "@kube/informer";
 * import { connect, FilePositions, shutdownSignal } from "@kube/informer/deno";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 *
 * using signal = shutdownSignal();
 * using client = await connect();
 * await using position = await Position.open(new FilePositions("/var/lib/notifier"), { name: "pods" });
 * await using informers = new SharedInformerFactory(client);
 * informers.forResource(Pod).addEventHandler({ onAdd: ({ key }) => console.log("new", key) }, { position });
 * await informers.run({ signal });
 * ```
 */
export class FilePositions implements PositionStore {
  readonly #folder: string;
  /** The number of bytes of files that were replaced last, and of those appended since; unset after a failure. */
  readonly #sizes = new Map<string, { replaced: number; appended: number }>();

  /** Keeps positions in a folder, which exists, as `NAME.position`. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the position of a name, if there is one. @throws {Error} when the file cannot be read. */
  async read(name: string): Promise<StoredPosition | undefined> {
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
      throw new InformerError(`Cannot read "${path}": found ${JSON.stringify(head.slice(0, HEAD_BYTES))}, no position`);
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

  /** Writes a position, unless another reader has written it. @throws {Error} when the file cannot be written. */
  async write(name: string, record: PositionRecord, { stamp, keys }: PositionChange): Promise<unknown> {
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
      using file = await openPosition(path);
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
    return `${this.#folder}/${fileName(name)}.position`;
  }
}

/** Opens a file to read and append; `undefined` if there is none. */
async function openPosition(path: string): Promise<Deno.FsFile | undefined> {
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

/** The head of a position in Deno KV. */
type Head = Pick<PositionRecord, "holder" | "version">;

/** The head of a position, and its stamp. */
interface Stamp {
  readonly head: Head;
  readonly versionstamp: string | null;
}

/** The number of objects that are written at once: an atomic write has 80 KiB of keys at most. */
const BATCH = 100;

/**
 * Keeps positions in Deno KV: a head, and a value for each object. Each write checks that the head is still that of its
 * reader.
 *
 * @example
 * ```ts ignore
 * import { Position } from "@kube/informer";
 * import { KvPositions } from "@kube/informer/deno";
 *
 * using kv = await Deno.openKv(); // deno run --unstable-kv; on Deno Deploy without the flag
 * await using position = await Position.open(new KvPositions(kv), { name: "pods" });
 * ```
 */
export class KvPositions implements PositionStore {
  readonly #kv: SnapshotKv;
  readonly #prefix: readonly string[];

  /** Keeps positions in a database that the caller closes, under keys that begin with `informer-positions`. */
  constructor(kv: SnapshotKv, options: { readonly prefix?: readonly string[] } = {}) {
    this.#kv = kv;
    this.#prefix = options.prefix ?? ["informer-positions"];
  }

  /** Returns the position of a name, if there is one. @throws what the database throws. */
  async read(name: string): Promise<StoredPosition | undefined> {
    const { value, versionstamp } = await this.#kv.get(this.#key(name, "head"));
    if (value === null) return undefined;
    const head = valueOf(value) as Head;
    const objects = new Map<ObjectKey, DeliveredVersion>();
    for await (const { key, value } of this.#kv.list({ prefix: this.#key(name, "object") })) {
      objects.set(key.at(-1) as string, valueOf(value) as DeliveredVersion);
    }
    return { record: { ...head, objects }, stamp: { head, versionstamp } satisfies Stamp };
  }

  /** Writes a position, unless another reader has written it. @throws what the database throws. */
  async write(
    name: string,
    { holder, version, objects }: PositionRecord,
    { stamp, keys }: PositionChange,
  ): Promise<unknown> {
    const states = keys.map((key) => [key, objects.get(key)] as const);
    let { head, versionstamp } = stamp as Stamp | undefined ?? { head: { holder, version: "" }, versionstamp: null };
    for (let first = 0; first === 0 || first < states.length; first += BATCH) {
      const key = this.#key(name, "head");
      const write = this.#kv.atomic().check({ key, versionstamp });
      for (const [key, state] of states.slice(first, first + BATCH)) {
        if (state === undefined) write.delete(this.#key(name, "object", key));
        else write.set(this.#key(name, "object", key), bytesOf(state));
      }
      // The version moves with the last object.
      head = { holder, version: first + BATCH < states.length ? head.version : version };
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
