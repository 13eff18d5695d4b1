import type { KubernetesObject } from "../api/object.ts";
import { namespacesOf, type Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import type { Transport } from "../api/transport.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { checkDurations } from "../async/time/duration.ts";
import { Collection } from "./collection.ts";
import { Connection } from "./http/connection.ts";
import type { Credentials } from "./http/credentials.ts";
import { type ApiResource, discover, type DiscoverOptions } from "./discovery.ts";
import type { ResourceClient } from "./resource_client.ts";
import { VERSION } from "./version.ts";

/** How a {@linkcode Client} talks to its server. */
export interface ClientOptions {
  /**
   * Address of the API server, `"https://10.0.0.1:6443"`. A path in it is put in front of all others
   * (`"https://rancher.example/k8s/clusters/c-1"`); it must not hold a user, a query or a fragment.
   */
  readonly server: string | URL;
  /** The namespace of objects by name, and new ones, where nothing else names one. @default {"", none} */
  readonly namespace?: string;
  /** Carries requests, and is disposed with the client. @default {globalThis.fetch} */
  readonly transport?: Transport;
  /** Adds credentials to requests. @default {none: the server sees "system:anonymous"} */
  readonly credentials?: Credentials;
  /** What `User-Agent` says; browsers say their own. @default {"kube-informer/<version>"} */
  readonly userAgent?: string;
  /** Whether lists may be compressed, which pays over slow networks and costs over fast ones. @default {true} */
  readonly compress?: boolean;
  /** How often a request is repeated that the server puts off by `Retry-After`. @default {10} */
  readonly retries?: number;
  /**
   * What one object may measure on its way, uncompressed, in bytes; a longer one is a `DecodeError`. Holds for each object of
   * lists and watches, and for each other answer, those of discovery too. @default {67_108_864}
   */
  readonly maxObjectBytes?: number;
  /** Called with the text of each `Warning` that the server sends. What it throws is what the request rejects with. */
  readonly onWarning?: (warning: string) => void;
}

/**
 * Talks to one API server.
 *
 * Disposing it ends every request and watch under way, and its transport.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const transport = new FakeApiServer(); // for a real server leave the transport out, and say where it is
 * using client = new Client({ server: "http://fake", transport });
 * const maps = client.resource(ConfigMap, { namespace: "shop" });
 * await maps.create({ metadata: { name: "settings" }, data: { colour: "red" } });
 * const { items, resourceVersion } = await maps.list();
 * assertEquals(items.map((map) => map.data?.colour), ["red"]);
 * await maps.delete("settings");
 * for await (const event of maps.follow({ resourceVersion })) {
 *   assertEquals(event.type, "DELETED");
 *   break;
 * }
 * ```
 */
export class Client implements Disposable {
  /** The namespace of objects by name where nothing else names one; `""` for none. */
  readonly namespace: string;
  readonly #server: URL;
  readonly #connection: Connection;
  readonly #maxObjectBytes: number | undefined;
  #discovered: { readonly at: number; readonly resources: readonly ApiResource[] } | undefined;

  /**
   * A client of one server; nothing is sent yet.
   *
   * @throws {TypeError} when the server is not an http or https address, or holds a user, a query or a fragment.
   * @throws {RangeError} when `retries` or `maxObjectBytes` is not a whole number of at least 0.
   */
  constructor(options: ClientOptions) {
    const { namespace = "", transport = { fetch: (request) => fetch(request) }, credentials, onWarning } = options;
    const { userAgent = `kube-informer/${VERSION}`, compress = true, retries = 10, maxObjectBytes } = options;
    for (const [name, value] of Object.entries({ retries, maxObjectBytes })) {
      if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
        throw new RangeError(`Cannot create a client: ${name} must be a whole number of at least 0, found ${value}`);
      }
    }
    this.namespace = namespace;
    this.#server = serverOf(options.server);
    this.#maxObjectBytes = maxObjectBytes;
    this.#connection = new Connection({
      server: this.#server,
      transport,
      credentials,
      userAgent,
      compress,
      retries,
      maxObjectBytes,
      onWarning,
    });
  }

  /** Address of the server, with the path that all others follow; a copy. */
  get server(): URL {
    return new URL(this.#server);
  }

  /**
   * The part `selection` of the collection of a kind: all of it unless given.
   *
   * @throws {TypeError} when it has several `namespaces`: one request is of one namespace, or of all. Follow several by
   * `SharedInformerFactory`, or ask for each; one that is alone in the list is as good as `namespace`.
   */
  resource<T extends KubernetesObject>(resource: Resource<T>, selection: Selection = {}): ResourceClient<T> {
    return new Collection(this.#connection, resource, oneNamespace(resource, selection), {
      namespace: this.namespace,
      maxObjectBytes: this.#maxObjectBytes,
    });
  }

  /**
   * Asks for any path of the server, with the client's credentials, as `fetch` would.
   *
   * - The path begins with a slash, may have a query, and stays below the server's own. `init` is that of `fetch`; what
   *   `init.signal` aborts is the body too.
   * - The answer's status is 2xx. Its body must be read to the end or cancelled, and its `url` is empty.
   * - A request that the server puts off is repeated, unless its body is a stream. Redirects are errors, unless
   *   `init.redirect` says otherwise.
   *
   * @throws {StatusError} for every other status, here and in the body {@linkcode UnreachableError} when the server is not
   * there or goes away, and {@linkcode TypeError} for a path that leads elsewhere.
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    const action = `${(init.method ?? "GET").toUpperCase()} "${path.split("?", 1)[0]}"`;
    const exchange = await this.#connection.open({ action, path, init: rest, patient: true }, signal ?? undefined);
    return exchange.detach();
  }

  /**
   * What the server has: kinds with their names, verbs and versions. See `findResource` for what a person types.
   *
   * Two requests on servers since 1.27, one more for each group version on older ones. A group that cannot be asked (the
   * server behind an aggregated API is down) is told to `onError`, and does not hide the others. A complete answer is
   * remembered for a minute, or as long as `maxAgeMs` allows.
   *
   * @throws what the first request failed with, when nothing at all could be read.
   */
  async discover(options: DiscoverOptions = {}): Promise<ApiResource[]> {
    const { signal, maxAgeMs = 60_000, onError } = options;
    checkDurations("discover resources", { maxAgeMs });
    signal?.throwIfAborted();
    const known = this.#discovered;
    if (known !== undefined && monotonicMs() - known.at < maxAgeMs) return [...known.resources];
    let complete = true;
    const resources = await discover(
      (path, accept) =>
        this.#connection.json(
          { action: `discover "${path}"`, path, init: { headers: { accept } }, patient: true },
          signal,
        ),
      {
        signal,
        onError: (error, groupVersion) => {
          complete = false;
          onError?.(error, groupVersion);
        },
      },
    );
    if (complete) this.#discovered = { at: monotonicMs(), resources };
    return [...resources];
  }

  /** Ends all requests and watches under way, which reject, and frees the transport. Twice does no harm. */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

