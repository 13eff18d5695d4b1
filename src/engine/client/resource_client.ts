/**
 * The typed calls for one kind: their options, their results, and the writes that they report.
 *
 * {@linkcode ResourceClient} is the entry point. `Collection` implements it, and sends the requests that `requests.ts`
 * builds. It passes each write to `onWrite`, so that a reconciler recognizes its own writes.
 *
 * @module
 */
import type { ListOptions, RequestOptions, Selection, WatchOptions } from "../api/call_options.ts";
import type { ListPart, WatchChange, WatchEvent } from "../api/lister_watcher.ts";
import type { Complete, DynamicObject, KubernetesObject, ObjectKey } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import type { ApiStatus } from "../api/status.ts";
import type { Scale, TokenRequest } from "../api/subresources.ts";
import type { Apply, ApplyFields, ApplyMeta, DraftMeta, MergePatch, Mutable, ObjectDraft } from "../api/written.ts";
import type { BackoffOptions } from "../async/time.ts";
import type { Pod } from "../kinds/core/v1.ts";
import type { LogLine, LogOptions } from "./logs.ts";

/** A write that the server accepted: the object has a new version, or was deleted. */
export interface ObjectWrite {
  /** The object's kind. */
  readonly resource: Resource;
  /** The object's key. */
  readonly key: ObjectKey;
  /** The object's namespace, or `""` if it is cluster-scoped. */
  readonly namespace: string;
  /** The object's uid. It is `""` if the response to a deletion does not contain it. */
  readonly uid: string;
  /** The object's new version, or `""` after a deletion. */
  readonly resourceVersion: string;
  /**
   * The object's version before a `deleteCollection`, because the response has no later one. The object is gone, or
   * finalizers or a grace period keep it at a later version. Absent for all other writes.
   */
  readonly after?: string;
  /**
   * The object in the server's response. It may be reduced, or belong to a subresource. Absent after a deletion, unless
   * the response shows that the server keeps the object.
   */
  readonly object?: KubernetesObject;
  /** The JSON text of `object`, as the server sent it. The call's caller may change the object itself. */
  readonly text?: string;
  /** The request. Absent for a deletion. */
  readonly sent?: {
    /** The call, or the patch's type. */
    readonly type: "create" | "update" | Patch["type"];
    /** The subresource, or `""` for the object itself. */
    readonly subresource: string;
    /** The object or patch that was passed to the call. */
    readonly body: unknown;
  };
}

/** A list, or one page of a list. */
export interface ObjectList<T> {
  /** The objects, in the server's order. */
  readonly items: readonly T[];
  /** The collection's version, from which a watch can start. All pages of one list have the same version. */
  readonly resourceVersion: string;
  /** The next page's token. Absent on the last page. */
  readonly continue?: string;
  /** The number of objects on later pages, if the server sends it. */
  readonly remainingItemCount?: number;
  /**
   * `true` on the first page from `pages()` after the list has restarted. Discard the earlier pages: they are no longer
   * part of the list.
   */
  readonly restarted?: boolean;
}

/** A change to an object, in one of four formats. */
export type Patch<T extends KubernetesObject = DynamicObject> =
  | {
    /** JSON merge patch (RFC 7386): values replace, `null` deletes, and a list replaces the whole list. */
    readonly type: "merge";
    /** The fields to change. */
    readonly body: MergePatch<T>;
  }
  | {
    /** Strategic merge patch: it merges lists by their keys, and directives such as `$patch` guide the server. */
    readonly type: "strategic";
    /** The fields to change, and directives. */
    readonly body: unknown;
  }
  | {
    /** JSON patch (RFC 6902). */
    readonly type: "json";
    /** The operations. All of them must succeed. */
    readonly body: readonly unknown[];
  }
  | ({
    /** Server-side apply. It creates the object if it does not exist. */
    readonly type: "apply";
    /** The fields that the manager owns. The client fills in `apiVersion` and `kind`. */
    readonly body: ApplyFields<T> & { readonly metadata?: Partial<ApplyMeta> };
  } & ApplyOwner);

/** The field manager for an apply. */
export interface ApplyOwner {
  /** The manager that owns the applied fields from now on. */
  readonly fieldManager: string;
  /** Whether to take over fields from other managers. With `false`, a conflict fails with 409. @default {false} */
  readonly force?: boolean;
}

/** Options for {@linkcode ResourceClient.apply}. */
export interface ApplyOptions extends Omit<WriteOptions, "fieldManager">, ApplyOwner {}

