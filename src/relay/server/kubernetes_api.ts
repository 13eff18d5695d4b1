/**
 * The part of the Kubernetes API that reads, served from caches.
 *
 * {@linkcode KubernetesApi} is the entry point: discovery, gets and lists. Watches are in `kubernetes_watch.ts`. Writes
 * are refused.
 *
 * @module
 */
import { type ApiResource, verbOf } from "../../engine/api/resource.ts";
import { isOlder, isResourceVersion, StatusError } from "../../engine/api/status.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { type DiscoveredResource, Discovery, KUBERNETES_VERSION } from "../../engine/protocol/discovery.ts";
import { knownRefusal, PlainRefusal, refusal, statusJson } from "../../engine/protocol/refusal.ts";
import {
  ContinueToken,
  negotiateRepresentation,
  parseListOptions,
  parseRevision,
  parseRoute,
  type ResourceRoute,
  type Route,
  type ServerListOptions,
} from "../../engine/protocol/requests.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { internals } from "../../engine/errors/internals.ts";
import { type Access, planWithoutData, requestedOf, type RequestPlan } from "./access.ts";
import { ANSWER_HEADERS, isKubernetes, KUBERNETES_PREFIX, listHeaders } from "./answers.ts";
import { ListBody, type ListedVersion, type ServedCollection, SharedLists } from "./collections.ts";
import { KubernetesFeed, KubernetesSelection, KubernetesWatch } from "./kubernetes_watch.ts";
import { type ObjectTexts, textsFrom } from "./objects.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { RelaySettings } from "./options.ts";
import { STREAM_HEADERS } from "./streamed_response.ts";

/** The answer of `/version`: the Kubernetes as which the relay answers, not that of the server behind it. */
const VERSION = {
  ...KUBERNETES_VERSION,
  gitVersion: `${KUBERNETES_VERSION.gitVersion}+informer-relay`,
  gitCommit: "informer-relay",
};

/** The answer of `/openapi/v3`: there are no schemas, which only writers and explanations need. */
const NO_SCHEMAS = { paths: {} };

/** The verbs of a collection that can be served. */
const VERBS: readonly string[] = ["get", "list", "watch"];

/** A page ends behind the object with which it has so many characters. */
const PAGE_LENGTH = 1_000_000;

/** The number of objects that are looked at in one turn for a page. */
const TURN_OBJECTS = 2_000;

/** The shortest time of a watch that names none, in milliseconds, which is that of kube-apiserver. */
const WATCH_MS = 1_800_000;

/** A request that reads objects of one collection. */
interface ReadRequest {
  readonly request: Request;
  readonly route: ResourceRoute;
  readonly options: ServerListOptions;
  readonly selection: KubernetesSelection;
  readonly open: OpenRequest;
  /** The grant of `authorize`. */
  readonly access: Access;
}

/** One collection as a part of the Kubernetes API. */
class KubernetesCollection implements Disposable {
  readonly collection: ServedCollection;
  readonly #settings: RelaySettings;
  readonly #lists: SharedLists;
  /** Aborts with the disposal. */
  readonly #job = new AbortController();
  /** Set while it is used, and `lingerMs` longer. */
  #feed: KubernetesFeed | undefined;

  constructor(collection: ServedCollection, settings: RelaySettings) {
    this.collection = collection;
    this.#settings = settings;
    this.#lists = new SharedLists(collection.show, settings);
  }

  /** The number of open watches; `undefined` if there have been no requests for `lingerMs`. */
  get streams(): number | undefined {
    return this.#feed?.streams.size;
  }

  /** The resource as discovery describes it: without verbs, where its objects are not served. */
  get discovered(): DiscoveredResource {
    const { resource } = this.collection;
    const { singular = resource.kind.toLowerCase() } = resource as Partial<ApiResource>;
    const { shortNames = [], categories = [] } = resource;
    const verbs = this.#problem(this.collection.reduction) === undefined ? VERBS : [];
    return { ...resource, singular, shortNames, categories, verbs, custom: true, parts: [] };
  }

