/**
 * The changes and present objects of one selection as bytes, made once for all streams of it.
 *
 * {@linkcode SelectionEvents} is the entry point. A stream keeps a position and no bytes, and ends when its position
 * was dropped. A snapshot is read in parts, so no old version is kept for a slow client. `event_feed.ts` brings the
 * changes.
 *
 * @module
 */
import { encoder, type ObjectKey } from "../../engine/api/object.ts";
import type { ByteBudget, Evictable } from "./budget.ts";
import { type Batch, ByteRing } from "./byte_ring.ts";
import type { LoggedChange } from "./change_log.ts";
import { eventText, heartbeatText, type RelayEvents, withoutId } from "./format.ts";
import { type ObjectSelection, objectTexts, PART_OBJECTS, type ShownObject } from "./objects.ts";
import type { PresentObjects } from "./present_objects.ts";
import type { StreamedResponse } from "./streamed_response.ts";

/** A change of an object, from one state to another. */
export interface PositionedChange extends LoggedChange {
  /** The position in the feed after it. */
  readonly position: number;
  readonly key: ObjectKey;
  readonly uid: string;
  /** The state before; `undefined` for a new object. */
  readonly before: ShownObject | undefined;
  /** The state now; `undefined` for a deleted object. */
  readonly after: ShownObject | undefined;
  /** The texts of that state, by their fields, which channels share. */
  readonly texts: Map<string, string>;
}

/** One change of a feed: of an object, or of the state of the informer. */
export type FeedChange = PositionedChange | { readonly position: number; readonly state: string };

/** Returns the id after a change; without a change, the id after all changes so far. */
type IdOf = (change?: FeedChange) => string | undefined;

/** Some of the present objects, as events. */
interface ObjectsPart {
  /** The first key that an object of the next part may have. */
  readonly to: ObjectKey;
  /** The number of objects that were looked at. */
  readonly count: number;
  /** The number of objects that are selected. */
  readonly objects: number;
  /** Their events. Empty if no object is selected. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of changes of the objects before it was made. */
  readonly changes: number;
}

/**
 * The changes and the present objects of one selection as bytes, made once, and shared by all streams that ask for it.
 */
export class SelectionEvents implements Evictable, Disposable {
  /** The selection of its objects. */
  readonly selection: ObjectSelection;
  /**
   * A hash of the cluster, the collection and the selection, for tokens, which are checked against mistakes by it:
   * nothing is shared, and no right is granted, because two hashes are equal.
   */
  readonly scope: string;
  readonly #ring: ByteRing;
  /** The open streams. */
  readonly streams: Set<StreamedResponse> = new Set();
  readonly #objects: PresentObjects;
  readonly #budget: ByteBudget;
  /** The parts that were made, by the keys that they begin at, while there is a reader of them. */
  readonly #parts = new Map<ObjectKey, ObjectsPart>();
  #partBytes = 0;
  /** The number of streams that read parts. */
  #partReaders = 0;
  /** `true` if and only if something was written since the last heartbeat. */
  #isFresh = false;

  /** Begins after `position`, and keeps as many changes as `budget` has room for. */
  constructor(
    selection: ObjectSelection,
    scope: string,
    { position, objects, budget }: { position: number; objects: PresentObjects; budget: ByteBudget },
  ) {
    this.selection = selection;
    this.scope = scope;
    this.#objects = objects;
    this.#budget = budget;
    this.#ring = new ByteRing(position);
  }

  /** The number of bytes that are kept. */
  get bytes(): number {
    return this.#ring.bytes + this.#partBytes;
  }

  /** Drops the oldest part, which can be made again, or the oldest batches. */
  shrink(): void {
    const [first] = this.#parts.keys();
    if (first === undefined) this.#ring.drop();
    else this.#forget(first);
  }

  /** Keeps nothing more; no stream is open. */
  [Symbol.dispose](): void {
    this.#budget.drop(this);
  }

  /** `true` if there may be objects that its clients do not see. */
  get isLimited(): boolean {
    return this.selection.right !== undefined;
  }

  /** Returns `true` if everything after `position` can be read. */
  has(position: number): boolean {
    return position >= this.#ring.base;
  }

