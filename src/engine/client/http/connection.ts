/**
 * Sends requests to one API server with `fetch`, and returns the responses as JSON or as streams of bytes.
 *
 * {@linkcode Connection} is the entry point. It adds credentials and headers, repeats requests if the server asks for
 * it, and explains errors. It knows neither resources nor how a connection is configured.
 *
 * @module
 */
import { impersonating, type Impersonation } from "../../api/impersonation.ts";
import { defined } from "../../api/json.ts";
import type { Transport } from "../../api/lister_watcher.ts";
import type { ResourcePlace } from "../../api/resource.ts";
import { cleanError, DecodeError, RETRY_AFTER_MAX_MS, StatusError, UnreachableError } from "../../api/status.ts";
import { PassingMap } from "../../async/passing_map.ts";
import { callObserver, DerivedController } from "../../async/signals.ts";
import { backoffMs, LongTimer, monotonicMs, sleep } from "../../async/time.ts";
import {
  causesOf,
  errorLine,
  isDefect,
  messageOf,
  REDACTED,
  redactSecrets,
  withoutAddress,
} from "../../errors/errors.ts";
import { checkNames } from "../../errors/option_names.ts";
import { MAX_OBJECT_BYTES } from "../decode/body_reader.ts";
import { OpenWatches, type WatchHealth } from "./open_watches.ts";
import {
  checkEncoding,
  type JsonAnswer,
  readJsonResponse,
  retryAfterMsOf,
  statusErrorOf,
  warningsOf,
} from "./response.ts";

/**
 * A step in a request, for the client option `onRequest`. It contains no credentials and no bodies: secrets in the URL,
 * headers and errors are redacted. It also leaves out the message of a refusal, which may quote an object.
 */
export interface RequestReport {
  /**
   * The step:
   *
   * - `"sent"`: the request is passed to the transport.
   * - `"answered"`: the response has begun.
   * - `"ended"`: the response was read, cancelled or broke off, or there was no response.
   */
  readonly step: "sent" | "answered" | "ended";
  /** The HTTP method, e.g. `"GET"`. */
  readonly method: string;
  /** The URL, with `[redacted]` for text that looks like a secret. */
  readonly url: string;
  /** The request's headers at step `"sent"`, the response's headers at step `"answered"`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The response's status code, if there is a response. */
  readonly status?: number;
  /** The time since the request was sent, in milliseconds. */
  readonly ms: number;
  /** How many bytes of the body have arrived, without compression. */
  readonly bytes: number;
  /** Why the request failed. Absent if the server refused it: see `status`. */
  readonly error?: string;
  /** Why and when the request is sent again. */
  readonly retry?: string;
}

/** The names of headers with credentials. */
const SECRET_HEADER = /auth|cookie|token|secret|key|credential|passw/i;

function redactedHeaders(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [name, SECRET_HEADER.test(name) ? REDACTED : redactSecrets(value)]),
  );
}

/** Reports one request from a client, each time that it is sent. */
export class RequestReporter {
  readonly #onRequest: (report: RequestReport) => void;
  /** The current attempt. `undefined` before the first one begins and after the last one has ended. */
  #attempt: { readonly method: string; readonly url: string; status?: number; bytes: number } | undefined;
  #sentAtMs = 0;

  /** Reports to `onRequest`. If it throws, that is an uncaught error. */
  constructor(onRequest: (report: RequestReport) => void) {
    this.#onRequest = onRequest;
  }

  /** Reports that an attempt begins. */
  sent(request: Request): void {
    this.#attempt = { method: request.method, url: redactSecrets(request.url), bytes: 0 };
    this.#sentAtMs = monotonicMs();
    this.#report({ step: "sent", headers: redactedHeaders(request.headers) });
  }

  /** Reports that the response has begun. Returns the response with a body that counts its bytes. */
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