  /** Answers a request. @throws {StatusError} as kube-apiserver would answer. */
  async answer(read: ReadRequest): Promise<Response> {
    if (this.#job.signal.aborted) throw unavailable("the relay was stopped");
    this.#feed ??= new KubernetesFeed(this.collection.acquire(), this.#settings, () => this.#feed = undefined);
    const feed = this.#feed;
    using _use = feed.cache.use();
    this.#check(feed, read.route);
    const problem = await this.collection.unsynced(feed.informer);
    if (problem !== undefined) throw refusal(problem.status, problem.reason, { details: { retryAfterSeconds: 2 } });
    try {
      return await this.#read(feed, read);
    } catch (error) {
      if (feed.cache.isOver) throw unavailable("the informer of the relay was stopped");
      throw error;
    }
  }

  async #read(feed: KubernetesFeed, read: ReadRequest): Promise<Response> {
    const { options, route } = read;
    if (route.name !== undefined) return await this.#get(feed, read, route.name);
    return options.watch ? await this.#watch(feed, read) : await this.#list(feed, read);
  }

  /** Ends its watches, and gives the informer back. */
  [Symbol.dispose](): void {
    this.#job.abort(new DOMException("The relay was disposed", "AbortError"));
    this.#feed?.[Symbol.dispose]();
    this.#lists[Symbol.dispose]();
  }

