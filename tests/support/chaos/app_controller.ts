import {
  type Client,
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
    await using factory = new SharedInformerFactory(client);
    await using queue = new WorkQueue();
    const informers = informersOf(factory);
    const apps = new Apps(bug, client, informers, queue, buckets);
    apps.observe();
    factory.start({ signal });
    if (bug === "leaves a timer behind") {
      setInterval(() => [...informers.apps.indexer.keys()].forEach((key) => queue.add(key)), 30_000);
    }
    await factory.waitForCacheSync({ signal });
    await queue.run((key) => apps.reconcile(key), { signal, concurrency: 2, onError: () => {} });
  };
}

/** The informers of a controller. */
// deno-lint-ignore explicit-function-return-type -- the types of four informers
function informersOf(factory: SharedInformerFactory) {
  return {
    apps: factory.forResource(App),
    pods: factory.forResource(Pod),
    maps: factory.forResource(ConfigMap),
    volumes: factory.forResource(Volume),
  };
}

/** The clients of a controller. */
// deno-lint-ignore explicit-function-return-type -- the types of four clients
function clientsOf(client: Client) {
  return {
    apps: client.resource(App, { namespace: "default" }),
    pods: client.resource(Pod, { namespace: "default" }),
    maps: client.resource(ConfigMap, { namespace: "default" }),
    volumes: client.resource(Volume, { namespace: "default" }),
  };
}

/** The steps of the controller, with what it remembers between them. */
class Apps {
  readonly #bug: Bug | undefined;
  readonly #clients: ReturnType<typeof clientsOf>;
  readonly #informers: ReturnType<typeof informersOf>;
  readonly #queue: WorkQueue;
  readonly #buckets: Outside["buckets"];
  readonly #failed = new Set<string>();
  readonly #paused = new Set<string>();
  readonly #begun = new Map<string, number>();

  constructor(
    bug: Bug | undefined,
    client: Client,
    informers: ReturnType<typeof informersOf>,
    queue: WorkQueue,
    buckets: Outside["buckets"],
  ) {
    this.#bug = bug;
    this.#clients = clientsOf(client);
    this.#informers = informers;
    this.#queue = queue;
    this.#buckets = buckets;
  }

  /** Enqueues an application when it or a child changes. */
  observe(): void {
    const { apps, pods, maps, volumes } = this.#informers;
    const add = ({ key }: { readonly key: string }): void => this.#queue.add(key);
    apps.addEventHandler({
      onAdd: add,
      onUpdate: ({ key, object, previous }) => {
        if (object.spec.paused && !previous.spec.paused) this.#paused.add(key);
        if (!object.spec.paused && previous.spec.paused) this.#paused.delete(key);
        this.#queue.add(key);
      },
      onDelete: ({ key, object }) => {
        if (this.#bug === "cleans up when it sees the deletion") this.#cleanUpLate(object, key);
        this.#queue.add(key);
      },
    });
    const addOwner = ({ metadata }: { readonly metadata: KubernetesObject["metadata"] }): void => {
      this.#queue.add(`default/${metadata.ownerReferences?.[0]?.name ?? metadata.name.split("-")[0]}`);
    };
    for (const informer of [pods, maps, volumes]) {
      if (this.#bug === "does not watch its pods" && informer === pods) continue;
      informer.addEventHandler({ onAdd: addOwner, onUpdate: addOwner, onDelete: addOwner });
    }
  }

  #cleanUpLate({ metadata: { uid } }: App, key: string): void {
    this.#buckets.delete(uid!);
    const volume = this.#informers.volumes.indexer.list().find(({ spec }) => spec.app === uid);
    if (volume === undefined) return;
    void this.#clients.volumes.delete(volume.metadata.name).catch(() => this.#queue.add(key));
  }

  async #deleteVolumes(isUnwanted: (volume: Volume) => boolean, key: string): Promise<void> {
    for (const volume of this.#informers.volumes.indexer.list()) {
      const { name, uid } = volume.metadata;
      if (`default/${name.split("-")[0]}` !== key || !isUnwanted(volume)) continue;
      await this.#clients.volumes.delete(name, { preconditions: { uid } }).catch(ignore(isNotFound));
    }
  }

