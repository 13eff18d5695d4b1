import type { StoredCollection } from "../storage/stored_collection.ts";
import { partialOf, type StoredObject } from "../storage/stored_object.ts";
import { goJson } from "../wire/json.ts";
import type { ResponseView } from "./response_view.ts";
import { tableHead, tableRow } from "./table.ts";

/** A list, or a page of one, before it is written. */
export interface ListPage {
  /** What is in it, in the order of keys. */
  readonly objects: readonly StoredObject[];
  /** The version of the whole list. */
  readonly revision: number;
  /** The token of the next page. */
  readonly continue: string | undefined;
  /** How many objects are on later pages; unknown where a selector would have to be asked. */
  readonly remaining: number | undefined;
}

const encoder = new TextEncoder();
const OPEN = encoder.encode("{");
const COMMA = encoder.encode(",");

/** A list as text, in pieces that are made as they are taken. */
export function* listPageBytes(
  collection: StoredCollection,
  page: ListPage,
  view: ResponseView,
): Generator<Uint8Array> {
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
  // Items of built-in kinds come without kind and apiVersion.
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
