import type { ObjectKey } from "../../api/key.ts";
import type { ByteBudget, Keeper } from "../budget/byte_budget.ts";
import { eventText, heartbeatText, withoutId } from "../format/event_text.ts";
import type { EndData, RelayEvents } from "../format/relay_events.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import { objectTexts } from "../objects/object_texts.ts";
import type { ShownObject } from "../objects/shown_object.ts";
import { type Batch, ByteRing } from "./byte_ring.ts";
import type { ObjectSlots } from "./object_slots.ts";

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
export interface ObjectsPart {
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

/** The changes and the present objects of one selection as bytes, made once, and shared by all streams that ask for it. */
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

  /** Drops the oldest part, which can be made again, or the oldest batch. */
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
    const bytes = encoder.encode(text);
    this.#ring.push(position, bytes);
    this.#budget.keep(this, bytes.length);
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
