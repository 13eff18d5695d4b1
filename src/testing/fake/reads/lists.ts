/**
 * Lists of the fake server: selections, pages, continue tokens and versions.
 *
 * {@linkcode CollectionLister} is the entry point. It reads the store, and changes nothing.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import { LabelSelector } from "../../../engine/api/selector.ts";
import { hashOf, type HashRange } from "../../../engine/api/shard.ts";
import { EntrySelector } from "../../../engine/entry/entry_selector.ts";
import { knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import { ContinueToken, parseRevision, type ServerListOptions } from "../../../engine/protocol/requests.ts";
import type { Definition } from "../storage/definition.ts";
import {
  type CollectionSlice,
  partialOf,
  type Store,
  type StoredCollection,
  type StoredObject,
} from "../storage/store.ts";
import { goJson } from "../wire/go_text.ts";
import { type ResponseView, tableHead, tableRow } from "./table.ts";

/** A list, or a page of one, before serialization. */
export interface ListPage {
  /** The objects, sorted by key. */
  readonly objects: readonly StoredObject[];
  /** Revision of the list. */
  readonly revision: number;
  /** Token of the next page. */
  readonly continue?: string;
  /** Number of objects on later pages; undefined with a selector. */
  readonly remaining?: number;
}

const OPEN = encoder.encode("{");
const COMMA = encoder.encode(",");

/** Serializes a list in pieces, each produced when requested. */
export function* listPageBytes(
  { definition }: StoredCollection,
  page: ListPage,
  view: ResponseView,
  shard?: string,
): Generator<Uint8Array> {
  const { custom } = definition;
  const kind = goJson(definition.kind);
  const apiVersion = goJson(definition.apiVersion);
  const resourceVersion = String(page.revision);
  const shardInfo = shard === undefined || view.as === "partial" ? undefined : { selector: shard };
  const counts = { remainingItemCount: page.remaining, shardInfo };
  const metadata = { resourceVersion, continue: page.continue, ...counts };
  // Items of built-in kinds have no kind and apiVersion.
  const itemHead = `{"kind":${kind},"apiVersion":${apiVersion},`.length;
  let head = `{"kind":${goJson(`${definition.kind}List`)},"apiVersion":${apiVersion},"metadata":${
    goJson(metadata)
  },"items":[`;
  let tail = "]}";
  let pieces = ({ bytes }: StoredObject): readonly Uint8Array[] => [OPEN, bytes.subarray(itemHead)];
  if (view.as === "table") {
    head = tableHead(definition, metadata, true);
    pieces = (stored) => [encoder.encode(tableRow(definition, stored, view))];
  } else if (view.as === "partial") {
    const list = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata };
    head = `${goJson(list).slice(0, -1)},"items":[`;
    pieces = (stored) => [partialOf(definition, stored)];
  } else if (custom) {
    const sorted = { continue: page.continue ?? "", ...counts, resourceVersion };
    head = `{"apiVersion":${apiVersion},"items":[`;
    tail = `],"kind":${goJson(`${definition.kind}List`)},"metadata":${goJson(sorted)}}`;
    pieces = ({ bytes }) => [bytes];
  }
  yield encoder.encode(head);
  for (const [at, stored] of page.objects.entries()) {
    if (at > 0) yield COMMA;
    yield* pieces(stored);
  }
  yield encoder.encode(tail);
}

/**
 * Checks a field selector: `=`, `==` and `!=`, separated by commas; a backslash escapes the next character of a value.
 * Returns it with the escapes of {@linkcode FieldSelector}.
 *
 * @throws {StatusError} 400 if the text does not parse or names a field that is not selectable.
 */
function checkedFields(text: string, definition: Definition): string {
  return (text.match(/(?:\\.|[^,\\])+/gs) ?? []).map((term) => {
    const [, field, operator, value] = /^([^=!]+)(==|=|!=)(.*)$/s.exec(term) ?? [];
    if (field === undefined) throw refusal(400, `invalid selector: '${text}'; can't understand '${term}'`);
    checkField(field, definition);
    return field + operator + value.replace(/\\(.)/gs, "$1").replace(/[\\,=]/g, "\\$&");
  }).join(",");
}

function valuesOf(stored: StoredObject, keys: readonly string[]): readonly (string | undefined)[] {
  const field = keys.join(".");
  if (field === "metadata.name") return [stored.name];
  return [field === "metadata.namespace" ? stored.namespace : stored.fields?.[field]];
}

