/**
 * A reconciler's writes that caches may not have seen yet.
 *
 * {@linkcode PendingWrites} is the entry point. When a write is recorded, it decides once which caches the write
 * concerns. It puts the response on top of these caches. It holds the key, without a worker, until they have the write,
 * and then forgets the write.
 *
 * @module
 */
import type { Selection } from "../../../engine/api/call_options.ts";
import type { CacheEntry } from "../../../engine/api/entry.ts";
import { type KubernetesObject, type ObjectKey, reduced } from "../../../engine/api/object.ts";
import { type Resource, resourceName } from "../../../engine/api/resource.ts";
import { FieldSelector, fieldValues, LabelSelector } from "../../../engine/api/selector.ts";
import { isOlder, isResourceVersion } from "../../../engine/api/status.ts";
import { PassingMap } from "../../../engine/async/passing_map.ts";
import { abortReason, DerivedController, isAbortOf, Latch, LazyController } from "../../../engine/async/signals.ts";
import { monotonicMs, sleep } from "../../../engine/async/time.ts";
import type { ObjectWrite } from "../../../engine/client/resource_client.ts";
import { internals } from "../../../engine/errors/internals.ts";
import type { CacheOverlay, CoveringWrite } from "../../../engine/informer/cache/cache_overlay.ts";
import type { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import { OwnCalls } from "./own_calls.ts";

/**
 * How long to wait before each further list after unanswered writes to a kind, in milliseconds. A server may be busy.
 */
const LIST_GAP_MS = 1_000;

/** A comparison of the caches of a kind with the newest state. It opens when these have caught up with it. */
class CatchUp extends Latch {
  /** True once it is too late for further writes: the list may lack them. */
  hasBegun = false;
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
export type OnSuperseded = (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void;

/** A key's last write to one object. */
interface Pending {
  /** The key that was reconciled. */
  readonly writer: ObjectKey;
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  /** The version of the last write except deletions, or `""` if there was none. */
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
 * The writes by reconciles that caches may not have seen, by the key that was reconciled.
 *
 * A write concerns a cache that has the object, or whose selection (namespace, labels, fields) matches the object since
 * the write. `concernedBy` decides this when the write is recorded. Writes that concern no cache are not remembered. A
 * cache has seen a write when it is at the write's version. It has seen a deletion when the key is gone or has another
 * uid.
 *
 * A write is superseded if its caches have seen it, and the object is different then. There may have been no event:
 * when a watch expires between the write and its undoing, the list after it shows no difference.
 */
export class PendingWrites implements Disposable {
  /** The calls that these writes trigger. */
  readonly own: OwnCalls;
  readonly #caches = new Map<string, Cache[]>();
  /** The readers that show the responses to writes on top of the caches. */
  readonly #overlays = new Map<Cache, CacheOverlay<KubernetesObject>>();
  readonly #readYourWritesTimeoutMs: number;
  /** Has a key if and only if one of its writes was perhaps not seen at the last look. Each write is followed. */
  readonly #writes = new PassingMap<ObjectKey, readonly Pending[]>();
  readonly #onSuperseded: OnSuperseded;
  /** Called when no cache has the managedFields of an object, once for each resource. */
  onBlind: ((key: ObjectKey, resource: string) => void) | undefined;
  /** The names of the resources that `onBlind` was called with. */
  readonly #blind = new Set<string>();
  /** The last comparison for each kind, for all keys with unanswered writes to it. */
  readonly #catchUps = new Map<string, CatchUp>();
  /** Has a key if and only if the caches may lack one of its unanswered writes, by the kinds' names. */
  readonly #unanswered = new Map<ObjectKey, Map<string, CatchUp>>();
  readonly #job = new DerivedController();

  /**
   * @param onSuperseded Called with the key that was reconciled when a write of it was superseded, and with the write.
   * @param readYourWritesTimeoutMs The longest time that an answer is read, in milliseconds.
   * @param expects See `OwnCalls`.
   */
  constructor(
    onSuperseded: OnSuperseded,
    readYourWritesTimeoutMs = Infinity,
    expects?: ConstructorParameters<typeof OwnCalls>[0],
  ) {
    this.#onSuperseded = onSuperseded;
    this.#readYourWritesTimeoutMs = readYourWritesTimeoutMs;
    this.own = new OwnCalls(expects);
  }

  /** The number of keys with writes, plus the number of keys with unanswered writes. */
  get size(): number {
    return this.#writes.size + this.#unanswered.size;
  }

  /** Adds a cache that must see the writes to `resource`, and makes the responses readable on top of it. */
  addCache(resource: Resource, cache: Cache): void {
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    if (caches.includes(cache)) return;
    this.#caches.set(name, [...caches, cache]);
    this.#overlays.set(cache, cache[internals].sync.overlay());
  }

  /** Returns the lister that shows a cache with the responses to writes on top. */
  listerOf(cache: Cache): CacheOverlay<KubernetesObject>["lister"] {
    return this.#overlays.get(cache)!.lister;
  }

  /** Stops waiting for `cache`, and forgets the responses on top of it. */
  removeCache(resource: Resource, cache: Cache): void {
    this.#overlays.delete(cache);
    const name = resourceName(resource);
    this.#caches.set(name, (this.#caches.get(name) ?? []).filter((it) => it !== cache));
    for (const write of [...this.#writes.values()].flat()) {
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
    const before = this.#pendingOf(key, write);
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
    for (const concerned of caches) this.#cover(pending, concerned, write);
    this.#remember(pending);
  }

  /**
   * Records that a write by the reconcile of `key` may have taken effect, although its response is missing. The key
   * must wait until the kind's caches have caught up with a list that begins after this. All waiting keys share one
   * list.
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
      await sleep(before === undefined ? 0 : LIST_GAP_MS, { signal });
      catchUp.hasBegun = true;
      await Promise.all(this.#caches.get(name)!.map((cache) => cache[internals].checks.untilChecked(signal)));
    } catch (error) {
      if (isAbortOf(signal, error)) return;
      throw error;
    }
    catchUp.open();
    for (const key of this.#unanswered.keys()) this.hasSeen(key);
  }

  /** The last write to an object by the reconcile of `writer`. */
  #pendingOf(writer: ObjectKey, { resource, key }: Pick<Pending, "resource" | "key">): Pending | undefined {
    const name = resourceName(resource);
    return this.#writes.get(writer)?.find((it) => it.key === key && resourceName(it.resource) === name);
  }

  #remember(write: Pending): void {
    const { writer } = write;
    const before = this.#pendingOf(writer, write);
    this.#writes.set(writer, [...(this.#writes.get(writer) ?? []).filter((it) => it !== before), write]);
    void this.#follow(write);
  }

  /**
   * Returns an object as a cache or the response to a write has it, preferably a complete one. Returns `undefined`
   * while a write to it by the reconcile of `writer` is on its way to the caches, and its response is not to be read.
   */
  cached(writer: ObjectKey, resource: Resource, key: ObjectKey): KubernetesObject | undefined {
    const pending = this.#pendingOf(writer, { resource, key });
    const isOnItsWay = pending !== undefined && !pending.caches.every(({ cache }) => isSeen(cache, pending));
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    const objects = caches.map((cache) => this.listerOf(cache).get(key)).filter((object) => object !== undefined);
    const found = objects.find((object) => !(reduced in object)) ?? objects[0];
    if (!this.#blind.has(name) && !caches.some((cache) => this.#overlays.get(cache)!.hasManagedFields)) {
      this.#blind.add(name);
      this.onBlind?.(writer, name);
    }
    return isOnItsWay && found?.metadata.resourceVersion !== pending.resourceVersion ? undefined : found;
  }

  /** Returns true when the caches have seen all writes of `key`, which are then forgotten. */
  hasSeen(key: ObjectKey): boolean {
    for (const write of this.#writes.get(key) ?? []) {
      if (write.caches.every(({ cache }) => isSeen(cache, write))) this.#forget(write);
    }
    const unanswered = this.#unanswered.get(key);
    for (const [name, { isOpen }] of unanswered ?? []) if (isOpen) unanswered!.delete(name);
    if (unanswered?.size === 0) this.#unanswered.delete(key);
    return this.#writes.get(key) === undefined && !this.#unanswered.has(key);
  }

  /** Resolves when the caches may have seen all writes of `key`, or the signal aborts. Never rejects. */
  async wait(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const waits = (this.#writes.get(key) ?? []).map((write) => allSeen(write, signal));
    const catchUps = [...this.#unanswered.get(key)?.values() ?? []].map((it) => it.wait({ signal }));
    await Promise.allSettled([...waits, ...catchUps]);
  }

  /** Forgets the writes of `key`, and describes the writes that were not seen. */
  drop(key: ObjectKey): string {
    const writes = this.#writes.get(key) ?? [];
    for (const write of writes) this.#forget(write);
    const unseen = writes.map(({ resource, key, isDeleted, resourceVersion }) => {
      return `${resourceName(resource)} "${key}" ${isDeleted ? "deleted" : `at version ${resourceVersion}`}`;
    });
    for (const name of this.#unanswered.get(key)?.keys() ?? []) unseen.push(`${name} after a write without a response`);
    this.#unanswered.delete(key);
    return unseen.join(", ");
  }

  /**
   * Waits for a write's caches and looks at the object that they have then. A write that is forgotten or overwritten
   * before is not followed.
   */
  async #follow(write: Pending): Promise<void> {
    if (!write.caches.every(({ cache }) => isSeen(cache, write))) {
      await allSeen(write);
      if (this.#job.signal.aborted || !this.#writes.get(write.writer)?.includes(write)) return;
    }
    this.#uncover(write); // also when a wait has failed
    if (write.caches.every((it) => isShown(it, write))) this.#forget(write);
    else this.#onSuperseded(write.writer, { resource: resourceName(write.resource), object: write.key });
  }

  /** Makes the response to a write readable on top of a cache that it concerns, unless the cache shows a later one. */
  #cover(write: Pending, { cache, selects }: Concerned, { object, text }: ObjectWrite): void {
    const { key, isDeleted, resourceVersion } = write;
    // The answer to the deletion of a collection does not say what has become of its objects.
    if (isDeleted ? write.after !== undefined : !isResourceVersion(resourceVersion)) return;
    const overlay = this.#overlays.get(cache)!;
    const known = overlay.coverOf(key) as Answer | undefined;
    if (known !== undefined && isLater(known.write, write)) return;
    const answer = new Answer(write, cache, monotonicMs() + this.#readYourWritesTimeoutMs);
    if (selects) overlay.cover(key, answer, object, text);
    else overlay.cover(key, answer);
  }

  /** Hides the responses to a write, and to earlier writes by the same key. */
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
    const left = (this.#writes.get(write.writer) ?? []).filter((it) => it !== write);
    if (left.length > 0) this.#writes.set(write.writer, left);
    else this.#writes.delete(write.writer);
  }

  /** Follows no write any longer. */
  [Symbol.dispose](): void {
    this.#job.abort(over());
    for (const { job } of [...this.#writes.values()].flat()) job.abort(over());
  }
}

/** The response to a write. It is read instead of the cached object until the cache has seen the write. */
export class Answer implements CoveringWrite {
  readonly write: Pending;
  readonly dueMs: number;
  readonly #cache: Cache;

  /** It is read at most until `dueMs` on the monotonic clock. */
  constructor(write: Pending, cache: Cache, dueMs: number) {
    this.write = write;
    this.dueMs = dueMs;
    this.#cache = cache;
  }

  /** The cached object. */
  get cached(): CacheEntry<KubernetesObject> | undefined {
    return this.#cache.entries.getByKey(this.write.key);
  }

  isOver(): boolean {
    const { cached, write: { isDeleted, resourceVersion } } = this;
    // A cached object that is not older counts, also one of another uid, or of a version that cannot be compared.
    if (!isDeleted && cached !== undefined && !isOlder(cached.resourceVersion, resourceVersion)) return true;
    return isSeen(this.#cache, this.write);
  }
}

/**
 * Returns true when the response `known` stays, although the response to `write` came after it: nothing follows a
 * deletion.
 */
function isLater(known: Pending, write: Pending): boolean {
  const isSame = known.uid === write.uid || write.uid === "";
  if (write.isDeleted) return !isSame;
  return known.isDeleted && isSame || isOlder(write.resourceVersion, known.resourceVersion);
}

const over = abortReason("The write is not followed any longer");

/**
 * Returns the kind's caches that a write concerns. These have the object, were to have it by the write `before`, or
 * select it now.
 */
function concernedBy(write: ObjectWrite, caches: readonly Cache[], before: Pending | undefined): Concerned[] {
  const concerned: Concerned[] = [];
  for (const cache of caches) {
    const selects = cache.selections.some((selection) => isSelected(write, selection)) &&
      cache[internals].sync.isInShard(write.object!.metadata);
    const had = cache.entries.getByKey(write.key) !== undefined || before?.caches.some((it) => it.cache === cache);
    if (selects || had) concerned.push({ cache, selects });
  }
  return concerned;
}

/** The values that a server may see in a field that an object lacks: an empty string, a boolean and a number. */
const UNSET = ["", "false", "0"];

/**
 * Returns true when a written object matches a selection. If the response has another kind, as for a subresource, its
 * fields match nothing.
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
  return version === resourceVersion ? isResourceVersion(version) : isOlder(resourceVersion, version);
}

/** Returns true for the version of an object that is kept, if it is newer than the deletion of its collection. */
function isAfter(version: string, after: string | undefined): boolean {
  return after !== undefined && version !== after && !isOlder(version, after);
}

/** Returns true when a cache has the object exactly as it was written, or lacks it as the write has it. */
function isShown({ cache, selects }: Concerned, { key, resourceVersion, isDeleted, after }: Pending): boolean {
  const version = cache.entries.getByKey(key)?.resourceVersion;
  if (version === undefined) return !selects;
  return isDeleted ? isAfter(version, after) : version === resourceVersion;
}

/** Resolves when a write's caches may have seen it, or the signal aborts. Never rejects. */
async function allSeen(write: Pending, signal?: AbortSignal): Promise<void> {
  const waits = write.caches.map(({ cache }) => seen(cache, write, signal));
  if (waits.length > 1) await Promise.allSettled(waits);
  else await waits[0].catch(() => {});
}

/**
 * Resolves when a cache has seen a write. Without a signal the write's job ends the wait, but not the wait for a
 * version: a version comes soon, and a signal for each write would cost more than the wait.
 */
async function seen(cache: Cache, write: Pending, given?: AbortSignal): Promise<void> {
  const { key, namespace, resourceVersion, isDeleted, after, job } = write;
  if (isSeen(cache, write)) return;
  const isOrdered = isResourceVersion(resourceVersion);
  if (isOrdered) {
    const several = cache.selections.length > 1;
    await cache.waitForVersion(resourceVersion, several ? { signal: given, namespace } : { signal: given });
    if (!isDeleted) return;
  }
  const signal = given ?? job.signal;
  if (!isOrdered && resourceVersion !== "") {
    await cache.until(({ metadata }) => metadata.resourceVersion === resourceVersion, { key, signal });
  }
  if (!isDeleted || isSeen(cache, write)) return;
  if (after === undefined) return await cache.untilDeleted(key, { signal });
  using either = new DerivedController(signal);
  await Promise.race([
    cache.untilDeleted(key, { signal: either.signal }),
    cache.until(({ metadata }) => isAfter(metadata.resourceVersion, after), { key, signal: either.signal }),
  ]);
}
