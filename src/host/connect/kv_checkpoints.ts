/**
 * Checkpoints in Deno KV.
 *
 * {@linkcode KvCheckpoints} is the entry point. It decides nothing about when a checkpoint is written.
 *
 * @module
 */
import type { ObjectKey } from "../../engine/api/object.ts";
import type {
  CheckpointChange,
  CheckpointRecord,
  CheckpointStore,
  DeliveredVersion,
  StoredCheckpoint,
} from "../../engine/api/stores.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { KvStore, openKv, type SnapshotKv, valueOf, type Versioned } from "./kv_store.ts";

/** The head of a checkpoint in Deno KV. The head and its version are the stamp. */
type Head = Pick<CheckpointRecord, "holder" | "version">;

/** The number of objects that are written at once: an atomic write has 80 KiB of keys at most. */
const BATCH = 100;

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
  readonly #kv: KvStore;

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
    this.#kv = new KvStore(kv, options.prefix ?? ["informer-checkpoints"]);
  }

  /** Closes the database if {@linkcode open} has opened it. */
  [Symbol.dispose](): void {
    this.#kv[Symbol.dispose]();
  }

  /** Returns the stored checkpoint with this name, if there is one. @throws the database's error. */
  async get(name: string): Promise<StoredCheckpoint | undefined> {
    const stamp = await this.#kv.read<Head>(name, "head");
    if (stamp.value === undefined) return undefined;
    const objects = new Map<ObjectKey, DeliveredVersion>();
    for await (const [key, bytes] of this.#kv.list(name, "object")) objects.set(`${key}`, valueOf(bytes));
    return { record: { ...stamp.value, objects }, stamp };
  }

  /** Stores a checkpoint, unless another reader has written it. @throws the database's error. */
  async set(
    name: string,
    { holder, version, objects }: CheckpointRecord,
    { stamp, keys }: CheckpointChange,
  ): Promise<unknown> {
    const changes = keys.map((key) => [[name, "object", key], objects.get(key)] as const);
    const before = stamp as Versioned<Head> | undefined;
    let at = before?.version ?? null;
    let value: Head;
    let first = 0;
    do {
      const batch = changes.slice(first, first += BATCH);
      // The version moves with the last object.
      value = { holder, version: first < changes.length ? before?.value?.version ?? "" : version };
      const next = await this.#kv.write([...batch, [[name, "head"], value]], [[name, "head"], at]);
      if (next === undefined) return undefined;
      at = next;
    } while (first < changes.length);
    return { value, version: at } satisfies Versioned<Head>;
  }
}
