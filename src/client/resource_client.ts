/**
 * The typed calls for one kind: their options, results, and what they report of writes.
 *
 * {@linkcode ResourceClient} is the entry point; `Collection` implements it. A write is reported to `onWrite`, by which
 * a reconciler knows its own writes.
 *
 * @module
 */
import type { ListPart, WatchChange, WatchEvent } from "../api/lister_watcher.ts";
import {
  type Complete,
  type DynamicObject,
  keyOf,
  type KubernetesObject,
  type ObjectKey,
  refuseReduced,
} from "../api/object.ts";
import {
  checkSelectors,
  type ListOptions,
  type RequestOptions,
  type Selection,
  type ShardOption,
  type WatchOptions,
} from "../api/options.ts";
import { apiVersionOf, pathOf, type PathParts, type Resource, resourceName } from "../api/resource.ts";
import type { ApiStatus } from "../api/status.ts";
import type { Apply, ApplyFields, ApplyMeta, DraftMeta, MergePatch, Mutable, ObjectDraft } from "../api/written.ts";
import { checkCounts, checkDurations } from "../async/checks.ts";
import type { BackoffOptions } from "../async/time.ts";
import { nearest } from "../errors/errors.ts";
import { checkNames, namesOf } from "../errors/option_names.ts";
import type { RequestSpec } from "./http/connection.ts";

/** A write that the server has accepted: an object has a new version, or was deleted. */
export interface ObjectWrite {
  /** The kind of the object. */
  readonly resource: Resource;
  /** The key of the object. */
  readonly key: ObjectKey;
  /** The namespace of the object; `""` when cluster-scoped. */
  readonly namespace: string;
  /** The uid of the object; `""` when the answer to a deletion does not have it. */
  readonly uid: string;
  /** The version of the object since the write; `""` for a deletion. */
  readonly resourceVersion: string;
  /**
   * The version before a `deleteCollection`, whose answer has no later one: the object is gone, or has a later version
   * because finalizers or a grace period keep it. Absent for all other writes.
   */
  readonly after?: string;
  /** The object as the server has answered, which may be reduced or that of a subresource; absent for a deletion. */
  readonly object?: KubernetesObject;
  /** The request; absent for a deletion. */
  readonly sent?: {
    /** The kind of write. */
    readonly type: "create" | "update" | Patch["type"];
    /** The subresource; `""` for the object itself. */
    readonly subresource: string;
    /** The object or patch. */
    readonly body: unknown;
  };
}

/** Returns the write that an answer to a create, update or patch shows; `undefined` if that is no object. */
export function writeOf(resource: Resource, answer: unknown, sent?: ObjectWrite["sent"]): ObjectWrite | undefined {
  const object = answer as KubernetesObject & { readonly metadata?: KubernetesObject["metadata"] };
  const { name, namespace = "", uid, resourceVersion } = object.metadata ?? {};
  if (!name || !uid || !resourceVersion) return undefined;
  return { resource, key: keyOf(object), namespace, uid, resourceVersion, object, sent };
}

/** The members of answers to deletions that say what has become of the object. */
interface DeletionAnswer extends Partial<KubernetesObject> {
  readonly details?: { readonly uid?: string };
  /** Of a Namespace, which is kept until it is empty. */
  readonly spec?: { readonly finalizers?: readonly string[] };
}

/**
 * Returns the write that an answer to a deletion shows. An object that finalizers or a grace period keep is a new
 * version; every other answer is about an object that is gone.
 */
export function deletionOf(
  resource: Resource,
  place: { readonly namespace: string; readonly name: string },
  answer: unknown,
): ObjectWrite | undefined {
  const { metadata, details, spec } = answer as DeletionAnswer;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata ?? {};
  const isKept = deletionGracePeriodSeconds || finalizers?.length || spec?.finalizers?.length;
  if (deletionTimestamp && isKept) return writeOf(resource, answer);
  const uid = metadata?.uid ?? details?.uid ?? "";
  return { resource, key: keyOf({ metadata: place }), namespace: place.namespace, uid, resourceVersion: "" };
}

/**
 * Returns the write that an item of the answer to a deletion of a collection shows, which is the object as it was
 * before; `undefined` for one that was being deleted already: it may have no later version.
 */
export function collectedOf(resource: Resource, item: KubernetesObject): ObjectWrite | undefined {
  const { namespace = "", uid, resourceVersion: after, deletionTimestamp } = item.metadata;
  if (deletionTimestamp !== undefined) return undefined;
  return { resource, key: keyOf(item), namespace, uid, resourceVersion: "", after };
}

