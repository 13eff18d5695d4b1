import { defineResource, type KubernetesObject, type Resource } from "@kube/informer";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import type { FakeApiServer } from "@kube/informer/testing";
import type { ChaosOptions } from "@kube/informer/testing/chaos";
import { atMostThreePods, deletes, meddles, patches, writes } from "./users.ts";

/** An application: so many pods of an image, a config map, a volume, and a bucket outside of the cluster. */
export interface App extends KubernetesObject {
  readonly spec: {
    readonly replicas: number;
    readonly image: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly paused?: boolean;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly bucket?: boolean;
    readonly volume?: string;
    readonly error?: string;
    readonly history?: readonly string[];
    readonly port?: number;
    readonly seen?: string;
  };
}
export const App: Resource<App> = defineResource<App>({
  group: "example.com",
  version: "v1",
  plural: "apps",
  kind: "App",
});

/** A volume, which is deleted by nothing but the controller. */
export interface Volume extends KubernetesObject {
  readonly spec: { readonly app: string };
}
export const Volume: Resource<Volume> = defineResource<Volume>({
  group: "example.com",
  version: "v1",
  plural: "volumes",
  kind: "Volume",
});

/** The systems outside of the cluster. */
export class Outside {
  /** The uids of applications that have a bucket. */
  readonly buckets: Set<string> = new Set();
  /** The highest generation in the status of each application, by uid. */
  readonly generations: Map<string, number> = new Map();
  /** The volumes in the status of applications, by uid. */
  readonly volumes: Map<string, string> = new Map();
}

/** Changes, invariants and the desired state, for `chaos()`. */
export const APP: Omit<ChaosOptions<Outside>, "controller"> = {
  world: () => new Outside(),
  resources: [App, Volume],
  setup: (server) => void server.create(App, { metadata: { name: "a" }, spec: { replicas: 2, image: "v1" } }),
  changes: {
    ...writes(App, (random, again) => ({
      spec: again ? { replicas: 1 + random.below(3), image: "v2" } : { replicas: random.below(4), image: "v1" },
    })),
    scale: patches(App, (random) => ({ spec: { replicas: random.below(4) } })),
    roll: patches(App, (random) => ({ spec: { image: random.pick(["v1", "v2", "v3", "invalid"]) } })),
    label: patches(App, (random, { spec: { labels = {} } }) => {
      const name = random.pick(["x", "y"]);
      return { spec: { labels: { [name]: name in labels ? null : "1" } } };
    }),
    pause: patches(App, (_random, { spec: { paused = false } }) => ({ spec: { paused: !paused } })),
    "delete a pod": deletes(Pod),
    "annotate a config map": meddles(ConfigMap, (server, key) => server.annotate(ConfigMap, key, { note: "kept" })),
  },
  converges,
  invariants: {
    "an application never has more than three pods": atMostThreePods,
    "the volume of an application that is not deleted is kept": (server) => {
      const volumes = new Set(server.list(Volume).map(({ metadata }) => metadata.uid));
      const lost = server.list(App).find(({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status?.volume !== undefined && !volumes.has(status.volume)
      );
      return lost === undefined || `App "${lost.metadata.name}" has lost its volume`;
    },
    "the observed generation does not go back": (server, { generations }) => {
      for (const { metadata: { uid, name }, status } of server.list(App)) {
        const [before, now] = [generations.get(uid!) ?? 0, status?.observedGeneration ?? 0];
        if (now < before) return `App "${name}" went from ${before} to ${now}`;
        generations.set(uid!, now);
      }
    },
    "the note on a config map is kept": (server, { volumes: notes }) => {
      for (const { metadata: { uid, name, annotations } } of server.list(ConfigMap)) {
        if (annotations?.note !== undefined) notes.set(uid!, annotations.note);
        else if (notes.has(uid!)) return `ConfigMap "${name}" has lost it`;
      }
    },
    "no two applications have the same port": (server) => {
      const ports = server.list(App).flatMap(({ status }) => status?.port ?? []);
      return new Set(ports).size === ports.length;
    },
  },
};

function converges(server: FakeApiServer, { buckets }: Outside): string | undefined {
  const apps = server.list(App);
  const volumes = server.list(Volume);
  for (const { metadata: { name, uid, generation, deletionTimestamp }, spec, status } of apps) {
    if (deletionTimestamp !== undefined) return `App "${name}" is still being deleted`;
    if (!buckets.has(uid!)) return `App "${name}" has no bucket`;
    if (status?.observedGeneration !== generation) {
      return `the status of App "${name}" is not of generation ${generation}`;
    }
    if (!volumes.some((volume) => volume.spec.app === uid)) return `App "${name}" has no volume`;
    const history = status?.history ?? [];
    if (history.some((image, at) => image === history[at - 1])) return `App "${name}" has the history ${history}`;
    if ((spec.image === "invalid") !== (status?.error !== undefined)) {
      return `App "${name}" has the error ${status?.error}`;
    }
    if (spec.image === "invalid") continue;
    const map = server.get(ConfigMap, `${name}-config`);
    if (map?.data?.image !== spec.image) return `the config map of App "${name}" has the image ${map?.data?.image}`;
    const [labels, wanted] = [map.metadata.labels, spec.labels].map((labels) =>
      JSON.stringify(Object.entries(labels ?? {}).sort())
    );
    if (labels !== wanted) return `the config map of App "${name}" has the labels ${labels}, not ${wanted}`;
    if (spec.paused) continue;
    const pods = server.list(Pod).filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
    const images = pods.map((pod) => pod.spec.containers[0].image);
    if (images.length !== spec.replicas) return `App "${name}" has ${images.length} pods, not ${spec.replicas}`;
    if (images.some((image) => image !== spec.image)) return `App "${name}" has pods with the images ${images}`;
  }
  if (buckets.size !== apps.length) return `there are ${buckets.size} buckets for ${apps.length} applications`;
  if (volumes.length !== apps.length) return `there are ${volumes.length} volumes for ${apps.length} applications`;
}
