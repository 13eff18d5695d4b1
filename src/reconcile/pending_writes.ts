import { FieldSelector, fieldValues, LabelSelector } from "../api/selector.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import type { Selection } from "../api/options.ts";
import { compareResourceVersions, isOlder, isResourceVersion } from "../api/status.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { DerivedController, LazyController } from "../async/signals.ts";
import type { ObjectWrite } from "../client/resource_client.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import { LeakyBucket } from "../async/time.ts";
import type { Cause } from "../workqueue/run.ts";
import type { ObjectChange } from "./predicate.ts";

/** An informer whose cache must have seen the writes of its kind. */
export type Cache = SharedIndexInformer<KubernetesObject, string>;

/** A cache that a write concerns. */
interface Concerned {
  readonly cache: Cache;
  /** True when the cache has the object since the write, and false when the object leaves it. */
  readonly selects: boolean;
}

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
  readonly own: OwnCalls = new OwnCalls();
  readonly #caches = new Map<string, Cache[]>();
  /**
   * Has a key if and only if one of its writes was perhaps not seen when it was last looked at. Each write is followed.
   */
  readonly #writes = new Map<ObjectKey, Map<string, Pending>>();
  readonly #onSuperseded: (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void;

  /**
   * @param onSuperseded Called with the key that was reconciled when a write of it was superseded, and with the write.
   */
  constructor(
    onSuperseded: (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void,
  ) {
    this.#onSuperseded = onSuperseded;
  }

  /** The number of keys with writes. */
  get size(): number {
    return this.#writes.size;
  }

  /** Makes `cache` one of those that must have seen the writes of `resource`. */
  addCache(resource: Resource, cache: Cache): void {
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    if (!caches.includes(cache)) this.#caches.set(name, [...caches, cache]);
  }

  /** Remembers a write of the reconcile of `key`, and follows it. */
  record(key: ObjectKey, write: ObjectWrite): void {
    this.own.wrote(key, write);
    const { resource, namespace, after } = write;
    const writes = this.#writes.get(key) ?? new Map<string, Pending>();
    const id = idOf(write);
    const before = writes.get(id);
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
    before?.job.abort(OVER);
    writes.set(id, pending);
    this.#writes.set(key, writes);
    void this.#follow(pending);
  }

  /** Returns true when the caches have seen all writes of `key`, which are then forgotten. */
  hasSeen(key: ObjectKey): boolean {
    for (const write of this.#writes.get(key)?.values() ?? []) {
      if (write.caches.every(({ cache }) => isSeen(cache, write))) this.#forget(write);
    }
    return !this.#writes.has(key);
  }

  /** Resolves when the caches may have seen all writes of `key`, or the signal aborts; never rejects. */
  async wait(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const waits = [...this.#writes.get(key)?.values() ?? []].map((write) => allSeen(write, signal));
    await Promise.all(waits);
  }

  /** Forgets the writes of `key`, and returns a description of those that were not seen. */
  drop(key: ObjectKey): string {
    const writes = [...this.#writes.get(key)?.values() ?? []];
    for (const write of writes) this.#forget(write);
    return writes.map(({ resource, key, isDeleted, resourceVersion }) => {
      return `${resourceName(resource)} "${key}" ${isDeleted ? "deleted" : `at version ${resourceVersion}`}`;
    }).join(", ");
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
    if (write.caches.every((it) => isShown(it, write))) this.#forget(write);
    else this.#onSuperseded(write.writer, { resource: resourceName(write.resource), object: write.key });
  }

  #forget(write: Pending): void {
    write.job.abort(OVER);
    const writes = this.#writes.get(write.writer);
    writes?.delete(idOf(write));
    if (writes?.size === 0) this.#writes.delete(write.writer);
  }

  /** Follows no write any longer. */
  [Symbol.dispose](): void {
    for (const writes of this.#writes.values()) for (const { job } of writes.values()) job.abort(OVER);
  }
}

const OVER = new DOMException("The write is not followed any longer", "AbortError");

function idOf({ resource, key }: Pick<Pending, "resource" | "key">): string {
  return `${resourceName(resource)} ${key}`;
}

/**
 * Returns the caches of the kind that a write concerns: those that have the object or were to have it by the write
 * `before` it, and those that select it now.
 */
function concernedBy(write: ObjectWrite, caches: readonly Cache[], before: Pending | undefined): Concerned[] {
  return caches.flatMap((cache) => {
    const selects = cache.selections.some((selection) => isSelected(write, selection));
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

/** The most calls of a key that it may cause itself: 20 at once, and 20 a second in the long run. */
const RATE = [20, 50] as const;

/** The number of keys that are remembered, those that have written last. */
const REMEMBERED = 1_000;

/** The largest number of other causes that are remembered. */
const MAX_OTHERS = 32;

/** A key that has written. */
interface Writer {
  /** Takes one for each call of its own making that follows another one. */
  readonly rate: LeakyBucket;
  /** The marks of the writes of the last call, and of the one before: their events may come late. */
  written: Set<string>;
  before: Set<string>;
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
 * The calls that a reconcile causes itself: by events of what it has written, and by writes that were superseded. A key
 * that causes more than 20 of its calls in a second is hot, until a call changes nothing. A change by somebody else is
 * no such cause, and the call after it does not count.
 */
export class OwnCalls {
  readonly #writers = new Map<ObjectKey, Writer>();

  /** The reconcile of `key` has written. */
  wrote(key: ObjectKey, write: ObjectWrite): void {
    const writer = this.#writers.get(key) ?? {
      rate: new LeakyBucket(...RATE),
      ...{ written: new Set(), before: new Set(), others: new Set() },
      ...{ hasChanged: false, hasOwn: false, wasOwn: false, isHot: false },
    };
    const mark = write.resourceVersion || write.uid;
    writer.hasChanged ||= !writer.before.has(mark);
    writer.written.add(mark);
    if (writer.others.delete(mark)) writer.hasOwn = true;
    this.#writers.delete(key);
    this.#writers.set(key, writer);
    if (this.#writers.size > REMEMBERED) this.#writers.delete(this.#writers.keys().next().value!);
  }

  /** Notes a cause: that a write was superseded, an event, or another one. */
  caused(key: ObjectKey, cause: "superseded" | ObjectChange<KubernetesObject> | undefined): void {
    const writer = this.#writers.get(key);
    if (writer === undefined) return;
    const mark = cause === undefined || cause === "superseded" ? "" : markOf(cause);
    if (cause === "superseded" || writer.written.has(mark) || writer.before.has(mark)) writer.hasOwn = true;
    else if (writer.others.size < MAX_OTHERS) writer.others.add(mark);
    else writer.others.add("");
  }

  /**
   * Returns true when a key need not be called for `causes`: it is hot, they are its own, and a retry is going to call
   * it.
   */
  mayWait(key: ObjectKey, causes: readonly Cause[]): boolean {
    const writer = this.#writers.get(key);
    if (!writer?.isHot || !writer.hasOwn || writer.others.size > 0) return false;
    return causes.every(({ type }) => type === "event" || type === "superseded");
  }

  /** A call begins; returns true when the key is hot and has caused it itself. */
  begin(key: ObjectKey): boolean {
    const writer = this.#writers.get(key);
    if (writer === undefined) return false;
    const isOwn = writer.hasOwn && writer.others.size === 0;
    // One call that finds nothing more to do follows each change by others.
    if (isOwn) writer.isHot ||= writer.wasOwn && writer.rate.take() > 0;
    else if (!writer.hasChanged && writer.others.size === 0) writer.isHot = false;
    writer.before = writer.written;
    writer.written = new Set();
    writer.others = new Set();
    writer.hasChanged = writer.hasOwn = false;
    writer.wasOwn = isOwn;
    return writer.isHot && isOwn;
  }

  /** Returns true while a key must be retried after its call. */
  isHot(key: ObjectKey): boolean {
    return this.#writers.get(key)?.isHot ?? false;
  }
}

/** Returns what an event has in common with the write that it shows; `""` for a resync, which shows none. */
function markOf(event: ObjectChange<KubernetesObject>): string {
  if (event.type === "deleted") return event.uid;
  return event.type === "updated" && event.resync ? "" : event.resourceVersion;
}
