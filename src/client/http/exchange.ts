import { DecodeError, StatusError, UnreachableError } from "../../api/errors.ts";
import { errorLine } from "../../errors/error_line.ts";

/** Statuses with which a `Response` must not have a body. */
const NULL_BODY = [101, 103, 204, 205, 304];

/** A request that has been sent, and can be ended. Only the first call of `abort` or `end` has an effect. */
export interface PendingRequest {
  /** Aborts with the caller's signal, with the client, and by `abort()`. */
  readonly signal: AbortSignal;
  /** Aborts the request, and lets go of it. */
  abort(): void;
  /** Lets go of a request that has ended. */
  end(): void;
}

/** A request that the server has accepted, and its answer, until the body has been read. Disposing it frees the connection. */
export class Exchange implements Disposable {
  /** The request in words that follow "Cannot" in messages. */
  readonly action: string;
  /** The answer, whose body has not been read yet. */
  readonly response: Response;
  /** The address of the server. */
  readonly server: URL;
  readonly #request: PendingRequest;

  /** Takes over `request`, which has been answered. */
  constructor(action: string, server: URL, response: Response, request: PendingRequest) {
    this.action = action;
    this.server = server;
    this.response = response;
    this.#request = request;
  }

  /** The error for the caller after `error` was thrown by the body: the reason of an abort, or an `UnreachableError`. */
  explain(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal.aborted) return signal.reason;
    if (isKnownError(error)) return error;
    return unreachableError(
      `Cannot reach "${this.server.origin}" any more: the answer broke off when asked to ${this.action}`,
      error,
    );
  }

  /** The answer as a `Response`. The exchange ends when its body has been read, is cancelled or fails. */
  detach(): Response {
    const { body, status, statusText, headers } = this.response;
    if (body === null || NULL_BODY.includes(status)) {
      this.finish();
      return new Response(null, { status, statusText, headers });
    }
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller): Promise<void> => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          this.finish();
        } catch (error) {
          const explained = this.explain(error);
          this[Symbol.dispose]();
          throw explained;
        }
      },
      cancel: async (reason): Promise<void> => {
        try {
          await reader.cancel(reason);
        } finally {
          this[Symbol.dispose]();
        }
      },
    }, { highWaterMark: 0 });
    return new Response(stream, { status, statusText, headers });
  }

  /** Lets go of the request, whose body has been read to its end or cancelled. It is not aborted, which would cost more. */
  finish(): void {
    this.#request.end();
  }

  /** Ends the request, and removes its listener from the caller's signal. Does nothing after {@linkcode finish}. */
  [Symbol.dispose](): void {
    this.#request.abort();
  }
}

/** True for the errors of this package that say already what failed. */
export function isKnownError(error: unknown): error is StatusError | DecodeError | UnreachableError {
  return error instanceof StatusError || error instanceof DecodeError || error instanceof UnreachableError;
}

/**
 * The error about a request or body that failed with `error`, whose message becomes part of this one's. A `TypeError`, by which
 * `fetch` reports every failure of the network, has nothing else to say, and is not kept as the cause.
 */
export function unreachableError(message: string, error: unknown): UnreachableError {
  // The address is in our own message.
  const reason = errorLine(error).replace(/^fetch failed: /, "").replace(
    /^error sending request(?: from \S+)? for (?:url )?\S+(?: \([^)]*\))?: /,
    "",
  );
  return new UnreachableError(`${message}: ${reason}`, error instanceof TypeError ? {} : { cause: error });
}
