import type { Change, WatchEvent } from "../api/lister_watcher.ts";
import {
  CredentialsError,
  DecodeError,
  isExpired,
  isForbidden,
  isNotFound,
  isOlder,
  isUnauthorized,
  retryAfterMs,
  StatusError,
  UnreachableError,
} from "../api/status.ts";
import {
  WATCH_GRACE_MS,
  type WatchOptions,
  WatchRenewal,
  watchTimeoutError,
  watchTimeoutSeconds,
} from "../api/options.ts";
import { backoffMs, checkBackoff, monotonicMs, sleep, TimeLimit, unreachableBackoffMs } from "../async/time.ts";
import { DerivedController } from "../async/signals.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import type { FollowOptions } from "./resource_client.ts";

/** The shortest time between the beginnings of two attempts (client-go `tools/watch/retrywatcher.go`). */
const MIN_PERIOD_MS = 1_000;

/** A watch that stayed open this long was healthy, even without an event. */
const HEALTHY_MS = 10_000;

/** The number of deleted objects that are remembered, to recognize a deletion that is sent again. */
const DELETIONS = 1_000;

/** Status codes of temporary refusals: a request timeout, a conflict, too many requests. */
const TEMPORARY = [408, 409, 429];

/** Opens one watch, as `ResourceClient.watchChanges` does: its first batch is empty and says that the watch is open. */
type OpenWatch<T> = (options: WatchOptions) => AsyncIterable<readonly Change<T>[]>;

/**
 * Checks the options of a watch that resumes.
 *
 * @throws {TypeError} when `resourceVersion` is missing, or `sendInitialEvents` is given.
 * @throws {RangeError} when `resourceVersion` is no version from which a watch can resume.
 */
export function checkRetryWatch(what: string, options: FollowOptions): void {
  const { resourceVersion, sendInitialEvents } = options;
  if (resourceVersion === undefined) {
    throw new TypeError(
      `Cannot follow "${what}": resourceVersion is missing; list first, and follow from the version of the list`,
    );
  }
  if (resourceVersion === "" || resourceVersion === "0") {
    throw new RangeError(
      `Cannot follow "${what}": resourceVersion is "${resourceVersion}", from which no watch can resume; list first, and ` +
        `follow from the version of the list`,
    );
  }
  if (sendInitialEvents !== undefined) {
    throw new TypeError(
      `Cannot follow "${what}": sendInitialEvents lists anew, and a retried watch resumes; use watch`,
    );
  }
}

/**
 * Yields the events of one watch after the other, as `ResourceClient.follow` promises. When `signal` aborts, the
 * iteration rejects with its reason.
 */
export async function* retryWatch<T>(
  what: string,
  open: OpenWatch<T>,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const reporter = new ConsoleReporter();
  const report = (error: unknown): void => reporter.report(`watch of "${what}"`, error);
  const { backoff = {}, onInterrupted = report, ...watchOptions } = options;
  checkBackoff(backoff);
  /** Failures in a row, without an event between them. */
  let failures = 0;
  const position: Position = { version: options.resourceVersion ?? "", deleted: new Set() };
  /** The last version before something unreadable. */
  let unreadableAt: string | undefined;
  for (;;) {
    const startedMs = monotonicMs();
    let opened = false;
    const periodMs = (): number => MIN_PERIOD_MS - (monotonicMs() - startedMs);
    let delayMs: number;
    try {
      const timeoutSeconds = options.timeoutSeconds ?? watchTimeoutSeconds();
      const attempt = { ...watchOptions, resourceVersion: position.version, allowBookmarks: true, timeoutSeconds };
      for await (const batch of limited(what, open, attempt, signal)) {
        opened = true;
        if (batch.length > 0) failures = 0;
        for (const event of unseen(what, batch, position)) {
          if (event.type !== "BOOKMARK" || options.allowBookmarks) yield event;
        }
      }
      delayMs = periodMs();
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error, opened, position.version === unreadableAt)) throw error;
      if (opened && error instanceof DecodeError) unreadableAt = position.version;
      if (opened && monotonicMs() - startedMs >= HEALTHY_MS) failures = 0;
      const isRenewal = error instanceof WatchRenewal;
      const askedMs = error instanceof StatusError ? retryAfterMs(error.status) ?? 0 : 0;
      const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
      delayMs = Math.max(isRenewal ? 0 : waitMs(failures++, backoff), askedMs, periodMs());
      if (!isRenewal) onInterrupted(error, delayMs);
    }
    if (delayMs > 0) await sleep(delayMs, { signal });
  }
}

