import { checkNames } from "../errors/option_names.ts";
import {
  copyOf,
  type KubernetesObject,
  type ManagedFieldsEntry,
  type MicroTime,
  type Mutable,
  type ObjectMeta,
  type OwnerReference,
  type Time,
  type WrittenValue,
} from "../api/object.ts";
import { Random } from "./random.ts";
import type {
  ConfigMap,
  ContainerStatus,
  EnvVar,
  Namespace,
  NamespaceSpec,
  NamespaceStatus,
  Node,
  NodeSpec,
  NodeStatus,
  Pod,
  PodSpec,
  PodStatus,
  Probe,
} from "../kinds/core/v1.ts";
import type { Deployment, DeploymentSpec, DeploymentStatus } from "../kinds/apps/v1.ts";
import type { Lease, LeaseSpec } from "../kinds/coordination/v1.ts";
import { defined } from "../api/options.ts";

/** Options of all builders. Fields of an object that they set replace those that the builder fills in. */
export interface BuildOptions {
  /** Name of the object. */
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

/** Options of builders for namespaced objects. */
export interface NamespacedBuildOptions extends BuildOptions {
  /** Namespace of the object. @default {"default"} */
  readonly namespace?: string;
}

/** An object of type `T` that a builder returns: the fields `Present` are there, and all can be changed. */
export type Built<T extends KubernetesObject, Present extends keyof T = never> =
  & Mutable<T>
  & { [Name in Present | "apiVersion" | "kind"]-?: Exclude<Mutable<T[Name]>, undefined> };

/** Creation timestamp: constant, so that equal options give equal objects. */
const CREATED = "2026-01-01T00:00:00Z";

const NAMES = "name labels annotations finalizers ownerReferences uid resourceVersion metadata";
const NAMESPACED = `${NAMES} namespace` as const;

/** Builds the metadata of an object; `cluster` omits the namespace. */
function builtMetadata(
  kind: string,
  options: NamespacedBuildOptions,
  cluster = false,
): Mutable<ObjectMeta> {
  const { name, namespace = "default", resourceVersion = "1", labels, annotations, ownerReferences, finalizers } =
    options;
  return copyOf<ObjectMeta>({
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
  });
}

/** Returns the uid of an object, derived from kind, namespace and name unless it is given. */
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
  /** The binary data, base64. @default {none} */
  readonly binaryData?: ConfigMap["binaryData"];
  /** True if the data cannot be changed. @default {false} */
  readonly immutable?: boolean;
}

/** A config map built by {@linkcode configMap}. */
export type BuiltConfigMap = Built<ConfigMap, "data">;

/** Builds a config map. */
export function configMap(options: ConfigMapBuildOptions): BuiltConfigMap {
  checkNames("build a config map", options, `${NAMESPACED} data binaryData immutable`);
  const { data = {}, binaryData, immutable } = options;
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: builtMetadata("ConfigMap", options),
    data: { ...data },
    ...defined({ binaryData: binaryData && { ...binaryData }, immutable }),
  };
}

/** Options for {@linkcode deployment}. */
export interface DeploymentBuildOptions extends NamespacedBuildOptions {
  /** Number of pods. @default {1} */
  readonly replicas?: number;
  /** Number of ready pods. @default {`replicas`} */
  readonly readyReplicas?: number;
  /** Image of the pods' container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: Partial<WrittenValue<DeploymentSpec>>;
  /** Any other fields of the status. @default {none} */
  readonly status?: Partial<WrittenValue<DeploymentStatus>>;
}

/** A deployment built by {@linkcode deployment}. */
export type BuiltDeployment = Built<Deployment, "status">;

/** Builds a deployment whose pods have the label `app` with its name. */
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
    kind: "Deployment",
    apiVersion: "apps/v1",
    metadata: { generation: 1, ...builtMetadata("Deployment", options) },
    spec: copyOf(spec),
    status: copyOf({ replicas, readyReplicas, ...options.status }),
  };
}

