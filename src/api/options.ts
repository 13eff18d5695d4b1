/** Part of a collection. */
export interface Selection {
  /** One namespace. @default {all of them} */
  readonly namespace?: string;
  /** Which labels objects must have: `"app=web,tier!=cache"`. @default {any} */
  readonly labelSelector?: string;
  /** Which fields objects must have: `"spec.nodeName=worker-1"`. The server decides which fields a kind has. @default {any} */
  readonly fieldSelector?: string;
}

/** What waits can be told to stop. */
export interface Abortable {
  /** Ends the wait, which rejects with its reason; a job that runs resolves instead. */
  readonly signal?: AbortSignal;
}

/** How objects are read from the wire. */
export interface DecodeOptions {
  /** `"drop"` cuts them out of the bytes before anything is parsed. @default {"keep" on a client, "drop" on an informer} */
  readonly managedFields?: "drop" | "keep";
}

/** What to list. */
export interface ListOptions extends Selection, DecodeOptions, Abortable {
  /** `"0"`: any state the server has at hand; another: see `resourceVersionMatch`. @default {the newest state} */
  readonly resourceVersion?: string;
  /** How `resourceVersion` is meant. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** At most so many objects to a page. @default {no limit} */
  readonly limit?: number;
  /** Where the last page ended. The versions must then be absent. */
  readonly continue?: string;
}

/** What to watch. */
export interface WatchOptions extends Selection, DecodeOptions, Abortable {
  /** Changes after this version. @default {from now, after telling what is there} */
  readonly resourceVersion?: string;
  /** How long the server keeps the watch open, in seconds. @default {the server's choice, 30 to 60 minutes} */
  readonly timeoutSeconds?: number;
  /** Whether the server tells from time to time how far it is. @default {false} */
  readonly allowBookmarks?: boolean;
  /** Tells what is there first, and says where that ends: the streaming list. Needs `allowBookmarks`. */
  readonly sendInitialEvents?: boolean;
}
