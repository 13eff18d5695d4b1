import type { Entry } from "./entry.ts";
import type { KubernetesObject } from "./object.ts";
import type { ListOptions, Selection, WatchOptions } from "./options.ts";
import type { Resource } from "./resource.ts";

/**
 * The two calls that a reflector needs. Both yield a batch for each chunk of the body, which is empty where the chunk completes
 * no object.
 */
export interface ListerWatcher<T> {
  /** Lists one page, in parts. The first part is empty and arrives as soon as the server begins to answer. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<T>>;
  /** Watches until the server ends the watch. The first batch is empty and arrives as soon as the watch is open. */
  watchChanges(options?: WatchOptions): AsyncIterable<readonly Change<T>[]>;
  /**
   * The same collection, for consistency checks. A source that reads one object by the field selector `metadata.name` needs
   * nothing else for them. @default {complete objects are listed}
   */
  readonly identities?: IdentitySource;
  /** The resource, for observers of requests. @default {unknown} */
  readonly resource?: Resource;
  /** The part of the collection, for observers of requests. @default {unknown} */
  readonly selection?: Selection;
}

/** Lists the identities of the objects of a collection. */
export interface IdentitySource {
  /** The same for all collections of a server, of which one is checked at a time. */
  readonly server: object;
  /** As {@linkcode ListerWatcher.listEntries}; objects have metadata alone. */
  listEntries(options?: ListOptions): AsyncIterable<ListPart<KubernetesObject>>;
}

/** A change of an object that is not parsed yet, or a bookmark. */
export type Change<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly entry: Entry<T> }
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
  readonly entries: readonly Entry<T>[];
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
