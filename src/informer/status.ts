import type { KubernetesObject } from "../api/object.ts";
import type { CollectionSync } from "./sync/collection_sync.ts";
import type { InformerState, NamespaceStatus } from "./sync/state.ts";
import type { ReflectorCounters } from "../reflector/counters.ts";
import type { CheckResult } from "./sync/check_result.ts";
import type { HandlerStatus } from "./events/processor.ts";

/** The status of an informer at one moment. */
export interface InformerStatus {
  /** The state; of several namespaces, the worst one: the last in the order of `InformerState`. */
  readonly state: InformerState;
  /** The time at which it entered that state. */
  readonly since: Date;
  /** The error behind the state, when something is wrong. */
  readonly cause?: unknown;
  /** The time since which it is not `live`; unset while it is live and before it was started. */
  readonly notLiveSince?: Date;
  /**
   * The age of the cache, in milliseconds: the time since `notLiveSince`, once the cache has synced. Unset while it is live.
   */
  readonly staleMs?: number;
  /** The time of the next request, while it backs off; of several namespaces, the earliest. */
  readonly retryAt?: Date;
  /** The version up to which the cache has everything, `""` before the first list; of several namespaces, the oldest. */
  readonly resourceVersion: string;
  /** The status of each namespace, for an informer of several. */
  readonly namespaces?: readonly NamespaceStatus[];
  /** The number of cached objects. */
  readonly objects: number;
  /** The progress of a running list: objects received, and objects left where the server says. */
  readonly listing?: { readonly objects: number; readonly remaining?: number };
  /** The time at which the last byte came from the server. */
  readonly lastByteAt?: Date;
  /** The time of the last bookmark. */
  readonly lastBookmarkAt?: Date;
  /**
   * The time since which its watch has been silent: when it last sent an event or a bookmark, or was opened; of several namespaces,
   * the earliest. Unset while none watches. A watch that stays silent is renewed, see `Client`.
   */
  readonly silentSince?: Date;
  /** The number of changes received. */
  readonly events: number;
  /** The number of lists begun, without streaming lists. */
  readonly lists: number;
  /** The number of lists that have replaced the contents of the cache, streaming lists included; a restore counts as one. */
  readonly completedLists: number;
  /** The number of watches begun, streaming lists included. */
  readonly watches: number;
  /** The number of relists begun within the last minute. */
  readonly recentRelists: number;
  /** The number of watches begun within the last minute that resumed at the version of the one before. */
  readonly recentResumes: number;
  /** The end of the last watch: time, reason, and error if there was one. Unset before a watch has ended. */
  readonly lastWatchEnd?: { readonly at: Date; readonly reason: string; readonly error?: unknown };
  /** The number of errors: failed lists and watches, handlers, filters, index functions, transforms, broken objects. */
  readonly errors: number;
  /** The number of cached objects that are known to be unreadable. */
  readonly quarantined: number;
  /** The number of changes that were dropped because the cached object was newer. */
  readonly outdated: number;
  /** The number of objects that consistency checks have found to differ from the server. */
  readonly differences: number;
  /** The result of the last consistency check, and the time of its end. Unset before the first. */
  readonly lastCheck?: CheckResult & { readonly at: Date };
  /** The status of each handler and event stream. */
  readonly handlers: readonly HandlerStatus[];
}

/** Returns the part of an informer's status that its lists and watches determine, with the number of its cached objects. */
export function syncStatus<T extends KubernetesObject>(
  sync: CollectionSync<T>,
  objects: number,
): Omit<InformerStatus, "errors" | "quarantined" | "outdated" | "differences" | "lastCheck" | "handlers"> {
  const { state, since, cause, notLiveSince, retryAt } = sync.state;
  const silentSince = Math.min(
    ...sync.parts.flatMap((part) => part.state.state === "live" ? part.counters.lastByteAt : []),
  );
  return {
    state,
    since,
    ...(cause === undefined ? {} : { cause }),
    ...(notLiveSince === undefined ? {} : { notLiveSince }),
    ...(notLiveSince === undefined || !sync.hasSynced ? {} : { staleMs: Date.now() - notLiveSince.getTime() }),
    ...(retryAt === undefined ? {} : { retryAt }),
    resourceVersion: sync.resourceVersion,
    ...(sync.parts.length === 1 ? {} : { namespaces: sync.parts.map(({ status }) => status) }),
    objects,
    ...(silentSince === Infinity ? {} : { silentSince: new Date(silentSince) }),
    ...totalOf(sync.parts.map(({ counters }) => counters)),
  };
}

/** Adds up the counters of several reflectors. */
function totalOf(
  all: readonly ReflectorCounters[],
): Pick<
  InformerStatus,
  | "listing"
  | "lastByteAt"
  | "lastBookmarkAt"
  | "events"
  | "lists"
  | "completedLists"
  | "watches"
  | "recentRelists"
  | "recentResumes"
  | "lastWatchEnd"
> {
  const sum = (of: (counters: ReflectorCounters) => number): number => all.reduce((total, it) => total + of(it), 0);
  const lastByteAt = Math.max(...all.map((it) => it.lastByteAt));
  const lastBookmarkAt = Math.max(...all.map((it) => it.lastBookmarkAt));
  const ends = all.flatMap(({ lastWatchEnd }) => lastWatchEnd ?? []);
  const lastEnd = ends.reduce((a, b) => b.at > a.at ? b : a, ends[0]);
  const remaining = all.some((it) => it.remaining !== undefined);
  const listing = all.some((it) => it.listed !== undefined) && {
    objects: sum((it) => it.listed ?? 0),
    ...(remaining ? { remaining: sum((it) => it.remaining ?? 0) } : {}),
  };
  return {
    ...(listing ? { listing } : {}),
    ...(lastByteAt === 0 ? {} : { lastByteAt: new Date(lastByteAt) }),
    ...(lastBookmarkAt === 0 ? {} : { lastBookmarkAt: new Date(lastBookmarkAt) }),
    events: sum((it) => it.events),
    lists: sum((it) => it.lists),
    completedLists: sum((it) => it.completedLists),
    watches: sum((it) => it.watches),
    recentRelists: sum((it) => it.recentRelists),
    recentResumes: sum((it) => it.recentResumes),
    ...(lastEnd === undefined ? {} : { lastWatchEnd: { ...lastEnd, at: new Date(lastEnd.at) } }),
  };
}
