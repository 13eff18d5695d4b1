/**
 * Reads responses: errors, JSON, warnings, `Retry-After`, content types and encodings.
 *
 * {@linkcode statusErrorOf} creates the error for a failed request. This file reads no streams: `client/decode` does.
 *
 * @module
 */
import { decoder } from "../../api/object.ts";
import {
  type ApiStatus,
  DecodeError,
  ForeignServerError,
  StatusError,
  statusFrom,
  statusText,
} from "../../api/status.ts";
import { oneLine } from "../../errors/errors.ts";
import { ByteBuffer, chunksOf } from "../decode/body_reader.ts";

/** How many bytes are read from an error's body that is not JSON (the same as in client-go `rest/request.go`). */
const MAX_TEXT_BYTES = 2048;

/** How many bytes are read from an error's body that is JSON. A `Status` may list thousands of causes. */
const MAX_STATUS_BYTES = 1_048_576;

/**
 * Returns the error for a response with an error status. It reads the beginning of the body, and cancels the rest.
 *
 * The message comes from the `Status` in the body. If the body is not JSON, the message is its text on one line,
 * shortened to 2048 bytes. The `Retry-After` header overrides the delay in the `Status`.
 *
 * @param action The request in words that follow "Cannot".
 * @param method The request's method. If a POST is refused with 409 and no reason, the object exists.
 * @param resource The resource. An API server without it responds with 404 and no `Status`.
 */
export async function statusErrorOf(
  action: string,
  method: string,
  response: Response,
  resource?: string,
): Promise<StatusError> {
  const { text, failure } = await startOf(response, isJson(response) ? MAX_STATUS_BYTES : MAX_TEXT_BYTES);
  const status = statusOf(response, method, text, resource);
  const retryAfterMs = retryAfterMsOf(response.headers);
  return new StatusError(
    `Cannot ${action}: ${explain(status)}`,
    retryAfterMs === undefined ? status : { ...status, retryAfterSeconds: Math.ceil(retryAfterMs / 1000) },
    failure === undefined ? undefined : { cause: failure },
  );
}

/**
 * Returns the delay in the `Retry-After` header, in milliseconds, or `undefined` if there is none. API servers send
 * seconds, and proxies may send a date.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The resource name for Secrets in messages. */
const SECRETS = "secrets";

/** A JSON text, and its value. */
export interface JsonAnswer {
  /** The text, as the server sent it. */
  readonly text: string;
  /** The value, which belongs to the caller. */
  readonly value: unknown;
}

/**
 * Returns the JSON text and value in a response with a 2xx status. A body longer than `maxBytes` bytes is cancelled.
 *
 * @throws {DecodeError} if the body is not JSON, or is too long.
 * @throws {StatusError} if the body is a failure's `Status` (client-go `rest/request.go` checks this too).
 */
export async function readJsonResponse(
  { action, resource }: { readonly action: string; readonly resource?: string },
  server: URL,
  response: Response,
  maxBytes: number,
): Promise<JsonAnswer> {
  if (!mayBeJson(response)) await checkContentType(action, server, response);
  const text = await boundedText(response, maxBytes);
  if (text === undefined) {
    throw new DecodeError(
      `Cannot ${action}: the response is longer than ${maxBytes} bytes. Raise maxObjectBytes if your objects are that large`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // A Secret may have data in what is quoted, also by the error of the parser.
    const isQuoted = resource !== SECRETS;
    const found = isQuoted ? excerpt(text) : `${text.length} characters, which may have data of Secrets`;
    throw new ForeignServerError(
      `Cannot ${action}: the response is not JSON: ${found}. ${check(server)}`,
      isQuoted ? { cause } : {},
    );
  }
  if (isStatus(value) && value.status === "Failure") throw failureOf(action, statusFrom(value, response.status));
  return { text, value };
}

/** Returns the error for a request that was refused with this `Status`. */
export function failureOf(action: string, status: StatusError["status"]): StatusError {
  return new StatusError(`Cannot ${action}: ${explain(status)}`, status);
}

/** The content type of a body: JSON, or the plain text of a log. */
export type BodyType = "JSON" | "text";

/**
 * Checks that a response's content type is the expected one or missing. Otherwise it cancels the body.
 *
 * @throws {DecodeError} if there is another content type.
 */
export async function checkContentType(
  action: string,
  server: URL,
  response: Response,
  expected: BodyType = "JSON",
): Promise<void> {
  const type = response.headers.get("content-type");
  if (type === null || (expected === "JSON" ? mayBeJson(response) : /^text\/plain\s*(;|$)/i.test(type))) return;
  const { text, failure } = await startOf(response, 200);
  const begins = text === "" ? "" : ` (${excerpt(text)})`;
  throw new ForeignServerError(
    `Cannot ${action}: the response is "${type}" instead of ${expected}${begins}. ${check(server)}`,
    failure === undefined ? {} : { cause: failure },
  );
}

/**
 * Checks that a response has no content encoding except gzip and the encodings in `asked`. Otherwise it cancels the
 * body. A runtime decodes every encoding that it knows, even if the request did not ask for it. `null` means that the
 * runtime sets the header itself, as browsers do: then everything passes.
 *
 * @throws {DecodeError} if the server or a proxy used another encoding.
 */
export async function checkEncoding(action: string, response: Response, asked: string | null): Promise<void> {
  const encoding = response.headers.get("content-encoding") ?? "";
  const encodings = encoding.toLowerCase().split(",").map((name) => name.trim());
  const allowed = ["", "identity", "gzip", "x-gzip"];
  const other = encodings.find((name) => !allowed.includes(name) && !asked?.toLowerCase().includes(name));
  if (other === undefined || asked === null) return;
  await response.body?.cancel();
  throw new DecodeError(
    `Cannot ${action}: the response is encoded in "${other}", although the request accepts only "${asked}". Turn this ` +
      `encoding off in the server, or in the proxy in front of it`,
  );
}

/**
 * Checks that the response to a watch has no content encoding. Otherwise it cancels the body.
 *
 * @throws {DecodeError} if the server or a proxy has encoded it, because events would be lost (see `watchRequest`).
 */
export async function checkPlainResponse(action: string, response: Response): Promise<void> {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding === "identity") return;
  await response.body?.cancel();
  throw new DecodeError(
    `Cannot ${action}: the response is encoded in "${encoding}", although the request accepts no encoding. A runtime that ` +
      `decodes only its beginning would lose events. Turn compression off in the server, or in the proxy in front of it`,
  );
}

