/**
 * Fleets of objects that differ in how much they have in common: the pods of few templates, the pods of many workloads,
 * and objects that have nothing in common. The same in every run.
 *
 * {@linkcode fleetItem} is the entry point. `_data.ts` has the pods of all other benches.
 *
 * @module
 */
import { Random } from "../src/testing/fake/random.ts";
import { type Item, podItem } from "./_data.ts";

/** The names of fleets. */
export const FLEETS = ["template", "workloads", "random"] as const;

/** The name of a fleet. */
export type Fleet = (typeof FLEETS)[number];

/** Returns an object of a fleet as an item of a list, with a resourceVersion of its own. */
export function fleetItem(fleet: Fleet, index: number): Item {
  switch (fleet) {
    case "template":
      return podItem(index);
    case "workloads":
      return workloadPod(index);
    case "random":
      return randomObject(index);
  }
}

/** Pods of one workload. */
const REPLICAS = 20;
/** The number of shapes, which workloads have in turns. */
const SHAPES = 60;

const SERVICES = (
  "checkout cart payment search catalog pricing identity session mailer media orders shipping tax ledger fraud " +
  "reviews ranking feed gateway webhook audit exporter importer scheduler"
).split(" ");
const PARTS = ["api", "worker", "consumer", "cron", "cache", "frontend", "proxy", "migrator"];
const SIDECARS = ["istio-proxy", "log-shipper", "vault-agent", "otel-collector"];
const VARIABLES = (
  "LOG_LEVEL LOG_FORMAT DATABASE_URL DATABASE_POOL_SIZE REDIS_URL KAFKA_BROKERS KAFKA_GROUP_ID SENTRY_DSN REGION " +
  "FEATURE_FLAGS_URL OTEL_EXPORTER_OTLP_ENDPOINT OTEL_SERVICE_NAME HTTP_PORT GRPC_PORT METRICS_PORT CACHE_TTL_SECONDS " +
  "MAX_CONNECTIONS REQUEST_TIMEOUT_MS RETRY_LIMIT BUCKET QUEUE_URL AUTH_ISSUER AUTH_AUDIENCE GOMEMLIMIT GOMAXPROCS"
).split(" ");
const CONDITIONS = [
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
  "example.com/LoadBalanced",
];

/** What the pods of a workload share. */
interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly hash: string;
  readonly owner: string;
  /** The number of its shape: it decides how many of each there are. */
  readonly shape: Random;
  /** The values of this workload. */
  readonly values: Random;
}

function workloadOf(number: number): Workload {
  const values = new Random(Math.imul(number + 1, 0x9e3779b9));
  const service = SERVICES[number % SERVICES.length];
  const round = Math.floor(number / SERVICES.length);
  return {
    name: round === 0 ? service : `${service}-${PARTS[round % PARTS.length]}${round < PARTS.length ? "" : `-${round}`}`,
    namespace: `${SERVICES[number % 13]}-${["prod", "staging", "dev"][number % 3]}`,
    hash: values.suffix(10),
    owner: values.uid(),
    shape: new Random(number % SHAPES + 1),
    values,
  };
}

