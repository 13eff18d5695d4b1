import type { Status } from "../../api/status.ts";
import type { RecordedRequest } from "../http/recorded_request.ts";
import { PlainRefusal, refusalOf } from "../http/refusal.ts";
import type { ByteBody } from "../wire/byte_body.ts";
import { ArmedList, type RequestFilter } from "./armed_list.ts";
import { BrokenConnection } from "./broken_connection.ts";

/** A failure to answer with: a status code, or a Status of which the rest is filled in. */
export interface RequestFailure extends Partial<Status> {
  /** Answers with this text instead of a Status, as priority and fairness does with 429. */
  readonly text?: string;
}

/** Something to do when a request comes by; the request waits for it. */
export type RequestHook = (request: RecordedRequest) => void | Promise<void>;

/** Does something to the body of an answer before any of it is read. */
export type BodyFault = (body: ByteBody) => void;

/** What goes wrong on the way to the server and back: faults that wait for their request, and slowness. */
export class Faults {
  /** What is answered instead; it throws where there is an error to throw. */
  readonly instead: ArmedList<() => Response> = new ArmedList();
  /** What is done before a request is answered. */
  readonly before: ArmedList<RequestHook> = new ArmedList();
  /** What is done when the answer has begun, and nothing of it is read. */
  readonly after: ArmedList<RequestHook> = new ArmedList();
  /** What happens to an answer's body. */
  readonly bodies: ArmedList<BodyFault> = new ArmedList();
  /** Which answers are compressed. */
  readonly gzip: ArmedList<true> = new ArmedList();
  /** Milliseconds between the initial events of streaming lists. */
  readonly spread: ArmedList<number> = new ArmedList();
  /** Milliseconds before each answer. */
  latencyMs = 0;
  /** How far ahead the server's clock is, in milliseconds. */
  skewMs = 0;
  readonly #open = new Set<WeakRef<ByteBody>>();
  readonly #waiting = new Set<(error: Error) => void>();

  /** The next `times` requests that the filter takes are refused. */
  fail(failure: number | RequestFailure, times: number, filter?: RequestFilter): void {
    const { text, ...status } = typeof failure === "number" ? { code: failure } as RequestFailure : failure;
    const error = (): Error =>
      text === undefined ? refusalOf(status) : new PlainRefusal(status.code ?? 500, text, status.retryAfterSeconds);
    this.instead.arm(() => fail(error()), times, filter);
  }

  /** The next `times` requests that the filter takes get no answer: the connection breaks. */
  break(times: number, filter?: RequestFilter): void {
    this.instead.arm(() => fail(new BrokenConnection()), times, filter);
  }

  /** Waits as long as answers take, unless the signal aborts or the connection breaks first. */
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

  /** Takes note of a body that is being sent, for {@linkcode breakAll}. */
  sending(body: ByteBody): void {
    // Weak: an answer that nobody reads to its end must not stay here for good.
    const reference = new WeakRef(body);
    this.#open.add(reference);
    body.whenClosed(() => this.#open.delete(reference));
  }

  /** Breaks all connections: those that wait for an answer, and those that are being answered. */
  breakAll(): void {
    for (const reject of this.#waiting) reject(new BrokenConnection());
    for (const reference of [...this.#open]) reference.deref()?.break(new BrokenConnection());
    this.#open.clear();
  }
}

function fail(error: Error): never {
  throw error;
}
