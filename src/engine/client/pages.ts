/**
 * Yields a list page by page, for `ResourceClient.pages`.
 *
 * {@linkcode pagesOf} is the entry point. It fetches one page ahead. `readPages` follows the tokens, and the caller
 * sends the requests.
 *
 * @module
 */
import type { ListOptions } from "../api/call_options.ts";
import { readPages } from "../api/lister_watcher.ts";
import { ReadAhead } from "../async/iterate.ts";
import { withResolvers } from "../async/signals.ts";
import type { ObjectList } from "./resource_client.ts";

/**
 * Fetches one page. It calls `onContinue` as soon as the next page's token has arrived, which may be long before the
 * end.
 */
export type FetchPage<T> = (
  options: ListOptions,
  signal: AbortSignal,
  onContinue: (token: string) => void,
) => Promise<ObjectList<T>>;

/** The default page size (client-go `tools/pager`). */
const PAGE_SIZE = 500;

/**
 * Yields a list's pages, and fetches one page ahead. It requests page `n + 1` when the caller waits for page `n`, and
 * the token has arrived. So at most two pages are open or held. After an expired token, the list restarts once, as one
 * page.
 *
 * @throws {DecodeError} if the pages come no closer to an end.
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
  const token = withResolvers<string | undefined>();
  const page = fetchPage(options, signal, token.resolve);
  page.then((list) => token.resolve(list.continue), () => token.resolve(undefined));
  yield { continue: await token.promise };
  yield { list: await page };
}
