/**
 * The client of one API server: it turns calls into HTTP requests, and the bytes of the answers into objects, entries
 * and changes.
 *
 * The entry point is {@linkcode Client}. `resource_client.ts` builds requests, `http/` sends them and reads bodies that
 * can be cancelled, `decode/` cuts objects out of bytes, `collection.ts` joins these to the calls of a
 * `ResourceClient`. The client keeps no cache and no watch open by itself, except in `follow()`; lists and watches of
 * informers are retried by the reflector.
 *
 * @module
 */
import { type Impersonation, impersonationProblem } from "../api/impersonation.ts";
import type { Transport } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type Abortable, checkSelectors, namespacesOf, type Selection } from "../api/options.ts";
import { type ApiResource, apiVersionOf, DEFINITIONS, type Resource, resourceName } from "../api/resource.ts";
import type { PlacedRule } from "../api/roles.ts";
import { isNotFound } from "../api/status.ts";
import type { Apply, ObjectDraft } from "../api/written.ts";
import { checkCounts, checkDurations } from "../async/checks.ts";
import { monotonicMs, sleep } from "../async/time.ts";
import { ConsoleReporter, editDistance } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import type { CustomResourceDefinition } from "../kinds/apiextensions/v1.ts";
import { Collection } from "./collection.ts";
import { AccessLog, Connection, type Credentials, type RequestReport } from "./http/connection.ts";
import type { ResourceClient, ResourceClientOptions, ResourceClients } from "./resource_client.ts";
import { VERSION } from "./version.ts";

/** The options that exist. */
const CLIENT_OPTIONS =
  "server namespace transport credentials userAgent compress retries maxObjectBytes onWarning onRequest";

const LOGS = new WeakMap<ResourceClients, AccessLog>();

/** Returns the log of a client, and creates it at the first call. */
function accessLogOf(client: ResourceClients): AccessLog {
  const log = LOGS.get(client) ?? new AccessLog();
  LOGS.set(client, log);
  return log;
}

/**
 * Returns the rights that the requests of a client have needed so far, whatever the server answered: a rule for each
 * verb on each resource of each namespace. `rolesYaml()` prints them.
 *
 * - Requests are those of `resource()` and `fetch()`, and of informers, reconcilers, electors and recorders on the
 *   client.
 * - `names` has the names of the objects, up to 16; with more, and for a request about a collection, the rule is about
 *   all.
 * - A server-side apply needs `create`, too, where the object does not exist.
 * - Discovery and paths such as `/version` have no rule: the ClusterRole `system:discovery` grants them to every user.
 *
 * @throws {TypeError} when `client` is not a `Client`: the clients of reconciles record in that of their reconciler.
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

/** Options for `Client.discover()`. */
export interface DiscoverOptions extends Abortable {
  /**
   * The largest age of a cached answer, in milliseconds; 0 always asks the server, `Infinity` accepts any age.
   *
   * @default {60_000}
   */
  readonly maxAgeMs?: number;
  /**
   * Called for each group version that could not be read, `"metrics.k8s.io/v1beta1"`; the others are returned
   * nevertheless.
   */
  readonly onError?: (error: unknown, groupVersion: string) => void;
}

/** Requests the JSON value of a path, in the form that `accept` names. */
type GetJson = (path: string, accept: string) => Promise<unknown>;

const JSON_TYPE = "application/json";

/** Newest form first: one answer with everything (Kubernetes 1.30, and 1.27 as a beta), or else a table of contents. */
const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat(JSON_TYPE).join(",");

/** The number of concurrent requests where each group version needs one. */
const CONCURRENCY = 8;

/**
 * Returns the resources that a server has: the core group first, then the groups in the server's order, and of each
 * group the preferred version first. Two requests, or on servers before 1.27 one more for each group version.
 *
 * @throws {Error} the error of the first request, when nothing could be read.
 */
async function discover(get: GetJson, options: DiscoverOptions): Promise<ApiResource[]> {
  return await settle(["/api", "/apis"], (root) => rootOf(get, root, options), (root) => root.slice(1), options);
}

