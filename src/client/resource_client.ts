import type { Change, ListPart, WatchEvent } from "../api/lister_watcher.ts";
import type { Draft, KubernetesObject } from "../api/object.ts";
import type { Abortable, ListOptions, WatchOptions } from "../api/options.ts";
import type { Resource } from "../api/resource.ts";
import type { Status } from "../api/status.ts";
import type { BackoffOptions } from "../async/time/backoff.ts";

/** A list, or one page of it. */
export interface ObjectList<T> {
  /** The objects, in the server's order. */
  readonly items: readonly T[];
  /** The version of the collection that this shows; all pages of a list have the same. */
  readonly resourceVersion: string;
  /** The token of the next page; absent on the last one. */
  readonly continue?: string;
  /** How many objects are on later pages, where the server says. */
  readonly remainingItemCount?: number;
}

/** A change to an object, in one of four forms. */
export type Patch =
  | {
    /** RFC 7386: what is given replaces, `null` deletes, lists are replaced; or strategic: lists merge by their keys. */
    readonly type: "merge" | "strategic";
    /** The part of the object that is to change. */
    readonly body: unknown;
  }
  | {
    /** RFC 6902. */
    readonly type: "json";
    /** The operations, all of which must succeed. */
    readonly body: readonly unknown[];
  }
  | {
    /** Server-side apply: makes the object if it is not there. */
    readonly type: "apply";
    /** The fields the manager wants. apiVersion and kind are filled in. */
    readonly body: unknown;
    /** Who owns the fields from now on. */
    readonly fieldManager: string;
    /** Takes fields that others own, instead of failing with 409. @default {false} */
    readonly force?: boolean;
  };

/** How something is written. */
export interface WriteOptions extends Abortable {
  /** Everything is checked and answered as if, and nothing is kept. @default {false} */
  readonly dryRun?: boolean;
  /** Who owns the fields that are written. @default {the server takes it from the user agent} */
  readonly fieldManager?: string;
  /** What the server does about fields it does not know. @default {the server's choice, "Warn"} */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** A part of the object, `"status"`, `"scale"`, `"eviction"`. */
  readonly subresource?: string;
}

/** How something is deleted. */
export interface DeleteOptions extends WriteOptions {
  /** Deletes only this object, or only this version of it; else the server answers 409. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** What happens to the objects it owns. @default {the kind's own, mostly "Background"} */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** How long it may take to end, in seconds; 0 is at once. @default {the object's own} */
  readonly gracePeriodSeconds?: number;
}

/** How a collection is deleted: {@linkcode DeleteOptions} but for preconditions, which are about one object. */
export type DeleteCollectionOptions = ListOptions & Omit<DeleteOptions, "preconditions" | "subresource">;

/** What to follow. */
export interface FollowOptions extends WatchOptions {
  /** How long to wait after failures. @default {800 ms, doubling to 30 s, each up to twice as long at random} */
  readonly backoff?: BackoffOptions;
  /** Called with each failure that the watch gets over, and how long it waits before it goes on, in milliseconds. */
  readonly onInterrupted?: (error: unknown, delayMs: number) => void;
}

/**
 * One collection on one server. Fits the reflector's ListerWatcher without knowing it.
 *
 * - What the server refuses is a `StatusError`, what cannot be read a `DecodeError`, a server that is not there or goes
 *   away an `UnreachableError`, and an abort rejects with the signal's reason.
 * - What is wrong before anything is sent is a `TypeError`, `RangeError` or (selectors) `SyntaxError`, and nothing is sent.
 * - Requests that the server puts off (429, or 5xx, with `Retry-After`) are repeated after the time it asks for, as often
 *   as the client's `retries` say; not so `watch`, `follow`, `listEntries` and `watchChanges`, whose callers wait themselves.
 * - Nothing but `follow` has a time limit of its own: a server that is silent is waited for until the signal aborts.
 * - A namespace, and selectors, that are given to a call count together with the collection's own: the call's namespace
 *   instead of the collection's, selectors both.
 * - Objects by name, and new ones, are in the namespace of the collection, or else the client's; lists and watches without a
 *   namespace are of all namespaces.
 */
export interface ResourceClient<T extends KubernetesObject> {
  /** What kind the collection is of. */
  readonly resource: Resource<T>;

