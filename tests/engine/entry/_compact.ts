/**
 * Objects that are parsed with shared parts, and entries whose texts are held compactly.
 *
 * {@linkcode parseShared} and {@linkcode holdCompactly} are the entry points.
 *
 * @module
 */
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { type JsonEntry, unreadEntry } from "../../../src/engine/entry/entry.ts";
import type { SharedParts } from "../../../src/engine/entry/shared_parts.ts";
import type { TextTemplates } from "../../../src/engine/entry/text_templates.ts";

/** Returns the object of a text, which shares its parts with the version that was read before. */
export function parseShared(parts: SharedParts, key: string, text: string | Uint8Array): unknown {
  const identity = { key, namespace: "shop", uid: "u-1", resourceVersion: "7" };
  const entry = unreadEntry<KubernetesObject>(identity, text, 1, 2);
  entry.share(parts);
  return entry.object;
}

/** Makes an entry of a cache compact. Returns `true` if it takes fewer bytes than before. */
export function holdCompactly<T extends KubernetesObject>(entry: JsonEntry<T>, templates: TextTemplates): boolean {
  const isSmaller = entry.compact(templates);
  entry.use();
  return isSmaller;
}
