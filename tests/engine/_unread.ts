import type { CacheEntry, Identity } from "../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../src/engine/api/object.ts";
import { unreadEntry } from "../../src/engine/entry/entry.ts";
import { frozenEntry } from "../../src/engine/entry/entry_around.ts";
import { SharedParts } from "../../src/engine/entry/shared_parts.ts";

export const IDENTITY: Identity = { key: "shop/cart-0", namespace: "shop", uid: "u-1", resourceVersion: "7" };
export const METADATA =
  `{"name":"cart-0","namespace":"shop","uid":"u-1","resourceVersion":"7","labels":{"app":"cart"}}`;
export const TEXT = `{"kind":"Pod","metadata":${METADATA},"spec":{"containers":[{"name":"app"}]}}`;

export interface Thing extends KubernetesObject {
  readonly spec: { readonly containers: { name: string }[] };
}

/**
 * An entry of `text` with the positions of `metadata` and `labels` in it; `""` says that there are no labels, undefined
 * leaves their position out.
 */
export function unread(text: string | Uint8Array = TEXT, metadata = METADATA, labels?: string): CacheEntry<Thing> {
  const all = typeof text === "string" ? text : new TextDecoder().decode(text);
  const length = (part: string): number =>
    typeof text === "string" ? part.length : new TextEncoder().encode(part).length;
  const start = length(all.slice(0, all.indexOf(metadata)));
  const end = start + length(metadata);
  if (labels === undefined) return unreadEntry<Thing>(IDENTITY, text, start, end);
  const labelsStart = start + length(metadata.slice(0, metadata.indexOf(labels)));
  return unreadEntry<Thing>(IDENTITY, text, start, end, labelsStart, labelsStart + length(labels));
}

/** The entry, whose object is frozen when it is read, and shares its parts with no other. */
export function asFrozen<T extends KubernetesObject>(entry: CacheEntry<T>): CacheEntry<T> {
  return frozenEntry(entry, new SharedParts(() => true));
}

/** Counts the calls of JSON.parse while `act` runs, and collects their texts. */
export function parses(act: () => void, texts: string[] = []): number {
  const original = JSON.parse;
  let count = 0;
  JSON.parse = (text: string): unknown => {
    count++;
    texts.push(text);
    return original(text);
  };
  try {
    act();
  } finally {
    JSON.parse = original;
  }
  return count;
}
