import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import type { Entry } from "../api/options.ts";
import { DerivedController } from "../async/signals.ts";
import { LongTimer } from "../async/time.ts";
import { entryWithin } from "../entry/entry.ts";
import { type DeletedEvent, entryOfEvent, type ObjectEvent } from "../informer/events/event.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { AcquiredInformer } from "../informer/shared_informer_factory.ts";
import type { RelayStream } from "./http.ts";
import type { RelaySettings } from "./options.ts";
import {
  CacheFeed,
  changeBytes,
  type ChangeRing,
  isSeen,
  type LoggedChange,
  REACH_MS,
  VersionLog,
} from "./version_log.ts";

type ObjectEntry = Entry<KubernetesObject>;

/** One change of an object, as a watch of the server has sent it. */
export interface VersionedChange extends LoggedChange {
  /** The state before; `undefined` of an object that is new. */
  readonly before: ObjectEntry | undefined;
  /** The state after it, or the last one of an object that was deleted. */
  readonly entry: ObjectEntry;
  /** `true` if the object was deleted. */
  readonly isDeletion: boolean;
}

/** Changes as bytes, for all streams of a selection. */
export interface WrittenBatch {
  /** The number of the first change. */
  readonly from: number;
  /** The number behind the last one. */
  readonly to: number;
  /** Their lines; none where no change is of a selected object. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A stream of changes, which a feed writes to. */
export interface FeedStream extends RelayStream {
  /** Ends with the error 410: changes may be missing. */
  expire(): void;
  /** Writes a bookmark, once everything before it was read, where the client wants them. */
  bookmark(): void;
}

/**
 * Follows one informer for the readers of a Kubernetes API: its objects in the order of keys, at a version that rises
 * with each batch of changes, and the last changes with their versions.
 *
 * A list may hide changes, as it shows only the newest state: behind one, and behind everything else that did not come
 * by a watch in order, the changes before are forgotten, and open streams end.
 */
export class KubernetesFeed extends CacheFeed {
  /** The open streams. */
  override readonly streams: Set<FeedStream> = new Set();
  /** The last batches by the ids of their selections, while they are written to streams. */
  readonly written: Map<string, WrittenBatch> = new Map();
  readonly #objects = new Map<ObjectKey, ObjectEntry>();
  /** The sorted keys of `#objects`; `undefined` since the last object that came or went. */
  #keys: ObjectKey[] | undefined;
  /** The changes of `#objects`. */
  readonly #log: VersionLog<VersionedChange>;
  protected override readonly logs: readonly VersionLog<VersionedChange>[];

  /** Follows the informer of `held`, which it disposes in the end. `onOver` is called once, with its disposal. */
  constructor(held: AcquiredInformer<KubernetesObject>, settings: RelaySettings, onOver: () => void) {
    super(held, settings, onOver, "relay of the Kubernetes API");
    this.#log = new VersionLog(held, settings.budget, { flush: () => this.flush(), onBegin: () => this.#begin() });
    this.logs = [this.#log];
  }

  /** The informer. */
  get informer(): SharedIndexInformer<KubernetesObject, never> {
    return this.held.informer;
  }

  /** The version that it has reached; `""` while that is not known. */
  get version(): string {
    this.flush();
    return this.#log.version;
  }

  /** The version that was reached last. */
  get reached(): string {
    return this.#log.reached;
  }

  /** The last changes. */
  get ring(): ChangeRing<VersionedChange> {
    return this.#log.ring;
  }

  /** Waits until the cache is at a version, as {@linkcode VersionLog.reach}. */
  reach(version: string, signal: AbortSignal): Promise<boolean> {
    return this.#log.reach(version, signal);
  }

  /** Waits until the informer is live, if it has just begun to follow the server again, for 3 s at most. */
  async refresh(signal: AbortSignal): Promise<void> {
    if (this.informer.status().state !== "stale") return;
    using wait = new DerivedController(signal, this.held.signal);
    using timer = new LongTimer(() => wait.abort(new DOMException("The cache is behind", "TimeoutError")));
    timer.arm(REACH_MS);
    for await (const { state } of this.informer.statusChanges({ signal: wait.signal })) if (state !== "stale") return;
  }

  /** Returns the object of a key. */
  get(key: ObjectKey): ObjectEntry | undefined {
    return this.#objects.get(key);
  }

  /**
   * Yields the objects at a version, in the order of their keys, from the first key that is not below `from`. The
   * version is one of the ring, and nothing changes meanwhile.
   */
  *entriesAt(version: string, from = ""): Generator<ObjectEntry> {
    const later = new Map<ObjectKey, ObjectEntry | undefined>();
    for (let number = this.ring.after(version); number < this.ring.end; number++) {
      const { before, entry: { key } } = this.ring.at(number)!;
      if (!later.has(key)) later.set(key, before);
    }
    const present = this.#keys ??= [...this.#objects.keys()].sort();
    const gone = [...later].flatMap(([key, entry]) => entry !== undefined && !this.#objects.has(key) ? key : []);
    const keys = gone.length === 0 ? present : [...present, ...gone].sort();
    for (let at = indexOf(keys, from); at < keys.length; at++) {
      const key = keys[at];
      const entry = later.has(key) ? later.get(key) : this.#objects.get(key);
      if (entry !== undefined && entry.error === undefined) yield entry;
    }
  }

  /** Takes over the changes so far, and writes them to the streams. */
  override flush(): void {
    if (!this.isSynced || this.isOver || !this.settle()) return;
    for (const stream of this.streams) stream.write();
    this.written.clear();
  }

  /** The log has begun at the present version: nothing before it is known. */
  #begin(): void {
    this.written.clear();
    for (const stream of [...this.streams]) stream.expire();
  }

  protected override put(event: ObjectEvent<KubernetesObject>): void {
    const entry = entryWithin(entryOfEvent(event));
    const before = this.#objects.get(event.key);
    this.#objects.set(event.key, entry);
    if (before === undefined) this.#keys = undefined;
    this.#changed(event, { before, entry, isDeletion: false });
  }

  protected override delete(event: DeletedEvent<KubernetesObject>): void {
    const { key } = event;
    const before = this.#objects.get(key);
    if (this.#objects.delete(key)) this.#keys = undefined;
    this.#changed(event, { before, entry: entryWithin(entryOfEvent(event)), isDeletion: true });
  }

  #changed(event: ObjectEvent<KubernetesObject>, change: Omit<VersionedChange, keyof LoggedChange>): void {
    if (!this.isSynced) return;
    const { resourceVersion: version } = event;
    const bytes = changeBytes(change.before, change.entry);
    this.#log.add(isSeen(event) ? { ...change, version, bytes } : undefined);
    this.flushLater();
  }

  protected override beat(): void {
    this.flush();
    for (const stream of this.streams) {
      stream.check(this.settings);
      stream.bookmark();
    }
  }
}

/** Returns the index of the first key that is not below `from`. */
function indexOf(keys: readonly ObjectKey[], from: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
