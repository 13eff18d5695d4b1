import { LongTimer } from "../../async/time/long_timer.ts";
import { STREAM_HEADERS } from "./answer_headers.ts";
import type { OpenRequest } from "./open_requests.ts";

/** A stream of events that may end by time. */
export interface ExpiringStream {
  /** The body of the answer. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Ends the stream, with the reason as its last event. */
  end(reason: "expired"): void;
}

/** Options of {@linkcode streamResponse}. */
export interface StreamResponseOptions {
  /** The request, which lasts as long as the stream. */
  readonly open: OpenRequest;
  /** The time at which the stream ends; `undefined` if it does not. */
  readonly expiresAt: Date | undefined;
}

/** Returns the response to a request for the stream that `begin` returns, which calls `onEnd` once, when it has ended. */
export function streamResponse(
  begin: (onEnd: () => void) => ExpiringStream,
  { open, expiresAt }: StreamResponseOptions,
): Response {
  const expiry = new LongTimer(() => stream.end("expired"));
  const stream = begin(() => {
    expiry[Symbol.dispose]();
    open.leave();
  });
  open.keep();
  if (expiresAt !== undefined) expiry.arm(expiresAt.getTime() - Date.now());
  return new Response(stream.body, { headers: STREAM_HEADERS });
}
