import { causesOf, messageOf } from "../../errors/error_line.ts";

/** Codes of Node's `fetch` (undici) for a connection that broke before an answer. */
const CODES = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

/** The same as texts, by which Deno (hyper, h2) and client-go (`IsProbableEOF`, `IsConnectionReset`) know them. */
const TEXT =
  /connection reset|broken (?:pipe|connection)|connection closed before message completed|unexpected eof|unexpected end of file|other side closed|goaway|http2: client connection lost/i;

/**
 * Returns true for a request whose connection broke before an answer, as an idle connection does that the server has closed.
 * A refused connection and a failed handshake are none: another attempt would fail too.
 */
export function isReset(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const { code } = (cause ?? {}) as { readonly code?: unknown };
    return (typeof code === "string" && CODES.includes(code)) || TEXT.test(messageOf(cause));
  });
}
