/**
 * Watches of the Kubernetes API, served from caches.
 *
 * {@linkcode KubernetesWatch} is one watch, and {@linkcode KubernetesFeed} follows an informer for all of them. A watch
 * reads the ring of changes after its version, and expires if the ring has dropped it.
 *
 * @module
 */
import type { CacheEntry } from "../../engine/api/entry.ts";
import { exactJson, keepLiterals } from "../../engine/api/large_integers.ts";
import { lowerBound } from "../../engine/api/lower_bound.ts";
import { encoder, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import { apiVersionOf, type Resource } from "../../engine/api/resource.ts";
import { isOlder, type StatusError } from "../../engine/api/status.ts";
import { LongTimer, timedController } from "../../engine/async/time.ts";
import { knownRefusal, refusal, statusJson } from "../../engine/protocol/refusal.ts";
import { entryText } from "../../engine/entry/entry_json.ts";
import { EntrySelector } from "../../engine/entry/entry_selector.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import { type DeletedEvent, entryOfEvent, type ObjectEvent } from "../../engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../engine/informer/shared_index_informer.ts";
import type { Access } from "./access.ts";
import { changeBytes, ChangeLog, isSeen, type LoggedChange, type NumberedChanges, REACH_MS } from "./change_log.ts";
import type { ListedVersion } from "./collections.ts";
import { FollowedCache } from "./followed_cache.ts";
import { textsFrom } from "./objects.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { RelaySettings } from "./options.ts";
import type { Right } from "./rights.ts";
import { StreamedResponse } from "./streamed_response.ts";

type ObjectEntry = CacheEntry<KubernetesObject>;

/** The kind of objects that have only their metadata. */
const PARTIAL = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } as const;

/** The objects that a request of the Kubernetes API selects, and the form in which it wants them. */
export class KubernetesSelection {
  /** Equal for equal selections and forms. */
  readonly id: string;
  /** The namespace; `""` is all. */
  readonly namespace: string;
  /** Kind and version of the objects. */
  readonly type: { readonly kind: string; readonly apiVersion: string };
  /** The objects of them that the client may see. @default {all} */
  readonly right: Right | undefined;
  readonly #selector: EntrySelector;
  readonly #isPartial: boolean;

  /** @throws {StatusError} 400 when a selector does not parse. */
  constructor(
    resource: Resource,
    { namespace, labelSelector, fieldSelector }: {
      readonly namespace: string;
      readonly labelSelector: string;
      readonly fieldSelector: string;
    },
    isPartial: boolean,
    right?: Right,
  ) {
    this.namespace = namespace;
    this.right = right;
    this.#isPartial = isPartial;
    this.type = isPartial ? PARTIAL : { kind: resource.kind, apiVersion: apiVersionOf(resource) };
    this.id = JSON.stringify([namespace, labelSelector, fieldSelector, isPartial, right?.id]);
    try {
      this.#selector = new EntrySelector({ namespace, labelSelector, fieldSelector });
    } catch (error) {
      throw refusal(400, (error as SyntaxError).message);
    }
  }

  /** Returns `true` if the client may see an object. It may not see an object that cannot be read. */
  shows(entry: ObjectEntry): boolean {
    return this.#holds(entry, () => this.right?.allowsEntry(entry) !== false);
  }

  /** Returns `true` if an object is selected, and the client may see it. */
  matches(entry: ObjectEntry): boolean {
    return this.shows(entry) && this.#holds(entry, () => this.#selector.matches(entry));
  }

