import type { ListPart } from "../api/change.ts";
import { isExpired } from "../api/errors.ts";
import type { ListOptions } from "../api/options.ts";
import type { ListerWatcher } from "./list_watch.ts";

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
  try {
    for (;;) {
      let token: string | undefined;
      try {
        for (let part; (part = await page.next()) !== undefined;) {
          yield restart ? { ...part, restart } : part;
          restart = false;
          token = part.continue ?? token;
          if (token !== undefined && next === undefined) {
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
        renewed = restart = true;
        const { limit: _limit, ...rest } = options;
        page = new Page(source, rest, onRequest);
        continue;
      }
      if (next === undefined) return;
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
  readonly #parts: AsyncIterator<ListPart<T>>;
  readonly #onRequest: () => void;
  #first: Promise<IteratorResult<ListPart<T>>> | undefined;
  #asked = false;
  #done = false;

  constructor(source: ListerWatcher<T>, options: ListOptions, onRequest: () => void) {
    this.#parts = source.listEntries(options)[Symbol.asyncIterator]();
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
    try {
      const result = await (first ?? this.#ask());
      if (!result.done) return result.value;
      this.#done = true;
    } catch (error) {
      this.#done = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#done || !this.#asked) return;
    this.#done = true;
    await this.#parts.return?.();
  }

  #ask(): Promise<IteratorResult<ListPart<T>>> {
    if (!this.#asked) this.#onRequest();
    this.#asked = true;
    return this.#parts.next();
  }
}
