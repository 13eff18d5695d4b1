/**
 * Faults of requests, responses and watch events.
 *
 * {@linkcode Faults} holds those armed for requests, and `LineFaults` those armed for the events of one watch. This folder
 * only stores faults and applies them to bodies and lines. The public methods that arm them are in `FaultVerbs`.
 *
 * @module
 */
import type { Status } from "../../api/status.ts";
import type { RecordedRequest } from "../http/recorded_request.ts";
import { PlainRefusal, refusalOf } from "../http/refusal.ts";
import type { ByteBody } from "../wire/byte_body.ts";
import { ArmedList, type RequestFilter } from "./armed_list.ts";
import { BrokenConnection } from "./broken_connection.ts";

/** The failure of a request: a Status of which missing fields are filled in. */
export interface RequestFailure extends Partial<Status> {
  /** Answers with this plain text instead of a Status, as priority and fairness does with 429. */
  readonly text?: string;
}

/** Runs when a matching request arrives; the request waits for it. */
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
  readonly #waiting = new Set<(error: Error) => void>();

  /** Fails the next `times` requests that match the filter. */
  fail(failure: number | RequestFailure, times: number, filter?: RequestFilter): void {
    const { text, ...status } = typeof failure === "number" ? { code: failure } as RequestFailure : failure;
    const error = (): Error =>
      text === undefined ? refusalOf(status) : new PlainRefusal(status.code ?? 500, text, status.retryAfterSeconds);
    this.instead.arm(() => fail(error()), times, filter);
  }

  /** Breaks the connection of the next `times` requests that match the filter. */
  break(times: number, filter?: RequestFilter): void {
    this.instead.arm(() => fail(new BrokenConnection()), times, filter);
  }

  /** Waits for the latency, unless the signal aborts or the connection breaks first. */
  async delay(signal: AbortSignal | undefined): Promise<void> {
    if (this.latencyMs <= 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const aborted = (): void => reject(signal!.reason);
    const timer = setTimeout(resolve, this.latencyMs);
    signal?.addEventListener("abort", aborted, { once: true });
    this.#waiting.add(reject);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      this.#waiting.delete(reject);
    }
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
    for (const reject of this.#waiting) reject(new BrokenConnection());
    for (const reference of [...this.#open]) reference.deref()?.break(new BrokenConnection());
    this.#open.clear();
  }
}

function fail(error: Error): never {
  throw error;
}
