import type { ObjectKey } from "../api/object.ts";
import { type ObjectSelection, objectTexts, type ShownObject } from "./objects.ts";
import type { ByteBudget, Keeper } from "./byte_budget.ts";
import { type EndData, eventText, heartbeatText, type RelayEvents, withoutId } from "./format.ts";
import { nextTurn } from "../async/turns.ts";
import { EventBody } from "./http.ts";

/** A batch of changes. */
interface Batch {
  /** The position behind it. */
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

/** A block has an eighth of the ring's bytes, within these bounds; one that is made for a larger batch has that alone. */
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

  /** Adds a batch; `position` is above that of the last one. */
  push(position: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#read = undefined;
    let block = this.#blocks.at(-1);
    let start = block?.ends.at(-1) ?? 0;
    if (block === undefined || start + bytes.length > block.buffer.length) {
      const length = Math.max(bytes.length, Math.min(MAX_BLOCK, Math.max(MIN_BLOCK, this.#bytes >> 3)));
      const buffer = length === bytes.length ? bytes : new Uint8Array(length);
      block = { buffer, base: block?.positions.at(-1) ?? this.#base, positions: [], ends: [] };
      start = 0;
      this.#blocks.push(block);
      this.#bytes += length;
    }
    if (block.buffer !== bytes) block.buffer.set(bytes, start);
    block.positions.push(position);
    block.ends.push(start + bytes.length);
  }

  /** Drops the oldest batches, those of one block, of which there is one. */
  drop(): void {
    const { buffer, positions } = this.#blocks.shift()!;
    this.#bytes -= buffer.length;
    this.#base = positions.at(-1)!;
    this.#read = undefined;
  }

  /** Returns bytes behind `position`, up to the end of a block, and the position behind them; `undefined` if there are none. */
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

  /** Returns the first batch behind `position`. Readers are mostly at the end, so the search of its block begins there. */
  #find(position: number): { readonly block: Block; readonly index: number } | undefined {
    let at = this.#blocks.length - 1;
    while (at > 0 && this.#blocks[at]!.base > position) at--;
    const block = this.#blocks[at];
    if (block === undefined || block.positions.at(-1)! <= position) return undefined;
    let low = 0;
    let high = block.positions.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (block.positions[middle]! > position) high = middle;
      else low = middle + 1;
    }
    return { block, index: low };
  }
}

/**
 * The present objects of a collection in numbered slots, so that readers go through them in steps of their own while
 * they change, and no old version of an object is kept for a reader.
 */
export class ObjectSlots {
  /** The objects; `undefined` in a slot that is free. */
  readonly slots: (ShownObject | undefined)[] = [];
  readonly #slotOf = new Map<ObjectKey, number>();
  readonly #free: number[] = [];
  /** The count of changes with the last one of each slot. */
  readonly #changedAt: number[] = [];
  /** The number of changes so far. */
  #changes = 0;

  /** The number of objects. */
  get size(): number {
    return this.#slotOf.size;
  }

  /** The number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns `true` if no slot in this range has changed since so many changes. */
  isSame(from: number, to: number, changes: number): boolean {
    for (let slot = from; slot < to; slot++) if (this.#changedAt[slot] > changes) return false;
    return true;
  }

  /** Sets the object of a key, and returns the one before. */
  set(key: ObjectKey, object: ShownObject): ShownObject | undefined {
    const slot = this.#slotOf.get(key) ?? this.#free.pop() ?? this.slots.length;
    this.#slotOf.set(key, slot);
    return this.#put(slot, object);
  }

  /** Removes the object of a key, and returns it. */
  delete(key: ObjectKey): ShownObject | undefined {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return undefined;
    this.#slotOf.delete(key);
    this.#free.push(slot);
    return this.#put(slot, undefined);
  }

  #put(slot: number, object: ShownObject | undefined): ShownObject | undefined {
    const before = this.slots[slot];
    this.slots[slot] = object;
    this.#changedAt[slot] = ++this.#changes;
    return before;
  }
}

/** One change of a feed: of an object, from one state to another, or of the state of the informer. */
export type FeedChange =
  | {
    readonly key: ObjectKey;
    readonly uid: string;
    /** The state before; `undefined` of an object that is new. */
    readonly before: ShownObject | undefined;
    /** The state now; `undefined` of an object that was deleted. */
    readonly after: ShownObject | undefined;
  }
  | { readonly state: string };

/** A reader of a channel: a stream to a client. */
export interface ChannelReader {
  /** Writes what there is, if the client is reading. */
  write(): void;
  /** Ends the stream if the client has not read for `ms` what there is to read. */
  check(ms: number): void;
  /** Ends the stream. */
  end(reason: EndData["reason"]): void;
}

/** Some of the present objects, as events. */
interface ObjectsPart {
  /** The slot behind it. */
  readonly to: number;
  /** The number of objects. */
  readonly objects: number;
  /** Their events; none where no object is selected. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of changes of the objects before it was made. */
  readonly changes: number;
}

const encoder = new TextEncoder();

/**
 * The changes and the present objects of one selection as bytes, made once, and shared by all streams that ask for it.
 */
export class Channel implements Keeper, Disposable {
  /** A digest of the cluster, the collection and the selection, for tokens. */
  readonly scope: string;
  readonly #selection: ObjectSelection;
  readonly #ring: ByteRing;
  /** The open streams. */
  readonly streams: Set<ChannelReader> = new Set();
  readonly #objects: ObjectSlots;
  readonly #budget: ByteBudget;
  /** The parts that were made, by their first slot, while there is a reader of them. */
  readonly #parts = new Map<number, ObjectsPart>();
  #partBytes = 0;
  /** The number of streams that read parts. */
  #partReaders = 0;
  /** `true` if and only if something was written since the last heartbeat. */
  #isFresh = false;

  /** A channel that has the changes behind `position`, of which it keeps those for which `budget` has room. */
  constructor(
    selection: ObjectSelection,
    scope: string,
    { position, objects, budget }: { position: number; objects: ObjectSlots; budget: ByteBudget },
  ) {
    this.#selection = selection;
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

  /** Returns the present objects from a slot on; `undefined` behind the last one. */
  part(from: number): ObjectsPart | undefined {
    const { slots, changes } = this.#objects;
    if (from >= slots.length) return undefined;
    const known = this.#parts.get(from);
    if (known !== undefined && this.#objects.isSame(from, known.to, known.changes)) return known;
    const { texts, to } = objectTexts(slots, from, this.#selection);
    const bytes = encoder.encode(texts.map((text) => eventText("added", text)).join(""));
    const part = { to, objects: texts.length, bytes, changes };
    this.#parts.set(from, part);
    const more = bytes.length - (known?.bytes.length ?? 0);
    this.#partBytes += more;
    this.#budget.keep(this, more);
    return part;
  }

  /** Writes those of the changes that the selection has, as one batch that ends at `position`; `id` is its token. */
  write(changes: readonly FeedChange[], position: number, id: string | undefined): void {
    const events = changes.map((change) => this.#eventOf(change)).filter((event) => event !== undefined);
    if (events.length === 0) return;
    const last = events.length - 1;
    const texts = events.map(([name, json], index) => eventText(name, json, index === last ? id : undefined));
    this.#push(position, texts.join(""));
  }

  /** Writes a heartbeat, unless something was written since the last call. */
  beat(position: number, id: string | undefined): void {
    if (!this.#isFresh) this.#push(position, heartbeatText(id));
    this.#isFresh = false;
  }

  #forget(from: number): void {
    this.#partBytes -= this.#parts.get(from)!.bytes.length;
    this.#parts.delete(from);
  }

  #push(position: number, text: string): void {
    this.#isFresh = true;
    const before = this.#ring.bytes;
    this.#ring.push(position, encoder.encode(text));
    this.#budget.keep(this, this.#ring.bytes - before);
    for (const stream of this.streams) stream.write();
  }

  #eventOf(change: FeedChange): readonly [keyof RelayEvents, string] | undefined {
    if ("state" in change) return ["state", change.state];
    const before = change.before?.object;
    const after = change.after?.object;
    const was = before !== undefined && this.#selection.matches(before);
    if (after !== undefined && this.#selection.matches(after)) {
      return [was ? "updated" : "added", this.#selection.json(after)];
    }
    return was ? ["deleted", JSON.stringify({ key: change.key, uid: change.uid })] : undefined;
  }
}

/** The place at which the changes of a stream begin. */
export interface StreamBeginning {
  /** The position in the feed behind which they begin. */
  readonly position: number;
  /** The events that precede the objects, as text. @default {none: the stream is resumed, and no objects come first} */
  readonly prelude?: string;
}

/** Options of a {@linkcode ClientStream}. */
interface ClientStreamOptions {
  /** The events that come first, as text. */
  readonly prelude: string;
  /**
   * The position behind which the stream reads until it begins: the cache has not synced, so there are no objects yet.
   */
  readonly position: number;
  /** Returns the beginning, once the cache has synced. */
  readonly begin: () => StreamBeginning | undefined;
  /** Writes the changes so far to the channel, and returns the position behind them, and the id of that. */
  readonly here: () => { readonly position: number; readonly id: () => string | undefined };
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/**
 * The events of a channel for one client.
 *
 * It keeps no bytes of its own: it has a position, and writes what is behind it when the client asks for more. A client
 * that has fallen behind what the channel keeps is disconnected with the reason `slow`.
 *
 * A snapshot is the present objects, part by part, and each part comes behind the changes so far: so no old state is
 * kept for a client, and the client has the state of the cache when the last part was written. Changes between parts
 * have no ids, at which a stream without the other parts would be resumed.
 */
export class ClientStream implements ChannelReader {
  readonly #channel: Channel;
  readonly #body: EventBody;
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  /** Set until the stream has begun. */
  #begin: ClientStreamOptions["begin"] | undefined;
  readonly #here: ClientStreamOptions["here"];
  /** The slot at which the next part of the snapshot begins; `undefined` unless a snapshot is being read. */
  #slot: number | undefined;
  /** The number of objects of its parts so far. */
  #objects = 0;
  /** `true` while a write is being made, or waits for a later turn. */
  #isPaused = false;

  /** Begins when the body is first read; from now on the channel writes to it. */
  constructor(channel: Channel, { prelude, position, begin, here, onEnd }: ClientStreamOptions) {
    this.#channel = channel;
    this.#prelude = prelude;
    this.#position = position;
    this.#begin = begin;
    this.#here = here;
    this.#body = new EventBody({
      onRead: () => this.write(),
      onEnd: () => {
        this.#begin = undefined;
        this.#endParts();
        channel.streams.delete(this);
        onEnd();
      },
    });
    channel.streams.add(this);
  }

  /** The body of the response. */
  get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#body.stream;
  }

  /** Writes what there is, if the client is reading. */
  write(): void {
    if (!this.#body.isReading || this.#isPaused) return;
    this.#isPaused = true; // a flush writes to this stream too
    const bytes = this.#next();
    if (bytes?.length === 0) {
      void nextTurn().then(() => {
        this.#isPaused = false;
        this.write();
      });
      return;
    }
    this.#isPaused = false;
    if (bytes !== undefined) this.#body.write(bytes);
  }

  /** Ends the stream if the client has not read for `ms` what there is to read. */
  check(ms: number): void {
    this.#body.check(ms);
  }

  /** Ends the stream at a time; `undefined` is never. */
  expireAt(at: Date | undefined): void {
    this.#body.expireAt(at);
  }

  /** Ends the stream. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    this.#body.end(reason);
  }

  /**
   * Returns what comes next: `undefined` if there is nothing, and no bytes if it has to be looked for in a later turn.
   */
  #next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#prelude === undefined) this.#tryToBegin();
    if (this.#prelude !== undefined) {
      const text = this.#prelude;
      this.#prelude = undefined;
      return encoder.encode(text);
    }
    if (this.#slot !== undefined) return this.#nextOfSnapshot(this.#slot);
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#channel.after(this.#position);
    if (batch === undefined) return undefined;
    this.#position = batch.position;
    return batch.bytes;
  }

  #nextOfSnapshot(slot: number): Uint8Array<ArrayBuffer> | undefined {
    const { position, id } = this.#here();
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#channel.next(this.#position);
    if (batch !== undefined) {
      this.#position = batch.position;
      return batch.bytes;
    }
    this.#position = position;
    const part = this.#channel.part(slot);
    if (part === undefined) {
      this.#endParts();
      return encoder.encode(eventText("synced", JSON.stringify({ objects: this.#objects }), id()));
    }
    this.#slot = part.to;
    this.#objects += part.objects;
    return part.bytes;
  }

  #endParts(): void {
    if (this.#slot === undefined) return;
    this.#slot = undefined;
    this.#channel.endParts();
  }

  #tryToBegin(): void {
    const beginning = this.#begin?.();
    if (beginning === undefined) return;
    this.#begin = undefined;
    this.#position = beginning.position;
    this.#prelude = beginning.prelude;
    if (beginning.prelude === undefined) return;
    this.#slot = 0;
    this.#channel.beginParts();
  }
}
