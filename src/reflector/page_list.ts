import { DecodeError } from "../api/errors.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import { readPages } from "../api/pager.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { ReadAhead } from "../async/read_ahead.ts";
import type { LiveCounters } from "./counters.ts";
import { ListDeadline } from "./list_deadline.ts";
import { ObservedPage } from "./observed_page.ts";
import type { ListWatchObserver } from "./request_observer.ts";
import type { SyncedStore } from "./synced_store.ts";

/** Options for {@linkcode readPageList}. */
export interface PageListOptions {
  /** The list is not older than this; `"0"`: any state that the server has at hand; `""`: the newest. */
  readonly version: string;
  /** Aborts the list; the call then rejects. */
  readonly signal: AbortSignal;
  /** The number of objects to a page. */
  readonly pageSize: number;
  /** The longest wait for the first or next object, in milliseconds. */
  readonly listIdleMs: number;
  /** Observes the list. @default {nothing} */
  readonly observer?: ListWatchObserver;
}

/**
 * Lists in pages, and replaces the contents of the store in one step. Resolves with the version of the list.
 *
 * When a token expires, the list is started again, once, in one page. A page is closed with the signal at once, whatever the
 * source does.
 *
 * @throws {DecodeError} when the list has no version, or its pages do not come closer to an end.
 */
export async function readPageList<T>(
  source: ListerWatcher<T>,
  store: SyncedStore<T>,
  counters: LiveCounters,
  options: PageListOptions,
): Promise<string> {
  const { version, pageSize, listIdleMs, observer } = options;
  using job = new DerivedController(options.signal);
  using deadline = new ListDeadline(job, { beginMs: listIdleMs, progressMs: listIdleMs });
  using staged = store.stage();
  let listedAt: string | undefined;
  const parts = readPages({
    action: "take the list",
    list: {
      limit: pageSize,
      ...(version === "" ? {} : { resourceVersion: version }),
      // With a limit, a version without a match would mean Exact.
      ...(version === "" || version === "0" ? {} : { resourceVersionMatch: "NotOlderThan" as const }),
    },
    open: (list) => {
      counters.pages++;
      if (observer !== undefined) {
        return new ObservedPage(source, list, { signal: job.signal, stop: options.signal, observer });
      }
      return new ReadAhead((signal) => source.listEntries({ ...list, signal }), job.signal);
    },
    sizeOf: (part) => part.entries.length,
    restart: true,
  });
  for await (const { part, restarted } of parts) {
    counters.lastByteAt = Date.now();
    deadline.progress(part.entries.length);
    if (restarted) {
      staged.restart();
      listedAt = undefined;
      counters.setListed(0);
    }
    staged.add(part.entries);
    counters.listed = (counters.listed ?? 0) + part.entries.length;
    counters.remaining = part.remainingItemCount ?? counters.remaining;
    listedAt ??= part.resourceVersion;
  }
  if (!listedAt) {
    // client-go accepts it, and watches without a version: objects that were deleted in between would never be removed.
    throw new DecodeError(
      "Cannot take the list: it has no resourceVersion from which a watch could resume; list the collection periodically",
    );
  }
  const commitMs = staged.commit(listedAt);
  observer?.committed(commitMs);
  return listedAt;
}
