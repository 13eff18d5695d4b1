import { DecodeError, StatusError } from "../../api/errors.ts";
import { type Status, statusFrom } from "../../api/status.ts";
import { ByteBuffer, chunksOf, utf8 } from "../decode/chunk_reader.ts";

/** How much is read of an error's body that is not JSON, in bytes (client-go `rest/request.go` keeps as much). */
const MAX_TEXT_BYTES = 2048;

/** How much is read of an error's body that is JSON: a `Status` may list thousands of causes. */
const MAX_STATUS_BYTES = 1_048_576;

/**
 * What a refusing answer means. Reads the body as far as it is of use, and cancels the rest.
 *
 * The explanation is the body where that is a `Status`, else its text, shortened to 2048 bytes and put on one line. How long
 * the server asks to be left alone comes from the `Retry-After` header, or from the `Status`.
 *
 * @param action What was asked, to follow "Cannot".
 * @param method The request's method: a refused POST that explains nothing but 409 means that the object exists already.
 */
export async function statusErrorOf(action: string, method: string, response: Response): Promise<StatusError> {
  const { text, failure } = await startOf(response, isJson(response) ? MAX_STATUS_BYTES : MAX_TEXT_BYTES);
  const status = statusOf(response, method, text);
  const retryAfterMs = retryAfterMsOf(response.headers);
  return new StatusError(
    `Cannot ${action}: ${explain(status)}`,
    retryAfterMs === undefined ? status : { ...status, retryAfterSeconds: Math.ceil(retryAfterMs / 1000) },
    failure === undefined ? undefined : { cause: failure },
  );
}

/**
 * How long the `Retry-After` header asks to wait, in milliseconds: it gives seconds (what API servers send) or a date (what
 * proxies may send). Undefined when it is missing or neither.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/**
 * The JSON value of an answer that was not refused, of at most `maxBytes` bytes; the rest of a longer one is cancelled.
 *
 * @throws {DecodeError} when it is not JSON, or longer.
 * @throws {StatusError} when it is a failure's `Status` all the same (client-go `rest/request.go` looks too).
 */
export async function jsonOf(action: string, server: URL, response: Response, maxBytes: number): Promise<unknown> {
  await checkJson(action, server, response);
  const text = await textOf(action, response, maxBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(`Cannot ${action}: the answer is not JSON: ${excerpt(text)}; ${check(server)}`, { cause });
  }
  if (isStatus(value) && value.status === "Failure") {
    const status = statusFrom(value, response.status);
    throw new StatusError(`Cannot ${action}: ${explain(status)}`, status);
  }
  return value;
}

/**
 * Makes sure that the body is worth reading as JSON; cancels it when not. A missing content type is no reason to refuse.
 *
 * @throws {DecodeError} when its content type says that it is something else.
 */
export async function checkJson(action: string, server: URL, response: Response): Promise<void> {
  if (response.headers.get("content-type") === null || isJson(response)) return;
  const type = response.headers.get("content-type");
  const { text, failure } = await startOf(response, 200);
  const begins = text === "" ? "" : ` (${excerpt(text)})`;
  throw new DecodeError(
    `Cannot ${action}: the answer is "${type}" and not JSON${begins}; ${check(server)}`,
    failure === undefined ? {} : { cause: failure },
  );
}

/**
 * Makes sure that a watch's body came as it was asked for, in no encoding; cancels it when not.
 *
 * @throws {DecodeError} when the server or a proxy has encoded it: events would get lost (see `watchRequest`).
 */
export async function checkPlain(action: string, response: Response): Promise<void> {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding === "identity") return;
  await response.body?.cancel();
  throw new DecodeError(
    `Cannot ${action}: the answer is encoded in "${encoding}" though none was allowed, and a runtime that decodes only its ` +
      `beginning would lose events; turn compression off in the server or the proxy in front of it`,
  );
}

/** Whether a value is an API server's `Status`. */
export function isStatus(value: unknown): value is { readonly kind: "Status"; readonly status?: unknown } {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status" &&
    String((value as { apiVersion?: unknown }).apiVersion ?? "v1") === "v1";
}

function statusOf(response: Response, method: string, text: string): Status {
  const code = response.status;
  if (text.trimStart().startsWith("{")) {
    try {
      const value: unknown = JSON.parse(text);
      if (isStatus(value)) return statusFrom(value, code);
    } catch (error) {
      // Not JSON, or cut off: then its text is the explanation.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const location = response.headers.get("location");
  const message = isRedirect(response)
    ? `the server redirects${location === null ? "" : ` to "${location}"`}, which is not followed; check its address`
    : oneLine(text).slice(0, MAX_TEXT_BYTES);
  const reason = code === 409 && method === "POST" ? "AlreadyExists" : undefined;
  return statusFrom({ message, reason }, code);
}

/** Browsers do not show a redirect that is not followed: its type is all there is. */
function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
}

function explain(status: Status): string {
  const { code, reason, message } = status;
  const hint = code === 401 ? "; check the credentials" : "";
  return `${code} ${reason}: ${message}${hint}`;
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(response.headers.get("content-type") ?? "");
}

function check(server: URL): string {
  return `check that "${server.origin}" is an API server and not a proxy or a login page`;
}

function excerpt(text: string): string {
  const line = oneLine(text);
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

async function textOf(action: string, { body }: Response, maxBytes: number): Promise<string> {
  const buffer = new ByteBuffer();
  if (body !== null) {
    for await (const chunk of chunksOf(body)) {
      if (buffer.length + chunk.length > maxBytes) {
        throw new DecodeError(
          `Cannot ${action}: the answer is longer than ${maxBytes} bytes; raise maxObjectBytes if objects are that large`,
        );
      }
      buffer.append(chunk, 0, chunk.length);
    }
  }
  return utf8.decode(buffer.bytes.subarray(0, buffer.length));
}

/** The first `maxBytes` bytes of a body as text; the rest is cancelled. What went wrong on the way is told, not thrown. */
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
      // A character that the limit cuts in two is left out.
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
