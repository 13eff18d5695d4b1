import type { Entry, Identity } from "../../api/entry.ts";
import { isNotFound, isTooLargeResourceVersion } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { pathOf, type Resource } from "../../api/resource.ts";
import { isOlder } from "../../api/resource_version.ts";
import { LongTimer } from "../../async/time/long_timer.ts";

/** A client of the server. */
export interface Fetcher {
  /** Sends a request. Rejects with a `StatusError` when the server refuses it. */
  fetch(path: string, init: RequestInit): Promise<Response>;
}

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
  resource: Resource,
  client: Fetcher,
): Promise<boolean> {
  const oldest = oldestOf(entries);
  const late = new AbortController();
  using timer = new LongTimer(() => late.abort());
  timer.arm(WAIT_MS);
  try {
    for (const entry of oldest) {
      // mutant: restored-uid-ignored
      if (await uidOf(entry, resourceVersion, resource, client, late.signal) === entry.uid) return true;
    }
  } catch (error) {
    // mutant: restored-version-unreached
    return !late.signal.aborted && !isTooLargeResourceVersion(error);
  }
  return oldest.length === 0;
}

/** Returns the uid that the server has of an object, at `resourceVersion` or later; `undefined` if it has no such object. */
async function uidOf(
  { key, namespace }: Pick<Identity, "key" | "namespace">,
  resourceVersion: string,
  resource: Resource,
  client: Fetcher,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = namespace === "" ? key : key.slice(namespace.length + 1);
  const path = `${pathOf(resource, { namespace, name })}?resourceVersion=${resourceVersion}`;
  const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json" };
  try {
    const { metadata } = await (await client.fetch(path, { headers, signal })).json() as KubernetesObject;
    return metadata.uid ?? "";
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
    oldest.splice(place === -1 ? oldest.length : place, 0, entry);
    oldest.length = Math.min(oldest.length, ASKED);
  }
  return oldest;
}
