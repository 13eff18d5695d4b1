/**
 * Decides from the address and headers of a request whether a relay answers it at all.
 *
 * {@linkcode RequestGuard} is the entry point. Its table lists every bound on what strangers send. `authorize` is asked
 * later, in `access.ts`.
 *
 * @module
 */
import { MAX_METHOD, type Refusal, refuseRequest } from "./answers.ts";
import type { ConnectionInfo, RelaySettings } from "./options.ts";

/** The names of headers that proxies and content delivery networks add to the requests that they pass on. */
const PROXY_HEADER =
  /^(forwarded|via|cdn-loop|x-(forwarded|original|envoy)-.*|x-real-ip|((cf|fastly)-connecting|(true|fly|fastly|x|x-cluster)-client)-ip)$/;

/** The longest path, and the longest query of an address, in characters. */
const MAX_PATH = 1_024;
const MAX_QUERY = 4_096;

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

  /** Refuses a request to a host that this server does not serve; returns `undefined` for others. */
  refuseHost(request: Request): Response | undefined {
    const refusal = this.#checkHost(request);
    return refusal && refuseRequest(request, refusal);
  }

  #checkHost(request: Request): Refusal | undefined {
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
    const wrongHost = this.#checkHost(request);
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