  /** Reports that the attempt has ended. Does nothing if it has ended already. */
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
 * Returns a function that writes a line for each request to `sink`. Pass it as `onRequest` to `Client` or `connect()`,
 * to see what your program asks the server. Lines contain no secrets: neither credentials nor bodies, and `[redacted]`
 * for text in a URL that looks like a secret.
 *
 * - A request is one line, when its response has been read or it has failed. The line has the method, URL, status,
 *   time, uncompressed bytes, and why the request is sent again. A watch is also a line when it begins.
 * - With `verbosity` 2, each request is also a line when it is sent, and another when its response begins. Both have
 *   the headers.
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
    /** How detailed the lines are. @default {1} */
    readonly verbosity?: 1 | 2;
  } = {},
): (report: RequestReport) => void {
  checkNames("log requests", options, "verbosity");
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

/** A request to the API server, without the parts that all requests of a client share. */
export interface RequestSpec {
  /** The request in words that follow "Cannot" in messages: `list "pods" in namespace "shop"`. */
  readonly action: string;
  /** Path and query, relative to the server's address. It begins with a slash. */
  readonly path: string;
  /** The resource, e.g. `"crontabs.stable.example.com"`, if the request concerns one. */
  readonly resource?: string;
  /** The place in `path`, if the caller knows it. */
  readonly place?: ResourcePlace;
  /** Method, headers and body. */
  readonly init: RequestInit;
  /**
   * The time limit for the request, its retries and its response, in milliseconds. For a `watch`, it ends when the
   * response begins. @default {no limit}
   */
  readonly timeoutMs?: number;
  /** True if the client waits and retries when the server responds with `Retry-After`. */
  readonly patient: boolean;
  /** The watch that the request opens, if it should be renewed. @default {none} */
  readonly watch?: WatchHealth;
  /** Called just before each attempt. If it throws, the request is not sent. */
  readonly beforeSent?: () => void;
}

/**
 * Adds credentials to requests. Implement it if the credentials from `connect()` do not fit, for example to fetch
 * tokens yourself.
 */
export interface Credentials {
  /**
   * Sets headers on one request. It is called again after a 401, and if it throws, the request rejects with that error.
   *
   * @param headers The request's headers. Change them in place.
   * @param options `refresh` is true after a 401: cached credentials are stale. `signal` is the same one each time that
   * a request is sent again.
   * @returns `false` if a refresh found no new credentials. Then the request is not sent again, and rejects with the
   * 401.
   */
  apply(
    headers: Headers,
    options: { readonly refresh: boolean; readonly signal?: AbortSignal },
  ): void | boolean | Promise<void | boolean>;
}

/** Statuses with which a `Response` must not have a body. */
const NULL_BODY = [101, 103, 204, 205, 304];

/** A request that was sent and can be ended. Only the first call to `abort` or `end` has an effect. */
interface PendingRequest {
  /** Aborts with the caller's signal, with the client, and through `abort()`. */
  readonly signal: AbortSignal;
  /** Aborts the request, and releases it. */
  abort(): void;
  /** Releases a request that has ended. */
  end(): void;
  /** Reports the end. @default {none} */
  readonly reporter: RequestReporter | undefined;
  /**
   * The last request that was sent. It is kept until its body has ended, because on Node a collected request cannot be
   * aborted.
   */
  sent?: Request;
}

/** An accepted request and its response, until the body has been read. Dispose it to free the connection. */
export class Exchange implements Disposable {
  /** The request in words that follow "Cannot" in messages. */
  readonly action: string;
  /** The response, whose body has not been read yet. */
  readonly response: Response;
  /** The server's address. */
  readonly server: URL;
  readonly #request: PendingRequest;

  /** Takes over `request`, which has a response. */
  constructor(action: string, server: URL, response: Response, request: PendingRequest) {
    this.action = action;
    this.server = server;
    this.response = response;
    this.#request = request;
  }

  /**
   * Returns the error for the caller after the body threw `error`: the reason of an abort, or an `UnreachableError`.
   */
  explain(error: unknown): unknown {
    const { signal, reporter } = this.#request;
    reporter?.ended(signal.aborted ? signal.reason : error);
    if (signal.aborted) return signal.reason;
    if (isKnownError(error)) return cleanError(error, secretsOf(this.#request));
    if (isDefect(error)) return error;
    return unreachableError(
      `Cannot reach "${this.server.origin}" any longer: the response broke off during the request to ${this.action}`,
      error,
    );
  }

  /** Returns the response as a `Response`. The exchange ends when its body has been read, is cancelled or fails. */
  detach(): Response {
    const { body, status, statusText, headers } = this.response;
    if (body === null || NULL_BODY.includes(status)) {
      this.finish();
      return new Response(null, { status, statusText, headers });
    }
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller): Promise<void> => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          this.finish();
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

  /**
   * Releases the request after its body was read to the end or cancelled. It does not abort the request, which would
   * cost more.
   */
  finish(): void {
    this.#request.end();
  }

  /** Ends the request, and removes its listener from the caller's signal. Does nothing after {@linkcode finish}. */
  [Symbol.dispose](): void {
    this.#request.abort();
  }
}

/** Returns the credentials in the header of a request, which a server may repeat in an error. */
function secretsOf({ sent }: PendingRequest): string[] {
  const header = sent?.headers.get("authorization") ?? "";
  return [header, header.slice(header.indexOf(" ") + 1)];
}

/** True for this package's errors, which already say what failed. */
function isKnownError(error: unknown): error is StatusError | DecodeError | UnreachableError {
  return error instanceof StatusError || error instanceof DecodeError || error instanceof UnreachableError;
}

/**
 * Returns the error for a request or body that failed with `error`, whose message is appended. With a `TypeError`,
 * `fetch` reports every failure in the network. It says nothing else, so it is not kept as the cause.
 */
function unreachableError(message: string, error: unknown): UnreachableError {
  // The address is in our own message.
  const reason = withoutAddress(errorLine(error));
  return new UnreachableError(`${message}: ${reason}`, error instanceof TypeError ? {} : { cause: error });
}

/** Codes in Node's `fetch` (undici) for a connection that broke before a response. */
const CODES = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

/** The same as texts, for Deno (hyper, h2) and client-go (`IsProbableEOF`, `IsConnectionReset`). */
const TEXT =
  /connection reset|broken (?:pipe|connection)|connection closed before message completed|unexpected eof|unexpected end of file|other side closed|goaway|http2: client connection lost|dispatch task|connection error received: not a result of an error/i;

/**
 * Returns true if the connection broke before a response, for example because the server closed an idle connection. A
 * refused connection or a failed handshake does not count: another attempt would fail too.
 */
function isReset(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const { code } = (cause ?? {}) as { readonly code?: unknown };
    // Words of runtimes that give no code.
    return (typeof code === "string" && CODES.includes(code)) || TEXT.test(messageOf(cause));
  });
}

/** The waits before a read without `Retry-After` is repeated: first 0.1 to 0.2 s, then doubling. */
const REPEAT = { initialMs: 100, maxMs: 5_000 };

/** The number of such repeats. */
const MAX_FAILURES = 5;

/** Statuses after which another server may respond, or the same server a moment later. */
const TEMPORARY = [500, 502, 503, 504];

/** Options for {@linkcode Connection}, which all its requests share. */
interface ConnectionOptions {
  /** The server's address. Request paths are appended to its path. */
  readonly server: URL;
  /** Sends requests. */
  readonly transport: Transport;
  /** Adds credentials to each request. @default {none} */
  readonly credentials?: Credentials;
  /** The `User-Agent` header. */
  readonly userAgent: string;
  /** True if responses may be compressed. */
  readonly compress: boolean;
  /** How often a request is sent again after a `Retry-After`. */
  readonly retries: number;
  /** The largest response that is one JSON value, in bytes. @default {67_108_864} */
  readonly maxObjectBytes?: number;
  /** Called with each warning from the server. */
  readonly onWarning?: (warning: string) => void;
  /** Called at each step of each request. @default {none} */
  readonly onRequest?: (report: RequestReport) => void;
  /** Records the access that requests need. @default {none} */
  readonly access?: { record(spec: RequestSpec): void; impersonate(user: Impersonation): void };
  /** Makes each request act as another user. @default {none} */
  readonly impersonate?: (request: Request) => void;
}

/** Sends requests to one server: it adds headers and credentials, retries, and explains errors. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  /** Has a controller if and only if its request has not ended. */
  readonly #underWay = new PassingMap<number, DerivedController>();
  /** The number of requests. */
  #requests = 0;
  /** The connection that shares its transport and credentials with this one. This one ends with it. */
  readonly #owner: Connection | undefined;
  /** Ends the requests on connections that this one owns. */
  readonly #life = new AbortController();
  /** The watches that the server has accepted, including watches on connections that it owns. */
  readonly watches: OpenWatches;
  /** Has the errors from connections that were reset before a response. */
  readonly #resets = new WeakSet<Error>();
  #disposed = false;

  /** Sends nothing yet. */
  constructor(options: ConnectionOptions, owner?: Connection) {
    this.#options = options;
    this.#owner = owner;
    this.watches = owner === undefined ? new OpenWatches(probeOf(options)) : owner.watches;
  }

  /** Returns a connection that acts as another user and records the user's access. It ends with this one. */
  as(user: Impersonation, access: ConnectionOptions["access"]): Connection {
    const owner = this.#owner ?? this;
    owner.#options.access?.impersonate(user);
    return new Connection({ ...this.#options, access, impersonate: impersonating(user) }, owner);
  }

  /** The name by which the server knows the manager of writes without the option `fieldManager`. */
  get manager(): string {
    return this.#options.userAgent.split("/")[0];
  }

  /** The server's address. */
  get server(): URL {
    return this.#options.server;
  }

  /** The largest response that is one JSON value, and the largest object in a list or watch, in bytes. */
  get maxObjectBytes(): number | undefined {
    return this.#options.maxObjectBytes;
  }

  /**
   * Sends a request, and resolves when the server has accepted it. Read the exchange to its end, or dispose it.
   *
   * - After a 401 it refreshes the credentials and sends the request once more, unless there are no new credentials.
   * - After a 429 or 5xx with `Retry-After`, it sends a patient request again after that time, at most 5 minutes
   *   (client-go `with_retry.go`). A body that is a stream is sent once.
   * - It also sends a patient GET again, up to 5 times, if the connection was reset before the response, or after 500,
   *   502, 503 and 504 without that header.
   * - After `timeoutMs` the request fails with an `UnreachableError`, even while its response is read.
   * - A `watch` is renewed as {@linkcode OpenWatches} describes. Its response then fails with a `WatchRenewal`.
   * - The request ends when one of `signals` aborts. After the exchange, no listener is left on them.
   *
   * @throws {StatusError} if the server refuses the request.
   * @throws {UnreachableError} if there is no response.
   */
  async open(spec: RequestSpec, ...signals: (AbortSignal | undefined)[]): Promise<Exchange> {
    for (const signal of signals) signal?.throwIfAborted();
    const owner = this.#owner === undefined ? undefined : this.#owner.#life.signal;
    if (this.#disposed || owner?.aborted) throw new Error(`Cannot ${spec.action}: the client was disposed`);
    this.#options.access?.record(spec);
    const controller = new DerivedController(...signals, owner);
    const { timeoutMs, watch } = spec;
    const timer = timeoutMs === undefined ? undefined : new LongTimer(() => {
      const message =
        `Cannot reach "${this.server.origin}" to ${spec.action}: no complete response within ${timeoutMs} ms`;
      controller.abort(new UnreachableError(message));
    });
    timer?.arm(timeoutMs!);
    const { onRequest } = this.#options;
    const reporter = onRequest && new RequestReporter(onRequest);
    const ended = (): void => {
      reporter?.ended();
      timer?.[Symbol.dispose]();
      if (watch !== undefined) this.watches.delete(watch);
    };
    const id = this.#requests++;
    const request: PendingRequest = {
      signal: controller.signal,
      reporter,
      abort: () => {
        ended();
        if (this.#underWay.delete(id)) controller[Symbol.dispose]();
      },
      end: () => {
        ended();
        if (this.#underWay.delete(id)) controller.release();
      },
    };
    this.#underWay.set(id, controller);
    try {
      const response = await this.#send(spec, request);
      if (watch !== undefined) {
        timer?.[Symbol.dispose]();
        this.watches.add(watch, (reason) => controller.abort(reason));
      }
      return new Exchange(spec.action, this.server, response, request);
    } catch (error) {
      const explained = request.signal.aborted
        ? request.signal.reason
        : isKnownError(error)
        ? cleanError(error, secretsOf(request))
        : error;
      reporter?.ended(explained);
      // The body of a refusal has been read or cancelled.
      if (explained instanceof StatusError) request.end();
      else request.abort();
      throw explained;
    }
  }

  /**
   * Sends a request, and resolves with the JSON in its response. It throws the same errors as {@linkcode open},
   * and a `DecodeError`.
   */
  async json(spec: RequestSpec, ...signals: (AbortSignal | undefined)[]): Promise<JsonAnswer> {
    using exchange = await this.open(spec, ...signals);
    const { maxObjectBytes = MAX_OBJECT_BYTES } = this;
    try {
      const answer = await readJsonResponse(spec, this.server, exchange.response, maxObjectBytes);
      exchange.finish();
      return answer;
    } catch (error) {
      throw exchange.explain(error);
    }
  }

  /** Aborts all pending requests, which reject. It disposes the transport unless another connection owns it. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const reason = new DOMException("The client was disposed", "AbortError");
    for (const controller of [...this.#underWay.values()]) controller.abort(reason);
    if (this.#owner !== undefined) return;
    this.#life.abort(reason);
    this.watches[Symbol.dispose]();
    this.#options.transport[Symbol.dispose]?.();
  }

  /** Resolves with the first response that has a 2xx status. */
  async #send(spec: RequestSpec, pending: PendingRequest): Promise<Response> {
    const { signal, reporter } = pending;
    const { credentials } = this.#options;
    const repeatable = !(spec.init.body instanceof ReadableStream);
    let retries = spec.patient && repeatable ? this.#options.retries : 0;
    let renewals = credentials !== undefined && repeatable ? 1 : 0;
    const method = spec.init.method?.toUpperCase() ?? "GET";
    /** The number of failures without `Retry-After`. */
    let failures = 0;
    const mayRepeat = (): boolean => method === "GET" && failures < MAX_FAILURES && retries-- > 0;
    const repeatIn = async (ms: number, reason: string, error?: unknown): Promise<void> => {
      reporter?.ended(error, `${reason}, again in ${Math.round(ms)} ms`);
      await sleep(ms, { signal });
    };
    /** The 401 after which the credentials must be refreshed. */
    let refused: StatusError | undefined;
    for (;;) {
      let response: Response;
      try {
        response = await this.#sendOnce(spec, pending, refused);
      } catch (error) {
        if (signal.aborted || !this.#resets.has(error as Error) || !mayRepeat()) throw error;
        await repeatIn(backoffMs(failures++, REPEAT), "reset connection", error);
        continue;
      }
      refused = undefined;
      if (response.headers.has("warning")) await this.#warn(response);
      if (response.ok) return response;
      const error = await statusErrorOf(spec.action, method, response, spec.resource);
      if (response.status === 401 && renewals-- > 0) {
        refused = error;
        reporter?.ended(undefined, "credentials are refreshed");
        continue;
      }
      const waitMs = response.status === 429 || response.status >= 500 ? retryAfterMsOf(response.headers) : undefined;
      if (waitMs === undefined && TEMPORARY.includes(response.status) && mayRepeat()) {
        await repeatIn(backoffMs(failures++, REPEAT), "temporary failure");
        continue;
      }
      if (waitMs === undefined || retries-- <= 0) throw error;
      await repeatIn(Math.min(waitMs, RETRY_AFTER_MAX_MS), "Retry-After");
    }
  }

  async #warn(response: Response): Promise<void> {
    const { onWarning } = this.#options;
    if (onWarning === undefined) return;
    try {
      for (const warning of warningsOf(response.headers)) onWarning(warning);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }

  async #sendOnce(spec: RequestSpec, pending: PendingRequest, refused?: StatusError): Promise<Response> {
    const { signal, reporter } = pending;
    const { server, transport, credentials, userAgent, compress, impersonate } = this.#options;
    // Redirects are not followed: one could send the credentials elsewhere, or turn a write into a read.
    // Node requires `duplex` where the body is a stream.
    const init = { redirect: "manual", duplex: "half", ...spec.init, signal } as const;
    const request = pending.sent = new Request(urlOf(server, spec), init);
    // Its own headers are changed, as a copy of `Headers` costs more than the request.
    const { headers } = request;
    if (!headers.has("user-agent")) headers.set("user-agent", userAgent);
    // By name: a runtime would accept brotli too, of which some kB become a body that stalls the event loop for
    // seconds.
    if (!headers.has("accept-encoding")) headers.set("accept-encoding", compress ? "gzip" : "identity");
    const isNew = await credentials?.apply(headers, { refresh: refused !== undefined, signal });
    if (refused !== undefined && isNew === false) throw refused;
    impersonate?.(request);
    spec.beforeSent?.();
    reporter?.sent(request);
    try {
      const answer = await transport.fetch(request);
      this.watches.answered();
      const response = reporter === undefined ? answer : reporter.answered(answer);
      if (response.headers.has("content-encoding")) {
        await checkEncoding(spec.action, response, headers.get("accept-encoding"));
      }
      return response;
    } catch (cause) {
      if (isKnownError(cause) || isDefect(cause)) throw cause;
      const error = unreachableError(`Cannot reach "${server.origin}" to ${spec.action}`, cause);
      if (isReset(cause)) this.#resets.add(error);
      throw error;
    }
  }
}

/**
 * Returns the server's probe, which requests a path that every user may read. `undefined` if the transport has none.
 */
function probeOf({ server, transport }: ConnectionOptions): ((signal: AbortSignal) => Promise<void>) | undefined {
  const url = `${server.origin}${basePath(server)}/version`;
  return transport.probe === undefined ? undefined : (signal) => transport.probe!(signal, url);
}

/** Returns the path in the server's address, without a slash at its end. */
function basePath({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

/**
 * Paths without an empty segment, and without a segment that begins with a dot or is encoded at its beginning. No URL
 * leads out of them.
 */
const PLAIN_PATH = /^(?:\/[\w~:-][\w~:.-]*)+(?:\?[\w~:.=&%+,-]*)?$/;

/** Returns a request's URL. @throws {TypeError} if it is not below the server's address. */
function urlOf(server: URL, spec: RequestSpec): string {
  const base = server.pathname === "/" ? "" : basePath(server);
  if (PLAIN_PATH.test(spec.path)) return `${server.origin}${base}${spec.path}`;
  const url = new URL(`${server.origin}${base}${spec.path}`);
  if (!spec.path.startsWith("/") || url.origin !== server.origin || !url.pathname.startsWith(`${base}/`)) {
    throw new TypeError(`Cannot ${spec.action}: a path must begin with "/" and stay below the server's address`);
  }
  return url.href;
}