  /** Returns the events after `position`; `undefined` if there are none. */
  after(position: number): Batch | undefined {
    return this.#ring.after(position);
  }

  /** Returns the first batch after `position`, without its id; `undefined` if there is none. */
  next(position: number): Batch | undefined {
    const batch = this.#ring.next(position);
    return batch && { position: batch.position, bytes: withoutId(batch.bytes) };
  }

  /** The earliest position from which everything can be read. */
  get base(): number {
    return this.#ring.base;
  }

  /** Adds changes before all others, the first after `base`, so that streams can begin there. */
  extend(base: number, changes: readonly PositionedChange[], idOf: IdOf): void {
    const before = this.#ring.bytes;
    this.#ring.prepend(base, this.#batchesOf(changes, idOf));
    this.#budget.keep(this, this.#ring.bytes - before);
  }

  /** Counts a stream that begins to read parts. */
  beginParts(): void {
    this.#partReaders++;
  }

  /** No longer counts a stream that has read all parts, or has ended. */
  endParts(): void {
    if (--this.#partReaders > 0) return;
    this.#budget.keep(this, -this.#partBytes);
    this.#parts.clear();
    this.#partBytes = 0;
  }

  /** Returns the present objects from a key on; `undefined` after the last one. */
  part(from: ObjectKey): ObjectsPart | undefined {
    const { changes } = this.#objects;
    const known = this.#parts.get(from);
    if (known !== undefined && this.#objects.isSame(from, known)) return known;
    const objects = this.#objects.from(from, PART_OBJECTS);
    if (objects.length === 0) return undefined;
    const { texts, to: count } = objectTexts(objects, 0, this.selection);
    const bytes = encoder.encode(texts.map((text) => eventText("added", text)).join(""));
    const to = `${objects[count - 1].key}\0`;
    const part = { to, count, objects: texts.length, bytes, changes };
    this.#parts.set(from, part);
    const more = bytes.length - (known?.bytes.length ?? 0);
    this.#partBytes += more;
    this.#budget.keep(this, more);
    return part;
  }

  /** Writes the changes to selected objects. */
  write(changes: readonly FeedChange[], idOf: IdOf): void {
    this.#push(this.#batchesOf(changes, idOf, idOf()));
  }

  /** Writes a heartbeat, unless something was written since the last call. */
  beat(position: number, idOf: IdOf): void {
    if (!this.#isFresh) this.#push([{ position, bytes: encoder.encode(heartbeatText(idOf())) }]);
    this.#isFresh = false;
  }

  #forget(from: ObjectKey): void {
    this.#partBytes -= this.#parts.get(from)!.bytes.length;
    this.#parts.delete(from);
  }

  #push(batches: readonly Batch[]): void {
    if (batches.length === 0) return;
    this.#isFresh = true;
    const before = this.#ring.bytes;
    this.#ring.push(batches);
    this.#budget.keep(this, this.#ring.bytes - before);
    for (const stream of this.streams) stream.write();
  }

  /** Returns the changes to selected objects, each with its id, or the last one with `lastId`. */
  #batchesOf(changes: readonly FeedChange[], idOf: IdOf, lastId?: string): Batch[] {
    const selected = changes.flatMap((change) => {
      const event = this.#eventOf(change);
      return event === undefined ? [] : [{ change, event }];
    });
    return selected.map(({ change, event: [name, json] }, index) => {
      const id = index === selected.length - 1 ? lastId ?? idOf(change) : idOf(change);
      return { position: change.position, bytes: encoder.encode(eventText(name, json, id)) };
    });
  }

  #eventOf(change: FeedChange): readonly [keyof RelayEvents, string] | undefined {
    if ("state" in change) return ["state", change.state];
    const before = change.before?.object;
    const after = change.after?.object;
    const was = before !== undefined && this.selection.matches(before);
    if (after !== undefined && this.selection.matches(after)) {
      return [was ? "updated" : "added", this.selection.json(after, change.texts)];
    }
    return was ? ["deleted", JSON.stringify({ key: change.key, uid: change.uid })] : undefined;
  }
}
