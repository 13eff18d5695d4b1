/**
 * Builders for test objects.
 *
 * {@linkcode configMap}, {@linkcode deployment} and the other builders return complete objects. The same options give
 * the same object. They put nothing on a server.
 *
 * @module
 */
import type { KubernetesObject, MicroTime, ObjectMeta, OwnerReference } from "../../engine/api/object.ts";
import { defined } from "../../engine/api/json.ts";
import { copyOf, type Mutable, type WrittenValue } from "../../engine/api/written.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { Deployment, DeploymentSpec, DeploymentStatus } from "../../engine/kinds/apps/v1.ts";
import type { Lease, LeaseSpec } from "../../engine/kinds/coordination/v1.ts";
import type {
  ConfigMap,
  Namespace,
  NamespaceSpec,
  NamespaceStatus,
  Node,
  NodeSpec,
  NodeStatus,
  Pod,
  PodSpec,
  PodStatus,
} from "../../engine/kinds/core/v1.ts";
import { Random } from "./random.ts";

/** Options for all builders. A field that you set replaces the builder's field. */
export interface BuildOptions {
  /** The object's name. */
  readonly name: string;
  /** Labels. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations. @default {none} */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Finalizers. @default {none} */
  readonly finalizers?: readonly string[];
  /** Owner references. @default {none} */
  readonly ownerReferences?: readonly OwnerReference[];
  /** The uid. @default {derived from kind, namespace and name} */
  readonly uid?: string;
  /** The resourceVersion. @default {"1"} */
  readonly resourceVersion?: string;
  /** Any other metadata. @default {none} */
  readonly metadata?: Partial<ObjectMeta>;
}

/** Options for builders of namespaced objects. */
export interface NamespacedBuildOptions extends BuildOptions {
  /** The object's namespace. @default {"default"} */
  readonly namespace?: string;
}

/** An object from a builder. The fields `Present` are set, and you can change all fields. */
export type Built<T extends KubernetesObject, Present extends keyof T = never> =
  & Mutable<T>
  & { [Name in Present | "apiVersion" | "kind"]-?: Exclude<Mutable<T[Name]>, undefined> };

/** The creation timestamp. It is constant, so that equal options give equal objects. */
const CREATED = "2026-01-01T00:00:00Z";

const NAMES = "name labels annotations finalizers ownerReferences uid resourceVersion metadata";
const NAMESPACED = `${NAMES} namespace` as const;

/** Builds the fields that all objects have. `cluster` omits the namespace. */
function built<T extends KubernetesObject, Kind extends string, Version extends string>(
  kind: Kind,
  apiVersion: Version,
  options: NamespacedBuildOptions,
  { cluster = false, ...more }: Partial<ObjectMeta> & { readonly cluster?: boolean } = {},
): { kind: Kind; apiVersion: Version; metadata: Mutable<T["metadata"]> } {
  const { name, namespace = "default", resourceVersion = "1", labels, annotations, ownerReferences, finalizers } =
    options;
  const metadata = copyOf<ObjectMeta>({
    ...more,
    ...defined({
      name,
      namespace: cluster ? undefined : namespace,
      uid: builtUid(kind, options),
      resourceVersion,
      creationTimestamp: CREATED,
      labels,
      annotations,
      ownerReferences,
      finalizers,
    }),
    ...options.metadata,
  }) as Mutable<T["metadata"]>;
  return { kind, apiVersion, metadata };
}

/** Returns an object's uid, which is derived from kind, namespace and name unless it is given. */
function builtUid(kind: string, { uid, namespace = "default", name }: NamespacedBuildOptions): string {
  return uid ?? new Random(hash(`${kind}/${namespace}/${name}`)).uid();
}

/** FNV-1a hash. */
function hash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Options for {@linkcode configMap}. */
export interface ConfigMapBuildOptions extends NamespacedBuildOptions {
  /** The data. @default {empty} */
  readonly data?: ConfigMap["data"];
  /** The binary data in base64. @default {none} */
  readonly binaryData?: ConfigMap["binaryData"];
  /** If `true`, the data cannot be changed. @default {false} */
  readonly immutable?: boolean;
}

