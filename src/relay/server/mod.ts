/**
 * Informers for browsers and other clients without credentials of the cluster.
 *
 * {@linkcode InformerRelay} serves their caches as JSON and as server-sent events; {@linkcode RelayEvents} and
 * {@linkcode ViewEvents} describe the format. {@linkcode informerProbes} answers probes. No runtime is needed: a relay
 * is a function from `Request` to `Response`.
 *
 * @module
 */
export { informerProbes, type InformerProbesOptions } from "./informer_relay.ts";
export { InformerRelay, type RelayStatus } from "./informer_relay.ts";
export type {
  Authorization,
  AuthorizeRequest,
  ConnectionInfo,
  Grant,
  ObjectPredicate,
  ObjectRight,
} from "./options.ts";
export type { RelayedCollection, RelayOptions, RequestedData, RequestedPart } from "./options.ts";
export { accessReview, type ReviewAccess, type ReviewedUser } from "./rights.ts";
export type { DeletedData, EndData, RelayEvents, RelayList, ResetData, SnapshotData, StateData } from "./format.ts";
export type { CollectionData, CollectionList, NamespacesData, StreamData } from "./format.ts";
export type { ViewData, ViewEvents, ViewRequest } from "./format.ts";
