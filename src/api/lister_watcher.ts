/**
 * The requests that a reflector needs.
 *
 * {@linkcode ListerWatcher} is the entry point; {@linkcode readPages} reads its lists page by page. `client` implements
 * it. This file sends no requests.
 *
 * @module
 */
import { quoted } from "../errors/errors.ts";
import type { CacheEntry } from "./entry.ts";
import type { KubernetesObject } from "./object.ts";
import type { ListOptions, Selection, WatchOptions } from "./options.ts";
import type { Resource } from "./resource.ts";
import type { ShardFilter } from "./shard.ts";
import { DecodeError, isExpired } from "./status.ts";

/**
 * The two calls that a reflector needs. Both yield a batch for each chunk of the body, which is empty where the chunk
 * completes no object.
 *
 * A source of one's own honours the options that it is given; the cache removes nothing afterwards. With
 * `secretData: "drop"`, which informers pass unless they keep the data, what it yields of a Secret has no `data`, and
 * no annotation that repeats it.
 */
export interface ListerWatcher<T> {
  /** Lists one page, in parts. The first part is empty and arrives as soon as the server begins to answer. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<T>>;
  /** Watches until the server ends the watch. The first batch is empty and arrives as soon as the watch is open. */
  watchChanges(options?: WatchOptions): AsyncIterable<readonly WatchChange<T>[]>;
  /**
   * The same collection, for consistency checks. A source that reads one object by the field selector `metadata.name`
   * needs nothing else for them. @default {complete objects are listed}
   */
  readonly identities?: IdentitySource;
  /** The shard that its lists and watches are of, by which lists count what arrives. @default {all objects} */
  readonly shard?: ShardFilter;
  /** The resource, for observers of requests. @default {unknown} */
  readonly resource?: Resource;
  /** The part of the collection, for observers of requests. @default {unknown} */
  readonly selection?: Selection;
  /** The counts of dead connections that were looked for and found, for the status of informers. @default {unknown} */
  readonly connections?: ConnectionsStatus;
}

/** Counts how often a client has looked for dead connections, and found that a watch might have one. */
export interface ConnectionsStatus {
  /**
   * The number of requests by which the client has asked whether the server responds, for all its collections: probes,
   * and lists of one object after a missed bookmark.
   */
  readonly probes: number;
  /** The number of those without a response. */
  readonly failedProbes: number;
  /** The number of watches of the collection that missed a bookmark, and were looked at. */
  readonly suspicions: number;
  /** The number of watches of the collection that were replaced, or ended, because the connection might be dead. */
  readonly renewals: number;
}

/** Lists the identities of the objects of a collection. */
export interface IdentitySource {
  /** The same for all collections of a server, of which one is checked at a time. */
  readonly server: object;
  /** As {@linkcode ListerWatcher.listEntries}; objects have metadata alone. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<KubernetesObject>>;
}

/** A change of an object that is not parsed yet, or a bookmark. */
export type WatchChange<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly entry: CacheEntry<T> }
  | Bookmark;

/** A version up to which the server has sent everything. */
export interface Bookmark {
  /** Always `"BOOKMARK"`. */
  readonly type: "BOOKMARK";
  /** Every change up to this version has been sent. */
  readonly resourceVersion: string;
  /** True if this bookmark ends the initial events (streaming list). */
  readonly initialEventsEnd: boolean;
}

/** Part of a list, as it arrives. The last part of a page has `resourceVersion` and `continue`; earlier ones may. */
export interface ListPart<T> {
  /** Objects in the server's order; empty where the chunk completes no object. */
  readonly entries: readonly CacheEntry<T>[];
  /** The version of the list, the same on all pages. */
  readonly resourceVersion?: string;
  /** The token of the next page; absent on the last one. */
  readonly continue?: string;
  /** The number of objects on later pages, where the server sends it. */
  readonly remainingItemCount?: number;
}

