import { REDACTED } from "../../errors/errors.ts";
import {
  isSecret,
  type Resource,
  SECRET_ANNOTATIONS,
  SECRET_DATA,
  type TableColumn,
  type TableRow,
} from "../../api/resource.ts";
import { humanDuration } from "../../async/time.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { escaped, plain, UNPRINTABLE } from "./terminal.ts";
import { type Document, dump, SCALAR_STYLE, visit } from "js-yaml";

/** Lays out the rows of a stream: a column is as wide as its widest cell so far. */
export class GrowingTable {
  /** The width of each column, which never decreases. */
  readonly #widths: number[] = [];

  line(cells: readonly string[]): string {
    cells.forEach((cell, i) => this.#widths[i] = Math.max(this.#widths[i] ?? 0, cell.length));
    return cells.map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(this.#widths[i]))).join("   ").trimEnd();
  }
}

/** Returns the lines of a table whose columns are as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const table = new GrowingTable();
  for (const row of rows) table.line(row);
  return rows.map((row) => table.line(row));
}

/** Returns the name that kubectl accepts: `"pod/cart-0"`, `"deployment.apps/web"`. */
export function qualifiedName(resource: Resource, name: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === "" ? kind : `${kind}.${resource.group}`}/${name}`;
}

/** Formats the time since `time` as kubectl does: `"42s"`, `"5m10s"`, `"3h"`, `"12d"`. */
export function ageOf(time: string | undefined, now: number = Date.now()): string {
  const ms = time === undefined ? NaN : now - Date.parse(time);
  return Number.isNaN(ms) ? "<unknown>" : humanDuration(Math.max(0, ms));
}

/** The columns to show of the objects of one resource. */
export interface RowStyle {
  /** If `true`, all columns of the server, also those of the wide output. */
  readonly wide: boolean;
  /** If `true`, a column with the namespace comes first. Cluster-scoped resources have none. */
  readonly namespaces: boolean;
  /** The name of the cluster, in the first column; of heads, any. @default {there is no such column} */
  readonly cluster?: string;
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
    ...(style.cluster === undefined ? [] : ["CLUSTER"]),
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
  if (style.cluster !== undefined) shown.push(plain(style.cluster));
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

/** Output formats of results. `"wide"` is a table with all columns. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";

/** Returns the form in which the server is asked for objects that are printed in a format. */
export function formOf(format: OutputFormat): "object" | "metadata" | "table" {
  if (format === "table" || format === "wide") return "table";
  return format === "name" ? "metadata" : "object";
}

/**
 * Returns the object with the data of a Secret, and the copies in its annotations, replaced by `[redacted]`; the keys
 * stay.
 */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, showSecrets: boolean): T {
  if (showSecrets || !isSecret(resource)) return object;
  const shown = { ...object } as Record<string, unknown>;
  for (const field of SECRET_DATA) {
    const values = shown[field];
    if (typeof values !== "object" || values === null) continue;
    shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  }
  const { annotations } = object.metadata;
  const copies = SECRET_ANNOTATIONS.filter((name) => annotations?.[name] !== undefined);
  if (copies.length > 0) {
    const redacted = Object.fromEntries(copies.map((name) => [name, REDACTED]));
    shown.metadata = { ...object.metadata, annotations: { ...annotations, ...redacted } };
  }
  return shown as unknown as T;
}

/**
 * Returns the message for a selection without objects: `"no pods found in namespace shop"`; `namespace` is absent for
 * all.
 */
export function nothingFound(resources: readonly Resource[], namespace: string | undefined): string {
  const names = resources.map(({ plural }) => plural).join(" or ");
  const namespaced = resources.some(({ scope }) => scope === "Namespaced");
  return `no ${names} found${namespaced && namespace !== undefined ? ` in namespace ${namespace}` : ""}`;
}

/** Characters that only double quotes escape; the printer quotes other control characters itself. */
const HIDDEN = /[\u2028-\u202e\u2066-\u2069]/;

/**
 * Formats a value as YAML: keys in alphabetical order, lists not indented, and no control characters that a terminal
 * obeys. Without a final line end.
 */
export function yamlText(value: unknown): string {
  return dump(value, { noRefs: true, lineWidth: -1, seqNoIndent: true, quoteStyle: "double", transform })
    .trimEnd().replace(UNPRINTABLE, (found) => found === "\n" ? found : escaped(found));
}

function transform(documents: Document[]): void {
  visit(documents, (node) => {
    if (node.kind === "scalar" && HIDDEN.test(node.value)) node.style = SCALAR_STYLE.DOUBLE_QUOTED;
    if (node.kind !== "mapping") return;
    const textOf = ({ key }: (typeof node.items)[number]): string => key.kind === "scalar" ? key.value : "";
    node.items.sort((a, b) => textOf(a) < textOf(b) ? -1 : 1);
  });
}
