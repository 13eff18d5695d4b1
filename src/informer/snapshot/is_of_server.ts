import type { Entry, Identity } from "../../api/entry.ts";
import { isNotFound, isTooLargeResourceVersion } from "../../api/errors.ts";
import { isOlder } from "../../api/resource_version.ts";
import { LongTimer } from "../../async/time/long_timer.ts";

/** Returns the uid of an object, as the server has it at `resourceVersion` or later. @throws {StatusError} as the client does. */
export type GetUid = (
  object: Pick<Identity, "key" | "namespace">,
  resourceVersion: string,
  signal: AbortSignal,
) => Promise<string>;

/** The number of objects that are asked for, until one is found. */
const ASKED = 3;

/**
 * The longest wait, in milliseconds. A server that has not reached a version says so after 3 s, and asks for another request a second
 * later, which a client sends.
 */
const WAIT_MS = 5_000;

/**
 * Returns `false` if restored objects are not those of the server: it has not reached their version within 5 s, or has none of
 * three of them, those that have not changed for the longest time. A watch from a version that a server has not reached is silent.
 *
 * Where there are no objects, or none may be read, or the server cannot be reached, it returns `true`.
 */
export async function isOfServer(
  entries: Iterable<Entry<unknown>>,
  resourceVersion: string,
  getUid: GetUid,
): Promise<boolean> {
  const oldest = oldestOf(entries);
  const late = new AbortController();
  using timer = new LongTimer(() => late.abort());
  timer.arm(WAIT_MS);
  try {
    for (const entry of oldest) {
      // mutant: restored-uid-ignored
      if (await uidOf(() => getUid(entry, resourceVersion, late.signal)) === entry.uid) return true;
    }
  } catch (error) {
    // mutant: restored-version-unreached
    return !late.signal.aborted && !isTooLargeResourceVersion(error);
  }
  return oldest.length === 0;
}

async function uidOf(get: () => Promise<string>): Promise<string | undefined> {
  try {
    return await get();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the entries of the lowest versions. */
function oldestOf(entries: Iterable<Entry<unknown>>): Entry<unknown>[] {
  const oldest: Entry<unknown>[] = [];
  for (const entry of entries) {
    const place = oldest.findIndex((other) => isOlder(entry.resourceVersion, other.resourceVersion));
    if (place === -1 && oldest.length === ASKED) continue;
    oldest.splice(place === -1 ? oldest.length : place, 0, entry);
    oldest.length = Math.min(oldest.length, ASKED);
  }
  return oldest;
}
