import type { Definition } from "../storage/definition.ts";
import { parseStored, partialOf, type StoredObject } from "../storage/stored_object.ts";
import { goJson, type JsonObject } from "../wire/json.ts";
import { columnsOf } from "./columns.ts";
import type { TableView } from "./response_view.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Serializes a table up to its rows; `metadata` is that of the list. */
export function tableHead(definition: Definition, metadata: JsonObject, withColumns: boolean): string {
  const columns = columnsOf(definition).map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const head = {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: withColumns ? columns : null,
  };
  return `${goJson(head).slice(0, -1)},"rows":[`;
}

/** Serializes one row. */
export function tableRow(definition: Definition, stored: StoredObject, { include, now }: TableView): string {
  const object = parseStored(stored);
  const time = now();
  const cells = goJson(columnsOf(definition).map(({ cell }) => cell(object, time)));
  const carried = include === "None"
    ? "null"
    : decoder.decode(include === "Object" ? stored.bytes : partialOf(definition, stored));
  return `{"cells":${cells},"object":${carried}}`;
}

/** Serializes a table of one object. */
export function tableOfOne(
  definition: Definition,
  stored: StoredObject,
  view: TableView,
  withColumns: boolean,
): Uint8Array {
  const metadata = { resourceVersion: String(stored.revision) };
  return encoder.encode(`${tableHead(definition, metadata, withColumns)}${tableRow(definition, stored, view)}]}`);
}

/** Serializes the table of a bookmark: one row without cell values. */
export function bookmarkTable(definition: Definition, metadata: JsonObject, withColumns: boolean): string {
  const { resourceVersion } = metadata;
  const cells = columnsOf(definition).map(({ cell }) => cell({}, 0));
  const row = { cells, object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata } };
  return `${tableHead(definition, { resourceVersion }, withColumns)}${goJson(row)}]}`;
}
