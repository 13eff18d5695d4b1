import { UnreachableError } from "../../api/errors.ts";
import { RETRY_AFTER_MAX_MS } from "../../api/status.ts";
import type { Transport } from "../../api/transport.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { sleep } from "../../async/time/sleep.ts";
import type { Credentials } from "./credentials.ts";
import { Exchange, isNamed, reasonOf } from "./exchange.ts";
import { MAX_OBJECT_BYTES } from "../decode/line_splitter.ts";
import type { Ask } from "../requests.ts";
import { jsonOf, retryAfterMsOf, statusErrorOf } from "./response.ts";
import { warningsOf } from "./warnings.ts";

/** What every request of a client has in common. */
export interface ConnectionOptions {
  /** Address, perhaps with a path in front of all others. */
  readonly server: URL;
  /** Carries requests. */
  readonly transport: Transport;
  /** Adds credentials, where there are any. */
  readonly credentials?: Credentials;
  /** What `User-Agent` says. */
  readonly userAgent: string;
  /** Whether answers may be compressed. */
  readonly compress: boolean;
  /** How often a request that the server puts off is repeated. */
  readonly retries: number;
  /** What an answer that is one JSON value may measure, in bytes. @default {67_108_864} */
  readonly maxObjectBytes?: number;
  /** Told of each warning. */
  readonly onWarning?: (warning: string) => void;
}

/** Sends requests to one server: adds what all have in common, waits and repeats where that helps, names what went wrong. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  readonly #underWay = new Set<DerivedController>();
  #disposed = false;

  /** Nothing is sent yet. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Address of the server. */
  get server(): URL {
    return this.#options.server;
  }

  /**
   * Sends a request and answers when the server has accepted it. The exchange must be read to its end or disposed.
   *
   * - A 401 is answered once by asking the credentials anew.
   * - 429 and 5xx with `Retry-After` are repeated after that time, 5 minutes at most, if the request is patient (client-go
   *   `with_retry.go`); a body that is a stream is sent once.
   * - Nothing of this stays on `signal` when the exchange is over.
   */
  async open(ask: Ask, signal?: AbortSignal): Promise<Exchange> {
    signal?.throwIfAborted();
    if (this.#disposed) throw new Error(`Cannot ${ask.action}: the client is disposed`);
    const controller = new DerivedController(signal);
    this.#underWay.add(controller);
    controller.signal.addEventListener("abort", () => this.#underWay.delete(controller), { once: true });
    try {
      const response = await this.#send(ask, controller.signal);
      return new Exchange(ask.action, this.server, response, controller);
    } catch (error) {
      const explained = controller.signal.aborted ? controller.signal.reason : error;
      controller[Symbol.dispose]();
      throw explained;
    }
  }

  /** The JSON value that the server answers. */
  async json(ask: Ask, signal?: AbortSignal): Promise<unknown> {
    using exchange = await this.open(ask, signal);
    const { maxObjectBytes = MAX_OBJECT_BYTES } = this.#options;
    try {
      return await jsonOf(ask.action, this.server, exchange.response, maxObjectBytes);
    } catch (error) {
      throw exchange.explain(error);
    }
  }

  /** Ends all requests under way, which reject, and frees the transport. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const controller of [...this.#underWay]) {
      controller.abort(new DOMException("The client is disposed", "AbortError"));
    }
    this.#options.transport[Symbol.dispose]?.();
  }

  /** The first answer that is not a refusal. */
  async #send(ask: Ask, signal: AbortSignal): Promise<Response> {
    const { credentials } = this.#options;
    const repeatable = !(ask.init.body instanceof ReadableStream);
    let retries = ask.patient && repeatable ? this.#options.retries : 0;
    let renewals = credentials !== undefined && repeatable ? 1 : 0;
    for (let refresh = false;;) {
      const response = await this.#sendOnce(ask, signal, refresh);
      refresh = false;
      await this.#warn(response);
      if (response.ok) return response;
      const error = await statusErrorOf(ask.action, ask.init.method?.toUpperCase() ?? "GET", response);
      if (response.status === 401 && renewals-- > 0) {
        refresh = true;
        continue;
      }
      const waitMs = response.status === 429 || response.status >= 500 ? retryAfterMsOf(response.headers) : undefined;
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

  async #sendOnce(ask: Ask, signal: AbortSignal, refresh: boolean): Promise<Response> {
    const { server, transport, credentials, userAgent, compress } = this.#options;
    const headers = new Headers(ask.init.headers);
    if (!headers.has("user-agent")) headers.set("user-agent", userAgent);
    if (!compress && !headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
    await credentials?.apply(headers, { refresh, signal });
    // A redirect is refused: it would take the credentials elsewhere, or turn a write into a read.
    const request = new Request(urlOf(server, ask), { redirect: "manual", ...ask.init, headers, signal });
    try {
      return await transport.fetch(request);
    } catch (cause) {
      if (isNamed(cause)) throw cause;
      throw new UnreachableError(`Cannot reach "${server.origin}" to ${ask.action}: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** @throws {TypeError} when the path leads out of the server's own. */
function urlOf(server: URL, ask: Ask): URL {
  const base = server.pathname.replace(/\/+$/, "");
  const url = new URL(`${server.origin}${base}${ask.path}`);
  if (!ask.path.startsWith("/") || url.origin !== server.origin || !url.pathname.startsWith(`${base}/`)) {
    throw new TypeError(`Cannot ${ask.action}: a path must begin with "/" and stay below the server's address`);
  }
  return url;
}
