import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import type { Bookmark, ListPart, WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import { keyOf, type KubernetesObject } from "../../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../../src/engine/api/resource.ts";
import { type ApiStatus, reasonOf, StatusError } from "../../../src/engine/api/status.ts";
import { entryOf, unreadEntry } from "../../../src/engine/entry/entry.ts";

/** A kind with as little as tests need. */
export interface Thing extends KubernetesObject {
  readonly spec: { readonly size: number };
}

/** The resource of things. */
export const Thing: Resource<Thing> = defineResource<Thing>({
  group: "acme.dev",
  version: "v1",
  plural: "things",
  kind: "Thing",
});

/** The parts of a thing that a test chooses; the rest is filled in. */
export interface ThingOptions {
  /** `"default"` unless given; `""` makes it cluster-scoped. */
  readonly namespace?: string;
  /** `"uid-<name>"` unless given. */
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** 1 unless given. */
  readonly size?: number;
}

/** The thing `name` at `version`. */
export function thing(name: string, version: number | string, options: ThingOptions = {}): Thing {
  const { namespace = "default", uid = `uid-${name}`, labels, size = 1 } = options;
  return {
    apiVersion: "acme.dev/v1",
    kind: "Thing",
    metadata: {
      name,
      ...(namespace === "" ? {} : { namespace }),
      uid,
      resourceVersion: String(version),
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(labels === undefined ? {} : { labels }),
    },
    spec: { size },
  };
}

/** An entry around {@linkcode thing}. */
export function entry(name: string, version: number | string, options?: ThingOptions): CacheEntry<Thing> {
  return entryOf(thing(name, version, options));
}

/** An entry that is still text, as the client makes them. */
export function unread(name: string, version: number | string, options?: ThingOptions): CacheEntry<Thing> {
  return textEntry(thing(name, version, options), (text) => text);
}

/** An entry whose text is not JSON, which shows when it is first read. */
export function unparsable(name: string, version: number | string, options?: ThingOptions): CacheEntry<Thing> {
  return textEntry(thing(name, version, options), (text) => text.replace('"spec":{', '"spec":{{'));
}

/** An entry around an object without a name: broken from the start, and it has no key. */
export function nameless(version: number | string): CacheEntry<Thing> {
  return entryOf(
    { ...thing("x", version), metadata: { namespace: "default", resourceVersion: String(version) } } as Thing,
  );
}

function textEntry(object: Thing, change: (text: string) => string): CacheEntry<Thing> {
  const { namespace = "", uid, resourceVersion } = object.metadata;
  const text = change(JSON.stringify(object));
  const start = text.indexOf('"metadata":') + '"metadata":'.length;
  const end = text.indexOf(',"spec"');
  const labels = JSON.stringify(object.metadata.labels) ?? "";
  const labelsStart = labels === "" ? 0 : text.indexOf(labels);
  return unreadEntry<Thing>(
    { key: keyOf(object), namespace, uid, resourceVersion },
    text,
    start,
    end,
    labelsStart,
    labelsStart + labels.length,
  );
}

/** An `ADDED`. */
export function added(name: string, version: number | string, options?: ThingOptions): WatchChange<Thing> {
  return { type: "ADDED", entry: entry(name, version, options) };
}

/** A `MODIFIED`. */
export function modified(name: string, version: number | string, options?: ThingOptions): WatchChange<Thing> {
  return { type: "MODIFIED", entry: entry(name, version, options) };
}

/** A `DELETED`; the version is that of the deletion. */
export function deleted(name: string, version: number | string, options?: ThingOptions): WatchChange<Thing> {
  return { type: "DELETED", entry: entry(name, version, options) };
}

/** A bookmark. */
export function bookmark(version: number | string): Bookmark {
  return { type: "BOOKMARK", resourceVersion: String(version), initialEventsEnd: false };
}

/** The bookmark that ends the objects of a streaming list. */
export function endBookmark(version: number | string): Bookmark {
  return { type: "BOOKMARK", resourceVersion: String(version), initialEventsEnd: true };
}

/** A part of a list that says its version; `rest` may hold a token. */
export function part(
  version: number | string,
  entries: readonly CacheEntry<Thing>[],
  rest: Partial<ListPart<Thing>> = {},
): ListPart<Thing> {
  return { entries, resourceVersion: String(version), ...rest };
}

/** The error of a request that the server refuses. */
export function refused(code: number, more: Partial<ApiStatus> = {}): StatusError {
  const status: ApiStatus = { code, reason: reasonOf(code), message: `the test says ${code}`, ...more };
  return new StatusError(`Cannot do it: ${status.message}`, status);
}

/** 410: the version is no longer in the history. */
export function expired(): StatusError {
  return refused(410, { reason: "Expired" });
}

/** The three ways in which servers have said that a version is from the future. */
export const TOO_LARGE: Readonly<Record<string, () => StatusError>> = {
  "a cause with a reason": () => refused(504, { details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
  "a cause with a message": () => refused(504, { details: { causes: [{ message: "Too large resource version" }] } }),
  "a message": () => refused(504, { message: "Too large resource version: 40, current: 30" }),
};

/** `"default/a@5"` for each. */
export function seen(values: Iterable<{ readonly key: string; readonly resourceVersion: string }>): string[] {
  return [...values].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
}
