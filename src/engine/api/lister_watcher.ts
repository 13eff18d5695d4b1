/**
 * The requests that a reflector sends, as interfaces.
 *
 * {@linkcode ListerWatcher} is the entry point, and {@linkcode readPages} reads its lists page by page. `client`
 * implements the interface. This file sends no requests.
 *
 * @module
 */
import { quoted } from "../errors/errors.ts";
import type { ListOptions, Selection, WatchOptions } from "./call_options.ts";
import type { CacheEntry } from "./entry.ts";
import type { KubernetesObject } from "./object.ts";
import type { Resource } from "./resource.ts";
import type { ShardFilter } from "./shard.ts";
import { DecodeError, isExpired } from "./status.ts";

/**
 * Lists and watches a collection: the two calls that a reflector needs. Implement it to feed an informer from your own
 * source.
 *
 * Both calls yield a batch for each chunk that arrives. The batch is empty if the chunk completes no object.
 *
 * Your source must apply the options that it receives, because the cache filters nothing afterwards. With
 * `secretData: "drop"`, it must leave out a Secret's `data` and `stringData`, and the annotations that repeat them.
 * Informers pass `secretData: "drop"` unless you set `secretData: "keep"`.
 */
export interface ListerWatcher<T> {
  /** Lists one page, in parts. The first part is empty, and arrives as soon as the server begins to respond. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<T>>;
  /** Watches until the server ends the watch. The first batch is empty, and arrives as soon as the watch is open. */
  watchChanges(options?: WatchOptions): AsyncIterable<readonly WatchChange<T>[]>;
  /**
   * Lists the same collection for consistency checks. Leave it out if your source can read one object by the field
   * selector `metadata.name`. @default {complete objects are listed}
   */
  readonly identities?: IdentitySource;
  /** The shard that lists and watches are limited to. Lists use it to count arriving objects. @default {all objects} */
  readonly shard?: ShardFilter;
  /** The resource, for request observers. @default {unknown} */
  readonly resource?: Resource;
  /** The selected part of the collection, for request observers. @default {unknown} */
  readonly selection?: Selection;
  /** Returns the same collection in another selection, for `SharedIndexInformer.rescope()`. @default {it is refused} */
  selecting?(selection: Selection): ListerWatcher<T>;
  /** The counts of checked and dead connections, for an informer's status. @default {unknown} */
  readonly connections?: ConnectionsStatus;
}

/** Counts how often a client has checked for dead connections, and how often a watch might have had one. */
export interface ConnectionsStatus {
  /**
   * The number of requests that checked whether the server responds, for all the client's collections. These are
   * probes, and lists of one object after a missed bookmark.
   */
  readonly probes: number;
  /** The number of these requests that got no response. */
  readonly failedProbes: number;
  /** The number of this collection's watches that missed a bookmark and were checked. */
  readonly suspicions: number;
  /** The number of this collection's watches that were replaced or ended because the connection might be dead. */
  readonly renewals: number;
}

/** Lists the identities of a collection's objects. */
export interface IdentitySource {
  /**
   * Identifies the server: use the same object for all its collections. Only one collection per server is checked at a
   * time.
   */
  readonly server: object;
  /** Lists one page like {@linkcode ListerWatcher.listEntries}, but the objects have only metadata. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<KubernetesObject>>;
}

/** A change to an object that is not parsed yet, or a bookmark. */
export type WatchChange<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly entry: CacheEntry<T> }
  | Bookmark;

/** A bookmark: the resourceVersion up to which the server has sent every change. */
export interface Bookmark {
  /** Always `"BOOKMARK"`. */
  readonly type: "BOOKMARK";
  /** Every change up to this version was sent. */
  readonly resourceVersion: string;
  /** `true` if this bookmark ends the initial events of a streaming list. */
  readonly initialEventsEnd: boolean;
}

/** A part of a list. A page's last part has `resourceVersion` and `continue`, and earlier parts may have them. */
export interface ListPart<T> {
  /** Objects in the server's order. Empty if the chunk completes no object. */
  readonly entries: readonly CacheEntry<T>[];
  /** The list's version, which is the same on all pages. */
  readonly resourceVersion?: string;
  /** The token for the next page. Absent on the last page. */
  readonly continue?: string;
  /** The number of objects on later pages, if the server sends it. */
  readonly remainingItemCount?: number;
}

/** A watch event with the parsed object, or a bookmark. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | Bookmark;

/** The largest number of consecutive pages without objects. A server that filters after its limit sends such pages. */
const EMPTY_PAGES = 100;
const REMEDY =
  "Set the page size (limit, or pageSize of an informer) above the number of objects, so that they fit in one page";

/**
 * Checks that a list in pages gets closer to its end. It throws if the server repeats a continue token, or sends many
 * pages in a row without an object.
 *
 * It keeps only one token, and compares each new token with it. It replaces the token at pages 1, 2, 4, 8 and so on, so
 * it finds a cycle of any length (Brent's algorithm).
 */