/** Options for {@linkcode ResourceClient.applyIfChanged}. */
export interface ApplyIfChangedOptions<T> extends Omit<ApplyOptions, "subresource"> {
  /**
   * The cached object, including the manager's managedFields. Pass `undefined` if the cache does not have it: then the
   * fields are sent. If you leave the option out, a reconcile's client looks in its reconciler's caches. Other clients
   * always send the fields.
   */
  readonly current?: (T & Complete) | undefined;
}

/** The result from {@linkcode ResourceClient.applyIfChanged}. */
export interface AppliedIfChanged<T> {
  /** The object in the server's response, or the cached object if nothing was sent. */
  readonly object: T;
  /** Why the fields were sent, e.g. `"spec.replicas differs"`. Absent if nothing was sent. */
  readonly reason?: string;
  /**
   * A field that stays although your draft lacks it, e.g. `'"kube-informer" owns data.legacy by an update'`. An apply
   * removes only fields that were applied. This one was written by an update: by this field manager, or by the client
   * without the option `fieldManager`. Call `upgradeManagedFields` once, or put the field into the draft. Leave a
   * field that an update is meant to own, such as the annotation by `restart()`. Absent if there is no such field, or
   * if the object lacks that manager's entry in managedFields.
   */
  readonly kept?: string;
}

/**
 * A draft for a subresource whose kind differs from the collection's kind: an eviction, a binding or a token request.
 */
export interface SubresourceDraft {
  /** Any other member. */
  readonly [member: string]: unknown;
  /** The name of the object that has the subresource. */
  readonly metadata: DraftMeta & { readonly name: string };
}

/** Options for {@linkcode ResourceClient.get}. */
export interface GetOptions extends RequestOptions {
  /** The subresource to read, e.g. `"status"` or `"scale"`. */
  readonly subresource?: string;
}

/** Options for a {@linkcode ResourceClient}. */
export interface ResourceClientOptions {
  /**
   * Called with each accepted write, before the call resolves. It is not called for dry runs, or for subresources
   * without an object in the response (`eviction`, `binding`, `token`). If a response was lost, the write may have
   * taken effect without this call: see `onUnanswered`.
   */
  readonly onWrite?: (write: ObjectWrite) => void;
  /**
   * Called if a write failed and no response says whether it took effect. The server was unreachable, a time limit was
   * over, or the server responded with 5xx.
   */
  readonly onUnanswered?: (resource: Resource) => void;
  /**
   * Returns the cached object for a key, for `applyIfChanged`. Return `undefined` if it is not certain that a cache has
   * it. By default, no object counts as cached.
   */
  readonly cached?: (resource: Resource, key: ObjectKey) => KubernetesObject | undefined;
  /**
   * Called just before each request is sent, including repeated requests. If it throws, the request is not sent, and
   * rejects with that error.
   */
  readonly beforeSent?: () => void;
  /**
   * Ends all requests and streams from this client, in addition to each call's own signal. They reject with the
   * signal's reason.
   */
  readonly signal?: AbortSignal;
}

/**
 * Anything that returns clients for kinds: a `Client`, or the client that a reconcile receives. Write your functions
 * for this type to use them with both.
 */
export interface ResourceClients {
  /** The namespace for objects that you create or address by name, or `""` for none. */
  readonly namespace: string;
  /** Returns the client for one kind, or for the part that `selection` selects. See `Client.resource`. */
  resource<T extends KubernetesObject>(resource: Resource<T>, selection?: Selection): ResourceClient<T>;
}

/** Options for writes. */
export interface WriteOptions extends RequestOptions {
  /** If `true`, the server checks the request and responds as usual, but stores nothing. @default {false} */
  readonly dryRun?: boolean;
  /** The manager that owns the written fields. By default, the server takes it from the user agent. */
  readonly fieldManager?: string;
  /** How the server handles fields that it does not know. By default the server decides, and uses `"Warn"`. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** The subresource to write, e.g. `"status"`, `"scale"` or `"eviction"`. */
  readonly subresource?: string;
}

/** Options for {@linkcode ResourceClient.delete}. */
export interface DeleteOptions extends WriteOptions {
  /** Deletes the object only if it has this uid or version. Otherwise the server responds with 409. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /**
   * How the server deletes dependent objects, or whether it keeps them (`"Orphan"`). By default the kind decides,
   * mostly on `"Background"`.
   */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /**
   * How long the object may take to terminate, in seconds. 0 means immediately. By default, the object's own grace
   * period applies.
   */
  readonly gracePeriodSeconds?: number;
}

