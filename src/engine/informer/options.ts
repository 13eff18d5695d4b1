/**
 * The options of informers and factories, with their defaults and checks.
 *
 * {@linkcode SharedIndexInformerOptions} and {@linkcode informerSettings} are the entry points. Options of handlers
 * are in `events/event.ts`.
 *
 * @module
 */
import type { DecodeOptions, Selection } from "../api/call_options.ts";
import type { FieldPaths, Picked } from "../api/fields.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Resource, SecretLike, WithoutData } from "../api/resource.ts";
import type { ShardSource } from "../api/shard.ts";
import { checkDurations } from "../errors/checks.ts";
import type { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import { type OptionTable, plainRows, readOptions, type Settings, withDefaults } from "../errors/option_table.ts";
import type { ReflectorOptions } from "../reflector/reflector.ts";
import type { Indexers } from "../store/indexer.ts";
import type { NamespaceFinder } from "./cache/cache_scope.ts";
import type { MemoryBudget } from "./cache/memory_budget.ts";
import type { LogTarget } from "./sync/informer_log.ts";
import type { FactorySnapshots } from "./snapshot.ts";

/** Options for an informer's cache. On a factory they are the defaults for its informers. */
export interface CacheOptions extends DecodeOptions {
  /**
   * When to parse objects: `"lazy"` when you first read them, `"eager"` when they arrive. Set `"eager"` if your program
   * reads all objects anyway. @default {"lazy"}
   */
  readonly parse?: "lazy" | "eager";
  /**
   * If `true`, freezes objects when you first read them, so that changing a cached object throws a `TypeError`. Frozen
   * versions of an object share the parts whose JSON has the same bytes, at every depth. So
   * `object.spec === previous.spec` tells you that the spec has not changed, and an update costs less time to read. The
   * cache keeps the text of objects that you read for this. `false` freezes and shares nothing.
   *
   * @default {true}
   */
  readonly freeze?: boolean;
  /**
   * If `true`, unread objects that resemble each other take a fifth to a half of their text in memory: the informer
   * keeps what they share once, and for each object the values that differ. Reads return the same as without it.
   *
   * - Objects become compact while nothing arrives, in steps of at most 2 ms. Lists of more than 64 MiB of text become
   *   compact as they arrive, which takes up to 1.3 times as long.
   * - The first read of a compact object costs up to 1.4 times as much. Secrets are never compact.
   *
   * Set `false` if your objects do not resemble each other, or for predictable CPU use.
   *
   * @default {true}
   */
  readonly compact?: boolean;
  /**
   * Writes what each informer does: lists, syncs, resumed watches, waits with their reasons, pauses and stops. Use it
   * to see why a cache is behind. `"console"` writes one line each with `console.debug()`, `info()` or `warn()`. A
   * function receives {@linkcode LogRecord}s, for your own logger. Errors go to `onError` as well.
   *
   * @default {nothing is written}
   */
  readonly log?: LogTarget;
  /**
   * If `true`, objects of kinds from `defineKind` that do not fit their schema are neither cached nor delivered. They
   * may be older than the schema, or the CRD in the cluster may allow more. `status().invalid` has them, with causes.
   *
   * - A cached object that no longer fits is deleted with `event.reason` `"invalid"`. Do not clean up in that case: it
   *   exists, and is added again when it fits.
   * - Each object is parsed and checked when it arrives. Kinds without a schema are not checked.
   *
   * @default {false}
   */
  readonly validate?: boolean;
  /**
   * The resync period in milliseconds, for handlers that set none: the handler gets all cached objects again, as
   * updates with `resync: true`. 0 and `Infinity` mean never. @default {0}
   */
  readonly resyncMs?: number;
  /** Options for lists and watches: page size, timeouts, back-off. */
  readonly reflector?: ReflectorOptions;
  /**
   * How long stopping waits for running handler calls, in milliseconds. `Infinity` waits until they return. A call that
   * is still running after one second is reported.
   *
   * @default {10_000}
   */
  readonly graceMs?: number;
  /** Compares the cache with the server regularly, see `SharedIndexInformer.checkConsistency()`. By default, never. */
  readonly consistencyCheck?: ConsistencyCheckOptions;
  /**
   * The cluster's name, if your program follows several. It appears in events, view rows, status and errors. A
   * `ClusterSet` sets it for you.
   */
  readonly cluster?: string;
}

/** Options for regular consistency checks. */
export interface ConsistencyCheckOptions {
  /**
   * The time between two checks, in milliseconds: at least 60,000, and `Infinity` for never. Each wait is random, up to
   * 1.2 times as long, so that many clients do not check at the same moment.
   */
  readonly intervalMs: number;
}

/** Options for a {@linkcode SharedIndexInformer}. */
export interface SharedIndexInformerOptions<T extends KubernetesObject, Name extends string = never>
  extends CacheOptions {
  /**
   * Index functions by name. A function reads, and so parses, every object as it arrives. {@linkcode field} reads one
   * field without parsing. If a function throws, the object is missing from that index, and the error is reported.
   */
  readonly indexers?: Indexers<T, Name>;
  /**
   * Changes each object once, before it is cached. The function may change its argument.
   *
   * - If it throws, the object is quarantined: it stays in the cache, and reading it throws.
   * - It may change the name or namespace, but in the same way for every version. The last state of a deleted object is
   *   transformed too.
   */
  readonly transform?: (object: T) => T;
  /**
   * `"keep"` caches Secrets with their data. Only allowed for Secrets.
   *
   * By default the informer removes `data`, `stringData`, and the annotations in which tools keep a copy (see
   * `secretAnnotations`), before anything is parsed. Reading `data` then throws, and you cannot write such a Secret
   * back. Metadata, table rows and selected fields follow the same rule: without `"keep"`, a path to the data throws.
   */
  readonly secretData?: "keep";
  /**
   * Caches one shard of the objects: `"0/4"` is the first of four parts by uid. A {@linkcode ShardSource} holds ranges
   * that may change while the informer runs. By default the informer caches all objects.
   *
   * - The informer requests only these objects. If the server does not filter, the informer drops the others before it
   *   decodes them.
   * - When a range leaves, its objects are deleted with `event.reason` `"moved"`.
   * - When a range arrives, the informer lists only this range, in its newest state. The watch waits meanwhile.
   * - With ranges that may change, the informer has no snapshots and no durable checkpoints.
   */
  readonly shard?: string | ShardSource;
  /**
   * If `true`, delivers updates that change no selected field, only the resourceVersion. Otherwise the informer caches
   * the new version without an event. With a `transform`, its results are compared. Only allowed for resources that
   * `onlyFields` reduces.
   *
   * @default {false}
   */
  readonly deliverUnchanged?: boolean;
  /**
   * If `true`, a kind that the server does not have counts as an empty collection: the informer syncs, reports no
   * error, and `status()` has `unserved`. If `false`, the first list is refused, and a cache keeps its objects when the
   * kind goes.
   *
   * - When the kind goes, its cached objects are deleted after the second 404 in a row. When it comes, they are added.
   * - The informer looks again after at most 30 s, or `reflector.backoff.maxMs`. In a factory, it tries as soon
   *   as the CRD changes, if your client may list and watch CRDs.
   *
   * @default {false}
   */
  readonly optional?: boolean;
  /**
   * Lists the objects at this interval in milliseconds (at least 1,000) instead of watching them. Use it for kinds that
   * cannot be watched, such as `PodMetrics`. Events, listers and indexes work as usual.
   *
   * - Changes are up to `pollMs` late, and states between two lists are never seen. An object that was deleted and
   *   created again with the same content counts as the same object.
   * - Objects without a version are compared by content, without `timestamp`, `window` and `creationTimestamp`. The
   *   cached times are therefore from the last real change. To compare, the informer keeps one text for each object.
   * - For such kinds, `event.resourceVersion`, `status()` and `waitForVersion()` use the list's time as the version, in
   *   milliseconds since 1970.
   * - Each list is complete: it costs the server as much as `kubectl get`.
   * - `shard` throws, and the informer has no snapshots.
   */
  readonly pollMs?: number;
  /**
   * Receives each error that does not reject a wait: failed lists and watches, handler errors, unreadable objects. The
   * return value is ignored. By default each new error is written to the console in one line, and repeated at most once
   * a minute.
   */
  readonly onError?: (error: unknown) => unknown;
  /**
   * The parts that a factory gives an informer: the limit that its caches share, and what finds the namespaces of a
   * client that may read these. Then the source reads all namespaces.
   *
   * @internal
   */
  readonly [internals]?: { readonly budget?: MemoryBudget; readonly finder?: NamespaceFinder };
}

/** Selects the namespaces whose labels match. */
export interface NamespacesByLabel {
  /** A label selector: `"team=a"`. */
  readonly labels: string;
}

/** The part of a collection that an informer in a factory caches. */
export interface CachedSelection extends Omit<Selection, "namespaces"> {
  /**
   * The namespaces to cache:
   *
   * - **Names**: each namespace is listed and watched separately.
   * - **`{ labels }`**: one list and watch across all namespaces. Objects in other namespaces are dropped before they
   *   are decoded. When a namespace starts to match, only this namespace is listed, while the watch waits. Your client
   *   needs the rights to list and watch the kind in all namespaces, and to list and watch namespaces.
   * - **`"readable"`**: every namespace in which your client may list and watch the kind, see `readableNamespaces()`.
   *   If it may read all namespaces, one list and watch covers them. Otherwise each namespace is listed and watched
   *   separately. Rights are checked at the start, after each 403, and about every minute. A granted right takes effect
   *   within about a minute, a withdrawn one within 4 minutes. Without any right the informer is `forbidden`.
   *
   * When a namespace leaves, its objects are deleted with `event.reason` `"moved"`. With `labels` or `"readable"`, an
   * informer has no snapshots and no durable checkpoints.
   */
  readonly namespaces?: readonly string[] | NamespacesByLabel | "readable";
}

/**
 * The options that {@linkcode defaultsFor} sets for the informers of one kind: the options of `forResource()` that
 * neither change the type of the objects (`fields`, `secretData`) nor belong to one call (`indexers`, `shard`).
 */
export type DefaultOptions<T extends KubernetesObject> =
  & CachedSelection
  & Omit<
    SharedIndexInformerOptions<Cached<T>>,
    "cluster" | "deliverUnchanged" | "indexers" | "secretData" | "shard" | symbol
  >;

/** The options for one kind's informers, from {@linkcode defaultsFor}. */
export interface KindDefaults {
  /** @internal */
  readonly [internals]: { readonly resource: Resource; readonly options: AnyOptions };
}

/** Options for a {@linkcode SharedInformerFactory}: the defaults for its informers. */
export interface SharedInformerFactoryOptions extends CachedSelection, CacheOptions {
  /**
   * Changes each object of every kind once, before it is cached, like the option `transform` of informers. It is
   * generic, because it receives every kind. For one kind use `defaults`. @default {objects stay as they are}
   */
  readonly transform?: <T extends KubernetesObject>(object: T) => T;
  /**
   * Defaults for single kinds, from {@linkcode defaultsFor}. An informer's own option comes first, then its kind's
   * default, then the factory's option. `namespace` and `namespaces` replace each other. @default {[]}
   */
  readonly defaults?: readonly KindDefaults[];
  /**
   * Receives each error that does not reject a wait, with the resource concerned. The return value is ignored. By
   * default errors go to the console, as for a `SharedIndexInformer`. An error that several informers share is written
   * once.
   */
  readonly onError?: (error: unknown, resource: Resource) => unknown;
  /**
   * How long the watch stays open after you dispose the last holder of an acquired informer, in milliseconds.
   * `Infinity` means forever.
   *
   * @default {30_000}
   */
  readonly idleTimeoutMs?: number;
  /**
   * How long the cache is kept after its watch has ended, in milliseconds. `Infinity` means forever. Servers keep old
   * versions for at least 5 minutes, so a watch that resumes within that time needs no list.
   *
   * @default {300_000}
   */
  readonly cacheTtlMs?: number;
  /**
   * The bytes that all caches together may hold, in texts and indexes. The process needs a multiple of them, see
   * [Limit the memory of all caches](../../../docs/guides/limit-memory.md). By default nothing is counted or limited.
   *
   * - At 80 %, `onError` receives a `MemoryWarning` with the largest caches and their largest fields.
   * - Above 100 %, the list or watch that makes a cache grow ends with a `MemoryLimitError`. You can still read the
   *   cache, but it is `stale`. If it was the first list, `waitForCacheSync()` rejects, unless it is `patient`. Caches
   *   that do not grow continue.
   * - Below 70 %, stopped informers list again, after a random wait. A list that did not fit waits until there is more
   *   room than it had used, or for 5 to 10 minutes. A cache that is too large by itself stays stale until you raise
   *   `SharedInformerFactory.maxBytes`.
   */
  readonly maxBytes?: number;
  /**
   * Keeps the caches across restarts. By default, nothing is kept.
   *
   * - An informer starts with its snapshot, if there is one. You can read the cache immediately. It is `stale` until
   *   the watch has resumed. The informer lists only if the server no longer has the snapshot's version, or does not
   *   know its objects.
   * - Snapshots are written while caches change, and when an informer stops. So dispose the factory at the end.
   * - A snapshot that cannot be read or written is reported.
   * - A cache that holds the data of Secrets is skipped, unless `secretData` is `"keep"`.
   * - Each snapshot belongs to one resource, selection and server address (or `cluster`).
   *
   * See the guide: [Warm start](../../../docs/guides/warm-start.md).
   */
  readonly snapshots?: FactorySnapshots;
}

/** The options of an informer, whatever its objects and indexes. */
export type AnyOptions = CachedSelection & SharedIndexInformerOptions<KubernetesObject, string> & {
  readonly fields?: readonly string[];
};

type Cache = Omit<CacheOptions, "cluster">;

const CACHE = {
  parse: { default: "lazy" },
  freeze: { default: true },
  compact: { default: true },
  validate: { default: false },
  resyncMs: { default: 0, ms: {} },
  ...plainRows("reflector consistencyCheck log"),
  graceMs: { default: 10_000, ms: {} },
  managedFields: { default: "drop" },
  secretAnnotations: { default: [] },
} as const satisfies OptionTable<Cache>;

/** The defaults of {@linkcode CacheOptions}. */
export const CACHE_DEFAULTS: Settings<CacheOptions, typeof CACHE> = withDefaults<Cache, typeof CACHE>({}, CACHE);

const SELECTION = plainRows("namespaces namespace labelSelector fieldSelector");

/**
 * The options of an informer. All callers of one informer in a factory agree on them. Options with `shared: false` are
 * exceptions: indexes are joined, and the others make another informer.
 */
export const INFORMER_OPTIONS = {
  ...CACHE,
  ...plainRows("cluster transform deliverUnchanged optional onError"),
  indexers: { shared: false },
  secretData: { shared: false },
  shard: { shared: false },
  pollMs: { ms: { min: 1_000, finite: true } },
} as const satisfies OptionTable<SharedIndexInformerOptions<KubernetesObject, string>>;

/** The options of an informer of a factory. */
export const PLACED_OPTIONS = {
  ...INFORMER_OPTIONS,
  ...SELECTION,
  ...plainRows("fields"),
} as const satisfies OptionTable<AnyOptions>;

/** The options that factories and sets of clusters have. */
export const FACTORY_OPTIONS = {
  ...CACHE,
  ...SELECTION,
  ...plainRows("onError maxBytes snapshots transform defaults"),
  idleTimeoutMs: { default: 30_000, ms: {} },
  cacheTtlMs: { default: 300_000, ms: {} },
} as const satisfies OptionTable<Omit<SharedInformerFactoryOptions, "cluster">>;

/**
 * Returns an informer's options, with their defaults.
 *
 * @throws {RangeError} when a duration is out of range.
 * @throws {TypeError} when an option does not exist, or `shard` and `pollMs` are combined.
 */
export function informerSettings<T extends KubernetesObject, Name extends string>(
  options: SharedIndexInformerOptions<T, Name>,
): Settings<SharedIndexInformerOptions<T, Name>, typeof INFORMER_OPTIONS> {
  const settings = readOptions("create an informer", options, INFORMER_OPTIONS);
  const { consistencyCheck, pollMs, shard } = settings;
  checkNames("check an informer regularly", consistencyCheck, "intervalMs");
  checkDurations("create an informer", { "consistencyCheck.intervalMs": consistencyCheck?.intervalMs }, {
    min: 60_000,
  });
  if (pollMs !== undefined && shard !== undefined) {
    throw new TypeError(
      `Cannot create an informer: "shard" and "pollMs" (${pollMs}) cannot be combined, because a shard needs a watch. ` +
        "Remove one of them",
    );
  }
  return settings;
}

/**
 * The type of the objects that an informer of `Resource<T>` caches:
 *
 * - With the option `fields` (paths `P`), objects have only these fields, see `onlyFields()`.
 * - Secrets have no data, unless `secretData` (type `D`) is `"keep"`.
 * - Otherwise objects are complete.
 *
 * In a generic function the compiler does not know whether `T` is a Secret. There, write `Cached<T>` for the cached
 * objects, or set `secretData: "keep"` so that they are `T`.
 */
export type Cached<T extends KubernetesObject, P extends readonly string[] = never, D = undefined> = [P] extends [never]
  ? D extends "keep" ? T : T extends SecretLike ? WithoutData<T> : T
  : Picked<T, P>;

/** Options for `forResource()` and `acquire()`. Your functions in them receive the objects as they are cached. */
export type CachedOptions<T extends KubernetesObject, Name extends string, P extends readonly string[], D> =
  & CachedSelection
  & SharedIndexInformerOptions<Cached<T, P, D>, Name>
  & {
    /** `"keep"` caches Secrets with their data, and gives them a type with data. */
    readonly secretData?: D;
    /** The paths of the fields to keep, as in `onlyFields`: `["spec.nodeName", "spec.containers.image"]`. */
    readonly fields?: P;
  }
  // Not `P & FieldPaths<T, P>`: of an optional union of lists, the compiler would infer the first list as P.
  & { readonly fields?: FieldPaths<T, P> };
