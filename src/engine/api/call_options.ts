/**
 * Options for calls that read: selections, lists, watches and decoding.
 *
 * {@linkcode Selection} says which objects are read, and {@linkcode ListOptions} and {@linkcode WatchOptions} say how.
 * Options for informers are in `informer/options.ts`. This file checks values, and reads no objects.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";
import type { CacheEntry } from "./entry.ts";
import type { ObjectKey } from "./object.ts";
import { FieldSelector, LabelSelector } from "./selector.ts";
import type { ShardFilter } from "./shard.ts";

/** Selects the part of a collection that a request covers. */
export interface Selection {
  /** One namespace. @default {all namespaces} */
  readonly namespace?: string;
  /**
   * Several namespaces, for clients that may not list all namespaces. An informer lists and watches each namespace
   * separately.
   *
   * You cannot combine it with `namespace`. A single request covers either one namespace or all.
   */
  readonly namespaces?: readonly string[];
  /** Selects objects by their labels: `"app=web,tier!=cache"`. @default {any} */
  readonly labelSelector?: string;
  /**
   * Selects objects by their fields: `"spec.nodeName=worker-1"`. The server decides which fields each kind supports.
   * @default {any}
   */
  readonly fieldSelector?: string;
}

/**
 * Returns a selection's namespaces in the given order, without duplicates. Returns `undefined` for all namespaces.
 *
 * @throws {TypeError} if `namespace` and `namespaces` are combined, or `namespaces` is not an array, is empty, or has
 * an entry that is not a name. `""` would mean all namespaces.
 */
export function namespacesOf(
  selection: { readonly namespace?: string; readonly namespaces?: readonly string[] },
): readonly string[] | undefined {
  const { namespace, namespaces } = selection;
  if (namespaces === undefined) return namespace ? [namespace] : undefined;
  if (namespace !== undefined) {
    throw new ArgumentError(
      `Cannot select namespaces: "namespace" (${JSON.stringify(namespace)}) and "namespaces" ` +
        `(${JSON.stringify(namespaces)}) cannot be combined. Remove one of them`,
    );
  }
  if (!Array.isArray(namespaces) || namespaces.length === 0) {
    throw new ArgumentError(
      `Cannot select namespaces: "namespaces" is ${JSON.stringify(namespaces)}. Name at least one, or leave the ` +
        "option out for all namespaces",
    );
  }
  for (const name of namespaces as readonly unknown[]) {
    if (typeof name !== "string" || name === "") {
      throw new ArgumentError(
        `Cannot select namespaces: ${JSON.stringify(name)} is not a name. Leave "namespaces" out for all namespaces`,
      );
    }
  }
  return [...new Set<string>(namespaces)];
}

/** Options for a call that you can abort. */
export interface Abortable {
  /**
   * Ends the call when it aborts:
   *
   * - A call rejects with the signal's reason. The pages and parts in a list reject too, because a list that ends
   *   normally is complete.
   * - A wait on an informer rejects with a `WaitError` that has the reason.
   * - `run()` resolves.
   * - An iterator over events, changes or status ends.
   */
  readonly signal?: AbortSignal;
}

/** Options for one request. */
export interface RequestOptions extends Abortable {
  /**
   * The longest time for the request, its retries and the whole response, in milliseconds. After that, the call rejects
   * with an `UnreachableError`. `Infinity` means no limit. @default {Infinity}
   */
  readonly timeoutMs?: number;
  /**
   * Query parameters that have no option here: `{ pretty: "true" }`. A name that equals an option, or nearly so, is
   * refused. @default {none}
   */
  readonly query?: Readonly<Record<string, string>>;
}

/** Options for decoding objects. */
export interface DecodeOptions {
  /**
   * How to treat managedFields:
   *
   * - `"drop"` removes them from the bytes before they are parsed, unless a path in `fields` leads there.
   *   A server with the feature gate `ManagedFieldsOptOut` (Kubernetes 1.38) leaves them out of its responses.
   * - `{ manager }` removes the entries from all other managers, for `applyIfChanged`. From reduced objects it removes
   *   all entries, like `"drop"`.
   * - `"keep"` keeps them.
   *
   * @default {"keep" on a client, "drop" on an informer}
   */
  readonly managedFields?: "drop" | "keep" | { readonly manager: string };
  /**
   * Extra annotations on Secrets that hold secret data, and are dropped with it. Annotations from kubectl, kapp,
   * Rancher, Banzai Cloud and OpenShift are known already. @default {none}
   */
  readonly secretAnnotations?: readonly string[];
}

