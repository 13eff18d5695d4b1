import { nextTurn } from "../../async/next_turn.ts";
import { eventText } from "../format/event_text.ts";
import type { EndData } from "../format/relay_events.ts";
import { EventBody } from "../http/event_body.ts";
import type { Channel, ChannelReader } from "./channel.ts";

/** The place at which the changes of a stream begin. */
export interface StreamBeginning {
  /** The position in the feed behind which they begin. */
  readonly position: number;
  /** The events that precede the objects, as text. @default {none: the stream is resumed, and no objects come first} */
  readonly prelude?: string;
}

/** Options of a {@linkcode ClientStream}. */
export interface ClientStreamOptions {
  /** The events that come first, as text. */
  readonly prelude: string;
  /** The position behind which the stream reads until it begins: the cache has not synced, so there are no objects yet. */
  readonly position: number;
  /** Returns the beginning, once the cache has synced. */
  readonly begin: () => StreamBeginning | undefined;
  /** Writes the changes so far to the channel, and returns the position behind them, and the id of that. */
  readonly here: () => { readonly position: number; readonly id: () => string | undefined };
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

const encoder = new TextEncoder();

/**
 * The events of a channel for one client.
 *
 * It keeps no bytes of its own: it has a position, and writes what is behind it when the client asks for more. A client that has
 * fallen behind what the channel keeps is disconnected with the reason `slow`.
 *
 * A snapshot is the present objects, part by part, and each part comes behind the changes so far: so no old state is kept for a client,
 * and the client has the state of the cache when the last part was written. Changes between parts have no ids, at which a stream without
 * the other parts would be resumed.
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

  /** Returns what comes next: `undefined` if there is nothing, and no bytes if it has to be looked for in a later turn. */
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