/** A list, or one page of it. */
export interface ObjectList<T> {
  /** The objects, in the server's order. */
  readonly items: readonly T[];
  /** The version of the collection; all pages of a list have the same. */
  readonly resourceVersion: string;
  /** The token of the next page; absent on the last one. */
  readonly continue?: string;
  /** The number of objects on later pages, where the server sends it. */
  readonly remainingItemCount?: number;
  /**
   * `true` for the first page of `pages()` after the list has begun anew: the pages before it are no longer part of it.
   */
  readonly restarted?: boolean;
}

/** A change to an object, in one of four forms. */
export type Patch<T extends KubernetesObject = DynamicObject> =
  | {
    /** Merge (RFC 7386): values replace, `null` deletes, lists are replaced. */
    readonly type: "merge";
    /** The part of the object that changes. */
    readonly body: MergePatch<T>;
  }
  | {
    /** Strategic merge: as merge, but lists are merged by their keys, and `$patch` and others direct the server. */
    readonly type: "strategic";
    /** The part of the object that changes. */
    readonly body: unknown;
  }
  | {
    /** RFC 6902. */
    readonly type: "json";
    /** The operations, all of which must succeed. */
    readonly body: readonly unknown[];
  }
  | ({
    /** Server-side apply: creates the object if it does not exist. */
    readonly type: "apply";
    /** The fields that the manager owns. apiVersion and kind are filled in. */
    readonly body: ApplyFields<T> & { readonly metadata?: Partial<ApplyMeta> };
  } & ApplyOwner);

/** The owner of the fields that an apply sets. */
export interface ApplyOwner {
  /** The owner of the fields from now on. */
  readonly fieldManager: string;
  /** Takes fields over from other managers, instead of failing with 409. @default {false} */
  readonly force?: boolean;
}

/** Options for `apply`. */
export interface ApplyOptions extends Omit<WriteOptions, "fieldManager">, ApplyOwner {}

/** Options for `applyIfChanged`. */
export interface ApplyIfChangedOptions<T> extends Omit<ApplyOptions, "subresource"> {
  /**
   * The object as a cache has it, with the managedFields of the manager; `undefined` if the cache lacks it. @default
   * {the one in the caches of the reconciler, if the client is that of a reconcile; else none}
   */
  readonly current?: (T & Complete) | undefined;
}

/** The result of `applyIfChanged`. */
export interface AppliedIfChanged<T> {
  /** The answer of the server; the cached object if nothing was sent. */
  readonly object: T;
  /** Why the fields were sent, `"spec.replicas differs"`; absent if nothing was. */
  readonly reason?: string;
}

/**
 * A draft of another kind than that of the collection, which a subresource takes: an eviction, a binding, a token
 * request.
 */
export interface SubresourceDraft {
  /** Any other member. */
  readonly [member: string]: unknown;
  /** The name of the object that the subresource belongs to. */
  readonly metadata: DraftMeta & { readonly name: string };
}

/** Options for `get`. */
export interface GetOptions extends RequestOptions {
  /** A subresource: `"status"`, `"scale"`. */
  readonly subresource?: string;
}

/** Options of a {@linkcode ResourceClient}. */
export interface ResourceClientOptions {
  /**
   * Called with each write of this client that the server has accepted, before the call resolves; not for dry runs, nor
   * for subresources whose answer is not about an object (`eviction`, `binding`, `token`). A write whose answer was
   * lost may have taken effect without a call: see `onUnanswered`.
   */
  readonly onWrite?: (write: ObjectWrite) => void;
  /**
   * Called when a write of this client has failed without an answer that says whether it took effect: the server could
   * not be reached, a time was over, or it answered 5xx.
   */
  readonly onUnanswered?: (resource: Resource) => void;
  /**
   * Returns the object of a key as a cache has it, for `applyIfChanged`; `undefined` if no cache has it for sure.
   *
   * @default {none has it}
   */
  readonly cached?: (resource: Resource, key: ObjectKey) => KubernetesObject | undefined;
  /**
   * Called just before each request is sent, also when it is sent again. When it throws an error, the request is not
   * sent, and rejects with that error.
   */
  readonly beforeSent?: () => void;
  /** Ends all requests and streams of this client, beside the signal of each: they reject with its reason. */
  readonly signal?: AbortSignal;
}

