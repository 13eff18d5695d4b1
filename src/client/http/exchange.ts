import { DecodeError, StatusError, UnreachableError } from "../../api/errors.ts";
import type { DerivedController } from "../../async/derived_controller.ts";

/** Statuses that a `Response` must not have a body for. */
const NULL_BODY = [101, 103, 204, 205, 304];

/** A request that the server has accepted, and its answer, until the body is done with. Disposing it frees the connection. */
export class Exchange implements Disposable {
  /** What was asked, to follow "Cannot". */
  readonly action: string;
  /** The answer; its body has not been touched. */
  readonly response: Response;
  /** Where it was asked. */
  readonly server: URL;
  readonly #controller: DerivedController;

  /** Takes over `controller`, whose signal the request was sent with. */
  constructor(action: string, server: URL, response: Response, controller: DerivedController) {
    this.action = action;
    this.server = server;
    this.response = response;
    this.#controller = controller;
  }

  /** The signal that the request was sent with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What something thrown while the body was read means to a caller: the abort's reason, or a lost connection. */
  explain(error: unknown): unknown {
    if (this.#controller.signal.aborted) return this.#controller.signal.reason;
    if (isNamed(error)) return error;
    return new UnreachableError(
      `Cannot reach "${this.server.origin}" any more: the answer broke off when asked to ${this.action}: ${
        reasonOf(error)
      }`,
      { cause: error },
    );
  }

  /** The answer for somebody else to read: the exchange ends when its body is read to the end, cancelled or broken. */
  detach(): Response {
    const { body, status, statusText, headers } = this.response;
    if (body === null || NULL_BODY.includes(status)) {
      this[Symbol.dispose]();
      return new Response(null, { status, statusText, headers });
    }
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller): Promise<void> => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          this[Symbol.dispose]();
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

  /** Ends the request if it has not ended, and lets go of the caller's signal. */
  [Symbol.dispose](): void {
    this.#controller[Symbol.dispose]();
  }
}

/** Whether an error says already what is the matter. */
export function isNamed(error: unknown): error is StatusError | DecodeError | UnreachableError {
  return error instanceof StatusError || error instanceof DecodeError || error instanceof UnreachableError;
}

/** What a failed `fetch` says, and what it says was the matter behind that. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const behind = error.cause instanceof Error ? reasonOf(error.cause) : "";
  // The address is told already.
  const own = error.message.replace(/^error sending request for url \([^)]*\): /, "");
  return behind === "" || own.includes(behind) ? own : `${own}: ${behind}`;
}
