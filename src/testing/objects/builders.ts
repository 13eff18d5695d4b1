import type { KubernetesObject, OwnerReference } from "../../api/object.ts";
import { Random } from "./random.ts";

/** What every builder takes. */
export interface BuildOptions {
  /** Name of the object. */
  readonly name: string;
  /** What selectors match. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Data for tools and people. @default {none} */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Who must act before a deletion is carried out. @default {none} */
  readonly finalizers?: readonly string[];
  /** Whom it belongs to. @default {none} */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Which object of that name it is. @default {made of kind, namespace and name} */
  readonly uid?: string;
  /** Which version of it. @default {"1"} */
  readonly resourceVersion?: string;
}

/** What builders of objects in namespaces take. */
export interface NamespacedBuildOptions extends BuildOptions {
  /** Where it is. @default {"default"} */
  readonly namespace?: string;
}

/** What {@linkcode pod} takes. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** The node it runs on. @default {none: it is not scheduled} */
  readonly node?: string;
  /** Where it is in its life. @default {"Running" on a node, else "Pending"} */
  readonly phase?: string;
  /** Whether it is ready. @default {true when it runs} */
  readonly ready?: boolean;
  /** Image of its one container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
}

/** A pod as {@linkcode pod} makes it. */
export interface BuiltPod extends KubernetesObject {
  /** What it is to be. */
  readonly spec: {
    /** What runs in it. */
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    /** The node it runs on. */
    readonly nodeName?: string;
    /** When its containers are started again. */
    readonly restartPolicy: string;
  };
  /** What it is. */
  readonly status: {
    /** Where it is in its life. */
    readonly phase: string;
    /** Whether it is ready. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
    /** Its address, once it runs. */
    readonly podIP?: string;
  };
}

/** A node as {@linkcode node} makes it. */
export interface BuiltNode extends KubernetesObject {
  /** What it is to be. */
  readonly spec: { readonly unschedulable?: boolean };
  /** What it is. */
  readonly status: {
    /** What it has. */
    readonly capacity: Readonly<Record<string, string>>;
    /** Whether it is ready. */
    readonly conditions: readonly { readonly type: string; readonly status: "True" | "False" }[];
  };
}

/** A namespace as {@linkcode namespace} makes it. */
export interface BuiltNamespace extends KubernetesObject {
  /** Where it is in its life. */
  readonly status: { readonly phase: string };
}

/** A config map as {@linkcode configMap} makes it. */
export interface BuiltConfigMap extends KubernetesObject {
  /** What it holds. */
  readonly data: Readonly<Record<string, string>>;
}

/** A deployment as {@linkcode deployment} makes it. */
export interface BuiltDeployment extends KubernetesObject {
  /** What it is to be. */
  readonly spec: {
    /** How many pods. */
    readonly replicas: number;
    /** Which pods are its own. */
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    /** What they are made of. */
    readonly template: {
      /** Their labels. */
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      /** What runs in them. */
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
  /** What it is. */
  readonly status: {
    /** How many pods there are. */
    readonly replicas: number;
    /** How many of them are ready. */
    readonly readyReplicas: number;
  };
}

/** A lease as {@linkcode lease} makes it. */
export interface BuiltLease extends KubernetesObject {
  /** Who holds it. */
  readonly spec: {
    /** Name of the holder. */
    readonly holderIdentity: string;
    /** How long it holds, in seconds. */
    readonly leaseDurationSeconds: number;
    /** When it was last renewed, RFC 3339 with microseconds. */
    readonly renewTime: string;
  };
}

/** When everything was built: a fixed time, so that objects with the same options are equal. */
const CREATED = "2026-01-01T00:00:00Z";

/**
 * A pod with one container.
 *
 * Like all builders it fills in everything that objects of a server have, uid and version included; a server gives it
 * others when it is created there.
 */
export function pod(options: PodBuildOptions): BuiltPod {
  const { name, node, image = "registry.example.com/app:1" } = options;
  const { phase = node === undefined ? "Pending" : "Running", ready = phase === "Running" } = options;
  const uid = uidOf("Pod", options);
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { ...metadataOf("Pod", options), generation: 1 },
    spec: {
      containers: [{ name: "app", image }],
      restartPolicy: "Always",
      ...(node === undefined ? {} : { nodeName: node }),
    },
    status: {
      phase,
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      ...(phase === "Running" ? { podIP: `10.42.${name.length % 250}.${Number.parseInt(uid.slice(0, 2), 16)}` } : {}),
    },
  };
}

/** A node that is ready, unless told otherwise. */
export function node(
  options: BuildOptions & {
    /** Whether it is ready. @default {true} */
    readonly ready?: boolean;
    /** Whether new pods are kept off it. @default {false} */
    readonly unschedulable?: boolean;
  },
): BuiltNode {
  const { ready = true, unschedulable = false } = options;
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: metadataOf("Node", options, true),
    spec: unschedulable ? { unschedulable } : {},
    status: {
      capacity: { cpu: "8", memory: "32Gi", pods: "110" },
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    },
  };
}

