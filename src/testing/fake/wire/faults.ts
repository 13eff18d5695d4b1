/**
 * Faults of requests, responses and watch events.
 *
 * {@linkcode Faults} holds those armed for requests, and `LineFaults` those armed for the events of one watch. This
 * folder only stores faults and applies them to bodies and lines. The public methods that arm them are in `FaultVerbs`.
 *
 * @module
 */

import { encoder } from "../../../engine/api/object.ts";
import type { ApiStatus } from "../../../engine/api/status.ts";
import { DerivedController } from "../../../engine/async/signals.ts";
import { sleep } from "../../../engine/async/time.ts";
import { checkCounts } from "../../../engine/errors/checks.ts";
import type { ByteBody } from "./byte_body.ts";
import type { RecordedRequest } from "./exchange.ts";

/** Selects the requests that a fault applies to. */
export type RequestFilter = (request: RecordedRequest) => boolean;

interface Armed<T, Request> {
  readonly filter: ((request: Request) => boolean) | undefined;
  readonly value: T;
  left: number;
}

/** A list of values that are armed for future requests. */
export class ArmedList<T, Request = RecordedRequest> {
  readonly #armed: Armed<T, Request>[] = [];

  /** Arms `value` for the next `times` requests that match the filter. Returns a function that disarms what is left. */
  arm(value: T, times: number, filter?: (request: Request) => boolean): () => void {
    checkCounts("arm a fault", { times }, { min: 1, infinite: true });
    const armed: Armed<T, Request> = { filter, value, left: times };
    this.#armed.push(armed);
    return () => this.#remove(armed);
  }

  /** Returns the value for a request and uses it up; if several match, the one armed first. */
  take(request: Request): T | undefined {
    const armed = this.#armed.find(({ filter }) => filter === undefined || filter(request));
    if (armed === undefined) return undefined;
    if (--armed.left <= 0) this.#remove(armed);
    return armed.value;
  }

  /** Disarms all values. */
  clear(): void {
    this.#armed.length = 0;
  }

  #remove(armed: Armed<T, Request>): void {
    const place = this.#armed.indexOf(armed);
    if (place >= 0) this.#armed.splice(place, 1);
  }
}

/** The error of a request whose connection breaks before a response. */
export class BrokenConnection extends TypeError {
  /** `"BrokenConnection"`. */
  override readonly name = "BrokenConnection";

  /** Uses a message close to that of `fetch`. */
  constructor() {
    super("Connection reset by the fake API server");
  }
}

/** A request's failure: a Status, whose missing fields are filled in. */
export interface RequestFailure extends Partial<ApiStatus> {
  /** Responds with this plain text instead of a Status, like priority and fairness does with 429. */
  readonly text?: string;
}

/** Called when a matching request arrives. The request waits for it. */
export type RequestHook = (request: RecordedRequest) => void | Promise<void>;

/** Changes the body of a response before any of it is read. */
export type BodyFault = (body: ByteBody) => void;

/** The faults on the way of requests and responses: those armed for a request, latency and clock skew. */
export class Faults {
  /** Responses to send instead; the function may throw. */
  readonly instead: ArmedList<() => Response> = new ArmedList();
  /** Hooks to call before a request is answered. */
  readonly before: ArmedList<RequestHook> = new ArmedList();
  /** Hooks to call after a request is answered and before the response is read. */
  readonly after: ArmedList<RequestHook> = new ArmedList();
  /** Faults of response bodies. */
  readonly bodies: ArmedList<BodyFault> = new ArmedList();
  /** Responses to compress. */
  readonly gzip: ArmedList<true> = new ArmedList();
  /** Milliseconds between the initial events of streaming lists. */
  readonly spread: ArmedList<number> = new ArmedList();
  /** Delay of each response, in milliseconds. */
  latencyMs = 0;
  /** Milliseconds that the server's clock is ahead. */
  skewMs = 0;
  readonly #open = new Set<WeakRef<ByteBody>>();
  /** Ends the latency of waiting requests. */
  #breaking = new AbortController();

  /** Fails the next `times` requests that match the filter. */
  fail(error: () => Error, times: number, filter?: RequestFilter): void {
    const refuse = (): never => {
      throw error();
    };
    this.instead.arm(refuse, times, filter);
  }

  /** Disarms what no request has met. */
  disarm(): void {
    for (const list of [this.instead, this.before, this.after, this.bodies, this.gzip, this.spread]) list.clear();
  }