/** A ConfigMap from {@linkcode configMap}. */
export type BuiltConfigMap = Built<ConfigMap, "data">;

/** Builds a ConfigMap. */
export function configMap(options: ConfigMapBuildOptions): BuiltConfigMap {
  checkNames("build a config map", options, `${NAMESPACED} data binaryData immutable`);
  const { data = {}, binaryData, immutable } = options;
  return {
    ...built<ConfigMap, "ConfigMap", "v1">("ConfigMap", "v1", options),
    data: { ...data },
    ...defined({ binaryData: binaryData && { ...binaryData }, immutable }),
  };
}

/** Options for {@linkcode deployment}. */
export interface DeploymentBuildOptions extends NamespacedBuildOptions {
  /** The number of pods. @default {1} */
  readonly replicas?: number;
  /** The number of ready pods. @default {`replicas`} */
  readonly readyReplicas?: number;
  /** The container image. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other spec fields. @default {none} */
  readonly spec?: Partial<WrittenValue<DeploymentSpec>>;
  /** Any other status fields. @default {none} */
  readonly status?: Partial<WrittenValue<DeploymentStatus>>;
}

/** A Deployment from {@linkcode deployment}. */
export type BuiltDeployment = Built<Deployment, "status">;

/** Builds a Deployment. The label `app` on its pods has the Deployment's name. */
export function deployment(options: DeploymentBuildOptions): BuiltDeployment {
  checkNames("build a deployment", options, `${NAMESPACED} replicas readyReplicas image spec status`);
  const { name, replicas = 1, readyReplicas = replicas, image = "registry.example.com/app:1" } = options;
  const labels = { app: name };
  const spec: WrittenValue<DeploymentSpec> = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "app", image }] } },
    ...options.spec,
  };
  return {
    ...built<Deployment, "Deployment", "apps/v1">("Deployment", "apps/v1", options, { generation: 1 }),
    spec: copyOf(spec),
    status: copyOf({ replicas, readyReplicas, ...options.status }),
  };
}

/** An object to put on a fake server: like `ObjectDraft`, but with any metadata, and with a status. */
export type Fixture<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" ? never : Name]: WrittenValue<
      T[Name]
    >;
  }
  & { readonly [Name in keyof T as Name extends "status" ? Name : never]?: WrittenValue<T[Name]> }
  & {
    /** Metadata. The server fills in missing fields. */
    readonly metadata: Partial<ObjectMeta>;
  };

/** Options for {@linkcode lease}. */
export interface LeaseBuildOptions extends NamespacedBuildOptions {
  /** The holder's name. @default {the lease's name} */
  readonly holder?: string;
  /** Duration in seconds. @default {40} */
  readonly durationSeconds?: number;
  /** The time of the last renewal. @default {"2026-01-01T00:00:00.000000Z"} */
  readonly renewTime?: MicroTime;
  /** Any other spec fields. @default {none} */
  readonly spec?: WrittenValue<LeaseSpec>;
}

/** A Lease from {@linkcode lease}. */
export type BuiltLease = Built<Lease, "spec">;

/** Builds a Lease. */
export function lease(options: LeaseBuildOptions): BuiltLease {
  checkNames("build a lease", options, `${NAMESPACED} holder durationSeconds renewTime spec`);
  const { holder = options.name, durationSeconds = 40, renewTime = "2026-01-01T00:00:00.000000Z" } = options;
  return {
    ...built<Lease, "Lease", "coordination.k8s.io/v1">("Lease", "coordination.k8s.io/v1", options),
    spec: copyOf({ holderIdentity: holder, leaseDurationSeconds: durationSeconds, renewTime, ...options.spec }),
  };
}

/** Options for {@linkcode namespace}. */
export interface NamespaceBuildOptions extends BuildOptions {
  /** The namespace's phase. @default {"Active"} */
  readonly phase?: WrittenValue<NamespaceStatus>["phase"];
  /** Any spec fields. @default {no spec} */
  readonly spec?: WrittenValue<NamespaceSpec>;
  /** Any other status fields. @default {none} */
  readonly status?: WrittenValue<NamespaceStatus>;
}