/** One pod of 1,000 workloads and more: 20 pods of each, of 4 to 15 kB. */
function workloadPod(index: number): Item {
  const workload = workloadOf(Math.floor(index / REPLICAS));
  const { name, namespace, hash, owner, shape, values } = workload;
  const random = new Random(Math.imul(index + 1, 0x27d4eb2f) ^ 0x165667b1);
  const time = new Date(Date.UTC(2026, 2, 1) + (index * 7_919 % 8_000_000) * 1_000).toISOString().replace(".000", "");
  const podName = `${name}-${hash}-${random.suffix()}`;
  const token = `kube-api-access-${random.suffix()}`;
  const app = containers(workload, token);
  const volumes = volumesOf(workload, token);
  const labels: Record<string, string> = { app: name, "pod-template-hash": hash };
  const annotations: Record<string, string> = { "cni.example.com/containerID": random.hex(64) };
  for (let i = shape.below(6); i > 0; i--) labels[`example.com/${PARTS[i]}`] = values.pick(SERVICES);
  for (let i = shape.below(5); i > 0; i--) annotations[`checksum/${PARTS[i]}`] = values.hex(64);
  const spec = {
    volumes,
    containers: app,
    ...shape.below(3) === 0 ? { initContainers: containers(workload, token).slice(0, 1) } : {},
    restartPolicy: "Always",
    terminationGracePeriodSeconds: shape.pick([30, 60, 120]),
    dnsPolicy: "ClusterFirst",
    ...shape.below(2) === 0 ? { nodeSelector: { "kubernetes.io/arch": values.pick(["amd64", "arm64"]) } } : {},
    serviceAccountName: name,
    serviceAccount: name,
    nodeName: `ip-10-${random.below(4)}-${random.below(256)}-${random.below(256)}.example.internal`,
    securityContext: shape.below(2) === 0 ? {} : { runAsUser: values.below(60_000), fsGroup: values.below(60_000) },
    schedulerName: "default-scheduler",
    tolerations: ["not-ready", "unreachable", "disk-pressure"].slice(0, 2 + shape.below(2)).map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    })),
    priority: shape.pick([0, 0, 1_000_000]),
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
  };
  const status = statusOf(app, { shape, random, time });
  const metadata = {
    name: podName,
    generateName: `${name}-${hash}-`,
    namespace,
    uid: random.uid(),
    resourceVersion: String(1_000_000 + index),
    creationTimestamp: time,
    labels,
    annotations,
    ownerReferences: [{
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: `${name}-${hash}`,
      uid: owner,
      controller: true,
      blockOwnerDeletion: true,
    }],
  };
  const entry = { operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1" };
  const template = { containers: app.map(({ name, image, env }) => ({ name, image, env })), volumes };
  return {
    metadata: {
      ...metadata,
      managedFields: [
        { manager: "kube-controller-manager", ...entry, fieldsV1: fieldsOf({ metadata: { labels }, spec: template }) },
        {
          manager: "kubelet",
          ...entry,
          fieldsV1: fieldsOf({ status: { conditions: status.conditions, podIP: "", startTime: "" } }),
          subresource: "status",
        },
      ],
    },
    spec,
    status,
  };
}

interface Container extends Item {
  readonly name: string;
  readonly image: string;
  readonly env: readonly Item[];
}

