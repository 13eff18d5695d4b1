import type { ObjectKey } from "../../api/key.ts";

/** A row of a view. */
export interface ViewRow<T> {
  /** The key of the object, which no other row of the view has. */
  readonly key: ObjectKey;
  /** The object; parsed when it is first read. Throws `DecodeError` when it cannot be. */
  readonly object: T;
}

/**
 * A change of a window. Its positions count from the beginning of the window, and are those of the moment at which the change is
 * applied, behind the ones before it.
 *
 * - `entered`: a row is inserted at `to`.
 * - `left`: the row at `from` is removed; it was deleted, or no longer belongs to the view, or is now outside of the window.
 * - `moved`: the row at `from` has changed, is removed there, and inserted at `to`.
 * - `changed`: the row at `to` has changed, and keeps its place.
 *
 * Rows that make room for another one have no change of their own.
 */
export type RowChange<T> =
  | { readonly type: "entered"; readonly to: number; readonly row: ViewRow<T> }
  | { readonly type: "left"; readonly from: number; readonly key: ObjectKey }
  | { readonly type: "moved"; readonly from: number; readonly to: number; readonly row: ViewRow<T> }
  | { readonly type: "changed"; readonly to: number; readonly row: ViewRow<T> };

/** A step of a window from one state to a later one. */
export interface ViewUpdate<T> {
  /** The number of rows of the view, in the window and outside of it. */
  readonly total: number;
  /** The number of rows before the window. */
  readonly offset: number;
  /** All rows of the window, which replace those before: in the first update, after a move, and where the reader fell behind. */
  readonly rows?: readonly ViewRow<T>[];
  /** The changes since the last update; none where `rows` is set. */
  readonly changes: readonly RowChange<T>[];
}

/** Applies an update to the rows of a window, and returns the new rows. The array may be changed, and be the one returned. */
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