/**
 * Options for {@linkcode ResourceClient.deleteCollection}: the options for lists and deletions. There are no
 * preconditions, because they concern one object.
 */
export type DeleteCollectionOptions = ListOptions & Omit<DeleteOptions, "preconditions" | "subresource">;

/** Options for {@linkcode ResourceClient.follow}. */
export interface FollowOptions extends WatchOptions {
  /**
   * How long to wait after failures in a row. By default, the first wait is a random time from 0.8 to 1.6 s, and the
   * waits double up to at most 30 s. While the server cannot be reached, the first eight waits are 0.5 to 1 s, and
   * later waits are at most 5 s.
   */
  readonly backoff?: BackoffOptions;
  /**
   * Called with each failure after which the watch resumes. `delayMs` is the wait before that, in milliseconds. By
   * default, each new cause is written to the console in one line, and again at most once a minute.
   */
  readonly onInterrupted?: (error: unknown, delayMs: number) => void;
}

/**
 * Reads, writes and watches the objects of one kind. `Client.resource` returns it. It is also a `ListerWatcher`, so you
 * can pass it to a `Reflector`.
 *
 * - **Errors.** A call rejects with a `StatusError` if the server refuses it, and with a `DecodeError` if the response
 *   cannot be decoded. It rejects with an `UnreachableError` if the server cannot be reached or the connection is lost.
 *   If the signal aborts, it rejects with the signal's reason.
 * - **Arguments.** An invalid argument is a `TypeError`, a `RangeError` or (for selectors) a `SyntaxError`, and nothing
 *   is sent. The first two have the `reason` `"argument"`, which errors from a defect lack. An unknown option is a
 *   `TypeError` that names the option. Put other parameters into `query`.
 * - **Retries.** If the server delays a request (429, or 5xx, with `Retry-After`), the client waits and repeats it. The
 *   limit is the client's option `retries` (client-go's matrix). Reads are also repeated, up to 5 times in about 3 to 6
 *   s, if the connection was reset before the response, and after 500, 502, 503 and 504. Writes are not. `watch`,
 *   `follow`, `listEntries` and `watchChanges` repeat no request, because their callers wait.
 * - **Time limits.** Without `timeoutMs`, a call waits for a silent server until the signal aborts. `follow` has its
 *   own limit.
 * - **Selection.** A namespace in a call replaces the collection's namespace. Selectors in a call are combined with the
 *   collection's selectors. Lists and watches without a namespace cover all namespaces.
 * - **Names.** Objects that you create or address by name are in the collection's namespace. If it has none, a draft's
 *   own namespace comes before the client's. A draft with another namespace, or of a cluster-scoped kind with one, is a
 *   `TypeError`.
 */
export interface ResourceClient<T extends KubernetesObject> {
  /** The collection's kind. */
  readonly resource: Resource<T>;

  /** Returns the same collection in one namespace. A cluster-scoped collection does not change. */
  namespace(namespace: string): ResourceClient<T>;

