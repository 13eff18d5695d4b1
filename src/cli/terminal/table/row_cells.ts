import type { KubernetesObject } from "../../../api/object.ts";
import type { Resource } from "../../../api/resource.ts";
import type { TableColumn, TableRow } from "../../../api/table_row.ts";
import { ageOf } from "../text/age_of.ts";
import { plain } from "../text/plain.ts";
import { qualifiedName } from "./qualified_name.ts";

/** The columns to show of the objects of one resource. */
export interface RowStyle {
  /** If `true`, all columns of the server, also those of the wide output. */
  readonly wide: boolean;
  /** If `true`, a column with the namespace comes first. Cluster-scoped resources have none. */
  readonly namespaces: boolean;
  /** If `true`, names have the kind, `"pod/cart-0"`. */
  readonly kinds?: boolean;
  /** The time at which ages are shown, in milliseconds since 1970. @default {that at which the server sent them} */
  readonly now?: number;
}

/** The columns of objects without cells of the server. */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "name", description: "", priority: 0 },
  { name: "Age", type: "date", format: "", description: "", priority: 0 },
];

/** Returns the object itself where `object` is a row of a table. */
export function objectIn(resource: Resource, object: KubernetesObject): KubernetesObject {
  return resource.representation === "table" ? (object as TableRow).object : object;
}

/** Returns the heads of the columns of an object, as kubectl prints them: `"NAMESPACE"`, `"NAME"`, `"READY"`. */
export function rowHeads(resource: Resource, object: KubernetesObject, style: RowStyle): string[] {
  const heads = columnsOf(resource, object).filter(({ priority }) => style.wide || priority === 0);
  return [
    ...(style.namespaces && resource.scope === "Namespaced" ? ["NAMESPACE"] : []),
    ...heads.map(({ name }) => plain(name.toUpperCase())),
  ];
}

/** Returns the cells of an object: those of the server, or name and age if only metadata was fetched. */
export function rowCells(resource: Resource, object: KubernetesObject, style: RowStyle): string[] {
  const { metadata } = object;
  const columns = columnsOf(resource, object);
  const cells = resource.representation === "table"
    ? (object as TableRow).cells
    : [metadata.name, ageOf(metadata.creationTimestamp)];
  const shown: string[] = [];
  if (style.namespaces && resource.scope === "Namespaced") shown.push(plain(metadata.namespace ?? ""));
  columns.forEach(({ name, format, priority }, i) => {
    if (priority > 0 && !style.wide) return;
    if (format === "name" && style.kinds) shown.push(plain(qualifiedName(resource, metadata.name)));
    else if (name === "Age" && style.now !== undefined) shown.push(ageOf(metadata.creationTimestamp, style.now));
    else shown.push(cellText(cells[i]));
  });
  return shown;
}

function columnsOf(resource: Resource, object: KubernetesObject): readonly TableColumn[] {
  return resource.representation === "table" ? (object as TableRow).columns : PLAIN_COLUMNS;
}

/** Formats a cell as kubectl does: nothing for null, and the first line of several. */
function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return "";
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  const [first] = text.split(/[\n\r\f]/, 1);
  return plain(first.length < text.length ? `${first}...` : first);
}
