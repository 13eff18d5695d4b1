/**
 * Requests to one API server over `fetch`, and their answers as JSON or as streams of bytes.
 *
 * {@linkcode Connection} is the entry point: it adds credentials and headers, retries where the server asks for it, and
 * explains errors. This folder knows neither resources nor how a connection is configured.
 *
 * @module
 */
import { StatusError, UnreachableError } from "../../api/errors.ts";
import { RETRY_AFTER_MAX_MS } from "../../api/status.ts";
import type { Transport } from "../../api/transport.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { backoffMs } from "../../async/time/backoff.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import { sleep } from "../../async/time/sleep.ts";
import type { AccessLog } from "./access_log.ts";
import type { Credentials } from "./credentials.ts";
import { MAX_OBJECT_BYTES } from "../decode/line_splitter.ts";
import { Exchange, isKnownError, type PendingRequest, unreachableError } from "./exchange.ts";
import { isReset } from "./is_reset.ts";
import { OpenWatches } from "./open_watches.ts";
import type { RequestSpec } from "./request_spec.ts";
import { checkEncoding, readJsonResponse, retryAfterMsOf, statusErrorOf } from "./response.ts";
import { warningsOf } from "./warnings.ts";

/** The waits before a read is repeated that failed without `Retry-After`: 0.1 to 0.2 s, and doubling. */
const REPEAT = { initialMs: 100, maxMs: 5_000 };

/** The number of times that it is repeated. */
const MAX_FAILURES = 5;

/** Statuses after which another server, or the same a moment later, may answer. */
const TEMPORARY = [500, 502, 503, 504];

/** Options for {@linkcode Connection}: what all its requests have in common. */
export interface ConnectionOptions {
  /** The address of the server; its path comes before that of each request. */
  readonly server: URL;
  /** Sends requests. */
  readonly transport: Transport;
  /** Adds credentials to each request. @default {none} */
  readonly credentials?: Credentials;
  /** The `User-Agent` header. */
  readonly userAgent: string;
  /** True if answers may be compressed. */
  readonly compress: boolean;
  /** The number of retries of a request that the server answers with `Retry-After`. */
  readonly retries: number;
  /** The largest answer that is one JSON value, in bytes. @default {67_108_864} */
  readonly maxObjectBytes?: number;
  /** Called with each warning of the server. */
  readonly onWarning?: (warning: string) => void;
  /** Records the access that requests need. @default {none} */
  readonly access?: AccessLog;
}