/** Gives clients for kinds: a `Client`, or the client that a reconcile receives. */
export interface ResourceClients {
  /** The default namespace of objects that are read by name or created; `""` for none. */
  readonly namespace: string;
  /** Returns the collection of a kind, or the part of it that `selection` selects; see `Client.resource`. */
  resource<T extends KubernetesObject>(resource: Resource<T>, selection?: Selection): ResourceClient<T>;
}

/** Options for writes. */
export interface WriteOptions extends RequestOptions {
  /** The server checks the request and answers as usual, and stores nothing. @default {false} */
  readonly dryRun?: boolean;
  /** The owner of the written fields. @default {taken by the server from the user agent} */
  readonly fieldManager?: string;
  /** The reaction of the server to fields that it does not know. @default {the server's choice, "Warn"} */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** A subresource: `"status"`, `"scale"`, `"eviction"`. */
  readonly subresource?: string;
}

/** Options for `delete`. */
export interface DeleteOptions extends WriteOptions {
  /** Deletes only the object with this uid or version; otherwise the server answers 409. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** The way in which dependent objects are deleted, or kept. @default {the kind's own, mostly "Background"} */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** The time that the object has to terminate, in seconds; 0 is at once. @default {the object's own} */
  readonly gracePeriodSeconds?: number;
}

/** Options for `deleteCollection`: those of `delete`, except preconditions, which are about one object. */
export type DeleteCollectionOptions = ListOptions & Omit<DeleteOptions, "preconditions" | "subresource">;

/** Options for `follow`. */
export interface FollowOptions extends WatchOptions {
  /** Waits after failures. @default {800 ms, doubling to 30 s, each up to twice as long at random} */
  readonly backoff?: BackoffOptions;
  /**
   * Called with each failure after which the watch resumes, and with the wait before that, in milliseconds.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onInterrupted?: (error: unknown, delayMs: number) => void;
}

/**
 * A collection on a server. It is a `ListerWatcher` too.
 *
 * - Calls reject with a `StatusError` when the server refuses, with a `DecodeError` when the answer cannot be decoded,
 *   with an `UnreachableError` when the server cannot be reached or the connection is lost, and with the reason of the
 *   signal when that aborts.
 * - An invalid argument is a `TypeError`, `RangeError` or (selectors) `SyntaxError`, and nothing is sent.
 * - Requests that the server delays (429, or 5xx, with `Retry-After`) are repeated after that time, as often as the
 *   `retries` of the client allow (client-go's matrix). Reads are also repeated, up to 5 times within some 3 to 6 s,
 *   when the connection was reset before the answer, and after 500, 502, 503 and 504; writes are not. `watch`,
 *   `follow`, `listEntries` and `watchChanges` repeat nothing: their callers wait.
 * - Without `timeoutMs`, calls wait for a silent server until the signal aborts; `follow` has a time limit of its own.
 * - An option that a call does not know is refused with a `TypeError` that names it; see `query`.
 * - The namespace of a call replaces that of the collection. Selectors of a call are combined with those of the
 *   collection.
 * - Objects that are read by name or created are in the namespace of the collection, or else of the client. Lists and
 *   watches without a namespace are of all namespaces.
 */
export interface ResourceClient<T extends KubernetesObject> {
  /** The kind of the collection. */
  readonly resource: Resource<T>;

  /** Returns the same collection in one namespace. A cluster-scoped collection stays as it is. */
  namespace(namespace: string): ResourceClient<T>;

  /** Reads an object, or a subresource of it. */
  get(name: string, options?: GetOptions): Promise<T>;

  /**
   * Reads an object as `get` does, and resolves with `undefined` when there is none of that name. A kind that the
   * server does not have is an error.
   */
  getOrUndefined(name: string, options?: GetOptions): Promise<T | undefined>;

  /**
   * Lists the objects by one request: all of them, or one page of `limit`. The answer is read as it arrives and never
   * held as one string, and every object is parsed; an object that cannot be parsed rejects the call. Items have kind
   * and apiVersion.
   */
  list(options?: ListOptions): Promise<ObjectList<T>>;

  /**
   * Lists in pages of `limit` (500 unless given), which all have the same version.
   *
   * The next page is fetched while the caller handles one; leaving the loop cancels it. If the list takes so long that
   * the version expires on the server (5 minutes and more), it begins anew, once, in one page, which is marked as
   * `restarted`: the pages before it no longer count. A second time it ends with a `StatusError` for which `isExpired`
   * is true. If the server repeats a continue token, or sends 100 pages in a row without an object, it ends with a
   * `DecodeError`.
   */
  pages(options?: ListOptions): AsyncIterableIterator<ObjectList<T>>;

