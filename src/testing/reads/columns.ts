import type { Definition, PrintedColumn } from "../storage/definition.ts";
import { at, type JsonObject, objectOr } from "../wire/json.ts";
import { age, type Cell, type ReadCell, UNKNOWN } from "./cell_values.ts";
import { COMMON, KINDS } from "./cells.ts";

/** A column of a kind's table. */
interface Column extends PrintedColumn {
  readonly cell: ReadCell;
}

const known = new WeakMap<Definition, readonly Column[]>();

const ABOUT = { type: "string", description: "", priority: 0 };
const NAME: Column = {
  ...ABOUT,
  name: "Name",
  format: "name",
  description: "Name of the object.",
  cell: COMMON.Name,
};
const AGE: Column = { ...ABOUT, name: "Age", format: "", description: "Time since creation.", cell: COMMON.Age };

/** Returns the columns of a kind: its own if defined; else mostly name and age. */
export function columnsOf(definition: Definition): readonly Column[] {
  let columns = known.get(definition);
  if (columns === undefined) known.set(definition, columns = readColumns(definition));
  return columns;
}

function readColumns(definition: Definition): readonly Column[] {
  if (definition.columns.length > 0) {
    const own = definition.columns.map(({ name, type, jsonPath, description = "", priority = 0, format = "" }) => {
      const path = pathOf(jsonPath);
      const cell = (object: JsonObject, now: number): Cell => printed(at(object, ...path), type, now);
      return { name, type, format, description, priority, cell };
    });
    return [NAME, ...own];
  }
  const cells = { ...COMMON, ...KINDS[`${definition.group}/${definition.plural}`] };
  return definition.table?.map((column) => ({ ...column, cell: cells[column.name] ?? memberNamed(column) })) ??
    [NAME, AGE];
}

/** Reads the member of the column's name: "Global-Default" is `globalDefault` of the object, its spec or its status. */
function memberNamed({ name, type }: PrintedColumn): ReadCell {
  const key = name[0].toLowerCase() + name.slice(1).replace(/[^A-Za-z]/g, "");
  const none = type === "integer" ? 0 : type === "boolean" ? false : "";
  return (object) => {
    const value = [object, object.spec, object.status].map((part) => objectOr(part)[key]).find((it) =>
      it !== undefined
    );
    if (Array.isArray(value) && type === "integer") return value.length;
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