  async #cleanUp(app: App, key: string): Promise<void> {
    const { uid, name } = app.metadata;
    this.#buckets.delete(uid!);
    if (this.#bug === "deletes the volume by its name") {
      await this.#clients.volumes.delete(`${name}-data`).catch(ignore(isNotFound));
    } else await this.#deleteVolumes(({ spec }) => spec.app === uid, key);
  }

  async #finalize(app: App, key: string): Promise<void> {
    const finalizers = app.metadata.finalizers ?? [];
    if (!finalizers.includes(FINALIZER)) return;
    const remove = (): Promise<App> => {
      const rest = finalizers.filter((name) => name !== FINALIZER);
      return this.#clients.apps.update(changed(app, { metadata: { ...app.metadata, finalizers: rest } }));
    };
    if (this.#bug === "removes the finalizer before the cleanup") {
      await remove();
      return await this.#cleanUp(app, key);
    }
    await this.#cleanUp(app, key);
    await remove().catch(ignore(isNotFound));
  }

  async #isLive({ metadata: { name, uid } }: App): Promise<boolean> {
    const live = await this.#clients.apps.get(name).catch(ignore(isNotFound));
    return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined;
  }

  async #ensureBucket(app: App): Promise<void> {
    const { uid } = app.metadata;
    // The cache may have an application that is gone, or goes meanwhile: nothing else would remove its bucket.
    if (await this.#isLive(app)) {
      this.#buckets.add(uid!);
      if (await this.#isLive(app)) return;
      this.#buckets.delete(uid!);
    }
    throw new Error("the cache is stale");
  }

  async #ensureVolume(app: App, key: string): Promise<string> {
    const { name, uid } = app.metadata;
    const volume = this.#informers.volumes.lister.get(`default/${name}-data`);
    if (volume?.spec.app === uid) return volume.metadata.uid!;
    if (volume !== undefined) {
      // The cleanup of an application of this name has not seen it, in a stale cache.
      if (await this.#isLive(app)) await this.#deleteVolumes(({ spec }) => spec.app !== uid, key);
      throw new Error("the volume of an old application is still there");
    }
    const created = await this.#clients.volumes.create({ metadata: { name: `${name}-data` }, spec: { app: uid! } });
    return created.metadata.uid!;
  }

  async #ensureMap(app: App): Promise<void> {
    const name = `${app.metadata.name}-config`;
    const map = this.#informers.maps.lister.get(`default/${name}`);
    const labels = app.spec.labels ?? {};
    const data = { image: app.spec.image };
    const draft = { metadata: { ...childOf(app, name), labels }, data };
    if (map === undefined) {
      if (this.#bug === "replaces its config map in two writes" && app.status?.observedGeneration !== undefined) return;
      await this.#clients.maps.create(draft);
      return;
    }
    if (!isOwn(map, app)) {
      await this.#clients.maps.delete(name, { preconditions: { uid: map.metadata.uid } });
      return;
    }
    const isSame = map.data?.image === data.image &&
      JSON.stringify(Object.entries(map.metadata.labels ?? {}).sort()) ===
        JSON.stringify(Object.entries(labels).sort());
    if (isSame) return;
    if (this.#bug === "replaces its config map in two writes") {
      await this.#clients.maps.delete(name);
      await this.#clients.maps.create(draft);
    } else if (this.#bug === "never removes a label") {
      if (
        map.data?.image === data.image &&
        Object.entries(labels).every(([key, value]) => map.metadata.labels?.[key] === value)
      ) return;
      await this.#clients.maps.patch(name, { type: "merge", body: { metadata: { labels }, data } });
    } else if (this.#bug === "replaces its config map without a version") {
      await this.#clients.maps.update(changed(map, draft));
    } else await this.#clients.maps.update(changed(map, { metadata: { ...map.metadata, labels }, data }));
  }

  async #ensurePods(app: App, key: string): Promise<void> {
    if (this.#bug === "pauses on the change alone" ? this.#paused.has(key) : app.spec.paused) return;
    const replicas = this.#bug === "takes no replicas for one" ? app.spec.replicas || 1 : app.spec.replicas;
    const { name } = app.metadata;
    const containers = [{ name: "main", image: app.spec.image }];
    const own = this.#informers.pods.indexer.list().filter((pod) => isOwn(pod, app));
    const kept = own.filter((pod) => pod.spec.containers[0].image === app.spec.image);
    if (this.#bug === "counts its pods in a stale cache") {
      for (const pod of own) {
        if (!kept.includes(pod)) await this.#clients.pods.delete(pod.metadata.name).catch(ignore(isNotFound));
      }
      for (const pod of kept.slice(replicas)) {
        await this.#clients.pods.delete(pod.metadata.name).catch(ignore(isNotFound));
      }
      for (let at = kept.length; at < replicas; at++) {
        const { name: _name, ...metadata } = childOf(app, "");
        await this.#clients.pods.create(
          { metadata: { ...metadata, generateName: `${name}-` }, spec: { containers } } as ObjectDraft<Pod>,
        );
      }
      return;
    }
    const names = Array.from({ length: replicas }, (_, index) => `${name}-${index}`);
    for (const pod of own) {
      if (kept.includes(pod) && names.includes(pod.metadata.name)) continue;
      await this.#clients.pods.delete(pod.metadata.name, { preconditions: { uid: pod.metadata.uid } }).catch(
        ignore(isNotFound),
      );
    }
    for (const wanted of names) {
      const pod = this.#informers.pods.lister.get(`default/${wanted}`);
      if (pod === undefined) await this.#clients.pods.create({ metadata: childOf(app, wanted), spec: { containers } });
      else if (!isOwn(pod, app)) throw new Error("the pod of an old application is still there");
    }
  }

  async #writeStatus(app: App, change: Partial<NonNullable<App["status"]>>): Promise<void> {
    const { error: _error, ...rest } = app.status ?? {};
    const status: App["status"] = { ...rest, ...change };
    if (JSON.stringify(Object.entries(status).sort()) === JSON.stringify(Object.entries(app.status ?? {}).sort())) {
      return;
    }
    const { name } = app.metadata;
    if (this.#bug === "writes the status without a version") {
      await this.#clients.apps.patch(name, { type: "merge", body: { status: { error: null, ...status } } }, {
        subresource: "status",
      });
    } else if (this.#bug === "does not wait for its writes") {
      void this.#clients.apps.update(changed(app, { status }), { subresource: "status" });
    } else await this.#clients.apps.update(changed(app, { status }), { subresource: "status" });
  }

  async #reconcileApp(app: App, key: string): Promise<void | ReconcileResult> {
    const { uid, generation, deletionTimestamp, finalizers = [], creationTimestamp } = app.metadata;
    if (deletionTimestamp !== undefined) return await this.#finalize(app, key);
    if (this.#bug === "waits by comparing two clocks") {
      const ageMs = Date.now() - Date.parse(creationTimestamp!);
      if (ageMs < 1_000) return requeueAfter(1_000 - ageMs);
    }
    const isWithoutFinalizer = this.#bug === "cleans up when it sees the deletion";
    if (this.#bug === "creates the bucket before the finalizer") await this.#ensureBucket(app);
    if (!finalizers.includes(FINALIZER) && !isWithoutFinalizer) {
      await this.#clients.apps.update(
        changed(app, { metadata: { ...app.metadata, finalizers: [...finalizers, FINALIZER] } }),
      );
      return;
    }
    if (app.status?.bucket !== true) {
      if (this.#bug === "records the bucket before it is created") {
        return await this.#writeStatus(app, { bucket: true }).then(() => void this.#buckets.add(uid!));
      }
      await this.#ensureBucket(app);
    }
    const map = this.#informers.maps.lister.get(`default/${app.metadata.name}-config`);
    const volume = this.#bug === "creates the volume with the config map alone" && map !== undefined
      ? app.status?.volume
      : this.#bug === "creates the volume with the config map alone"
      ? await this.#ensureMap(app).then(() => this.#ensureVolume(app, key))
      : await this.#ensureVolume(app, key);
    if (this.#bug === "skips a generation that it has begun") {
      if (this.#begun.get(uid!) === generation) return;
      this.#begun.set(uid!, generation!);
    }
    const { image } = app.spec;
    if (image === "invalid") this.#failed.add(key);
    const isStuck = this.#bug === "stays failed after an invalid image" && this.#failed.has(key);
    if (image === "invalid" || isStuck) {
      return await this.#writeStatus(app, {
        observedGeneration: generation,
        bucket: true,
        volume,
        error: "invalid image",
      });
    }
    await this.#ensureMap(app);
    await this.#ensurePods(app, key);
    const history = app.status?.history ?? [];
    const isNew = history.at(-1) !== image;
    const ports = this.#informers.apps.indexer.list().map(({ status }) => status?.port ?? 0);
    const change = {
      observedGeneration: generation,
      bucket: true,
      volume,
      ...(this.#bug === "allocates ports from the cache"
        ? { port: app.status?.port ?? 1 + Math.max(0, ...ports) }
        : {}),
      ...(this.#bug === "writes the time into the status" ? { seen: new Date().toISOString() } : {}),
    };
    if (this.#bug === "appends to a list without a check" && isNew && history.length > 0) {
      const body = [{ op: "add", path: "/status/history/-", value: image }];
      await this.#clients.apps.patch(app.metadata.name, { type: "json", body }, { subresource: "status" });
      return;
    }
    await this.#writeStatus(app, { ...change, history: isNew ? [...history, image].slice(-5) : history });
  }

  /** Brings one application to its desired state. */
  async reconcile(key: string): Promise<void | ReconcileResult> {
    if (this.#bug === "never tries again after a name exists" && this.#failed.has(key)) return;
    const app = this.#informers.apps.lister.get(key);
    try {
      if (app !== undefined) return await this.#reconcileApp(app, key);
      if (this.#bug === "cleans up when it sees the deletion" || this.#bug === "leaves what late writes have made") {
        return;
      }
      // A late write of an old process may have left a volume.
      if (
        !this.#informers.volumes.indexer.list().some(({ metadata }) => `default/${metadata.name.split("-")[0]}` === key)
      ) return;
      const live = await this.#clients.apps.get(key.slice("default/".length)).catch(ignore(isNotFound));
      await this.#deleteVolumes(({ spec }) => spec.app !== live?.metadata.uid, key);
    } catch (error) {
      if (this.#bug === "ignores errors") return;
      if (this.#bug === "never tries again after a name exists" && isAlreadyExists(error)) this.#failed.add(key);
      throw error;
    }
  }
}

function childOf({ metadata: { name, uid } }: App, child: string): ObjectDraft<KubernetesObject>["metadata"] {
  return {
    name: child,
    ownerReferences: [{ apiVersion: "example.com/v1", kind: "App", name, uid: uid!, controller: true }],
  };
}

function isOwn({ metadata }: KubernetesObject, app: App): boolean {
  return metadata.ownerReferences?.[0]?.uid === app.metadata.uid;
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