  /** Waits for the latency, unless the signal aborts or the connection breaks first. */
  async delay(signal: AbortSignal | undefined): Promise<void> {
    if (this.latencyMs <= 0) return;
    using stop = new DerivedController(signal, this.#breaking.signal);
    await sleep(this.latencyMs, stop);
  }

  /** Registers a body that is being sent, for {@linkcode breakAll}. */
  sending(body: ByteBody): void {
    // Weak: a response that is never read to its end must not be retained.
    const reference = new WeakRef(body);
    this.#open.add(reference);
    body.whenClosed(() => this.#open.delete(reference));
  }

  /** Breaks all connections: waiting requests and open responses. */
  breakAll(): void {
    this.#breaking.abort(new BrokenConnection());
    this.#breaking = new AbortController();
    for (const reference of [...this.#open]) reference.deref()?.break(new BrokenConnection());
    this.#open.clear();
  }
}

type Chunk = Uint8Array<ArrayBuffer>;

/** Returns a response whose chunks are changed on their way; `change` is also called at the end, without a chunk. */
export function changedResponse(
  response: Response,
  change: (chunk: Chunk | undefined) => Promise<Chunk | undefined>,
): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Chunk>({
    pull: async (controller): Promise<void> => {
      const chunk = await change((await reader.read()).value);
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: (reason): Promise<void> => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return new Response(body, response);
}

/**
 * Compresses a response as a proxy may: each chunk is a gzip member, so that a reader that stops after the first
 * member misses the rest.
 */
export function gzipResponse(response: Response): Response {
  if (response.body === null) return response;
  const compressed = changedResponse(response, async (chunk) => chunk && await member(chunk));
  compressed.headers.set("content-encoding", "gzip");
  compressed.headers.set("vary", "Accept-Encoding");
  return compressed;
}

async function member(bytes: Chunk): Promise<Chunk> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Fault of one event of a watch.
 *
 * - `"line"`: half of the line arrives, then the watch ends.
 * - `"character"`: the line arrives in two chunks, split inside a character; applies to the next event with a
 *   multi-byte character.
 * - `"duplicate"`: the event arrives twice.
 * - `"reorder"`: the event arrives after the next event of another object, in one chunk with it.
 * - `"lose"`: the event does not arrive.
 * - `"corrupt"`: the line is not JSON from the start.
 * - `"corruptObject"`: the line begins correctly and lacks its end.
 */
export type LineFault = "line" | "character" | "duplicate" | "reorder" | "lose" | "corrupt" | "corruptObject";

/** The faults armed for the next events of one watch: each applies to one event, in the order of arming. */
export class LineFaults {
  readonly #armed = new Set<LineFault>();
  /** A line that is held back until an event of another object. */
  #held: { readonly key: string; readonly bytes: Uint8Array } | undefined;

  /** True if the next event passes unchanged. */
  get idle(): boolean {
    return this.#armed.size === 0 && this.#held === undefined;
  }

  /** Arms a fault for the next event. Arming it twice has no further effect. */
  arm(fault: LineFault): void {
    this.#armed.add(fault);
  }

  /** Sends a line, with the next fault applied; returns true if the watch must end. */
  send(sink: ByteBody, key: string, bytes: Uint8Array): boolean {
    const held = this.#held;
    if (held !== undefined && held.key !== key) {
      this.#held = undefined;
      sink.pushChunk(bytes, held.bytes);
      return false;
    }
    if (held !== undefined) {
      // Another event of the same object: keep both in order and hold back the newer one.
      sink.push(held.bytes);
      this.#held = { key, bytes };
      return false;
    }
    switch (this.#take(bytes)) {
      case undefined:
        sink.push(bytes);
        return false;
      case "lose":
        return false;
      case "line":
        sink.push(bytes.subarray(0, bytes.length >>> 1));
        return true;
      case "character":
        sink.cutAfter(insideCharacter(bytes));
        sink.push(bytes);
        return false;
      case "duplicate":
        sink.push(bytes, bytes);
        return false;
      case "reorder":
        this.#held = { key, bytes };
        return false;
      case "corrupt":
        sink.push(NOT_JSON, bytes);
        return false;
      case "corruptObject":
        sink.push(bytes.subarray(0, -CLOSING.length), LINE_FEED);
        return false;
    }
  }

  /** Sends the line that is held back, before something that must follow it. */
  flush(sink: ByteBody): void {
    if (this.#held !== undefined) sink.push(this.#held.bytes);
    this.#held = undefined;
  }

  #take(bytes: Uint8Array): LineFault | undefined {
    for (const fault of this.#armed) {
      if (fault === "character" && insideCharacter(bytes) === 0) continue;
      this.#armed.delete(fault);
      return fault;
    }
  }
}

const NOT_JSON = encoder.encode("}");
const LINE_FEED = encoder.encode("\n");
/** The end of each line: the closing braces of object and event, and the line feed. */
const CLOSING = "}}\n";

/** Returns the offset after the first byte of the first multi-byte character; 0 if there is none. */
function insideCharacter(bytes: Uint8Array): number {
  return bytes.findIndex((byte) => byte >= 0xc0) + 1;
}
