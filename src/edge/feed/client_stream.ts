import { nextTurn } from "../../async/next_turn.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { eventText } from "../format/event_text.ts";
import type { EndData } from "../format/relay_events.ts";
import type { Channel, ChannelReader } from "./channel.ts";
import type { Snapshot } from "./snapshot.ts";

/** The time that a client has to read why its stream ends, in milliseconds. */
const GRACE_MS = 5_000;

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
  /** The body of the response. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #channel: Channel;
  readonly #onEnd: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #position: number;
  /** Set until it was written. */
  #prelude: string | undefined;
  /** Set until the stream has begun. */
  #begin: ClientStreamOptions["begin"] | undefined;
  /** Set while it is read. */
  #snapshot: Snapshot | undefined;
  /** The next part of the snapshot. */
  #part = 0;
  /** `true` if and only if the client has read everything that was written. */
  #isReading = false;
  /** `true` if and only if the next part of the snapshot waits for a later turn. */
  #isPaused = false;
  /** The time of the last write, by the monotonic clock. */
  #wroteAt: number = monotonicMs();
  #isOver = false;
  readonly #grace = new LongTimer(() => this.#controller.error(new Error("The client does not read")));

  /** Begins when the body is first read; from now on the channel writes to it. */
  constructor(channel: Channel, { prelude, position, begin, onEnd }: ClientStreamOptions) {
    this.#channel = channel;
    this.#prelude = prelude;
    this.#position = position;
    this.#begin = begin;
    this.#onEnd = onEnd;
    this.body = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): void => {
        this.#isReading = true;
        if (this.#isOver) this.#close();
        else this.write();
      },
      cancel: (): void => this.#stop(),
    }, { highWaterMark: 0 });
    channel.streams.add(this);
  }

  /** Writes what there is, if the client is reading. */
  write(): void {
    if (!this.#isReading || this.#isPaused || this.#isOver) return;
    const bytes = this.#next();
    if (bytes !== undefined) this.#enqueue(bytes);
  }

  /** Ends the stream if the client has not read for `ms` what there is to read. */
  check(ms: number): void {
    if (!this.#isReading && monotonicMs() - this.#wroteAt > ms) this.end("slow");
  }

  /** Ends the stream. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    if (this.#isOver) return;
    this.#stop();
    this.#enqueue(encoder.encode(eventText("end", JSON.stringify({ reason }))));
    this.#grace.arm(GRACE_MS);
  }

  /** Closes the body, whose reader has read everything. */
  #close(): void {
    this.#grace[Symbol.dispose]();
    this.#controller.close();
  }

  #stop(): void {
    this.#grace[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#snapshot = this.#begin = undefined;
    this.#channel.streams.delete(this);
    this.#onEnd();
  }

  #enqueue(bytes: Uint8Array<ArrayBuffer>): void {
    this.#isReading = false;
    this.#wroteAt = monotonicMs();
    this.#controller.enqueue(bytes);
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
