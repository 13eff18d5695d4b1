import type { Entry, Identity } from "../api/entry.ts";
import type { DecodeError } from "../api/errors.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../api/object.ts";
import { reduced } from "../api/reduced.ts";
import type { TableColumn, TableRow } from "../api/table_row.ts";
import { JsonEntry } from "./json_entry.ts";
import type { Reduction } from "./reduction.ts";

/** The columns of a row without cells of the server (apiserver `rest/table.go`, `defaultTableConvertor`). */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "name", description: "Name of the object.", priority: 0 },
  { name: "Created At", type: "date", format: "", description: "Time of creation.", priority: 0 },
];

/** The mark of rows. */
const MARK = "a row of a table";

/** An entry whose object is a row of a table, around the entry of the row's object, which stays unparsed until a read. */
export class RowEntry<T extends KubernetesObject> implements Entry<TableRow<T>> {
  readonly #entry: Entry<T>;
  readonly #columns: readonly TableColumn[];
  readonly #cells: readonly unknown[] | undefined;
  #row: TableRow<T> | undefined;
  /** See {@linkcode Entry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode Entry.namespace}. */
  readonly namespace: string;
  /** See {@linkcode Entry.uid}. */
  readonly uid: string;
  /** See {@linkcode Entry.resourceVersion}. */
  readonly resourceVersion: string;

  /** Without columns and cells, a row has the name and the time of creation of its object. */
  constructor(entry: Entry<T>, columns: readonly TableColumn[] = PLAIN_COLUMNS, cells?: readonly unknown[]) {
    this.#entry = entry;
    this.#columns = columns;
    this.#cells = cells;
    this.key = entry.key;
    this.namespace = entry.namespace;
    this.uid = entry.uid;
    this.resourceVersion = entry.resourceVersion;
  }

  /** The entry of the row's object. */
  get inner(): Entry<T> {
    return this.#entry;
  }

  /** The columns. */
  get columns(): readonly TableColumn[] {
    return this.#columns;
  }

  /** The server's cells; `undefined` if it sent none. */
  get cells(): readonly unknown[] | undefined {
    return this.#cells;
  }

  /** See {@linkcode Entry.name}. */
  get name(): string {
    return this.#entry.name;
  }

  /** See {@linkcode Entry.error}. */
  get error(): DecodeError | undefined {
    return this.#entry.error;
  }

  /** See {@linkcode Entry.textBytes}: that of the row's object. */
  get textBytes(): number | undefined {
    return this.#entry.textBytes;
  }

  /** See {@linkcode Entry.isParsed}. */
  get isParsed(): boolean | undefined {
    return this.#entry.isParsed;
  }

  /** See {@linkcode Entry.metadata}. */
  get metadata(): ObjectMeta {
    return this.#entry.metadata;
  }

  /** See {@linkcode Entry.labels}. */
  get labels(): Entry<T>["labels"] {
    return this.#entry.labels;
  }

  /** See {@linkcode Entry.object}. */
  get object(): TableRow<T> {
    if (this.#row !== undefined) return this.#row;
    const { object } = this.#entry;
    const { apiVersion, kind, metadata } = object;
    const cells = this.#cells ?? [metadata.name, metadata.creationTimestamp ?? null];
    return this.#row = { apiVersion, kind, metadata, columns: this.#columns, cells, object, [reduced]: MARK };
  }
}

/** An unread entry of a row that was written as an object: what a transform has returned for it. It is marked when it is first read. */
export class WrittenRowEntry extends JsonEntry<KubernetesObject> {
  readonly #reduction: Reduction | undefined;

  /** `reduction` is that of the row's object; the other parameters are those of `unreadEntry`. */
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

  /** See {@linkcode Entry.object}. */
  override get object(): KubernetesObject {
    const row = super.object as KubernetesObject & { object?: unknown; [reduced]?: string };
    if (row[reduced] !== undefined) return row;
    this.#reduction?.marked(row.metadata, "metadata");
    if (typeof row.object === "object" && row.object !== null) this.#reduction?.marked(row.object);
    row[reduced] = MARK;
    return row;
  }
}
