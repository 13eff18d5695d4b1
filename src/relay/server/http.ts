/**
 * Requests to a relay: the guard, refusals, and what `authorize` grants.
 *
 * {@linkcode RequestGuard} and {@linkcode askAccess} are the entry points. A request becomes a plan, then `authorize`
 * is asked, then the relay answers. This file reads no cache.
 *
 * @module
 */
import { refusal as statusError, statusJson } from "../../engine/protocol/refusal.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { ConnectionInfo, Grant, RelaySettings, RequestedData, RequestedPart } from "./options.ts";
import { checkGrant } from "./rights.ts";

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

/** The prefix of the paths of the Kubernetes API. */
export const KUBERNETES_PREFIX = "/kubernetes";

/** Returns `true` for an address of the Kubernetes API. */
export function isKubernetes({ pathname }: Pick<URL, "pathname">): boolean {
  return pathname === KUBERNETES_PREFIX || pathname.startsWith(`${KUBERNETES_PREFIX}/`);
}

/**
 * Answers a request by the reason, as JSON, which is a Status for one of the Kubernetes API, and drops its body. A
 * client that is refused by 503 may ask again after 2 s.
 */
export function refuseRequest(
  request: Request,
  { status, reason }: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
  const headers = new Headers({ ...ANSWER_HEADERS, "cache-control": "no-store", ...more });
  if (status === 503) headers.set("retry-after", "2");
  const error = `Cannot answer ${quoted(request.method, MAX_METHOD)}: ${reason}`;
  const url = URL.parse(request.url);
  const body = url !== null && isKubernetes(url) ? statusJson(statusError(status, error).status) : { error };
  return Response.json(body, { status, headers });
}

/** A request that was read, and is answered once it was authorized. */
export interface RequestPlan {
  /** The objects that it asks for. */
  readonly requested: RequestedData;
  /** Answers it, by what was granted to it. */
  readonly answer: (access: Access) => Response | Promise<Response>;
}

/** No objects. */
const NOTHING: RequestedData = { collections: [], namespaces: [], parts: [], follows: false };

/** Returns the plan of a request that asks for no objects. */
export function planWithoutData(answer: RequestPlan["answer"]): RequestPlan {
  return { requested: NOTHING, answer };
}

/** Returns what a request asks for that asks for these, each of one collection, and perhaps follows them. */
export function requestedOf(parts: readonly RequestedPart[], follows: boolean): RequestedData {
  const namespaces = parts.map((part) => part.namespaces);
  return {
    collections: [...new Set(parts.map(({ collection }) => collection))],
    namespaces: namespaces.includes("all") ? "all" : [...new Set(namespaces.flat())],
    parts,
    follows,
  };
}

/** A request about which `authorize` is asked. */
interface Question {
  readonly request: Request;
  readonly requested: RequestedData;
  readonly connection: ConnectionInfo | undefined;
}

/** The rights and times that were granted to a request. */
export interface Access extends Grant {
  /** Asks again, where that is to be done. Never rejects: an error is reported, and is a refusal. */
  readonly again?: () => Promise<Response | Access>;
}

/** Asks `authorize` about a request. Returns what it grants, or the answer to a request that is refused. */
export async function askAccess(
  question: Question,
  settings: Pick<RelaySettings, "authorize" | "predicates" | "collections" | "onError">,
): Promise<Response | Access> {
  const { request, requested, connection } = question;
  const answer = settings.authorize === undefined || await settings.authorize(request, requested, connection);
  if (answer === true) return {};
  if (answer === false) return refuseRequest(request, { status: 403, reason: "not allowed" });
  if (answer instanceof Response) return new Response(answer.body, answer); // a copy: headers follow
  const { expiresAt, rights, askAgainAt } = checkGrant(answer, settings);
  if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
    return refuseRequest(request, { status: 401, reason: "your permission has expired" });
  }
  if (rights !== undefined && requested.collections.some((name) => !Object.hasOwn(rights, name))) {
    return refuseRequest(request, { status: 403, reason: "not allowed" });
  }
  if (askAgainAt === undefined) return answer;
  const { url, method, headers } = request;
  const same = new Request(url, { method, headers }); // servers forget a request that was answered
  const again = async (): Promise<Response | Access> => {
    try {
      return await askAccess({ ...question, request: same }, settings);
    } catch (cause) {
      settings.onError(new InformerError("Cannot check again whether a stream may continue", { cause }));
      return refuseRequest(same, { status: 500, reason: "the relay failed; its log has the reason" });
    }
  };
  return { ...answer, again };
}

/** A request that is being answered: until its disposal, or, if its answer is a stream, until that ends. */
export class OpenRequest implements Disposable {
  /** Receives the errors of its answer, if that is a stream. */
  readonly report: (error: Error) => void;
  readonly #onEnd: () => void;
  #isKept = false;
  #isOver = false;

