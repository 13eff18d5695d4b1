import type { Abortable } from "../../api/options.ts";
import type { ViewUpdates } from "./view_reader.ts";
import type { ViewRow } from "./view_update.ts";
import type { ViewWindow } from "./view_window.ts";

/** The reading side of a view of a cache, see `CacheView`: the type for functions over several kinds. */
export interface OrderedView<T> extends Disposable {
  /** `true` once the view has all objects that were cached when it began. */
  readonly hasSynced: boolean;
  /** The number of rows. */
  readonly total: number;
  /** Returns the rows of a window. @throws {RangeError} when the offset or limit is no count. */
  rows(window?: ViewWindow): readonly ViewRow<T>[];
  /** Returns the rows of a window, then their changes. @throws {RangeError} when the offset or limit is no count. */
  changes(options?: ViewWindow & Abortable): ViewUpdates<T>;
}
