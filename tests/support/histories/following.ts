import {
  type Client,
  field,
  type HandlerRegistration,
  type KubernetesObject,
  onlyFields,
  onlyMetadata,
  type Resource,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
  SharedInformerFactory,
} from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import type { ListenerChecker } from "./listener_checker.ts";
import type { InformerPlan, ListenerPlan } from "./script.ts";
import { type CacheState, OneSnapshot, type Restored, type SnapshotOfCache } from "./snapshot.ts";

/** A listener and the events that it has received. */
export interface Listening {
  readonly plan: ListenerPlan;
  readonly checker: ListenerChecker;
  readonly registration: HandlerRegistration | undefined;
  readonly stop: AbortController;
  removed: boolean;
}

/** An informer and its lists, watches and listeners. */
export interface Following {
  readonly plan: InformerPlan;
  readonly informer: SharedIndexInformer<KubernetesObject, "tier">;
  /** The factory that made it, if one did. */
  readonly factory: SharedInformerFactory | undefined;
  /** The place of the snapshot of the factory. */
  readonly store: OneSnapshot;
  /** The errors that the factory has reported. */
  readonly errors: unknown[];
  /** The last snapshot that was taken of it without a factory. */
  kept: SnapshotOfCache | undefined;
  /** Its beginning, if it was restored; else it began with a list. */
  restored: Restored | undefined;
  /** The number of times that the server's history had gone back before that of its cache. */
  epoch: number;
  running: Promise<void>;
  /** Ends its run. */
  ending: AbortController;
  /** True if its run has ended, and may begin again. */
  ended: boolean;
  readonly listening: Listening[];
  readonly startedAt: number;
  /** Lists begun, by pages or by a stream, since the first sync. */
  relists: number;
  /** Lists begun at all. */
  lists: number;
  /** True while a list is under way. */
  listing: boolean;
  /** True while it watches, or a watch is being opened. */
  watching: boolean;
  stopped: boolean;
  paused: boolean;
  /** Lists that a pause or the end of a run ended, so that they began again. */
  interruptedLists: number;
  /** Lists that checks asked for. */
  checkLists: number;
}

/**
 * Makes an informer with this option `compact`. It does not run yet. In a factory it begins with `snapshot`, of the
 * cluster with that name.
 */
export function follow(
  client: Client,
  plan: InformerPlan,
  compact: boolean,
  epoch: number,
  cluster: string,
  snapshot?: SnapshotOfCache,
): Following {
  const { namespace, labelSelector, streamingList, pageSize, watchTimeoutMs, parse, indexed = true } = plan;
  const store = new OneSnapshot(() => cacheStateOf(following), snapshot, cluster);
  const errors: unknown[] = [];
  const factory = !plan.factory ? undefined : new SharedInformerFactory(client, {
    onError: (error) => errors.push(error),
    snapshots: { store, cluster },
  });
  const options: SharedIndexInformerOptions<KubernetesObject, "tier"> = {
    parse,
    freeze: true,
    compact,
    ...(plan.transform ? { transform: (object) => changed(object, plan) } : {}),
    // A field is read without parsing the object, which stays compact.
    ...(indexed
      ? {
        indexers: {
          tier: compact ? field("metadata.labels.tier") : ({ metadata }) => [metadata.labels?.tier ?? "none"],
        },
      }
      : {}),
    ...(plan.metadataOnly ? {} : { deliverUnchanged: plan.deliverUnchanged }),
    reflector: {
      streamingList,
      pageSize,
      watchTimeoutMs,
      onPhase: (phase) => {
        following.watching = phase.name === "watching";
        if (phase.name === "watching" && following.lists > 0 && following.restored !== undefined) {
          following.restored.listedAt ??= Number(phase.resourceVersion);
        }
        if (phase.name === "watching" && !phase.open) cut(following, phase.resourceVersion);
        if (phase.name === "listing") cut(following);
        if ((phase.name === "paused" || phase.name === "stopped") && following.listing) following.interruptedLists++;
        const isNew = phase.name === "listing" && !following.listing;
        following.listing = phase.name === "listing";
        if (!isNew) return; // another attempt at the same list: of the newest state, or in pages
        following.lists++;
        if (following.informer.hasSynced) following.relists++;
      },
    },
  };
  const resource = resourceOf(plan);
  const following: Following = {
    plan,
    informer: factory === undefined
      ? new SharedIndexInformer(client.resource(resource, { namespace, labelSelector }), options)
      : factory.forResource(resource, { namespace, labelSelector, ...options }),
    factory,
    store,
    errors,
    kept: undefined,
    restored: undefined,
    epoch,
    running: Promise.resolve(),
    ending: new AbortController(),
    ended: false,
    listening: [],
    startedAt: Date.now(),
    relists: 0,
    lists: 0,
    listing: false,
    watching: false,
    stopped: false,
    paused: false,
    interruptedLists: 0,
    checkLists: 0,
  };
  return following;
}

/** Runs an informer, perhaps again. */
export function run(following: Following): void {
  following.ended = false;
  const { signal } = following.ending = new AbortController();
  following.running = (following.factory ?? following.informer).run({ signal });
}

/** Stops an informer. */
export function stop({ informer, factory }: Following): Promise<void> {
  return (factory ?? informer)[Symbol.asyncDispose]();
}

/** The cache of an informer at this moment. */
export function cacheStateOf({ informer, plan, epoch }: Following): CacheState {
  const { resourceVersion, notLiveSince } = informer.status();
  return {
    version: resourceVersion,
    objects: new Map(
      informer.entries.list().map(({ key, uid, resourceVersion }) => [key, { uid, version: resourceVersion }]),
    ),
    texts: plan.indexed === false ? [] : informer.indexer.list().map(canonical).sort(),
    at: notLiveSince?.getTime() ?? Date.now(),
    epoch,
  };
}

/**
 * From the events that an informer delivers next, a list's come, or those of a watch from `version` on. Event streams
 * are left out: what of one is on its way to its reader is not pending any more, and not read yet.
 */
export function cut({ listening }: Following, version?: string): void {
  for (const { checker, registration } of listening) {
    if (registration !== undefined) {
      checker.cut(registration.pending, version === undefined ? undefined : Number(version));
    }
  }
}

/** Returns true if updates of data alone are skipped. */
export function skips({ metadataOnly, fields, deliverUnchanged }: InformerPlan): boolean {
  return !metadataOnly && fields !== undefined && !fields.includes("data") && !deliverUnchanged;
}

/** JSON with sorted keys: equal for equal values. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/**
 * The object as the informer of a plan caches it: with the number of its changes in an annotation, if it is changed.
 */
export function changed<T extends KubernetesObject>(object: T, { transform, renames }: InformerPlan): T {
  if (!transform) return object;
  const { annotations, name } = object.metadata;
  const calls = String(Number(annotations?.calls ?? 0) + 1);
  const renamed = renames ? { name: `${RENAMED}${name}` } : {};
  return { ...object, metadata: { ...object.metadata, ...renamed, annotations: { ...annotations, calls } } };
}

/** The key that an object has on the server. */
export function serverKeyOf(key: string): string {
  return key.replace(`/${RENAMED}`, "/");
}

const RENAMED = "renamed-";

function resourceOf({ metadataOnly, fields }: InformerPlan): Resource<KubernetesObject> {
  if (metadataOnly) return onlyMetadata(ConfigMap);
  return fields === undefined ? ConfigMap : onlyFields<ConfigMap, readonly string[]>(ConfigMap, fields);
}
