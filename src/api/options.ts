/**
 * The options of calls that read: selections, lists, watches, decoding.
 *
 * {@linkcode Selection} says which objects are read, {@linkcode ListOptions} and {@linkcode WatchOptions} say how. The
 * options of informers are in `informer/options.ts`. This file checks values, and reads no objects.
 *
 * @module
 */
import type { CacheEntry } from "./entry.ts";
import type { ObjectKey } from "./object.ts";
import { FieldSelector, LabelSelector } from "./selector.ts";
import type { ShardFilter } from "./shard.ts";
import { UnreachableError } from "./status.ts";

/** The part of a collection that a request is about. */
export interface Selection {
  /** One namespace. @default {all of them} */
  readonly namespace?: string;
  /**
   * Several namespaces, for clients that may not list all: an informer lists and watches each of them separately.
   * Excludes `namespace`; {@linkcode namespacesOf} checks the names. A single request is of one namespace, or of all.
   */
  readonly namespaces?: readonly string[];
  /** The labels that objects must have: `"app=web,tier!=cache"`. @default {any} */
  readonly labelSelector?: string;
  /**
   * The fields that objects must have: `"spec.nodeName=worker-1"`. The server decides which fields a kind has.
   *
   * @default {any}
   */
  readonly fieldSelector?: string;
}

/**
 * Returns the namespaces of a selection, each once, in the order given; `undefined` for all of them.
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
      `Cannot select namespaces: "namespace" (${JSON.stringify(namespace)}) and "namespaces" ` +
        `(${JSON.stringify(namespaces)}) cannot be combined. Remove one of them`,
    );
  }
  if (!Array.isArray(namespaces) || namespaces.length === 0) {
    throw new TypeError(
      `Cannot select namespaces: "namespaces" is ${
        JSON.stringify(namespaces)
      }. Name at least one, or leave the option ` +
        "out for all namespaces",
    );
  }
  for (const name of namespaces as readonly unknown[]) {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(
        `Cannot select namespaces: ${JSON.stringify(name)} is not a name. Leave "namespaces" out for all namespaces`,
      );
    }
  }
  return [...new Set<string>(namespaces)];
}

/** Options of a call that can be aborted. */
export interface Abortable {
  /**
   * When it aborts, the call rejects with its reason, a wait of an informer with a `WaitError` that has it; a `run()`
   * resolves instead, and an iterator over events, changes or status ends. The pages and parts of a list reject, since
   * a list that ends is complete.
   */
  readonly signal?: AbortSignal;
}

/** Options of one request. */
export interface RequestOptions extends Abortable {
  /**
   * The longest time for the request with its retries and its complete answer, in milliseconds; then the call rejects
   * with an `UnreachableError`. `Infinity` is no limit. @default {Infinity}
   */
  readonly timeoutMs?: number;
  /**
   * Parameters of the request that have no option here: `{ pretty: "true" }`. A name that is that of an option, or
   * nearly so, is refused. @default {none}
   */
  readonly query?: Readonly<Record<string, string>>;
}

/** Options for decoding objects. */
export interface DecodeOptions {
  /**
   * `"drop"` removes managedFields from the bytes before they are parsed, unless a path of `fields` names them. An
   * object with the name of a manager removes the entries of all others, for `applyIfChanged`; from objects that are
   * reduced, all of them, as `"drop"` does.
   *
   * @default {"keep" on a client, "drop" on an informer}
   */
  readonly managedFields?: "drop" | "keep" | { readonly manager: string };
  /**
   * The names of further annotations of Secrets that hold their data, and are left out with it. Those of kubectl, kapp,
   * Rancher, Banzai Cloud and OpenShift are known. @default {none}
   */
  readonly secretAnnotations?: readonly string[];
}

/** A reduction of objects to named fields. */
export interface Projection {
  /**
   * The fields that are kept of each object, as paths such as `"spec.nodeName"` or `"spec.containers.image"`; see
   * {@linkcode parseFieldPath}. The rest is skipped before anything is parsed. Always kept: apiVersion, kind, and of
   * the metadata name, namespace, uid, resourceVersion, generation, deletionTimestamp and ownerReferences. @default
   * {everything}
   */
  readonly fields?: readonly string[];
  /**
   * `"drop"` removes the data of Secrets from the bytes before they are parsed: `data`, `stringData`, and the
   * annotations in which tools keep a copy. A path of `fields` that leads there is then refused with a `TypeError`.
   * @default {"keep" on a client, "drop" on an informer}
   */
  readonly secretData?: "drop" | "keep";
}

