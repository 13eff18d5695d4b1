import type { InformerState, NamespaceStatus } from "./sync/state.ts";
import type { ReflectorCounters } from "../reflector/counters.ts";
import type { HandlerStatus } from "./events/processor.ts";

/** What is true of an informer right now. */
export interface InformerStatus {
  /** How it is doing; of several namespaces, the one that is doing worst: the latest in the order of `InformerState`. */
  readonly state: InformerState;
  /** Since when it is in that state. */
  readonly since: Date;
  /** Why, when something is wrong. */
  readonly cause?: unknown;
  /** Since when it is not `live`; none while it is, or before it was started. */
  readonly notLiveSince?: Date;
  /** When it next asks the server, while it waits for that. Of several namespaces, the first to ask. */
  readonly retryAt?: Date;
  /** The version up to which the cache has everything; `""` before the first list. Of several namespaces, the oldest. */
  readonly resourceVersion: string;
  /** How each namespace is doing, when it follows several. */
  readonly namespaces?: readonly NamespaceStatus[];
  /** How many objects are cached. */
  readonly objects: number;
  /** How far a list under way has come, and how many objects it still has to bring, where the server says. */
  readonly listing?: { readonly objects: number; readonly remaining?: number };
  /** When the server last said anything. */
  readonly lastByteAt?: Date;
  /** When the server last said how far it is. */
  readonly lastBookmarkAt?: Date;
  /** Changes the server has told. */
  readonly events: number;
  /** Lists begun, not counting those that came over a watch. */
  readonly lists: number;
  /** Watches begun, those that bring a list too. */
  readonly watches: number;
  /** Lists begun within the last minute, without the first one. */
  readonly recentRelists: number;
  /** Watches of the last minute that resumed where the one before had ended. */
  readonly recentResumes: number;
  /** When and why the last watch ended, with its error if there was one; none before one has. */
  readonly lastWatchEnd?: { readonly at: Date; readonly reason: string; readonly error?: unknown };
  /** What went wrong so far: failed lists and watches, handlers, filters, index functions, transforms, objects. */
  readonly errors: number;
  /** Cached objects known to be unreadable. */
  readonly quarantined: number;
  /** Changes that were older than what was cached, and were passed over. */
  readonly outdated: number;
  /** Those who are told. */
  readonly handlers: readonly HandlerStatus[];
}

/** What several reflectors have done, as one. */
export function totalOf(
  all: readonly ReflectorCounters[],
): Pick<
  InformerStatus,
  | "listing"
  | "lastByteAt"
  | "lastBookmarkAt"
  | "events"
  | "lists"
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
    watches: sum((it) => it.watches),
    recentRelists: sum((it) => it.recentRelists),
    recentResumes: sum((it) => it.recentResumes),
    ...(lastEnd === undefined ? {} : { lastWatchEnd: { ...lastEnd, at: new Date(lastEnd.at) } }),
  };
}
