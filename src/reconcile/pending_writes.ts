import { type KubernetesObject, type ObjectKey, reduced } from "../api/object.ts";
import { compareResourceVersions, DecodeError, isOlder, isResourceVersion } from "../api/status.ts";
import { LeakyBucket, monotonicMs, sleep } from "../async/time.ts";
import type { ObjectWrite } from "../client/resource_client.ts";
import { isWatched } from "../informer/events/event.ts";
import type { Cause } from "../workqueue/run.ts";
import { isMembers, mergeDiff } from "./objects.ts";
import type { ObjectChange } from "./options.ts";
import { FieldSelector, fieldValues, LabelSelector } from "../api/selector.ts";
import type { Entry, Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { abortReason, DerivedController, isAbortOf, Latch, LazyController } from "../async/signals.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { CacheOverlay, Cover } from "../informer/cache/lister.ts";

/** The most repetitions of a key in a row. */
const REPETITIONS = 250;

/** The most calls of a key in a row that it may cause itself, whatever they write. */
const OWN = 1_000;

/** The time in milliseconds after which one of these counts no longer: a key that writes each 30 s is in no loop. */
const FORGOTTEN_MS = 30_000;

/** A key repeats itself from this repetition in a row on; before, it may be a step of some. */
const STEPS = 10;

/** Each call of a key that writes counts this much in the share of repetitions, and earlier ones the rest. */
const WEIGHT = 1 / 300;

/** The share of repetitions at which a reconciler is in a loop, and below which it has left it. */
const SHARES = [0.9, 0.5] as const;

/** The longest time between two repetitions of a loop of many keys, in milliseconds. */
const PAUSE_MS = 10_000;

/** The number of keys that are remembered: as many of those that have written last, and as many that stay. */
const REMEMBERED = 1_000;

/** The time after its last write at which a key that stays makes room for another one, in milliseconds. */
const STAYS_MS = 600_000;

/** The largest number of other causes that are remembered. */
const MAX_OTHERS = 32;

/** A write whose event may be no cause. */
interface Expected extends NonNullable<ObjectWrite["sent"]> {
  readonly uid: string;
  /** The version that the write has named: its event shows the change from that one, and no other. */
  readonly since: string | undefined;
  /** True when nobody else has ever written the object. */
  readonly isNew: boolean;
}

/** A key that has written. */
interface Writer {
  /** The time of its last write. */
  atMs: number;
  /**
   * The writes of the last call by their marks, and of the one before: their events may come late. Those whose events
   * are to be no cause are there until these have come.
   */
  written: Map<string, Expected | undefined>;
  before: Map<string, Expected | undefined>;
  /** The objects that were written since the last call with another cause began. */
  objects: Set<string>;
  /** True when the last call has written an object that was not in `objects`. */
  isNew: boolean;
  /** Takes one for each call in a row of its own making that follows another one. Undefined before the first. */
  own: LeakyBucket | undefined;
  /** Takes one for each of these that follows a repetition. */
  repeats: LeakyBucket | undefined;
  /** Their number. */
  repeated: number;
  /** True when the last call has written something that is not in `before`: an event of it is to be expected. */
  hasChanged: boolean;
  /** True when there was a cause of its own making since the last call began. */
  hasOwn: boolean;
  /** The marks of the other causes since then; an event may come before the answer that shows whose it is. */
  others: Set<string>;
  /** True when the last call was of its own making. */
  wasOwn: boolean;
  /** True from the call that was one too many, until a call causes no other. */
  isHot: boolean;
}

/**
 * The calls that a reconcile causes itself: by events of what it has written, and by writes that were superseded. A
 * change by somebody else is no such cause, and the call after it does not count.
 *
 * - A call that writes only objects which its key has written before, with no other cause in between, is a repetition.
 *   A key is hot after 250 of them in a row, whatever their rate, and after 1,000 calls of its own making, which may
 *   write new objects; until a call changes nothing. Work in steps ends before that.
 * - A reconciler is in a loop when nine of ten calls of the keys that write are repetitions, the first ten of each key
 *   left out: with many keys, none of them gets to 250 for a long time.
 */
export class OwnCalls {
  /** The keys that stay, while they write: of any number in a loop, these are seen. */
  readonly #staying = new Map<ObjectKey, Writer>();
  /** The others that have written last. */
  readonly #writers = new Map<ObjectKey, Writer>();
  readonly #expects: (key: ObjectKey, write: ObjectWrite) => boolean;
  /** The number of calls that only own writes have caused. */
  count = 0;
  /** The share of repetitions in the last calls of keys that write. */
  #share = 0;
  /** The time of the last repetition that counts in it. */
  #repeatedMs = -Infinity;
  #isLoop = false;

  /** @param expects Returns true for a write of the reconcile of a key whose event may be no cause. */
  constructor(expects: (key: ObjectKey, write: ObjectWrite) => boolean = () => false) {
    this.#expects = expects;
  }

  /** The reconcile of `key` has written. */
  wrote(key: ObjectKey, write: ObjectWrite): void {
    const writer = this.#of(key) ?? {
      ...{ written: new Map(), before: new Map(), others: new Set(), objects: new Set(), own: undefined },
      ...{
        repeats: undefined,
        atMs: 0,
        repeated: 0,
        isNew: false,
        hasChanged: false,
        hasOwn: false,
        wasOwn: false,
        isHot: false,
      },
    };
    const mark = write.resourceVersion || write.uid;
    writer.hasChanged ||= !writer.before.has(mark);
    writer.written.set(mark, this.#expects(key, write) ? expectedOf(write) : undefined);
    if (writer.others.delete(mark)) writer.hasOwn = true;
    const object = idOf(write);
    writer.isNew ||= !writer.objects.has(object);
    writer.objects.add(object);
    this.#remember(key, writer);
  }

  #of(key: ObjectKey): Writer | undefined {
    return this.#staying.get(key) ?? this.#writers.get(key);
  }

  #remember(key: ObjectKey, writer: Writer): void {
    writer.atMs = monotonicMs();
    if (this.#staying.has(key)) return;
    this.#writers.delete(key);
    if (this.#staying.size === REMEMBERED) {
      const [oldest, other] = this.#staying.entries().next().value!;
      this.#staying.delete(oldest);
      if (writer.atMs - other.atMs < STAYS_MS) this.#staying.set(oldest, other);
    }
    const [writers, room] = this.#staying.size < REMEMBERED ? [this.#staying, Infinity] : [this.#writers, REMEMBERED];
    writers.set(key, writer);
    if (writers.size > room) writers.delete(writers.keys().next().value!);
  }

  /** Notes a cause: that a write was superseded, an event, or another one. */
  caused(key: ObjectKey, cause: "superseded" | ObjectChange<KubernetesObject> | undefined): void {
    const writer = this.#of(key);
    if (writer === undefined) return;
    const mark = cause === undefined || cause === "superseded" ? "" : markOf(cause);
    if (cause === "superseded" || writer.written.has(mark) || writer.before.has(mark)) writer.hasOwn = true;
    else if (writer.others.size < MAX_OTHERS) writer.others.add(mark);
    else writer.others.add("");
  }

  /**
   * Returns true for the event that shows a write of the reconcile of `key` and nothing else, once. Only a watch shows
   * changes one by one, and an answer of the same version may be that of a write that has changed nothing, behind one
   * by somebody else: so the event must begin at the version that the write has named, or change nothing else than what
   * was sent. Without `ofAll` it must be a write of the subresource `status`.
   */
  isEcho(key: ObjectKey, event: ObjectChange<KubernetesObject>, ofAll: boolean): boolean {
    const writer = this.#of(key);
    if (writer === undefined || event.type === "deleted") return false;
    const { resourceVersion, uid } = event;
    const writes = writer.written.get(resourceVersion) === undefined ? writer.before : writer.written;
    const write = writes.get(resourceVersion);
    if (write === undefined || write.uid !== uid || !(ofAll || write.subresource === "status")) return false;
    if (!isWatched(event) || !shows(event, write)) return false;
    writes.set(resourceVersion, undefined);
    return true;
  }

  /**
   * Returns true when a key need not be called for `causes`: it is hot, they are its own, and a retry is going to call
   * it.
   */
  mayWait(key: ObjectKey, causes: readonly Cause[]): boolean {
    const writer = this.#of(key);
    if (!writer?.isHot || !writer.hasOwn || writer.others.size > 0) return false;
    return causes.every(({ type }) => type === "event" || type === "superseded");
  }

  /** A call begins for `causes`. Returns the loop that it shows if that is to be reported: once until it has ended. */
  begin(key: ObjectKey, causes: readonly Cause[]): "key" | "reconciler" | undefined {
    const writer = this.#of(key);
    if (writer === undefined) return undefined;
    const isOwn = writer.hasOwn && writer.others.size === 0;
    const wasHot = writer.isHot;
    if (isOwn) this.count++;
    if (!isOwn) {
      writer.own = writer.repeats = undefined;
      writer.repeated = 0;
      writer.objects.clear();
      if (!writer.hasChanged && writer.others.size === 0) writer.isHot = false;
    } else if (writer.wasOwn && !causes.some(({ type }) => type === "requeue")) {
      // One call that finds nothing more to do follows each change by others. A requeue would have called it, too.
      writer.own ??= new LeakyBucket(OWN, FORGOTTEN_MS);
      writer.repeats ??= new LeakyBucket(REPETITIONS, FORGOTTEN_MS);
      if (!writer.isNew) writer.repeated++;
      writer.isHot ||= writer.own.take() > 0 || (!writer.isNew && writer.repeats.take() > 0);
    }
    writer.before = writer.written;
    writer.written = new Map();
    writer.others = new Set();
    writer.isNew = writer.hasChanged = writer.hasOwn = false;
    writer.wasOwn = isOwn;
    const isLoop = this.#look(writer.repeated > STEPS && isOwn);
    if (isLoop) return "reconciler";
    return writer.isHot && !wasHot && !this.#isLoop ? "key" : undefined;
  }

  /** Counts a call of a key that writes; returns true when the reconciler has got into a loop. */
  #look(isRepeated: boolean): boolean {
    const nowMs = monotonicMs();
    const counts = isRepeated && nowMs - this.#repeatedMs < PAUSE_MS;
    if (isRepeated) this.#repeatedMs = nowMs;
    this.#share += WEIGHT * (Number(counts) - this.#share);
    const was = this.#isLoop;
    this.#isLoop = this.#share > SHARES[was ? 1 : 0];
    return this.#isLoop && !was;
  }

  /** Returns true while a key must be retried after its call. */
  isHot(key: ObjectKey): boolean {
    return this.#of(key)?.isHot ?? false;
  }
}

