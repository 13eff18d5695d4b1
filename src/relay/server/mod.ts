/**
 * Serves informer caches to browsers and to other programs without cluster credentials, over plain HTTP.
 *
 * Import this module if many clients should read the same objects: the API server has one watch per kind, however many
 * clients you have. {@linkcode InformerRelay} serves the caches as JSON and as server-sent events.
 * {@linkcode RelayEvents} and {@linkcode ViewEvents} describe these events. {@linkcode accessReview} lets RBAC decide
 * what each user may see. A relay is a function from `Request` to `Response`, so it runs on every server.
 *
 * Read the guide: [Serve a cache to many clients](../../../docs/relay/serve.md).
 *
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { InformerRelay } from "@kube/informer/relay";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() }); // or await connect()
 * await using informers = new SharedInformerFactory(client);
 * await using relay = new InformerRelay(informers, { collections: { pods: Pod } });
 * console.log(relay.status()); // Deno.serve(relay.fetch) serves /api/pods and /events/pods
 * ```
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