/** An object to be put on a fake server: as `Draft`, but with any metadata, and with a status. */
export type Fixture<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" ? never : Name]: WrittenValue<
      T[Name]
    >;
  }
  & { readonly [Name in keyof T as Name extends "status" ? Name : never]?: WrittenValue<T[Name]> }
  & {
    /** Metadata; what is missing is filled in. */
    readonly metadata: Partial<ObjectMeta>;
  };

/** Options for {@linkcode lease}. */
export interface LeaseBuildOptions extends NamespacedBuildOptions {
  /** Name of the holder. @default {the lease's name} */
  readonly holder?: string;
  /** Duration in seconds. @default {40} */
  readonly durationSeconds?: number;
  /** Time of the last renewal. @default {"2026-01-01T00:00:00.000000Z"} */
  readonly renewTime?: MicroTime;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: WrittenValue<LeaseSpec>;
}

/** A lease built by {@linkcode lease}. */
export type BuiltLease = Built<Lease, "spec">;

/** Builds a lease. */
export function lease(options: LeaseBuildOptions): BuiltLease {
  checkNames("build a lease", options, `${NAMESPACED} holder durationSeconds renewTime spec`);
  const { holder = options.name, durationSeconds = 40, renewTime = "2026-01-01T00:00:00.000000Z" } = options;
  return {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: builtMetadata("Lease", options),
    spec: copyOf({
      holderIdentity: holder,
      leaseDurationSeconds: durationSeconds,
      renewTime,
      ...options.spec,
    }),
  };
}

/** Options for {@linkcode namespace}. */
export interface NamespaceBuildOptions extends BuildOptions {
  /** Phase of the namespace. @default {"Active"} */
  readonly phase?: WrittenValue<NamespaceStatus>["phase"];
  /** Any fields of the spec. @default {no spec} */
  readonly spec?: WrittenValue<NamespaceSpec>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<NamespaceStatus>;
}

/** A namespace built by {@linkcode namespace}. */
export type BuiltNamespace = Built<Namespace, "status">;

/** Builds a namespace. */
export function namespace(options: NamespaceBuildOptions): BuiltNamespace {
  checkNames("build a namespace", options, `${NAMES} phase spec status`);
  return {
    kind: "Namespace",
    apiVersion: "v1",
    metadata: builtMetadata("Namespace", options, true),
    ...(options.spec === undefined ? {} : { spec: copyOf(options.spec) }),
    status: copyOf({ phase: options.phase ?? "Active", ...options.status }),
  };
}

/** Options for {@linkcode node}. */
export interface NodeBuildOptions extends BuildOptions {
  /** Status of the condition `Ready`. @default {true} */
  readonly ready?: boolean;
  /** If true, the node takes no new pods. @default {false} */
  readonly unschedulable?: boolean;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: WrittenValue<NodeSpec>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<NodeStatus>;
}

/** A node built by {@linkcode node}. */
export type BuiltNode = Built<Node, "spec" | "status">;

/** Builds a node, ready by default. */
export function node(options: NodeBuildOptions): BuiltNode {
  checkNames("build a node", options, `${NAMES} ready unschedulable spec status`);
  const { ready = true, unschedulable = false } = options;
  const status: WrittenValue<NodeStatus> = {
    capacity: { cpu: "8", memory: "32Gi", pods: "110" },
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...options.status,
  };
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: builtMetadata("Node", options, true),
    spec: copyOf({ ...(unschedulable ? { unschedulable } : {}), ...options.spec }),
    status: copyOf(status),
  };
}

/** Options for {@linkcode pod}. */
export interface PodBuildOptions extends NamespacedBuildOptions {
  /** Node of the pod. @default {none, the pod is not scheduled} */
  readonly node?: string;
  /** Pod phase. @default {"Running" on a node, else "Pending"} */
  readonly phase?: WrittenValue<PodStatus>["phase"];
  /** Status of the condition `Ready`. @default {true if running} */
  readonly ready?: boolean;
  /** Image of the only container. @default {"registry.example.com/app:1"} */
  readonly image?: string;
  /** Any other fields of the spec. @default {none} */
  readonly spec?: Partial<WrittenValue<PodSpec>>;
  /** Any other fields of the status. @default {none} */
  readonly status?: WrittenValue<PodStatus>;
}

