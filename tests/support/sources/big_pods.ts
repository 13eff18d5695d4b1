/**
 * Pods of the size and shape that they have on a busy cluster, for tests and benches.
 *
 * {@linkcode pods} is the entry point. It makes no small pods: those are `pod()` of `@kube/informer/testing`.
 *
 * @module
 */
import type { ManagedFieldsEntry, Mutable, Time } from "@kube/informer";
import type { ContainerStatus, EnvVar, Pod, PodSpec, PodStatus, Probe } from "@kube/informer/kinds/core/v1";
import type { Built } from "@kube/informer/testing";
import { Random } from "../../../src/testing/fake/random.ts";

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
export function leaves(names: string): Record<string, unknown> {
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