/** Reduces objects to the fields that you need. */
export interface Projection {
  /**
   * The fields to keep in each object, as paths such as `"spec.nodeName"` or `"spec.containers.image"`, see
   * {@linkcode parseFieldPath}. Other fields are skipped before they are parsed.
   *
   * These fields are always kept: apiVersion, kind, and from the metadata name, namespace, uid, resourceVersion,
   * generation, creationTimestamp, deletionTimestamp and ownerReferences. @default {everything}
   */
  readonly fields?: readonly string[];
  /**
   * `"drop"` removes a Secret's data from the bytes before they are parsed: `data`, `stringData`, and the annotations
   * in which tools keep a copy. A path in `fields` that leads there then throws a `TypeError`.
   * @default {"keep" on a client, "drop" on an informer}
   */
  readonly secretData?: "drop" | "keep";
}

/** Entries that the caller has already, so that unchanged objects are not decoded again. */
export interface KnownEntries {
  /**
   * Returns the entry for a key. If its uid and version match the server's object, the call yields this entry instead
   * of a new one. @default {none}
   */
  readonly known?: (key: ObjectKey) => CacheEntry<unknown> | undefined;
  /**
   * Returns the entry after the entry that this or `known` returned last. Lists have a fixed order, so this is probably
   * the next object. An entry with another key is ignored. Only used together with `known`. @default {none}
   */
  readonly knownNext?: () => CacheEntry<unknown> | undefined;
}

/** Measures decoding. */
export interface DecodeObserver {
  /**
   * Called for each chunk in the response with the time spent on decoding it, in milliseconds.
   * @default {nothing is measured}
   */
  readonly onDecoded?: (ms: number) => void;
}

/** Selects part of a collection by a hash, see `ShardSource`. */
export interface ShardOption {
  /**
   * Selects objects by ranges of hashes. Other objects are skipped before they are decoded. The request asks the server
   * to filter, and a server that does not filter sends all objects. @default {all objects}
   */
  readonly shard?: ShardFilter;
}

/** Options for a list. */
export interface ListOptions
  extends Selection, ShardOption, DecodeOptions, KnownEntries, Projection, DecodeObserver, RequestOptions {
  /** Not allowed here: a single request covers either one namespace or all. */
  readonly namespaces?: undefined;
  /**
   * The version to list. `"0"` returns any state that the server has at hand. For other versions, see
   * `resourceVersionMatch`. @default {the newest state}
   */
  readonly resourceVersion?: string;
  /** Whether the list must have exactly the version `resourceVersion`, or may be newer. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** The largest number of objects on a page. @default {no limit} */
  readonly limit?: number;
  /**
   * The `continue` token from the page before. You cannot combine it with `resourceVersion` or `resourceVersionMatch`.
   */
  readonly continue?: string;
}

/** Options for a watch. */
export interface WatchOptions
  extends
    Selection,
    ShardOption,
    DecodeOptions,
    KnownEntries,
    Projection,
    DecodeObserver,
    Abortable,
    Pick<RequestOptions, "query"> {
  /** Not allowed here: a single request covers either one namespace or all. */
  readonly namespaces?: undefined;
  /** The watch delivers changes after this version. @default {the existing objects, and then changes} */
  readonly resourceVersion?: string;
  /** After how many seconds the server ends the watch. @default {the server's choice, 30 to 60 minutes} */
  readonly timeoutSeconds?: number;
  /** Requests bookmarks: events that carry only a version. @default {false} */
  readonly allowBookmarks?: boolean;
  /**
   * Requests a streaming list: the existing objects first, and a bookmark at their end. Needs `allowBookmarks`.
   * @default {false}
   */
  readonly sendInitialEvents?: boolean;
}

/** Parses a selection's selectors. @throws {SyntaxError} if a selector does not parse. */
export function checkSelectors({ labelSelector, fieldSelector }: Selection): void {
  if (labelSelector) LabelSelector.parse(labelSelector);
  if (fieldSelector) FieldSelector.parse(fieldSelector);
}