function containers({ name, namespace, shape, values }: Workload, token: string): Container[] {
  const number = 1 + shape.below(3);
  return Array.from({ length: number }, (_, place): Container => {
    const container = place === 0 ? name : SIDECARS[(place + shape.below(2)) % SIDECARS.length];
    const variables = VARIABLES.slice(0, 2 + shape.below(place === 0 ? VARIABLES.length - 2 : 6));
    const probe = (path: string): Item => ({
      httpGet: { path, port: 8_080 + place, scheme: "HTTP" },
      timeoutSeconds: 1 + shape.below(5),
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
    return {
      name: container,
      image: `registry.example.com/${namespace}/${container}:v${values.below(9)}.${values.below(40)}.${
        values.below(20)
      }`,
      ...shape.below(2) === 0 ? { args: ["--config=/etc/config/app.yaml", `--shard=${values.below(16)}`] } : {},
      ports: [{ name: "http", containerPort: 8_080 + place, protocol: "TCP" }],
      env: variables.map((variable) =>
        shape.below(4) === 0
          ? { name: variable, valueFrom: { secretKeyRef: { name: `${name}-secrets`, key: variable.toLowerCase() } } }
          : { name: variable, value: `${name}-${values.hex(4 + shape.below(24))}.${namespace}.svc` }
      ),
      resources: {
        limits: { cpu: values.pick(["1", "2", "4"]), memory: values.pick(["512Mi", "1Gi", "2Gi"]) },
        requests: { cpu: values.pick(["100m", "250m", "500m"]), memory: values.pick(["128Mi", "256Mi", "512Mi"]) },
      },
      volumeMounts: [
        ...shape.below(2) === 0 ? [{ name: "config", readOnly: true, mountPath: "/etc/config" }] : [],
        { name: token, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
      ],
      ...shape.below(4) > 0 ? { readinessProbe: probe("/readyz") } : {},
      ...shape.below(3) > 0 ? { livenessProbe: probe("/healthz") } : {},
      ...shape.below(6) === 0 ? { startupProbe: probe("/startz") } : {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
    };
  });
}

function volumesOf({ name, shape }: Workload, token: string): Item[] {
  const volumes: Item[] = Array.from({ length: shape.below(5) }, (_, place) =>
    shape.pick<Item>([
      { name: `volume-${place}`, configMap: { name: `${name}-config-${place}`, defaultMode: 420 } },
      { name: `volume-${place}`, secret: { secretName: `${name}-secret-${place}`, defaultMode: 420 } },
      { name: `volume-${place}`, emptyDir: { sizeLimit: "1Gi" } },
      { name: `volume-${place}`, persistentVolumeClaim: { claimName: `${name}-data` } },
    ]));
  volumes.push({
    name: token,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3_607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      ],
      defaultMode: 420,
    },
  });
  return volumes;
}

function statusOf(
  containers: readonly Container[],
  { shape, random, time }: { readonly shape: Random; readonly random: Random; readonly time: string },
): Item & { readonly conditions: readonly Item[] } {
  const address = `10.${64 + random.below(64)}.${random.below(256)}.${random.below(256)}`;
  const isReady = random.below(50) > 0;
  return {
    phase: "Running",
    conditions: CONDITIONS.slice(0, 4 + shape.below(3)).map((type) => ({
      type,
      status: isReady || !type.endsWith("Ready") ? "True" : "False",
      lastProbeTime: null,
      lastTransitionTime: time,
    })),
    hostIP: `10.0.${random.below(256)}.${random.below(256)}`,
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: time,
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      state: { running: { startedAt: time } },
      lastState: {},
      ready: isReady,
      restartCount: random.below(20) === 0 ? random.below(9) : 0,
      image,
      imageID: `${image.split(":")[0]}@sha256:${new Random(image.length * 31 + image.charCodeAt(25)).hex(64)}`,
      containerID: `containerd://${random.hex(64)}`,
      started: true,
    })),
    qosClass: "Burstable",
  };
}

/** FieldsV1 of a value: what an owner of all its fields has in managedFields. */
function fieldsOf(value: unknown): Item {
  if (Array.isArray(value)) {
    return Object.assign(
      {},
      ...value.map((item) => {
        const [key, name] = Object.entries(item as Item).find(([name]) => name === "name" || name === "type") ?? [];
        return key === undefined ? {} : { [`k:{"${key}":"${name}"}`]: { ".": {}, ...fieldsOf(item) } };
      }),
    );
  }
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [`f:${name}`, fieldsOf(inner)]));
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** An object of a custom kind with random names, values and depths: no two are alike. About 4 kB. */
function randomObject(index: number): Item {
  const random = new Random(Math.imul(index + 1, 0x85ebca77) ^ 0x2545f491);
  const spec: Item = {};
  while (JSON.stringify(spec).length < 1_000) spec[randomName(random)] = randomValue(random, 5);
  const status: Item = {};
  while (JSON.stringify(status).length < 400) status[randomName(random)] = randomValue(random, 4);
  return {
    metadata: {
      name: `${random.text(12, LETTERS).toLowerCase()}-${index.toString(36)}`,
      namespace: `namespace-${random.below(40)}`,
      uid: random.uid(),
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: new Date(Date.UTC(2026, 0, 1) + random.below(20_000_000) * 1_000).toISOString()
        .replace(".000", ""),
    },
    spec,
    status,
  };
}

function randomName(random: Random): string {
  return random.text(3 + random.below(12), LETTERS);
}

function randomValue(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 8 : 4);
  switch (kind) {
    case 0:
      return random.below(1_000_000_000);
    case 1:
      return random.next() < 0.5;
    case 2:
    case 3:
      return random.text(random.below(80), LETTERS);
    case 4:
    case 5:
      return Array.from({ length: random.below(6) }, () => randomValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: 1 + random.below(7) }, () => [randomName(random), randomValue(random, depth - 1)]),
      );
  }
}
