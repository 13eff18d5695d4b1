/**
 * The client of one API server: it turns calls into HTTP requests, and the bytes of the answers into objects, entries and
 * changes.
 *
 * The entry point is {@linkcode Client}. `requests.ts` builds requests, `http/` sends them and reads bodies that can be
 * cancelled, `decode/` cuts objects out of bytes, `collection.ts` joins these to the calls of a `ResourceClient`. The
 * client keeps no cache and no watch open by itself, except in `follow()`; lists and watches of informers are retried by
 * the reflector.
 *
 * @module
 */
import type { ApiResource } from "../api/api_resource.ts";
import type { KubernetesObject } from "../api/object.ts";
import { checkSelectors } from "../api/check_selectors.ts";
import { namespacesOf, type Selection } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import type { Transport } from "../api/transport.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { checkDurations } from "../async/time/duration.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { accessLogOf } from "./access_used.ts";
import { Collection } from "./collection.ts";
import { Connection } from "./http/connection.ts";
import type { Credentials } from "./http/credentials.ts";
import { discover, type DiscoverOptions } from "./discover.ts";
import type { ResourceClient, ResourceClientOptions, ResourceClients } from "./resource_client.ts";
import { VERSION } from "./version.ts";

/** Options for {@linkcode Client}. */
export interface ClientOptions {
  /**
   * Address of the API server, `"https://10.0.0.1:6443"`. A path in it precedes the paths of all requests
   * (`"https://rancher.example/k8s/clusters/c-1"`). It must not have a user, a query or a fragment.
   */
  readonly server: string | URL;
  /** The default namespace of objects that are read by name or created. @default {"", none} */
  readonly namespace?: string;
  /** Sends requests; disposed with the client. @default {globalThis.fetch} */
  readonly transport?: Transport;
  /** Adds credentials to requests. @default {none: the server sees "system:anonymous"} */
  readonly credentials?: Credentials;
  /** The `User-Agent` header; browsers send their own. @default {"kube-informer/<version>"} */
  readonly userAgent?: string;
  /** Requests lists compressed by gzip, which are faster over slow networks and slower over fast ones. @default {true} */
  readonly compress?: boolean;
  /**
   * The number of times that a request is repeated which the server delays by `Retry-After`, or a read whose connection was
   * reset or which the server answered with 500, 502, 503 or 504, at most 5 times. 0 repeats nothing. @default {10}
   */
  readonly retries?: number;
  /**
   * The largest size of one object on the wire, uncompressed, in bytes; a larger one is a `DecodeError`. It applies to each
   * object of lists and watches, and to each other answer, those of discovery too. @default {67_108_864}
   */
  readonly maxObjectBytes?: number;
  /** Called with the text of each `Warning` that the server sends. The request rejects with an error that it throws. */
  readonly onWarning?: (warning: string) => void;
}