  /** `onEnd` is called once. */
  constructor(onEnd: () => void, report: (error: Error) => void) {
    this.#onEnd = onEnd;
    this.report = report;
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
  readonly #report: (error: Error) => void;
  #size = 0;

  /** None so far; `onError` receives the errors of streams. */
  constructor({ maxConnections, onError }: Pick<RelaySettings, "maxConnections" | "onError">) {
    this.limit = maxConnections;
    this.#report = onError;
  }

  /** The number of requests that are being answered. */
  get size(): number {
    return this.#size;
  }

  /** Counts a request until it is over; `undefined` where there are too many already. */
  admit(): OpenRequest | undefined {
    if (this.#size >= this.limit) return undefined;
    this.#size++;
    return new OpenRequest(() => this.#size--, this.#report);
  }
}

/** The names of headers that proxies and content delivery networks add to the requests that they pass on. */
const PROXY_HEADER =
  /^(forwarded|via|cdn-loop|x-(forwarded|original|envoy)-.*|x-real-ip|((cf|fastly)-connecting|(true|fly|fastly|x|x-cluster)-client)-ip)$/;

/** The longest path, and the longest query of an address, in characters. */
const MAX_PATH = 1_024;
const MAX_QUERY = 4_096;

/** The longest method, in characters. */
const MAX_METHOD = 20;

/**
 * The longest value of these headers, in characters. Other headers are compared, or are read up to a bound of their
 * own; `authorize` may read any.
 */
const MAX_HEADER = 1_024;
const READ_HEADERS = ["accept", "host", "if-none-match", "origin"];

/**
 * Decides from the address and headers of a request whether it is answered at all.
 *
 * Everything that is read before `authorize` is asked is bounded here, or where it is read, and costs time in
 * proportion to its length. No regular expression with a repeated group runs over it, which `deno task layers` checks.
 *
 * | what | the most | the answer to more |
 * | --- | --- | --- |
 * | requests that are answered | `maxConnections` | 503 |
 * | the method | 20 characters | 501 |
 * | the path | 1,024 characters | 414 |
 * | the query | 4,096 characters | 414 |
 * | Accept, Host, If-None-Match, Origin | 1,024 characters each | 431 |
 * | Last-Event-ID, `lastEventId` | 1,000 characters | a snapshot: the id is none of a relay |
 * | the body of `POST /views/<id>` | 16,384 bytes, within 5 s | 413, 408 |
 * | views of a stream, rows of a window | 16, 1,000 | 400 |
 * | sort keys of a view, and its fields | 100 each | 400 |
 * | a path in `fields` | 512 characters | 400 |
 * | below `/kubernetes`, parameters but selectors and `continue` | 100 characters each | 400 |
 * | below `/kubernetes`, the name of an object | 253 characters | 404 |
 * | the input in the text of an error | 100 characters | cut |
 */
export class RequestGuard {
  readonly #hosts: readonly string[];
  readonly #origins: ReadonlySet<string>;
  /** `true` if only clients on this machine are answered. */
  readonly #isLocal: boolean;

  /** @throws {TypeError} when an origin is none. */
  constructor({ hosts, origins, authorize }: Pick<RelaySettings, "hosts" | "origins" | "authorize">) {
    for (const origin of origins) {
      if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
        throw new TypeError(`Cannot allow ${JSON.stringify(origin)}: it is not an origin such as https://example.com`);
      }
    }
    this.#hosts = hosts.map((it) => it.toLowerCase());
    this.#origins = new Set(origins);
    this.#isLocal = authorize === undefined;
  }

  /** Returns the reason not to answer under the host of a request, if there is one. */
  checkHost(request: Request): Refusal | undefined {
    const url = URL.parse(request.url); // servers put the header Host into it unchecked
    if (url === null) return { status: 400, reason: "the header Host is not a name and a port" };
    // Pages of other sites can make a name of theirs point to this machine.
    if (this.#isHost(request.headers.get("host") ?? url.host)) return undefined;
    return {
      status: 421,
      reason: "this server does not serve this host; add it to the option hosts, or pass --host on the command line",
    };
  }

  /** Returns the reason not to answer, if there is one. */
  check(request: Request, info: ConnectionInfo | undefined): Refusal | undefined {
    const wrongHost = this.checkHost(request);
    if (wrongHost?.status === 400) return wrongHost;
    const url = new URL(request.url);
    const { pathname, search } = url;
    if (this.#isLocal && !isLoopback(info?.remoteAddr.hostname)) {
      return { status: 403, reason: "without authorize, only clients on the same machine get a response" };
    }
    if (this.#isLocal && [...request.headers.keys()].some((name) => PROXY_HEADER.test(name))) {
      return { status: 403, reason: "without authorize, a proxy must not forward requests" };
    }
    if (wrongHost !== undefined) return wrongHost;
    if (!this.#isOrigin(request, url)) {
      return { status: 403, reason: "the page comes from another origin; add it to the option origins" };
    }
    if (request.method.length > MAX_METHOD) {
      return { status: 501, reason: `the method is longer than ${MAX_METHOD} characters` };
    }
    if (pathname.length > MAX_PATH) return { status: 414, reason: `the path is longer than ${MAX_PATH} characters` };
    if (search.length > MAX_QUERY) return { status: 414, reason: `the query is longer than ${MAX_QUERY} characters` };
    const long = READ_HEADERS.find((name) => (request.headers.get(name) ?? "").length > MAX_HEADER);
    if (long !== undefined) {
      return { status: 431, reason: `the header "${long}" is longer than ${MAX_HEADER} characters` };
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
    return this.#hosts.some((allowed) =>
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
