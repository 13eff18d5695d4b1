import type { StoredCollection } from "../storage/stored_collection.ts";
import { partialOf, type StoredObject } from "../storage/stored_object.ts";
import { goJson } from "../wire/json.ts";
import { protobufEnvelope, protobufMessage } from "../wire/write_protobuf.ts";
import { inProtobuf, type ResponseView } from "./response_view.ts";
import { tableHead, tableRow } from "./table.ts";

/** A list, or a page of one, before serialization. */
export interface ListPage {
  /** The objects, sorted by key. */
  readonly objects: readonly StoredObject[];
  /** Revision of the list. */
  readonly revision: number;
  /** Token of the next page. */
  readonly continue: string | undefined;
  /** Number of objects on later pages; undefined with a selector. */
  readonly remaining: number | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const OPEN = encoder.encode("{");
const COMMA = encoder.encode(",");

/** Serializes a list in pieces, each produced when requested. */
export function* listPageBytes(
  collection: StoredCollection,
  page: ListPage,
  view: ResponseView,
): Generator<Uint8Array> {
  if (inProtobuf(view)) {
    yield* protobufPieces(collection, page);
    return;
  }
  const partial = view.as === "partial";
  const { definition } = collection;
  const { apiVersion, kind } = definition;
  const { objects } = page;
  const resourceVersion = String(page.revision);
  const remaining = page.remaining === undefined ? {} : { remainingItemCount: page.remaining };
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

/** A PartialObjectMetadataList in protobuf, encoded at once, as its length comes first. */
function protobufPieces({ definition }: StoredCollection, { objects, revision, ...page }: ListPage): Uint8Array[] {
  const kind = "PartialObjectMetadataList";
  const metadata = { resourceVersion: String(revision), continue: page.continue, remainingItemCount: page.remaining };
  const items = objects.map((stored) => JSON.parse(decoder.decode(partialOf(definition, stored))));
  return protobufEnvelope("meta.k8s.io/v1", kind, protobufMessage(kind, { metadata, items }));
}
