import type { Change, WatchEvent } from "../api/lister_watcher.ts";
import {
  CredentialsError,
  DecodeError,
  isExpired,
  isForbidden,
  isNotFound,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../api/errors.ts";
import type { WatchOptions } from "../api/options.ts";
import { isOlder } from "../api/resource_version.ts";
import { retryAfterMs } from "../api/status.ts";
import { backoffMs, checkBackoff, unreachableBackoffMs } from "../async/time/backoff.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { sleep } from "../async/time/sleep.ts";
import type { FollowOptions } from "./resource_client.ts";

/** Attempts begin at least so far apart (client-go `tools/watch/retrywatcher.go`). */
const MIN_PERIOD_MS = 1_000;

/** How much longer than the server was asked for a watch may be silent. */
const GRACE_MS = 10_000;

/** A watch that was open for so long was healthy, even if it brought nothing. */
const HEALTHY_MS = 10_000;

/** How many deleted objects are remembered, to recognize a deletion that is sent again. */
const DELETIONS = 1_000;

/** Refusals that pass: a request timeout, a conflict, too many requests. */
const PASSING = [408, 409, 429];

/** Opens one watch, as `ResourceClient.watchChanges` does: its first batch is empty and says that the watch is open. */
export type OpenWatch<T> = (options: WatchOptions) => AsyncIterable<readonly Change<T>[]>;

/**
 * Whether a version is one to go on from.
 *
 * @throws {TypeError | RangeError} when not.
 */
export function checkFollow(what: string, options: FollowOptions): void {
  const { resourceVersion, sendInitialEvents } = options;
  if (resourceVersion === undefined) {
    throw new TypeError(`Cannot follow "${what}": resourceVersion is missing; list first, and follow from the list's`);
  }
  if (resourceVersion === "" || resourceVersion === "0") {
    throw new RangeError(
      `Cannot follow "${what}": resourceVersion is "${resourceVersion}", which is no place to go on from; list first, and ` +
        `follow from the list's`,
    );
  }
  if (sendInitialEvents !== undefined) {
    throw new TypeError(`Cannot follow "${what}": sendInitialEvents begins anew, following goes on; use watch`);
  }
}

/** One watch after the other, as `ResourceClient.follow` promises. `signal` ends it, and the call rejects with its reason. */
export async function* followFrom<T>(
  what: string,
  open: OpenWatch<T>,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { backoff = {}, onInterrupted, ...watchOptions } = options;
  checkBackoff(backoff);
  /** Failures in a row, without an event between them. */
  let failures = 0;
  const place: Place = { version: options.resourceVersion ?? "", deleted: new Set() };
  /** The version behind which something unreadable came. */
  let unreadableAt: string | undefined;
  for (;;) {
    const startedMs = monotonicMs();
    let opened = false;
    const periodMs = (): number => MIN_PERIOD_MS - (monotonicMs() - startedMs);
    let delayMs: number;
    try {
      const timeoutSeconds = options.timeoutSeconds ?? 120 + Math.floor(Math.random() * 101);
      const attempt = { ...watchOptions, resourceVersion: place.version, allowBookmarks: true, timeoutSeconds };
      for await (const batch of limited(what, open, attempt, signal)) {
        opened = true;
        if (batch.length > 0) failures = 0;
        for (const event of unseen(what, batch, place)) {
          if (event.type !== "BOOKMARK" || options.allowBookmarks) yield event;
        }
      }
      delayMs = periodMs();
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error, opened, place.version === unreadableAt)) throw error;
      if (opened && error instanceof DecodeError) unreadableAt = place.version;
      if (opened && monotonicMs() - startedMs >= HEALTHY_MS) failures = 0;
      const askedMs = error instanceof StatusError ? retryAfterMs(error.status) ?? 0 : 0;
      const waitMs = error instanceof UnreachableError ? unreachableBackoffMs : backoffMs;
      delayMs = Math.max(waitMs(failures++, backoff), askedMs, periodMs());
      onInterrupted?.(error, delayMs);
    }
    if (delayMs > 0) await sleep(delayMs, { signal });
  }
}

/** How far the caller has been told. */
interface Place {
  /** The version to watch on from. */
  version: string;
  /** Objects whose deletion was the last that was yielded of them; the latest of these. */
  readonly deleted: Set<string>;
}

/** What is new in a batch. The place moves with each event, before it is told. */
function* unseen<T>(
  what: string,
  batch: readonly Change<T>[],
  place: Place,
): Generator<WatchEvent<T>, void, undefined> {
  for (const change of batch) {
    if (change.type !== "BOOKMARK" && change.entry.key === "" && change.entry.error !== undefined) {
      throw change.entry.error;
    }
    const { resourceVersion: version, key } = change.type === "BOOKMARK" ? { ...change, key: "" } : change.entry;
    if (version === "") {
      throw new DecodeError(`Cannot follow "${what}": "${key}" came without a resourceVersion`, { key });
    }
    const older = isOlder(version, place.version);
    const known = older || version === place.version;
    if (change.type === "BOOKMARK") {
      if (older) continue;
      place.version = version;
      yield change;
      continue;
    }
    const id = change.entry.uid || key;
    // Not every server gives a deletion a version of its own: it may carry one that is known.
    if (known && (change.type !== "DELETED" || place.deleted.has(id))) continue;
    const { object } = change.entry;
    if (!known) place.version = version;
    if (change.type === "DELETED") remember(place.deleted, id);
    else place.deleted.delete(id);
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
 * The batches of one watch, unless the server is silent for longer than it was asked to keep the watch open: then the
 * connection is dead, which TCP may take hours to notice. Time that the caller takes does not count.
 */
async function* limited<T>(
  what: string,
  open: OpenWatch<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Change<T>[], void, undefined> {
  const { timeoutSeconds = 0 } = options;
  using controller = new DerivedController(signal);
  const lost = (): void =>
    controller.abort(
      new UnreachableError(
        `Cannot follow "${what}": nothing came for ${
          GRACE_MS / 1000
        } s after the ${timeoutSeconds} s the watch was to last`,
      ),
    );
  using silence = new LongTimer(lost);
  // Without a timeout the server keeps its own, which nobody here knows.
  const deadlineMs = monotonicMs() + (timeoutSeconds === 0 ? Infinity : timeoutSeconds * 1_000);
  const listen = (): void => silence.arm(Math.max(0, deadlineMs - monotonicMs()) + GRACE_MS);
  listen();
  for await (const batch of open({ ...options, signal: controller.signal })) {
    silence[Symbol.dispose]();
    yield batch;
    listen();
  }
}

/**
 * Whether going on is of no use, or would hide something from the caller. What cannot be read may have been damaged on its
 * way, but not when it comes `again`.
 */
function isFinal(error: unknown, opened: boolean, again: boolean): boolean {
  if (error instanceof UnreachableError || error instanceof CredentialsError) return false;
  if (error instanceof DecodeError) return opened && again;
  if (!(error instanceof StatusError)) return true;
  const { code } = error.status;
  if (isExpired(error) || isUnauthorized(error) || isForbidden(error) || isNotFound(error)) return true;
  return !opened && code >= 300 && code < 500 && !PASSING.includes(code);
}
