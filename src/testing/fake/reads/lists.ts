/**
 * Lists of the fake server: selections, pages, continue tokens and versions.
 *
 * {@linkcode CollectionLister} is the entry point. It reads the store, and changes nothing.
 *
 * @module
 */
import { encoder } from "../../../api/object.ts";
import { LabelSelector } from "../../../api/selector.ts";
import { badRequest, expired, refusal, tooLarge } from "../../../client/protocol/refusal.ts";
import {
  formatContinueToken,
  parseContinueToken,
  parseRevision,
  type ServerListOptions,
} from "../../../client/protocol/requests.ts";
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
interface ListPage {
  /** The objects, sorted by key. */
  readonly objects: readonly StoredObject[];
  /** Revision of the list. */
  readonly revision: number;
  /** Token of the next page. */
  readonly continue: string | undefined;
  /** Number of objects on later pages; undefined with a selector. */
  readonly remaining: number | undefined;
}

const OPEN = encoder.encode("{");
const COMMA = encoder.encode(",");

/** Serializes a list in pieces, each produced when requested. */
export function* listPageBytes(
  collection: StoredCollection,
  page: ListPage,
  view: ResponseView,
  shard?: string,
): Generator<Uint8Array> {
  const partial = view.as === "partial";
  const { definition } = collection;
  const { apiVersion, kind } = definition;
  const { objects } = page;
  const resourceVersion = String(page.revision);
  const shardInfo = shard === undefined || partial ? {} : { shardInfo: { selector: shard } };
  const remaining = page.remaining === undefined ? shardInfo : { remainingItemCount: page.remaining, ...shardInfo };
  if (definition.custom && view.as === "object") {
    yield encoder.encode(`{"apiVersion":${goJson(apiVersion)},"items":[`);
    for (let at = 0; at < objects.length; at++) {
      if (at > 0) yield COMMA;
      yield objects[at].bytes;
    }
    const metadata = { continue: page.continue ?? "", ...remaining, resourceVersion };
    yield encoder.encode(`],"kind":${goJson(`${kind}List`)},"metadata":${goJson(metadata)}}`);
    return;
  }
  const metadata = {
    resourceVersion,
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...remaining,
  };
  if (view.as === "table") {
    yield encoder.encode(tableHead(definition, metadata, true));
    for (let at = 0; at < objects.length; at++) {
      if (at > 0) yield COMMA;
      yield encoder.encode(tableRow(definition, objects[at], view));
    }
    yield encoder.encode("]}");
    return;
  }
  const head = partial
    ? { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" }
    : { kind: `${kind}List`, apiVersion };
  yield encoder.encode(`${goJson({ ...head, metadata }).slice(0, -1)},"items":[`);
  // Items of built-in kinds have no kind and apiVersion.
  const itemHead = `{"kind":${goJson(kind)},"apiVersion":${goJson(apiVersion)},`.length;
  for (let at = 0; at < objects.length; at++) {
    if (at > 0) yield COMMA;
    if (partial) yield partialOf(definition, objects[at]);
    else {
      yield OPEN;
      yield objects[at].bytes.subarray(itemHead);
    }
  }
  yield encoder.encode("]}");
}

/** One requirement of a field selector. */
interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** A field selector for one kind: equality of selectable fields. */
class StoredFieldSelector {
  readonly #requirements: readonly FieldRequirement[];

  private constructor(requirements: readonly FieldRequirement[]) {
    this.#requirements = requirements;
  }

  /**
   * Parses `=`, `==` and `!=`, separated by commas; a backslash escapes the next character of a value.
   *
   * @throws {StatusError} 400 if the text does not parse or names a field that is not selectable.
   */
  static parse(text: string, definition: Definition): StoredFieldSelector {
    const requirements: FieldRequirement[] = [];
    for (const term of text.match(/(?:\\.|[^,\\])+/gs) ?? []) {
      const parts = /^([^=!]+)(==|=|!=)(.*)$/s.exec(term);
      if (parts === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field, operator, value] = parts;
      checkField(field, definition);
      requirements.push({ field, value: value.replace(/\\(.)/gs, "$1"), equal: operator !== "!=" });
    }
    return new StoredFieldSelector(requirements);
  }

  /** True if there are no requirements. */
  get empty(): boolean {
    return this.#requirements.length === 0;
  }

  /** Returns true if the object meets all requirements; a missing field equals `""`. */
  matches(stored: StoredObject): boolean {
    for (const { field, value, equal } of this.#requirements) {
      if ((valueOf(stored, field) === value) !== equal) return false;
    }
    return true;
  }
}

function valueOf(stored: StoredObject, field: string): string {
  if (field === "metadata.name") return stored.name;
  if (field === "metadata.namespace") return stored.namespace;
  return stored.fields?.[field] ?? "";
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
  throw badRequest(
    fields.length === 0
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : UNSELECTABLE[schema?.name ?? ""]?.(field) ?? `field label not supported: ${field}`,
  );
}

const RANGE =
  /^shardRange\(object\.metadata\.(uid|namespace),\s*'0x([0-9a-f]{16})',\s*'0x([0-9a-f]{16}|10000000000000000)'\)$/;

/** The ranges of hashes of a shard selector, as of servers with the feature gate ShardedListAndWatch. */
class ShardSelector {
  readonly #ranges: readonly { readonly field: "uid" | "namespace"; readonly start: bigint; readonly end: bigint }[];

  /** @throws {StatusError} 500 if the text does not parse. */
  constructor(readonly text: string) {
    this.#ranges = text.split("||").map((part) => {
      const [, field, start, end] = RANGE.exec(part.trim()) ?? [];
      if (field !== "uid" && field !== "namespace") {
        throw refusal(500, `invalid shard selector ${JSON.stringify(text)}`, { reason: "" });
      }
      return { field, start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) };
    });
  }

  /** Returns true if the hash of an object is in a range. */
  matches(stored: StoredObject): boolean {
    return this.#ranges.some(({ field, start, end }) => {
      let hash = 0xcbf29ce484222325n;
      for (const byte of encoder.encode(stored[field])) {
        hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
      }
      return start <= hash && hash < end;
    });
  }
}

