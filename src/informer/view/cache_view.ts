/**
 * Ordered views of an informer's cache.
 *
 * {@linkcode CacheView} is the entry point: it keeps the objects that a predicate selects in a `RankTree`, and notifies the readers of
 * windows, each a `ViewReader`, of the changes in their window. It is filled by an event handler, so it shows a state that the cache
 * had, a little later than the cache.
 *
 * @module
 */
import type { Entry } from "../../api/entry.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { RankTree } from "../../store/rank_tree.ts";
import type { Quarantine } from "../cache/quarantine.ts";
import type { Added, AddedEvent, UpdatedEvent } from "../events/event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "../events/handler.ts";
import { compareSortValues, parseSortKey, type SortKey, type SortOrder, type SortValue } from "./sort_key.ts";
import type { OrderedView } from "./ordered_view.ts";
import { ViewReader, type ViewUpdates } from "./view_reader.ts";
import type { ViewRow } from "./view_update.ts";
import { checkedWindow, type ViewWindow } from "./view_window.ts";

/** Options of a view. The signal ends it. */
export interface ViewOptions<T> extends ViewWindow, Abortable {
  /**
   * Restricts the view to objects for which it holds. It reads, and so parses, every object. An object for which it throws is left
   * out, and the error is reported.
   *
   * @default {all objects}
   */
  readonly where?: (object: T) => boolean;
  /**
   * The order; the first key counts most, and rows that are equal in all of them are in the order of their object keys. It reads,
   * and so parses, every object, once for each change of it. An object for which a function throws is left out, and the error is
   * reported.
   *
   * @default {the order of the object keys, for which no object is parsed}
   */
  readonly sortBy?: SortKey<T> | readonly SortKey<T>[];
  /** The name in status and errors. @default {"view"} */
  readonly name?: string;
}

/** A row with the values that it is sorted by. */
class Row<T extends KubernetesObject> implements ViewRow<T> {
  readonly entry: Entry<T>;
  readonly quarantine: Quarantine<T>;
  readonly values: readonly SortValue[];

  constructor({ entry, quarantine }: Added<T>, values: readonly SortValue[]) {
    this.entry = entry;
    this.quarantine = quarantine;
    this.values = values;
  }

  get key(): ObjectKey {
    return this.entry.key;
  }

  get object(): T {
    return this.quarantine.objectOf(this.entry);
  }
}

/**
 * The objects of a cache that a predicate selects, in order, for readers that show a part of them.
 *
 * - A change of an object costs O(log n), whatever the number of rows, and a comparison for each reader. Nothing is sorted again.
 * - The memory is a row of about 150 bytes for each object, beside the cache.
 * - Any number of readers share the rows, each with a window of its own.
 */
export class CacheView<T extends KubernetesObject> implements OrderedView<T> {
  readonly #window: Required<ViewWindow>;
  readonly #keys: readonly SortOrder<T>[];
  /** `#rows` has a key if and only if `#tree` has that row. */
  readonly #rows = new Map<ObjectKey, Row<T>>();
  readonly #tree: RankTree<Row<T>>;
  /** Has a reader if and only if it has begun and not ended. */
  readonly #readers = new Set<ViewReader<T>>();
  readonly #registration: HandlerRegistration;
  /** `true` from the disposal, or the end of the informer, on. */
  #isOver = false;