/**
 * A client of one API server.
 *
 * Disposing it ends every request and watch under way, and its transport.
 *
 * It ends a watch whose connection may be dead, which no byte would show; informers and `follow()` resume it, without a list and
 * without an error, and `watch()` rejects with an `UnreachableError`:
 *
 * - each watch, when the time of day has gained more than 20 s on the monotonic clock: the computer was suspended. It looks every
 *   5 s while a watch is open, renews at most once a minute, and within 2 s; a clock that was set back renews nothing.
 * - a watch that has had three bookmarks, and then was silent for twice the longest time between two of them; that at most once in
 *   10 minutes for a collection that has no event, as many servers send no bookmarks while nothing is written.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const transport = new FakeApiServer(); // for a real server: only its address
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
export class Client implements ResourceClients, Disposable {
  /** The default namespace of objects that are read by name or created; `""` for none. */
  readonly namespace: string;
  readonly #server: URL;
  readonly #connection: Connection;
  readonly #maxObjectBytes: number | undefined;
  /** Receives the errors of groups that cannot be read, where there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** The last complete answer of {@linkcode discover} and its monotonic time; `undefined` before the first. */
  #discovered: { readonly at: number; readonly resources: readonly ApiResource[] } | undefined;

  /**
   * Creates a client. Nothing is sent yet.
   *
   * @throws {TypeError} when the server is not an http or https address, or has a user, a query or a fragment.
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
      access: accessLogOf(this),
    });
  }

  /** A copy of the address of the server, with the path that precedes those of requests. */
  get server(): URL {
    return new URL(this.#server);
  }

  /**
   * Returns the collection of a kind, or the part of it that `selection` selects.
   *
   * `T` is the type of the objects. It may be given for a kind that was found by discovery, whose objects are
   * {@linkcode DynamicObject}s otherwise.
   *
   * @throws {TypeError} when `selection` has several `namespaces`: a request is of one namespace, or of all. Use a
   * `SharedInformerFactory` for several, or a collection for each.
   * @throws {SyntaxError} when a selector does not parse.
   */
  resource<T extends KubernetesObject>(
    resource: Resource<T> | ApiResource,
    selection: Selection = {},
    options: ResourceClientOptions = {},
  ): ResourceClient<T> {
    checkSelectors(selection);
    return new Collection<T>(this.#connection, resource as Resource<T>, oneNamespace(resource, selection), {
      namespace: this.namespace,
      maxObjectBytes: this.#maxObjectBytes,
      onWrite: options.onWrite,
      signal: options.signal,
    });
  }

  /**
   * Sends a request to any path of the server, with the credentials of the client, as `fetch` would.
   *
   * - The path begins with a slash, may have a query, and stays below the path of the server. `init` is that of `fetch`;
   *   `init.signal` aborts the body too.
   * - The answer's status is 2xx. Its body must be read to the end or cancelled, and its `url` is empty.
   * - A request that the server delays by `Retry-After` is repeated, unless its body is a stream. Redirects are errors, unless
   *   `init.redirect` says otherwise.
   *
   * @throws {StatusError} when the status is not 2xx.
   * @throws {UnreachableError} when the server cannot be reached, or the connection is lost while the body is read.
   * @throws {TypeError} when the path leads to another server or out of the path of the server.
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    const action = `${(init.method ?? "GET").toUpperCase()} "${path.split("?", 1)[0]}"`;
    const exchange = await this.#connection.open({ action, path, init: rest, patient: true }, signal ?? undefined);
    return exchange.detach();
  }

  /**
   * Returns the kinds that the server has, with their names, verbs and versions. `findResource` finds one by its name.
   *
   * Two requests on servers since 1.27, one more for each group version on older ones. A group that cannot be read (the
   * server of an aggregated API is down) is reported to `onError`, and the others are returned. A complete answer is cached
   * for a minute, or as long as `maxAgeMs` allows.
   *
   * @throws {Error} the error of the first request, when nothing could be read.
   */
  async discover(options: DiscoverOptions = {}): Promise<ApiResource[]> {
    const { signal, maxAgeMs = 60_000 } = options;
    const { onError = (error, groupVersion) => this.#reporter.report(`discovery of "${groupVersion}"`, error) } =
      options;
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
          onError(error, groupVersion);
        },
      },
    );
    if (complete) this.#discovered = { at: monotonicMs(), resources };
    return [...resources];
  }

  /** Ends all requests and watches under way, which reject, and disposes the transport. A second call does nothing. */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

/** Returns the selection with `namespace` alone. @throws {TypeError} when it has several namespaces. */
function oneNamespace(resource: Resource, selection: Selection): Selection {
  if (selection.namespaces === undefined) return selection;
  const { namespaces: _several, ...rest } = selection;
  const namespaces = namespacesOf(selection)!;
  if (namespaces.length === 1) return { ...rest, namespace: namespaces[0] };
  throw new TypeError(
    `Cannot request "${resourceName(resource)}" in namespaces ${JSON.stringify(namespaces)}: a request is of one ` +
      `namespace; use a collection for each, or use a SharedInformerFactory`,
  );
}

/** Parses the address. Its errors do not show anything that could be a password. */
function serverOf(server: string | URL): URL {
  const text = String(server);
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    // The cause would quote the address.
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
