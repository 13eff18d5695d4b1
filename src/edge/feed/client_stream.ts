import { nextTurn } from "../../async/next_turn.ts";
import type { EndData } from "../format/relay_events.ts";
import { EventBody } from "../http/event_body.ts";
import type { Channel, ChannelReader } from "./channel.ts";
import type { Snapshot } from "./snapshot.ts";

/** The place at which the changes of a stream begin. */
export interface StreamBeginning {
  /** The position in the feed behind which they begin. */
  readonly position: number;
  /** The events that precede the snapshot, as text. */
  readonly prelude?: string;
  /** The snapshot of that position. @default {none: the stream is resumed} */
  readonly snapshot?: Snapshot;
}

/** Options of a {@linkcode ClientStream}. */
export interface ClientStreamOptions {
  /** The events that come first, as text. */
  readonly prelude: string;
  /** The position behind which the stream reads until it begins: the cache has not synced, so there are no objects yet. */
  readonly position: number;
  /** Returns the beginning, once the cache has synced. */
  readonly begin: () => StreamBeginning | undefined;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

const encoder = new TextEncoder();

/**
 * The events of a channel for one client.
 *
 * It keeps no bytes of its own: it has a position, and writes what is behind it when the client asks for more. A client that has
 * fallen behind what the channel keeps is disconnected with the reason `slow`.
 */
export class ClientStream implements ChannelReader {
  readonly #channel: Channel;
  readonly #body: EventBody;
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  /** Set until the stream has begun. */
  #begin: ClientStreamOptions["begin"] | undefined;
  /** Set while it is read. */
  #snapshot: Snapshot | undefined;
  /** The next part of the snapshot. */
  #part = 0;
  /** `true` if and only if the next part of the snapshot waits for a later turn. */
  #isPaused = false;

  /** Begins when the body is first read; from now on the channel writes to it. */
  constructor(channel: Channel, { prelude, position, begin, onEnd }: ClientStreamOptions) {
    this.#channel = channel;
    this.#prelude = prelude;
    this.#position = position;
    this.#begin = begin;
    this.#body = new EventBody({
      onRead: () => this.write(),
      onEnd: () => {
        this.#snapshot = this.#begin = undefined;
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
    const bytes = this.#next();
    if (bytes !== undefined) this.#body.write(bytes);
  }

  /** Ends the stream if the client has not read for `ms` what there is to read. */
  check(ms: number): void {
    this.#body.check(ms);
  }

  /** Ends the stream. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    this.#body.end(reason);
  }

  #next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#prelude === undefined) this.#tryToBegin();
    if (this.#prelude !== undefined) {
      const text = this.#prelude;
      this.#prelude = undefined;
      return encoder.encode(text);
    }
    if (!this.#channel.has(this.#position)) {
      this.end("slow");
      return undefined;
    }
    if (this.#snapshot !== undefined) {
      const bytes = this.#snapshot.part(this.#part++);
      if (bytes !== undefined && bytes.length > 0) return bytes;
      if (bytes !== undefined) {
        this.#isPaused = true;
        void nextTurn().then(() => {
          this.#isPaused = false;
          this.write();
        });
        return undefined;
      }
      this.#snapshot = undefined;
    }
    const batch = this.#channel.after(this.#position);
    if (batch === undefined) return undefined;
    this.#position = batch.position;
    return batch.bytes;
  }

  #tryToBegin(): void {
    const beginning = this.#begin?.();
    if (beginning === undefined) return;
    this.#begin = undefined;
    this.#position = beginning.position;
    this.#prelude = beginning.prelude;
    this.#snapshot = beginning.snapshot;
  }
}