  #holds(entry: ObjectEntry, condition: () => boolean): boolean {
    try {
      return entry.error === undefined && condition();
    } catch (error) {
      if (error !== entry.error) throw error; // the informer reports an object that cannot be read
      return false;
    }
  }

  /** Returns an object as JSON. */
  text(entry: ObjectEntry): string {
    if (!this.#isPartial) return entryText(entry);
    return `${JSON.stringify(this.type).slice(0, -1)},"metadata":${entryText(entry, "metadata")}}`;
  }

  /** Returns the line of a watch for a change; `undefined` if it is not one of selected objects. */
  line({ version, before, entry, isDeletion }: VersionedChange): string | undefined {
    const was = before !== undefined && this.matches(before);
    if (!isDeletion && this.matches(entry)) return lineText(was ? "MODIFIED" : "ADDED", this.text(entry));
    if (!was) return undefined;
    if (isDeletion) return lineText("DELETED", this.text(entry));
    // An object that is selected no longer: its last selected state, at the version of the change.
    const text = this.text(before);
    const last = JSON.parse(text) as KubernetesObject;
    keepLiterals(last, text);
    return lineText("DELETED", exactJson({ ...last, metadata: { ...last.metadata, resourceVersion: version } }));
  }

  /** Returns the line of a bookmark; `isEnd` marks the end of the initial objects. */
  bookmark(resourceVersion: string, isEnd: boolean): string {
    const annotations = isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    return lineText("BOOKMARK", JSON.stringify({ ...this.type, metadata: { resourceVersion, ...annotations } }));
  }
}

/** Returns a line of a watch; `object` is JSON. */
function lineText(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

/** The objects and changes that a watch reads. */
interface WatchPlan {
  readonly selection: KubernetesSelection;
  /** The version of the initial objects. The changes follow it. */
  readonly version: string;
  /** If `true`, the client wants bookmarks. */
  readonly hasBookmarks: boolean;
  /** The objects that come first, all of the collection. @default {none} */
  readonly initial?: ListedVersion;
  /** If `true`, a bookmark follows them. */
  readonly marksEnd: boolean;
  /** The time after which it ends, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns `true` if the client may see the same as before. */
  readonly isSame: (access: Access) => boolean;
}

/**
 * A watch of one client: the initial objects, if it asked for them, then the changes after its version,
 * and bookmarks. It keeps no bytes of its own.
 */
export class KubernetesWatch extends StreamedResponse {
  readonly #feed: KubernetesFeed;
  readonly #plan: WatchPlan;
  readonly #use: Disposable;
  /** Set until the initial objects were written. */
  #initial: ListedVersion | undefined;
  /** The number of initial objects that were looked at. */
  #index = 0;
  /** The number of the next change of the ring. */
  #position: number;
  #isBookmarkDue = false;
  readonly #timeout = new LongTimer(() => this.end("expired"));
  /** The error with which it ends. */
  #failure: StatusError | undefined;

  /** Reads from the feed from now on. */
  constructor(feed: KubernetesFeed, plan: WatchPlan, open: OpenRequest) {
    super(open);
    this.#feed = feed;
    this.#plan = plan;
    this.#use = feed.cache.use();
    this.#initial = plan.initial;
    this.#position = this.#ring.after(plan.version);
    plan.initial?.readers.add(this);
    feed.streams.add(this);
    this.#timeout.arm(plan.timeoutMs);
  }

  /** Writes a bookmark after all changes, if the client wants bookmarks. */
  bookmark(): void {
    this.#isBookmarkDue = this.#plan.hasBookmarks;
    if (this.#isBookmarkDue) this.write();
  }

  /** Ends with the error 410. */
  expire(): void {
    this.#failure = knownRefusal(
      "expired",
      `too old resource version: the changes before ${this.#ring.base} are not known`,
    );
    this.end("closed");
  }

  /** Ends, as others need the bytes of the initial objects. */
  cut(): void {
    this.end("slow");
  }

  protected override lastBytes(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#failure !== undefined) {
      return encoder.encode(lineText("ERROR", JSON.stringify(statusJson(this.#failure.status))));
    }
    return this.#plan.hasBookmarks && this.#isAtEnd ? encoder.encode(this.#bookmark()) : undefined;
  }

  protected override change(access: Access): void {
    if (!this.#plan.isSame(access)) this.expire();
  }

  protected override finish(): void {
    this.#timeout[Symbol.dispose]();
    this.#endInitial();
    this.#feed.streams.delete(this);
    this.#use[Symbol.dispose]();
  }

  get #ring(): NumberedChanges<VersionedChange> {
    return this.#feed.log.ring;
  }

  get #isAtEnd(): boolean {
    return this.#initial === undefined && this.#position === this.#ring.end;
  }

  protected override next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#position < this.#ring.first) return void this.expire();
    const bytes = this.#written();
    return bytes.length > 0 || !this.#isAtEnd ? bytes : undefined;
  }

  #written(): Uint8Array<ArrayBuffer> {
    if (this.#initial !== undefined) return this.#nextInitial(this.#initial);
    const { selection } = this.#plan;
    const from = this.#position;
    const known = this.#feed.written.get(selection.id);
    const batch = known?.from === from ? known : this.#batch(from);
    if (batch.to > from) this.#feed.written.set(selection.id, batch);
    this.#position = batch.to;
    if (batch.bytes.length > 0 || !this.#isBookmarkDue || !this.#isAtEnd) return batch.bytes;
    this.#isBookmarkDue = false;
    return encoder.encode(this.#bookmark());
  }

  #batch(from: number): WrittenBatch {
    const { selection } = this.#plan;
    const { texts, to } = textsFrom(this.#ring.end, from, (number) => selection.line(this.#ring.at(number)!));
    return { from, to, bytes: encoder.encode(texts.join("")) };
  }

  #nextInitial({ entries }: ListedVersion): Uint8Array<ArrayBuffer> {
    const { selection, version, marksEnd } = this.#plan;
    const { texts, to } = textsFrom(entries.length, this.#index, (index) => {
      return selection.matches(entries[index]) ? lineText("ADDED", selection.text(entries[index])) : undefined;
    });
    this.#index = to;
    if (to < entries.length) return encoder.encode(texts.join(""));
    this.#endInitial();
    return encoder.encode(texts.join("") + (marksEnd ? selection.bookmark(version, true) : ""));
  }

  #bookmark(): string {
    const { selection, version } = this.#plan;
    const reached = this.#feed.log.reached;
    return selection.bookmark(isOlder(reached, version) ? version : reached, false);
  }

  #endInitial(): void {
    this.#initial?.lists.left(this.#initial, this);
    this.#initial = undefined;
  }
}