/** A namespace. */
export function namespace(
  options: BuildOptions & {
    /** Where it is in its life. @default {"Active"} */
    readonly phase?: string;
  },
): BuiltNamespace {
  return {
    kind: "Namespace",
    apiVersion: "v1",
    metadata: metadataOf("Namespace", options, true),
    status: { phase: options.phase ?? "Active" },
  };
}

/** A config map. */
export function configMap(
  options: NamespacedBuildOptions & {
    /** What it holds. @default {nothing} */
    readonly data?: Readonly<Record<string, string>>;
  },
): BuiltConfigMap {
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: metadataOf("ConfigMap", options),
    data: options.data ?? {},
  };
}

/** A deployment whose pods have the label `app` with its name. */
export function deployment(
  options: NamespacedBuildOptions & {
    /** How many pods. @default {1} */
    readonly replicas?: number;
    /** How many of them are ready. @default {all of them} */
    readonly readyReplicas?: number;
    /** Image of its pods' one container. @default {"registry.example.com/app:1"} */
    readonly image?: string;
  },
): BuiltDeployment {
  const { name, replicas = 1, readyReplicas = replicas, image = "registry.example.com/app:1" } = options;
  const labels = { app: name };
  return {
    kind: "Deployment",
    apiVersion: "apps/v1",
    metadata: { ...metadataOf("Deployment", options), generation: 1 },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "app", image }] } },
    },
    status: { replicas, readyReplicas },
  };
}

/** A lease. */
export function lease(
  options: NamespacedBuildOptions & {
    /** Who holds it. @default {its name} */
    readonly holder?: string;
    /** How long it holds, in seconds. @default {40} */
    readonly durationSeconds?: number;
    /** When it was last renewed, RFC 3339 with microseconds. @default {"2026-01-01T00:00:00.000000Z"} */
    readonly renewTime?: string;
  },
): BuiltLease {
  return {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: metadataOf("Lease", options),
    spec: {
      holderIdentity: options.holder ?? options.name,
      leaseDurationSeconds: options.durationSeconds ?? 40,
      renewTime: options.renewTime ?? "2026-01-01T00:00:00.000000Z",
    },
  };
}

function metadataOf(kind: string, options: NamespacedBuildOptions, cluster = false): KubernetesObject["metadata"] {
  const { name, namespace = "default", resourceVersion = "1", labels, annotations, ownerReferences, finalizers } =
    options;
  return {
    name,
    ...(cluster ? {} : { namespace }),
    uid: uidOf(kind, options),
    resourceVersion,
    creationTimestamp: CREATED,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}

function uidOf(kind: string, { uid, namespace = "default", name }: NamespacedBuildOptions): string {
  return uid ?? new Random(hash(`${kind}/${namespace}/${name}`)).uid();
}

/** FNV-1a. */
function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
