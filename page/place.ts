import type { CollectionList } from "../src/relay/server/format.ts";

/** What the page shows, which its address has behind the `#`; the cluster is in the path. */
export interface Place {
  /** The name of the collection. */
  readonly collection: string;
  /** The namespace; `""` is all. A collection without namespaces ignores it. */
  readonly namespace: string;
  /** The words that rows have. */
  readonly filter: string;
  /** The sort key; `""` is the order of the object keys, and `"unready"` has first what is not ready. */
  readonly sort: string;
  /** The key of the object that is open; `""` is none. */
  readonly object: string;
}

/** The texts that a member of a place may have: a relay refuses all views of a stream if it cannot read one. */
const READABLE: Readonly<Record<keyof Place, RegExp>> = {
  collection: /^/,
  namespace: /^[\w.-]{0,253}$/,
  filter: /^.{0,200}$/,
  sort: /^(?:unready|-?(?:metadata\.(?:name|namespace|creationTimestamp)|cells\.\d{1,3}))?$/,
  object: /^[^/]{0,253}(?:\/[^/]{1,253})?$/,
};

/** Reads the part of an address behind the `#`. A member that cannot be read, or is not there, has its default. */
export function readPlace(hash: string, collections: CollectionList["collections"]): Place {
  const parameters = new URLSearchParams(hash.slice(1));
  const text = (name: keyof Place): string => {
    const value = parameters.get(name) ?? "";
    return READABLE[name].test(value) ? value : "";
  };
  const collection = collections.find(({ name }) => name === text("collection")) ?? collections[0];
  return {
    collection: collection.name,
    namespace: text("namespace"),
    filter: text("filter"),
    sort: text("sort"),
    object: text("object"),
  };
}

/** Returns the part of an address behind the `#`, and that. */
export function hashOf(place: Place): string {
  const members = Object.entries(place).filter(([, value]) => value !== "");
  return `#${new URLSearchParams(members).toString().replaceAll("%2F", "/")}`;
}
