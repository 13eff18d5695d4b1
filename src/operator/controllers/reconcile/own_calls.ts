/**
 * Recognizes the events of a reconciler's own writes, and counts calls that it triggers itself.
 *
 * {@linkcode OwnCalls} is the entry point. It ignores an event only if the event can hide no change by somebody else.
 * Such an event comes by a watch. It follows the version that the write named, or it changes only sent values.
 * `pending_writes.ts` waits for caches.
 *
 * @module
 */
import { isObject } from "../../../engine/api/json.ts";
import type { KubernetesObject, ObjectKey } from "../../../engine/api/object.ts";
import { resourceName } from "../../../engine/api/resource.ts";
import { DecodeError } from "../../../engine/api/status.ts";
import { monotonicMs } from "../../../engine/async/time.ts";
import type { ObjectWrite } from "../../../engine/client/resource_client.ts";
import { isWatched } from "../../../engine/informer/events/event.ts";
import type { Trigger } from "../../../engine/workqueue/triggers.ts";
import { mergeDiff } from "./objects.ts";
import type { ObjectChange } from "./predicates.ts";

/** The most repetitions of a key in a row. */
const REPETITIONS = 250;

/** The most calls in a row that a key may trigger itself, whatever they write. */
const OWN = 1_000;

/** The longest time from a key's write to its next call in a row, in milliseconds. One call every 30 s is no loop. */
const ROW_MS = 20_000;

/** A key repeats itself from this repetition in a row on. Earlier repetitions may be steps. */
const STEPS = 10;

/** Each call of a key that writes counts this much in the share of repetitions, and earlier ones the rest. */
const WEIGHT = 1 / 300;

/** The share of repetitions at which a reconciler is in a loop, and below which it has left it. */
const SHARES = [0.9, 0.5] as const;

/** The longest time between two repetitions of a loop of many keys, in milliseconds. */
const PAUSE_MS = 10_000;

/** The number of keys that stay, and the number of other keys that are remembered because they have written last. */
const REMEMBERED = 1_000;

/** The time after its last write at which a key that stays makes room for another one, in milliseconds. */
const STAYS_MS = 600_000;

/** The largest number of other triggers that are remembered. */
const MAX_OTHERS = 32;

/** A write whose event may trigger nothing. */
interface Expected extends NonNullable<ObjectWrite["sent"]> {
  readonly uid: string;
  /** The version that the write named. Its event shows exactly the change from that version. */
  readonly since: string | undefined;
  /** True when nobody else has ever written the object. */
  readonly isNew: boolean;
}

const NO_WRITES: Map<string, undefined> = new Map();

/** A key that has written. */
class Writer {
  /** The time of its last write. */
  atMs = 0;
  /**
   * The last call's writes by their marks. Writes whose events are to be ignored stay until these events have come.
   * `before` has the writes of the call before, because their events may come late.
   */
  written = new Map<string, Expected | undefined>();
  before: Map<string, Expected | undefined> = NO_WRITES;
  /** The objects that were written since the last call with another trigger began. */
  readonly objects = new Set<string>();
  /** True when the last call has written an object that was not in `objects`. */
  isNew = false;
  /** The number of calls in a row, without pauses, that the key triggered itself after another such call. */
  own = 0;
  /** The number of these calls that follow a repetition, also after pauses: with many keys, each comes up seldom. */
  repeated = 0;
  /** True when the last call has written something that is not in `before`, so an event is expected. */
  hasChanged = false;
  /** True when the key has triggered itself since the last call began. */
  hasOwn = false;
  /** The marks of other triggers since then. An event may come before the response that shows whose event it is. */
  others: string[] = [];
  /** True when the key triggered the last call itself. */
  wasOwn = false;
  /** True from the first call over the limit until a call triggers no other one. */
  isHot = false;
}

/**
 * Counts the calls that a reconcile triggers itself, by events of its writes and by superseded writes. A change by
 * somebody else is another trigger, and the call after it does not count.
 *
 * - A call is a repetition if its key wrote only objects that it wrote before, with no other trigger in between.
 * - A key is hot after 250 repetitions in a row, at any rate. It is also hot after 1,000 calls that it triggered
 *   itself, even if these write new objects. It stays hot until a call changes nothing. Work in steps ends before that.
 * - A reconciler is in a loop when nine in ten calls are repetitions, among keys that write. Each key's first ten calls
 *   do not count. With many keys, it would take long until one key repeats 250 times.
 */
export class OwnCalls {
  /** The keys that stay while they write. In a loop over many keys, these keys are observed. */
  readonly #staying = new Map<ObjectKey, Writer>();
  /** Other keys that have written last. */
  readonly #writers = new Map<ObjectKey, Writer>();
  readonly #expects: (key: ObjectKey, write: ObjectWrite) => boolean;
  /** The number of calls that only own writes have triggered. */
  count = 0;
  /** The share of repetitions in the last calls of keys that write. */
  #share = 0;
  /** The time of the last repetition that counts in it. */
  #repeatedMs = -Infinity;
  #isLoop = false;

  /** @param expects Returns true for a write by a key's reconcile whose event may trigger nothing. */
  constructor(expects: (key: ObjectKey, write: ObjectWrite) => boolean = () => false) {
    this.#expects = expects;
  }