/** One change of an object, as a watch of the server has sent it. */
interface VersionedChange extends LoggedChange {
  /** The state before; `undefined` of an object that is new. */
  readonly before: ObjectEntry | undefined;
  /** The state after it, or the last one of an object that was deleted. */
  readonly entry: ObjectEntry;
  /** `true` if the object was deleted. */
  readonly isDeletion: boolean;
}

/** Changes as bytes, for all streams of a selection. */
interface WrittenBatch {
  /** The number of the first change. */
  readonly from: number;
  /** The number after the last change. */
  readonly to: number;
  /** Their lines. Empty if no selected object has changed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Follows one informer for the readers of a Kubernetes API: its objects in the order of keys, at a version that rises
 * with each batch of changes, and the last changes with their versions.
 *
 * When its log forgets the changes, open streams end.
 */
export class KubernetesFeed implements Disposable {
  /** The cache that it follows. */
  readonly cache: FollowedCache;
  /** The open streams. */
  readonly streams: Set<KubernetesWatch> = new Set();
  /** The last batches by the ids of their selections, until the next beat at the latest. */
  readonly written: Map<string, WrittenBatch> = new Map();
  readonly #objects = new Map<ObjectKey, ObjectEntry>();
  /** The sorted keys of `#objects`; `undefined` since the last object that came or went. */
  #keys: ObjectKey[] | undefined;
  /** The changes of `#objects`. */
  readonly log: ChangeLog<VersionedChange>;
  /** The one log. */
  readonly logs: readonly ChangeLog<VersionedChange>[];
  readonly #settings: RelaySettings;

