import type { ListOptions } from "../api/options.ts";
import { PageProgress } from "../api/page_progress.ts";
import { deferred } from "./http/deferred.ts";
import type { ObjectList } from "./resource_client.ts";

/** Fetches one page; calls `onContinue` as soon as the token of the next one is known, which may be long before the end. */
export type FetchPage<T> = (
  options: ListOptions,
  signal: AbortSignal,
  onContinue: (token: string) => void,
) => Promise<ObjectList<T>>;

/** How many objects to a page unless told otherwise (client-go `tools/pager`). */
export const PAGE_SIZE = 500;

/**
 * Yields the pages of a list, and fetches one page ahead: page `n + 1` is asked for when page `n` is wanted and has said
 * how the list goes on, so at most two are under way or held. `signal` must abort when the pages are left early, or fail.
 *
 * @throws {DecodeError} when the pages do not come closer to an end.
 */
export async function* pagesOf<T>(
  what: string,
  fetchPage: FetchPage<T>,
  options: ListOptions,
  signal: AbortSignal,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  // A token stands for the version too: with both the server answers 400.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...following } = options;
  const start = (options: ListOptions): Page<T> => startPage(fetchPage, options, signal);
  const progress = new PageProgress(`list "${what}"`);
  let page: Page<T> | undefined = start({ ...options, limit: options.limit ?? PAGE_SIZE });
  while (page !== undefined) {
    const token: string | undefined = await page.token;
    if (token !== undefined) progress.follow(token);
    const next: Page<T> | undefined = token === undefined
      ? undefined
      : start({ ...following, limit: options.limit ?? PAGE_SIZE, continue: token });
    const outcome: Outcome<T> = await page.outcome;
    if ("error" in outcome) throw outcome.error;
    if (next !== undefined) progress.count(outcome.list.items.length);
    yield outcome.list;
    page = next;
  }
}

type Outcome<T> = { readonly list: ObjectList<T> } | { readonly error: unknown };

/** A page under way. Neither promise ever rejects: nobody may be left to look at a page that was fetched ahead. */
interface Page<T> {
  readonly token: Promise<string | undefined>;
  readonly outcome: Promise<Outcome<T>>;
}

function startPage<T>(fetchPage: FetchPage<T>, options: ListOptions, signal: AbortSignal): Page<T> {
  const token = deferred<string | undefined>();
  const outcome = fetchPage(options, signal, token.resolve).then(
    (list): Outcome<T> => {
      token.resolve(list.continue);
      return { list };
    },
    (error): Outcome<T> => {
      token.resolve(undefined);
      return { error };
    },
  );
  return { token: token.promise, outcome };
}
