import type { ObjectKey } from "../../api/key.ts";
import { eventText, heartbeatText } from "../format/event_text.ts";
import type { EndData, RelayEvents } from "../format/relay_events.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import type { ShownObject } from "../objects/shown_object.ts";
import { type Batch, ByteRing } from "./byte_ring.ts";
import { Snapshot } from "./snapshot.ts";

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

/** A snapshot is used again while the changes behind it have fewer bytes. */
const REPLAYED = 64 * 1024;

const encoder = new TextEncoder();

/** The changes of one selection as bytes, made once, and shared by all streams that ask for it. */
export class Channel {
  /** A digest of the cluster, the collection and the selection, for tokens. */
  readonly scope: string;
  readonly #selection: ObjectSelection;
  readonly #ring: ByteRing;
  /** The open streams. */
  readonly streams: Set<ChannelReader> = new Set();
  /** The last snapshot, while a stream reads it. */
  #snapshot: WeakRef<Snapshot> | undefined;
  /** `true` if and only if something was written since the last heartbeat. */
  #isFresh = false;

  /** A channel that keeps `ringBytes` of the changes behind `position`. */
  constructor(selection: ObjectSelection, scope: string, position: number, ringBytes: number) {
    this.#selection = selection;
    this.scope = scope;
    this.#ring = new ByteRing(ringBytes, position);
  }

  /** The number of bytes that are kept. */
  get bytes(): number {
    return this.#ring.bytes;
  }

  /** Drops the oldest batch, of which there is one, and returns its length. */
  shrink(): number {
    return this.#ring.drop();
  }

  /** Returns `true` if everything behind `position` can be read. */
  has(position: number): boolean {
    return position >= this.#ring.base;
  }

  /** Returns what is behind `position`; `undefined` if that is nothing. */
  after(position: number): Batch | undefined {
    return this.#ring.after(position);
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

  /** Returns a snapshot: the last one, while the ring has what followed and that is little, else a new one. */
  snapshot(objects: ReadonlyMap<ObjectKey, ShownObject>, position: number, id: string): Snapshot {
    const last = this.#snapshot?.deref();
    if (last !== undefined && this.has(last.position) && this.#ring.bytesAfter(last.position) < REPLAYED) return last;
    const snapshot = new Snapshot(objects, this.#selection, { position, id });
    this.#snapshot = new WeakRef(snapshot);
    return snapshot;
  }

  #push(position: number, text: string): void {
    this.#isFresh = true;
    this.#ring.push(position, encoder.encode(text));
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
