/**
 * Ordered views of an informer's cache.
 *
 * {@linkcode CacheView} is the entry point: it keeps the objects that a predicate selects in a `RankTree`, and notifies
 * the readers of windows, each a `ViewReader`, of the changes in their window. It is filled by an event handler, so it
 * shows a state that the cache had, a little later than the cache.
 *
 * @module
 */

import type { Abortable } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { elementsAt, parseFieldPath } from "../api/selector.ts";
import { PolledIterator, Readers } from "../async/iterate.ts";
import { checkCounts } from "../errors/checks.ts";
import { checkNames } from "../errors/option_names.ts";
import { RankTree } from "../store/rank_tree.ts";
import type { Quarantine } from "./cache/entry_transform.ts";
import type {
  Added,
  AddedEvent,
  HandlerOptions,
  HandlerRegistration,
  ResourceEventHandler,
  UpdatedEvent,
} from "./events/event.ts";

/** A row in a view. */
export interface ViewRow<T> {
  /** The cluster's name, in a view over several clusters. */
  readonly cluster?: string;
  /**
   * The object's key, unique in the view. In a view over several clusters it starts with the cluster's name:
   * `"berlin/shop/cart-0"`.
   */
  readonly key: ObjectKey;
  /** The object, parsed on first read. Throws `DecodeError` if it cannot be read. */
  readonly object: T;
}

/**
 * A change in a window. Positions count from the start of the window. Apply the changes one after the other: each
 * position is correct after the changes before it.
 *
 * - `entered`: insert the row at `to`.
 * - `left`: remove the row at `from`. It was deleted, does not match any more, or is now outside the window.
 * - `moved`: the row has changed. Remove it at `from`, and insert it at `to`.
 * - `changed`: the row at `to` has changed, and keeps its place.
 *
 * Rows that only shift by one have no change.
 */
export type RowChange<T> =
  | { readonly type: "entered"; readonly to: number; readonly row: ViewRow<T> }
  | { readonly type: "left"; readonly from: number; readonly key: ObjectKey }
  | { readonly type: "moved"; readonly from: number; readonly to: number; readonly row: ViewRow<T> }
  | { readonly type: "changed"; readonly to: number; readonly row: ViewRow<T> };

/** A step from one state of a window to a later one. Apply it with {@linkcode applyViewUpdate}. */
export interface ViewUpdate<T> {
  /** The number of rows in the view, inside and outside the window. */
  readonly total: number;
  /** The number of rows before the window. */
  readonly offset: number;
  /**
   * All rows in the window. They replace the rows that you have: in the first update, after `moveTo()`, and if the
   * reader was too slow.
   */
  readonly rows?: readonly ViewRow<T>[];
  /** The changes since the last update. Empty if `rows` is set. */
  readonly changes: readonly RowChange<T>[];
}

/** Applies an update to your rows of a window, and returns the new rows. It may change the array and return it. */
export function applyViewUpdate<T>(rows: ViewRow<T>[], update: ViewUpdate<T>): ViewRow<T>[] {
  if (update.rows !== undefined) return [...update.rows];
  for (const change of update.changes) {
    if (change.type === "changed") {
      rows[change.to] = change.row;
      continue;
    }
    if (change.type !== "entered") rows.splice(change.from, 1);
    if (change.type !== "left") rows.splice(change.to, 0, change.row);
  }
  return rows;
}

/** A window: the part of a view that you read. */
export interface ViewWindow {
  /** The number of rows before the window. @default {0} */
  readonly offset?: number;
  /** The largest number of rows in the window. @default {Infinity} */
  readonly limit?: number;
}

/**
 * Returns the window with its defaults: those of `base`, then those of all windows.
 *
 * @throws {RangeError} when it is none.
 */
export function checkedWindow({ offset, limit }: ViewWindow, base: ViewWindow = {}): Required<ViewWindow> {
  const window = { offset: offset ?? base.offset ?? 0, limit: limit ?? base.limit ?? Infinity };
  checkCounts("show a part of a view", { offset: window.offset });
  checkCounts("show a part of a view", { limit: window.limit }, { infinite: true });
  return window;
}

/** The updates of a window that you can move. */
export interface ViewUpdates<T> extends AsyncIterableIterator<ViewUpdate<T>, undefined> {
  /**
   * Moves the window. A property that you leave out stays as it is. The next update has all rows.
   *
   * @throws {RangeError} if the offset or limit is not a count.
   */
  moveTo(window: ViewWindow): void;
}

/** A change of one row, by ranks among the other rows; `Infinity` is the rank of a row that is not there. */
interface RowMove<T> {
  /** The key of the row. */
  readonly key: ObjectKey;
  /** The new row; `undefined` if it was removed. */
  readonly row: ViewRow<T> | undefined;
  /** The number of other rows that were before it. */
  readonly from: number;
  /** The number of other rows that are before it. */
  readonly to: number;
}

