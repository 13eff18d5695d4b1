import { STREAM_HEADERS } from "./answer_headers.ts";
import type { OpenRequest } from "./open_requests.ts";

/** A stream of events that may end by time. */
export interface ExpiringStream {
  /** The body of the answer. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Ends the stream at a time, with the reason `expired` as its last event; `undefined` is never. */
  expireAt(at: Date | undefined): void;
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
  const stream = begin(() => open.leave());
  open.keep();
  stream.expireAt(expiresAt);
  return new Response(stream.body, { headers: STREAM_HEADERS });
}
