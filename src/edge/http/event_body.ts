import { LongTimer } from "../../async/time/long_timer.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { eventText } from "../format/event_text.ts";
import type { EndData } from "../format/relay_events.ts";

/** The time that a client has to read why its stream ends, in milliseconds. */
const GRACE_MS = 5_000;

const encoder = new TextEncoder();

/** Options of an {@linkcode EventBody}. */
export interface EventBodyOptions {
  /** Called when the client has read everything that was written. */
  readonly onRead: () => void;
  /** Called once, when nothing more is written: it was ended, or the client has gone. */
  readonly onEnd: () => void;
}

/** The body of an event stream, which buffers nothing: it is written when its client has read what was written before. */
export class EventBody {
  /** The bytes of the response. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #onEnd: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** `true` if and only if the client has read everything that was written. */
  #hasRead = false;
  /** The time of the last write, by the monotonic clock. */
  #wroteAt: number = monotonicMs();
  #isOver = false;
  readonly #expiry = new LongTimer(() => this.end("expired"));
  readonly #grace = new LongTimer(() => this.#controller.error(new Error("The client does not read")));

  /** A body without bytes. */
  constructor({ onRead, onEnd }: EventBodyOptions) {
    this.#onEnd = onEnd;
    this.stream = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): void => {
        this.#hasRead = true;
        if (this.#isOver) this.#close();
        else onRead();
      },
      cancel: (): void => this.#stop(),
    }, { highWaterMark: 0 });
  }

  /** `true` if the client has read everything that was written, and may be written more. */
  get isReading(): boolean {
    return this.#hasRead && !this.#isOver;
  }

  /** The time since the last write, in milliseconds. */
  get idleMs(): number {
    return monotonicMs() - this.#wroteAt;
  }

  /** Writes bytes; {@linkcode isReading} is true. */
  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.#hasRead = false;
    this.#wroteAt = monotonicMs();
    this.#controller.enqueue(bytes);
  }

  /** Ends the body if the client has not read for `stallMs` what there is to read. */
  check(stallMs: number): void {
    if (!this.#hasRead && this.idleMs > stallMs) this.end("slow");
  }

  /** Ends the body at a time; `undefined` is never. */
  expireAt(at: Date | undefined): void {
    this.#expiry[Symbol.dispose]();
    if (at !== undefined && !this.#isOver) this.#expiry.arm(at.getTime() - Date.now());
  }

  /** Ends the body. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    if (this.#isOver) return;
    this.#stop();
    this.write(encoder.encode(eventText("end", JSON.stringify({ reason }))));
    this.#grace.arm(GRACE_MS);
  }

  /** Closes the body, whose client has read everything. */
  #close(): void {
    this.#grace[Symbol.dispose]();
    this.#controller.close();
  }

  #stop(): void {
    this.#expiry[Symbol.dispose]();
    this.#grace[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }
}
