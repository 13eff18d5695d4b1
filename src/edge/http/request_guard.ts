import type { Refusal } from "./refuse.ts";

/** The connection of a request, which servers pass beside it. */
export interface ConnectionInfo {
  /** The address of the other end. */
  readonly remoteAddr: object;
}

/** Options of a {@linkcode RequestGuard}. */
export interface GuardOptions {
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
    // A link of another site may open the page, but no data, and not in a frame: that loads the relay, though nobody can read it.
    return pathname === "/" && request.headers.get("sec-fetch-mode") === "navigate" &&
      request.headers.get("sec-fetch-dest") === "document";
  }
}

function isLoopback(hostname: unknown): boolean {
  if (typeof hostname !== "string") return false;
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(hostname) || hostname === "::1" || hostname === "[::1]";
}