/** The selection, by `namespace` alone. @throws {TypeError} when that cannot say what is meant. */
function oneNamespace(resource: Resource, selection: Selection): Selection {
  if (selection.namespaces === undefined) return selection;
  const { namespaces: _several, ...rest } = selection;
  const namespaces = namespacesOf(selection)!;
  if (namespaces.length === 1) return { ...rest, namespace: namespaces[0] };
  throw new TypeError(
    `Cannot ask for "${resourceName(resource)}" in namespaces ${JSON.stringify(namespaces)}: one request is of one ` +
      `namespace; ask for each, or follow them by a SharedInformerFactory`,
  );
}

/** Never says what it found where that could hold a password. */
function serverOf(server: string | URL): URL {
  const text = String(server);
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    // The cause would quote it.
    if (text.includes("@")) throw new TypeError(`Cannot use "[redacted]" as server: it is not a URL`);
    throw new TypeError(`Cannot use "${text}" as server: it is not a URL; write "https://host:port"`, { cause });
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Cannot use "${url.protocol}//[redacted]@${url.host}" as server: it holds credentials; pass them as credentials`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const shown = text.includes("@") ? "[redacted]" : text;
    throw new TypeError(`Cannot use "${shown}" as server: it begins with neither "http://" nor "https://"`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError(
      `Cannot use "${url.origin}${url.pathname}" as server: a query or fragment cannot be part of it`,
    );
  }
  return url;
}
