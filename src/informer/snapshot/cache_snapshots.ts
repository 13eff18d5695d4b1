import type { KubernetesObject } from "../../api/object.ts";
import type { Entry } from "../../api/options.ts";
import { nextTurn, Pacer } from "../../async/turns.ts";
import { Reduction } from "../../entry/entry.ts";
import { type CacheScope, inOrder, type ScopeRecord } from "../cache/cache_scope.ts";
import type { CollectionSync } from "../sync/collection_sync.ts";
import { SnapshotError, type SnapshotOptions } from "./snapshot.ts";
import { readSnapshot, type RestoredEntry, type SnapshotContents, snapshotStream } from "./snapshot_stream.ts";

/** The number of bytes of restored objects that are copied in one turn: about a millisecond. */
const DETACHED_BYTES = 1_024 * 1_024;

/** The time for which entries are staged in one turn, in milliseconds: index functions read each of them. */
const STAGED_MS = 5;

/** The number of entries that are staged before the clock is read. */
const STAGED_ENTRIES = 16;

/** Writes an informer's cache as bytes, and fills it from them. */
export class CacheSnapshots<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  readonly #parts: CollectionSync<T>["parts"];
  readonly #scope: CacheScope;
  /** The reduction of the objects; `undefined` if they are complete, or rows of complete ones. */
  readonly #reduction: Reduction | undefined;

  /** Reads and writes nothing yet. */
  constructor(sync: CollectionSync<T>) {
    this.#sync = sync;
    this.#parts = inOrder(sync.parts);
    const { resource, form } = this.#scope = sync.collection.scope;
    this.#reduction = resource && Reduction.of(resource, form);
  }

  /** Returns the cache as bytes. @throws as `SharedIndexInformer.snapshot()`. */
  write({ cluster = "", secrets = false }: SnapshotOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    const sync = this.#sync;
    const { informer, cache: { entryTransform } } = sync;
    if (!sync.hasSynced) throw new Error(`Cannot write a snapshot of ${informer}: it has not synced`);
    if (this.#scope.hasSecrets && !secrets) {
      throw new TypeError(
        `Cannot write a snapshot of ${informer}: it has the data of Secrets; set "secrets" to write it`,
      );
    }
    return snapshotStream(
      {
        scope: this.#scope.record(cluster),
        versions: this.#parts.map(({ gate }) => gate.version),
        at: sync.state.notLiveSince?.getTime() ?? Date.now(),
      },
      this.#parts.map(({ known }) => ({
        entries: known.list(),
        originalKey: (entry: Entry<T>) => entryTransform.originalKey(entry),
      })),
    );
  }

  /** Fills the cache. Rejects as `SharedIndexInformer.restore()` does; then nothing has changed. */
  async restore(snapshot: AsyncIterable<Uint8Array>, { cluster = "" }: SnapshotOptions): Promise<void> {
    this.#checkEmpty();
    const { parts, header } = await this.#read(snapshot, this.#scope.record(cluster));
    this.#checkEmpty();
    const staged = this.#parts.map((part) => part.restoring(header.at));
    try {
      const pacer = new Pacer(STAGED_MS, 1);
      for (const [index, entries] of parts.entries()) {
        for (let at = 0; at < entries.length; at += STAGED_ENTRIES) {
          staged[index].add(entries.slice(at, at + STAGED_ENTRIES).map(({ entry }) => entry));
          if (pacer.step()) await pacer.turn();
          this.#checkEmpty();
        }
      }
      this.#sync.state.restored(header.at);
      void this.#detach(parts.flat());
      for (const [index, part] of staged.entries()) part.commit(header.versions[index]);
    } finally {
      for (const part of staged) part.abandon();
    }
  }

  /** Gives the restored entries texts of their own, in later turns. */
  async #detach(restored: readonly RestoredEntry<T>[]): Promise<void> {
    let size = 0;
    for (const { text } of restored) {
      size += text.detach();
      if (size < DETACHED_BYTES) continue;
      size = 0;
      await nextTurn();
      if (this.#sync.stage === "stopped") return;
    }
  }

  async #read(snapshot: AsyncIterable<Uint8Array>, scope: ScopeRecord): Promise<SnapshotContents<T>> {
    try {
      return await readSnapshot<T>(snapshot, scope, this.#reduction, this.#sync.cache.entryTransform);
    } catch (cause) {
      if (!(cause instanceof SnapshotError)) throw cause;
      throw new SnapshotError(
        cause.reason,
        `Cannot restore ${this.#sync.informer} from this snapshot: ${cause.message}`,
      );
    }
  }

  #checkEmpty(): void {
    const { hasSynced, informer, stage } = this.#sync;
    if (stage === "new" && !hasSynced) return;
    const state = stage === "stopped" ? "has stopped" : stage === "new" ? "has objects" : "is running";
    throw new Error(`Cannot restore ${informer}: it ${state} already`);
  }
}
