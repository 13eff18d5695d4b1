/**
 * A client for one API server: it turns calls into HTTP requests, and response bodies into objects, entries and
 * changes.
 *
 * The entry point is {@linkcode Client}. `resource_client.ts` builds requests, and `http/` sends them and reads bodies
 * that can be cancelled. `decode/` cuts objects out of bytes, and `collection.ts` combines all this into the calls of a
 * `ResourceClient`. The client keeps no cache, and opens a watch only when you call for one. It resumes only the
 * watches from `follow()`: for informers, the reflector retries lists and watches.
 *
 * @module
 */
import { type Impersonation, impersonationProblem } from "../api/impersonation.ts";
import type { Transport } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type Abortable, checkSelectors, namespacesOf, type Selection } from "../api/call_options.ts";
import { type ApiResource, apiVersionOf, inBestVersion, type Resource, resourceName } from "../api/resource.ts";
import type { PlacedRule } from "../api/roles.ts";
import { DecodeError, isNotFound } from "../api/status.ts";
import { checkCounts, checkDurations } from "../async/checks.ts";
import { monotonicMs } from "../async/time.ts";
import { ConsoleReporter, editDistance } from "../errors/errors.ts";
import { checkNames, namesOf } from "../errors/option_names.ts";
import { Collection } from "./collection.ts";
import { AccessLog, Connection, type Credentials, type RequestReport } from "./http/connection.ts";
import type { ResourceClient, ResourceClientOptions, ResourceClients } from "./resource_client.ts";
import { VERSION } from "./version.ts";

/** The names of all client options. */
const CLIENT_OPTIONS =
  "server namespace transport credentials userAgent compress retries maxObjectBytes validate onWarning onRequest";

/** The names of the options of `Client.resource`, which reconciles call often. */
const SELECTION_OPTIONS = namesOf<Selection>()("namespace namespaces labelSelector fieldSelector");
const COLLECTION_OPTIONS = namesOf<ResourceClientOptions>()("onWrite onUnanswered cached beforeSent signal");

const LOGS = new WeakMap<ResourceClients, AccessLog>();

/** Returns a client's log. The first call creates it. */
function accessLogOf(client: ResourceClients): AccessLog {
  const log = LOGS.get(client) ?? new AccessLog();
  LOGS.set(client, log);
  return log;
}

/**
 * Returns the RBAC rules that a client's requests have needed so far, whether or not the server allowed them. Call it
 * after a trial run to grant your program only the rights that it uses. `rolesYaml()` prints the rules as roles.
 *
 * - There is one rule for each verb, resource and namespace.
 * - All requests count: your calls, and the requests from informers, reconcilers, electors and recorders that use the
 *   client.
 * - `names` has up to 16 object names. With more names, or after a request for a collection, the rule covers all
 *   objects.
 * - A server-side apply also adds `create`, because the server requires it if the object does not exist.
 * - Discovery and paths such as `/version` add no rule: the ClusterRole `system:discovery` grants them to every user.
 *
 * @throws {TypeError} if `client` is not a {@linkcode Client}. The client that a reconcile receives has no rules: its
 * requests count for the reconciler's client, so pass that one.
 *
 * @example
 * ```ts
 * import { accessUsed, Client, rolesYaml } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await client.resource(ConfigMap, { namespace: "shop" }).list();
 * assertEquals(
 *   rolesYaml(accessUsed(client), { name: "shop-reader" }),
 *   `apiVersion: rbac.authorization.k8s.io/v1
 * kind: Role
 * metadata:
 *   name: "shop-reader"
 *   namespace: "shop"
 * rules:
 * - apiGroups: [""]
 *   resources: ["configmaps"]
 *   verbs: ["list"]
 * `,
 * );
 * ```
 */
export function accessUsed(client: ResourceClients): PlacedRule[] {
  const log = LOGS.get(client);
  if (log !== undefined) return log.rules();
  throw new TypeError(
    "Cannot list the access that was used: the argument is not a Client. Pass the client that made the requests",
  );
}