  /**
   * Begins a view, which `add` registers as a handler.
   *
   * @throws {SyntaxError} when a sort key is no path of a field.
   * @throws {RangeError} when the offset or limit is no count.
   */
  constructor(
    add: (handler: ResourceEventHandler<T>, options: HandlerOptions<T>) => HandlerRegistration,
    options: ViewOptions<T> = {},
  ) {
    const { where, sortBy = [], name = "view", signal, offset, limit } = options;
    this.#window = checkedWindow({ offset, limit });
    this.#keys = (Array.isArray(sortBy) ? sortBy as readonly SortKey<T>[] : [sortBy as SortKey<T>]).map(
      parseSortKey<T>,
    );
    this.#tree = new RankTree((a, b) => this.#compare(a, b));
    // An object that cannot be read is left out by a filter, and reported once, by the quarantine.
    const filter = where ?? (this.#keys.length > 0 ? () => true : undefined);
    this.#registration = add({
      onAdd: (event) => this.#put(event),
      onUpdate: (event) => this.#put(event),
      onDelete: (event) => this.#replace(event.key, undefined),
      onSynced: (_event, { signal }) => {
        signal.addEventListener("abort", this.#end, { once: true });
        for (const reader of this.#readers) reader.replaced();
      },
    }, { name, signal, filter, resyncMs: 0 });
    this.#registration.waitForSync().catch(this.#end); // rejects before the initial sync, and never afterwards
  }

  /** `true` once the view has all objects that were cached when it began. */
  get hasSynced(): boolean {
    return this.#registration.hasSynced;
  }

  /** The number of rows. */
  get total(): number {
    return this.#tree.size;
  }

  /**
   * Returns the rows of a window, in O(log n) and their number; before {@linkcode hasSynced}, of the objects that have been read.
   *
   * @param window A window other than that of the view.
   * @throws {RangeError} when the offset or limit is no count.
   */
  rows(window: ViewWindow = {}): readonly ViewRow<T>[] {
    const { offset = 0, limit = Infinity } = checkedWindow(window, this.#window);
    return this.#tree.slice(offset, offset + limit);
  }

  /**
   * Returns the rows of a window, once the view has synced, then their changes. The iterator begins at its first `next()`, and ends
   * with the view, when the signal aborts, or at `break`.
   *
   * Changes are collected until `next()` is called, and a reader that is behind by more changes than its window has rows gets the
   * rows instead, so that a slow reader needs no more memory than its window.
   *
   * @param options A signal, and a window other than that of the view.
   * @throws {RangeError} when the offset or limit is no count.
   */
  changes(options: ViewWindow & Abortable = {}): ViewUpdates<T> {
    return new ViewReader<T>(checkedWindow(options, this.#window), {
      signal: options.signal,
      rows: (window) => this.hasSynced ? this.rows(window) : undefined,
      total: () => this.total,
      onBegin: (reader) => {
        if (this.#isOver) return reader.end();
        this.#readers.add(reader);
      },
      onEnd: (reader) => this.#readers.delete(reader),
    });
  }

  /** Ends the view and its readers. The rows stay as they are. */
  [Symbol.dispose](): void {
    this.#end();
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#registration.remove();
    for (const reader of this.#readers) reader.end();
  };

  #put(event: AddedEvent<T> | UpdatedEvent<T>): void {
    let row: Row<T> | undefined;
    try {
      row = new Row(event as Added<T>, this.#keys.map((key) => key.by(event.object)));
    } finally {
      this.#replace(event.key, row); // an object without values is left out
    }
  }

  #replace(key: ObjectKey, row: Row<T> | undefined): void {
    const before = this.#rows.get(key);
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
    if (row !== undefined && before !== undefined && this.#tree.replace(row)) { // survives: same-place
      if (this.#readers.size === 0) return; // survives: no-readers
      const rank = this.#tree.rankOf(row);
      for (const reader of this.#readers) reader.changed({ key, row, from: rank, to: rank }, this.#tree);
      return;
    }
    if (before !== undefined) this.#tree.delete(before);
    if (this.#readers.size > 0) {
      const from = before === undefined ? Infinity : this.#tree.rankOf(before);
      const to = row === undefined ? Infinity : this.#tree.rankOf(row);
      for (const reader of this.#readers) reader.changed({ key, row, from, to }, this.#tree);
    }
    if (row !== undefined) this.#tree.add(row);
  }

  #compare(a: Row<T>, b: Row<T>): number {
    for (let i = 0; i < this.#keys.length; i++) {
      const order = compareSortValues(a.values[i], b.values[i], this.#keys[i].descending);
      if (order !== 0) return order;
    }
    return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
  }
}
