/**
 * HTTP requests and responses of the fake server, apart from resources.
 *
 * The functions `answer…` build responses; {@linkcode AccessControl} authenticates and authorizes. How requests that
 * read are parsed, and which errors a server answers, is in `protocol`. This folder does not read or write objects.
 *
 * @module
 */

import { StatusError } from "../../api/status.ts";
import { ByteBody } from "../wire/byte_body.ts";
import { goJson } from "../wire/json.ts";
import { PlainRefusal, refusal, statusJson } from "../../protocol/refusal.ts";

/** A request that is being answered, and settings of its response. */
export interface RequestContext {
  /** The HTTP request. */
  readonly request: Request;
  /** Its parsed URL. */
  readonly url: URL;
  /** Errors the body with its reason; undefined over a network, where the client cancels the body instead. */
  readonly signal: AbortSignal | undefined;
  /** Maximum bytes per chunk of the response. */
  readonly chunkBytes: number;
  /** Called with the body of the response before any of it is read. */
  readonly sending: (body: ByteBody) => void;
  /**
   * Returns the milliseconds between the initial events of a streaming list; `undefined` sends them at once. Call it
   * once per watch.
   */
  readonly spreadMs: () => number | undefined;
}

/** Media type of Kubernetes' protobuf: an envelope with the kind, around the message of that kind. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LINE_FEED = encoder.encode("\n");

/** Answers with JSON. */
export function answerJson(context: RequestContext, value: unknown, code = 200): Response {
  return answerBytes(context, [encoder.encode(goJson(value))], code);
}

/** Answers with JSON in pieces, which are produced while the client reads. */
export function answerBytes(context: RequestContext, pieces: Iterable<Uint8Array>, code = 200): Response {
  return respond(context, bodyOf(context, wantsPretty(context) ? indent(pieces) : withLineFeed(pieces)), code);
}

/** Answers a watch. */
export function answerStream(context: RequestContext, body: ByteBody): Response {
  context.sending(body);
  if (context.signal !== undefined) body.follow(context.signal);
  return respond(context, body, 200);
}

/** Answers with plain text. */
export function answerText(text: string, code = 200, headers: Record<string, string> = {}): Response {
  return new Response(text, {
    status: code,
    headers: {
      "cache-control": "no-cache, private",
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** Answers with an error: a Status or plain text. Rethrows errors of other classes. */
export function answerError(context: RequestContext, error: unknown): Response {
  if (error instanceof PlainRefusal) {
    return answerText(
      `${error.message}\n`,
      error.code,
      error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) },
    );
  }
  if (!(error instanceof StatusError)) throw error;
  const response = answerJson(context, statusJson(error.status), error.status.code);
  const { retryAfterSeconds } = error.status;
  if (retryAfterSeconds !== undefined) response.headers.set("retry-after", String(retryAfterSeconds));
  if (error.status.code === 403) response.headers.set("x-content-type-options", "nosniff");
  return response;
}

function respond(
  context: RequestContext,
  body: ByteBody,
  status: number,
  contentType: string = "application/json",
): Response {
  const headers = { "cache-control": "no-cache, private", "content-type": contentType };
  const headless = context.request.method === "HEAD";
  if (headless) body.break(new DOMException("The body of a HEAD request is not read", "AbortError"));
  return new Response(headless ? null : body.stream, { status, headers });
}

function bodyOf(context: RequestContext, pieces: Iterable<Uint8Array>): ByteBody {
  const iterator = pieces[Symbol.iterator]();
  const body = new ByteBody({
    chunkBytes: context.chunkBytes,
    refill: (body) => {
      while (body.queued < context.chunkBytes) {
        const { done, value } = iterator.next();
        if (done) return body.end();
        body.push(value);
      }
    },
  });
  context.sending(body);
  if (context.signal !== undefined) body.followRead(context.signal);
  return body;
}

/** Go's encoder ends with a line feed, except when it indents. */
function* withLineFeed(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield* pieces;
  yield LINE_FEED;
}

/** The server indents for these programs, and on request. */
function wantsPretty({ request, url }: RequestContext): boolean {
  const pretty = url.searchParams.get("pretty") ?? "";
  if (pretty !== "") return /^(1|t|true)$/i.test(pretty);
  return /^(Mozilla\/5\.0|curl|Wget)/.test(request.headers.get("user-agent") ?? "");
}

function* indent(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let text = "";
  for (const piece of pieces) text += decoder.decode(piece, { stream: true });
  yield encoder.encode(JSON.stringify(JSON.parse(text), null, 2));
}

/** Returns the media type of a `Content-Type` header without parameters; JSON if there is none. */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "application/json").split(";")[0].trim().toLowerCase();
}

/**
 * Requires a body of JSON, or of protobuf for built-in kinds.
 *
 * @throws {StatusError} 415 for another media type.
 */
export function requireReadable(contentType: string | null, custom: boolean): void {
  const type = mediaTypeOf(contentType);
  if (type === "application/json" || (type === PROTOBUF && !custom)) return;
  throw unsupportedMediaType(["application/json", ...(custom ? [] : [PROTOBUF])]);
}

/** 415: the media type of the body is not supported. */
export function unsupportedMediaType(accepted: readonly string[]): Error {
  return refusal(
    415,
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}