  /** Follows the informer of `held`, which it disposes in the end. `onOver` is called once, with its disposal. */
  constructor(held: AcquiredInformer<KubernetesObject>, settings: RelaySettings, onOver: () => void) {
    this.#settings = settings;
    this.log = new ChangeLog(held, settings.budget, { flush: () => this.flush(), onBegin: () => this.#begin() });
    this.logs = [this.log];
    const { lingerMs } = settings;
    this.cache = new FollowedCache(held, this, settings, { name: "relay of the Kubernetes API", lingerMs, onOver });
  }

  /** Ends all streams, and releases the informer. */
  [Symbol.dispose](): void {
    this.cache[Symbol.dispose]();
  }

  /** The informer. */
  get informer(): SharedIndexInformer<KubernetesObject, never> {
    return this.cache.held.informer;
  }

  /** The version that it has reached; `""` while that is not known. */
  get version(): string {
    this.flush();
    return this.log.version;
  }

  /** Waits until the informer is live, if it has just begun to follow the server again, for 3 s at most. */
  async refresh(signal: AbortSignal): Promise<void> {
    if (this.informer.status().state !== "stale") return;
    using wait = timedController(REACH_MS, "The cache lags behind the API server", signal, this.cache.held.signal);
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
    for (let number = this.log.ring.after(version); number < this.log.ring.end; number++) {
      const { before, entry: { key } } = this.log.ring.at(number)!;
      if (!later.has(key)) later.set(key, before);
    }
    const present = this.#keys ??= [...this.#objects.keys()].sort();
    const gone = [...later].flatMap(([key, entry]) => entry !== undefined && !this.#objects.has(key) ? key : []);
    const keys = gone.length === 0 ? present : [...present, ...gone].sort();
    for (let at = lowerBound(keys.length, (index) => keys[index] < from); at < keys.length; at++) {
      const key = keys[at];
      const entry = later.has(key) ? later.get(key) : this.#objects.get(key);
      if (entry !== undefined && entry.error === undefined) yield entry;
    }
  }

  /** Takes over the changes so far, and writes them to the streams. */
  flush(): void {
    const { isSynced, isOver } = this.cache;
    if (!isSynced || isOver || !this.cache.settle()) return;
    for (const stream of this.streams) stream.write();
    this.written.clear();
  }

  /** The log has begun at the present version: nothing before it is known. */
  #begin(): void {
    this.written.clear();
    for (const stream of [...this.streams]) stream.expire();
  }

  /** Takes over a new or changed object. */
  put(event: ObjectEvent<KubernetesObject>): void {
    const entry = entryOfEvent(event);
    const before = this.#objects.get(event.key);
    this.#objects.set(event.key, entry);
    if (before === undefined) this.#keys = undefined;
    this.#changed(event, { before, entry, isDeletion: false });
  }

  /** Takes over a deleted object. */
  delete(event: DeletedEvent<KubernetesObject>): void {
    const { key } = event;
    const before = this.#objects.get(key);
    if (this.#objects.delete(key)) this.#keys = undefined;
    this.#changed(event, { before, entry: entryOfEvent(event), isDeletion: true });
  }

  #changed(event: ObjectEvent<KubernetesObject>, change: Omit<VersionedChange, keyof LoggedChange>): void {
    if (!this.cache.isSynced) return;
    const { resourceVersion: version } = event;
    const bytes = changeBytes(change.before, change.entry);
    this.log.add(isSeen(event) ? { ...change, version, bytes } : undefined);
    this.cache.flushLater();
  }

  /** Flushes, as the streams may wait for the status. */
  statusChanged(): void {
    this.flush();
  }

  /** Writes bookmarks, and checks that clients read. */
  beat(): void {
    this.flush();
    for (const stream of this.streams) {
      stream.check(this.#settings);
      stream.bookmark();
    }
    this.written.clear();
  }
}
