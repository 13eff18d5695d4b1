/**
 * Objects that are parsed with shared parts, and entries whose texts are held compactly.
 *
 * {@linkcode parseShared} reads a text as an unread entry of a cache is read.
 *
 * @module
 */
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { unreadEntry } from "../../../src/engine/entry/entry.ts";
import type { SharedParts } from "../../../src/engine/entry/shared_parts.ts";

/** Returns the object of a text, which shares its parts with the version that was read before. */
export function parseShared(parts: SharedParts, key: string, text: string | Uint8Array): unknown {
  const identity = { key, namespace: "shop", uid: "u-1", resourceVersion: "7" };
  const entry = unreadEntry<KubernetesObject>(identity, text, 1, 2);
  entry.share(parts);
  return entry.object;
}
