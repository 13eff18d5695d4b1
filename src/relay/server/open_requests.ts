/**
 * The requests that a relay is answering, counted up to `maxConnections`.
 *
 * {@linkcode OpenRequests} is the entry point. A request whose answer is a stream is open until the stream ends. This
 * file does not end streams.
 *
 * @module
 */
import type { RelaySettings } from "./options.ts";

/** A request that is being answered: until its disposal, or, if its answer is a stream, until that ends. */
export class OpenRequest implements Disposable {
  /** Receives the errors of its answer, if that is a stream. */
  readonly report: (error: Error) => void;
  readonly #onEnd: () => void;
  #isKept = false;
  #isOver = false;

  /** `onEnd` is called once. */
  constructor(onEnd: () => void, report: (error: Error) => void) {
    this.#onEnd = onEnd;
    this.report = report;
  }

  /** Lets the disposal end nothing: the answer is a stream, whose end calls {@linkcode leave}. */
  keep(): void {
    this.#isKept = true;
  }

  /** Ends the request, because nothing else is sent. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }

  /** Ends, unless the answer is a stream. */
  [Symbol.dispose](): void {
    if (!this.#isKept) this.leave();
  }
}

/** Counts the requests that are being answered, open streams included. */
export class OpenRequests {
  /** The largest number of them. */
  readonly limit: number;
  readonly #report: (error: Error) => void;
  #size = 0;

  /** None so far; `onError` receives the errors of streams. */
  constructor({ maxConnections, onError }: Pick<RelaySettings, "maxConnections" | "onError">) {
    this.limit = maxConnections;
    this.#report = onError;
  }

  /** The number of requests that are being answered. */
  get size(): number {
    return this.#size;
  }

  /** Counts a request until it is over; `undefined` where there are too many already. */
  admit(): OpenRequest | undefined {
    if (this.#size >= this.limit) return undefined;
    this.#size++;
    return new OpenRequest(() => this.#size--, this.#report);
  }
}