/** Sends requests to one server: adds headers and credentials, retries, and explains errors. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  /** A controller is in it if and only if its request has not ended. */
  readonly #underWay = new Set<DerivedController>();
  /** The watches among them that the server has accepted. */
  readonly #watches = new OpenWatches();
  /** Has the errors of requests whose connection was reset before an answer. */
  readonly #resets = new WeakSet<Error>();
  #disposed = false;

  /** Sends nothing yet. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The address of the server. */
  get server(): URL {
    return this.#options.server;
  }

  /**
   * Sends a request, and resolves when the server has accepted it. The exchange must be read to its end or disposed.
   *
   * - After a 401 the credentials are refreshed and the request is sent once more.
   * - After a 429 or 5xx with `Retry-After` a patient request is sent again after that time, 5 minutes at most (client-go
   *   `with_retry.go`). A body that is a stream is sent once.
   * - A patient GET is also sent again, up to 5 times, when its connection was reset before the answer, and after 500, 502,
   *   503 and 504 without that header.
   * - After the request's `timeoutMs` it fails with an `UnreachableError`, also while the answer is read.
   * - A `watch` of the request is renewed as {@linkcode OpenWatches} says: then its answer fails with a `WatchRenewal`.
   * - No listener is left on `signal` when the exchange has ended.
   *
   * @throws {StatusError} when the server refuses the request.
   * @throws {UnreachableError} when there is no answer.
   */
  async open(spec: RequestSpec, signal?: AbortSignal): Promise<Exchange> {
    signal?.throwIfAborted();
    if (this.#disposed) throw new Error(`Cannot ${spec.action}: the client is disposed`);
    this.#options.access?.record(spec);
    const controller = new DerivedController(signal);
    const { timeoutMs = Infinity } = spec;
    const timer = new LongTimer(() => {
      const message =
        `Cannot reach "${this.server.origin}" to ${spec.action}: no complete answer within ${timeoutMs} ms`;
      controller.abort(new UnreachableError(message));
    });
    timer.arm(timeoutMs);
    const { watch } = spec;
    const ended = (): void => {
      timer[Symbol.dispose]();
      if (watch !== undefined) this.#watches.delete(watch);
    };
    const request: PendingRequest = {
      signal: controller.signal,
      abort: () => {
        ended();
        if (this.#underWay.delete(controller)) controller[Symbol.dispose]();
      },
      end: () => {
        ended();
        if (this.#underWay.delete(controller)) controller.release();
      },
    };
    this.#underWay.add(controller);
    try {
      const response = await this.#send(spec, request.signal);
      if (watch !== undefined) this.#watches.add(watch, (reason) => controller.abort(reason));
      return new Exchange(spec.action, this.server, response, request);
    } catch (error) {
      const explained = request.signal.aborted ? request.signal.reason : error;
      // The body of a refusal has been read or cancelled.
      if (explained instanceof StatusError) request.end();
      else request.abort();
      throw explained;
    }
  }

  /** Sends a request; resolves with the JSON value of its answer. Errors are those of {@linkcode open}, and `DecodeError`. */
  async json(spec: RequestSpec, signal?: AbortSignal): Promise<unknown> {
    using exchange = await this.open(spec, signal);
    const { maxObjectBytes = MAX_OBJECT_BYTES } = this.#options;
    try {
      const value = await readJsonResponse(spec.action, this.server, exchange.response, maxObjectBytes);
      exchange.finish();
      return value;
    } catch (error) {
      throw exchange.explain(error);
    }
  }

  /** Aborts all pending requests, which reject, and disposes the transport. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#watches[Symbol.dispose]();
    for (const controller of [...this.#underWay]) {
      controller.abort(new DOMException("The client is disposed", "AbortError"));
    }
    this.#options.transport[Symbol.dispose]?.();
  }

  /** The first answer with a 2xx status. */
  async #send(spec: RequestSpec, signal: AbortSignal): Promise<Response> {
    const { credentials } = this.#options;
    const repeatable = !(spec.init.body instanceof ReadableStream);
    let retries = spec.patient && repeatable ? this.#options.retries : 0;
    let renewals = credentials !== undefined && repeatable ? 1 : 0;
    const method = spec.init.method?.toUpperCase() ?? "GET";
    /** The number of failures without `Retry-After`. */
    let failures = 0;
    const mayRepeat = (): boolean => method === "GET" && failures < MAX_FAILURES && retries-- > 0;
    for (let refresh = false;;) {
      let response: Response;
      try {
        response = await this.#sendOnce(spec, signal, refresh);
      } catch (error) {
        if (signal.aborted || !this.#resets.has(error as Error) || !mayRepeat()) throw error;
        await sleep(backoffMs(failures++, REPEAT), { signal });
        continue;
      }
      refresh = false;
      await this.#warn(response);
      if (response.ok) return response;
      const error = await statusErrorOf(spec.action, method, response, spec.resource);
      if (response.status === 401 && renewals-- > 0) {
        refresh = true;
        continue;
      }
      const waitMs = response.status === 429 || response.status >= 500 ? retryAfterMsOf(response.headers) : undefined;
      if (waitMs === undefined && TEMPORARY.includes(response.status) && mayRepeat()) {
        await sleep(backoffMs(failures++, REPEAT), { signal });
        continue;
      }
      if (waitMs === undefined || retries-- <= 0) throw error;
      await sleep(Math.min(waitMs, RETRY_AFTER_MAX_MS), { signal });
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

  async #sendOnce(spec: RequestSpec, signal: AbortSignal, refresh: boolean): Promise<Response> {
    const { server, transport, credentials, userAgent, compress } = this.#options;
    // Redirects are not followed: one could send the credentials elsewhere, or turn a write into a read.
    const request = new Request(urlOf(server, spec), { redirect: "manual", ...spec.init, signal });
    // Its own headers are changed, as a copy of `Headers` costs more than the request.
    const { headers } = request;
    if (!headers.has("user-agent")) headers.set("user-agent", userAgent);
    // By name: a runtime would accept brotli too, of which some kB become a body that stalls the event loop for seconds.
    if (!headers.has("accept-encoding")) headers.set("accept-encoding", compress ? "gzip" : "identity");
    await credentials?.apply(headers, { refresh, signal });
    try {
      const response = await transport.fetch(request);
      await checkEncoding(spec.action, response, headers.get("accept-encoding"));
      return response;
    } catch (cause) {
      if (isKnownError(cause)) throw cause;
      const error = unreachableError(`Cannot reach "${server.origin}" to ${spec.action}`, cause);
      if (isReset(cause)) this.#resets.add(error);
      throw error;
    }
  }
}

/** Paths that have no empty segment, and none that begins with a dot or is encoded at its beginning: no URL leads out of them. */
const PLAIN_PATH = /^(?:\/[\w~:-][\w~:.-]*)+(?:\?[\w~:.=&%+,-]*)?$/;

/** The URL of a request. @throws {TypeError} when it is not below the server's address. */
function urlOf(server: URL, spec: RequestSpec): string {
  const base = server.pathname === "/" ? "" : server.pathname.replace(/\/+$/, "");
  if (PLAIN_PATH.test(spec.path)) return `${server.origin}${base}${spec.path}`;
  const url = new URL(`${server.origin}${base}${spec.path}`);
  if (!spec.path.startsWith("/") || url.origin !== server.origin || !url.pathname.startsWith(`${base}/`)) {
    throw new TypeError(`Cannot ${spec.action}: a path must begin with "/" and stay below the server's address`);
  }
  return url.href;
}