/** Returns `true` if a server has no core group, as those of aggregated APIs, asked directly: that is no failure. */
function isAbsent(error: unknown, place: unknown): boolean {
  return place === "/api" && isNotFound(error);
}

async function rootOf(get: GetJson, root: string, options: DiscoverOptions): Promise<ApiResource[]> {
  const answer = await get(root, AGGREGATED) as Root;
  if (answer.kind === "APIGroupDiscoveryList") return aggregated(answer, options);
  const groups = answer.kind === "APIVersions" ? [{ name: "", versions: answer.versions }] : answer.groups ?? [];
  return await settle(groups.flatMap(versionsOf), (version) => askOne(get, version), apiVersionOf, options);
}

/** Asks for each of `places`, a few at a time, and skips those that fail, unless all fail. */
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
  for (const { metadata, versions = [] } of list.items ?? []) {
    const group = metadata?.name ?? "";
    for (const [i, { version, freshness, resources = [] }] of versions.entries()) {
      if (freshness === "Stale") {
        const name = apiVersionOf({ group, version });
        onError?.(
          new Error(
            `Cannot discover "${name}": the API server gets no response from the server that provides this group`,
          ),
          name,
        );
      }
      for (const entry of resources) {
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
  // The preferred version first, as in the aggregated form; the others keep their order.
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
  const { resources = [] } = await get(path, JSON_TYPE) as ResourceList;
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
  /**
   * Requests lists compressed by gzip, which are faster over slow networks and slower over fast ones.
   *
   * @default {true}
   */
  readonly compress?: boolean;
  /**
   * The number of times that a request is repeated which the server delays by `Retry-After`, or a read whose connection
   * was reset or which the server answered with 500, 502, 503 or 504, at most 5 times. 0 repeats nothing. @default {10}
   */
  readonly retries?: number;
  /**
   * The largest size of one object on the wire, uncompressed, in bytes; a larger one is a `DecodeError`. It applies to
   * each object of lists and watches, and to each other answer, those of discovery too. @default {67_108_864}
   */
  readonly maxObjectBytes?: number;
  /** Called with the text of each `Warning` that the server sends. The request rejects with an error that it throws. */
  readonly onWarning?: (warning: string) => void;
  /** Called with each step of each request, as `logRequests()` writes them. @default {none, which costs nothing} */
  readonly onRequest?: (report: RequestReport) => void;
}

/**
 * A client of one API server.
 *
 * Disposing it ends every request and watch under way, and its transport.
 *
 * It renews a watch whose connection may be dead, which no byte would show: it opens another watch at the same version,
 * which takes the place of the old one when the server accepts it. If that fails, the watch ends: informers and
 * `follow()` resume it, and `watch()` rejects with an `UnreachableError`. Renewed are:
 *
 * - each watch, when the time of day has gained more than 20 s on the monotonic clock: the computer was suspended. It
 *   looks every 5 s while a watch is open; a clock that was set back renews nothing.
 * - each watch, when nothing has come from the server for some 20 s, and a probe over a new connection has no response
 *   within 7 s. Needs `Transport.probe`, which transports of `connect()` have.
 * - a watch that asked for bookmarks and has missed one, if other watches or a list of one object show that the server
 *   has something new. Cost: at most three requests a minute while nothing comes, and none otherwise.
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
  #connection: Connection;
  /** Receives the errors of groups that cannot be read, where there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** The last complete answer of {@linkcode discover} and its monotonic time; `undefined` before the first. */
  #discovered: { readonly at: number; readonly resources: readonly ApiResource[] } | undefined;
  /** The number of calls of {@linkcode forgetDiscovery}: an answer to a request before the last one is not kept. */
  #forgotten = 0;

  /**
   * Creates a client. Nothing is sent yet.
   *
   * @throws {TypeError} when the server is not an http or https address, or has a user, a query or a fragment.
   * @throws {RangeError} when `retries` or `maxObjectBytes` is not a whole number of at least 0.
   */
  constructor(options: ClientOptions) {
    checkNames("create a client", options, CLIENT_OPTIONS);
    const { namespace = "", transport = { fetch: (request) => fetch(request) }, credentials, onWarning } = options;
    const { userAgent = `kube-informer/${VERSION}`, compress = true, retries = 10, maxObjectBytes } = options;
    checkCounts("create a client", { retries, maxObjectBytes });
    this.namespace = namespace;
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
    checkNames(
      `create a client of "${resource.plural}"`,
      selection,
      "namespace namespaces labelSelector fieldSelector",
    );
    checkNames(`create a client of "${resource.plural}"`, options, "onWrite onUnanswered cached beforeSent signal");
    checkSelectors(selection);
    return new Collection<T>(this.#connection, resource as Resource<T>, oneNamespace(resource, selection), {
      ...options,
      namespace: this.namespace,
    });
  }

  /**
   * Resolves with the resource of a name, as {@linkcode findResource} reads it: `"po"`, `"deployments.apps"`. Asks the
   * server again if the last answer, of up to a minute ago, does not have it: a CRD may have been installed since
   * (client-go `DeferredDiscoveryRESTMapper`). Cost: none while the answer is kept, else two requests.
   *
   * @throws {Error} when the server has no such resource; the message names similar ones.
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
   * Sends a request to any path of the server, with the credentials of the client, as `fetch` would.
   *
   * - The path begins with a slash, may have a query, and stays below the path of the server. `init` is that of
   *   `fetch`; `init.signal` aborts the body too.
   * - The answer's status is 2xx. Its body must be read to the end or cancelled, and its `url` is empty.
   * - A request that the server delays by `Retry-After` is repeated, unless its body is a stream. Redirects are errors,
   *   unless `init.redirect` says otherwise.
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
   * server of an aggregated API is down) is reported to `onError`, and the others are returned. A complete answer is
   * cached for a minute, or as long as `maxAgeMs` allows.
   *
   * @throws {Error} the error of the first request, when nothing could be read.
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
    if (complete && forgotten === this.#forgotten) this.#discovered = { at: monotonicMs(), resources };
    return [...resources];
  }

  /**
   * Returns a client whose requests are those of another user, with that user's rights alone. The credentials of this
   * client need the verb `impersonate`, as the guide to permissions says; the server refuses by 403 what they may not.
   *
   * - It shares transport, credentials and options with this client. It costs nothing until it is used, so that there
   *   may be one for each request that a program serves. Disposing it ends its own requests; those that are under way
   *   end with the client that has connected, too.
   * - It replaces the user that a kubeconfig or an option acts as, with groups, uid and extra values.
   * - `discover()` asks for itself, because the right to do that is the user's, too. {@linkcode accessUsed} has the
   *   rights of this user, and those to impersonate it for the client that has connected.
   *
   * Several groups, and several values of an extra key, need a transport that sends a header line for each, as that of
   * `connect()` does: `fetch` of browsers and Node joins them to one.
   *
   * @throws {TypeError} when a member is empty, or cannot be sent in a header.
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

  /** Makes the next {@linkcode discover} ask the server, because it may have other kinds now. */
  forgetDiscovery(): void {
    this.#forgotten++;
    this.#discovered = undefined;
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
    `Cannot request "${resourceName(resource)}" in namespaces ${
      JSON.stringify(namespaces)
    }: one request cannot cover ` +
      `several namespaces. Use a collection for each namespace, or a SharedInformerFactory`,
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
    throw new TypeError(
      `Cannot use "${url.origin}${url.pathname}" as server: it must not have a query or a fragment`,
    );
  }
  return url;
}

