import type { Entry } from "./entry.ts";
import type { ListOptions, WatchOptions } from "./options.ts";

/** The two calls a reflector lives on. Both yield batches: whatever one chunk of the body held, an empty batch too. */
export interface ListerWatcher<T> {
  /** One page of the list, in parts. An empty part says that the server has begun to answer. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<T>>;
  /** One watch, until the server ends it. An empty batch says that it is open, or still alive. */
  watchChanges(options?: WatchOptions): AsyncIterable<readonly Change<T>[]>;
}

/** A change, still unread. */
export type Change<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly entry: Entry<T> }
  | Bookmark;

/** The server says how far it is. */
export interface Bookmark {
  /** Always `"BOOKMARK"`. */
  readonly type: "BOOKMARK";
  /** Everything up to this version has been told. */
  readonly resourceVersion: string;
  /** Whether this ends the objects that were there at first (streaming list). */
  readonly initialEventsEnd: boolean;
}

/** Part of a list, as it arrives. `resourceVersion` and `continue` are known at the latest in the last part of a page. */
export interface ListPart<T> {
  /** Objects in the server's order; none when the bytes that came held no complete one. */
  readonly entries: readonly Entry<T>[];
  /** The version of the whole list. */
  readonly resourceVersion?: string;
  /** The token of the next page; absent on the last one. */
  readonly continue?: string;
  /** How many objects are on later pages, where the server says. */
  readonly remainingItemCount?: number;
}

/** What a watch stream says. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | Bookmark;