/** Returns what an event has in common with the write that it shows; `""` for a resync, which shows none. */
function markOf(event: ObjectChange<KubernetesObject>): string {
  if (event.type === "deleted") return event.uid;
  return event.type === "updated" && event.resync ? "" : event.resourceVersion;
}

/** Returns the part of a write by which its event is known. */
function expectedOf({ uid, object, sent }: ObjectWrite): Expected | undefined {
  if (sent === undefined) return undefined;
  const { type, subresource } = sent;
  const since = (sent.body as Partial<KubernetesObject> | null)?.metadata?.resourceVersion || undefined;
  // A manager that applies for the first time is added, so an object with this one alone was created by it.
  const isApplied = type === "apply" && object?.metadata.managedFields?.length === 1;
  const isNew = subresource === "" && (type === "create" || isApplied);
  return { type, subresource, body: since === undefined ? sent.body : undefined, uid, since, isNew };
}

/** Returns true when an event of a watch changes nothing else than what a write has sent. */
function shows(event: ObjectChange<KubernetesObject>, { type, body, since, isNew }: Expected): boolean {
  if (event.type !== "updated") return isNew;
  if (since !== undefined) return event.before.resourceVersion === since;
  try {
    return isSent(body, comparable(event.before.object), comparable(event.object), type === "merge");
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

/** Returns an object without what the server changes by itself. */
function comparable({ metadata, ...members }: KubernetesObject): unknown {
  const { resourceVersion: _version, generation: _generation, managedFields: _managed, ...rest } = metadata;
  return { ...members, metadata: rest };
}

/** Returns true when `after` differs from `before` in values alone that were sent; `replaces` lists as one value. */
function isSent(sent: unknown, before: unknown, after: unknown, replaces: boolean): boolean {
  if (mergeDiff(before, after) === undefined) return true;
  if (Array.isArray(sent)) {
    if (replaces || mergeDiff(sent, after) === undefined) return true;
    return Array.isArray(before) && Array.isArray(after) && before.length === sent.length &&
      after.length === sent.length && sent.every((item, at) => isSent(item, before[at], after[at], false));
  }
  if (sent === null) return after === undefined;
  if (!isMembers(sent)) return sent !== undefined && !isMembers(before) && !isMembers(after);
  if (!isMembers(before ?? {}) || !isMembers(after ?? {})) return false;
  const [a, b] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((it) => isSent(sent[it], a[it], b[it], replaces));
}

/** The shortest time from the end of a list after unanswered writes to the next one of the kind, in milliseconds. */
const LIST_GAP_MS = 1_000;

/** A comparison of the caches of a kind with the newest state. It opens when these have caught up with it. */
class CatchUp extends Latch {
  /** True once it is too late for further writes: the list may lack them. */
  hasBegun = false;
  /** The time at which it has ended. */
  endedMs = Infinity;
}

/** An informer whose cache must have seen the writes of its kind. */
export type Cache = SharedIndexInformer<KubernetesObject, string>;

/** A cache that a write concerns. */
interface Concerned {
  readonly cache: Cache;
  /** True when the cache has the object since the write, and false when the object leaves it. */
  readonly selects: boolean;
}

/** Receives the key that was reconciled when a write of it was superseded, and the write. */
export type Superseded = (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void;

/** The last writes of one object by one key. */
interface Pending {
  /** The key that was reconciled. */
  readonly writer: ObjectKey;
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  /** The version of the last write that was no deletion; `""` when there was none. */
  readonly resourceVersion: string;
  /** True when the last write was a deletion. */
  readonly isDeleted: boolean;
  /** See `ObjectWrite.after`. */
  readonly after?: string;
  /** The caches that the write concerned when it was recorded. */
  readonly caches: readonly Concerned[];
  /** Ends the wait for the caches. */
  readonly job: LazyController;
}

/**
 * The writes of reconciles that the caches have perhaps not seen, by the key that was reconciled.
 *
 * A write concerns a cache that has the object, or whose selection (namespace, labels, fields) the object matches since
 * the write: `concernedBy` is the only place that decides it, when the write is recorded. Writes that concern no cache
 * are not remembered. A cache has seen a write when it is at the version of the write; it has seen a deletion when the
 * key is gone or has another uid.
 *
 * A write is superseded when its caches have seen it, and the object is then another one than was written. There may
 * have been no event of that: when a watch expires between the write and its undoing, the list after it shows no
 * difference.
 */
export class PendingWrites implements Disposable {
  /** The calls that these writes cause. */
  readonly own: OwnCalls;
  readonly #caches = new Map<string, Cache[]>();
  /** The readers that show the answers of writes over the caches. */
  readonly #overlays = new Map<Cache, CacheOverlay<KubernetesObject>>();
  readonly #staleMs: number;
  /**
   * Has a key if and only if one of its writes was perhaps not seen when it was last looked at. Each write is followed.
   */
  readonly #writes = new Map<ObjectKey, Map<string, Pending>>();
  readonly #onSuperseded: Superseded;
  readonly #onBlind: ((key: ObjectKey, resource: string) => void) | undefined;
  /** The names of the resources that `#onBlind` was called with. */
  readonly #blind = new Set<string>();
  /** The last comparison of each kind, for all keys with unanswered writes of it. */
  readonly #catchUps = new Map<string, CatchUp>();
  /** Has a key if and only if the caches may lack a write of it that was not answered; by the names of the kinds. */
  readonly #unanswered = new Map<ObjectKey, Map<string, CatchUp>>();
  readonly #job = new DerivedController();

  /**
   * @param onSuperseded Called with the key that was reconciled when a write of it was superseded, and with the write.
   * @param staleMs The longest time that an answer is read, in milliseconds.
   * @param expects See `OwnCalls`.
   * @param onBlind Called when no cache says who owns the fields of an object, once for each resource.
   */
  constructor(
    onSuperseded: Superseded,
    staleMs = Infinity,
    expects?: ConstructorParameters<typeof OwnCalls>[0],
    onBlind?: (key: ObjectKey, resource: string) => void,
  ) {
    this.#onSuperseded = onSuperseded;
    this.#onBlind = onBlind;
    this.#staleMs = staleMs;
    this.own = new OwnCalls(expects);
  }

  /** The number of keys with writes, and of keys with writes that were not answered. */
  get size(): number {
    return this.#writes.size + this.#unanswered.size;
  }

  /** Makes `cache` one of those that must have seen the writes of `resource`, and their answers readable over it. */
  addCache(resource: Resource, cache: Cache): void {
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    if (caches.includes(cache)) return;
    this.#caches.set(name, [...caches, cache]);
    this.#overlays.set(cache, cache.overlay());
  }

  /** Returns the lister of a cache that shows the answers of writes. */
  listerOf(cache: Cache): CacheOverlay<KubernetesObject>["lister"] {
    return this.#overlays.get(cache)!.lister;
  }

  /** Waits for `cache` no longer, and forgets the answers over it. */
  removeCache(resource: Resource, cache: Cache): void {
    this.#overlays.delete(cache);
    const name = resourceName(resource);
    this.#caches.set(name, (this.#caches.get(name) ?? []).filter((it) => it !== cache));
    for (const write of [...this.#writes.values()].flatMap((writes) => [...writes.values()])) {
      const caches = write.caches.filter((it) => it.cache !== cache);
      if (caches.length === write.caches.length) continue;
      write.job.abort(over());
      if (caches.length === 0) this.#forget(write);
      else this.#remember({ ...write, caches, job: new LazyController() });
    }
  }

  /** Remembers a write of the reconcile of `key`, and follows it. */
  record(key: ObjectKey, write: ObjectWrite): void {
    this.own.wrote(key, write);
    const { resource, namespace, after } = write;
    const before = this.#writes.get(key)?.get(idOf(write));
    const caches = concernedBy(write, this.#caches.get(resourceName(resource)) ?? [], before);
    if (caches.length === 0) return;
    const isDeleted = write.resourceVersion === "";
    // The deletion of an object whose creation the cache has not seen is seen only after the creation.
    const resourceVersion = isDeleted ? before?.resourceVersion ?? "" : write.resourceVersion;
    // An answer without a uid is about the object that the cache has.
    const uid = write.uid || before?.uid || caches[0].cache.entries.getByKey(write.key)?.uid || "";
    const job = new LazyController();
    const pending = {
      writer: key,
      resource,
      key: write.key,
      namespace,
      uid,
      resourceVersion,
      isDeleted,
      after,
      caches,
      job,
    };
    before?.job.abort(over());
    for (const concerned of caches) this.#cover(pending, concerned, write.object);
    this.#remember(pending);
  }

  /**
   * A write of the reconcile of `key` may have taken effect. The key has not seen it until the caches of the kind have
   * caught up with a list that begins after this: one list for all keys that wait for it.
   */
  unanswered(key: ObjectKey, resource: Resource): void {
    const name = resourceName(resource);
    if (!this.#caches.get(name)?.length || this.#job.signal.aborted) return;
    let catchUp = this.#catchUps.get(name);
    if (catchUp === undefined || catchUp.hasBegun) {
      const before = catchUp;
      this.#catchUps.set(name, catchUp = new CatchUp());
      void this.#catchUp(name, catchUp, before);
    }
    this.#unanswered.set(key, new Map(this.#unanswered.get(key)).set(name, catchUp));
  }

  async #catchUp(name: string, catchUp: CatchUp, before: CatchUp | undefined): Promise<void> {
    const { signal } = this.#job;
    try {
      await before?.wait({ signal });
      await sleep(Math.max(0, (before?.endedMs ?? -Infinity) + LIST_GAP_MS - monotonicMs()), { signal });
      catchUp.hasBegun = true;
      await Promise.all(this.#caches.get(name)!.map((cache) => cache.caughtUp(signal)));
    } catch (error) {
      if (isAbortOf(signal, error)) return;
      throw error;
    }
    catchUp.endedMs = monotonicMs();
    catchUp.open();
    for (const key of this.#unanswered.keys()) this.hasSeen(key);
  }

  #remember(write: Pending): void {
    const writes = this.#writes.get(write.writer) ?? new Map<string, Pending>();
    writes.set(idOf(write), write);
    this.#writes.set(write.writer, writes);
    void this.#follow(write);
  }

  /**
   * Returns an object as a cache or the answer of a write has it, a complete one if there is any; `undefined` while a
   * write of it by the reconcile of `writer` is on its way to the caches, whose answer is not to be read.
   */
  cached(writer: ObjectKey, resource: Resource, key: ObjectKey): KubernetesObject | undefined {
    const pending = this.#writes.get(writer)?.get(idOf({ resource, key }));
    const isOnItsWay = pending !== undefined && !pending.caches.every(({ cache }) => isSeen(cache, pending));
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    const objects = caches.map((cache) => this.listerOf(cache).get(key)).filter((object) => object !== undefined);
    const found = objects.find((object) => !(reduced in object)) ?? objects[0];
    if (!this.#blind.has(name) && !caches.some((cache) => this.#overlays.get(cache)!.hasManagedFields)) {
      this.#blind.add(name);
      this.#onBlind?.(writer, name);
    }
    return isOnItsWay && found?.metadata.resourceVersion !== pending.resourceVersion ? undefined : found;
  }

  /** Returns true when the caches have seen all writes of `key`, which are then forgotten. */
  hasSeen(key: ObjectKey): boolean {
    for (const write of this.#writes.get(key)?.values() ?? []) {
      if (write.caches.every(({ cache }) => isSeen(cache, write))) this.#forget(write);
    }
    const unanswered = this.#unanswered.get(key);
    for (const [name, { isOpen }] of unanswered ?? []) if (isOpen) unanswered!.delete(name);
    if (unanswered?.size === 0) this.#unanswered.delete(key);
    return !this.#writes.has(key) && !this.#unanswered.has(key);
  }

  /** Resolves when the caches may have seen all writes of `key`, or the signal aborts; never rejects. */
  async wait(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const waits = [...this.#writes.get(key)?.values() ?? []].map((write) => allSeen(write, signal));
    const catchUps = [...this.#unanswered.get(key)?.values() ?? []].map((it) => it.wait({ signal }));
    await Promise.allSettled([...waits, ...catchUps]);
  }

  /** Forgets the writes of `key`, and returns a description of those that were not seen. */
  drop(key: ObjectKey): string {
    const writes = [...this.#writes.get(key)?.values() ?? []];
    for (const write of writes) this.#forget(write);
    const unanswered = [...this.#unanswered.get(key)?.keys() ?? []];
    this.#unanswered.delete(key);
    return [
      ...writes.map(({ resource, key, isDeleted, resourceVersion }) => {
        return `${resourceName(resource)} "${key}" ${isDeleted ? "deleted" : `at version ${resourceVersion}`}`;
      }),
      ...unanswered.map((name) => `${name} after a write that was not answered`),
    ].join(", ");
  }

  /**
   * Waits for the caches of a write, unless it is forgotten or written over before, and looks at what they show then.
   */
  async #follow(write: Pending): Promise<void> {
    if (!write.caches.every(({ cache }) => isSeen(cache, write))) {
      const { signal } = write.job;
      await allSeen(write, signal);
      if (signal.aborted) return;
    }
    this.#uncover(write); // also when a wait has failed
    if (write.caches.every((it) => isShown(it, write))) this.#forget(write);
    else this.#onSuperseded(write.writer, { resource: resourceName(write.resource), object: write.key });
  }

  /** Makes the answer of a write readable over a cache that it concerns, unless a later one is. */
  #cover(write: Pending, { cache, selects }: Concerned, object: KubernetesObject | undefined): void {
    const { key, isDeleted, resourceVersion } = write;
    // The answer to the deletion of a collection does not say what has become of its objects.
    if (isDeleted ? write.after !== undefined : !isResourceVersion(resourceVersion)) return;
    const overlay = this.#overlays.get(cache)!;
    const known = overlay.coverOf(key) as Answer | undefined;
    if (known !== undefined && isLater(known.write, write)) return;
    overlay.cover(key, new Answer(write, cache, selects ? object : undefined, monotonicMs() + this.#staleMs));
  }

  /** Makes the answer of a write, and of earlier ones by the same key, no longer readable. */
  #uncover({ writer, key, caches }: Pending): void {
    for (const { cache } of caches) {
      const overlay = this.#overlays.get(cache);
      const answer = overlay?.coverOf(key) as Answer | undefined;
      if (answer?.write.writer === writer) overlay!.uncover(key);
    }
  }

  #forget(write: Pending): void {
    write.job.abort(over());
    this.#uncover(write);
    const writes = this.#writes.get(write.writer);
    writes?.delete(idOf(write));
    if (writes?.size === 0) this.#writes.delete(write.writer);
  }

  /** Follows no write any longer. */
  [Symbol.dispose](): void {
    this.#job.abort(over());
    for (const writes of this.#writes.values()) for (const { job } of writes.values()) job.abort(over());
  }
}

/** The answer of a write, which is read in place of the cached object until the cache has seen the write. */
export class Answer implements Cover {
  readonly write: Pending;
  readonly object: KubernetesObject | undefined;
  readonly dueMs: number;
  readonly #cache: Cache;

  /** Without an object, the write has removed it from the cache. */
  constructor(write: Pending, cache: Cache, object: KubernetesObject | undefined, dueMs: number) {
    this.write = write;
    this.object = object;
    this.dueMs = dueMs;
    this.#cache = cache;
  }

  /** The cached object. */
  get cached(): Entry<KubernetesObject> | undefined {
    return this.#cache.entries.getByKey(this.write.key);
  }

  isOver(): boolean {
    const { cached, write: { isDeleted, resourceVersion } } = this;
    // A cached object that is not older counts, also one of another uid, or of a version that cannot be compared.
    if (!isDeleted && cached !== undefined && !isOlder(cached.resourceVersion, resourceVersion)) return true;
    return isSeen(this.#cache, this.write);
  }
}

/** Returns true when the answer `known` stays, although that of `write` came after it: nothing follows a deletion. */
function isLater(known: Pending, write: Pending): boolean {
  const isSame = known.uid === write.uid || write.uid === "";
  if (write.isDeleted) return !isSame;
  return known.isDeleted && isSame || isOlder(write.resourceVersion, known.resourceVersion);
}

const over = abortReason("The write is not followed any longer");

function idOf({ resource, key }: Pick<ObjectWrite, "resource" | "key">): string {
  return `${resourceName(resource)} ${key}`;
}

/**
 * Returns the caches of the kind that a write concerns: those that have the object or were to have it by the write
 * `before` it, and those that select it now.
 */
function concernedBy(write: ObjectWrite, caches: readonly Cache[], before: Pending | undefined): Concerned[] {
  return caches.flatMap((cache) => {
    const selects = cache.selections.some((selection) => isSelected(write, selection)) &&
      cache.isInShard(write.object!.metadata);
    const had = cache.entries.getByKey(write.key) !== undefined || before?.caches.some((it) => it.cache === cache);
    return selects || had ? [{ cache, selects }] : [];
  });
}

/**
 * The values that a server may see in a field that an object lacks: those of an empty string, a boolean and a number.
 */
const UNSET = ["", "false", "0"];

/**
 * Returns true when a written object matches a selection. Fields of an answer of another kind, as of a subresource,
 * match none.
 */
function isSelected({ resource, namespace, object }: ObjectWrite, selection: Selection): boolean {
  const { namespace: only, labelSelector, fieldSelector } = selection;
  if (object === undefined || (only && only !== namespace)) return false;
  if (labelSelector && !LabelSelector.parse(labelSelector).matches(object.metadata.labels)) return false;
  if (!fieldSelector) return true;
  const fields = FieldSelector.parse(fieldSelector);
  const isOther = object.kind !== undefined && object.kind !== resource.kind;
  if (isOther && fields.requirements.some(({ keys }) => keys[0] !== "metadata")) return false;
  return fields.matchesValues((keys) => {
    const values = fieldValues(object, keys);
    return values.length === 0 ? UNSET : values;
  });
}

function isSeen(cache: Cache, write: Pending): boolean {
  const { key, namespace, uid, resourceVersion, isDeleted, after } = write;
  const entry = cache.entries.getByKey(key);
  const isSame = entry !== undefined && (uid === "" || entry.uid === uid);
  if (isDeleted && isSame && !isAfter(entry.resourceVersion, after)) return false;
  if (resourceVersion === "") return true;
  if (isSame && (entry.resourceVersion === resourceVersion || isOlder(resourceVersion, entry.resourceVersion))) {
    return true;
  }
  const version = cache.selections.length === 1
    ? cache.lastSyncResourceVersion
    : cache.status().namespaces?.find((it) => it.namespace === namespace)?.resourceVersion ?? "";
  return isResourceVersion(version) && isResourceVersion(resourceVersion) &&
    compareResourceVersions(version, resourceVersion) >= 0;
}

/** Returns true for a version since a deletion of a collection, of an object that is kept. */
function isAfter(version: string, after: string | undefined): boolean {
  return after !== undefined && version !== after && !isOlder(version, after);
}

/** Returns true when a cache has the object exactly as it was written, or lacks it as the write has it. */
function isShown({ cache, selects }: Concerned, { key, resourceVersion, isDeleted, after }: Pending): boolean {
  const version = cache.entries.getByKey(key)?.resourceVersion;
  if (version === undefined) return !selects;
  return isDeleted ? isAfter(version, after) : version === resourceVersion;
}

/** Resolves when the caches of a write may have seen it; never rejects. */
async function allSeen(write: Pending, signal: AbortSignal): Promise<void> {
  await Promise.allSettled(write.caches.map(({ cache }) => seen(cache, write, signal)));
}

/** Resolves when a cache has seen a write. */
async function seen(cache: Cache, write: Pending, signal: AbortSignal): Promise<void> {
  const { key, namespace, resourceVersion, isDeleted, after } = write;
  if (isSeen(cache, write)) return; // survives: seen-already
  if (resourceVersion !== "") {
    if (isResourceVersion(resourceVersion)) {
      const several = cache.selections.length > 1;
      await cache.atLeast(resourceVersion, several ? { signal, namespace } : { signal });
    } else {
      await cache.until(({ metadata }) => metadata.resourceVersion === resourceVersion, { key, signal });
    }
  }
  if (!isDeleted || isSeen(cache, write)) return;
  if (after === undefined) return await cache.untilDeleted(key, { signal });
  using either = new DerivedController(signal);
  const options = { key, signal: either.signal };
  await Promise.race([
    cache.untilDeleted(key, options),
    cache.until(({ metadata }) => isAfter(metadata.resourceVersion, after), options),
  ]);
}