/** The number of names that are suggested for an unknown one. */
const SUGGESTIONS = 3;

/**
 * Returns the resource that `text` names, by the rules of kubectl.
 *
 * - `text` is a plural, a singular, a short name or a kind, in any case: `"pods"`, `"Pod"`, `"po"`. A plural
 *   of one resource takes precedence over a singular of another, and so on in this order.
 * - A group, or the beginning of one, may follow, and a version before it: `"deployments.apps"`,
 *   `"deployments.v1.apps"`; `"pods.v1"` is of the core group.
 * - Of several resources the first is returned: the core group's, then in the order of `resources`; of several versions
 *   the one that the server prefers, if that has the resource.
 *
 * @throws {Error} when there is none; the message suggests similar names.
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
    const [first, ...others] = named.filter((resource) => belongs(resource, place ?? ""));
    if (first === undefined) continue;
    const same = others.filter(({ group, plural }) => group === first.group && plural === first.plural);
    return [first, ...same].find(({ preferred }) => preferred) ?? first;
  }
  throw new Error(`Cannot find a resource "${text}": ${explain(resources, wanted)}`);
}

const NAMES: readonly ((resource: ApiResource) => readonly string[])[] = [
  ({ plural }) => [plural],
  ({ singular }) => [singular.toLowerCase()],
  ({ shortNames }) => shortNames,
  ({ kind }) => [kind.toLowerCase()],
];

/** The text after the first dot may match in these ways; an exact group comes before the beginning of one. */
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