  /** @throws {StatusError} 403 if the collection differs from the server, or lacks objects of the request. */
  #check(
    { informer: { selections, [internals]: { sync } } }: KubernetesFeed,
    { namespace, name = "" }: ResourceRoute,
  ): void {
    const [{ namespace: only }] = selections;
    const refused = (why: string): StatusError => knownRefusal("forbidden", this.collection.resource, name, why);
    const problem = this.#problem(sync.collection.scope.reduction);
    if (problem !== undefined) throw refused(problem);
    if (selections.length > 1) {
      throw refused("the relay caches several namespaces, which have no common resourceVersion");
    }
    if (only && only !== namespace) throw refused(`the relay caches only the namespace "${only}"`);
  }

  #problem(reduction: string | undefined): string | undefined {
    if (this.#settings.redact !== undefined) {
      return "the relay's option redact changes objects, and this API serves only complete ones";
    }
    return reduction === undefined
      ? undefined
      : `the relay caches ${reduction}, and this API serves only complete objects`;
  }

  async #get(
    feed: KubernetesFeed,
    { request, route, selection, options }: ReadRequest,
    name: string,
  ): Promise<Response> {
    await this.#reach(feed, versionOf(options), options);
    const entry = feed.get(route.namespace === "" ? name : `${route.namespace}/${name}`);
    if (entry === undefined || !selection.shows(entry)) throw knownRefusal("notFound", this.collection.resource, name);
    return this.#answered(feed, request, selection.text(entry));
  }

  async #list(feed: KubernetesFeed, read: ReadRequest): Promise<Response> {
    const { options, selection, request, open } = read;
    const { limit, resourceVersionMatch: match } = options;
    const token = options.continue === "" ? undefined : continued(options);
    const asked = token === undefined ? versionOf(options) : String(token.revision);
    const isExact = token !== undefined || match === "Exact" || (match === "" && limit > 0 && asked !== "0");
    const reached = await this.#reach(feed, asked, options);
    if (isExact) checkKept(feed, asked);
    const version = isExact ? asked : reached;
    const type = { ...selection.type, kind: `${selection.type.kind}List` };
    if (request.method === "HEAD") return this.#answered(feed, request, "");
    if (limit > 0 && Number.isSafeInteger(Number(version))) {
      const { texts, start } = await pageOf(feed, version, { selection, limit, from: token?.start ?? "" });
      const next = start === undefined ? {} : { continue: `${new ContinueToken(Number(version), start)}` };
      const head = JSON.stringify({ ...type, metadata: { resourceVersion: version, ...next } });
      return this.#answered(feed, request, `${head.slice(0, -1)},"items":[${texts.join(",")}]}`);
    }
    const shared = this.#shared(feed, version);
    const { entries } = shared;
    const textsAt = (from: number): ObjectTexts =>
      textsFrom(entries.length, from, (at) => selection.matches(entries[at]) ? selection.text(entries[at]) : undefined);
    const { stream } = new ListBody(shared, textsAt, { ...type, metadata: { resourceVersion: version } }, open);
    open.keep();
    return new Response(stream, { headers: this.#headers(feed) });
  }

  async #watch(feed: KubernetesFeed, { request, options, selection, open, access }: ReadRequest): Promise<Response> {
    const headers = { ...this.#headers(feed), ...STREAM_HEADERS, "content-type": "application/json" };
    if (request.method === "HEAD") return new Response(null, { headers });
    const { sendInitialEvents, allowWatchBookmarks: hasBookmarks, timeoutSeconds } = options;
    const asked = versionOf(options);
    const reached = await this.#reach(feed, asked, options);
    const version = sendInitialEvents === true || asked === "0" ? reached : asked;
    const initial = sendInitialEvents ?? asked === "0" ? this.#shared(feed, version) : undefined;
    const marksEnd = sendInitialEvents === true && hasBookmarks;
    const isSame = (next: Access): boolean => this.collection.rightOf(next)?.id === selection.right?.id;
    const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1_000 : WATCH_MS * (1 + Math.random());
    const plan = { selection, version, initial, marksEnd, hasBookmarks, timeoutMs, isSame };
    const watch = new KubernetesWatch(feed, plan, open);
    const response = watch.response(access, headers);
    if (isOlder(version, feed.log.ring.base)) watch.expire();
    return response;
  }

  /** Returns the objects at a version, for a reader. @throws {StatusError} 503 where there is no room. */
  #shared(feed: KubernetesFeed, version: string): ListedVersion {
    const { objects, events } = feed.informer.status();
    const name = JSON.stringify([version, objects, events]);
    const shared = this.#lists.version(name, () => [...feed.entriesAt(version)]);
    if (shared === undefined) throw unavailable("too many lists and views are open");
    return shared;
  }

  /**
   * Waits for a version, and returns the one that the cache has reached.
   *
   * @throws {StatusError} 504 where the cache does not reach it.
   */
  async #reach(feed: KubernetesFeed, version: string, { resourceVersion }: ServerListOptions): Promise<string> {
    const { signal } = this.#job;
    if (resourceVersion === "") await feed.refresh(signal);
    const isThere = await feed.log.reach(version, signal);
    const reached = feed.version;
    if (!isThere || reached === "") throw knownRefusal("tooLarge", version, feed.log.reached);
    return reached;
  }

  #headers(feed: KubernetesFeed): Record<string, string> {
    const { state } = feed.informer.status();
    const headers = listHeaders(this.collection.resource.kind);
    if (state === "live") return { ...headers };
    return { ...headers, warning: `299 - "the cache of this relay is ${state}, so it may lag behind the API server"` };
  }

  #answered(feed: KubernetesFeed, { method }: Request, text: string): Response {
    return new Response(method === "HEAD" ? null : text, { headers: this.#headers(feed) });
  }
}

/** Returns the version that a request names; `"0"` where it names none. @throws {StatusError} where it is none. */
function versionOf({ resourceVersion, watch }: ServerListOptions): string {
  return isResourceVersion(resourceVersion) ? resourceVersion : String(parseRevision(resourceVersion, watch));
}

/** Reads the continue token of a request. @throws {StatusError} where it is none, or comes with a version. */
function continued(options: ServerListOptions): ContinueToken {
  if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
    throw refusal(400, "specifying resource version is not allowed when using continue");
  }
  const token = ContinueToken.parse(options.continue);
  if (!(token.revision > 0)) throw refusal(400, "invalid continue token: this relay did not issue it");
  return token;
}

