/**
 * Questions to the server about its present state, beside list and watch.
 *
 * {@linkcode snapshotMismatch} asks whether it has the objects of a snapshot, and {@linkcode reachNewest} for its
 * version. Each is a list of metadata that changes no cache.
 *
 * @module
 */
import type { ListOptions } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import type { IdentitySource, ListerWatcher, ListPart } from "../../api/lister_watcher.ts";
import { type ObjectKey, splitKey } from "../../api/object.ts";
import { isOlder, isResourceVersion, isTooLargeResourceVersion, StatusError, statusMessage } from "../../api/status.ts";
import { ReadAhead } from "../../async/iterate.ts";
import { backoffMs, sleep, timedController } from "../../async/time.ts";

/** A part of a cache that was restored from a snapshot. */
interface RestoredPart {
  /** The restored objects. */
  readonly entries: readonly CacheEntry<unknown>[];
  /** The version of the snapshot. */
  readonly version: string;
  /** Returns the key that the server has for an entry. */
  readonly originalKey: (entry: CacheEntry<unknown>) => ObjectKey;
}

/** The longest wait, in milliseconds. A server that has not reached a version says so after 3 s. */
const WAIT_MS = 5_000;

/** The number of newest objects that are asked for: those that expire do so in their order. */
const NEWEST = 3;

/** The number of oldest objects that are asked for then: those that have not changed for long may stay. */
const OLDEST = 2;

/**
 * Returns why restored objects are not known to be those of the server; `undefined` if one of them is, or there are
 * none. A watch from a version that a server has not reached is silent, and one of another history misses changes.
 *
 * The server is asked for one object after the other, by lists of its metadata alone, until it has one: the newest
 * first, as objects that expire do so in their order. One that answers 400 cannot read the version, which is none of
 * its own. Another refusal, a server that cannot be reached, and one that takes longer than 5 s do not answer the
 * question, and count as `undefined`.
 */
export async function snapshotMismatch(
  { entries, version, originalKey }: RestoredPart,
  identities: IdentitySource,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const asked = sampleOf(entries);
  using job = timedController(WAIT_MS, "The server takes too long", signal);
  try {
    for (const entry of asked) {
      const key = originalKey(entry);
      const list = { resourceVersion: version, resourceVersionMatch: "NotOlderThan", signal: job.signal } as const;
      const found = await readOne(identities, splitKey(key), list);
      if (found?.uid === entry.uid) return undefined;
      if (found !== undefined && (isOlder(found.resourceVersion, version) || found.resourceVersion === version)) {
        return `its "${key}" is another object. Check whether the cluster was created again, or restored from a backup`;
      }
    }
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) {
      return `it cannot read version ${JSON.stringify(version)}: ${
        statusMessage(error.status)
      }. Check whether somebody changed the snapshot`;
    }
    if (!isTooLargeResourceVersion(error)) return undefined;
    return `it has not reached version ${version}. Check whether the cluster was created again, or restored from a backup`;
  }
  if (asked.length === 0) return undefined;
  const keys = asked.map((entry) => `"${originalKey(entry)}"`).join(", ");
  return `it has none of ${keys}. Check whether they were deleted, or the cluster was created again`;
}

/** Returns the object of a name as a list shows it, to which the selectors of the source apply. */
export async function readOne<T>(
  source: { listEntries(options: ListOptions): AsyncIterable<ListPart<T>> },
  { namespace, name }: { readonly namespace?: string; readonly name: string },
  { signal, ...list }: ListOptions,
): Promise<CacheEntry<T> | undefined> {
  const page = new ReadAhead((signal) =>
    source.listEntries({
      ...list,
      signal,
      ...(namespace ? { namespace } : {}),
      fieldSelector: `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`,
    }), signal);
  let found: CacheEntry<T> | undefined;
  for (let part; (part = await page.next()) !== undefined;) found ??= part.entries.find(({ key }) => key !== "");
  return found;
}

/** Returns the newest entries, and then the oldest. */
function sampleOf(entries: readonly CacheEntry<unknown>[]): readonly CacheEntry<unknown>[] {
  const newest = firstOf(entries, NEWEST, (a, b) => isOlder(b.resourceVersion, a.resourceVersion));
  const oldest = firstOf(entries, OLDEST, (a, b) => isOlder(a.resourceVersion, b.resourceVersion));
  return [...new Set([...newest, ...oldest])];
}

/** Returns the first `count` entries in the order of `isBefore`. */
function firstOf(
  entries: readonly CacheEntry<unknown>[],
  count: number,
  isBefore: (a: CacheEntry<unknown>, b: CacheEntry<unknown>) => boolean,
): CacheEntry<unknown>[] {
  const first: CacheEntry<unknown>[] = [];
  for (const entry of entries) {
    const place = first.findIndex((other) => isBefore(entry, other));
    first.splice(place === -1 ? first.length : place, 0, entry);
    first.length = Math.min(first.length, count);
  }
  return first;
}

/** A part of a cache that follows its server. */
interface FollowingPart {
  readonly source: ListerWatcher<unknown>;
  /** The version reached, and the waits for one. */
  readonly gate: { wait(version: string, options: { readonly signal: AbortSignal }): Promise<void> };
  /** Resolves after the first list or restore. */
  waitForSync(options: { readonly patient: boolean; readonly signal: AbortSignal }): Promise<void>;
}

/**
 * Resolves once a part has reached the version that its server had after the call. Requests that fail are reported, and
 * sent again; so is one whose version a server that went back does not reach.
 */
export async function reachNewest(
  part: FollowingPart,
  signal: AbortSignal,
  report: (error: unknown) => void,
): Promise<void> {
  const { source, gate } = part;
  for (let failures = 0;; failures++) {
    try {
      const page = new ReadAhead((signal) => (source.identities ?? source).listEntries({ limit: 1, signal }), signal);
      let version = "";
      for (let list; (list = await page.next()) !== undefined;) version ||= list.resourceVersion ?? "";
      await part.waitForSync({ patient: true, signal });
      if (isResourceVersion(version)) await gate.wait(version, { signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      report(error);
    }
    await sleep(backoffMs(failures, {}), { signal });
  }
}