  /** Reads the subresource `scale`. If the object does not exist, `isNotFound` is true for the error. */
  get(name: string, options: GetOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /** Reads the subresource `status`, which is the whole object. */
  get(name: string, options: GetOptions & { readonly subresource: "status" }): Promise<T>;
  /** Reads any other subresource. If the object does not exist, `isNotFound` is true for the error. */
  get(name: string, options: GetOptions & { readonly subresource: string }): Promise<DynamicObject>;
  /** Reads an object. If it does not exist, `isNotFound` is true for the error. */
  get(name: string, options?: GetOptions): Promise<T>;

  /**
   * Reads an object like `get`, but resolves with `undefined` if no object has the name. If the server does not have
   * the kind, it still rejects.
   */
  getOrUndefined(name: string, options?: GetOptions): Promise<T | undefined>;

  /**
   * Lists the objects with one request: all objects, or one page if you set `limit`. For large collections, use
   * `pages`. The items have `kind` and `apiVersion`.
   *
   * The response is read while it arrives, and is never held as one string. Every object is parsed: if one cannot be
   * parsed, the call rejects.
   */
  list(options?: ListOptions): Promise<ObjectList<T>>;

  /**
   * Lists page by page, so that a large collection needs little memory. A page has `limit` objects (by default 500),
   * and all pages have the same version.
   *
   * - While you handle one page, the next one is fetched. If you leave the loop, that request is cancelled.
   * - If you take so long that the version expires on the server (5 minutes or more), the list restarts once, as one
   *   page. This page is marked as `restarted`: discard the earlier pages.
   *
   * @throws {StatusError} if the version expires a second time (`isExpired`).
   * @throws {DecodeError} if the server repeats a continue token, or sends 100 pages in a row without an object.
   */
  pages(options?: ListOptions): AsyncIterableIterator<ObjectList<T>>;

  /**
   * Watches until the server ends the watch or the signal aborts. Then the iterator ends without an error. To resume
   * after the end, use `follow`.
   *
   * @throws {DecodeError} if an object cannot be parsed.
   * @throws {UnreachableError} if the connection is lost, or if it may be dead and no other watch could replace it. One
   * cause is a suspended computer, see `Client`.
   */
  watch(options?: WatchOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * Watches, and resumes from the last version after every interruption. It starts after `resourceVersion`, which you
   * take from a list or from another watch's last event.
   *
   * - **Each change once.** You receive changes in order, and changes that an earlier watch delivered are skipped. You
   *   also receive a deletion with an old version, because some servers send the object's last version.
   * - **Waits.** After a watch has ended normally, the next one starts immediately, but at least a second after the
   *   previous start. After a failure the wait grows, or is as long as the server asks.
   * - **Time limit.** Unless you set `timeoutSeconds`, it asks the server to end each watch after 2 to 4 minutes. A
   *   watch that stays open 10 s longer counts as lost, even if it sends events. Your own time for an event does not
   *   count towards these 10 s.
   * - **Dead connections.** If the client renews a watch (see `Client`), this is not a failure.
   * - **End.** When the signal aborts, it ends without an error.
   * - **Bookmarks.** You receive them only if you set `allowBookmarks`.
   *
   * It throws instead of resuming in these cases:
   *
   * - The version has expired (`isExpired`). List again, and follow from that list's version.
   * - The server responds with 401, 403 or 404.
   * - The server refuses the request with another 4xx (except 408, 409 and 429) or a redirect.
   * - An object or a line cannot be decoded twice.
   *
   * After every other failure it calls `onInterrupted` and resumes. Examples are a failed credential plugin, and a web
   * page from a proxy.
   *
   * @throws {TypeError} if `resourceVersion` is missing, or you pass `sendInitialEvents`.
   * @throws {RangeError} if `resourceVersion` is `""` or `"0"`, because no watch can resume from it.
   */
  follow(options?: FollowOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * Lists with one request, and yields unparsed entries while they arrive. The first part is empty, and arrives as soon
   * as the server accepts the request. Then each chunk of the body yields one part.
   */
  listEntries(options?: ListOptions): AsyncIterableIterator<ListPart<T>>;

  /**
   * Watches until the server ends the watch, and yields unparsed changes. The first batch is empty, and arrives as soon
   * as the server accepts the request. Then each chunk of the body yields one batch, which may be empty too.
   */
  watchChanges(options?: WatchOptions): AsyncIterableIterator<readonly WatchChange<T>[]>;

  /**
   * Yields the lines in a pod's log. Only a collection of pods has it. To follow many pods, use `followLogs`.
   *
   * With `follow`, it waits for more lines, and reads on after lost connections, rotations and restarts:
   *
   * - **Each line once.** It requests the log from the last second on, and skips the lines that you have received. They
   *   are known by their times and their number, so equal lines are no problem.
   * - **Gaps.** If it cannot exclude that lines are missing, the next line has `gap`.
   * - **Restarts.** When the container restarts, you first receive the rest of its log before the restart.
   * - **Waits.** It waits until the container starts, and after failures as long as `backoff` and the server say.
   * - **End.** It ends without an error when the container has ended and will not restart, when the pod is gone, or
   *   when the signal aborts.
   *
   * Without `follow`, it ends after the present lines. It reads only as fast as you do. The client needs the verb `get`
   * for `pods` and `pods/log`.
   *
   * @throws {TypeError} if the kind is not Pod, or options contradict each other.
   * @throws {StatusError} if the pod or the container does not exist, if the rights are missing, or without `follow` if
   * the container has not started.
   * @throws {InformerError} if the kubelet cannot read the log of an ended container, or any log without `follow`.
   *
   * @example
   * ```ts
   * import { Client } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   *
   * using server = new FakeApiServer();
   * server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
   * server.writeLog("shop/web-0", "ready");
   * using client = new Client({ server: server.url, transport: server });
   * const pods = client.resource(Pod, { namespace: "shop" });
   * for await (const { time, text, gap } of pods.logs("web-0", { follow: true, tailLines: 10 })) {
   *   if (gap) console.warn("lines may be missing here");
   *   console.log(time, text);
   *   break;
   * }
   * ```
   */
  logs(this: ResourceClient<Pod>, name: string, options?: LogOptions): AsyncIterableIterator<LogLine>;

  /**
   * Creates an eviction or a binding of the pod that the draft names. To wait for a PodDisruptionBudget, use `evict`
   * from `@kube/informer/workloads`. An eviction is sent once, even if the server asks you to retry: then `isThrottled`
   * is true for the error.
   *
   * @throws {TypeError} if the draft has no name, or for the reasons below.
   */
  create(
    object: SubresourceDraft,
    options: WriteOptions & { readonly subresource: "eviction" | "binding" },
  ): Promise<ApiStatus>;
  /**
   * Creates a token for the service account that the draft names.
   *
   * @throws {TypeError} if the draft has no name, or for the reasons below.
   */
  create(object: SubresourceDraft, options: WriteOptions & { readonly subresource: "token" }): Promise<TokenRequest>;
  /**
   * Creates an object. The client fills in `apiVersion`, `kind` and the namespace if they are missing.
   *
   * @throws {TypeError} if the kind is namespaced and no namespace is given, or if the draft's namespace differs from
   * the collection's namespace.
   */
  create(object: ObjectDraft<T>, options?: WriteOptions): Promise<T>;
  /**
   * Creates any other subresource for the object that the draft names. Resolves with the response, which has the
   * subresource's kind.
   *
   * @throws {TypeError} for the same reasons, and if the draft has no name.
   */
  create(object: SubresourceDraft, options: WriteOptions & { readonly subresource: string }): Promise<DynamicObject>;

  /** Replaces the subresource `scale`. Its resourceVersion is the version of the object. */
  update(scale: Mutable<Scale> & Complete, options: WriteOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /**
   * Replaces an object. Change a copy from `copyOf`, and pass the copy. If its resourceVersion is not the newest, the
   * server responds with 409 (`isConflict`).
   *
   * @throws {TypeError} if it has a `reduced` part, because the server would remove the missing fields. If it is of a
   * custom kind, also if it has an integer beyond ±(2^53 − 1) that JavaScript has rounded: the message has its path.
   */
  update(object: Mutable<T> & Complete, options?: WriteOptions): Promise<T>;

  /** Applies the fields that a manager owns (server-side apply), and creates the object if it does not exist. */
  apply(object: Apply<T>, options: ApplyOptions): Promise<T>;

  /**
   * Applies fields like `apply`, but sends nothing if the cached object shows that the object would not change. Use it
   * in a reconcile to save requests.
   *
   * - **Nothing is sent** if the manager's managedFields entry in the cached object has exactly the fields in `object`,
   *   and each field has its present value. Values that the server filled in do not count as differences. Nor do
   *   quantities in another form, such as `"1000m"` for `"1"`.
   * - **An owned object that is being deleted** gets no request, if `object` names the same owner. It is made again by
   *   the reconcile after its deletion. A manager that has applied finalizers sends the fields.
   * - **In doubt, the fields are sent**: without a cached object or its managedFields, if another manager has taken a
   *   field, or if list items have another order. So write fields in the form that the server stores, without `null`
   *   and empty members.
   * - **Informers drop managedFields**, unless you set their option `managedFields`, e.g.
   *   `{ manager: "shop-operator" }`.
   * - **A stale cache does no harm.** The missing change arrives later as an event, and its reconcile applies again.
   *
   * @throws {TypeError} for the same reasons as `apply`, and if the cached object is another object or is `reduced`.
   */
  applyIfChanged(object: Apply<T>, options: ApplyIfChangedOptions<T>): Promise<AppliedIfChanged<T>>;

  /** Patches the subresource `scale`. */
  patch(name: string, patch: Patch<Scale>, options: WriteOptions & { readonly subresource: "scale" }): Promise<Scale>;
  /** Patches an object. A patch with the type `"apply"` creates the object if it does not exist. */
  patch(name: string, patch: Patch<T>, options?: WriteOptions): Promise<T>;

  /**
   * Deletes an object. Resolves with the object's last state if finalizers or a grace period delay the deletion, or if
   * the server sends the object for this kind. Otherwise it resolves with a `Status`. An object has `metadata`, and a
   * `Status` has `code`.
   */
  delete(name: string, options?: DeleteOptions): Promise<T | ApiStatus>;

  /**
   * Deletes the selected objects in one namespace, or the selected objects of a cluster-scoped kind.
   *
   * @throws {TypeError} if the kind is namespaced, and neither the collection nor the options name a namespace. The
   * server does not delete across namespaces.
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<void>;
}
