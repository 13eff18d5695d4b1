import { isExpired } from "./errors.ts";
import type { ListOptions } from "./options.ts";
import { PageProgress } from "./page_progress.ts";

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
export interface PagerOptions<P> {
  /** The action, which follows "Cannot" in errors: `list "pods"`. */
  readonly action: string;
  /** The options of the first request. */
  readonly list: ListOptions;
  /** Opens a page. */
  readonly open: (options: ListOptions) => OpenPage<P>;
  /** Returns the number of objects in a part. */
  readonly sizeOf: (part: P) => number;
  /**
   * When a token has expired, starts the list again, once, in one page, with the version of the first request (client-go
   * `ListPager.FullListIfExpired`). Otherwise the list ends with the error. @default {false}
   */
  readonly restart?: boolean;
}

/** Part of a list in pages. */
export interface PagePart<P> {
  /** The part. */
  readonly part: P;
  /** True for the first part of a list that was started again: the parts before it are no longer part of the list. */
  readonly restarted: boolean;
}

/**
 * Reads a list in pages. The next page is requested as soon as its token is known, while the page before is still being
 * read; so at most two pages are open.
 *
 * Requests with a token carry neither version nor match: the token stands for the version, and with both the server answers
 * 400.
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
        // mutant: renewed-list-keeps-old-pages
        restarted = true;
        restarts++;
        pages = 0;
        const { limit: _limit, ...rest } = list;
        page = open(rest);
        progress = new PageProgress(action);
        continue;
      }
      // mutant: later-pages-left-out
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
