/**
 * A response that is written as events come, for one client.
 *
 * {@linkcode StreamedResponse} is the entry point. It writes when its client has read, and buffers nothing. Its
 * subclasses say what comes next: events, views, watches of the Kubernetes API.
 *
 * @module
 */
import { encoder } from "../../engine/api/object.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { LongTimer, monotonicMs } from "../../engine/async/time.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { Access } from "./access.ts";
import { ANSWER_HEADERS } from "./answers.ts";
import { type EndData, eventText } from "./format.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { RelaySettings } from "./options.ts";

/** The headers of event streams: a browser that kept them would hold their connections. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  ...ANSWER_HEADERS,
  "cache-control": "no-store",
  "content-type": "text/event-stream",
  "x-accel-buffering": "no", // proxies are asked not to collect what comes slowly
};

/** The shortest time until `authorize` is asked again about a stream, in milliseconds. */
const MIN_AGAIN_MS = 1_000;

/** The time that a client has to read why its stream ends, in milliseconds. */
const GRACE_MS = 5_000;

/**
 * The events for one client. It buffers nothing: it writes when its client has read what was written before.
 *
 * It lasts as long as its request.
 */
export abstract class StreamedResponse {
  /** The body of the response. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #open: OpenRequest;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** `true` if and only if the client has read everything that was written. */
  #hasRead = false;
  /** The time of the last write, by the monotonic clock. */
  #wroteAt: number = monotonicMs();
  /** `true` while a write is being made, or waits for a later turn. */
  #isPaused = false;
  #isOver = false;
  readonly #expiry = new LongTimer(() => this.end("expired"));
  readonly #grace = new LongTimer(() => this.#controller.error(new Error("The client does not read the response")));
  readonly #review = new LongTimer(() => void this.#askAgain().catch((cause) => this.fail(cause)));
  /** The access that was granted last. */
  #access: Access = {};

  /** Begins when the body is first read. */
  constructor(open: OpenRequest) {
    this.#open = open;
    this.body = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): void => {
        this.#hasRead = true;
        if (this.#isOver) this.#close();
        else this.write();
      },
      cancel: (): void => this.#stop(),
    }, { highWaterMark: 0 });
  }

  /** Writes what there is, if the client is reading. */
  write(): void {
    if (!this.isReading || this.#isPaused) return;
    this.#isPaused = true; // what is next may flush a feed, which writes to this stream too
    let bytes: ReturnType<StreamedResponse["next"]>;
    try {
      bytes = this.next();
    } catch (cause) {
      return this.fail(cause);
    }
    this.#isPaused = bytes?.length === 0;
    if (this.#isPaused) {
      void nextTurn().then(() => {
        this.#isPaused = false;
        this.write();
      });
    } else if (bytes !== undefined) this.#send(bytes);
  }

  /**
   * Returns what comes next: `undefined` if there is nothing, and no bytes if it has to be looked for in a later turn.
   */
  protected abstract next(): Uint8Array<ArrayBuffer> | undefined;

  /** Called once, when nothing more is written: the stream was ended, or the client has gone. */
  protected abstract finish(): void;

  /** Shows from now on what `access` grants. */
  protected abstract change(access: Access): void;

  /** `true` once nothing more is written but the reason. */
  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** `true` if the client has read everything that was written, and may be written more. */
  protected get isReading(): boolean {
    return this.#hasRead && !this.#isOver;
  }

  /** The time since the last write, in milliseconds. */
  protected get idleTimeoutMs(): number {
    return monotonicMs() - this.#wroteAt;
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    this.#hasRead = false;
    this.#wroteAt = monotonicMs();
    this.#controller.enqueue(bytes);
  }

  /** Ends the stream if the client has not read for `stallMs` what there is to read. */
  check({ stallMs }: Pick<RelaySettings, "stallMs" | "heartbeatMs">): void {
    if (!this.#hasRead && this.idleTimeoutMs > stallMs) this.end("slow");
  }

  /** The time at which it ends. */
  get expiresAt(): Date | undefined {
    return this.#access.expiresAt;
  }

  /** Ends, with the reason `expired` as its last event, and asks again, at the times of `access`, which it shows. */
  follow(access: Access): void {
    this.#expiry[Symbol.dispose]();
    this.#review[Symbol.dispose]();
    this.#access = access;
    if (this.#isOver) return;
    const { expiresAt, askAgainAt } = access;
    if (expiresAt !== undefined) this.#expiry.arm(expiresAt.getTime() - Date.now());
    if (askAgainAt !== undefined) this.#review.arm(Math.max(MIN_AGAIN_MS, askAgainAt.getTime() - Date.now()));
  }

  /** Ends the stream. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    if (this.#isOver) return;
    const bytes = this.lastBytes(reason);
    this.#stop();
    if (bytes !== undefined) this.#send(bytes);
    else if (this.#hasRead) return this.#close();
    this.#grace.arm(GRACE_MS);
  }

  /** Returns what is written last, with the reason why it ends; `undefined` for nothing. */
  protected lastBytes(reason: EndData["reason"]): Uint8Array<ArrayBuffer> | undefined {
    return encoder.encode(eventText("end", JSON.stringify({ reason })));
  }

  /** Returns the answer to its request, to which `access` was granted. */
  response(access: Access, headers: Readonly<Record<string, string>> = STREAM_HEADERS): Response {
    this.#open.keep();
    this.follow(access);
    return new Response(this.body, { headers });
  }

  /** Reports an error of this stream, and breaks the body. */
  fail(cause: unknown): void {
    this.#open.report(new InformerError("Cannot continue a stream, so it was closed", { cause }));
    this.break();
  }

  /** Breaks the body, which has no next bytes, and gives back what the stream holds. */
  break(): void {
    this.#stop();
    this.#controller.error(new Error("The relay failed; its log has the reason"));
  }

  /** Closes the body, whose client has read everything. */
  #close(): void {
    this.#grace[Symbol.dispose]();
    this.#controller.close();
  }

  async #askAgain(): Promise<void> {
    const access = this.#access;
    const next = await access.again!();
    if (this.#isOver || this.#access !== access) return;
    if (next instanceof Response) {
      void next.body?.cancel().catch(() => {}); // the stream has its answer already
      return this.end("expired");
    }
    this.change(next);
    this.follow(next);
  }

  #stop(): void {
    this.#expiry[Symbol.dispose]();
    this.#review[Symbol.dispose]();
    this.#grace[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      this.finish();
    } catch (cause) {
      this.#open.report(new InformerError("Cannot release the resources of a stream", { cause }));
    }
    this.#open.leave();
  }
}
