/**
 * Objects as rows of the table that `kubectl get` prints.
 *
 * {@linkcode tableHead} and {@linkcode tableRow} are the entry points. Cells are in `cells.ts`, and columns in the
 * definitions of kinds.
 *
 * @module
 */
import { decoder, encoder } from "../../../engine/api/object.ts";
import { refusal } from "../../../engine/protocol/refusal.ts";
import { oncePer } from "../../../operator/schema/values/object_schema.ts";
import type { Definition, PrintedColumn } from "../storage/definition.ts";
import { parseStored, partialOf, type StoredObject } from "../storage/store.ts";
import { goJson } from "../wire/go_text.ts";
import { isList, type JsonObject } from "../../../engine/api/json.ts";
import { memberAt, objectOr } from "../../../engine/api/members.ts";
import { age, type Cell, COMMON, KINDS, type ReadCell, UNKNOWN } from "./cells.ts";

/** A column of a kind's table. */
interface Column extends PrintedColumn {
  readonly cell: ReadCell;
}

const ABOUT = { type: "string", description: "", priority: 0 };
const NAME: Column = { ...ABOUT, name: "Name", format: "name", description: "Name of the object.", cell: COMMON.Name };
const AGE: Column = { ...ABOUT, name: "Age", format: "", description: "Time since creation.", cell: COMMON.Age };

/** Returns the columns of a kind: its own if defined; else mostly name and age. */
const columnsOf = oncePer((definition: Definition): readonly Column[] => {
  if (definition.columns.length > 0) {
    const own = definition.columns.map(({ name, type, jsonPath, description = "", priority = 0, format = "" }) => {
      const path = pathOf(jsonPath);
      const cell = (object: JsonObject, now: number): Cell => printed(memberAt(object, ...path), type, now);
      return { name, type, format, description, priority, cell };
    });
    return [NAME, ...own];
  }
  const kind = `${definition.group}/${definition.plural}`;
  if (!definition.table?.length) return [NAME, AGE];
  const cells = { ...COMMON, ...KINDS[kind] };
  return definition.table.map((column) => ({ ...column, cell: cells[column.name] ?? memberNamed(column) }));
});

/** Reads the member of the column's name: "Global-Default" is `globalDefault` of the object, its spec or its status. */
function memberNamed({ name, type }: PrintedColumn): ReadCell {
  const key = name[0].toLowerCase() + name.slice(1).replace(/[^A-Za-z]/g, "");
  const none = type === "integer" ? 0 : type === "boolean" ? false : "";
  return (object) => {
    const value = [object, object.spec, object.status].map((part) => objectOr(part)[key]).find((it) =>
      it !== undefined
    );
    if (isList(value) && type === "integer") return value.length;
    return value === null || value === undefined || typeof value === "object" ? none : value;
  };
}

/** Splits a simple JSONPath into keys: `.spec.size`, `.metadata.labels['a.b/c']`. */
function pathOf(jsonPath: string): string[] {
  return [...jsonPath.matchAll(/\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]|\.?([^.[\]\\]+(?:\\.[^.[\]\\]+)*)/g)].map((match) =>
    (match[1] ?? match[2] ?? match[3]).replace(/\\(.)/g, "$1")
  );
}

function printed(value: unknown, type: string, now: number): Cell {
  if (value === undefined || value === null) return null;
  if (type === "date") return typeof value === "string" ? age(value, now) : UNKNOWN;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

/** The part of each object that a table row includes. */
type IncludeObject = "None" | "Metadata" | "Object";

/** Representation of objects in a response. */
export type ResponseView =
  | {
    /** Full objects. */
    readonly as: "object";
  }
  | {
    /** Metadata only. */
    readonly as: "partial";
  }
  | {
    /** Rows of a table, with cells computed by the server. */
    readonly as: "table";
    /** The part of the object that a row includes. */
    readonly include: IncludeObject;
    /** The server's clock, for ages. */
    readonly now: () => number;
  };

/** The representation as a table. */
type TableView = ResponseView & { readonly as: "table" };

/**
 * Parses the query parameter `includeObject`.
 *
 * @throws {StatusError} 400 if the value is unknown.
 */
export function includeObjectOf(parameters: URLSearchParams): IncludeObject {
  const include = parameters.get("includeObject") || "Metadata";
  if (include === "None" || include === "Metadata" || include === "Object") return include;
  throw refusal(400, `unrecognized includeObject value: ${JSON.stringify(include)}`);
}

/** Serializes a table up to its rows; `metadata` is that of the list. */
export function tableHead(definition: Definition, metadata: JsonObject, withColumns: boolean): string {
  const columns = withColumns ? columnsOf(definition) : undefined;
  const columnDefinitions = columns?.map(({ name, type, format, description, priority }) => {
    return { name, type, format, description, priority };
  });
  const head = { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: columnDefinitions ?? null };
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
