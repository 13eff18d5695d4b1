import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import type { Entry } from "../api/options.ts";
import { compareResourceVersions, isOlder, isResourceVersion } from "../api/status.ts";
import { DerivedController } from "../async/signals.ts";
import { LongTimer } from "../async/time.ts";
import { nextTurn, scheduleTurn } from "../async/turns.ts";
import { entryWithin } from "../entry/entry.ts";
import { type DeletedEvent, entryOfEvent, isWatched, type ObjectEvent } from "../informer/events/event.ts";
import type { HandlerRegistration } from "../informer/events/event.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { AcquiredInformer } from "../informer/shared_informer_factory.ts";
import type { Keeper } from "./byte_budget.ts";
import type { RelayStream } from "./http.ts";
import type { RelaySettings } from "./options.ts";

type ObjectEntry = Entry<KubernetesObject>;

/** One change of an object, as a watch of the server has sent it. */
export interface VersionedChange {
  /** The version that the collection had after it. */
  readonly version: string;
  /** The state before; `undefined` of an object that is new. */
  readonly before: ObjectEntry | undefined;
  /** The state after it, or the last one of an object that was deleted. */
  readonly entry: ObjectEntry;
  /** `true` if the object was deleted. */
  readonly isDeletion: boolean;
}

/** The bytes of a change, beside the texts of its states. */
const CHANGE_BYTES = 200;

/** The bytes of a state that came as something else than text. */
const UNKNOWN_BYTES = 2_048;

function bytesOf({ before, entry }: VersionedChange): number {
  return CHANGE_BYTES + (before === undefined ? 0 : before.textBytes ?? UNKNOWN_BYTES) +
    (entry.textBytes ?? UNKNOWN_BYTES);
}

/** The last changes of a collection, in the order of their versions, each with a number that rises by 1. */
export class ChangeRing {
  readonly #changes: VersionedChange[] = [];
  #bytes = 0;
  #base: string;
  /** The number of the first change. */
  #first = 0;

  /** A ring without changes, that has all behind the version `base`. */
  constructor(base: string) {
    this.#base = base;
  }

  /** The oldest version behind which everything can be read. */
  get base(): string {
    return this.#base;
  }

  /** The number of bytes of its changes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the first change. */
  get first(): number {
    return this.#first;
  }

  /** The number behind the last change. */
  get end(): number {
    return this.#first + this.#changes.length;
  }

  /** Returns the change of a number; `undefined` behind the last one. */
  at(number: number): VersionedChange | undefined {
    return this.#changes[number - this.#first];
  }

  /** Adds a change, whose version is above that of the last one. */
  push(change: VersionedChange): void {
    this.#changes.push(change);
    this.#bytes += bytesOf(change);
  }

  /** Drops the oldest eighth of the changes, of which there is one. */
  drop(): void {
    const dropped = this.#changes.splice(0, Math.ceil(this.#changes.length / 8));
    this.#first += dropped.length;
    this.#base = dropped.at(-1)!.version;
    for (const change of dropped) this.#bytes -= bytesOf(change);
  }

  /** Returns the number of the first change behind a version, which is not below {@linkcode base}. */
  after(version: string): number {
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareResourceVersions(this.#changes[middle].version, version) > 0) high = middle;
      else low = middle + 1;
    }
    return this.#first + low;
  }
}

/** The longest wait for a version that the cache has not reached, in milliseconds, which is that of kube-apiserver. */
const REACH_MS = 3_000;

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
 * by a watch in order, the changes before are forgotten, and open streams end. It holds the informer from its
 * construction to its disposal, which comes `lingerMs` after its last use.
 */
export class KubernetesFeed implements Keeper, Disposable {
  /** The open streams. */
  readonly streams: Set<FeedStream> = new Set();
  /** The last batches by the ids of their selections, while they are written to streams. */
  readonly written: Map<string, WrittenBatch> = new Map();
  readonly #held: AcquiredInformer<KubernetesObject>;
  readonly #settings: RelaySettings;
  readonly #onOver: () => void;
  readonly #registration: HandlerRegistration;
  readonly #objects = new Map<ObjectKey, ObjectEntry>();
  /** The sorted keys of `#objects`; `undefined` since the last object that came or went. */
  #keys: ObjectKey[] | undefined;
  #ring = new ChangeRing("0");
  /** The changes behind `#version`; `undefined` stands for one that did not come by a watch. */
  #batch: (VersionedChange | undefined)[] = [];
  /** The version that `#objects` and the ring have reached. */
  #version = "";
  /** The number of completed lists of the informer when the ring began. */
  #lists = 0;
  /** `true` until the cache has synced, and from a change that was not seen to the next version that is known. */
  #isBroken = true;
  #isSynced = false;
  #isDue = false;
  #isOver = false;
  #users = 0;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #linger = new LongTimer(() => this[Symbol.dispose]());

