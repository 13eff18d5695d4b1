import { type BackoffOptions, checkBackoff } from "../async/time/backoff.ts";
import { checkDurations } from "../async/time/duration.ts";
import type { ReflectorPhase } from "./phase.ts";
import type { ObserveRequest } from "./request_observer.ts";

/** Options for `Reflector`. */
export interface ReflectorOptions {
  /** The number of objects to a page of a list. @default {500} */
  readonly pageSize?: number;
  /**
   * Lists over the watch (a streaming list; Kubernetes 1.32 and later) take the server less memory, and some 1.5 times as long
   * as pages. `"auto"` falls back to pages where the server refuses streaming lists or does not complete them; `"on"` does
   * not. @default {"auto"}
   */
  readonly streamingList?: "auto" | "on" | "off";
  /**
   * The duration that is requested for a watch, in milliseconds: a random time between this and 1.8 times it. A watch
   * that stays open 10 s longer is given up, and resumed. `Infinity` leaves the duration to the server; then a dead
   * connection is not noticed. @default {120_000}
   */
  readonly watchTimeoutMs?: number;
  /**
   * The longest wait of a list for its first or next object, in milliseconds; `Infinity` is no limit. @default {70_000}
   */
  readonly listIdleMs?: number;
  /**
   * The longest wait of a streaming list for its next object or its end, in milliseconds. In total it may take three times as
   * long, and 2 ms more for each object; then pages are requested. `Infinity` is no limit. @default {20_000}
   */
  readonly initialEventsTimeoutMs?: number;
  /** The period after which the store re-delivers every cached object, in milliseconds; 0 and `Infinity` are never. @default {0} */
  readonly resyncMs?: number;
  /**
   * Waits after failures in a row. While the server does not answer, the first eight are 0.5 to 1 s (`initialMs` and its
   * jitter where that is given), later ones at most 5 s, or `maxMs` if that is less.
   */
  readonly backoff?: BackoffOptions;
  /**
   * The longest wait before the request after a lost connection, or after a watch that the server ended before its time, in
   * milliseconds. The wait is random, so that clients do not reconnect all at once. @default {700}
   */
  readonly reconnectMs?: number;
  /** Called with each phase as it is entered. */
  readonly onPhase?: (phase: ReflectorPhase) => void;
  /** Observes each list and watch: `observeRequests` of `./otel` makes spans of them. @default {nothing is observed} */
  readonly observe?: ObserveRequest;
  /**
   * Called with each error that does not end a phase: an object that has no key, a resync that failed. An error that it
   * throws is reported as an uncaught error, and changes nothing else.
   *
   * @default {each new cause is written to the console, in one line; an informer reports to its own `onError` in any case}
   */
  readonly onError?: (error: unknown) => unknown;
}

/** Checked options with their defaults. */
export type ReflectorSettings = Omit<ReflectorOptions, keyof typeof DEFAULTS> & Required<typeof DEFAULTS>;

const DEFAULTS = {
  pageSize: 500,
  streamingList: "auto" as NonNullable<ReflectorOptions["streamingList"]>,
  watchTimeoutMs: 120_000,
  listIdleMs: 70_000,
  initialEventsTimeoutMs: 20_000,
  resyncMs: 0,
  reconnectMs: 700,
  backoff: {} as BackoffOptions,
};

/** Fills in the defaults. @throws {RangeError} when an option is out of range. */
export function checkReflectorOptions(options: ReflectorOptions): ReflectorSettings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings: ReflectorSettings = { ...DEFAULTS, ...Object.fromEntries(given) };
  const { pageSize, watchTimeoutMs, listIdleMs, initialEventsTimeoutMs, resyncMs, reconnectMs } = settings;
  const action = "create a reflector";
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new RangeError(`Cannot ${action}: pageSize must be a positive integer, found ${pageSize}`);
  }
  checkDurations(action, { watchTimeoutMs }, { min: 1 });
  checkDurations(action, { listIdleMs, initialEventsTimeoutMs }, { min: 1 });
  checkDurations(action, { resyncMs });
  checkDurations(action, { reconnectMs }, { finite: true });
  checkBackoff(settings.backoff);
  return settings;
}