/** A pod built by {@linkcode pod}. */
export type BuiltPod = Built<Pod, "status">;

/**
 * Builds a pod with one container.
 *
 * Like all builders, it fills in the metadata that a server would set, including uid and resourceVersion. A server
 * replaces these on creation.
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
    kind: "Pod",
    apiVersion: "v1",
    metadata: { generation: 1, ...builtMetadata("Pod", options) },
    spec: copyOf(spec),
    status: copyOf(status),
  };
}

const TEAMS = [
  "billing",
  "catalog",
  "checkout",
  "identity",
  "ingest",
  "mail",
  "media",
  "orders",
  "search",
  "storefront",
];
const STAGES = ["prod", "staging", "canary"];

/** A pod of a realistic size. */
export type BigPod = Built<Pod, "status">;

/**
 * Generates `count` realistic pods of about 9 KB each: a sidecar, probes, volumes, conditions, and managedFields that
 * make up a third. The same seed gives the same pods. Each pod is built when it is requested.
 */
export function* pods(count: number, seed = 1): Generator<BigPod> {
  for (let index = 0; index < count; index++) yield bigPod(index, seed);
}

/** Builds the pod at `index` of {@linkcode pods}. */
export function bigPod(index: number, seed = 1): BigPod {
  const random = new Random(Math.imul(index + 1, 0x9e3779b1) ^ seed);
  // Values that the pods of an application share are derived from the application's number.
  const application = Math.floor(index / 4);
  const shared = new Random(Math.imul(application + 1, 0x85ebca77) ^ seed);
  const team = TEAMS[application % TEAMS.length];
  const namespace = `${team}-${STAGES[application % STAGES.length]}`;
  const app = `${team}-api-${application}`;
  const hash = shared.hex(10);
  const owner = { name: `${app}-${hash}`, uid: shared.uid() };
  const time = new Date(Date.UTC(2026, 0, 1) + (index % 500_000) * 7_000).toISOString().replace(".000", "");
  const address = `10.${42 + (index >>> 16)}.${(index >>> 8) & 255}.${index & 255}`;
  const host = `10.0.${Math.floor(index / 30) >>> 8}.${Math.floor(index / 30) & 255}`;
  const image = `registry.example.com/${team}/api:v1.${application % 30}.${application % 7}`;
  const facts: Facts = { app, team, namespace, image, time, address, host, shared, random };
  const metadata = {
    name: `${owner.name}-${random.suffix()}${index.toString(36)}`,
    generateName: `${owner.name}-`,
    namespace,
    uid: random.uid(),
    resourceVersion: String(index + 1),
    generation: 1,
    creationTimestamp: time,
    labels: {
      "app": app,
      "app.kubernetes.io/instance": `${app}-${STAGES[application % STAGES.length]}`,
      "app.kubernetes.io/managed-by": "Helm",
      "app.kubernetes.io/name": app,
      "app.kubernetes.io/version": `1.${application % 30}.${application % 7}`,
      "pod-template-hash": hash,
      team,
    },
    annotations: {
      "checksum/config": shared.hex(64),
      "cni.example.com/containerID": random.hex(64),
      "cni.example.com/podIPs": `${address}/32`,
      "prometheus.io/path": "/metrics",
      "prometheus.io/port": "9090",
      "prometheus.io/scrape": "true",
    },
    ownerReferences: [{
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      ...owner,
      controller: true,
      blockOwnerDeletion: true,
    }],
    managedFields: managedFieldsOf(time, owner.uid, address),
  };
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata,
    spec: specOf(facts),
    status: statusOf(facts),
  };
}

interface Facts {
  readonly app: string;
  readonly team: string;
  readonly namespace: string;
  readonly image: string;
  readonly time: string;
  readonly address: string;
  readonly host: string;
  readonly shared: Random;
  readonly random: Random;
}

