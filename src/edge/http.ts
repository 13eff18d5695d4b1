import { LongTimer, monotonicMs } from "../async/time.ts";
import { type EndData, eventText } from "./format.ts";

/**
 * The headers of answers: nothing is shared, kept without asking again, framed, run as a script, or guessed to be of
 * another type.
 */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "private, no-cache",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/** The headers of event streams: a browser that kept them would hold their connections. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  ...ANSWER_HEADERS,
  "cache-control": "no-store",
  "content-type": "text/event-stream",
  "x-accel-buffering": "no", // proxies are asked not to collect what comes slowly
};

/**
 * Kinds whose objects often hold credentials: Secrets, and the environment variables of pods and of what makes pods.
 */
const CONFIDENTIAL =
  /^(Secret|Pod|PodTemplate|ReplicationController|ReplicaSet|Deployment|StatefulSet|DaemonSet|Job|CronJob)$/;

/** Returns the headers of lists of a kind; browsers do not write lists to their disk that may hold credentials. */
export function listHeaders(kind: string): Readonly<Record<string, string>> {
  const cacheControl = CONFIDENTIAL.test(kind) ? "private, no-store" : "private, no-cache";
  return { ...ANSWER_HEADERS, "cache-control": cacheControl, "content-type": "application/json" };
}

/** Answers the request that a browser sends before one to another origin, for 10 minutes. */
export function answerPreflight(): Response {
  const headers = {
    ...ANSWER_HEADERS,
    "cache-control": "no-store",
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers": "authorization, content-type, if-none-match, last-event-id",
    "access-control-max-age": "600",
  };
  return new Response(null, { status: 204, headers });
}

/** The reason why a request is not answered. */
export interface Refusal {
  /** The status code. */
  readonly status: number;
  /** The reason, which follows "Cannot answer GET: ". */
  readonly reason: string;
}

/**
 * Answers a request by the reason, as JSON, and drops its body. A client that is refused by 503 may ask again after 2
 * s.
 */
export function refuse(
  request: Request,
  { status, reason }: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
  const headers = new Headers({ ...ANSWER_HEADERS, "cache-control": "no-store", ...more });
  if (status === 503) headers.set("retry-after", "2");
  return Response.json({ error: `Cannot answer ${request.method}: ${reason}` }, { status, headers });
}

/**
 * An answer of `authorize`: whether the request is answered, and until when a stream stays open; a response is sent as
 * it is.
 */
export type Authorization = boolean | Response | { readonly expiresAt: Date };

/** The objects that a request asks for, as `authorize` sees them. */
export interface RequestedData {
  /**
   * The names of the collections whose objects it asks for; none for `/api`, probes, metrics, and requests that are
   * refused anyway.
   */
  readonly collections: readonly string[];
  /**
   * The namespaces of these objects, of all collections together; `"all"` where it asks for all that the relay serves
   * of one. Those of a collection that is limited to some are named.
   */
  readonly namespaces: readonly string[] | "all";
}

/** Decides about a request, whose body has been read. */
export type AuthorizeRequest = (request: Request, requested: RequestedData) => Authorization | Promise<Authorization>;

/** A request that was read, and is answered once it was authorized. */
export interface RequestPlan {
  /** The objects that it asks for. */
  readonly requested: RequestedData;
  /** Answers it; a stream ends at `expiresAt`. */
  readonly answer: (expiresAt: Date | undefined) => Response | Promise<Response>;
}

/** No objects. */
const NOTHING: RequestedData = { collections: [], namespaces: [] };

/** Returns the plan of a request that asks for no objects. */
export function planWithoutData(answer: () => Response): RequestPlan {
  return { requested: NOTHING, answer };
}

/** Returns what a request asks for that asks for these, each of one collection. */
export function requestedOf(
  parts: readonly { readonly collection: string; readonly namespaces: readonly string[] | "all" }[],
): RequestedData {
  const namespaces = parts.map((part) => part.namespaces);
  return {
    collections: [...new Set(parts.map(({ collection }) => collection))],
    namespaces: namespaces.includes("all") ? "all" : [...new Set(namespaces.flat())],
  };
}

/**
 * Asks `authorize` about a request. Returns the time at which a stream ends, if there is one, or the answer to a
 * request that is refused.
 */
export async function askAuthorization(
  request: Request,
  requested: RequestedData,
  authorize: AuthorizeRequest,
): Promise<Response | { readonly expiresAt?: Date }> {
  const answer = await authorize(request, requested);
  if (answer === true) return {};
  if (answer === false) return refuse(request, { status: 403, reason: "not allowed" });
  if (answer instanceof Response) return new Response(answer.body, answer); // a copy: headers follow
  if (answer.expiresAt.getTime() > Date.now()) return answer;
  return refuse(request, { status: 401, reason: "the time for which this was allowed is over" });
}

