/**
 * The changes and present objects of one selection as bytes, made once for all streams of it.
 *
 * {@linkcode Channel} is the entry point. A stream keeps a position in its ring and no bytes; it ends when the ring has
 * dropped the position. A snapshot is read in parts, so no old version is kept for a slow client. `feed.ts` brings the
 * changes.
 *
 * @module
 */
import { lowerBound } from "../../engine/api/lower_bound.ts";
import { encoder, type ObjectKey } from "../../engine/api/object.ts";
import { RankTree } from "../../engine/store/rank_tree.ts";
import type { ByteBudget, Evictable } from "./budget.ts";
import { eventText, heartbeatText, type RelayEvents, withoutId } from "./format.ts";
import { type ObjectSelection, objectTexts, PART_OBJECTS, type ShownObject } from "./objects.ts";
import type { RelayStream } from "./stream.ts";
import type { LoggedChange } from "./version_log.ts";

/** One change as an event, or several. */
export interface Batch {
  /** The position behind the last one. */
  readonly position: number;
  /** Its events. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Batches in one buffer. Bytes that were written to it never change, so that readers share it. */
interface Block {
  readonly buffer: Uint8Array<ArrayBuffer>;
  /** The position before its first batch. */
  readonly base: number;
  /** The positions of its batches. */
  readonly positions: number[];
  /** The offset behind each of its batches. */
  readonly ends: number[];
}

function newBlock(base: number, room: number): Block {
  return { buffer: new Uint8Array(room), base, positions: [], ends: [] };
}

function lengthOf(batches: readonly Batch[]): number {
  return batches.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Writes batches behind those of a block, which has room for them. */
function fill({ buffer, positions, ends }: Block, batches: readonly Batch[]): void {
  for (const { position, bytes } of batches) {
    const start = ends.at(-1) ?? 0;
    buffer.set(bytes, start);
    positions.push(position);
    ends.push(start + bytes.length);
  }
}

/**
 * A block has an eighth of the ring's bytes, within these bounds; one that is made for more has that alone.
 */
const MIN_BLOCK = 256;
const MAX_BLOCK = 64 * 1024;

/**
 * The last batches of changes, as bytes that all readers share.
 *
 * Batches stand one behind the other in blocks of up to 64 KiB: an array of its own costs a small batch four times its
 * bytes, and several batches in one block are read without a copy.
 */
export class ByteRing {
  /** In the order of their positions; there is a batch in each. */
  readonly #blocks: Block[] = [];
  #bytes = 0;
  #base: number;
  /** The last result of {@linkcode after}, and the position that it begins at; `undefined` since the last change. */
  #read: { readonly from: number; readonly batch: Batch } | undefined;

  /** A ring without batches, whose readers begin at `base` or later. */
  constructor(base: number) {
    this.#base = base;
  }

  /** The earliest position from which everything can be read. */
  get base(): number {
    return this.#base;
  }

  /** The number of bytes of its blocks, room for further batches included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds batches that come together, and are in one block; their positions rise, above those before. */
  push(batches: readonly Batch[]): void {
    this.#read = undefined;
    const length = lengthOf(batches);
    let block = this.#blocks.at(-1);
    if (block === undefined || block.ends.at(-1)! + length > block.buffer.length) {
      const room = Math.max(length, Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, this.#bytes >> 3)));
      block = newBlock(block?.positions.at(-1) ?? this.#base, room);
      this.#blocks.push(block);
      this.#bytes += room;
    }
    fill(block, batches);
  }

  /** Adds batches before all others, so that readers can begin at `base`. */
  prepend(base: number, batches: readonly Batch[]): void {
    this.#read = undefined;
    this.#base = base;
    if (batches.length === 0) return;
    const block = newBlock(base, lengthOf(batches));
    fill(block, batches);
    this.#blocks.unshift(block);
    this.#bytes += block.buffer.length;
  }

  /** Drops the oldest batches, those of one block, of which there is one. */
  drop(): void {
    const { buffer, positions } = this.#blocks.shift()!;
    this.#bytes -= buffer.length;
    this.#base = positions.at(-1)!;
    this.#read = undefined;
  }

  /**
   * Returns bytes behind `position`, up to the end of a block, and the position behind them; `undefined` if there are
   * none.
   */
  after(position: number): Batch | undefined {
    if (this.#read?.from === position) return this.#read.batch;
    const found = this.#find(position);
    if (found === undefined) return undefined;
    const { block, index } = found;
    const batch = this.#batch(block, index, block.positions.length - 1);
    this.#read = { from: position, batch };
    return batch;
  }

  /** Returns the first batch behind `position`; `undefined` if there is none. */
  next(position: number): Batch | undefined {
    const found = this.#find(position);
    return found && this.#batch(found.block, found.index, found.index);
  }

  #batch({ buffer, positions, ends }: Block, first: number, last: number): Batch {
    return { position: positions[last]!, bytes: buffer.subarray(ends[first - 1] ?? 0, ends[last]) };
  }

  /**
   * Returns the first batch behind `position`. Readers are mostly at the end, so the search of its block begins there.
   */
  #find(position: number): { readonly block: Block; readonly index: number } | undefined {
    let at = this.#blocks.length - 1;
    while (at > 0 && this.#blocks[at]!.base > position) at--;
    if (at >= 0 && this.#blocks[at].positions.at(-1)! <= position) at++;
    const block = this.#blocks[at];
    if (block === undefined) return undefined;
    return { block, index: lowerBound(block.positions.length, (at) => block.positions[at] <= position) };
  }
}

/** An object, and the count of changes with its last one. */
interface PresentObject {
  readonly key: ObjectKey;
  object: ShownObject;
  changedAt: number;
}

/**
 * The present objects of a collection in the order of their keys, so that readers go through them in steps of their own
 * while they change, and no old version of an object is kept for a reader. The order says nothing of objects that were
 * deleted, or that a reader may not see.
 */
export class PresentObjects {
  readonly #tree = new RankTree<{ readonly key: ObjectKey }>(({ key: a }, { key: b }) => a < b ? -1 : a > b ? 1 : 0);
  /** The number of changes so far. */
  #changes = 0;

  /** The number of objects. */
  get size(): number {
    return this.#tree.size;
  }

  /** The number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns the objects from a key on, `count` at most. */
  from(key: ObjectKey, count: number): ShownObject[] {
    return this.#slice(key, count).map(({ object }) => object);
  }

  /** Returns `true` if the objects from a key on that end before `to` are the `count` that they were `changes` ago. */
  isSame(from: ObjectKey, { to, count, changes }: Pick<ObjectsPart, "to" | "count" | "changes">): boolean {
    const found = this.#slice(from, count);
    if (found.length < count) return false; // one of the last objects is gone
    return found.at(-1)!.key < to && found.every(({ changedAt }) => changedAt <= changes);
  }

  /** Sets the object of a key, and returns the one before. */
  set(key: ObjectKey, object: ShownObject): ShownObject | undefined {
    const found = this.#find(key);
    const changedAt = ++this.#changes;
    const before = found?.object;
    if (found !== undefined) Object.assign(found, { object, changedAt });
    else {
      const added: PresentObject = { key, object, changedAt };
      this.#tree.add(added);
    }
    return before;
  }

  /** Removes the object of a key, and returns it. */
  delete(key: ObjectKey): ShownObject | undefined {
    const found = this.#find(key);
    if (found === undefined) return undefined;
    this.#changes++;
    this.#tree.delete(found);
    return found.object;
  }

  #slice(key: ObjectKey, count: number): PresentObject[] {
    const rank = this.#tree.rankOf({ key });
    return this.#tree.slice(rank, rank + count) as PresentObject[];
  }

  #find(key: ObjectKey): PresentObject | undefined {
    const found = this.#tree.at(this.#tree.rankOf({ key })) as PresentObject | undefined;
    return found?.key === key ? found : undefined;
  }
}

/** A change of an object, from one state to another. */
export interface PositionedChange extends LoggedChange {
  /** The position in the feed behind it. */
  readonly position: number;
  readonly key: ObjectKey;
  readonly uid: string;
  /** The state before; `undefined` of an object that is new. */
  readonly before: ShownObject | undefined;
  /** The state now; `undefined` of an object that was deleted. */
  readonly after: ShownObject | undefined;
  /** The texts of that state, by their fields, which channels share. */
  readonly texts: Map<string, string>;
}

/** One change of a feed: of an object, or of the state of the informer. */
export type FeedChange = PositionedChange | { readonly position: number; readonly state: string };

/** Returns the id behind a change; without one, that behind all changes so far. */
type IdOf = (change?: FeedChange) => string | undefined;

/** Some of the present objects, as events. */
interface ObjectsPart {
  /** The first key behind it that an object may have. */
  readonly to: ObjectKey;
  /** The number of objects that were looked at. */
  readonly count: number;
  /** The number of objects that are selected. */
  readonly objects: number;
  /** Their events; none where no object is selected. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of changes of the objects before it was made. */
  readonly changes: number;
}

/**
 * The changes and the present objects of one selection as bytes, made once, and shared by all streams that ask for it.
 */
export class Channel implements Evictable, Disposable {
  /** The selection of its objects. */
  readonly selection: ObjectSelection;
  /**
   * A hash of the cluster, the collection and the selection, for tokens, which are checked against mistakes by it:
   * nothing is shared, and no right is granted, because two hashes are equal.
   */
  readonly scope: string;
  readonly #ring: ByteRing;
  /** The open streams. */
  readonly streams: Set<RelayStream> = new Set();
  readonly #objects: PresentObjects;
  readonly #budget: ByteBudget;
  /** The parts that were made, by the keys that they begin at, while there is a reader of them. */
  readonly #parts = new Map<ObjectKey, ObjectsPart>();
  #partBytes = 0;
  /** The number of streams that read parts. */
  #partReaders = 0;
  /** `true` if and only if something was written since the last heartbeat. */
  #isFresh = false;

  /** A channel that has the changes behind `position`, of which it keeps those for which `budget` has room. */
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

  /** Returns `true` if everything behind `position` can be read. */
  has(position: number): boolean {
    return position >= this.#ring.base;
  }

  /** Returns what is behind `position`; `undefined` if that is nothing. */
  after(position: number): Batch | undefined {
    return this.#ring.after(position);
  }

  /** Returns the first batch behind `position`, without its id; `undefined` if there is none. */
  next(position: number): Batch | undefined {
    const batch = this.#ring.next(position);
    return batch && { position: batch.position, bytes: withoutId(batch.bytes) };
  }

  /** The earliest position from which everything can be read. */
  get base(): number {
    return this.#ring.base;
  }

  /** Adds changes before all others, the first behind `base`, so that streams can begin there. */
  extend(base: number, changes: readonly PositionedChange[], idOf: IdOf): void {
    const before = this.#ring.bytes;
    this.#ring.prepend(base, this.#batchesOf(changes, idOf));
    this.#budget.keep(this, this.#ring.bytes - before);
  }

  /** Counts a stream that begins to read parts. */
  beginParts(): void {
    this.#partReaders++;
  }

  /** Counts a stream no more that has read all parts, or has ended. */
  endParts(): void {
    if (--this.#partReaders > 0) return;
    this.#budget.keep(this, -this.#partBytes);
    this.#parts.clear();
    this.#partBytes = 0;
  }

  /** Returns the present objects from a key on; `undefined` behind the last one. */
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

  /** Writes those of the changes that the selection has. */
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

  /** Returns those of the changes that the selection has, each with its id, or the last one with `lastId`. */
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
