/**
 * Informers for browsers and other clients without credentials of the cluster.
 *
 * {@linkcode InformerRelay} serves their caches as JSON and as server-sent events; {@linkcode RelayEvents} and
 * {@linkcode ViewEvents} describe the format. {@linkcode informerProbes} answers probes. No runtime is needed: a relay is a function
 * from `Request` to `Response`.
 *
 * @module
 */
export { informerProbes, type InformerProbesOptions } from "./informer_probes.ts";
export { InformerRelay, type RelayStatus } from "./informer_relay.ts";
export type { RelayOptions } from "./relay_options.ts";
export type { RelayedCollection } from "./collection/relayed_collection.ts";
export type { Authorization, AuthorizeRequest, RequestedData } from "./http/authorization.ts";
export type { ConnectionInfo } from "./http/request_guard.ts";
export type {
  DeletedData,
  EndData,
  RelayEvents,
  RelayList,
  ResetData,
  SnapshotData,
  StateData,
} from "./format/relay_events.ts";
export type {
  CollectionData,
  CollectionList,
  StreamData,
  ViewData,
  ViewEvents,
  ViewRequest,
} from "./format/view_events.ts";