/** An event of a watch. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | Bookmark;

/** The number of pages in a row that may have no object: a server that filters after its limit sends such pages. */
const EMPTY_PAGES = 100;
const REMEDY =
  "Set the page size (limit, or pageSize of an informer) above the number of objects, so that they fit in one page";

/**
 * Checks that a list in pages comes closer to its end: fails when the server repeats a continue token, or sends many
 * pages in a row without an object.
 *
 * It keeps one token, whatever the number of pages, and compares each with it. The token is replaced at pages 1, 2, 4,
 * 8 and so on, so that a cycle of any length is found (Brent's algorithm).
 */
export class PageProgress {
  readonly #action: string;
  /** The token of page 1, 2, 4, 8 and so on, the latest of these; `undefined` if and only if there was no token. */
  #mark: string | undefined;
  /** The page whose token replaces `#mark`: a power of 2, and greater than `#pages` once a token was followed. */
  #nextMark = 1;
  /** The number of tokens followed. */
  #pages = 0;
  /** The number of pages without an object since the last one with an object. */
  #empty = 0;

  /** @param action The action, which follows "Cannot" in errors: `list "pods"`. */
  constructor(action: string) {
    this.#action = action;
  }

  /**
   * Checks the token of the next page.
   *
   * @throws {DecodeError} when the server has sent it before.
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
   * Counts the objects of a page that is not the last.
   *
   * @throws {DecodeError} when it is one of too many in a row that have none.
   */
  count(objects: number): void {
    this.#empty = objects > 0 ? 0 : this.#empty + 1;
    if (this.#empty < EMPTY_PAGES) return;
    throw new DecodeError(`Cannot ${this.#action}: ${EMPTY_PAGES} pages in a row have no objects. ${REMEDY}`);
  }
}

/** One page that is read part by part; `ReadAhead` is one. */
export interface OpenPage<P> {
  /** Sends the request, without waiting for the answer. */
  request(): void;
  /** Returns the next part; `undefined` at the end. */
  next(): Promise<P | undefined>;
  /** Ends the page at any time. */
  close(): Promise<void>;
}

/** Options for {@linkcode readPages}. */
interface PagerOptions<P> {
  /** The action, which follows "Cannot" in errors: `list "pods"`. */
  readonly action: string;
  /** The options of the first request. */
  readonly list: ListOptions;
  /** Opens a page. */
  readonly open: (options: ListOptions) => OpenPage<P>;
  /** Returns the number of objects in a part. */
  readonly sizeOf: (part: P) => number;
  /**
   * When a token has expired, starts the list again, once, in one page, with the version of the first request
   * (client-go `ListPager.FullListIfExpired`). Otherwise the list ends with the error. @default {false}
   */
  readonly restart?: boolean;
}

/** Part of a list in pages. */
interface PagePart<P> {
  /** The part. */
  readonly part: P;
  /** True for the first part of a list that was started again: the parts before it are no longer part of the list. */
  readonly restarted: boolean;
}

/**
 * Reads a list in pages. The next page is requested as soon as its token is known, while the page before is still being
 * read; so at most two pages are open.
 *
 * Requests with a token carry neither version nor match: the token stands for the version, and with both the server
 * answers 400.
 *
 * @throws {DecodeError} when the pages do not come closer to an end.
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

/** Sends requests to an API server. */
export interface Transport {
  /**
   * Sends a request, and resolves when the headers of the response have arrived. Aborting the request's signal also
   * cancels the body.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Asks whether the server can be reached: sends GET to `url` over a new connection, without credentials. Resolves
   * with the first response, whatever its status, and rejects if there is none before `signal` aborts.
   *
   * A client calls it after some 20 s in which nothing came from the server, while it has open watches.
   *
   * @default {dead connections are noticed only by missing bookmarks}
   */
  probe?(signal: AbortSignal, url: string): Promise<void>;
  /** Closes connections. */
  [Symbol.dispose]?(): void;
}