/** @throws {StatusError} 410 where the state of a version is not known any more. */
function checkKept(feed: KubernetesFeed, version: string): void {
  if (isOlder(version, feed.log.ring.base)) {
    throw knownRefusal("expired", "The resourceVersion for the provided list is too old.");
  }
}

/** A part of a list at one version. */
interface Page {
  /** The objects as JSON. */
  readonly texts: readonly string[];
  /** The first key of the next page, without the namespace of the list; `undefined` where there is none. */
  readonly start: string | undefined;
}

/**
 * Returns up to `limit` objects from a key on, and no more than `PAGE_LENGTH` characters. Long searches take several
 * turns.
 */
async function pageOf(
  feed: KubernetesFeed,
  version: string,
  { selection, limit, from }: {
    readonly selection: KubernetesSelection;
    readonly limit: number;
    readonly from: string;
  },
): Promise<Page> {
  const prefix = selection.namespace === "" ? "" : `${selection.namespace}/`;
  const texts: string[] = [];
  let [length, last, next] = [0, "", `${prefix}${from}`];
  for (;;) {
    let count = 0;
    for (const entry of feed.entriesAt(version, next)) {
      if (!entry.key.startsWith(prefix)) return { texts, start: undefined };
      next = `${entry.key}\0`;
      if (selection.matches(entry)) {
        // What is not selected leaves no trace in the token.
        if (texts.length === limit || length > PAGE_LENGTH) return { texts, start: `/${last.slice(prefix.length)}\0` };
        const text = selection.text(entry);
        texts.push(text);
        length += text.length;
        last = entry.key;
      }
      if (++count === TURN_OBJECTS) break;
    }
    if (count < TURN_OBJECTS) return { texts, start: undefined };
    await nextTurn();
    checkKept(feed, version);
  }
}

function unavailable(why: string): StatusError {
  return refusal(503, why, { details: { retryAfterSeconds: 2 } });
}

/** Answers by the error of a request. @throws an error that is none of the protocol. */
function answerError({ method }: Request, error: unknown): Response {
  const headers = new Headers({ ...ANSWER_HEADERS, "cache-control": "no-store" });
  if (error instanceof PlainRefusal) return new Response(`${error.message}\n`, { status: error.code, headers });
  if (!(error instanceof StatusError)) throw error;
  const { code, retryAfterSeconds } = error.status;
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  if (code === 405) headers.set("allow", "GET, HEAD");
  headers.set("content-type", "application/json");
  return new Response(method === "HEAD" ? null : JSON.stringify(statusJson(error.status)), { status: code, headers });
}

/**
 * The part of the Kubernetes API that reads: discovery, gets, lists and watches of the collections of a relay, below
 * `/kubernetes`.
 */
export class KubernetesApi implements Disposable {
  readonly #collections = new Map<string, KubernetesCollection>();
  readonly #discovery: Discovery;

