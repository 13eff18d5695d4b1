import { type ListerWatcher, type ListPart, readPages } from "../../src/engine/api/lister_watcher.ts";
import type { ListOptions } from "../../src/engine/api/call_options.ts";
import { ReadAhead } from "../../src/engine/async/iterate.ts";

/** A part of a list, with the mark of a list that has begun anew. */
export interface ReadPart<T> extends ListPart<T> {
  /** True for the first part after a restart. */
  readonly restarted: boolean;
}

/** Reads the pages of a source as a reflector does; calls `onRequest` before each page. */
export async function* pagesOfSource<T>(
  source: ListerWatcher<T>,
  list: ListOptions,
  onRequest: () => void = () => undefined,
): AsyncGenerator<ReadPart<T>, void, undefined> {
  const open = (options: ListOptions): ReadAhead<ListPart<T>> => {
    onRequest();
    return new ReadAhead((signal) => source.listEntries({ ...options, signal }), list.signal);
  };
  const sizeOf = (part: ListPart<T>): number => part.entries.length;
  for await (const { part, restarted } of readPages({ action: "take the list", list, open, sizeOf, restart: true })) {
    yield { ...part, restarted };
  }
}