/** The view of a {@linkcode ViewReader}. */
type ReadView<T> = Pick<OrderedView<T>, "hasSynced" | "total" | "rows">;

/** A few changes may be pending for a small window too. */
const FEW_CHANGES = 16;

/** Turns the changes of a view into updates of a window. */
export class ViewReader<T> extends PolledIterator<ViewUpdate<T>> implements ViewUpdates<T> {
  readonly #view: ReadView<T>;
  #window: Required<ViewWindow>;
  /** The changes that have not been taken; `undefined` if the rows are to be taken instead. */
  #changes: RowChange<T>[] | undefined;
  /** `true` if and only if there is an update to take. */
  #isDue = true;

  constructor(
    window: Required<ViewWindow>,
    view: ReadView<T>,
    readers: Readers<ViewReader<T>>,
    signal: AbortSignal | undefined,
  ) {
    super(signal, readers);
    this.#window = window;
    this.#view = view;
  }

  moveTo(window: ViewWindow): void {
    checkNames("move a window", window, "offset limit");
    this.#window = checkedWindow(window, this.#window);
    this.replaced();
  }

  /** The rows are to be read again. */
  replaced(): void {
    this.#changes = undefined;
    this.#due();
  }

  /**
   * Adds a change; `others` has the rows in order, without the one that has changed where its rank is another one now.
   */
  changed({ key, row, from, to }: RowMove<T>, others: { at(rank: number): ViewRow<T> | undefined }): void {
    if (from === Infinity || to === Infinity) this.#due(); // the number of rows is another one
    if (this.#changes === undefined) return;
    const { offset, limit } = this.#window;
    if (limit === 0) return;
    const last = offset + limit - 1;
    const before = sideOfWindow(from, offset, last);
    const after = sideOfWindow(to, offset, last);
    if (before === after) {
      if (before !== "inside" || row === undefined) return;
      if (from === to) return this.#add({ type: "changed", to: to - offset, row });
      return this.#add({ type: "moved", from: from - offset, to: to - offset, row });
    }
    // The rows between its two places give way by one: one of them leaves the window, or enters it, at the edge.
    const first = others.at(offset - 1);
    const end = others.at(last);
    if (before === "inside") this.#add({ type: "left", from: from - offset, key });
    else if (before === "ahead") { if (first !== undefined) this.#add({ type: "left", from: 0, key: first.key }); }
    else if (end !== undefined) this.#add({ type: "left", from: limit - 1, key: end.key });
    if (after === "inside") this.#add({ type: "entered", to: to - offset, row: row! });
    else if (after === "ahead") { if (first !== undefined) this.#add({ type: "entered", to: 0, row: first }); }
    else if (end !== undefined) this.#add({ type: "entered", to: limit - 1, row: end });
  }

  #add(change: RowChange<T>): void {
    if (this.#changes === undefined) return;
    const size = Math.min(this.#window.limit, this.#view.total);
    if (this.#changes.length >= Math.max(FEW_CHANGES, size)) this.#changes = undefined;
    else this.#changes.push(change);
    this.#due();
  }

  #due(): void {
    this.#isDue = true;
    this.wake();
  }

  /** Returns the update that is due, if there is one; `undefined` before the view has synced. */
  protected override poll(): ViewUpdate<T> | undefined {
    if (!this.#isDue) return undefined;
    const changes = this.#changes;
    const rows = changes === undefined && this.#view.hasSynced ? this.#view.rows(this.#window) : undefined;
    if (changes === undefined && rows === undefined) return undefined;
    this.#isDue = false;
    this.#changes = [];
    return {
      total: this.#view.total,
      offset: this.#window.offset,
      ...(rows === undefined ? {} : { rows }),
      changes: changes ?? [],
    };
  }
}

/** Returns the place of a rank. A row that is not there counts as one behind the window. */
function sideOfWindow(rank: number, first: number, last: number): "ahead" | "inside" | "behind" {
  return rank < first ? "ahead" : rank <= last && rank < Infinity ? "inside" : "behind";
}

/**
 * The methods to read a view, see `CacheView`. Use it as the type of a parameter that accepts views over several kinds.
 */
export interface OrderedView<T> extends Disposable {
  /** `true` once the view has all objects that were cached when it began. */
  readonly hasSynced: boolean;
  /** The number of rows. */
  readonly total: number;
  /** Returns the rows in a window. @throws {RangeError} if the offset or limit is not a count. */
  rows(window?: ViewWindow): readonly ViewRow<T>[];
  /** Yields the rows in a window, then their changes. @throws {RangeError} if the offset or limit is not a count. */
  changes(options?: ViewWindow & Abortable): ViewUpdates<T>;
}

/** A value to sort by. `undefined`, `null` and `NaN` come last, in descending order too. */
export type SortValue = string | number | bigint | boolean | Date | null | undefined;

/** A sort key with its direction. */
export interface SortOrder<T> {
  /** Returns the value to sort an object by. */
  by(object: T): SortValue;
  /** `true` for descending order. @default {false} */
  readonly descending?: boolean;
}

/**
 * A sort key: a function, a function with a direction, or the path of a field, such as `spec.nodeName`. A minus before
 * the path means descending order: `-metadata.creationTimestamp`. If a path leads to several values, the first one
 * counts. In table rows, `cells.1` is the second cell.
 *
 * Numbers come before dates, dates before booleans, and booleans before strings. Strings compare by UTF-16 code units.
 */
export type SortKey<T> = string | ((object: T) => SortValue) | SortOrder<T>;

/** Reads a sort key. @throws {SyntaxError} when a text is no path of a field. */
export function parseSortKey<T>(key: SortKey<T>): SortOrder<T> {
  if (typeof key === "object") return key;
  if (typeof key === "function") return { by: key };
  const descending = key.startsWith("-");
  const path = parseFieldPath(descending ? key.slice(1) : key);
  return { by: (object) => elementsAt(object, path)[0] as SortValue, descending };
}

/** Compares two values of one sort key: negative if `a` comes first. */
function compareSortValues(a: SortValue, b: SortValue, descending = false): number {
  const direction = descending ? -1 : 1;
  if (a === b) return 0;
  const [kind, other] = [kindOf(a), kindOf(b)];
  if (kind !== other) return kind === MISSING || other === MISSING ? kind - other : (kind - other) * direction;
  if (kind === MISSING) return 0; // functions over `any` may return objects, which have no order
  return a! < b! ? -direction : a! > b! ? direction : 0;
}

const MISSING = 4;

/** The places of types among values of several types. */
const KINDS: Readonly<Record<string, number>> = { number: 0, bigint: 0, boolean: 2, string: 3 };

function kindOf(value: SortValue): number {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? MISSING : 1;
  return Number.isNaN(value) ? MISSING : KINDS[typeof value] ?? MISSING;
}

/** Options for a view. The signal ends the view. */
export interface ViewOptions<T> extends ViewWindow, Abortable {
  /**
   * Selects the objects in the view. It reads, and so parses, every object. If it throws, the object is left out, and
   * the error is reported. By default, all objects.
   */
  readonly where?: (object: T) => boolean;
  /**
   * The order of rows. The first key counts most, and rows with equal values follow the order of their object keys. It
   * reads, and so parses, every object after each change. If a function throws, the object is left out, and the error
   * is reported. By default, rows follow the object keys, and no object is parsed.
   */
  readonly sortBy?: SortKey<T> | readonly SortKey<T>[];
  /** The view's name in status and errors. @default {"view"} */
  readonly name?: string;
}

/** A row with the values that it is sorted by. */
class Row<T extends KubernetesObject> implements ViewRow<T> {
  readonly entry: CacheEntry<T>;
  readonly quarantine: Quarantine<T>;
  readonly values: readonly SortValue[];

  constructor({ entry, quarantine }: Added<T>, values: readonly SortValue[]) {
    this.entry = entry;
    this.quarantine = quarantine;
    this.values = values;
  }

  get cluster(): string | undefined {
    return this.quarantine.cluster;
  }

  get key(): ObjectKey {
    return rowKey(this.cluster, this.entry.key);
  }

  get object(): T {
    return this.quarantine.objectOf(this.entry);
  }
}

/** Returns the key of the row of an object. */
function rowKey(cluster: string | undefined, key: ObjectKey): ObjectKey {
  return cluster === undefined ? key : `${cluster}/${key}`;
}

/**
 * A view: cached objects that a predicate selects, in order, for readers that show one page of them.
 *
 * - A change costs O(log n), plus one comparison for each reader. Nothing is sorted again.
 * - Each row takes about 150 bytes, in addition to the cache.
 * - Any number of readers share the rows. Each has its own window.
 */
export class CacheView<T extends KubernetesObject> implements OrderedView<T> {
  readonly #window: Required<ViewWindow>;
  readonly #keys: readonly SortOrder<T>[];
  /** `#rows` has a key if and only if `#tree` has that row. */
  readonly #rows = new Map<ObjectKey, Row<T>>();
  readonly #tree: RankTree<Row<T>>;
  readonly #readers = new Readers<ViewReader<T>>();
  readonly #registration: HandlerRegistration;
  #hasSynced = false;

  /**
   * Creates a view, which is a handler on `informer`.
   *
   * @throws {SyntaxError} if a sort key is not a field path.
   * @throws {RangeError} if the offset or limit is not a count.
   */
  constructor(
    informer: { addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration },
    options: ViewOptions<T> = {},
  ) {
    checkNames("create a view", options, "where sortBy name offset limit signal");
    const { where, sortBy = [], name = "view", signal, offset, limit } = options;
    this.#window = checkedWindow({ offset, limit });
    this.#keys = (Array.isArray(sortBy) ? sortBy : [sortBy]).map(parseSortKey<T>);
    this.#tree = new RankTree((a, b) => this.#compare(a, b));
    // An object that cannot be read is left out by a filter, and reported once, by the quarantine.
    const filter = where ?? (this.#keys.length > 0 ? () => true : undefined);
    this.#registration = informer.addEventHandler({
      onAdd: (event) => this.#put(event),
      onUpdate: (event) => this.#put(event),
      onDelete: ({ cluster, key }) => this.#replace(rowKey(cluster, key), undefined),
      onSynced: (_event, { signal }) => {
        this.#hasSynced = true;
        signal.addEventListener("abort", this.#end, { once: true });
        for (const reader of this.#readers) reader.replaced();
      },
    }, { name, signal, filter, resyncMs: 0 });
    this.#registration.waitForSync().catch(this.#end); // rejects before the initial sync, and never afterwards
  }

  /**
   * `true` once the view has all objects that were cached when it began. With several clusters, one of them is enough.
   */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The number of rows. */
  get total(): number {
    return this.#tree.size;
  }

  /**
   * Returns the rows in a window, in O(log n) plus their number. Before {@linkcode hasSynced}, some objects are
   * missing.
   *
   * @param window A window that differs from the view's.
   * @throws {RangeError} if the offset or limit is not a count.
   */
  rows(window: ViewWindow = {}): readonly ViewRow<T>[] {
    checkNames("read a view", window, "offset limit");
    const { offset = 0, limit = Infinity } = checkedWindow(window, this.#window);
    return this.#tree.slice(offset, offset + limit);
  }

  /**
   * Yields the rows in a window once the view has synced, then their changes. The iterator begins at the first
   * `next()`. It ends with the view, when the signal aborts, or at `break`.
   *
   * Changes are collected until you call `next()`. If there are more changes than rows in the window, you get all rows
   * instead. So the memory for a slow reader is limited to its window.
   *
   * @param options A signal, and a window that differs from the view's.
   * @throws {RangeError} if the offset or limit is not a count.
   */
  changes(options: ViewWindow & Abortable = {}): ViewUpdates<T> {
    checkNames("read a view", options, "offset limit signal");
    return new ViewReader<T>(checkedWindow(options, this.#window), this, this.#readers, options.signal);
  }

  /** Ends the view and its readers. The rows stay as they are. */
  [Symbol.dispose](): void {
    this.#end();
  }

  readonly #end = (): void => {
    this.#registration.remove();
    this.#readers.end();
  };

  #put(event: AddedEvent<T> | UpdatedEvent<T>): void {
    let row: Row<T> | undefined;
    try {
      row = new Row(event as Added<T>, this.#keys.map((key) => key.by(event.object)));
    } finally {
      this.#replace(rowKey(event.cluster, event.key), row); // an object without values is left out
    }
  }

  #replace(key: ObjectKey, row: Row<T> | undefined): void {
    const before = this.#rows.get(key);
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
    if (row !== undefined && before !== undefined && this.#tree.replace(row)) {
      let rank: number | undefined; // costs O(log n), which only readers pay
      for (const reader of this.#readers) {
        rank ??= this.#rankOf(row);
        reader.changed({ key, row, from: rank, to: rank }, this.#tree);
      }
      return;
    }
    if (before !== undefined) this.#tree.delete(before);
    let move: RowMove<T> | undefined;
    for (const reader of this.#readers) {
      move ??= { key, row, from: this.#rankOf(before), to: this.#rankOf(row) };
      reader.changed(move, this.#tree);
    }
    if (row !== undefined) this.#tree.add(row);
  }

  #rankOf(row: Row<T> | undefined): number {
    return row === undefined ? Infinity : this.#tree.rankOf(row);
  }

  #compare(a: Row<T>, b: Row<T>): number {
    for (let i = 0; i < this.#keys.length; i++) {
      const order = compareSortValues(a.values[i], b.values[i], this.#keys[i].descending);
      if (order !== 0) return order;
    }
    return compareTexts(a.cluster ?? "", b.cluster ?? "") || compareTexts(a.entry.key, b.entry.key);
  }
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
