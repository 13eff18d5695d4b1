/**
 * Watches that resume after each interruption, for `ResourceClient.follow`.
 *
 * {@linkcode retryWatch} is the entry point. It keeps the caller's version, and no objects. After an expired version it
 * throws, whereas an informer lists again.
 *
 * @module
 */
import type { WatchOptions } from "../api/call_options.ts";
import type { WatchChange, WatchEvent } from "../api/lister_watcher.ts";
import {
  CredentialsError,
  DecodeError,
  isExpired,
  isForbidden,
  isNotFound,
  isOlder,
  isRefusedForGood,
  isUnauthorized,
  retryAfterMs,
  StatusError,
  UnreachableError,
} from "../api/status.ts";
import { WATCH_GRACE_MS, WatchRenewal, watchTimeoutError, watchTimeoutSeconds } from "../api/watch_timeout.ts";
import { DerivedController } from "../async/signals.ts";
import { backoffMs, monotonicMs, sleep, TimeLimit, unreachableBackoffMs } from "../async/time.ts";
import { ArgumentError, ValueError } from "../errors/checks.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { checkBackoff } from "../errors/option_names.ts";
import type { FollowOptions } from "./resource_client.ts";

/** The shortest time between the starts of two attempts (client-go `tools/watch/retrywatcher.go`). */
const MIN_PERIOD_MS = 1_000;

/** A watch that stayed open this long was healthy, even without an event. */
const HEALTHY_MS = 10_000;

/** How many deleted objects are remembered, to recognize a deletion that is sent again. */
const DELETIONS = 1_000;

/** Opens one watch like `ResourceClient.watchChanges`: its first batch is empty and means that the watch is open. */
type OpenWatch<T> = (options: WatchOptions) => AsyncIterable<readonly WatchChange<T>[]>;

/**
 * Checks the options for a watch that resumes.
 *
 * @throws {TypeError} if `resourceVersion` is missing, or `sendInitialEvents` is given.
 * @throws {RangeError} if no watch can resume from `resourceVersion`.
 */
export function checkRetryWatch(what: string, options: FollowOptions): void {
  const { resourceVersion, sendInitialEvents } = options;
  const remedy = "List first, and follow from the version of the list";
  if (resourceVersion === undefined) {
    throw new ArgumentError(`Cannot follow "${what}": resourceVersion is missing. ${remedy}`);
  }
  if (resourceVersion === "" || resourceVersion === "0") {
    const problem = `no watch can resume from resourceVersion "${resourceVersion}"`;
    throw new ValueError(`Cannot follow "${what}": ${problem}. ${remedy}`);
  }
  if (sendInitialEvents !== undefined) {
    throw new ArgumentError(
      `Cannot follow "${what}": sendInitialEvents lists again, but a retried watch has to resume. Use watch()`,
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

/** The caller's position in the sequence of changes. */
interface Position {
  /** The version at which the next watch resumes. */
  version: string;
  /** The uids (or keys) of the last thousand objects whose last yielded event is a deletion. */
  readonly deleted: Set<string>;
}

/**
 * Yields the events of a batch that are new to the caller. The position moves with each event, before it is yielded.
 */
function* unseen<T>(
  what: string,
  batch: readonly WatchChange<T>[],
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
    // Not every server gives a deletion a version of its own: it may carry a known version.
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
): AsyncGenerator<readonly WatchChange<T>[], void, undefined> {
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
  if (isExpired(error) || isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  return !opened && isRefusedForGood(error);
}
