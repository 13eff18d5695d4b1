/**
 * Everything to build a controller: reconcilers, a manager, writes to objects (owner references, finalizers,
 * conditions), leader election, sharding and events.
 *
 * A {@linkcode Reconciler} calls your function with a key when an object of a kind changes. It also calls it when an
 * object changes that the first one owns (`owns()`), or that your map function maps to the key (`watches()`). Your
 * function reads the cache and writes to the server.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new Reconciler(client, Pod, async ({ object: pod, client }) => {
 *   const { nodeName } = pod?.spec ?? {};
 *   if (pod === undefined || nodeName === undefined || pod.metadata.labels?.node === nodeName) return;
 *   const body = { metadata: { labels: { node: nodeName } } };
 *   await client.resource(Pod, { namespace: pod.metadata.namespace }).patch(pod.metadata.name, { type: "merge", body });
 * }, { concurrency: 4 });
 *
 * const running = pods.run();
 * const { metadata } = await pods.informer.until(({ metadata }) => metadata.labels?.node !== undefined);
 * assertEquals(metadata.labels?.node, "worker-1");
 * await pods[Symbol.asyncDispose]();
 * await running;
 * ```
 *
 * @module
 */

export type { WriteOptions } from "../../../engine/client/resource_client.ts";
export type { HandlerOptions } from "../../../engine/informer/events/event.ts";
export { Reconciler } from "./reconciler.ts";
export {
  type InformerSelection,
  type ObserveReconcile,
  type ReconcileCache,
  type ReconcileContext,
  type ReconcileFunction,
  type ReconcileObserver,
  type ReconcileOutcome,
  type ReconcileRecord,
  type ReconcilerOptions,
  type ReconcilerRunOptions,
  type ReconcilerStatus,
  type StartedReconcile,
  TerminalError,
  type WatchedKind,
  type WatchedKindOptions,
} from "./options.ts";
export {
  annotationsChanged,
  fieldsChanged,
  generationChanged,
  labelsChanged,
  type ObjectChange,
  type Predicate,
} from "./predicates.ts";
export type { MapFunction } from "./key_sources.ts";
export {
  type CreatedOrUpdated,
  createOrUpdate,
  type CreateOrUpdateOptions,
  finalize,
  type FinalizeOptions,
  retryOnConflict,
  type RetryOnConflictOptions,
  type StatusOf,
  upgradeManagedFields,
  type UpgradeManagedFieldsOptions,
  writeStatus,
} from "./objects.ts";
export { type ConditionDraft, conditionsSchema, findCondition, setCondition } from "./conditions.ts";
export {
  AlreadyControlledError,
  controllerOf,
  type Ownable,
  type OwnerOptions,
  ownerReferenceTo,
  withController,
  withOwner,
} from "./owners.ts";
export type { Condition } from "../../../engine/kinds/meta/v1.ts";
export {
  type FencingToken,
  LeaderElector,
  type LeaderElectorOptions,
  type LeaderElectorStatus,
  type Leadership,
  LeadershipLostError,
  UnfinishedWorkError,
} from "./leader_elector.ts";
export type { ElectionClock } from "./lease_lock.ts";
export { type ReleaseHook, ShardGroup, type ShardGroupOptions, type ShardGroupStatus } from "./shard_group.ts";
export { ConfigMapCheckpoints } from "./config_map_checkpoints.ts";
export { EventRecorder, type EventRecorderOptions, type EventRecorderStatus } from "./event_recorder.ts";
export type { EventDetails } from "./event_series.ts";
export { Manager, type ManagerOptions } from "./manager.ts";
export type { ManagerPhase, ManagerStatus } from "./manager_status.ts";
export {
  type MetricFamily,
  type MetricSample,
  OPEN_METRICS_TYPE,
  openMetricsText,
} from "../../../engine/informer/metrics.ts";
export { perObject, type PerObjectOptions } from "../../../engine/informer/per_object.ts";
export { objectMetrics, type ObjectMetricsOptions } from "../../../engine/informer/object_metrics.ts";

// reconciler: keys of one kind, reconciled one at a time.

// objects: writes that controllers make to objects.

// election: one leader among several processes.

// shards: processes that divide the hashes of objects among them.

// events: records for people about objects.

// manager: informers, reconcilers, an elector and recorders, run and stopped in order.
