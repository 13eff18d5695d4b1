/**
 * Entries of rows of tables.
 *
 * {@linkcode RowEntry} is the entry point: a row around the entry of its object. A {@linkcode WrittenRowEntry} has a
 * row that a transform has returned. This file reads no tables; `client/decode/readers.ts` does.
 *
 * @module
 */
import type { CacheEntry, Identity } from "../api/entry.ts";
import { markAround } from "../api/large_integers.ts";
import { type KubernetesObject, reduced } from "../api/object.ts";
import type { TableColumn, TableRow } from "../api/resource.ts";
import { EntryAround } from "./entry_around.ts";
import { JsonEntry } from "./entry.ts";
import type { Reduction } from "./reduction.ts";

/** The columns of a row without cells of the server (apiserver `rest/table.go`, `defaultTableConvertor`). */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "name", description: "Name of the object.", priority: 0 },
  { name: "Created At", type: "date", format: "", description: "Time of creation.", priority: 0 },
];

/** The mark of rows. */
const MARK = "a row of a table";

/**
 * An entry whose object is a row of a table, around the entry of the row's object, which stays unparsed until a read.
 */
export class RowEntry<T extends KubernetesObject> extends EntryAround<T, TableRow<T>> {
  readonly #columns: readonly TableColumn[];
  readonly #cells: readonly unknown[] | undefined;
  #row: TableRow<T> | undefined;

  /** Without columns and cells, a row has the name and the time of creation of its object. */
  constructor(entry: CacheEntry<T>, columns: readonly TableColumn[] = PLAIN_COLUMNS, cells?: readonly unknown[]) {
    super(entry);
    this.#columns = columns;
    this.#cells = cells;
  }

  /** The columns. */
  get columns(): readonly TableColumn[] {
    return this.#columns;
  }

  /** The server's cells; `undefined` if it sent none. */
  get cells(): readonly unknown[] | undefined {
    return this.#cells;
  }

  /** See {@linkcode CacheEntry.object}. */
  override get object(): TableRow<T> {
    if (this.#row !== undefined) return this.#row;
    const { object } = this.inner;
    const { apiVersion, kind, metadata } = object;
    const cells = this.#cells ?? [metadata.name, metadata.creationTimestamp ?? null];
    const row = { apiVersion, kind, metadata, columns: this.#columns, cells, object, [reduced]: MARK };
    return this.#row = markAround(row, cells, object);
  }
}

/**
 * An unread entry of a row that was written as an object: what a transform has returned for it. It is marked when it is
 * first read.
 */
export class WrittenRowEntry extends JsonEntry<KubernetesObject> {
  readonly #reduction: Reduction | undefined;

  /** `reduction` applies to the row's object; the other parameters are as for `unreadEntry`. */
  constructor(
    reduction: Reduction | undefined,
    identity: Identity,
    text: Uint8Array,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
  ) {
    super(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
    this.#reduction = reduction;
  }

  protected override completed<V>(part: V, member?: string): V {
    if (member !== undefined) return part;
    const row = part as KubernetesObject & { object?: unknown; [reduced]?: string };
    this.#reduction?.marked(row.metadata, "metadata");
    if (typeof row.object === "object" && row.object !== null) this.#reduction?.marked(row.object);
    row[reduced] = MARK;
    return part;
  }
}