/** Entries that the caller has already, so that unchanged objects are not decoded again. */
export interface KnownEntries {
  /**
   * Returns the entry of a key. If it has the uid and version that the server sends, it is yielded instead of a new
   * one.
   *
   * @default {none}
   */
  readonly known?: (key: ObjectKey) => CacheEntry<unknown> | undefined;
  /**
   * Returns the entry after the one that this or `known` returned last: lists have a fixed order, so it is probably the
   * next one. An entry of another key is ignored. Only used together with `known`. @default {none}
   */
  readonly knownNext?: () => CacheEntry<unknown> | undefined;
}

/** Measures decoding. */
export interface DecodeObserver {
  /**
   * Called for each chunk of the answer, with the time that decoding it took, in milliseconds.
   *
   * @default {nothing is measured}
   */
  readonly onDecoded?: (ms: number) => void;
}

/** A part of a collection by a hash, see `ShardSource`. */
export interface ShardOption {
  /**
   * Leaves out the objects that are not in ranges of hashes, before they are decoded. The server is asked for the
   * others alone; where it does not filter, it sends all. @default {all objects}
   */
  readonly shard?: ShardFilter;
}

/** Options for a list. */
export interface ListOptions
  extends Selection, ShardOption, DecodeOptions, KnownEntries, Projection, DecodeObserver, RequestOptions {
  /** Not allowed here: a single request is of one namespace, or of all. */
  readonly namespaces?: undefined;
  /** `"0"`: any state the server has at hand; another: see `resourceVersionMatch`. @default {the newest state} */
  readonly resourceVersion?: string;
  /** The list is at exactly `resourceVersion`; or at that or a newer version. */
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** The largest number of objects to a page. @default {no limit} */
  readonly limit?: number;
  /** The `continue` token of the page before. It excludes `resourceVersion` and `resourceVersionMatch`. */
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
  /** Not allowed here: a single request is of one namespace, or of all. */
  readonly namespaces?: undefined;
  /** The watch delivers changes after this version. @default {the existing objects, and then changes} */
  readonly resourceVersion?: string;
  /** The time after which the server ends the watch, in seconds. @default {the server's choice, 30 to 60 minutes} */
  readonly timeoutSeconds?: number;
  /** Requests bookmarks: events that carry only a version. @default {false} */
  readonly allowBookmarks?: boolean;
  /**
   * Requests the existing objects first, and a bookmark at their end: the streaming list. Needs `allowBookmarks`.
   *
   * @default {false}
   */
  readonly sendInitialEvents?: boolean;
}

/** Parses the selectors of a selection. @throws {SyntaxError} when one of them is none. */
export function checkSelectors({ labelSelector, fieldSelector }: Selection): void {
  if (labelSelector) LabelSelector.parse(labelSelector);
  if (fieldSelector) FieldSelector.parse(fieldSelector);
}

/** The time that a watch may stay open beyond the requested time, in milliseconds. */
export const WATCH_GRACE_MS = 10_000;

/** Returns the time to request for a watch: a random one between `shortestMs` and 1.8 times that, in seconds. */
export function watchTimeoutSeconds(shortestMs = 120_000): number {
  return Math.max(1, Math.ceil((shortestMs * (1 + 0.8 * Math.random())) / 1_000));
}

/** Ends a watch whose connection may be dead, although nothing has failed: its reader resumes at once. */
export class WatchRenewal extends UnreachableError {}

/**
 * Returns the error of a watch that is open {@linkcode WATCH_GRACE_MS} beyond the requested time; `action` follows
 * "Cannot".
 */
export function watchTimeoutError(action: string, timeoutSeconds: number): UnreachableError {
  return new UnreachableError(
    `Cannot ${action}: the server has not ended the watch ${
      WATCH_GRACE_MS / 1_000
    } s after the ${timeoutSeconds} s that ` +
      `were requested, so the connection may be dead`,
  );
}

/** The members of `O`, of which those that may be `undefined` may be absent instead. */
type Defined<O> =
  & { [M in keyof O as undefined extends O[M] ? never : M]: O[M] }
  & { [M in keyof O as undefined extends O[M] ? M : never]?: Exclude<O[M], undefined> };

/** Returns the members that are not `undefined`, so that the others neither are printed nor hide defaults. */
export function defined<O extends object>(members: O): Defined<O> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<O>;
}
