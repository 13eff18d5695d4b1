import type { ListOptions } from "../api/options.ts";
import { readPages } from "../api/pager.ts";
import { ReadAhead } from "../async/read_ahead.ts";
import { deferred } from "./http/deferred.ts";
import type { ObjectList } from "./resource_client.ts";

/** Fetches one page; calls `onContinue` as soon as the token of the next one has arrived, which may be long before the end. */
export type FetchPage<T> = (
  options: ListOptions,
  signal: AbortSignal,
  onContinue: (token: string) => void,
) => Promise<ObjectList<T>>;

/** The default number of objects to a page (client-go `tools/pager`). */
export const PAGE_SIZE = 500;

/**
 * Yields the pages of a list, and fetches one page ahead: page `n + 1` is requested when page `n` is waited for and its token
 * has arrived, so at most two are under way or held. When a token has expired, the list begins anew, once, in one page.
 *
 * @throws {DecodeError} when the pages do not come closer to an end.
 */
export async function* pagesOf<T>(
  what: string,
  fetchPage: FetchPage<T>,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  const parts = readPages({
    action: `list "${what}"`,
    list: { ...options, limit: options.limit ?? PAGE_SIZE },
    open: (list) => new ReadAhead((signal) => partsOf(fetchPage, list, signal), signal),
    sizeOf: ({ list }) => list?.items.length ?? 0,
    restart: true,
  });
  let isNew = false;
  for await (const { part: { list }, restarted } of parts) {
    isNew ||= restarted;
    if (list === undefined) continue;
    yield isNew ? { ...list, restarted: true } : list;
    isNew = false;
  }
}

/** First the token of the next page, if there is one, then the page. */
interface Part<T> {
  readonly continue?: string;
  readonly list?: ObjectList<T>;
}

/** Fetches a page to its end as soon as its first part is requested. */
async function* partsOf<T>(
  fetchPage: FetchPage<T>,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<Part<T>, void, undefined> {
  const token = deferred<string | undefined>();
  const page = fetchPage(options, signal, token.resolve);
  page.then((list) => token.resolve(list.continue), () => token.resolve(undefined));
  yield { continue: await token.promise };
  yield { list: await page };
}