/** Returns the names most similar to `wanted`: they differ in at most a third of its characters, or in one. */
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

/** Options for {@linkcode installCrds}. */
export interface InstallCrdsOptions extends Abortable {
  /** The manager that owns the fields of the definitions. @default {"kube-informer"} */
  readonly fieldManager?: string;
}

/** The wait between two looks at a definition, in milliseconds: it doubles from the first to the last. */
const LOOK_MS = { first: 50, last: 1_000 };

/**
 * Makes the server serve custom kinds: applies their definitions (server-side apply, which takes fields from other
 * managers), waits until each is established and discovery lists its served versions, and lets the client forget what
 * it has discovered. A definition that is the same already costs three requests.
 *
 * It needs `get`, `create` and `patch` of `customresourcedefinitions`. Without a signal it waits as long as it takes.
 * Of several API servers another one may answer 404 for a moment longer.
 *
 * @throws {StatusError} when the server refuses a definition.
 * @throws {InformerError} when the names of a definition are those of another.
 * @throws the reason of the signal.
 *
 * @example
 * ```ts
 * import { Client, type ObjectDraft, findResource, installCrds } from "@kube/informer";
 * import type { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
 * const websites: ObjectDraft<CustomResourceDefinition> = {
 *   metadata: { name: "websites.example.com" },
 *   spec: {
 *     group: "example.com",
 *     scope: "Namespaced",
 *     names: { plural: "websites", kind: "Website" },
 *     versions: [{ name: "v1", served: true, storage: true, schema }],
 *   },
 * };
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await installCrds(client, [websites], { signal: AbortSignal.timeout(60_000) });
 * assertEquals(findResource(await client.discover(), "websites").kind, "Website");
 * ```
 */
export async function installCrds(
  client: Client,
  definitions: readonly ObjectDraft<CustomResourceDefinition>[],
  options: InstallCrdsOptions = {},
): Promise<void> {
  checkNames("install definitions", options, "signal fieldManager");
  const { signal, fieldManager = "kube-informer" } = options;
  const collection = client.resource(DEFINITIONS as Resource<CustomResourceDefinition>);
  for (const definition of definitions) {
    await collection.apply(definition as Apply<CustomResourceDefinition>, { fieldManager, force: true, signal });
  }
  for (const { metadata: { name = "" } } of definitions) {
    for (let waitMs = LOOK_MS.first;; waitMs = Math.min(2 * waitMs, LOOK_MS.last)) {
      if (await isServed(client, await collection.get(name, { signal }), signal)) break;
      await sleep(waitMs, { signal });
    }
  }
  client.forgetDiscovery();
}

/** @throws {InformerError} when the server does not accept the names of the definition. */
async function isServed(
  client: Client,
  { metadata: { name }, spec: { group, names, versions }, status }: CustomResourceDefinition,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const accepted = find("NamesAccepted");
  if (accepted?.status === "False") throw new InformerError(`Cannot serve "${name}": ${accepted.message}`);
  if (find("Established")?.status !== "True") return false;
  for (const { name: version, served } of versions) {
    if (served && !(await pluralsOf(client, `/apis/${group}/${version}`, signal)).includes(names.plural)) return false;
  }
  return true;
}

async function pluralsOf(client: Client, path: string, signal: AbortSignal | undefined): Promise<string[]> {
  try {
    const answer = await client.fetch(path, { signal });
    const { resources } = await answer.json() as { readonly resources: readonly { readonly name: string }[] };
    return resources.map(({ name }) => name);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