/** A Namespace from {@linkcode namespace}. */
export type BuiltNamespace = Built<Namespace, "status">;

/** Builds a Namespace. */
export function namespace(options: NamespaceBuildOptions): BuiltNamespace {
  checkNames("build a namespace", options, `${NAMES} phase spec status`);
  return {
    ...built<Namespace, "Namespace", "v1">("Namespace", "v1", options, { cluster: true }),
    ...(options.spec === undefined ? {} : { spec: copyOf(options.spec) }),
    status: copyOf({ phase: options.phase ?? "Active", ...options.status }),
  };
}

/** Options for {@linkcode node}. */
export interface NodeBuildOptions extends BuildOptions {
  /** The status of the condition `Ready`. @default {true} */
  readonly ready?: boolean;
  /** If `true`, the node takes no new pods. @default {false} */
  readonly unschedulable?: boolean;
  /** Any other spec fields. @default {none} */
  readonly spec?: WrittenValue<NodeSpec>;
  /** Any other status fields. @default {none} */
  readonly status?: WrittenValue<NodeStatus>;
}

/** A Node from {@linkcode node}. */
export type BuiltNode = Built<Node, "spec" | "status">;

/** Builds a Node, which is ready by default. */
export function node(options: NodeBuildOptions): BuiltNode {
  checkNames("build a node", options, `${NAMES} ready unschedulable spec status`);
  const { ready = true, unschedulable = false } = options;
  const status: WrittenValue<NodeStatus> = {
    capacity: { cpu: "8", memory: "32Gi", pods: "110" },
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...options.status,
  };
  return {
    ...built<Node, "Node", "v1">("Node", "v1", options, { cluster: true }),
    spec: copyOf({ ...(unschedulable ? { unschedulable } : {}), ...options.spec }),
    status: copyOf(status),
  };
}

/** Options for {@linkcode pod}. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** The pod's node. @default {none, the pod is not scheduled} */
  readonly node?: string;
  /** The pod's phase. @default {"Running" on a node, otherwise "Pending"} */
  readonly phase?: WrittenValue<PodStatus>["phase"];
  /** The status of the condition `Ready`. @default {true if running} */
  readonly ready?: boolean;
  /** The container image. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other spec fields. @default {none} */
  readonly spec?: Partial<WrittenValue<PodSpec>>;
  /** Any other status fields. @default {none} */
  readonly status?: WrittenValue<PodStatus>;
}

/** A Pod from {@linkcode pod}. */
export type BuiltPod = Built<Pod, "status">;

/**
 * Builds a Pod with one container.
 *
 * Like all builders, it fills in the metadata that a server would set, including uid and resourceVersion. A server
 * replaces these when it creates the object.
 *
 * @example
 * ```ts
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1", labels: { app: "cart" } }));
 * assertEquals(server.get(Pod, "shop/cart-0")?.status?.phase, "Running");
 * ```
 */
export function pod(options: PodBuildOptions): BuiltPod {
  checkNames("build a pod", options, `${NAMESPACED} node phase ready image spec status`);
  const { name, node, image = "registry.example.com/app:1" } = options;
  const { phase = node === undefined ? "Pending" : "Running", ready = phase === "Running" } = options;
  const uid = builtUid("Pod", options);
  const spec: WrittenValue<PodSpec> = {
    containers: [{ name: "app", image }],
    restartPolicy: "Always",
    ...(node === undefined ? {} : { nodeName: node }),
    ...options.spec,
  };
  const status: WrittenValue<PodStatus> = {
    phase,
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...(phase === "Running" ? { podIP: `10.42.${name.length % 250}.${Number.parseInt(uid.slice(0, 2), 16)}` } : {}),
    ...options.status,
  };
  return {
    ...built<Pod, "Pod", "v1">("Pod", "v1", options, { generation: 1 }),
    spec: copyOf(spec),
    status: copyOf(status),
  };
}