export class PageProgress {
  readonly #action: string;
  /** The token from the latest page among 1, 2, 4, 8 and so on. `undefined` if and only if there was no token. */
  #mark: string | undefined;
  /** The page whose token replaces `#mark`: a power of 2, and greater than `#pages` once a token was followed. */
  #nextMark = 1;
  /** The number of tokens followed. */
  #pages = 0;
  /** The number of pages without an object since the last page with an object. */
  #empty = 0;

  /** @param action The action, which follows "Cannot" in errors: `list "pods"`. */
  constructor(action: string) {
    this.#action = action;
  }

  /**
   * Checks the token for the next page.
   *
   * @throws {DecodeError} if the server has sent it before.
   */
  follow(token: string): void {
    this.#pages++;
    if (token === this.#mark) {
      throw new DecodeError(
        `Cannot ${this.#action}: page ${this.#pages} has the continue token ${JSON.stringify(quoted(token))} of an ` +
          `earlier page, so the list has no end. ${REMEDY}`,
      );
    }
    if (this.#pages < this.#nextMark) return;
    this.#mark = token;
    this.#nextMark *= 2;
  }

  /**
   * Counts the objects on a page that is not the last.
   *
   * @throws {DecodeError} if too many pages in a row have no objects.
   */
  count(objects: number): void {
    this.#empty = objects > 0 ? 0 : this.#empty + 1;
    if (this.#empty < EMPTY_PAGES) return;
    throw new DecodeError(`Cannot ${this.#action}: ${EMPTY_PAGES} pages in a row have no objects. ${REMEDY}`);
  }
}

/** A page that is read part by part, such as `ReadAhead`. */
export interface OpenPage<P> {
  /** Sends the request without waiting for the response. */
  request(): void;
  /** Returns the next part, or `undefined` at the end. */
  next(): Promise<P | undefined>;
  /** Ends the page at any time. */
  close(): Promise<void>;
}

/** Options for {@linkcode readPages}. */
interface PagerOptions<P> {
  /** The action, which follows "Cannot" in errors: `list "pods"`. */
  readonly action: string;
  /** The options for the first request. */
  readonly list: ListOptions;
  /** Opens a page. */
  readonly open: (options: ListOptions) => OpenPage<P>;
  /** Returns the number of objects in a part. */
  readonly sizeOf: (part: P) => number;
  /**
   * If `true` and a token has expired, the list starts again once, in one page, with the version from the first request
   * (client-go `ListPager.FullListIfExpired`). If `false`, the list ends with the error. @default {false}
   */
  readonly restart?: boolean;
}

/** A part of a list in pages. */
interface PagePart<P> {
  /** The part. */
  readonly part: P;
  /** `true` for the first part after the list started again. Drop all parts before it. */
  readonly restarted: boolean;
}

/**
 * Reads a list page by page. It requests the next page as soon as the token arrives, while the current page is still
 * being read. At most two pages are open at once.
 *
 * Requests with a token have neither `resourceVersion` nor `resourceVersionMatch`: the token stands for the version,
 * and the server responds with 400 if it gets both.
 *
 * @throws {DecodeError} if the pages get no closer to an end.
 */
export async function* readPages<P extends { readonly continue?: string }>(
  options: PagerOptions<P>,
): AsyncGenerator<PagePart<P>, void, undefined> {
  const { action, list, open, sizeOf, restart = false } = options;
  const { resourceVersion: _version, resourceVersionMatch: _match, ...following } = list;
  let page = open(list);
  let next: OpenPage<P> | undefined;
  let progress = new PageProgress(action);
  let pages = 0;
  let restarts = 0;
  /** True until the first part after a restart is yielded. */
  let restarted = false;
  try {
    for (;;) {
      let token: string | undefined;
      let objects = 0;
      try {
        for (let part; (part = await page.next()) !== undefined;) {
          yield { part, restarted };
          restarted = false;
          objects += sizeOf(part);
          token ??= part.continue;
          if (token === undefined || next !== undefined) continue;
          progress.follow(token);
          next = open({ ...following, continue: token });
          next.request();
        }
      } catch (error) {
        if (!restart || restarts > 0 || pages === 0 || !isExpired(error)) throw error;
        await next?.close();
        next = undefined;
        restarted = true;
        restarts++;
        pages = 0;
        const { limit: _limit, ...rest } = list;
        page = open(rest);
        progress = new PageProgress(action);
        continue;
      }
      if (next === undefined) return;
      progress.count(objects);
      pages++;
      page = next;
      next = undefined;
    }
  } finally {
    await page.close();
    await next?.close();
  }
}

/** Sends requests to an API server. Implement it to use your own HTTP client, or pass a `FakeApiServer` in tests. */
export interface Transport {
  /**
   * Sends a request, and resolves when the response headers have arrived. If the request's signal aborts, the body is
   * cancelled too.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Checks whether the server can be reached: sends GET to `url` over a new connection, without credentials. Resolves
   * with the first response, whatever its status. Rejects if there is no response before `signal` aborts.
   *
   * A client calls it after some 20 s without anything from the server, while it has open watches.
   *
   * @default {dead connections are noticed only by missing bookmarks}
   */
  probe?(signal: AbortSignal, url: string): Promise<void>;
  /** Closes connections. */
  [Symbol.dispose]?(): void;
}
