/** A part of a view. */
export interface ViewWindow {
  /** The number of rows before the window. @default {0} */
  readonly offset?: number;
  /** The greatest number of rows in the window. @default {Infinity} */
  readonly limit?: number;
}

/** Returns the window with its defaults: those of `base`, then those of all windows. @throws {RangeError} when it is none. */
export function checkedWindow({ offset, limit }: ViewWindow, base: ViewWindow = {}): Required<ViewWindow> {
  const window = { offset: offset ?? base.offset ?? 0, limit: limit ?? base.limit ?? Infinity };
  check("offset", window.offset);
  if (window.limit !== Infinity) check("limit", window.limit);
  return window;
}

function check(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new RangeError(`Cannot show a part of a view: the ${name} must be an integer of at least 0, found ${value}`);
}