  /** Serves the first of several collections of one resource, and none that are derived. */
  constructor(collections: Iterable<ServedCollection>, settings: RelaySettings) {
    for (const collection of collections) {
      if (collection.isDerived) continue;
      const id = idOf(collection.resource);
      if (!this.#collections.has(id)) this.#collections.set(id, new KubernetesCollection(collection, settings));
    }
    this.#discovery = new Discovery(() => Array.from(this.#collections.values(), ({ discovered }) => discovered));
  }

  /** Returns the number of open watches of a collection; `undefined` if nobody has asked for it for `lingerMs`. */
  streamsOf({ name, resource }: ServedCollection): number | undefined {
    const served = this.#collections.get(idOf(resource));
    return served?.collection.name === name ? served.streams : undefined;
  }

  /** Reads a request whose path begins with the prefix; `undefined` for other paths. */
  plan(request: Request, open: OpenRequest): RequestPlan | undefined {
    const url = new URL(request.url);
    if (!isKubernetes(url)) return undefined;
    try {
      return this.#plan(request, url, open);
    } catch (error) {
      const response = answerError(request, error);
      return planWithoutData(() => response);
    }
  }

  /** Ends all watches. */
  [Symbol.dispose](): void {
    for (const collection of this.#collections.values()) collection[Symbol.dispose]();
  }

  #plan(request: Request, { pathname, searchParams, host }: URL, open: OpenRequest): RequestPlan {
    const route = parseRoute(pathname.slice(KUBERNETES_PREFIX.length));
    const accept = request.headers.get("accept");
    if (route.type !== "resource") {
      if (request.method !== "GET" && request.method !== "HEAD") throw knownRefusal("noMethod");
      const document = this.#document(route, host, accept);
      return planWithoutData(() => answerDocument(request, document));
    }
    const served = this.#collections.get(idOf(route));
    if (served === undefined || route.subresource !== undefined) throw knownRefusal("noResource");
    const { collection } = served;
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw knownRefusal("noVerb", collection.resource, verbOf(request.method, route, searchParams));
    }
    checkLengths(route, searchParams);
    const options = parseListOptions(searchParams, true);
    const isOne = options.watch || route.name !== undefined;
    const partial = isOne ? "PartialObjectMetadata" : "PartialObjectMetadataList";
    const isPartial = negotiateRepresentation(accept, [partial]) === partial;
    const { namespace } = route;
    const { resource } = collection;
    const selectionOf = (access: Access): KubernetesSelection =>
      new KubernetesSelection(resource, { ...options, namespace }, isPartial, collection.rightOf(access));
    selectionOf({}); // selectors that do not parse are refused before authorize is asked
    return {
      requested: requestedOf([collection.requested(route)], options.watch),
      answer: async (access) => {
        try {
          return await served.answer({ request, route, options, selection: selectionOf(access), open, access });
        } catch (error) {
          return answerError(request, error);
        }
      },
    };
  }

  /** Returns a document of discovery, and its type. */
  #document(route: Exclude<Route, ResourceRoute>, host: string, accept: string | null): object {
    const discovery = this.#discovery;
    if (route.type === "version") return VERSION;
    if (route.type === "openapi" && route.path === "") return NO_SCHEMAS;
    if (route.type === "versions" || route.type === "groups") {
      const isCore = route.type === "versions";
      if (negotiateRepresentation(accept, ["APIGroupDiscoveryList"]) === "APIGroupDiscoveryList") {
        return discovery.aggregated(isCore);
      }
      return isCore ? discovery.versions(host) : discovery.groups();
    }
    const document = route.type === "group"
      ? discovery.group(route.group)
      : route.type === "resources"
      ? discovery.resources(route.group, route.version)
      : undefined;
    if (document === undefined) throw PlainRefusal.noPath();
    return document;
  }
}

/** The longest name of an object, and the longest value of a parameter that is not in `LONG`, in characters. */
const MAX_NAME = 253;
const MAX_VALUE = 100;
const LONG = ["labelSelector", "fieldSelector", "shardSelector", "continue"];

/** @throws {StatusError} when a name or a parameter is longer than any that the API has, which errors would repeat. */
function checkLengths({ name = "" }: ResourceRoute, parameters: URLSearchParams): void {
  if (name.length > MAX_NAME) throw knownRefusal("noResource");
  for (const [parameter, value] of parameters) {
    if (value.length <= MAX_VALUE || LONG.includes(parameter)) continue;
    throw refusal(400, `the parameter ${JSON.stringify(quoted(parameter))} is longer than ${MAX_VALUE} characters`);
  }
}

/** Answers by a document of discovery, whose type readers of aggregated ones look for. */
function answerDocument({ method }: Request, document: object): Response {
  const isAggregated = (document as { readonly kind?: string }).kind === "APIGroupDiscoveryList";
  const parameters = isAggregated ? ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" : "";
  const headers = { ...ANSWER_HEADERS, "content-type": `application/json${parameters}` };
  return new Response(method === "HEAD" ? null : JSON.stringify(document), { headers });
}

function idOf({ group, version, plural }: Pick<ResourceRoute, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}
