import { StatusError } from "../../api/errors.ts";
import { ByteBody } from "../wire/byte_body.ts";
import { goJson } from "../wire/json.ts";
import { PlainRefusal, statusJson } from "./refusal.ts";

/** A request on its way through the fake. */
export interface RequestContext {
  /** What came. */
  readonly request: Request;
  /** Its address, parsed. */
  readonly url: URL;
  /** Ends the body with its reason; absent when a network stands between, where a cancelled body says so. */
  readonly signal: AbortSignal | undefined;
  /** Most bytes to a chunk of the answer. */
  readonly chunkBytes: number;
  /** Is told of the body of the answer before any of it is read. */
  readonly sending: (body: ByteBody) => void;
  /** Milliseconds between the initial events of a streaming list; `undefined`: all at once. To be asked once. */
  readonly spreadMs: () => number | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LINE_FEED = encoder.encode("\n");

/** An answer in JSON. */
export function answerJson(context: RequestContext, value: unknown, code = 200): Response {
  return answerBytes(context, [encoder.encode(goJson(value))], code);
}

/** An answer whose JSON is there in pieces, which are taken as the reader reads. */
export function answerBytes(context: RequestContext, pieces: Iterable<Uint8Array>, code = 200): Response {
  return respond(context, bodyOf(context, wantsPretty(context) ? indent(pieces) : withLineFeed(pieces)), code);
}

/** The answer to a watch. */
export function answerStream(context: RequestContext, body: ByteBody): Response {
  context.sending(body);
  if (context.signal !== undefined) body.follow(context.signal);
  return respond(context, body, 200);
}

/** A plain text. */
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

/** What the server says of an error: its Status, or a text; an error of another kind is thrown on. */
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

function respond(context: RequestContext, body: ByteBody, status: number): Response {
  const headers = { "cache-control": "no-cache, private", "content-type": "application/json" };
  const headless = context.request.method === "HEAD";
  if (headless) body.break(new DOMException("Nobody reads the body of a HEAD request", "AbortError"));
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
  if (context.signal !== undefined) body.follow(context.signal);
  return body;
}

/** Go's encoder ends with a line feed, except where it indents. */
function* withLineFeed(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield* pieces;
  yield LINE_FEED;
}

/** The server indents for people: these programs, and whoever asks for it. */
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
