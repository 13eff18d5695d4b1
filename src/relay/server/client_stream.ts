/**
 * One client's event stream: it resumes, reads a snapshot in parts, and follows the changes.
 *
 * {@linkcode ClientStream} is the entry point. `event_feed.ts` decides where it begins. It keeps a position and no
 * bytes.
 *
 * @module
 */
import { encoder, type ObjectKey } from "../../engine/api/object.ts";
import type { Access } from "./access.ts";
import type { Batch } from "./byte_ring.ts";
import type { EventFeed, MixedChanges } from "./event_feed.ts";
import { eventText, withId } from "./format.ts";
import type { ObjectSelection } from "./objects.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { SelectionEvents } from "./selection_events.ts";
import { StreamedResponse } from "./streamed_response.ts";

/** A request for a stream. */
interface StreamRequest {
  /** The request, which lasts as long as the stream. */
  readonly open: OpenRequest;
  /** Returns the objects that it asks for, and may see by `access`. */
  readonly selectionFor: (access: Access) => ObjectSelection;
  /** The token to resume at; `undefined` without one. */
  readonly lastEventId: string | undefined;
}

/**
 * The events of a channel for one client.
 *
 * It keeps no bytes of its own: it has a position, and writes the later events when the client asks for more. If the
 * events after the position are no longer kept, it disconnects the client with the reason `slow`.
 *
 * A snapshot is the present objects, part by part, and each part follows the changes so far. So no old state is kept
 * for a client, and after the last part the client has the state of the cache. Changes between parts have no ids,
 * because a stream that resumed there would lack the other parts.
 */
export class ClientStream extends StreamedResponse {
  readonly #feed: EventFeed;
  readonly #use: Disposable;
  readonly #selectionFor: StreamRequest["selectionFor"];
  #channel: SelectionEvents;
  #lastEventId: string | undefined;
  /** Until the stream has begun, it reads nothing: the cache has not synced, so there are no objects yet. */
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  #hasBegun = false;
  /** `true` while the client has newer changes than the cache; nothing is written meanwhile. */
  #isBehind = false;
  /** `true` once it has waited for the cache. */
  #hasWaited = false;
  /** Set until it has read the changes of which its client has some. */
  #mixed: MixedChanges | undefined;
  /** Aborts with the end. */
  readonly #job = new AbortController();
  /** The key from which on the next part of the snapshot is; `undefined` unless a snapshot is being read. */
  #from: ObjectKey | undefined;
  /** The number of objects of its parts so far. */
  #objects = 0;

  /** Opens a stream of what `access` grants. The feed writes to it from now on. */
  constructor(feed: EventFeed, { open, lastEventId, selectionFor }: StreamRequest, access: Access) {
    super(open);
    feed.flush();
    this.#feed = feed;
    this.#use = feed.cache.use();
    this.#channel = feed.channelOf(selectionFor(access));
    this.#selectionFor = selectionFor;
    this.#lastEventId = lastEventId;
    this.#prelude = feed.prelude;
    this.#position = feed.position;
    this.#channel.streams.add(this);
  }

  protected override finish(): void {
    this.#job.abort();
    this.#endParts();
    this.#channel.streams.delete(this);
    this.#use[Symbol.dispose]();
  }

  protected override change(access: Access): void {
    const next = this.#selectionFor(access);
    if (next.id === this.#channel.selection.id) return;
    this.#endParts();
    this.#channel.streams.delete(this);
    if (this.#hasBegun) this.#lastEventId = this.#feed.idFor(this.#channel); // it is reset, as its scope differs
    this.#hasBegun = false;
    this.#channel = this.#feed.channelOf(next);
    this.#channel.streams.add(this);
    this.write();
  }

  protected override next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#prelude === undefined) this.#tryToBegin();
    if (this.#prelude !== undefined) {
      const text = this.#prelude;
      this.#prelude = undefined;
      return encoder.encode(text);
    }
    if (this.#isBehind) return undefined;
    if (this.#from !== undefined) return this.#nextOfSnapshot(this.#from);
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#mixed === undefined ? this.#channel.after(this.#position) : this.#nextOf(this.#mixed);
    if (batch === undefined) return undefined;
    this.#position = batch.position;
    return batch.bytes;
  }

  /** Returns the next change that the client does not have, with an id that says which others it has. */
  #nextOf({ to, ids }: MixedChanges): Batch | undefined {
    while (this.#position < to) {
      const batch = this.#channel.next(this.#position);
      if (batch === undefined || batch.position > to) break;
      const id = ids.get(batch.position);
      if (id !== undefined) return { ...batch, bytes: withId(batch.bytes, id) };
      this.#position = batch.position;
    }
    this.#position = Math.max(this.#position, to);
    this.#mixed = undefined;
    return this.#channel.after(this.#position);
  }

  #nextOfSnapshot(from: ObjectKey): Uint8Array<ArrayBuffer> | undefined {
    this.#feed.flush();
    const { position } = this.#feed;
    if (!this.#channel.has(this.#position)) return void this.end("slow");
    const batch = this.#channel.next(this.#position);
    if (batch !== undefined) {
      this.#position = batch.position;
      return batch.bytes;
    }
    this.#position = position;
    const part = this.#channel.part(from);
    if (part === undefined) {
      this.#endParts();
      return encoder.encode(
        eventText("synced", JSON.stringify({ objects: this.#objects }), this.#feed.idFor(this.#channel)),
      );
    }
    this.#from = part.to;
    this.#objects += part.objects;
    return part.bytes;
  }

  /** Waits for the cache, and ends if the cache does not get what the client has. */
  async #catchUp(lastEventId: string): Promise<void> {
    this.#isBehind = true;
    const isCurrent = await this.#feed.catchUp(lastEventId, this.#job.signal);
    if (this.isOver) return;
    if (!isCurrent) return this.end("behind");
    this.#isBehind = false;
    this.#hasWaited = true;
    this.write();
  }

  #endParts(): void {
    if (this.#from === undefined) return;
    this.#from = undefined;
    this.#channel.endParts();
  }

  #tryToBegin(): void {
    if (this.#hasBegun || this.#isBehind) return;
    const beginning = this.#feed.begin(this.#channel, this.#lastEventId, this.#hasWaited);
    if (beginning === undefined) return;
    if (beginning === "behind") return void this.#catchUp(this.#lastEventId!);
    this.#hasBegun = true;
    this.#position = beginning.position;
    this.#mixed = beginning.mixed;
    this.#prelude = beginning.prelude;
    if (beginning.prelude === undefined) return;
    this.#from = "";
    this.#objects = 0;
    this.#channel.beginParts();
  }
}