/** Kinds with another message about fields that cannot be selected. */
const UNSELECTABLE: Readonly<Record<string, (field: string) => string>> = {
  "batch/v1.Job": (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  "resource/v1.ResourceSlice": (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
};

/** kube-apiserver has a generic check for kinds without selectable fields of their own. */
function checkField(field: string, { fields, schema }: Definition): void {
  if (field === "metadata.name" || field === "metadata.namespace" || fields.includes(field)) return;
  throw refusal(
    400,
    fields.length === 0
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : UNSELECTABLE[schema?.name ?? ""]?.(field) ?? `field label not supported: ${field}`,
  );
}

const RANGE =
  /^shardRange\(object\.metadata\.(uid|namespace),\s*'0x([0-9a-f]{16})',\s*'0x([0-9a-f]{16}|10000000000000000)'\)$/;

/** The ranges of hashes of a shard selector, as of servers with the feature gate ShardedListAndWatch. */
type ShardRange = HashRange & { readonly field: "uid" | "namespace" };

/** @throws {StatusError} 500 if the text does not parse. */
function parseShard(text: string): ShardRange[] {
  return text.split("||").map((part) => {
    const [, field, start, end] = RANGE.exec(part.trim()) ?? [];
    if (field === "uid" || field === "namespace") {
      return { field, start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) };
    }
    throw refusal(500, `invalid shard selector ${JSON.stringify(text)}`, { reason: "" });
  });
}

/** The namespace and selectors of a request. */
export class StoredSelection {
  /** One namespace, or `""` for all. */
  readonly namespace: string;
  /** The selector of shards, if there is one. */
  readonly shard: string | undefined;
  readonly #selector: EntrySelector<StoredObject>;
  readonly #ranges: readonly ShardRange[] | undefined;

  /**
   * Selects the objects in `namespace` that match the selectors.
   *
   * @throws {StatusError} 400 if a selector does not parse or names an unknown field; 500 for a selector of shards.
   */
  constructor(
    definition: Definition,
    namespace: string,
    labelSelector: string,
    fieldSelector: string,
    shardSelector = "",
  ) {
    this.namespace = namespace;
    this.shard = shardSelector || undefined;
    if (shardSelector !== "") this.#ranges = parseShard(shardSelector);
    try {
      LabelSelector.parse(labelSelector);
    } catch (error) {
      throw refusal(400, `unable to parse requirement: ${(error as Error).message}`);
    }
    const fields = checkedFields(fieldSelector, definition);
    this.#selector = new EntrySelector({ namespace, labelSelector, fieldSelector: fields }, valuesOf);
  }

  /** True if there is a label or field selector. */
  get selects(): boolean {
    const { labels, fields } = this.#selector;
    return labels.requirements.length > 0 || !fields.isEmpty;
  }

  /** Returns true if the object is selected; a missing field equals `""`. */
  matches(stored: StoredObject): boolean {
    return this.#selector.matches(stored) &&
      (this.#ranges === undefined || this.#ranges.some(({ field, start, end }) => {
        const hash = hashOf(stored[field]);
        return start <= hash && hash < end;
      }));
  }
}

const CONTINUE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

/**
 * Lists collections with the semantics of kube-apiserver.
 *
 * - No version, `"0"` and NotOlderThan return the current state; NotOlderThan waits for a future version.
 * - Exact, and a limit with a version but without a match, return the state at that version.
 * - With version `"0"` a limit is ignored, as by the watch cache.
 * - Pages keep the version of the first page until it is compacted: then 410, with a token for the inconsistent
 *   remainder.
 */
export class CollectionLister {
  readonly #store: Store;
  /** Number of objects after the last page of each collection, so that the next page need not count again. */
  readonly #left = new WeakMap<StoredCollection, Required<CollectionSlice> & { readonly count: number }>();

  /** Lists the collections of `store`. */
  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Returns the page that the options request.
   *
   * @throws {StatusError} 400, 410 or 504, like kube-apiserver.
   */
  list(collection: StoredCollection, selection: StoredSelection, options: ServerListOptions): ListPage {
    const { namespace } = selection;
    if (options.continue !== "") {
      if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
        throw refusal(400, "specifying resource version is not allowed when using continue");
      }
      const token = ContinueToken.parse(options.continue);
      if (token.revision > 0) this.checkReached(token.revision);
      if (token.revision > 0 && token.revision < this.#store.history.compacted) {
        throw knownRefusal("expired", CONTINUE_EXPIRED, `${new ContinueToken(-1, token.start)}`);
      }
      const revision = token.revision > 0 ? token.revision : this.#store.revision;
      const from = namespace === "" ? token.start : `${namespace}/${token.start}`;
      return this.#page(collection, selection, { namespace, revision, from }, options.limit);
    }
    const asked = parseRevision(options.resourceVersion, false);
    if (asked === 0) {
      const limit = options.resourceVersion === "" ? options.limit : 0;
      return this.#page(collection, selection, { namespace, revision: this.#store.revision }, limit);
    }
    this.checkReached(asked);
    const exact = options.resourceVersionMatch === "Exact" ||
      (options.resourceVersionMatch === "" && options.limit > 0);
    if (exact && asked < this.#store.history.compacted) {
      throw knownRefusal("expired", "The resourceVersion for the provided list is too old.");
    }
    const revision = exact ? asked : this.#store.revision;
    return this.#page(collection, selection, { namespace, revision }, options.limit);
  }

  /** @throws {StatusError} 504 if the store has not reached a revision, as kube-apiserver after 3 s. */
  checkReached(revision: number): void {
    if (revision > this.#store.revision) throw knownRefusal("tooLarge", revision, this.#store.revision);
  }

  #page(collection: StoredCollection, selection: StoredSelection, slice: CollectionSlice, limit: number): ListPage {
    const objects: StoredObject[] = [];
    let passed = 0;
    let more = false;
    for (const stored of collection.slice(slice)) {
      // Objects count against the limit whether they match or not, so a last page may be empty, as on the server.
      if (limit > 0 && objects.length === limit) {
        more = true;
        break;
      }
      passed++;
      if (selection.matches(stored)) objects.push(stored);
    }
    const { namespace, revision, from = "" } = slice;
    if (!more) return { objects, revision };
    const next = `${objects[objects.length - 1].key}\0`;
    const start = `/${namespace === "" ? next : next.slice(namespace.length + 1)}`;
    const page = { objects, revision, continue: `${new ContinueToken(revision, start)}` };
    if (selection.selects) return page;
    const left = this.#left.get(collection);
    const known = left?.namespace === namespace && left.revision === revision && left.from === from;
    const count = known ? left.count - passed : collection.count({ namespace, revision, from: next });
    this.#left.set(collection, { namespace, revision, from: next, count });
    return { ...page, remaining: count };
  }
}