const PROXY = "registry.example.com/mesh/proxy:1.22.3";

function specOf(facts: Facts): Mutable<PodSpec> {
  const { app, host, random } = facts;
  const token = `kube-api-access-${random.suffix()}`;
  return {
    volumes: volumesOf(app, token),
    containers: containersOf(facts, token),
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: app,
    serviceAccount: app,
    nodeName: `ip-${host.replaceAll(".", "-")}.example.internal`,
    securityContext: { fsGroup: 1_000, seccompProfile: { type: "RuntimeDefault" } },
    schedulerName: "default-scheduler",
    tolerations: ["not-ready", "unreachable"].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
  };
}

function volumesOf(app: string, token: string): Mutable<PodSpec>["volumes"] {
  return [
    { name: "config", configMap: { name: `${app}-config`, defaultMode: 420 } },
    { name: "tmp", emptyDir: {} },
    {
      name: token,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3_607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
            },
          },
        ],
        defaultMode: 420,
      },
    },
  ];
}

function containersOf({ app, namespace, image }: Facts, token: string): Mutable<PodSpec>["containers"] {
  const field = (name: string, fieldPath: string): Mutable<EnvVar> => ({
    name,
    valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
  });
  const mounts = [
    { name: "config", readOnly: true, mountPath: "/etc/config" },
    { name: "tmp", mountPath: "/tmp" },
    { name: token, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
  ];
  return [
    {
      name: "app",
      image,
      args: ["--config=/etc/config/app.yaml", "--listen=:8080"],
      ports: [
        { name: "http", containerPort: 8080, protocol: "TCP" },
        { name: "metrics", containerPort: 9090, protocol: "TCP" },
      ],
      env: [
        { name: "LOG_LEVEL", value: "info" },
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        { name: "DATABASE_HOST", value: `${app}-db.${namespace}.svc.cluster.local` },
        { name: "DATABASE_PASSWORD", valueFrom: { secretKeyRef: { name: `${app}-db`, key: "password" } } },
        { name: "TELEMETRY_ENDPOINT", value: "http://collector.telemetry.svc:4317" },
      ],
      resources: { limits: { cpu: "2", memory: "2Gi" }, requests: { cpu: "250m", memory: "512Mi" } },
      volumeMounts: mounts,
      livenessProbe: probe("/healthz", 8080, 10),
      readinessProbe: probe("/readyz", 8080, 5),
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
      securityContext: {
        capabilities: { drop: ["ALL"] },
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
      },
    },
    {
      name: "proxy",
      image: PROXY,
      args: ["proxy", "sidecar", "--domain", "$(POD_NAMESPACE).svc.cluster.local"],
      ports: [{ name: "http-envoy-prom", containerPort: 15090, protocol: "TCP" }],
      env: [field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace")],
      resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "100m", memory: "128Mi" } },
      volumeMounts: mounts.slice(2),
      readinessProbe: probe("/healthz/ready", 15021, 15),
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
    },
  ];
}

function probe(path: string, port: number, periodSeconds: number): Mutable<Probe> {
  return {
    httpGet: { path, port, scheme: "HTTP" },
    timeoutSeconds: 1,
    periodSeconds,
    successThreshold: 1,
    failureThreshold: 3,
  };
}

const CONDITIONS = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/** kube-apiserver sends null for some times that nobody has set. */
const UNSET = null as unknown as Time;