/** Options for {@linkcode Client.discover}. */
export interface DiscoverOptions extends Abortable {
  /**
   * How old a cached result may be, in milliseconds. 0 always asks the server, and `Infinity` accepts any age.
   *
   * @default {60_000}
   */
  readonly maxAgeMs?: number;
  /**
   * Called for each group version that could not be read, e.g. `"metrics.k8s.io/v1beta1"`. The result still has all
   * others. If a whole request failed, the name is `"api"` or `"apis"`. By default, each error is written to the
   * console.
   */
  readonly onError?: (error: unknown, groupVersion: string) => void;
}

/** Requests the JSON value at a path, in the format that `accept` names. */
type GetJson = (path: string, accept: string) => Promise<unknown>;

const JSON_TYPE = "application/json";

/**
 * Newest format first: one response with everything (Kubernetes 1.30, and 1.27 as a beta), or else a table of contents.
 */
const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat(JSON_TYPE).join(",");

/** The number of concurrent requests if each group version needs its own. */
const CONCURRENCY = 8;

/**
 * Returns the server's resources: the core group first, then the groups in server order, each with its preferred
 * version first. It sends two requests, and on servers before 1.27 one more for each group version.
 *
 * @throws {Error} the first request's error, if nothing could be read.
 */
async function discover(get: GetJson, options: DiscoverOptions): Promise<ApiResource[]> {
  return await settle(["/api", "/apis"], (root) => rootOf(get, root, options), (root) => root.slice(1), options);
}

/**
 * Returns `true` if a server has no core group. That is no failure: you may ask an aggregated API's server directly.
 */
function isAbsent(error: unknown, place: unknown): boolean {
  return place === "/api" && isNotFound(error);
}

async function rootOf(get: GetJson, root: string, options: DiscoverOptions): Promise<ApiResource[]> {
  const answer = await get(root, AGGREGATED) as Root;
  if (answer.kind === "APIGroupDiscoveryList") return aggregated(answer, options);
  const groups = answer.kind === "APIVersions" ? [{ name: "", versions: answer.versions }] : answer.groups ?? [];
  return await settle(groups.flatMap(versionsOf), (version) => askOne(get, version), apiVersionOf, options);
}

