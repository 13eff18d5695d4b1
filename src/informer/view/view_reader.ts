import type { ObjectKey } from "../../api/key.ts";
import { PolledIterator } from "../../async/polled_iterator.ts";
import type { RowChange, ViewRow, ViewUpdate } from "./view_update.ts";
import { checkedWindow, type ViewWindow } from "./view_window.ts";

/** The updates of a window, which may be moved meanwhile. */
export interface ViewUpdates<T> extends AsyncIterableIterator<ViewUpdate<T>, undefined> {
  /**
   * Moves the window; what is not given stays as it is. The next update has all of its rows.
   *
   * @throws {RangeError} when the offset or limit is no count.
   */
  moveTo(window: ViewWindow): void;
}

/** A change of one row, by ranks among the other rows; `Infinity` is the rank of a row that is not there. */
export interface RowMove<T> {
  /** The key of the row. */
  readonly key: ObjectKey;
  /** The new row; `undefined` if it was removed. */
  readonly row: ViewRow<T> | undefined;
  /** The number of other rows that were before it. */
  readonly from: number;
  /** The number of other rows that are before it. */
  readonly to: number;
}

/** A reader's connection to its view. */
export interface ViewReaderContext<T> {
  /** Ends the reader. */
  readonly signal: AbortSignal | undefined;
  /** Returns the rows of a window; `undefined` before the view has synced. */
  readonly rows: (window: ViewWindow) => readonly ViewRow<T>[] | undefined;
  /** Returns the number of rows of the view. */
  readonly total: () => number;
  /** Called when the reader begins. */
  readonly onBegin: (reader: ViewReader<T>) => void;
  /** Called when the reader ends. */
  readonly onEnd: (reader: ViewReader<T>) => void;
}

/** A few changes may be pending for a small window too. */
const FEW_CHANGES = 16;

/** Turns the changes of a view into updates of a window. */
export class ViewReader<T> extends PolledIterator<ViewUpdate<T>> implements ViewUpdates<T> {
  readonly #context: ViewReaderContext<T>;
  #window: Required<ViewWindow>;
  /** The changes that have not been taken; `undefined` if the rows are to be taken instead. */
  #changes: RowChange<T>[] | undefined;
  /** `true` if and only if there is an update to take. */
  #isDue = true;

  constructor(window: Required<ViewWindow>, context: ViewReaderContext<T>) {
    super(context.signal);
    this.#window = window;
    this.#context = context;
  }

  moveTo(window: ViewWindow): void {
    this.#window = checkedWindow(window, this.#window);
    this.replaced();
  }

  /** The rows are to be read again. */
  replaced(): void {
    this.#changes = undefined;
    this.#due();
  }

  /** Adds a change; `others` has the rows in order, without the one that has changed where its rank is another one now. */
  changed({ key, row, from, to }: RowMove<T>, others: { at(rank: number): ViewRow<T> | undefined }): void {
    if (from === Infinity || to === Infinity) this.#due(); // the number of rows is another one
    if (this.#changes === undefined) return; // survives: rows-instead
    const { offset, limit } = this.#window;
    if (limit === 0) return;
    const last = offset + limit - 1;
    const before = placeOf(from, offset, last);
    const after = placeOf(to, offset, last);
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

  protected override begin(): void {
    this.#context.onBegin(this);
  }

  protected override finish(): void {
    this.#context.onEnd(this);
  }

  #add(change: RowChange<T>): void {
    if (this.#changes === undefined) return;
    const size = Math.min(this.#window.limit, this.#context.total());
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
    const rows = changes === undefined ? this.#context.rows(this.#window) : undefined;
    if (changes === undefined && rows === undefined) return undefined;
    this.#isDue = false;
    this.#changes = [];
    return {
      total: this.#context.total(),
      offset: this.#window.offset,
      ...(rows === undefined ? {} : { rows }),
      changes: changes ?? [],
    };
  }
}

/** Returns the place of a rank. A row that is not there counts as one behind the window. */
function placeOf(rank: number, first: number, last: number): "ahead" | "inside" | "behind" {
  return rank < first ? "ahead" : rank <= last && rank < Infinity ? "inside" : "behind";
}
