/**
 * The client of a relay: a copy of a collection, and views of collections, for browsers and other programs without
 * credentials of the cluster.
 *
 * {@linkcode subscribe} returns a `Lister` and events as an informer has them; {@linkcode subscribeViews} returns
 * windows, of which the relay sends nothing else. Both connect again when a connection ends, and have `subscribe` and
 * `getSnapshot` for UI libraries. They use web standards alone, at most 8 kB, minified and compressed.
 *
 * @module
 */
export type { CollectionEvent } from "../../informer/readable_collection.ts";
export { type FetchLike, type RelayClientOptions, RelayError } from "./server_events.ts";
export {
  subscribe,
  type SubscribeOptions,
  Subscription,
  type SubscriptionSnapshot,
  type SubscriptionState,
} from "./subscription.ts";
export {
  RemoteView,
  subscribeViews,
  type SubscribeViewsOptions,
  type ViewSnapshot,
  ViewSubscription,
} from "./view_subscription.ts";