  /** Follows the informer of `held`, which it disposes in the end. `onOver` is called once, with its disposal. */
  constructor(held: AcquiredInformer<KubernetesObject>, settings: RelaySettings, onOver: () => void) {
    this.#held = held;
    this.#settings = settings;
    this.#onOver = onOver;
    const put = (event: ObjectEvent<KubernetesObject>): void => {
      const entry = entryWithin(entryOfEvent(event));
      const before = this.#objects.get(event.key);
      this.#objects.set(event.key, entry);
      if (before === undefined) this.#keys = undefined;
      this.#changed(
        isWatched(event as never) ? { version: event.resourceVersion, before, entry, isDeletion: false } : undefined,
      );
    };
    this.#registration = held.addEventHandler({
      onAdd: put,
      onUpdate: put,
      onDelete: (event) => this.#deleted(event),
      onSynced: () => {
        this.#isSynced = true;
        this.flush();
      },
    }, { name: "relay of the Kubernetes API", resyncMs: 0, slowMs: Infinity });
    this.#heartbeat = setInterval(() => this.#beat(), settings.heartbeatMs);
    void this.#followState();
  }

  /** The informer. */
  get informer(): SharedIndexInformer<KubernetesObject, never> {
    return this.#held.informer;
  }

  /** `true` once it was disposed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The version that it has reached; `""` while that is not known. */
  get version(): string {
    this.flush();
    return this.#isBroken ? "" : this.#version;
  }

  /** The version that was reached last. */
  get reached(): string {
    return this.#version;
  }

  /** The last changes. */
  get ring(): ChangeRing {
    return this.#ring;
  }

  /** The number of bytes of the changes. */
  get bytes(): number {
    return this.#ring.bytes;
  }

  /** Drops the oldest changes. */
  shrink(): void {
    this.#ring.drop();
  }

  /** Lets the feed last until the result is disposed, and `lingerMs` longer. */
  use(): Disposable {
    this.#users++;
    this.#linger[Symbol.dispose]();
    return {
      [Symbol.dispose]: (): void => {
        if (--this.#users === 0 && !this.#isOver) this.#linger.arm(this.#settings.lingerMs);
      },
    };
  }

  /**
   * Waits until the cache is at a version, `"0"` for any, for 3 s at most, and returns whether it is.
   */
  async reach(version: string, signal: AbortSignal): Promise<boolean> {
    const isThere = (): boolean => this.version !== "" && !isOlder(this.#version, version);
    if (isThere()) return true;
    using wait = new DerivedController(signal, this.#held.signal);
    using timer = new LongTimer(() => wait.abort(new DOMException("The cache is behind", "TimeoutError")));
    timer.arm(REACH_MS);
    try {
      await this.informer.atLeast(version, { signal: wait.signal });
    } catch {
      return false; // the wait has ended, or the server's history went back
    }
    while (!wait.signal.aborted && !isThere()) await nextTurn();
    return !wait.signal.aborted;
  }

  /** Waits until the informer is live, if it has just begun to follow the server again, for 3 s at most. */
  async refresh(signal: AbortSignal): Promise<void> {
    if (this.informer.status().state !== "stale") return;
    using wait = new DerivedController(signal, this.#held.signal);
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
    for (let number = this.#ring.after(version); number < this.#ring.end; number++) {
      const { before, entry: { key } } = this.#ring.at(number)!;
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
  flush(): void {
    if (!this.#isSynced || this.#isOver) return;
    const { completedLists, resourceVersion } = this.informer.status();
    const batch = this.#batch;
    this.#batch = [];
    if (completedLists !== this.#lists) this.#isBroken = true;
    for (const change of batch) {
      if (change === undefined || !isOlder(this.#version, change.version)) this.#isBroken = true;
      if (this.#isBroken) continue;
      this.#version = change!.version;
      this.#ring.push(change!);
      this.#settings.budget.keep(this, bytesOf(change!));
    }
    if (this.#registration.pending === 0 && isResourceVersion(resourceVersion)) {
      this.#version = resourceVersion;
      if (this.#isBroken) this.#begin(completedLists);
    }
    if (batch.length === 0) return;
    for (const stream of this.streams) stream.write();
    this.written.clear();
  }

  /** Ends all streams, and gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#linger[Symbol.dispose]();
    clearInterval(this.#heartbeat);
    this.#registration.remove();
    for (const stream of [...this.streams]) stream.end("closed");
    this.#settings.budget.drop(this);
    this.#held[Symbol.dispose]();
  }

  /** Begins at the present version: nothing before it is known. */
  #begin(lists: number): void {
    this.#settings.budget.drop(this);
    this.written.clear();
    this.#ring = new ChangeRing(this.#version);
    this.#lists = lists;
    this.#isBroken = false;
    for (const stream of [...this.streams]) stream.expire();
  }

  #deleted(event: DeletedEvent<KubernetesObject>): void {
    const { key, resourceVersion: version } = event;
    const before = this.#objects.get(key);
    if (this.#objects.delete(key)) this.#keys = undefined;
    const isSeen = isWatched(event) && !event.finalStateUnknown && event.reason === undefined;
    const entry = entryWithin(entryOfEvent(event));
    this.#changed(isSeen ? { version, before, entry, isDeletion: true } : undefined);
  }

  #changed(change: VersionedChange | undefined): void {
    if (!this.#isSynced) return;
    this.#batch.push(change);
    if (this.#isDue) return;
    this.#isDue = true;
    scheduleTurn(() => {
      this.#isDue = false;
      this.flush();
    });
  }

  #beat(): void {
    this.flush();
    for (const stream of this.streams) {
      stream.check(this.#settings);
      stream.bookmark();
    }
  }

  async #followState(): Promise<void> {
    try {
      for await (const _ of this.informer.statusChanges({ signal: this.#held.signal })) this.flush();
    } catch (error) {
      if (!this.#isOver) throw error;
    }
    this[Symbol.dispose]();
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