  /** The same collection in one namespace. Changes nothing for a cluster-scoped resource. */
  namespace(namespace: string): ResourceClient<T>;

  /** One object, or a subresource of it. */
  get(name: string, options?: Abortable & { readonly subresource?: string }): Promise<T>;

  /**
   * The objects, by one request: all of them, or one page of `limit`. The answer is read as it arrives and never held as
   * one string, but every object is parsed; one that cannot be parsed rejects the whole. Items carry kind and apiVersion.
   */
  list(options?: ListOptions): Promise<ObjectList<T>>;

  /**
   * The list in pages of `limit` (500 unless given), which all show the same version.
   *
   * While one page is looked at the next is on its way; leaving the loop cancels it. A list that takes so long that the
   * server forgets its version (5 minutes and more) ends with a `StatusError` for which `isExpired` holds: begin again. One
   * that would not end, because the server repeats a continue token or sends 100 pages in a row without an object, ends with
   * a `DecodeError`.
   */
  pages(options?: ListOptions): AsyncIterableIterator<ObjectList<T>>;

  /** One watch, until the server ends it. An object that cannot be parsed ends it too, with a `DecodeError`. */
  watch(options?: WatchOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * A watch that goes on after every interruption, from where it was. `resourceVersion` must say where to begin, which is
   * where a list or another watch ended.
   *
   * - Each change is yielded once, in order: what an earlier watch has brought is left out. A deletion counts whatever
   *   version it carries, because some servers repeat the object's last one.
   * - A watch that ends in good order is followed by the next at once, but attempts begin at least a second apart; after a
   *   failure the wait grows, or is what the server asks for. Unless `timeoutSeconds` says otherwise the server is asked to
   *   end each watch after 2 to 4 minutes. One that stays open 10 s longer counts as lost, whatever it sends; time that the
   *   caller takes for an event does not count towards these 10 s.
   * - It ends by throwing: when the version has expired (`isExpired`: list again, and follow from there), on 401, 403 and
   *   404, when the server does not take the request (any other 4xx to begin with but 408, 409 and 429, or a redirect), and
   *   when an object or a line cannot be read, and cannot when it is asked for again either. It gets over everything else,
   *   such as a failed credential plugin or a web page from a proxy, and calls `onInterrupted`.
   * - Bookmarks are passed on when `allowBookmarks` asks for them.
   *
   * @throws {TypeError} when `resourceVersion` is missing, or `sendInitialEvents` is asked for.
   * @throws {RangeError} when `resourceVersion` is `""` or `"0"`: those are no places to go on from.
   */
  follow(options?: FollowOptions): AsyncIterableIterator<WatchEvent<T>>;

  /**
   * The list as it arrives, unread, by one request. First an empty part, as soon as the server has accepted the request;
   * then a part to each chunk of the body.
   */
  listEntries(options?: ListOptions): AsyncIterableIterator<ListPart<T>>;

  /**
   * One watch, unread, until the server ends it. First an empty batch, as soon as the server has accepted the request: the
   * watch is open. Then a batch to each chunk of the body, which may be empty too: a sign of life.
   */
  watchChanges(options?: WatchOptions): AsyncIterableIterator<readonly Change<T>[]>;

  /**
   * Makes an object; with a subresource, `create` on that (`"eviction"`, `"binding"`, `"token"`) of the object that the
   * draft names. apiVersion, kind and namespace are filled in where they are missing.
   *
   * @throws {TypeError} when the resource has namespaces and none is known, or the draft's is not the collection's.
   */
  create(object: Draft<T>, options?: WriteOptions): Promise<T>;

  /** Replaces an object. Where it carries a resourceVersion that is not the newest, the server answers 409 (`isConflict`). */
  update(object: T, options?: WriteOptions): Promise<T>;

  /** Changes an object, or with `apply` makes it. The patch's type decides the content type. */
  patch(name: string, patch: Patch, options?: WriteOptions): Promise<T>;

  /**
   * Deletes an object. Answers with its last state where it goes later (finalizers, a grace period) or the kind is like
   * that, else with a `Status`; an object has `metadata`, a `Status` has `code`.
   */
  delete(name: string, options?: DeleteOptions): Promise<T | Status>;

  /**
   * Deletes the objects selected, in one namespace.
   *
   * @throws {TypeError} when the resource has namespaces and neither the collection nor the options name one: servers do
   * not delete across namespaces.
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<void>;
}
