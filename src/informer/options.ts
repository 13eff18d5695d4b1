/**
 * The options of informers and factories, with their defaults and checks.
 *
 * {@linkcode SharedIndexInformerOptions} and {@linkcode withCacheDefaults} are the entry points. Options of handlers
 * are in `events/event.ts`.
 *
 * @module
 */
import type { FieldPaths, Picked } from "../api/fields.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type DecodeOptions, defined, type Selection } from "../api/options.ts";
import type { Resource, SecretLike, WithoutData } from "../api/resource.ts";
import type { ShardSource } from "../api/shard.ts";
import { checkDurations } from "../async/checks.ts";
import type { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { ReflectorOptions } from "../reflector/reflector.ts";
import type { Indexers } from "../store/indexer.ts";
import type { NamespaceFinder } from "./cache/cache_scope.ts";
import type { MemoryBudget } from "./cache/memory_budget.ts";
import type { FactorySnapshots } from "./snapshot.ts";

/** Options of an informer's cache; those of a factory are the defaults of its informers. */
export interface CacheOptions extends DecodeOptions {
  /** `"eager"` parses objects as they arrive, for programs that read all of them anyway. @default {"lazy"} */
  readonly parse?: "lazy" | "eager";
  /** Freezes objects when they are first read, so that writing to the cache throws a `TypeError`. @default {false} */
  readonly freeze?: boolean;
  /** The resync period of handlers that name none, in milliseconds; 0 or `Infinity` is never. @default {0} */
  readonly resyncMs?: number;
  /** Options of lists and watches. */
  readonly reflector?: ReflectorOptions;
  /**
   * The time that stopping waits for running calls of handlers, in milliseconds; `Infinity` waits until they return. A
   * call that has not returned after a second is reported.
   *
   * @default {10_000}
   */
  readonly graceMs?: number;
  /** Compares the cache with the server regularly, see `SharedIndexInformer.checkConsistency()`. @default {never} */
  readonly consistencyCheck?: ConsistencyCheckOptions;
  /**
   * The name of the cluster, for programs that follow several: events, rows of views, status and errors have it. A
   * `ClusterSet` sets it.
   *
   * @default {none}
   */
  readonly cluster?: string;
}

/** Options for regular consistency checks. */
export interface ConsistencyCheckOptions {
  /**
   * The time between two checks, in milliseconds: at random between this and 1.2 times it, so that clients do not check
   * at once. At least 60,000; `Infinity` is never.
   */
  readonly intervalMs: number;
}

/** Options of a {@linkcode SharedIndexInformer}. */
export interface SharedIndexInformerOptions<T extends KubernetesObject, Name extends string = never>
  extends CacheOptions {
  /**
   * Index functions by name. They read, and so parse, every object as it arrives; those of {@linkcode field} read one
   * field without parsing. An object for which one throws is missing from that index, and the error is reported.
   */
  readonly indexers?: Indexers<T, Name>;
  /**
   * Changes each object once, as it arrives and before it is cached; it may change its argument. An object for which it
   * throws is quarantined: it is in the cache, and reading it throws. It may change an object's name or namespace, in
   * the same way for each version of the object, because the last state of a deleted object is transformed too.
   */
  readonly transform?: (object: T) => T;
  /**
   * `"data"` keeps the data of Secrets. Without it, an informer of Secrets leaves out `data`, `stringData`, and the
   * annotations in which tools keep a copy (see `secretAnnotations`), before anything is parsed; reading the former
   * throws an error, and the objects cannot be written back. So do informers of metadata, of rows and of named fields;
   * a path that leads to the data is refused. Only allowed for Secrets.
   *
   * @default {the data is left out}
   */
  readonly secretData?: "keep";
  /**
   * Caches the objects of a part of all hashes: `"0/4"` is the first of four parts by uid, and a
   * {@linkcode ShardSource} has ranges that may change. The server is asked for these objects alone; where it does not
   * filter, it sends all, and the others are dropped before they are decoded.
   *
   * Where ranges change, objects of a range that goes are deleted with `event.reason` `"moved"`; those of a range that
   * comes are listed, by a list of the newest state that begins after it was taken, while the watch waits, and nothing
   * else is listed again. Such an informer has no snapshots and no durable checkpoints.
   *
   * @default {all objects}
   */
  readonly shard?: string | ShardSource;
  /**
   * An update that changes no kept field, only the resourceVersion, of an informer of named fields: `"skip"` caches the
   * new version without an event, `"deliver"` delivers the update. With a `transform`, what it returns is compared.
   * Only allowed for resources that `onlyFields` reduces.
   *
   * @default {"skip"}
   */
  readonly deliverUnchanged?: boolean;
  /**
   * The server need not have the kind: while it answers 404, the informer has synced, with an empty cache, nothing is
   * reported, and `status()` says `unserved`. When the kind goes, its cached objects are deleted, at the second such
   * answer in a row; when it comes, they are added. An informer looks at most every 30 s, or `reflector.backoff.maxMs`;
   * one of a factory begins as soon as the kind is defined, where the definitions may be watched.
   *
   * @default {false: the first list is refused, and the cache keeps its objects}
   */
  readonly optional?: boolean;
  /**
   * Lists the objects every so many milliseconds in place of a watch, for kinds that have none, such as `PodMetrics`:
   * at least 1,000. Events, listers and indexes are the same.
   *
   * - A change is seen up to `pollMs` late, as the newest state: states in between, and an object that was deleted and
   *   made again with the same content, are never seen.
   * - Objects without a version are compared by their content, without `timestamp`, `window` and creationTimestamp: the
   *   cached times are those of the last change of the rest. `event.resourceVersion`, `status()` and `waitForVersion()`
   *   have versions of their own then: the times of the lists, in milliseconds since 1970.
   * - Each list is complete: the cost for the server is that of `kubectl get` every `pollMs`, and one text of each
   *   object without a version is kept for the comparison.
   * - Such an informer has no shard and no snapshot.
   *
   * @default {the objects are watched}
   */
  readonly pollMs?: number;
  /**
   * Called with each error that does not reject a wait: failed lists and watches, handlers, broken objects. Its return
   * value is ignored.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown) => unknown;
  /**
   * The parts that a factory gives an informer: the limit that its caches share, and what finds the namespaces of a
   * client that may read these. Then the source is that of all namespaces.
   *
   * @internal
   */
  readonly [internals]?: { readonly budget?: MemoryBudget; readonly finder?: NamespaceFinder<T> };
}

/** The namespaces whose labels match. */
export interface NamespacesByLabel {
  /** A label selector: `"team=a"`. */
  readonly labels: string;
}

/** The part of a collection that an informer of a factory caches. */
export interface CachedSelection extends Omit<Selection, "namespaces"> {
  /**
   * - Several namespaces by name: each is listed and watched by itself.
   * - Those that have labels: one list and watch of all namespaces, of which the objects of others are dropped before
   *   they are decoded. A namespace whose labels match from now on is listed by itself, while the watch waits, and
   *   nothing else is listed again. The client needs the rights to list and watch the kind in all namespaces, and
   *   namespaces themselves.
   * - `"readable"`: those in which the client may list and watch the kind, as `readableNamespaces()` finds them, each
   *   by itself; where it may do so in all namespaces at once, one list and watch of all. The server is asked at the
   *   start, after each answer 403, and each minute, or less often where that takes longer than 3 s. So a right that is
   *   granted is seen within about a minute. One that is withdrawn is seen as soon, or when the watch of all namespaces
   *   ends, within 4 minutes. A namespace that comes is listed by itself, and nothing else is listed again, but all at
   *   once where all may be read from then on. While none may be read, the informer is `forbidden`.
   *
   * The objects of a namespace that goes are deleted with `event.reason` `"moved"`. Where namespaces come and go, an
   * informer has no snapshots and no durable checkpoints.
   */
  readonly namespaces?: readonly string[] | NamespacesByLabel | "readable";
}

/** Options of a {@linkcode SharedInformerFactory}: the defaults of its informers. */
export interface SharedInformerFactoryOptions extends CachedSelection, CacheOptions {
  /**
   * Called with each error that does not reject a wait, and with the resource that it concerns. Its return value is
   * ignored.
   *
   * @default {as for a `SharedIndexInformer`; a cause that several informers share is written once}
   */
  readonly onError?: (error: unknown, resource: Resource) => unknown;
  /**
   * The time from the disposal of the last holder of an acquired informer to the end of its watch, in milliseconds;
   * `Infinity` is never.
   *
   * @default {30_000}
   */
  readonly idleTimeoutMs?: number;
  /**
   * The time from the end of that watch to the end of the cache, in milliseconds; `Infinity` is never. A server keeps
   * the versions of 5 minutes at least, so a watch that is resumed within that time needs no list.
   *
   * @default {300_000}
   */
  readonly cacheTtlMs?: number;
  /**
   * The bytes that all caches may hold: texts and indexes, as they are counted by each write. Memory of the process is
   * a multiple of them, see the guide to lean caches.
   *
   * - At 80 % `onError` receives a `MemoryWarning`, which names the largest caches and their largest fields.
   * - Above 100 % the list or watch that makes a cache grow ends by a `MemoryLimitError`. A list counts what it stages.
   *   The cache stays readable, and is `stale`; `waitForCacheSync()` of a first list rejects, unless it is `patient`.
   *   Caches that do not grow are not touched.
   * - Below 70 % what has ended is listed again, after a random wait. A list that did not fit waits until more is
   *   free than it had staged, or for 5 to 10 minutes. A cache that is too large alone stays stale until `maxBytes` is
   *   raised, see `SharedInformerFactory.maxBytes`.
   *
   * @default {nothing is counted, and there is no limit}
   */
  readonly maxBytes?: number;
  /**
   * Keeps the caches beyond the life of the process. An informer begins with the snapshot of its cache, if there is
   * one: it can be read before any request, is `stale` until its watch has resumed, and lists only where the server has
   * the version of the snapshot no longer, or not its objects, for which it is asked. Snapshots are written while the
   * caches change, and when an informer stops, so dispose the factory. Those that cannot be used or written are
   * reported. Caches with the data of Secrets are left out, unless `secretData` is `"keep"`.
   *
   * A snapshot is of one resource and selection, which its name says, and of the server's address, or of `cluster`.
   *
   * @default {nothing is kept}
   */
  readonly snapshots?: FactorySnapshots;
}

/** The shortest time between two consistency checks, in milliseconds. */
const MIN_CHECK_MS = 60_000;

/** The shortest time between two lists of a polled kind, in milliseconds. */
const MIN_POLL_MS = 1_000;

/** The options that exclude each other. */
type PollOptions = { readonly pollMs?: number; readonly shard?: unknown };

/** The defaults of {@linkcode CacheOptions}. */
export const CACHE_DEFAULTS: Required<Omit<CacheOptions, "reflector" | "consistencyCheck" | "cluster">> = {
  managedFields: "drop",
  secretAnnotations: [],
  parse: "lazy",
  freeze: false,
  resyncMs: 0,
  graceMs: 10_000,
};

/**
 * Returns the options, with the defaults for those that are not set.
 *
 * @throws {RangeError} when a duration is out of range.
 */
export function withCacheDefaults<O extends CacheOptions & PollOptions>(options: O): O & typeof CACHE_DEFAULTS {
  const filled = { ...CACHE_DEFAULTS, ...defined(options) } as O & typeof CACHE_DEFAULTS;
  checkDurations("create an informer", { resyncMs: filled.resyncMs, graceMs: filled.graceMs });
  checkNames("check an informer regularly", options.consistencyCheck, "intervalMs");
  checkDurations("create an informer", { "consistencyCheck.intervalMs": options.consistencyCheck?.intervalMs }, {
    min: MIN_CHECK_MS,
  });
  checkDurations("create an informer", { pollMs: options.pollMs }, { min: MIN_POLL_MS, finite: true });
  if (options.pollMs !== undefined && options.shard !== undefined) {
    throw new TypeError(
      `Cannot create an informer: "shard" and "pollMs" (${options.pollMs}) cannot be combined, because a shard needs a ` +
        "watch. Remove one of them",
    );
  }
  return filled;
}

/** The options of an informer, whatever its objects and indexes. */
export type AnyOptions = CachedSelection & SharedIndexInformerOptions<KubernetesObject, string> & {
  readonly fields?: readonly string[];
};

const CACHE = "parse freeze resyncMs reflector graceMs consistencyCheck managedFields secretAnnotations";

const SELECTION = "namespaces namespace labelSelector fieldSelector";

/** The options of an informer, for `checkNames`. */
export const INFORMER_OPTIONS =
  `${CACHE} cluster indexers transform secretData shard deliverUnchanged optional pollMs onError` as const;

/** The options of an informer of a factory, for `checkNames`. */
export const PLACED_OPTIONS = `${INFORMER_OPTIONS} ${SELECTION} fields` as const;

/** The options that factories and sets of clusters have, for `checkNames`. */
export const FACTORY_OPTIONS = `${CACHE} ${SELECTION} onError idleTimeoutMs cacheTtlMs maxBytes snapshots` as const;

/**
 * The type of the objects that an informer of `Resource<T>` caches:
 *
 * - with the option `fields`, whose paths are `P`, the objects have only these fields, see `onlyFields()`;
 * - Secrets have no data, unless the option `secretData`, whose type is `D`, is `"keep"`;
 * - otherwise the objects are complete.
 *
 * In a generic function the compiler does not know whether `T` is a Secret. Name the informer's objects `Cached<T>`
 * there, or give `secretData: "keep"`, with which they are `T`.
 */
export type Cached<T extends KubernetesObject, P extends readonly string[] = never, D = undefined> = [P] extends [never]
  ? D extends "keep" ? T : T extends SecretLike ? WithoutData<T> : T
  : Picked<T, P>;

/** The options of `forResource()` and `acquire()`. Functions among them receive the objects that are cached. */
export type CachedOptions<T extends KubernetesObject, Name extends string, P extends readonly string[], D> =
  & CachedSelection
  & SharedIndexInformerOptions<Cached<T, P, D>, Name>
  & {
    /** This option also decides whether the type of Secrets has the data. */
    readonly secretData?: D;
    /** The paths of the fields that are kept, as in `onlyFields`: `["spec.nodeName", "spec.containers.image"]`. */
    readonly fields?: P;
  }
  // Not `P & FieldPaths<T, P>`: of an optional union of lists, the compiler would infer the first list as P.
  & { readonly fields?: FieldPaths<T, P> };
