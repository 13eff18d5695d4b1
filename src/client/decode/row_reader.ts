import type { Entry } from "../../api/options.ts";
import { DecodeError } from "../../api/status.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName, type TableColumn } from "../../api/resource.ts";
import { JsonEntry, RowEntry } from "../../entry/entry.ts";
import { skipValue } from "./json_text.ts";
import { ObjectReader, type ReadOptions, startsWith } from "./object_reader.ts";
import { utf8 } from "./body_reader.ts";
import { messageOf } from "../../errors/errors.ts";

const encoder = new TextEncoder();
const CELLS = encoder.encode(`{"cells":[`);
const OBJECT = encoder.encode(`,"object":`);
const TABLE = encoder.encode(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"`);
const ROWS = encoder.encode(`"},"columnDefinitions":null,"rows":[`);
const ROW_END = encoder.encode("}");
const TABLE_END = encoder.encode("]}");

/** A table in JSON, of a list or of one event (`Table` of meta.k8s.io). */
interface ServerTable {
  readonly kind?: unknown;
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly unknown[] | null;
}

/** Returns true for a table; in a group of its own, a custom resource may be called Table too. */
export function isTable(value: unknown): value is ServerTable {
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown };
  return kind === "Table" && String(apiVersion).startsWith("meta.k8s.io/");
}

/**
 * Converts the bytes of rows to entries, and remembers the columns, which only the first event of a watch has. The
 * object of a row stays unparsed, as in {@linkcode ObjectReader}; its cells are parsed.
 *
 * A server that knows no tables sends objects, which become rows without its cells. `R` is the type of the rows.
 */
export class RowReader<R extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: ObjectReader<KubernetesObject>;
  /** The columns; `undefined` while the server has sent objects, and no table. */
  #columns: readonly TableColumn[] | undefined;

  /** As {@linkcode ObjectReader}. */
  constructor(options: ReadOptions, withoutMetadata: "refused" | "broken" = "refused") {
    this.#options = options;
    this.#objects = new ObjectReader<KubernetesObject>(options, withoutMetadata);
  }

  /** Takes the columns of a table; without any, those of the table before it stay. */
  begin(table: ServerTable): void {
    const { columnDefinitions } = table;
    this.#columns = Array.isArray(columnDefinitions) ? columnDefinitions : this.#columns ?? [];
  }

  /** As `ObjectReader.fillIn`, for objects that are no rows. */
  fillIn(kind: string, apiVersion: string): void {
    this.#objects.fillIn(kind, apiVersion);
  }

  /** Always -1: the metadata of a row's object is not at its beginning. */
  walk(): number {
    return -1;
  }

  /** Always false: rows are not reduced to named fields. */
  readonly projects = false;

  /** Always -1. */
  project(): number {
    return -1;
  }

  /**
   * The row in `bytes[start, end)`, or the object if the server sends no tables; `undefined` if it is not in the shard.
   *
   * @throws {DecodeError} as `ObjectReader`.
   */
  read(bytes: Uint8Array, start: number, end: number): Entry<R> | undefined {
    if (this.#columns === undefined) return this.#rowOf(this.#objects.read(bytes, start, end), undefined);
    const cellsStart = start + CELLS.length - 1;
    const cellsEnd = startsWith(bytes, start, end, CELLS) ? skipValue(bytes, cellsStart, end) : -1;
    if (
      cellsEnd === -1 || !startsWith(bytes, cellsEnd, end, OBJECT) ||
      !startsWith(bytes, end - ROW_END.length, end, ROW_END)
    ) {
      return this.entryOf(this.#parse(bytes, start, end)); // an unusual layout; rows of finished pods have conditions
    }
    const entry = this.#objects.read(bytes, cellsEnd + OBJECT.length, end - 1);
    return entry && this.#rowOf(entry, this.#parse(bytes, cellsStart, cellsEnd) as readonly unknown[]);
  }

  /** As `read`, of a parsed value. */
  entryOf(value: unknown): Entry<R> | undefined {
    if (this.#columns === undefined) return this.#rowOf(this.#objects.entryOf(value), undefined);
    const { cells, object } = (value ?? {}) as { readonly cells?: unknown; readonly object?: unknown };
    return this.#rowOf(this.#objects.entryOf(object), Array.isArray(cells) ? cells : []);
  }

  /** The row of an event, whose object is a table with one row in `bytes[start, end)`. @throws {DecodeError} */
  readEvent(bytes: Uint8Array, start: number, end: number): Entry<R> | undefined {
    if (
      this.#columns !== undefined && startsWith(bytes, start, end, TABLE) && startsWith(bytes, end - 2, end, TABLE_END)
    ) {
      const version = bytes.indexOf(ROWS[0], start + TABLE.length);
      if (version !== -1 && startsWith(bytes, version, end, ROWS)) {
        return this.read(bytes, version + ROWS.length, end - 2);
      }
    }
    return this.eventOf(this.#parse(bytes, start, end));
  }

  /** As `readEvent`, of a parsed value. */
  eventOf(value: unknown): Entry<R> | undefined {
    if (!isTable(value)) return this.#rowOf(this.#objects.entryOf(value), undefined);
    this.begin(value);
    const { rows } = value;
    if (!Array.isArray(rows) || rows.length !== 1) {
      throw new DecodeError(
        `Cannot read an event of "${resourceName(this.#options.resource)}": found a table of ${
          rows?.length ?? 0
        } rows, expected one`,
      );
    }
    return this.entryOf(rows[0]);
  }

  /** A broken entry, and one that is known already, stay as they are. */
  #rowOf(entry: Entry<KubernetesObject> | undefined, cells: readonly unknown[] | undefined): Entry<R> | undefined {
    if (entry === undefined) return undefined;
    const isNew = entry instanceof JsonEntry && entry.error === undefined;
    const row = isNew ? new RowEntry(entry, cells && this.#columns, cells) : entry;
    return row as Entry<KubernetesObject> as Entry<R>;
  }

  #parse(bytes: Uint8Array, start: number, end: number): unknown {
    try {
      return JSON.parse(utf8.decode(bytes.subarray(start, end)));
    } catch (cause) {
      throw new DecodeError(
        `Cannot read a row of "${resourceName(this.#options.resource)}": ${messageOf(cause)}`,
        { cause },
      );
    }
  }
}
