/**
 * HTTP requests and responses of the fake server, apart from resources.
 *
 * The functions `answer…` build responses; {@linkcode AccessControl} authenticates and authorizes. How requests that
 * read are parsed, and which errors a server answers, is in `protocol`. It does not read or write objects.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import { type ApiStatus, StatusError } from "../../../engine/api/status.ts";
import { knownRefusal, PlainRefusal, refusal, statusJson } from "../../../engine/protocol/refusal.ts";
import { ByteBody } from "./byte_body.ts";
import { goJson } from "./go_text.ts";

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

const JSON_TYPE = "application/json";

const LINE_FEED = encoder.encode("\n");

/** Answers with JSON. */
export function answerJson(context: RequestContext, value: unknown, code = 200): Response {
  return answerBytes(context, [encoder.encode(goJson(value))], code);
}

/** Answers with JSON in pieces, which are produced while the client reads. */
export function answerBytes(context: RequestContext, pieces: Iterable<Uint8Array>, code = 200): Response {
  return respond(context, bodyOf(context, wantsPretty(context) ? indent(pieces) : withLineFeed(pieces)), code);
}

/** Answers a watch, or a log. */
export function answerStream(context: RequestContext, body: ByteBody, type = JSON_TYPE): Response {
  context.sending(body);
  if (context.signal !== undefined) body.follow(context.signal);
  return respond(context, body, 200, type);
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

function respond(context: RequestContext, body: ByteBody, status: number, type = JSON_TYPE): Response {
  const headers = { "cache-control": "no-cache, private", "content-type": type };
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
  const decoder = new TextDecoder();
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

/** The attributes of a request, for an {@linkcode Authorize} function. */
export interface RequestAttributes {
  /** The token's user, or `"system:anonymous"`. */
  readonly user: string;
  /** `"get"`, `"list"`, `"watch"`, `"create"`, `"update"`, `"patch"`, `"delete"`, `"deletecollection"`. */
  readonly verb: string;
  /** API group. `""` for the core group and for non-resource paths. */
  readonly group: string;
  /** API version. */
  readonly version: string;
  /** Plural name, `"pods"`. `""` for non-resource paths. */
  readonly resource: string;
  /** Subresource such as `"status"`, or `""`. */
  readonly subresource: string;
  /** The namespace. `""` for all namespaces and cluster-scoped resources. */
  readonly namespace: string;
  /** The object's name, or `""`. */
  readonly name: string;
  /** URL path. */
  readonly path: string;
}

/** Authorizes a request: `true` allows it, `false` responds with 403, and a Status responds with that Status. */
export type Authorize = (
  attributes: RequestAttributes,
) => boolean | Partial<ApiStatus> | Promise<boolean | Partial<ApiStatus>>;

/** Users by bearer token: a record, or a function for tokens that change. */
export type Tokens = Readonly<Record<string, string>> | ((token: string) => string | undefined);

const ANONYMOUS = "system:anonymous";
/** Paths that need no authorization. */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

/** Authenticates and authorizes requests. Without options, everything is allowed. */
export class AccessControl {
  readonly #tokens: Tokens | undefined;
  readonly #authorize: Authorize | undefined;
  /** True if no function decides what a user may do. */
  readonly allowsAll: boolean;

  /** Uses these options. */
  constructor(tokens: Tokens | undefined, authorize: Authorize | undefined) {
    this.#tokens = tokens;
    this.#authorize = authorize;
    this.allowsAll = authorize === undefined;
  }

  /**
   * Returns the user of a request.
   *
   * @throws {StatusError} 401 if the token is unknown.
   */
  user(headers: Headers): string {
    const [, token] = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return this.#tokens === undefined ? "system:admin" : ANONYMOUS;
    const user = this.userOf(token);
    if (user === undefined) throw refusal(401, "Unauthorized");
    return user;
  }

  /** Returns the user of a token; undefined if it is unknown. */
  userOf(token: string): string | undefined {
    if (this.#tokens === undefined) return "system:admin";
    if (typeof this.#tokens === "function") return this.#tokens(token);
    return Object.hasOwn(this.#tokens, token) ? this.#tokens[token] : undefined;
  }

  /** Returns the authorizer's decision about a request. */
  async allows(attributes: RequestAttributes): Promise<boolean | Partial<ApiStatus>> {
    if (attributes.resource === "" && PUBLIC.test(attributes.path)) return true;
    if (this.#authorize !== undefined) return await this.#authorize(attributes);
    return attributes.user !== ANONYMOUS;
  }

  /**
   * Authorizes a request.
   *
   * @throws {StatusError} 403, or the Status that `authorize` returned.
   */
  async check(attributes: RequestAttributes): Promise<void> {
    const allowed = await this.allows(attributes);
    if (allowed === true) return;
    if (allowed === false) throw forbidden(attributes);
    throw refusalOf({ code: 403, ...allowed });
  }
}

function forbidden(attributes: RequestAttributes): Error {
  const { user, verb, group, resource, subresource, namespace, name, path } = attributes;
  const what = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  const why = resource === ""
    ? `path ${JSON.stringify(path)}`
    : `resource ${what} in API group ${JSON.stringify(group)} ${where}`;
  const who = `User ${JSON.stringify(user)} cannot ${verb}`;
  return knownRefusal("forbidden", { group, plural: resource }, name, `${who} ${why}`);
}

/** A user, and the groups that the server puts users into. */
export function userInfo(username: string): { readonly username: string; readonly groups: readonly string[] } {
  const groups = username === "system:anonymous"
    ? ["system:unauthenticated"]
    : [...(username === "system:admin" ? ["system:masters"] : []), "system:authenticated"];
  return { username, groups };
}

/** A request that the fake server has received. Use `server.requests` in your test to check what your code has sent. */
export interface RecordedRequest {
  /** HTTP method. */
  readonly method: string;
  /** The full URL. */
  readonly url: string;
  /** The URL's path. */
  readonly path: string;
  /** The parsed query: `request.query.get("resourceVersion")`. */
  readonly query: URLSearchParams;
  /** The headers as received. Credentials read `[redacted]`. */
  readonly headers: Headers;
  /** `"list"`, `"watch"`, `"get"`, `"create"` … For non-resource paths, the HTTP method in lower case. */
  readonly verb: string;
  /** Plural name, `"pods"`. `""` for non-resource paths. */
  readonly resource: string;
  /** The namespace in the path, or `""`. */
  readonly namespace: string;
  /** The body as text, if there was one and it was read. */
  readonly body: string | undefined;
  /** The response's HTTP status once there is one. 0 if the connection broke instead. */
  readonly status: number | undefined;
}

/** A record to which body and status are still to be added. */
export type OpenRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

const CREDENTIALS = ["authorization", "cookie", "proxy-authorization"];

/** Records a request without its credentials. */
export function recordRequest(
  request: Request,
  url: URL,
  { verb, resource, namespace, path }: RequestAttributes,
): OpenRecord {
  let { headers } = request;
  for (const name of CREDENTIALS) {
    if (!headers.has(name)) continue;
    if (headers === request.headers) headers = new Headers(headers);
    headers.set(name, "[redacted]");
  }
  return {
    method: request.method,
    url: url.href,
    path,
    query: url.searchParams,
    headers,
    verb,
    resource,
    namespace,
    body: undefined,
    status: undefined,
  };
}

/**
 * Returns true if a request is for a streaming list: a watch that begins with the existing objects and marks their
 * end.
 */
export function isStreamingList({ query }: RecordedRequest): boolean {
  return query.get("sendInitialEvents") === "true";
}

/** Creates an error from a partial Status. */
export function refusalOf(status: Partial<ApiStatus>): StatusError {
  const { code = 500, reason, message = `the fake API server was set to answer ${code}` } = status;
  const { retryAfterSeconds = status.details?.retryAfterSeconds } = status;
  const details = retryAfterSeconds === undefined ? status.details : { ...status.details, retryAfterSeconds };
  return refusal(code, message, { reason, details, continue: status.continue });
}