/** The position of the caller in the sequence of changes. */
interface Position {
  /** The version at which the next watch resumes. */
  version: string;
  /** The uids (or keys) of the objects whose last yielded event is a deletion; the latest thousand of them. */
  readonly deleted: Set<string>;
}

/**
 * Yields the events of a batch that are new to the caller. The position moves with each event, before it is yielded.
 */
function* unseen<T>(
  what: string,
  batch: readonly Change<T>[],
  position: Position,
): Generator<WatchEvent<T>, void, undefined> {
  for (const change of batch) {
    if (change.type !== "BOOKMARK" && change.entry.key === "" && change.entry.error !== undefined) {
      throw change.entry.error;
    }
    const { resourceVersion: version, key } = change.type === "BOOKMARK" ? { ...change, key: "" } : change.entry;
    if (version === "") {
      throw new DecodeError(`Cannot follow "${what}": "${key}" came without a resourceVersion`, { key });
    }
    const older = isOlder(version, position.version);
    const known = older || version === position.version;
    if (change.type === "BOOKMARK") {
      if (older) continue;
      position.version = version;
      yield change;
      continue;
    }
    const id = change.entry.uid || key;
    // Not every server gives a deletion a version of its own: it may carry one that is known.
    if (known && (change.type !== "DELETED" || position.deleted.has(id))) continue;
    const { object } = change.entry;
    if (!known) position.version = version;
    if (change.type === "DELETED") remember(position.deleted, id);
    else position.deleted.delete(id);
    yield { type: change.type, object };
  }
}

function remember(deleted: Set<string>, id: string): void {
  for (const oldest of deleted) {
    if (deleted.size < DELETIONS) break;
    deleted.delete(oldest);
  }
  deleted.add(id);
}

/**
 * Yields the batches of one watch, and fails when the watch stays open 10 s longer than it was requested: the
 * connection may be dead, which TCP may take hours to notice. The time that the caller takes does not count towards
 * these 10 s.
 */
async function* limited<T>(
  what: string,
  open: OpenWatch<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Change<T>[], void, undefined> {
  const { timeoutSeconds = 0 } = options;
  // With 0 the server uses its own timeout, which is not known here.
  const limitMs = timeoutSeconds === 0 ? Infinity : timeoutSeconds * 1_000 + WATCH_GRACE_MS;
  using controller = new DerivedController(signal);
  using limit = new TimeLimit(() => controller.abort(watchTimeoutError(`follow "${what}"`, timeoutSeconds)), limitMs);
  for await (const batch of open({ ...options, signal: controller.signal })) {
    limit.pause();
    yield batch;
    limit.resume(WATCH_GRACE_MS);
  }
}

/**
 * Returns true if another attempt would fail too, or would hide something from the caller. An unreadable event may have
 * been damaged on its way; `again` says that it was unreadable twice.
 */
function isFinal(error: unknown, opened: boolean, again: boolean): boolean {
  if (error instanceof UnreachableError || error instanceof CredentialsError) return false;
  if (error instanceof DecodeError) return opened && again;
  if (!(error instanceof StatusError)) return true;
  const { code } = error.status;
  if (isExpired(error) || isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  return !opened && code >= 300 && code < 500 && !TEMPORARY.includes(code);
}
