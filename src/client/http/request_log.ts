import { DecodeError, StatusError } from "../../api/status.ts";
import { defined } from "../../api/options.ts";
import { callObserver } from "../../async/signals.ts";
import { monotonicMs } from "../../async/time.ts";
import { errorLine, REDACTED, redactSecrets } from "../../errors/errors.ts";

/**
 * A step of a request, for the option `onRequest` of clients. It has no credentials and no bodies: the URL, headers and
 * errors are redacted, and messages of refusals, which may quote an object, are left out.
 */
export interface RequestReport {
  /**
   * - `"sent"`: it is passed to the transport.
   * - `"answered"`: the answer has begun.
   * - `"ended"`: the answer was read, was left or broke off; or there was none.
   */
  readonly step: "sent" | "answered" | "ended";
  /** `"GET"`. */
  readonly method: string;
  /** The address, with what looks like a secret replaced by `[redacted]`. */
  readonly url: string;
  /** The headers of the request, where it is sent, and of the answer, where that has begun. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The status of the answer, if there is one. */
  readonly status?: number;
  /** The time since it was sent, in milliseconds. */
  readonly ms: number;
  /** The bytes of the answer's body that have come, uncompressed. */
  readonly bytes: number;
  /** The failure, unless the server has refused the request. */
  readonly error?: string;
  /** The reason for which it is sent again, and when. */
  readonly retry?: string;
}

/** Names of headers with credentials. */
const SECRET_HEADER = /auth|cookie|token|secret|key|credential|passw/i;

function redactedHeaders(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADER.test(name) ? REDACTED : redactSecrets(value)]),
  );
}

/** Reports a request of a client, each time that it is sent. */
export class RequestReporter {
  readonly #onRequest: (report: RequestReport) => void;
  /** The attempt under way; `undefined` before the first and after the last has ended. */
  #attempt: { readonly method: string; readonly url: string; status?: number; bytes: number } | undefined;
  #sentAtMs = 0;

  /** Reports to `onRequest`, whose errors are uncaught ones. */
  constructor(onRequest: (report: RequestReport) => void) {
    this.#onRequest = onRequest;
  }

  /** An attempt begins. */
  sent(request: Request): void {
    this.#attempt = { method: request.method, url: redactSecrets(request.url), bytes: 0 };
    this.#sentAtMs = monotonicMs();
    this.#report({ step: "sent", headers: redactedHeaders(request.headers) });
  }

  /** The answer has begun. Returns it, with a body that counts its bytes. */
  answered(response: Response): Response {
    const attempt = this.#attempt!;
    const { status, statusText, headers, body } = response;
    attempt.status = status;
    this.#report({ step: "answered", headers: redactedHeaders(headers) });
    if (body === null) return response;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        attempt.bytes += chunk.length;
        controller.enqueue(chunk);
      },
    });
    return new Response(body.pipeThrough(counter), { status, statusText, headers });
  }

  /** The attempt has ended. Does nothing if it has ended already. */
  ended(error?: unknown, retry?: string): void {
    if (this.#attempt === undefined) return;
    // An error of the decoder quotes the body.
    const text = error instanceof DecodeError ? error.name : redactSecrets(errorLine(error));
    const isFailure = error !== undefined && !(error instanceof StatusError);
    this.#report(defined({ step: "ended" as const, error: isFailure ? text : undefined, retry }));
    this.#attempt = undefined;
  }

  #report(step: Pick<RequestReport, "step" | "headers" | "error" | "retry">): void {
    const report = { ...this.#attempt!, ms: monotonicMs() - this.#sentAtMs, ...step };
    callObserver(() => this.#onRequest(report));
  }
}

/**
 * Returns a function for the option `onRequest` of clients and of `connect()`, which writes a line about each request
 * to `sink`. Nothing in a line is a secret: neither credentials nor bodies are in it, and what looks like a secret in a
 * URL is replaced by `[redacted]`.
 *
 * - A request is one line when its answer has been read, or it has failed: method, URL, status, time, uncompressed
 *   bytes, and the reason for which it is sent again. A watch is also a line when it begins.
 * - With `verbosity` 2 each request is also a line when it is sent and one when its answer begins, with the headers.
 *
 * @example
 * ```ts
 * import { Client, logRequests } from "@kube/informer";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * const onRequest = logRequests(console.error); // for connect() too
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), onRequest });
 * await client.discover(); // GET http://fake/api 200 in 2 ms, 5171 bytes
 * ```
 */
export function logRequests(
  sink: (line: string) => void,
  options: {
    /** The details of lines. @default {1} */
    readonly verbosity?: 1 | 2;
  } = {},
): (report: RequestReport) => void {
  const { verbosity = 1 } = options;
  return ({ step, method, url, headers = {}, status, ms, bytes, error, retry }) => {
    const isWatch = step === "answered" && /[?&]watch=(?:true|1)(?:&|$)/.test(url);
    if (step !== "ended" && verbosity < 2 && !isWatch) return;
    const detail = verbosity < 2 ? [] : Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const parts = step === "sent"
      ? ["sent"]
      : step === "answered"
      ? [`${status} after ${Math.round(ms)} ms`, ...(isWatch ? ["watching"] : [])]
      : [
        `${status ?? "no answer"} in ${Math.round(ms)} ms`,
        `${bytes} bytes`,
        ...[error, retry].filter((text) => text),
      ];
    sink([`${method} ${url} ${parts.join(", ")}`, ...detail].join("; "));
  };
}
