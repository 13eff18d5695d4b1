import {
  copyOf,
  isAlreadyExists,
  isNotFound,
  type KubernetesObject,
  type Mutable,
  type ObjectDraft,
  type ReconcileResult,
  requeueAfter,
  SharedInformerFactory,
  WorkQueue,
} from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import type { ControllerFunction } from "@kube/informer/testing/chaos";
import { App, type Outside, Volume } from "./app.ts";

const FINALIZER = "example.com/app";

/** The controller of applications: correct without a bug, else with that bug. */
export function appController(bug?: Bug): ControllerFunction<Outside> {
  return async ({ client, signal, world: { buckets } }) => {
    await using informers = new SharedInformerFactory(client);
    await using queue = new WorkQueue();
    const apps = informers.forResource(App);
    const [pods, maps, volumes] = [
      informers.forResource(Pod),
      informers.forResource(ConfigMap),
      informers.forResource(Volume),
    ];
    const clients = {
      apps: client.resource(App, { namespace: "default" }),
      pods: client.resource(Pod, { namespace: "default" }),
      maps: client.resource(ConfigMap, { namespace: "default" }),
      volumes: client.resource(Volume, { namespace: "default" }),
    };
    const failed = new Set<string>();
    const paused = new Set<string>();
    const begun = new Map<string, number>();

    const add = ({ key }: { readonly key: string }): void => queue.add(key);
    apps.addEventHandler({
      onAdd: add,
      onUpdate: ({ key, object, previous }) => {
        if (object.spec.paused && !previous.spec.paused) paused.add(key);
        if (!object.spec.paused && previous.spec.paused) paused.delete(key);
        queue.add(key);
      },
      onDelete: ({ key, object }) => {
        if (bug === "cleans up when it sees the deletion") {
          buckets.delete(object.metadata.uid!);
          const volume = volumes.indexer.list().find(({ spec }) => spec.app === object.metadata.uid);
          if (volume !== undefined) void clients.volumes.delete(volume.metadata.name).catch(() => queue.add(key));
        }
        queue.add(key);
      },
    });
    const addOwner = ({ metadata }: { readonly metadata: KubernetesObject["metadata"] }): void => {
      queue.add(`default/${metadata.ownerReferences?.[0]?.name ?? metadata.name.split("-")[0]}`);
    };
    for (const informer of [pods, maps, volumes]) {
      if (bug === "does not watch its pods" && informer === pods) continue;
      informer.addEventHandler({ onAdd: addOwner, onUpdate: addOwner, onDelete: addOwner });
    }

    const childOf = ({ metadata: { name, uid } }: App, child: string): ObjectDraft<KubernetesObject>["metadata"] => ({
      name: child,
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "App", name, uid: uid!, controller: true }],
    });
    const isOwn = ({ metadata }: KubernetesObject, app: App): boolean =>
      metadata.ownerReferences?.[0]?.uid === app.metadata.uid;

    async function deleteVolumes(isUnwanted: (volume: Volume) => boolean, key: string): Promise<void> {
      for (const volume of volumes.indexer.list()) {
        const { name, uid } = volume.metadata;
        if (`default/${name.split("-")[0]}` !== key || !isUnwanted(volume)) continue;
        await clients.volumes.delete(name, { preconditions: { uid } }).catch(ignore(isNotFound));
      }
    }

    async function cleanUp(app: App, key: string): Promise<void> {
      const { uid, name } = app.metadata;
      buckets.delete(uid!);
      if (bug === "deletes the volume by its name") {
        await clients.volumes.delete(`${name}-data`).catch(ignore(isNotFound));
      } else await deleteVolumes(({ spec }) => spec.app === uid, key);
    }

    async function finalize(app: App, key: string): Promise<void> {
      const finalizers = app.metadata.finalizers ?? [];
      if (!finalizers.includes(FINALIZER)) return;
      const remove = (): Promise<App> => {
        const rest = finalizers.filter((name) => name !== FINALIZER);
        return clients.apps.update(changed(app, { metadata: { ...app.metadata, finalizers: rest } }));
      };
      if (bug === "removes the finalizer before the cleanup") {
        await remove();
        return await cleanUp(app, key);
      }
      await cleanUp(app, key);
      await remove().catch(ignore(isNotFound));
    }

    async function isLive({ metadata: { name, uid } }: App): Promise<boolean> {
      const live = await clients.apps.get(name).catch(ignore(isNotFound));
      return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined;
    }

    async function ensureBucket(app: App): Promise<void> {
      const { uid } = app.metadata;
      // The cache may have an application that is gone, or goes meanwhile: nothing else would remove its bucket.
      if (await isLive(app)) {
        buckets.add(uid!);
        if (await isLive(app)) return;
        buckets.delete(uid!);
      }
      throw new Error("the cache is stale");
    }

    async function ensureVolume(app: App, key: string): Promise<string> {
      const { name, uid } = app.metadata;
      const volume = volumes.lister.get(`default/${name}-data`);
      if (volume?.spec.app === uid) return volume.metadata.uid!;
      if (volume !== undefined) {
        // The cleanup of an application of this name has not seen it, in a stale cache.
        if (await isLive(app)) await deleteVolumes(({ spec }) => spec.app !== uid, key);
        throw new Error("the volume of an old application is still there");
      }
      const created = await clients.volumes.create({ metadata: { name: `${name}-data` }, spec: { app: uid! } });
      return created.metadata.uid!;
    }

    async function ensureMap(app: App): Promise<void> {
      const name = `${app.metadata.name}-config`;
      const map = maps.lister.get(`default/${name}`);
      const labels = app.spec.labels ?? {};
      const data = { image: app.spec.image };
      const draft = { metadata: { ...childOf(app, name), labels }, data };
      if (map === undefined) {
        if (bug === "replaces its config map in two writes" && app.status?.observedGeneration !== undefined) return;
        await clients.maps.create(draft);
        return;
      }
      if (!isOwn(map, app)) {
        await clients.maps.delete(name, { preconditions: { uid: map.metadata.uid } });
        return;
      }
      const isSame = map.data?.image === data.image &&
        JSON.stringify(Object.entries(map.metadata.labels ?? {}).sort()) ===
          JSON.stringify(Object.entries(labels).sort());
      if (isSame) return;
      if (bug === "replaces its config map in two writes") {
        await clients.maps.delete(name);
        await clients.maps.create(draft);
      } else if (bug === "never removes a label") {
        if (
          map.data?.image === data.image &&
          Object.entries(labels).every(([key, value]) => map.metadata.labels?.[key] === value)
        ) return;
        await clients.maps.patch(name, { type: "merge", body: { metadata: { labels }, data } });
      } else if (bug === "replaces its config map without a version") await clients.maps.update(changed(map, draft));
      else await clients.maps.update(changed(map, { metadata: { ...map.metadata, labels }, data }));
    }

    async function ensurePods(app: App, key: string): Promise<void> {
      if (bug === "pauses on the change alone" ? paused.has(key) : app.spec.paused) return;
      const replicas = bug === "takes no replicas for one" ? app.spec.replicas || 1 : app.spec.replicas;
      const { name } = app.metadata;
      const containers = [{ name: "main", image: app.spec.image }];
      const own = pods.indexer.list().filter((pod) => isOwn(pod, app));
      const kept = own.filter((pod) => pod.spec.containers[0].image === app.spec.image);
      if (bug === "counts its pods in a stale cache") {
        for (const pod of own) {
          if (!kept.includes(pod)) await clients.pods.delete(pod.metadata.name).catch(ignore(isNotFound));
        }
        for (const pod of kept.slice(replicas)) await clients.pods.delete(pod.metadata.name).catch(ignore(isNotFound));
        for (let at = kept.length; at < replicas; at++) {
          const { name: _name, ...metadata } = childOf(app, "");
          await clients.pods.create(
            { metadata: { ...metadata, generateName: `${name}-` }, spec: { containers } } as ObjectDraft<Pod>,
          );
        }
        return;
      }
      const names = Array.from({ length: replicas }, (_, index) => `${name}-${index}`);
      for (const pod of own) {
        if (kept.includes(pod) && names.includes(pod.metadata.name)) continue;
        await clients.pods.delete(pod.metadata.name, { preconditions: { uid: pod.metadata.uid } }).catch(
          ignore(isNotFound),
        );
      }
      for (const wanted of names) {
        const pod = pods.lister.get(`default/${wanted}`);
        if (pod === undefined) await clients.pods.create({ metadata: childOf(app, wanted), spec: { containers } });
        else if (!isOwn(pod, app)) throw new Error("the pod of an old application is still there");
      }
    }

    async function writeStatus(app: App, change: Partial<NonNullable<App["status"]>>): Promise<void> {
      const { error: _error, ...rest } = app.status ?? {};
      const status: App["status"] = { ...rest, ...change };
      if (JSON.stringify(Object.entries(status).sort()) === JSON.stringify(Object.entries(app.status ?? {}).sort())) {
        return;
      }
      const { name } = app.metadata;
      if (bug === "writes the status without a version") {
        await clients.apps.patch(name, { type: "merge", body: { status: { error: null, ...status } } }, {
          subresource: "status",
        });
      } else if (bug === "does not wait for its writes") {
        void clients.apps.update(changed(app, { status }), { subresource: "status" });
      } else await clients.apps.update(changed(app, { status }), { subresource: "status" });
    }

    async function reconcileApp(app: App, key: string): Promise<void | ReconcileResult> {
      const { uid, generation, deletionTimestamp, finalizers = [], creationTimestamp } = app.metadata;
      if (deletionTimestamp !== undefined) return await finalize(app, key);
      if (bug === "waits by comparing two clocks") {
        const ageMs = Date.now() - Date.parse(creationTimestamp!);
        if (ageMs < 1_000) return requeueAfter(1_000 - ageMs);
      }
      const isWithoutFinalizer = bug === "cleans up when it sees the deletion";
      if (bug === "creates the bucket before the finalizer") await ensureBucket(app);
      if (!finalizers.includes(FINALIZER) && !isWithoutFinalizer) {
        await clients.apps.update(
          changed(app, { metadata: { ...app.metadata, finalizers: [...finalizers, FINALIZER] } }),
        );
        return;
      }
      if (app.status?.bucket !== true) {
        if (bug === "records the bucket before it is created") {
          return await writeStatus(app, { bucket: true }).then(() => void buckets.add(uid!));
        }
        await ensureBucket(app);
      }
      const map = maps.lister.get(`default/${app.metadata.name}-config`);
      const volume = bug === "creates the volume with the config map alone" && map !== undefined
        ? app.status?.volume
        : bug === "creates the volume with the config map alone"
        ? await ensureMap(app).then(() => ensureVolume(app, key))
        : await ensureVolume(app, key);
      if (bug === "skips a generation that it has begun") {
        if (begun.get(uid!) === generation) return;
        begun.set(uid!, generation!);
      }
      const { image } = app.spec;
      if (image === "invalid") failed.add(key);
      const isStuck = bug === "stays failed after an invalid image" && failed.has(key);
      if (image === "invalid" || isStuck) {
        return await writeStatus(app, { observedGeneration: generation, bucket: true, volume, error: "invalid image" });
      }
      await ensureMap(app);
      await ensurePods(app, key);
      const history = app.status?.history ?? [];
      const isNew = history.at(-1) !== image;
      const change = {
        observedGeneration: generation,
        bucket: true,
        volume,
        ...(bug === "allocates ports from the cache"
          ? { port: app.status?.port ?? 1 + Math.max(0, ...apps.indexer.list().map(({ status }) => status?.port ?? 0)) }
          : {}),
        ...(bug === "writes the time into the status" ? { seen: new Date().toISOString() } : {}),
      };
      if (bug === "appends to a list without a check" && isNew && history.length > 0) {
        const body = [{ op: "add", path: "/status/history/-", value: image }];
        await clients.apps.patch(app.metadata.name, { type: "json", body }, { subresource: "status" });
        return;
      }
      await writeStatus(app, { ...change, history: isNew ? [...history, image].slice(-5) : history });
    }

    async function reconcile(key: string): Promise<void | ReconcileResult> {
      if (bug === "never tries again after a name exists" && failed.has(key)) return;
      const app = apps.lister.get(key);
      try {
        if (app !== undefined) return await reconcileApp(app, key);
        if (bug === "cleans up when it sees the deletion" || bug === "leaves what late writes have made") return;
        // A late write of an old process may have left a volume.
        if (!volumes.indexer.list().some(({ metadata }) => `default/${metadata.name.split("-")[0]}` === key)) return;
        const live = await clients.apps.get(key.slice("default/".length)).catch(ignore(isNotFound));
        await deleteVolumes(({ spec }) => spec.app !== live?.metadata.uid, key);
      } catch (error) {
        if (bug === "ignores errors") return;
        if (bug === "never tries again after a name exists" && isAlreadyExists(error)) failed.add(key);
        throw error;
      }
    }

    informers.start({ signal });
    if (bug === "leaves a timer behind") {
      setInterval(() => [...apps.indexer.keys()].forEach((key) => queue.add(key)), 30_000);
    }
    await informers.waitForCacheSync({ signal });
    await queue.run(reconcile, { signal, concurrency: 2, onError: () => {} });
  };
}

