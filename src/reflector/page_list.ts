import type { ListPart } from "../api/change.ts";
import { isExpired } from "../api/errors.ts";
import type { ListOptions } from "../api/options.ts";
import { PageProgress } from "../api/page_progress.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { cancellable, type CancellableStream } from "../async/cancellable.ts";
import type { ListerWatcher } from "./lister_watcher.ts";

/** Part of a list that may have several pages. */
export interface PagePart<T> extends ListPart<T> {
  /** What came before is no part of this list: it began anew. */
  readonly restart?: boolean;
}

/**
 * A whole list, page by page. The next page is asked for as soon as its token is known, while the page before is still
 * being read.
 *
 * Later requests carry the token, and neither version nor match, as the server demands. When a token has expired, the list
 * begins anew, once, in one page, with the version first asked for (client-go `ListPager.FullListIfExpired`).
 *
 * It ends with the signal at once, whatever the source does: each page under way is told so by its own signal and by
 * `return()`, and not waited for.
 *
 * @throws {DecodeError} when the pages do not come closer to an end.
 */
export async function* pagesOf<T>(
  source: ListerWatcher<T>,
  options: ListOptions,
  onRequest: () => void,
): AsyncGenerator<PagePart<T>, void, undefined> {
  let page = new Page(source, options, onRequest);
  let next: Page<T> | undefined;
  let restart = false;
  /** Whether an expired token is worth a new beginning: on a later page, and once. */
  let renewable = false;
  let renewed = false;
  let progress = new PageProgress("take the list");
  try {
    for (;;) {
      let token: string | undefined;
      let objects = 0;
      try {
        for (let part; (part = await page.next()) !== undefined;) {
          yield restart ? { ...part, restart } : part;
          restart = false;
          objects += part.entries.length;
          token = part.continue ?? token;
          if (token !== undefined && next === undefined) {
            progress.follow(token);
            const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
            next = new Page(source, { ...rest, continue: token }, onRequest);
            next.prefetch();
          }
        }
      } catch (error) {
        if (!renewable || !isExpired(error)) throw error;
        await next?.close();
        next = undefined;
        renewable = false;
        // mutant: renewed-list-keeps-old-pages
        renewed = restart = true;
        const { limit: _limit, ...rest } = options;
        page = new Page(source, rest, onRequest);
        progress = new PageProgress("take the list");
        continue;
      }
      // mutant: later-pages-left-out
      if (next === undefined) return;
      progress.count(objects);
      page = next;
      next = undefined;
      renewable = !renewed;
    }
  } finally {
    await page.close();
    await next?.close();
  }
}

class Page<T> {
  readonly #job: DerivedController;
  readonly #parts: CancellableStream<ListPart<T>>;
  readonly #onRequest: () => void;
  #first: Promise<IteratorResult<ListPart<T>, void>> | undefined;
  #asked = false;
  #pending = false;

  constructor(source: ListerWatcher<T>, options: ListOptions, onRequest: () => void) {
    this.#job = new DerivedController(options.signal);
    const { signal } = this.#job;
    try {
      this.#parts = cancellable(source.listEntries({ ...options, signal }), signal);
    } catch (error) {
      this.#job[Symbol.dispose]();
      throw error;
    }
    this.#onRequest = onRequest;
  }

  /** Sends the request, without waiting for the answer. */
  prefetch(): void {
    this.#first = this.#ask();
    // Whoever reads the page gets the error; if nobody does any more, the page was given up.
    this.#first.then(undefined, () => undefined);
  }

  async next(): Promise<ListPart<T> | undefined> {
    const first = this.#first;
    this.#first = undefined;
    const result = await (first ?? this.#ask());
    return result.done ? undefined : result.value;
  }

  /** Ends it, wherever it is; a source that is waited for is not waited for any more. */
  async close(): Promise<void> {
    if (this.#pending) this.#job[Symbol.dispose]();
    try {
      await this.#parts.return();
    } finally {
      this.#job[Symbol.dispose]();
    }
  }

  async #ask(): Promise<IteratorResult<ListPart<T>, void>> {
    if (!this.#asked) this.#onRequest();
    this.#asked = true;
    this.#pending = true;
    try {
      return await this.#parts.next();
    } finally {
      this.#pending = false;
    }
  }
}
