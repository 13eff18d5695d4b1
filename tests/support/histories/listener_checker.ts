import { compareResourceVersions, type InformerEvent, type KubernetesObject } from "@kube/informer";
import { assert, assertEquals } from "@std/assert";
import type { ServerHistory } from "./server_history.ts";
import type { CacheState } from "./snapshot.ts";

interface Known {
  readonly uid: string;
  readonly version: string;
}

/** The promises that delivered events must keep, beside their order. */
export interface ListenerCheckerOptions {
  /** Its name in failures. */
  readonly name: string;
  /** If `true`, every state of the cache must be delivered; otherwise states may be left out. */
  readonly every: boolean;
  /** If `true`, objects are read; otherwise only their keys and versions. */
  readonly reads: boolean;
  /** If `true`, resyncs may be delivered. */
  readonly resyncs: boolean;
  /** The writes of the server; `undefined` where objects end for this listener alone. */
  readonly serverHistory: ServerHistory | undefined;
  /** The fields that were kept of each version, if updates that change none of them are skipped. */
  readonly kept: Pick<ServerHistory, "keptAt"> | undefined;
  /**
   * The cache that the informer began with, if it was restored; `wentBack` if the server's history has gone back since.
   */
  readonly restored: { readonly cache: CacheState; readonly wentBack: boolean } | undefined;
}

/** The events of one listener, each checked against the promises when it is delivered. */
export class ListenerChecker {
  readonly #options: ListenerCheckerOptions;
  readonly #known = new Map<string, Known>();
  /** The objects whose last version that was delivered is of a history that went back. */
  readonly #undone = new Set<string>();
  #synced = 0;
  #events = 0;
  /** The versions that were delivered. */
  readonly delivered = new Set<number>();
  /** The version of the cache when `onSynced` was delivered. */
  syncedAt = Infinity;
  /** The first promise that was broken. */
  failure: unknown;

  constructor(options: ListenerCheckerOptions) {
    this.#options = options;
  }

  /** The sequences that watches delivered, each from a version on; those of a list are in none. */
  readonly watched: { readonly from: number; readonly versions: number[] }[] = [];
  /** The events, by their number, before which a list begins or a watch resumes from a version. */
  readonly #cuts: { readonly event: number; readonly from: number | undefined }[] = [];
  #watching = false;

  /**
   * Behind the events that are pending, those of a list come, in its order; or, with `from`, those of a watch from that
   * version on, in the order of the server's versions.
   */
  cut(pending: number, from?: number): void {
    this.#cuts.push({ event: this.#events + pending, from });
  }

  /** The number of events delivered. */
  get events(): number {
    return this.#events;
  }

  /** If `true`, every state must be delivered. */
  get every(): boolean {
    return this.#options.every;
  }

  /** True if the initial events are of a history that went back. */
  get wentBack(): boolean {
    return this.#options.restored?.wentBack ?? false;
  }

  /** `true` once `onSynced` was delivered. */
  get synced(): boolean {
    return this.#synced > 0;
  }

  /** The objects that exist according to the delivered events: version by key. */
  get versions(): Map<string, string> {
    return new Map([...this.#known].map(([key, { version }]) => [key, version]));
  }

  /** Checks one more event. The first broken promise is kept, not thrown, so that listeners continue. */
  accept(event: InformerEvent<KubernetesObject>): void {
    while (this.#cuts.length > 0 && this.#cuts[0].event <= this.#events) {
      const { from } = this.#cuts.shift()!;
      this.#watching = from !== undefined;
      if (from !== undefined) this.watched.push({ from, versions: [] });
    }
    this.#events++;
    if (this.#watching && event.type !== "synced" && !(event.type === "updated" && event.resync)) {
      this.watched.at(-1)!.versions.push(Number(event.resourceVersion));
    }
    try {
      this.#check(event);
    } catch (error) {
      this.failure ??= new Error(`${this.#options.name}, on ${JSON.stringify(event)}: ${(error as Error).message}`);
    }
  }

  #check(event: InformerEvent<KubernetesObject>): void {
    const { every, reads, resyncs, serverHistory, kept, restored } = this.#options;
    if (event.type === "synced") {
      this.#synced++;
      this.syncedAt = Number(event.resourceVersion);
      assertEquals(this.#synced, 1, "synced is delivered once");
      if (every) assertEquals(event.objects, this.#known.size, "synced has the number of delivered objects");
      if (restored === undefined) return;
      if (every) {
        assertEquals(this.#known, restored.cache.objects, "the restored objects, and no others, are delivered first");
        assertEquals(
          event.resourceVersion,
          restored.cache.version,
          "restored objects have the version of the snapshot",
        );
      }
      if (restored.wentBack) { for (const key of this.#known.keys()) this.#undone.add(key); }
      return;
    }
    const { key, uid, resourceVersion: version } = event;
    const known = this.#known.get(key);
    const isUndone = this.#undone.has(key);
    this.delivered.add(Number(version));
    if (reads) {
      assertEquals(event.object.metadata.resourceVersion, version, "the object is the one of the event");
      assertEquals(event.object.metadata.managedFields, undefined, "managedFields are dropped");
    }
    switch (event.type) {
      case "added":
        assertEquals(known, undefined, "an object is added once");
        if (event.initial) assertEquals(this.#synced, 0, "initial ends with the sync");
        else if (every) assertEquals(this.#synced, 1, "objects of the first list are initial");
        this.#known.set(key, { uid, version });
        return;
      case "updated":
        assert(known !== undefined, "only an object that was added is updated");
        assertEquals(uid, known.uid, "another object is not an update");
        if (event.resync) {
          assert(resyncs, "resyncs are delivered to listeners with a period alone");
          this.#same(key, version, known.version, "a resync changes nothing");
          return;
        }
        assert(isUndone || compareResourceVersions(version, known.version) > 0, "versions rise");
        this.#undone.delete(key);
        if (every && reads) {
          this.#same(
            key,
            event.previous.metadata.resourceVersion,
            known.version,
            "previous is the state that was delivered last",
            isUndone,
          );
        }
        if (every && kept !== undefined) {
          const before = kept.keptAt(key, known.version, isUndone);
          assert(kept.keptAt(key, version) !== before, "an update changes a kept field");
        }
        this.#known.set(key, { uid, version });
        return;
      case "deleted":
        assert(known !== undefined, "only an object that was added is deleted");
        assertEquals(uid, known.uid, "the deleted object is the one that was added");
        if (!event.finalStateUnknown) {
          assert(
            serverHistory === undefined || serverHistory.ended(uid, version),
            "a final state that is known is the last state there was",
          );
        } else if (every) {
          this.#same(key, version, known.version, "an unknown final state is the last one seen", isUndone);
        }
        this.#known.delete(key);
        this.#undone.delete(key);
        return;
      default:
        event satisfies never;
    }
  }

  /**
   * Two versions are the same, or differ in no kept field. `undone` says that the expected one is of a history that
   * went back.
   */
  #same(key: string, version: string, expected: string, message: string, undone = false): void {
    const { kept } = this.#options;
    if (kept === undefined) assertEquals(version, expected, message);
    else if (version !== expected) assertEquals(kept.keptAt(key, version), kept.keptAt(key, expected, undone), message);
  }
}