/** The namespace and selectors of a request. */
export class StoredSelection {
  /** One namespace, or `""` for all. */
  readonly namespace: string;
  readonly #labels: LabelSelector | undefined;
  readonly #fields: StoredFieldSelector | undefined;
  readonly #shard: ShardSelector | undefined;

  /**
   * Selects the objects in `namespace` that match the selectors.
   *
   * @throws {StatusError} 400 if a selector does not parse or names an unknown field; 500 if it is that of shards.
   */
  constructor(
    definition: Definition,
    namespace: string,
    labelSelector: string,
    fieldSelector: string,
    shardSelector = "",
  ) {
    if (shardSelector !== "") this.#shard = new ShardSelector(shardSelector);
    this.namespace = namespace;
    if (labelSelector !== "") this.#labels = parseLabels(labelSelector);
    if (fieldSelector !== "") {
      const fields = StoredFieldSelector.parse(fieldSelector, definition);
      if (!fields.empty) this.#fields = fields;
    }
  }

  /** The selector of shards, if there is one. */
  get shard(): string | undefined {
    return this.#shard?.text;
  }

  /** True if there is a label or field selector. */
  get selects(): boolean {
    return this.#labels !== undefined || this.#fields !== undefined;
  }

  /** Returns true if the object is selected. */
  matches(stored: StoredObject): boolean {
    return (this.namespace === "" || stored.namespace === this.namespace) &&
      (this.#labels === undefined || this.#labels.matches(stored.labels)) &&
      (this.#fields === undefined || this.#fields.matches(stored)) &&
      (this.#shard === undefined || this.#shard.matches(stored));
  }
}

function parseLabels(text: string): LabelSelector {
  try {
    return LabelSelector.parse(text);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
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
        throw badRequest("specifying resource version is not allowed when using continue");
      }
      const token = parseContinueToken(options.continue);
      if (token.revision > 0) this.checkReached(token.revision);
      if (token.revision > 0 && token.revision < this.#store.compacted) {
        throw expired(CONTINUE_EXPIRED, formatContinueToken({ revision: -1, start: token.start }));
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
    if (exact && asked < this.#store.compacted) {
      throw expired("The resourceVersion for the provided list is too old.");
    }
    const revision = exact ? asked : this.#store.revision;
    return this.#page(collection, selection, { namespace, revision }, options.limit);
  }

  /** @throws {StatusError} 504 if the store has not reached a revision, as kube-apiserver after 3 s. */
  checkReached(revision: number): void {
    if (revision > this.#store.revision) throw tooLarge(revision, this.#store.revision);
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
    if (!more) return { objects, revision, continue: undefined, remaining: undefined };
    const last = objects[objects.length - 1].key;
    const next = `${last}\0`;
    const start = `/${namespace === "" ? next : next.slice(namespace.length + 1)}`;
    const token = formatContinueToken({ revision, start });
    if (selection.selects) return { objects, revision, continue: token, remaining: undefined };
    const left = this.#left.get(collection);
    const known = left?.namespace === namespace && left.revision === revision && left.from === from;
    const count = known ? left.count - passed : collection.count({ namespace, revision, from: next });
    this.#left.set(collection, { namespace, revision, from: next, count });
    return { objects, revision, continue: token, remaining: count };
  }
}
