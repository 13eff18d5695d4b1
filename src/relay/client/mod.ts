/**
 * Reads from a relay in a browser, or in any other program without cluster credentials.
 *
 * Import this module in a page that shows live objects. {@linkcode subscribe} gives you a copy of a collection, with a
 * `Lister` and events as from an informer. {@linkcode subscribeViews} gives you windows: the relay sends only the rows
 * in them. Both reconnect by themselves, and have `subscribe` and `getSnapshot` for UI libraries such as React. They
 * use only web standards, and have at most 8 kB, minified and compressed.
 *
 * Read the guide: [Show live data in a browser](../../../docs/relay/browser.md).
 *
 * ```ts
 * import { subscribe } from "@kube/informer/relay/client";
 *
 * async function logPods(): Promise<void> {
 *   const pods = subscribe("/", "pods", { namespace: "shop", fields: ["status.phase"] });
 *   for await (const event of pods) console.log(event); // added, updated, deleted or synced
 * }
 * ```
 *
 * @module
 */
export type { CollectionEvent } from "../../engine/informer/readable_collection.ts";
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
