/**
 * A list whose items are identified by the fields `K` (`x-kubernetes-list-type: map`).
 *
 * It is an array to its readers. Server-side apply merges such lists item by item, so `Apply` requires `K` in each item.
 */
export interface ListMap<T, K extends keyof T> extends ReadonlyArray<T> {
  /** Carries the names `K`; never set. */
  readonly $keys?: K;
}