/** The time that a client has to read why its stream ends, in milliseconds. */
const GRACE_MS = 5_000;

const encoder = new TextEncoder();

/** Options of an {@linkcode EventBody}. */
interface EventBodyOptions {
  /** Called when the client has read everything that was written. */
  readonly onRead: () => void;
  /** Called once, when nothing more is written: it was ended, or the client has gone. */
  readonly onEnd: () => void;
}

/**
 * The body of an event stream, which buffers nothing: it is written when its client has read what was written before.
 */
export class EventBody {
  /** The bytes of the response. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #onEnd: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** `true` if and only if the client has read everything that was written. */
  #hasRead = false;
  /** The time of the last write, by the monotonic clock. */
  #wroteAt: number = monotonicMs();
  #isOver = false;
  readonly #expiry = new LongTimer(() => this.end("expired"));
  readonly #grace = new LongTimer(() => this.#controller.error(new Error("The client does not read")));

  /** A body without bytes. */
  constructor({ onRead, onEnd }: EventBodyOptions) {
    this.#onEnd = onEnd;
    this.stream = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): void => {
        this.#hasRead = true;
        if (this.#isOver) this.#close();
        else onRead();
      },
      cancel: (): void => this.#stop(),
    }, { highWaterMark: 0 });
  }

  /** `true` if the client has read everything that was written, and may be written more. */
  get isReading(): boolean {
    return this.#hasRead && !this.#isOver;
  }

  /** The time since the last write, in milliseconds. */
  get idleMs(): number {
    return monotonicMs() - this.#wroteAt;
  }

  /** Writes bytes; {@linkcode isReading} is true. */
  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.#hasRead = false;
    this.#wroteAt = monotonicMs();
    this.#controller.enqueue(bytes);
  }

  /** Ends the body if the client has not read for `stallMs` what there is to read. */
  check(stallMs: number): void {
    if (!this.#hasRead && this.idleMs > stallMs) this.end("slow");
  }

  /** Ends the body at a time; `undefined` is never. */
  expireAt(at: Date | undefined): void {
    this.#expiry[Symbol.dispose]();
    if (at !== undefined && !this.#isOver) this.#expiry.arm(at.getTime() - Date.now());
  }

  /** Ends the body. The client has 5 s to read the reason. */
  end(reason: EndData["reason"]): void {
    if (this.#isOver) return;
    this.#stop();
    this.write(encoder.encode(eventText("end", JSON.stringify({ reason }))));
    this.#grace.arm(GRACE_MS);
  }

  /** Closes the body, whose client has read everything. */
  #close(): void {
    this.#grace[Symbol.dispose]();
    this.#controller.close();
  }

  #stop(): void {
    this.#expiry[Symbol.dispose]();
    this.#grace[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }
}

/** A request that is being answered: until its disposal, or, if its answer is a stream, until that ends. */
export class OpenRequest implements Disposable {
  readonly #onEnd: () => void;
  #isKept = false;
  #isOver = false;

  /** `onEnd` is called once. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Lets the disposal end nothing: the answer is a stream, whose end calls {@linkcode leave}. */
  keep(): void {
    this.#isKept = true;
  }

  /** Ends, as no more is sent. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }

  /** Ends, unless the answer is a stream. */
  [Symbol.dispose](): void {
    if (!this.#isKept) this.leave();
  }
}

/** Counts the requests that are being answered, open streams included. */
export class OpenRequests {
  /** The largest number of them. */
  readonly limit: number;
  #size = 0;

  /** None so far. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** The number of requests that are being answered. */
  get size(): number {
    return this.#size;
  }

  /** Counts a request until it is over; `undefined` where there are too many already. */
  admit(): OpenRequest | undefined {
    if (this.#size >= this.limit) return undefined;
    this.#size++;
    return new OpenRequest(() => this.#size--);
  }
}

/** The connection of a request, which servers pass beside it. */
export interface ConnectionInfo {
  /** The address of the other end. */
  readonly remoteAddr: object;
}

/** Options of a {@linkcode RequestGuard}. */
interface GuardOptions {
  /** The names of hosts in addresses, without ports; `*.example.com` stands for all names that end so. */
  readonly hosts: readonly string[];
  /** The origins of other sites whose pages may read the answers. */
  readonly origins: readonly string[];
  /** `true` if only clients on this machine are answered. */
  readonly isLocal: boolean;
}

/** The names of this machine on itself. */
export const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** The names of headers that proxies and content delivery networks add to the requests that they pass on. */
const PROXY_HEADER =
  /^(forwarded|via|cdn-loop|x-(forwarded|original|envoy)-.*|x-real-ip|((cf|fastly)-connecting|(true|fly|fastly|x|x-cluster)-client)-ip)$/;

/** The longest query of an address, in characters. */
const MAX_QUERY = 4_096;

/** Decides from the address and headers of a request whether it is answered at all. */
export class RequestGuard {
  readonly #options: GuardOptions;
  readonly #origins: ReadonlySet<string>;

  /** @throws {TypeError} when an origin is none. */
  constructor(options: GuardOptions) {
    this.#options = { ...options, hosts: options.hosts.map((it) => it.toLowerCase()) };
    for (const origin of options.origins) {
      if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
        throw new TypeError(`Cannot allow ${JSON.stringify(origin)}: expected an origin such as https://example.com`);
      }
    }
    this.#origins = new Set(options.origins);
  }

  /** Returns the reason not to answer, if there is one. */
  check(request: Request, info: ConnectionInfo | undefined): Refusal | undefined {
    const { isLocal } = this.#options;
    const url = URL.parse(request.url); // servers put the header Host into it unchecked
    if (url === null) return { status: 400, reason: "the host is none; expected a name and a port" };
    const { host, search } = url;
    if (isLocal && !isLoopback((info?.remoteAddr as { hostname?: unknown } | undefined)?.hostname)) {
      return { status: 403, reason: "without authorize, only clients on the same machine are answered" };
    }
    if (isLocal && [...request.headers.keys()].some((name) => PROXY_HEADER.test(name))) {
      return { status: 403, reason: "without authorize, no proxy may pass requests on" };
    }
    // Pages of other sites can make a name of theirs point to this machine.
    if (!this.#isHost(request.headers.get("host") ?? host)) {
      return { status: 421, reason: "the host is none of this server; add it to hosts" };
    }
    if (!this.#isOrigin(request, url)) {
      return { status: 403, reason: "the page is of another origin; add it to origins" };
    }
    if (search.length > MAX_QUERY) {
      return { status: 414, reason: `the query is longer than ${MAX_QUERY} characters` };
    }
    return undefined;
  }

  /** Returns the headers that let the page of the request read the answer. */
  corsHeaders(request: Request): Record<string, string> {
    const origin = request.headers.get("origin");
    if (this.#origins.size === 0) return {};
    if (origin === null || !this.#origins.has(origin)) return { vary: "origin" };
    return { vary: "origin", "access-control-allow-origin": origin, "access-control-expose-headers": "etag" };
  }

  #isHost(host: string): boolean {
    const name = host.toLowerCase().replace(/:\d+$/, "");
    return this.#options.hosts.some((allowed) =>
      allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) && name.length > allowed.length - 1 : name === allowed
    );
  }

  #isOrigin(request: Request, { host, pathname }: URL): boolean {
    const origin = request.headers.get("origin");
    if (origin !== null) {
      if (this.#origins.has(origin)) return true;
      const own = (request.headers.get("host") ?? host).toLowerCase();
      return URL.canParse(origin) && new URL(origin).host === own;
    }
    // Browsers leave the origin out of some requests, and then say this.
    const site = request.headers.get("sec-fetch-site");
    if (site === null || site === "same-origin" || site === "none") return true;
    // A link of another site may open the page, but no data, and not in a frame: that loads the relay, though nobody
    // can read it.
    return pathname === "/" && request.headers.get("sec-fetch-mode") === "navigate" &&
      request.headers.get("sec-fetch-dest") === "document";
  }
}

function isLoopback(hostname: unknown): boolean {
  if (typeof hostname !== "string") return false;
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(hostname) || hostname === "::1" || hostname === "[::1]";
}

/** A stream of events that may end by time. */
interface ExpiringStream {
  /** The body of the answer. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Ends the stream at a time, with the reason `expired` as its last event; `undefined` is never. */
  expireAt(at: Date | undefined): void;
}

/** Options of {@linkcode streamResponse}. */
interface StreamResponseOptions {
  /** The request, which lasts as long as the stream. */
  readonly open: OpenRequest;
  /** The time at which the stream ends; `undefined` if it does not. */
  readonly expiresAt: Date | undefined;
}

/**
 * Returns the response to a request for the stream that `begin` returns, which calls `onEnd` once, when it has ended.
 */
export function streamResponse(
  begin: (onEnd: () => void) => ExpiringStream,
  { open, expiresAt }: StreamResponseOptions,
): Response {
  const stream = begin(() => open.leave());
  open.keep();
  stream.expireAt(expiresAt);
  return new Response(stream.body, { headers: STREAM_HEADERS });
}