function statusOf({ team, image, time, address, host, shared, random }: Facts): Mutable<PodStatus> {
  const digest = shared.hex(64);
  const container = (name: string, imageName: string, imageID: string): Mutable<ContainerStatus> => ({
    name,
    state: { running: { startedAt: time } },
    lastState: {},
    ready: true,
    restartCount: random.below(3),
    image: imageName,
    imageID,
    containerID: `containerd://${random.hex(64)}`,
    started: true,
  });
  return {
    phase: "Running",
    conditions: CONDITIONS.map((type) => ({ type, status: "True", lastProbeTime: UNSET, lastTransitionTime: time })),
    hostIP: host,
    hostIPs: [{ ip: host }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: time,
    containerStatuses: [
      container("app", image, `registry.example.com/${team}/api@sha256:${digest}`),
      container("proxy", PROXY, `registry.example.com/mesh/proxy@sha256:${"4b".repeat(32)}`),
    ],
    qosClass: "Burstable",
  };
}

/** FieldsV1 of some leaves: `"a b"` becomes `{"f:a":{},"f:b":{}}`. */
function leaves(names: string): Record<string, unknown> {
  return Object.fromEntries(names.split(" ").map((name) => [name === "." ? "." : `f:${name}`, {}]));
}

/** FieldsV1 of an item of a list map. */
function named(name: string, inner: Record<string, unknown>): Record<string, unknown> {
  return { [`k:{"name":"${name}"}`]: { ".": {}, "f:name": {}, ...inner } };
}

function containerFields(): Record<string, unknown> {
  const probe = {
    ...leaves(". failureThreshold periodSeconds successThreshold timeoutSeconds"),
    "f:httpGet": leaves(". path port scheme"),
  };
  return {
    ...leaves("image imagePullPolicy terminationMessagePath terminationMessagePolicy"),
    "f:env": {
      ".": {},
      ...named("DATABASE_PASSWORD", { "f:valueFrom": leaves(". secretKeyRef") }),
      ...named("LOG_LEVEL", leaves("value")),
      ...named("POD_NAME", { "f:valueFrom": leaves(". fieldRef") }),
    },
    "f:livenessProbe": probe,
    "f:ports": {
      ".": {},
      'k:{"containerPort":8080,"protocol":"TCP"}': leaves(". containerPort name protocol"),
      'k:{"containerPort":9090,"protocol":"TCP"}': leaves(". containerPort name protocol"),
    },
    "f:readinessProbe": probe,
    "f:resources": { ".": {}, "f:limits": leaves(". cpu memory"), "f:requests": leaves(". cpu memory") },
    "f:volumeMounts": { ".": {}, 'k:{"mountPath":"/etc/config"}': leaves(". mountPath name readOnly") },
  };
}

function managedFieldsOf(time: string, owner: string, address: string): Mutable<ManagedFieldsEntry>[] {
  const condition = (type: string): Record<string, unknown> => ({
    [`k:{"type":"${type}"}`]: leaves(". lastProbeTime lastTransitionTime status type"),
  });
  const entry = { operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1" };
  return [
    {
      manager: "kube-controller-manager",
      ...entry,
      fieldsV1: {
        "f:metadata": {
          "f:annotations": leaves(". checksum/config prometheus.io/path prometheus.io/port prometheus.io/scrape"),
          "f:generateName": {},
          "f:labels": leaves(
            ". app app.kubernetes.io/instance app.kubernetes.io/managed-by app.kubernetes.io/name " +
              "app.kubernetes.io/version pod-template-hash team",
          ),
          "f:ownerReferences": { ".": {}, [`k:{"uid":"${owner}"}`]: {} },
        },
        "f:spec": {
          "f:containers": named("app", containerFields()),
          ...leaves(
            "dnsPolicy enableServiceLinks restartPolicy schedulerName securityContext serviceAccount " +
              "serviceAccountName terminationGracePeriodSeconds",
          ),
          "f:volumes": { ".": {}, ...named("config", { "f:configMap": leaves(". defaultMode name") }) },
        },
      },
    },
    {
      manager: "kubelet",
      ...entry,
      fieldsV1: {
        "f:status": {
          "f:conditions": {
            ".": {},
            ...condition("ContainersReady"),
            ...condition("Initialized"),
            ...condition("Ready"),
          },
          ...leaves("containerStatuses hostIP hostIPs phase podIP startTime"),
          "f:podIPs": { ".": {}, [`k:{"ip":"${address}"}`]: leaves(". ip") },
        },
      },
      subresource: "status",
    },
  ];
}