/** Asks for all `places`, a few at a time. It skips failed places, unless all fail. */
async function settle<P>(
  places: readonly P[],
  ask: (place: P) => Promise<ApiResource[]>,
  nameOf: (place: P) => string,
  { signal, onError }: DiscoverOptions,
): Promise<ApiResource[]> {
  const found: ApiResource[][] = [];
  const errors: unknown[] = [];
  const waiting = places.entries();
  const work = async (): Promise<void> => {
    for (const [i, place] of waiting) {
      try {
        found[i] = await ask(place);
      } catch (error) {
        errors.push(error);
        if (!signal?.aborted && !isAbsent(error, place)) onError?.(error, nameOf(place));
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  signal?.throwIfAborted();
  if (errors.length > 0 && errors.length === places.length) throw errors[0];
  return found.flat();
}

interface Root {
  readonly kind?: unknown;
  readonly items?: readonly AggregatedGroup[];
  readonly versions?: readonly string[];
  readonly groups?: readonly {
    readonly name?: string;
    readonly versions?: readonly (string | { readonly version: string })[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope?: string;
      readonly singularResource?: string;
      readonly verbs?: readonly string[];
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
      readonly subresources?: readonly { readonly subresource: string }[];
    }[];
  }[];
}

function aggregated(list: Root, { onError }: DiscoverOptions): ApiResource[] {
  const found: ApiResource[] = [];
  for (const { metadata, versions } of list.items ?? []) {
    const group = metadata?.name ?? "";
    for (const [i, { version, freshness, resources }] of (versions ?? []).entries()) {
      if (freshness === "Stale") {
        const name = apiVersionOf({ group, version });
        onError?.(
          new Error(
            `Cannot discover "${name}": the API server gets no response from the server that provides this group`,
          ),
          name,
        );
      }
      for (const entry of resources ?? []) {
        found.push({
          group,
          version,
          plural: entry.resource,
          kind: entry.responseKind?.kind ?? "",
          scope: entry.scope === "Cluster" ? "Cluster" : "Namespaced",
          singular: entry.singularResource || (entry.responseKind?.kind ?? "").toLowerCase(),
          shortNames: entry.shortNames ?? [],
          categories: entry.categories ?? [],
          verbs: entry.verbs ?? [],
          subresources: (entry.subresources ?? []).map(({ subresource }) => subresource),
          preferred: i === 0,
        });
      }
    }
  }
  return found;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly preferred: boolean;
}

function versionsOf(group: NonNullable<Root["groups"]>[number]): GroupVersion[] {
  const versions = (group.versions ?? []).map((version) => typeof version === "string" ? version : version.version);
  const preferred = group.preferredVersion?.version ?? versions[0];
  // The preferred version first, like in the aggregated format. The others keep their order.
  return [...new Set([preferred, ...versions])].filter((version) => version !== undefined)
    .map((version) => ({ group: group.name ?? "", version, preferred: version === preferred }));
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly singularName?: string;
    readonly namespaced?: boolean;
    readonly kind: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

async function askOne(get: GetJson, place: GroupVersion): Promise<ApiResource[]> {
  const { group, version, preferred } = place;
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await get(path, JSON_TYPE) as ResourceList | null;
  if (typeof list !== "object" || list === null) {
    const sent = `the server sent ${JSON.stringify(list)} instead of a list of resources`;
    throw new DecodeError(`Cannot discover "${apiVersionOf(place)}": ${sent}`);
  }
  const resources = list.resources ?? []; // Go writes an empty list as null
  return resources.filter(({ name }) => !name.includes("/")).map((entry) => ({
    group,
    version,
    plural: entry.name,
    kind: entry.kind,
    scope: entry.namespaced ? "Namespaced" : "Cluster",
    singular: entry.singularName || entry.kind.toLowerCase(),
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    verbs: entry.verbs ?? [],
    subresources: resources.filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map(({ name }) => name.slice(entry.name.length + 1)),
    preferred,
  }));
}

/** Options for {@linkcode Client}. */
export interface ClientOptions {
  /**
   * The API server's address, e.g. `"https://10.0.0.1:6443"`. Each request's path is appended to the address's path
   * (`"https://rancher.example/k8s/clusters/c-1"`). The address must not have a user, a query or a fragment.
   */
  readonly server: string | URL;
  /**
   * The namespace for objects that you create or address by name, if neither the collection nor the object has one.
   * With `""`, such a call for a namespaced kind throws a `TypeError`. @default {""}
   */
  readonly namespace?: string;
  /** Sends the requests. When you dispose the client, it disposes the transport. @default {globalThis.fetch} */
  readonly transport?: Transport;
  /** Adds credentials to each request. Without credentials, the server sees `system:anonymous`. @default {none} */
  readonly credentials?: Credentials;
  /** The `User-Agent` header. Browsers send their own instead. @default {"kube-informer/<version>"} */
  readonly userAgent?: string;
  /**
   * Whether to request gzip compression, except for watches. It makes lists faster over slow networks, and slower over
   * fast networks.
   *
   * @default {true}
   */
  readonly compress?: boolean;
  /**
   * How often the client repeats a request that the server delays with `Retry-After`. Reads are also repeated, at most
   * 5 times, if the connection was reset before the response, or if the status is 500, 502, 503 or 504. 0 turns off
   * both. @default {10}
   */
  readonly retries?: number;
  /**
   * The largest size for one object, in bytes without compression. A larger object leads to a `DecodeError`. The limit
   * applies to each object in lists and watches. It also applies to each other response that the client parses,
   * including discovery. @default {67_108_864}
   */
  readonly maxObjectBytes?: number;
  /**
   * If `true`, checks objects of kinds from `defineKind` before it sends a create or an update, with their rules in
   * CEL. A wrong object rejects with the 422 that the server would send. Patches and applies are not checked, because
   * they are no complete objects. Wrong parts that the server accepts unchanged in an update are refused.
   *
   * @default {false}
   */
  readonly validate?: boolean;
  /**
   * Called with the text of each `Warning` header from the server. If it throws, the request rejects with that error.
   * By default, warnings are ignored.
   */
  readonly onWarning?: (warning: string) => void;
  /**
   * Called at each step of each request, for example to log it with `logRequests()`. By default nothing is reported,
   * and there is no cost.
   */
  readonly onRequest?: (report: RequestReport) => void;
}

/**
 * Sends requests to one API server: reads, writes and watches objects of every kind. Create it with an address, or let
 * `connect()` create it from a kubeconfig or a pod's service account. It has no cache, so use a `SharedInformerFactory`
 * for frequent reads.
 *
 * Dispose the client to end all its requests and watches, and its transport.
 *
 * **Dead connections.** A dead connection delivers neither bytes nor an error. The client therefore replaces a watch
 * whose connection may be dead: it opens another watch at the same version, and switches when the server accepts it. If
 * that fails, the watch ends. Informers and `follow()` then resume it, and `watch()` rejects with an
 * `UnreachableError`. The client replaces:
 *
 * - All watches, after the computer was suspended: the time of day has gained more than 20 s on the monotonic clock.
 *   The client checks this every 5 s while a watch is open. If somebody sets the clock back, nothing happens.
 * - All watches, if the server has sent nothing for about 20 s, and a probe over a new connection gets no response
 *   within 7 s. This needs `Transport.probe`, which transports from `connect()` have.
 * - A watch that requested bookmarks and missed one, if the server has newer changes. Other watches or a list of one
 *   object show this.
 *
 * These checks cost at most three requests a minute while the server sends nothing, and none otherwise.
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
  /** The namespace for objects that you create or address by name, or `""` for none. */
  readonly namespace: string;
  readonly #server: URL;
  readonly #validate: boolean;
  #connection: Connection;
  /** Receives discovery errors if there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** The last complete result of {@linkcode discover}, with its monotonic time. `undefined` before the first one. */
  #discovered: { readonly at: number; readonly resources: readonly ApiResource[] } | undefined;
  /** How often {@linkcode forgetDiscovery} was called. A response to an earlier request is not cached. */
  #forgotten = 0;

  /**
   * Creates a client, and sends nothing yet.
   *
   * @throws {TypeError} if the server is not an http or https address, or has a user, a query or a fragment.
   * @throws {RangeError} if `retries` or `maxObjectBytes` is not a whole number from 0.
   */
  constructor(options: ClientOptions) {
    checkNames("create a client", options, CLIENT_OPTIONS);
    const { namespace = "", transport = { fetch: (request) => fetch(request) }, credentials, onWarning } = options;
    const { userAgent = `kube-informer/${VERSION}`, compress = true, retries = 10, maxObjectBytes } = options;
    checkCounts("create a client", { retries, maxObjectBytes });
    this.namespace = namespace;
    this.#validate = options.validate ?? false;
    this.#server = serverOf(options.server);
    this.#connection = new Connection({
      server: this.#server,
      transport,
      credentials,
      userAgent,
      compress,
      retries,
      maxObjectBytes,
      onWarning,
      onRequest: options.onRequest,
      access: accessLogOf(this),
    });
  }

  /** A copy of the server's address, with the path to which request paths are appended. */
  get server(): URL {
    return new URL(this.#server);
  }

  /**
   * Returns the client for one kind, or for the part that `selection` selects. It sends nothing yet.
   *
   * `resource` is a constant such as `Pod`, or a result from {@linkcode find} or {@linkcode discover}. For a discovered
   * kind, you can pass the object type as `T`. Otherwise its objects are {@linkcode DynamicObject}s.
   *
   * @throws {TypeError} if `selection` has several `namespaces`, because a request covers one namespace or all. Use a
   * `SharedInformerFactory`, or one collection for each namespace.
   * @throws {SyntaxError} if a selector does not parse.
   */
  resource<T extends KubernetesObject>(
    resource: Resource<T> | ApiResource,
    selection: Selection = {},
    options: ResourceClientOptions = {},
  ): ResourceClient<T> {
    const action = `create a client of "${resource.plural}"`;
    checkNames(action, selection, SELECTION_OPTIONS);
    checkNames(action, options, COLLECTION_OPTIONS);
    checkSelectors(selection);
    return new Collection<T>(this.#connection, resource as Resource<T>, oneNamespace(resource, selection), {
      ...options,
      namespace: this.namespace,
      validate: this.#validate,
    });
  }

  /**
   * Finds the resource for a name such as `"po"` or `"deployments.apps"`, by the rules in {@linkcode findResource}. If
   * the cached discovery (up to a minute old) does not have the name, the client asks the server again, because
   * somebody may have installed the CRD since (client-go `DeferredDiscoveryRESTMapper`).
   *
   * A name in the cached discovery costs nothing. Otherwise it costs two requests, and more before Kubernetes 1.27.
   *
   * @throws {Error} if the server has no such resource. The message suggests similar names.
   */
  async find(name: string, options: Abortable = {}): Promise<ApiResource> {
    try {
      return findResource(await this.discover(options), name);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (this.#discovered === undefined) throw error;
      return findResource(await this.discover({ ...options, maxAgeMs: 0 }), name);
    }
  }

  /**
   * Sends a request to any path on the server with the client's credentials, like the global `fetch`. Use it for paths
   * without a method of their own, such as `/version` or a pod's log.
   *
   * - The path begins with a slash, may have a query, and stays below the server's path. `init` is the same as for
   *   `fetch`, and `init.signal` also aborts the body.
   * - The response has a 2xx status, and its `url` is empty. Read its body to the end, or cancel it.
   * - A request is repeated as the option `retries` says, unless its body is a stream. A redirect is an error unless
   *   you set `init.redirect`.
   *
   * @throws {StatusError} if the status is not 2xx.
   * @throws {UnreachableError} if the server cannot be reached, or the connection is lost while you read the body.
   * @throws {TypeError} if the path leads to another server, or out of the server's path.
   */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    const action = `${(init.method ?? "GET").toUpperCase()} "${path.split("?", 1)[0]}"`;
    const exchange = await this.#connection.open({ action, path, init: rest, patient: true }, signal ?? undefined);
    return exchange.detach();
  }

  /**
   * Returns the kinds that the server has, with their names, verbs and versions. To get one kind by its name, use
   * {@linkcode find}.
   *
   * - The core group comes first, then the other groups in server order. Each group begins with its preferred version.
   * - If a group cannot be read, because an aggregated API's server is down, `onError` receives the error. The others
   *   are still returned.
   * - A complete result is cached for a minute, or as long as `maxAgeMs` allows.
   * - It costs two requests. Before Kubernetes 1.27 it costs one more for each group version.
   *
   * @throws {Error} the first request's error, if nothing could be read.
   */
  async discover(options: DiscoverOptions = {}): Promise<ApiResource[]> {
    checkNames("discover resources", options, "signal maxAgeMs onError");
    const { signal, maxAgeMs = 60_000 } = options;
    const { onError = (error, groupVersion) => this.#reporter.report(`discovery of "${groupVersion}"`, error) } =
      options;
    checkDurations("discover resources", { maxAgeMs });
    signal?.throwIfAborted();
    const known = this.#discovered;
    if (known !== undefined && monotonicMs() - known.at < maxAgeMs) return [...known.resources];
    let complete = true;
    const forgotten = this.#forgotten;
    const resources = await discover(
      async (path, accept) => {
        const spec = { action: `discover "${path}"`, path, init: { headers: { accept } }, patient: true };
        return (await this.#connection.json(spec, signal)).value;
      },
      {
        signal,
        onError: (error, groupVersion) => {
          complete = false;
          onError(error, groupVersion);
        },
      },
    );
    if (complete && forgotten === this.#forgotten) this.#discovered = { at: monotonicMs(), resources };
    return [...resources];
  }

  /**
   * Returns a client that sends its requests as another user, with only that user's rights. Use it in a server that
   * should answer each caller with the caller's own rights. This client's credentials need the verb `impersonate`:
   * without it, the server responds with 403. See the page
   * [Permissions](../../../docs/operations/permissions.md#act-as-another-user).
   *
   * - It shares this client's transport, credentials and options. It costs nothing until you use it, so you can create
   *   one for each incoming request.
   * - If you dispose it, only its own requests end. They also end if you dispose the original client.
   * - It replaces the user whom a kubeconfig or an option impersonates, including groups, uid and extra values.
   * - It does its own discovery, because the result depends on the user's rights.
   * - {@linkcode accessUsed} returns this user's rights for it. For the original client, it includes the rights to
   *   impersonate.
   *
   * Several groups, or several values for one extra key, need a transport that sends a header line for each. The
   * transport from `connect()` does. `fetch` in browsers and Node joins them into one line.
   *
   * @throws {TypeError} if a member is empty, or cannot be sent in a header.
   *
   * @example
   * ```ts
   * import { Client } from "@kube/informer";
   * import { ConfigMap } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
   * const ada = client.as({ user: "ada", groups: ["analysts"] });
   * await ada.resource(ConfigMap, { namespace: "shop" }).list();
   * ```
   */
  as(user: Impersonation): Client {
    const [member, problem] = impersonationProblem(user) ?? [];
    if (member !== undefined) throw new TypeError(`Cannot act as another user: "${member}" ${problem}`);
    const client = new Client({ server: this.#server, namespace: this.namespace });
    client.#connection = this.#connection.as(user, accessLogOf(client));
    return client;
  }

  /**
   * Drops the cached discovery, so that the next {@linkcode discover} asks the server. Call it after you install or
   * delete CRDs.
   */
  forgetDiscovery(): void {
    this.#forgotten++;
    this.#discovered = undefined;
  }

  /**
   * Ends all open requests and watches, which reject, and disposes the transport. A client from {@linkcode as} leaves
   * the shared transport open. A second call does nothing.
   */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

/** Returns the selection with only `namespace`. @throws {TypeError} if it has several namespaces. */
function oneNamespace(resource: Resource, selection: Selection): Selection {
  if (selection.namespaces === undefined) return selection;
  const { namespaces: _several, ...rest } = selection;
  const namespaces = namespacesOf(selection)!;
  if (namespaces.length === 1) return { ...rest, namespace: namespaces[0] };
  throw new TypeError(
    `Cannot request "${resourceName(resource)}" in namespaces ${JSON.stringify(namespaces)}: one request cannot ` +
      `cover several namespaces. Use a collection for each namespace, or a SharedInformerFactory`,
  );
}

/** Parses the address. Its errors do not show text that could be a password. */
function serverOf(server: string | URL): URL {
  const text = String(server);
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    // The cause would quote the address.
    if (text.includes("@")) throw new TypeError(`Cannot use "[redacted]" as server: it is not a URL`);
    throw new TypeError(`Cannot use "${text}" as server: it is not a URL. Write "https://host:port"`, { cause });
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Cannot use "${url.protocol}//[redacted]@${url.host}" as server: it contains credentials. Pass them in the option "credentials"`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const shown = text.includes("@") ? "[redacted]" : text;
    throw new TypeError(`Cannot use "${shown}" as server: it begins with neither "http://" nor "https://"`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError(`Cannot use "${url.origin}${url.pathname}" as server: it must not have a query or a fragment`);
  }
  return url;
}

/** The number of suggestions for an unknown name. */
const SUGGESTIONS = 3;

/**
 * Finds the resource that `text` names, by the rules of kubectl. To search on a server directly, use
 * {@linkcode Client.find}.
 *
 * - `text` is a plural, a singular, a short name or a kind, in any case: `"pods"`, `"Pod"`, `"po"`. They take
 *   precedence in this order, so one resource's plural wins over another's singular.
 * - You may append a group or its beginning, and put a version before the group: `"deployments.apps"`,
 *   `"deployments.v1.apps"`. `"pods.v1"` names the core group.
 * - If several groups have the name, the first in `resources` wins. `discover()` returns the core group first.
 * - If several versions have it, the server's preferred version wins.
 *
 * @throws {Error} if no resource matches. The message suggests similar names.
 *
 * @example
 * ```ts
 * import { type ApiResource, findResource } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const pods: ApiResource = {
 *   group: "",
 *   version: "v1",
 *   plural: "pods",
 *   kind: "Pod",
 *   scope: "Namespaced",
 *   singular: "pod",
 *   shortNames: ["po"],
 *   categories: ["all"],
 *   verbs: ["get", "list", "watch"],
 *   subresources: ["status"],
 *   preferred: true,
 * };
 * assertEquals(findResource([pods], "po"), pods); // or the result of `client.discover()`
 * ```
 */
export function findResource(resources: readonly ApiResource[], text: string): ApiResource {
  const wanted = text.trim().toLowerCase();
  const dot = wanted.indexOf(".");
  const name = dot === -1 ? wanted : wanted.slice(0, dot);
  const place = dot === -1 ? undefined : wanted.slice(dot + 1);
  const named = NAMES.flatMap((namesOf) =>
    resources.filter((resource) => name !== "" && namesOf(resource).includes(name))
  );
  for (const belongs of place === undefined ? [() => true] : PLACES) {
    const [found] = inBestVersion(named.filter((resource) => belongs(resource, place ?? "")));
    if (found !== undefined) return found;
  }
  throw new Error(`Cannot find a resource "${text}": ${explain(resources, wanted)}`);
}

const NAMES: readonly ((resource: ApiResource) => readonly string[])[] = [
  ({ plural }) => [plural],
  ({ singular }) => [singular.toLowerCase()],
  ({ shortNames }) => shortNames,
  ({ kind }) => [kind.toLowerCase()],
];

/** How the text after the first dot may match. An exact group wins over a beginning. */
const PLACES: readonly ((resource: ApiResource, place: string) => boolean)[] = [
  ({ group }, place) => group === place,
  ({ group, version }, place) => place === `${version}.${group}` || (group === "" && place === version),
  ({ group }, place) => group.startsWith(place),
];

function explain(resources: readonly ApiResource[], wanted: string): string {
  if (resources.length === 0) return "the server lists no resources. Check what your credentials may discover";
  const members = resources.filter(({ categories }) => categories.includes(wanted));
  if (members.length > 0) {
    return `it is a category of resources. Name one of ${quote([...new Set(members.map(({ plural }) => plural))])}`;
  }
  const nearest = nearestTo(resources, wanted);
  if (nearest.length > 0) return `the server has no such resource. Did you mean ${quote(nearest, "or")}?`;
  const groups = new Set(resources.map(apiVersionOf));
  return `it is not among the server's ${resources.length} resources in ${groups.size} API versions`;
}

/** Returns the names most similar to `wanted`. They differ in at most a third of its characters, or in one. */
function nearestTo(resources: readonly ApiResource[], wanted: string): string[] {
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const distances = new Map<string, number>();
  for (const resource of resources) {
    const full = resourceName(resource);
    const names = [resource.plural, resource.singular, resource.kind.toLowerCase(), full, ...resource.shortNames];
    const distance = Math.min(...names.filter((name) => name.length > 1).map((name) => editDistance(wanted, name)));
    if (distance <= limit) distances.set(full, Math.min(distance, distances.get(full) ?? Infinity));
  }
  return [...distances].sort(([, a], [, b]) => a - b).slice(0, SUGGESTIONS).map(([name]) => name);
}

function quote(names: readonly string[], word = "and"): string {
  const quoted = names.map((name) => `"${name}"`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${word} ${quoted.at(-1)}`;
}