/** Returns true for an API server's `Status`. */
export function isStatus(value: unknown): value is { readonly kind: "Status"; readonly status?: unknown } {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status" &&
    String((value as { apiVersion?: unknown }).apiVersion ?? "v1") === "v1";
}

function statusOf(response: Response, method: string, text: string, resource: string | undefined): ApiStatus {
  const code = response.status;
  if (text.trimStart().startsWith("{")) {
    try {
      const value: unknown = JSON.parse(text);
      if (isStatus(value)) return statusFrom(value, code);
      // Such as the list of paths that a server without the core group has for "/api".
      return statusFrom({ message: `the response is not a Status: ${excerpt(text)}` }, code);
    } catch (error) {
      // Not JSON, or cut off: its text is the message.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const location = response.headers.get("location");
  const target = location === null ? "" : ` to "${location}"`;
  // Browsers hide the status of a redirect that is not followed, and show only its type.
  const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
  const message = isRedirect
    ? `the server redirects${target}, which the client does not follow. Check the server's address`
    : oneLine(text).slice(0, MAX_TEXT_BYTES);
  if (code === 404 && resource !== undefined && message === "404 page not found") {
    return statusFrom({
      message:
        `the server has no resource "${resource}". Check whether its CustomResourceDefinition or APIService is installed`,
    }, code);
  }
  const reason = code === 409 && method === "POST" ? "AlreadyExists" : undefined;
  return statusFrom({ message, reason }, code);
}

function explain(status: ApiStatus): string {
  const hint = ". The server does not accept these credentials. Log in again, or renew the token";
  return `${statusText(status)}${status.code === 401 ? hint : ""}`;
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

function isJson(response: Response): boolean {
  return JSON_TYPE.test(response.headers.get("content-type") ?? "");
}

/** Returns true if a response has the content type of JSON, or none. */
function mayBeJson(response: Response): boolean {
  return JSON_TYPE.test(response.headers.get("content-type") ?? "application/json");
}

function check(server: URL): string {
  return `Check that "${server.origin}" is an API server and not a proxy or a login page`;
}

function excerpt(text: string): string {
  const line = oneLine(text);
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
}

/** Returns a body as text. If it is longer than `maxBytes`, it returns `undefined` and cancels the rest. */
export async function boundedText(message: Response, maxBytes: number): Promise<string | undefined> {
  const { body, headers } = message;
  // A body of known length is read by one call, which costs a fifth of reading chunks.
  if (Number(headers.get("content-length") ?? NaN) <= maxBytes && headers.get("content-encoding") === null) {
    return await message.text();
  }
  const buffer = new ByteBuffer();
  if (body !== null) {
    for await (const chunk of chunksOf(body)) {
      if (buffer.length + chunk.length > maxBytes) return undefined;
      buffer.append(chunk, 0, chunk.length);
    }
  }
  return decoder.decode(buffer.bytes.subarray(0, buffer.length));
}

/**
 * Returns a body's first `maxBytes` bytes as text, and cancels the rest. It returns the body's error and does not throw
 * it.
 */
async function startOf(
  response: Response,
  maxBytes: number,
): Promise<{ readonly text: string; readonly failure?: unknown }> {
  if (response.body === null) return { text: "" };
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  let room = maxBytes;
  try {
    while (room > 0) {
      const { done, value } = await reader.read();
      if (done) return { text };
      // A character that the limit cuts in two is dropped.
      text += decoder.decode(value.subarray(0, room), { stream: true });
      room -= value.length;
    }
    await reader.cancel();
    return { text };
  } catch (failure) {
    return { text, failure };
  } finally {
    reader.releaseLock();
  }
}

/**
 * A warning value with the separator after it. The value is a code, an agent, a quoted text and perhaps a quoted date
 * (RFC 7234, 5.5).
 */
const VALUE = /\s*(\d{3})\s+([^\s",]+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?:,|$)/y;

/**
 * Returns the texts of the API server's warnings, which have code 299. Other codes concern caches on the way, and are
 * dropped. Text that is no warning value is returned unchanged, so that nothing is lost.
 */
export function warningsOf(headers: Headers): string[] {
  const header = headers.get("warning");
  if (header === null) return [];
  const texts: string[] = [];
  VALUE.lastIndex = 0;
  for (let at = 0; at < header.length; at = VALUE.lastIndex) {
    const match = VALUE.exec(header);
    if (match === null) {
      const rest = header.slice(at).trim();
      if (rest !== "") texts.push(fromLatin1(rest));
      break;
    }
    const [, code, , text] = match;
    if (code === "299") texts.push(fromLatin1(text.replace(/\\(.)/g, "$1")));
  }
  return texts;
}

/** Decodes the UTF-8 that the server writes. In `Headers`, each byte is a character. */
function fromLatin1(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (char) => char.charCodeAt(0)));
  } catch (error) {
    if (error instanceof TypeError) return text; // Latin-1 indeed
    throw error;
  }
}