  /** The reconcile of `key` has written. */
  wrote(key: ObjectKey, write: ObjectWrite): void {
    const writer = this.#of(key) ?? new Writer();
    const mark = write.resourceVersion || write.uid;
    writer.hasChanged ||= !writer.before.has(mark);
    writer.written.set(mark, this.#expects(key, write) ? expectedOf(write) : undefined);
    const at = writer.others.indexOf(mark);
    if (at >= 0) {
      writer.others.splice(at, 1);
      writer.hasOwn = true;
    }
    const id = `${resourceName(write.resource)} ${write.key}`;
    writer.isNew ||= !writer.objects.has(id);
    writer.objects.add(id);
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

  #of(key: ObjectKey): Writer | undefined {
    return this.#staying.get(key) ?? this.#writers.get(key);
  }

  /** Records a trigger: a superseded write, an event, or another trigger. */
  caused(key: ObjectKey, cause: "superseded" | ObjectChange<KubernetesObject> | undefined): void {
    const writer = this.#of(key);
    if (writer === undefined) return;
    const mark = cause === undefined || cause === "superseded" ? "" : markOf(cause);
    if (cause === "superseded" || writer.written.has(mark) || writer.before.has(mark)) {
      writer.hasOwn = true;
      return;
    }
    const { others } = writer;
    const other = others.length < MAX_OTHERS ? mark : "";
    if (!others.includes(other)) others.push(other);
  }

  /**
   * Returns true, once, for the event that shows only a write by the reconcile of `key`. The event must come by a
   * watch, because only a watch shows changes one by one. It must follow the version that the write named, or change
   * only sent values: a response with the same version may belong to a write that changed nothing, after a change by
   * somebody else. Without `ofAll` the write must be to the subresource `status`.
   */
  isOwnWrite(key: ObjectKey, event: ObjectChange<KubernetesObject>, ofAll: boolean): boolean {
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
   * Returns true when a key need not be called for `triggers`: it is hot, they are its own, and a retry is going to
   * call it.
   */
  mayWait(key: ObjectKey, triggers: readonly Trigger[]): boolean {
    const writer = this.#of(key);
    if (!writer?.isHot || !writer.hasOwn || writer.others.length > 0) return false;
    return triggers.every(({ type }) => type === "event" || type === "superseded");
  }

  /**
   * A call begins for `triggers`. Returns the loop that it shows if that is to be reported: once until it has ended.
   */
  begin(key: ObjectKey, triggers: readonly Trigger[]): "key" | "reconciler" | undefined {
    const writer = this.#of(key);
    if (writer === undefined) return undefined;
    const isOwn = writer.hasOwn && writer.others.length === 0;
    const wasHot = writer.isHot;
    if (isOwn) this.count++;
    else if (!writer.hasChanged && writer.others.length === 0) writer.isHot = false;
    if (!isOwn || monotonicMs() - writer.atMs > ROW_MS) writer.own = 0;
    if (!isOwn) {
      writer.repeated = 0;
      writer.objects.clear();
    } else if (writer.wasOwn && !triggers.some(({ type }) => type === "requeue")) {
      // One call that finds nothing more to do follows each change by others. A requeue would have called it, too.
      writer.own++;
      if (!writer.isNew) writer.repeated++;
      writer.isHot ||= writer.own > OWN || Math.min(writer.own, writer.repeated) > REPETITIONS;
    }
    writer.before = writer.written;
    writer.written = new Map();
    writer.others = [];
    writer.isNew = writer.hasChanged = writer.hasOwn = false;
    writer.wasOwn = isOwn;
    if (this.#look(writer.repeated > STEPS && isOwn)) return "reconciler";
    return writer.isHot && !wasHot && !this.#isLoop ? "key" : undefined;
  }

  /** Counts a call of a key that writes. Returns true when the reconciler has got into a loop. */
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

/** Returns a mark that an event shares with the write that it shows, or `""` for a resync, which shows no write. */
function markOf(event: ObjectChange<KubernetesObject>): string {
  if (event.type === "deleted") return event.uid;
  return event.type === "updated" && event.resync ? "" : event.resourceVersion;
}

/** Returns the part of a write that identifies its event. */
function expectedOf({ uid, object, sent }: ObjectWrite): Expected | undefined {
  if (sent === undefined) return undefined;
  const { type, subresource } = sent;
  const since = (sent.body as Partial<KubernetesObject> | null)?.metadata?.resourceVersion || undefined;
  // An apply adds its manager to the managedFields. If the object has no other manager, this apply created it.
  const isApplied = type === "apply" && object?.metadata.managedFields?.length === 1;
  const isNew = subresource === "" && (type === "create" || isApplied);
  return { type, subresource, body: since === undefined ? sent.body : undefined, uid, since, isNew };
}

/** Returns true when a watch event changes only values that a write sent. */
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

/** Returns an object without the fields that the server changes. */
function comparable({ metadata, ...members }: KubernetesObject): unknown {
  const { resourceVersion: _version, generation: _generation, managedFields: _managed, ...rest } = metadata;
  return { ...members, metadata: rest };
}

/**
 * Returns true when `after` differs from `before` only in values that were sent. `replaces` means that a list is one
 * value.
 */
function isSent(sent: unknown, before: unknown, after: unknown, replaces: boolean): boolean {
  if (mergeDiff(before, after) === undefined) return true;
  if (Array.isArray(sent)) {
    if (replaces || mergeDiff(sent, after) === undefined) return true;
    return Array.isArray(before) && Array.isArray(after) && before.length === sent.length &&
      after.length === sent.length && sent.every((item, at) => isSent(item, before[at], after[at], false));
  }
  if (sent === null) return after === undefined;
  if (!isObject(sent)) return sent !== undefined && !isObject(before) && !isObject(after);
  if (!isObject(before ?? {}) || !isObject(after ?? {})) return false;
  const [a, b] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((it) => isSent(sent[it], a[it], b[it], replaces));
}
