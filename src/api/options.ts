import type { Entry } from "./entry.ts";
import type { ObjectKey } from "./key.ts";

/** Part of a collection. */
export interface Selection {
  /** One namespace. @default {all of them} */
  readonly namespace?: string;
  /**
   * Several namespaces, for who may not ask for all: an informer then follows each by requests of its own. Instead of
   * `namespace`; see {@linkcode namespacesOf} for what is refused. One request is of one namespace, or of all.
   */
  readonly namespaces?: readonly string[];
  /** Which labels objects must have: `"app=web,tier!=cache"`. @default {any} */
  readonly labelSelector?: string;
  /** Which fields objects must have: `"spec.nodeName=worker-1"`. The server decides which fields a kind has. @default {any} */
  readonly fieldSelector?: string;
}

/**
 * The namespaces of a selection, each once, in the order given; `undefined` for all of them.
 *
 * @throws {TypeError} when both `namespace` and `namespaces` are given; when `namespaces` is not an array, is empty, or
 * holds anything but names: `""` would mean all of them.
 */
export function namespacesOf(
  selection: { readonly namespace?: string; readonly namespaces?: readonly string[] },
): readonly string[] | undefined {
  const { namespace, namespaces } = selection;
  if (namespaces === undefined) return namespace ? [namespace] : undefined;
  if (namespace !== undefined) {
    throw new TypeError(
      `Cannot select namespaces: found both namespace "${namespace}" and namespaces ${JSON.stringify(namespaces)}; ` +
        `give one of the two`,
    );
  }
  if (!Array.isArray(namespaces) || namespaces.length === 0) {
    throw new TypeError(
      `Cannot select namespaces: found ${JSON.stringify(namespaces)}; name at least one, or leave them out for all`,
    );
  }
  for (const name of namespaces as readonly unknown[]) {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(
        `Cannot select namespaces: found ${JSON.stringify(name)} among them; leave them out for all namespaces`,
      );
    }
  }
  return [...new Set<string>(namespaces)];
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

/** What the caller has already. */
export interface KnownEntries {
  /** The entry of a key: where it is of the uid and version that the server tells, it is yielded in place of a new one. @default {none} */
  readonly known?: (key: ObjectKey) => Entry<unknown> | undefined;
  /**
   * The entry behind the one that this or `known` has found last: a guess at what is told next, for lists come in one
   * order. Any answer is right: an entry of another key is passed over. Only asked where there is `known`. @default {none}
   */
  readonly knownNext?: () => Entry<unknown> | undefined;
}

/** What to list. */
export interface ListOptions extends Selection, DecodeOptions, KnownEntries, Abortable {
  /** Not here: one request is of one namespace, or of all. */
  readonly namespaces?: undefined;
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
export interface WatchOptions extends Selection, DecodeOptions, KnownEntries, Abortable {
  /** Not here: one request is of one namespace, or of all. */
  readonly namespaces?: undefined;
  /** Changes after this version. @default {from now, after telling what is there} */
  readonly resourceVersion?: string;
  /** How long the server keeps the watch open, in seconds. @default {the server's choice, 30 to 60 minutes} */
  readonly timeoutSeconds?: number;
  /** Whether the server tells from time to time how far it is. @default {false} */
  readonly allowBookmarks?: boolean;
  /** Tells what is there first, and says where that ends: the streaming list. Needs `allowBookmarks`. */
  readonly sendInitialEvents?: boolean;
}