/**
 * Bugs that the controller can have, of the kinds that Sieve (OSDI 2022) and Acto (SOSP 2023) report. Each has the
 * first seed that finds it, which tests try first.
 */
export const BUGS = {
  // Intermediate states: a crash between two writes.
  "removes the finalizer before the cleanup": 102,
  "creates the bucket before the finalizer": 10,
  "records the bucket before it is created": 6,
  "creates the volume with the config map alone": 6,
  "replaces its config map in two writes": 163,
  // Stale states.
  "counts its pods in a stale cache": 3,
  "deletes the volume by its name": 41,
  "leaves what late writes have made": 224,
  "writes the status without a version": 46,
  "replaces its config map without a version": 3,
  "allocates ports from the cache": 10,
  // Unobserved states.
  "cleans up when it sees the deletion": 5,
  "pauses on the change alone": 214,
  // Errors, and lost answers.
  "ignores errors": 3,
  "skips a generation that it has begun": 3,
  "never tries again after a name exists": 3,
  "appends to a list without a check": 3,
  "does not wait for its writes": 1,
  // Desired states that are not reached, and states that are not left.
  "never removes a label": 64,
  "takes no replicas for one": 4,
  "stays failed after an invalid image": 3,
  "does not watch its pods": 57,
  // Time, and resources.
  "waits by comparing two clocks": 93,
  "writes the time into the status": 6,
  "leaves a timer behind": 1,
} as const;

/** One of {@linkcode BUGS}. */
export type Bug = keyof typeof BUGS;

/** Returns a copy of a cached object with other members, as `update()` takes it. */
function changed<T extends KubernetesObject>(object: T, members: object): Mutable<T> {
  return Object.assign(copyOf(object), members);
}

function ignore(isExpected: (error: unknown) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isExpected(error)) throw error;
  };
}
