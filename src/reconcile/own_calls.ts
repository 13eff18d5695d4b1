import type { ObjectKey } from "../api/key.ts";
import { LeakyBucket } from "../async/time/leaky_bucket.ts";
import type { ObjectWrite } from "../client/object_write.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { ObjectChange } from "./predicate.ts";

/** The most calls of a key that it may cause itself: 20 at once, and 20 a second in the long run. */
const RATE = { burst: 20, everyMs: 50 };

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
 * The calls that a reconcile causes itself: by events of what it has written, and by writes that were superseded. A key that
 * causes more than 20 of its calls in a second is hot, until a call changes nothing. A change by somebody else is no such cause,
 * and the call after it does not count.
 */
export class OwnCalls {
  readonly #writers = new Map<ObjectKey, Writer>();

  /** The reconcile of `key` has written. */
  wrote(key: ObjectKey, write: ObjectWrite): void {
    const writer = this.#writers.get(key) ?? {
      rate: new LeakyBucket(RATE),
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

  /** Returns true when a key need not be called for `causes`: it is hot, they are its own, and a retry is going to call it. */
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
