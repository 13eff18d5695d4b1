import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { DecodeError } from "../api/status.ts";
import { LeakyBucket } from "../async/time.ts";
import type { ObjectWrite } from "../client/resource_client.ts";
import { isWatched } from "../informer/events/event.ts";
import type { Cause } from "../workqueue/run.ts";
import { isMembers, mergeDiff } from "./objects.ts";
import type { ObjectChange } from "./predicate.ts";

/** The most calls of a key that it may cause itself: 20 at once, and 20 a second in the long run. */
const RATE = [20, 50] as const;

/** The number of keys that are remembered, those that have written last. */
const REMEMBERED = 1_000;

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
  /** Takes one for each call of its own making that follows another one. */
  readonly rate: LeakyBucket;
  /**
   * The writes of the last call by their marks, and of the one before: their events may come late. Those whose events
   * are to be no cause are there until these have come.
   */
  written: Map<string, Expected | undefined>;
  before: Map<string, Expected | undefined>;
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
  readonly #expects: (key: ObjectKey, write: ObjectWrite) => boolean;

  /** @param expects Returns true for a write of the reconcile of a key whose event may be no cause. */
  constructor(expects: (key: ObjectKey, write: ObjectWrite) => boolean = () => false) {
    this.#expects = expects;
  }

  /** The reconcile of `key` has written. */
  wrote(key: ObjectKey, write: ObjectWrite): void {
    const writer = this.#writers.get(key) ?? {
      rate: new LeakyBucket(...RATE),
      ...{ written: new Map(), before: new Map(), others: new Set() },
      ...{ hasChanged: false, hasOwn: false, wasOwn: false, isHot: false },
    };
    const mark = write.resourceVersion || write.uid;
    writer.hasChanged ||= !writer.before.has(mark);
    writer.written.set(mark, this.#expects(key, write) ? expectedOf(write) : undefined);
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
   * Returns true for the event that shows a write of the reconcile of `key` and nothing else, once. Only a watch shows
   * changes one by one, and an answer of the same version may be that of a write that has changed nothing, behind one
   * by somebody else: so the event must begin at the version that the write has named, or change nothing else than what
   * was sent. Without `ofAll` it must be a write of the subresource `status`.
   */
  isEcho(key: ObjectKey, event: ObjectChange<KubernetesObject>, ofAll: boolean): boolean {
    const writer = this.#writers.get(key);
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
    writer.written = new Map();
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