  /**
   * Watches until the server ends the watch, or the signal aborts: then the iterator ends without an error. An object
   * that cannot be parsed ends it with a `DecodeError`, a suspension of the computer with an `UnreachableError`, see
   * `Client`.
   */
  watch(options?: WatchOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * Watches, and resumes after every interruption at the last version. It begins after `resourceVersion`: that of a
   * list, or the last one of another watch.
   *
   * - Each change is yielded once, in order: changes that an earlier watch has delivered are skipped. A deletion is
   *   yielded whatever version it has, because some servers send the object's last version.
   * - A watch that ends in good order is followed by the next at once, but attempts begin at least a second apart;
   *   after a failure the wait grows, or is what the server asks for. Unless `timeoutSeconds` says otherwise the server
   *   is asked to end each watch after 2 to 4 minutes. One that stays open 10 s longer counts as lost, whatever it
   *   sends; time that the caller takes for an event does not count towards these 10 s. One that the client renews, see
   *   `Client`, has not failed.
   * - It throws when the version has expired (`isExpired`: list again, and follow from the version of the list), on
   *   401, 403 and 404, when the server refuses the request (any other 4xx as its answer but 408, 409 and 429, or a
   *   redirect), and when an object or a line cannot be decoded twice. After every other failure, such as a failed
   *   credential plugin or a web page from a proxy, it calls `onInterrupted` and resumes.
   * - It ends without an error when the signal aborts.
   * - Bookmarks are yielded if `allowBookmarks` is set.
   *
   * @throws {TypeError} when `resourceVersion` is missing, or `sendInitialEvents` is given.
   * @throws {RangeError} when `resourceVersion` is `""` or `"0"`, from which no watch can resume.
   */
  follow(options?: FollowOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * Lists by one request, and yields entries as they arrive, unparsed. The first part is empty and arrives as soon as
   * the server has accepted the request; then there is one part for each chunk of the body.
   */
  listEntries(options?: ListOptions): AsyncIterableIterator<ListPart<T>>;

  /**
   * Watches until the server ends the watch, and yields changes unparsed. The first batch is empty and arrives as soon
   * as the server has accepted the request; then there is one batch for each chunk of the body, which may be empty too.
   */
  watchChanges(options?: WatchOptions): AsyncIterableIterator<readonly WatchChange<T>[]>;

  /**
   * Creates an object. Missing apiVersion, kind and namespace are filled in.
   *
   * @throws {TypeError} when the resource has namespaces and none is given, or that of the draft is not that of the
   *   collection.
   */
  create(object: ObjectDraft<T>, options?: WriteOptions): Promise<T>;
  /**
   * Creates a subresource (`"eviction"`, `"binding"`, `"token"`) of the object that the draft names, and resolves with
   * the answer, which is of the subresource's kind.
   *
   * @throws {TypeError} as above; when the draft has no name.
   */
  create(object: SubresourceDraft, options: WriteOptions & { readonly subresource: string }): Promise<DynamicObject>;

  /**
   * Replaces an object: a changed copy, which `copyOf` makes of one that was read. If its resourceVersion is not the
   * newest, the server answers 409 (`isConflict`).
   *
   * @throws {TypeError} when it has a part that is `reduced`: the server would remove the fields that it lacks.
   */
  update(object: Mutable<T> & Complete, options?: WriteOptions): Promise<T>;

  /** Applies the fields that a manager owns (server-side apply), and creates the object if it does not exist. */
  apply(object: Apply<T>, options: ApplyOptions): Promise<T>;

  /**
   * Applies the fields that a manager owns, unless the cached object shows that it would stay as it is: then nothing is
   * sent.
   *
   * - Nothing is sent if the manager's entry in the managedFields of the cached object has exactly the fields of
   *   `object`, and each has its present value. What the server has filled in is no difference, nor is a quantity in
   *   another form, `"1000m"` for `"1"`.
   * - In doubt the fields are sent: without a cached object or its managedFields, where another manager has taken a
   *   field, where items of a list have another order. So it is worth its while for fields that are written as the
   *   server stores them, without `null` and empty members.
   * - An informer drops managedFields, unless its option `managedFields` keeps them: `{ manager: "shop-operator" }`.
   * - It reads what the cache has. Where that is behind the server, the change that is missing there is an event later,
   *   and a reconcile of it applies again.
   *
   * @throws {TypeError} as `apply`; when the cached object is another one, or `reduced`.
   */
  applyIfChanged(object: Apply<T>, options: ApplyIfChangedOptions<T>): Promise<AppliedIfChanged<T>>;

  /** Patches an object; a patch of type `"apply"` creates it if it does not exist. */
  patch(name: string, patch: Patch<T>, options?: WriteOptions): Promise<T>;

  /**
   * Deletes an object. Resolves with its last state if it is deleted later (finalizers, a grace period) or the server
   * sends it for this kind, else with a `Status`. An object has `metadata`, a `Status` has `code`.
   */
  delete(name: string, options?: DeleteOptions): Promise<T | ApiStatus>;

  /**
   * Deletes the selected objects of one namespace.
   *
   * @throws {TypeError} when the resource has namespaces and neither the collection nor the options name one: servers
   * do not delete across namespaces.
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<void>;
}

const ANY = "signal timeoutMs query";
const SELECTION = "namespace namespaces labelSelector fieldSelector shard";
const DECODING = "managedFields fields secretData secretAnnotations known knownNext onDecoded";
const READ = `${SELECTION} ${DECODING} resourceVersion` as const;
const WRITE = `${ANY} dryRun fieldManager fieldValidation subresource` as const;
const DELETE = `${WRITE} preconditions propagationPolicy gracePeriodSeconds` as const;
const LIST = `${ANY} ${READ} resourceVersionMatch limit continue` as const;
const WATCH = `signal query ${READ} timeoutSeconds allowBookmarks sendInitialEvents` as const;

/** The options of each call. */
const OPTIONS = {
  get: namesOf<GetOptions>()(ANY, "subresource"),
  list: namesOf<ListOptions>()(LIST),
  watch: namesOf<FollowOptions>()(WATCH, "backoff onInterrupted"),
  write: namesOf<WriteOptions>()(WRITE),
  delete: namesOf<DeleteOptions>()(DELETE),
  deleteCollection: namesOf<ListOptions & DeleteOptions>()(LIST, DELETE),
} as const;

/** Parameters that options or the client set, under the names that the server has for them. */
const PARAMETERS = [
  ...new Set(Object.values(OPTIONS).flat()),
  "watch",
  "allowWatchBookmarks",
  "force",
  "pretty",
];

/** The rest of a request, beside the place that it is about and its options. */
interface Call {
  /** The call whose options it has. */
  readonly call: keyof typeof OPTIONS;
  /** The parameters that the call sets. @default {"pretty=false"} */
  readonly query?: URLSearchParams | string;
  readonly init: RequestInit;
  /** See {@linkcode RequestSpec.patient}. @default {true} */
  readonly patient?: boolean;
}

/**
 * Returns a request to a place, with the parameters of `query` and the limit of `timeoutMs` of its options.
 *
 * @throws {TypeError} when an option is unknown, or `query` has the name of an option, or nearly so.
 * @throws {RangeError} when `timeoutMs` is no duration.
 */
function requestTo(
  { action, resource, path }: Pick<Place, "action" | "resource" | "path">,
  { call, query: own = "pretty=false", init, patient = true }: Call,
  options: RequestOptions,
): RequestSpec {
  const spec = { action, resource, path: `${path}?${own}`, init, patient };
  const { query, timeoutMs } = options;
  checkNames(spec.action, options, OPTIONS[call], "Put a parameter without an option into query");
  checkDurations(spec.action, { timeoutMs }, { min: 1 });
  const limited = timeoutMs === undefined ? spec : { ...spec, timeoutMs };
  if (query === undefined) return limited;
  const parameters = new URLSearchParams(own);
  for (const [name, value] of Object.entries(query)) {
    checkParameter(name, spec.action);
    parameters.set(name, value);
  }
  return { ...limited, path: `${path}?${parameters}` };
}

function checkParameter(name: string, action: string): void {
  if (name === "pretty") return;
  // Short names differ by one letter from others that mean something else.
  const near = nearest(name, PARAMETERS, name.length < 8 ? 1 : 2);
  if (near === undefined) return;
  const problem = near === name
    ? `query has "${name}", which is an option. Pass it as the option`
    : `query has "${name}". Did you mean the option "${near}"?`;
  throw new TypeError(`Cannot ${action}: ${problem}`);
}

/** The part of a collection that a request is about. */
export interface Target<T extends KubernetesObject = KubernetesObject> {
  /** The kind. */
  readonly resource: Resource<T>;
  /** The part of the collection. */
  readonly selection: Selection;
  /** The namespace of objects that are read by name or created, where the selection has none; `""` for none. */
  readonly defaultNamespace: string;
}

const JSON_TYPE = "application/json";
const TABLE_TYPE = "application/json;as=Table;g=meta.k8s.io;v=v1";

const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // The server has no other name for it; JSON is YAML.
  apply: "application/apply-patch+yaml",
};

/**
 * Returns the request of a list.
 *
 * @throws {RangeError | SyntaxError} when an option is invalid.
 */
export function listRequest(target: Target, options: ListOptions, patient: boolean): RequestSpec {
  const { resource } = target;
  const query = listQuery(target, options);
  includeObject(query, resource);
  const init = { headers: { accept: accept(resource, "List") } };
  return requestTo(collectionOf(target, "list", options), { call: "list", query, init, patient }, options);
}

/**
 * Returns the request of a watch. It refuses content encodings: servers may compress each event separately, and Deno's
 * `fetch` ends the body after the first of several gzip members, so that later events would be lost without an error.
 *
 * @throws {RangeError | SyntaxError | TypeError} when an option is invalid.
 */
export function watchRequest(target: Target, options: WatchOptions): RequestSpec {
  const { resource } = target;
  const place = collectionOf(target, "watch", options);
  const { resourceVersion, timeoutSeconds, allowBookmarks = false, sendInitialEvents } = options;
  if (sendInitialEvents && !allowBookmarks) {
    throw new TypeError(
      `Cannot ${place.action}: sendInitialEvents needs allowBookmarks, because a bookmark ` +
        `marks the end of the initial events`,
    );
  }
  const query = selectorQuery(target, options);
  includeObject(query, resource);
  query.set("watch", "true");
  if (resourceVersion !== undefined) query.set("resourceVersion", resourceVersion);
  setCount(query, "timeoutSeconds", timeoutSeconds);
  if (allowBookmarks) query.set("allowWatchBookmarks", "true");
  if (sendInitialEvents !== undefined) {
    query.set("sendInitialEvents", String(sendInitialEvents));
    // The server accepts the one only with the other, and with no other value (apimachinery `ValidateListOptions`).
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  // Without the fallback: a server without tables in streaming lists, as Kubernetes 1.32, says so by 406.
  const type = sendInitialEvents && resource.representation === "table" ? TABLE_TYPE : accept(resource, "");
  const init = { headers: { accept: type, "accept-encoding": "identity" } };
  return requestTo(place, { call: "watch", query, init, patient: false }, options);
}

/** Returns the request of an object. @throws {TypeError} when the object has no address. */
export function getRequest(target: Target, name: string, options: GetOptions): RequestSpec {
  const { subresource } = options;
  const place = placeOf(target, "get", { name, subresource });
  const query = baseQuery();
  if (!subresource) includeObject(query, target.resource);
  const init = { headers: { accept: subresource ? JSON_TYPE : accept(target.resource, "") } };
  return requestTo(place, { call: "get", query, init }, options);
}

/** Returns the request of a creation. @throws {TypeError} when the object has no address. */
export function createRequest(
  target: Target,
  object: { readonly metadata: Partial<KubernetesObject["metadata"]> },
  options: WriteOptions,
): RequestSpec {
  refusePartial(target.resource, "create");
  refuseReduced(`create "${resourceName(target.resource)}" from an object of a cache`, object);
  const { subresource } = options;
  const { name, namespace } = object.metadata ?? {};
  if (subresource && !name) throw new TypeError(`Cannot create "${subresource}": the draft has no metadata.name`);
  const place = placeOf(target, "create", { namespace, ...(subresource ? { name, subresource } : {}) });
  const action = describe("create", target.resource, { name, namespace: place.namespace, subresource });
  const metadata = place.namespace === "" ? object.metadata : { ...object.metadata, namespace: place.namespace };
  return writeRequest(
    { ...place, action },
    "POST",
    fillIn(target.resource, { ...object, metadata }, subresource),
    options,
  );
}

/** Returns the request of an update. @throws {TypeError} when the object has no address. */
export function updateRequest(target: Target, object: KubernetesObject, options: WriteOptions): RequestSpec {
  refusePartial(target.resource, "update");
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError(`Cannot update "${resourceName(target.resource)}": the object has no metadata.name`);
  const place = placeOf(target, "update", { name, namespace, subresource: options.subresource });
  refuseReduced(place.action, object);
  return writeRequest(place, "PUT", fillIn(target.resource, object, options.subresource), options);
}

/**
 * Returns the request of a patch.
 *
 * @throws {TypeError} when the object has no address, or an apply has no field manager.
 */
export function patchRequest<T extends KubernetesObject>(
  target: Target,
  name: string,
  patch: Patch<T>,
  options: WriteOptions,
): RequestSpec {
  refuseTable(target.resource, "patch");
  const { resource } = target;
  const { subresource } = options;
  const place = placeOf(target, "patch", { name, subresource });
  // A merge patch keeps the fields that it does not name, but replaces lists.
  refuseReduced(place.action, patch.body, patch.type === "apply" ? "anywhere" : "in arrays");
  if (patch.type !== "apply") {
    return writeRequest(place, "PATCH", patch.body, options, PATCH_TYPES[patch.type], accept(resource, ""));
  }
  if (!patch.fieldManager) throw new TypeError(`Cannot ${place.action}: an apply needs the option fieldManager`);
  const spec = writeRequest(
    place,
    "PATCH",
    fillIn(resource, patch.body as object, subresource),
    { ...options, fieldManager: patch.fieldManager },
    PATCH_TYPES.apply,
    accept(resource, ""),
  );
  return patch.force ? { ...spec, path: `${spec.path}&force=true` } : spec;
}

/**
 * Returns the request of a deletion.
 *
 * @throws {RangeError | TypeError} when the object has no address or an option is invalid.
 */
export function deleteRequest(target: Target, name: string, options: DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const place = placeOf(target, "delete", { name, subresource: options.subresource });
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  checkCounts(place.action, { gracePeriodSeconds });
  const body = { preconditions, propagationPolicy, gracePeriodSeconds, dryRun: dryRun ? ["All"] : undefined };
  const init = {
    method: "DELETE",
    headers: { accept: accept(target.resource, ""), "content-type": JSON_TYPE },
    // The server reads either the body or the query, so all options are in the body.
    body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...body }),
  };
  return requestTo(place, { call: "delete", init }, options);
}

/**
 * Returns the request that deletes the selected objects.
 *
 * @throws {RangeError | SyntaxError | TypeError} when no namespace is given, or an option is invalid.
 */
export function deleteCollectionRequest(target: Target, options: ListOptions & DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const { resource } = target;
  const place = collectionOf(target, "delete all selected", options);
  if (resource.scope === "Namespaced" && !place.namespace) {
    throw new TypeError(
      `Cannot ${place.action}: no namespace is given, and a server does not delete across namespaces. Choose one with namespace()`,
    );
  }
  const query = listQuery(target, options);
  setWriteQuery(query, options);
  if (options.propagationPolicy !== undefined) query.set("propagationPolicy", options.propagationPolicy);
  setCount(query, "gracePeriodSeconds", options.gracePeriodSeconds);
  const init = { method: "DELETE", headers: { accept: accept(resource, "List") } };
  return requestTo(place, { call: "deleteCollection", query, init }, options);
}

/** Returns a selector for objects that match both. */
function bothSelectors(a: string | undefined, b: string | undefined): string | undefined {
  return a && b ? `${a},${b}` : a || b || undefined;
}

interface Place extends PathParts {
  readonly action: string;
  readonly resource: string;
  readonly path: string;
  readonly namespace: string;
}

/** Returns the path of a collection. */
function collectionOf({ resource, selection }: Target, verb: string, options: Selection): Place {
  const { namespace = selection.namespace ?? "" } = options;
  const action = describe(verb, resource, { namespace });
  return { action, resource: resourceName(resource), path: pathOf(resource, { namespace }), namespace };
}

/** Returns the path of an existing or new object. */
function placeOf(target: Target, verb: string, parts: PathParts): Place {
  const { resource, selection, defaultNamespace } = target;
  if (resource.scope === "Cluster") {
    return {
      ...parts,
      resource: resourceName(resource),
      namespace: "",
      action: describe(verb, resource, { ...parts, namespace: undefined }),
      path: pathOf(resource, parts),
    };
  }
  const namespace = parts.namespace || selection.namespace || defaultNamespace;
  const action = describe(verb, resource, { ...parts, namespace });
  if (namespace === "") {
    throw new TypeError(
      `Cannot ${action}: no namespace is given. Choose one with namespace(), in the object, or in the client's options`,
    );
  }
  if (parts.namespace && selection.namespace && parts.namespace !== selection.namespace) {
    throw new TypeError(`Cannot ${action}: the collection covers only namespace "${selection.namespace}"`);
  }
  const path = pathOf(resource, { ...parts, namespace });
  return { ...parts, resource: resourceName(resource), namespace, action, path };
}

function describe(verb: string, resource: Resource, parts: PathParts): string {
  const { namespace, name, subresource } = parts;
  const what = [resourceName(resource), name, subresource].filter((part) => part).join("/");
  return `${verb} "${what}"${namespace && resource.scope === "Namespaced" ? ` in namespace "${namespace}"` : ""}`;
}

function writeRequest(
  place: Place,
  method: string,
  body: unknown,
  options: WriteOptions,
  contentType: string = JSON_TYPE,
  acceptType: string = JSON_TYPE,
): RequestSpec {
  const query = baseQuery();
  setWriteQuery(query, options);
  const headers = { accept: acceptType, "content-type": contentType };
  return requestTo(place, { call: "write", query, init: { method, headers, body: JSON.stringify(body) } }, options);
}

function setWriteQuery(query: URLSearchParams, options: WriteOptions): void {
  if (options.dryRun) query.set("dryRun", "All");
  if (options.fieldManager !== undefined) query.set("fieldManager", options.fieldManager);
  if (options.fieldValidation !== undefined) query.set("fieldValidation", options.fieldValidation);
}

function listQuery(target: Target, options: ListOptions): URLSearchParams {
  const query = selectorQuery(target, options);
  const { resourceVersion, resourceVersionMatch, limit, continue: token } = options;
  if (resourceVersion !== undefined) query.set("resourceVersion", resourceVersion);
  if (resourceVersionMatch !== undefined) query.set("resourceVersionMatch", resourceVersionMatch);
  checkCounts("send the request", { limit });
  if (limit) query.set("limit", String(limit));
  if (token) query.set("continue", token);
  return query;
}

function selectorQuery(target: Target, options: Selection & ShardOption): URLSearchParams {
  const query = baseQuery();
  // The server would answer 400; the error of the parser names the wrong character.
  checkSelectors(options);
  const labels = bothSelectors(target.selection.labelSelector, options.labelSelector);
  const fields = bothSelectors(target.selection.fieldSelector, options.fieldSelector);
  if (labels !== undefined) query.set("labelSelector", labels);
  if (fields !== undefined) query.set("fieldSelector", fields);
  const shard = options.shard?.selector;
  if (shard !== undefined) query.set("shardSelector", shard);
  return query;
}

/** Requests the complete objects with the rows of a table; without it, the server sends their metadata. */
function includeObject(query: URLSearchParams, resource: Resource): void {
  if (resource.representation === "table") query.set("includeObject", "Object");
}

/** Servers send indented JSON, twice the bytes, to some user agents such as browsers unless `pretty` is false. */
function baseQuery(): URLSearchParams {
  return new URLSearchParams({ pretty: "false" });
}

function setCount(query: URLSearchParams, name: string, value: number | undefined): void {
  checkCounts("send the request", { [name]: value });
  if (value !== undefined) query.set(name, String(value));
}

/**
 * Returns the accepted media types. Plain JSON is the fallback for servers without the form. A watch of metadata must
 * request the form of an object: with the form of a list, the server answers 200 and an empty body. A table has one
 * form.
 */
function accept(resource: Resource, suffix: "" | "List"): string {
  const { representation = "object" } = resource;
  if (representation === "object") return JSON_TYPE;
  if (representation === "table") return `${TABLE_TYPE},${JSON_TYPE}`;
  const form = `as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`;
  return `${JSON_TYPE};${form},${JSON_TYPE}`;
}

/**
 * Fills in apiVersion and kind. A subresource may be of another kind (Scale, Eviction), which only the caller knows.
 */
function fillIn(resource: Resource, object: object, subresource: string | undefined): object {
  if (subresource && subresource !== "status") return object;
  const { apiVersion = apiVersionOf(resource), kind = resource.kind, ...rest } = object as Partial<KubernetesObject>;
  return { apiVersion, kind, ...rest };
}

function refusePartial(resource: Resource, verb: string): void {
  const { representation = "object", fields } = resource;
  if (representation === "object" && fields === undefined) return;
  const [form, instead] = representation === "table" ? ["a table", "Use the resource itself"] : [
    `reduced to ${fields === undefined ? "metadata" : "selected fields"}`,
    "Patch it, or use the resource with all fields",
  ];
  throw new TypeError(`Cannot ${verb} "${resourceName(resource)}": the resource is ${form}. ${instead}`);
}

/** Rows are read, not written. */
function refuseTable(resource: Resource, verb: string): void {
  if (resource.representation === "table") refusePartial(resource, verb);
}
