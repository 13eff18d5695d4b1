/** The core group without pods, services and volumes: settings, namespaces and their limits, nodes, events. */
import {
  Binding,
  ConfigMap,
  Event,
  LimitRange,
  Namespace,
  Node,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from "../../src/kinds/core/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Objects of the core group. */
export const core: readonly Manifest[] = [
  manifest(ConfigMap, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "cart" },
    data: { "cart.toml": "[log]\nlevel = 'info'\n", theme: "dark", "empty.txt": "" },
  }),
  manifest(ConfigMap, {
    metadata: { name: "logo", labels: { app: "cart" } },
    binaryData: { "logo.png": "iVBORw0KGgo=", "empty.bin": "" },
    immutable: true,
  }),
  manifest(ConfigMap, { metadata: { generateName: "empty-" } }),
  manifest(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "cart-db" },
    type: "Opaque",
    stringData: { username: "cart", password: "correct horse" },
    data: { certificate: "LS0tLS1CRUdJTg==" },
  }),
  manifest(Secret, {
    metadata: { name: "cart-tls" },
    type: "kubernetes.io/tls",
    data: { "tls.crt": "Y2VydGlmaWNhdGU=", "tls.key": "a2V5" },
    immutable: true,
  }),
  manifest(Secret, {
    metadata: { name: "registry" },
    type: "kubernetes.io/dockerconfigjson",
    stringData: { ".dockerconfigjson": '{"auths":{"registry.example.com":{"auth":"Y2FydDpjYXJ0"}}}' },
  }),
  manifest(Secret, {
    metadata: { name: "login" },
    type: "kubernetes.io/basic-auth",
    stringData: { username: "cart", password: "battery staple" },
  }),
  manifest(Secret, {
    metadata: { name: "git-key" },
    type: "kubernetes.io/ssh-auth",
    stringData: { "ssh-privatekey": "not a key" },
  }),
  manifest(Secret, {
    metadata: { name: "builder-token", annotations: { "kubernetes.io/service-account.name": "builder" } },
    type: "kubernetes.io/service-account-token",
  }),
  manifest(Secret, {
    metadata: { name: "bootstrap-token-5emitj" },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": "5emitj", "token-secret": "kq4gihvszzgn1p0r", "usage-bootstrap-signing": "true" },
  }),
  manifest(ServiceAccount, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "cart" },
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: "registry" }],
    secrets: [{ name: "builder-token" }],
  }),
  manifest(ServiceAccount, { metadata: { name: "builder", annotations: { "eks.example.com/role-arn": "arn:1" } } }),
  manifest(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "corpus-shop", labels: { "pod-security.kubernetes.io/enforce": "restricted", team: "checkout" } },
  }),
  manifest(Namespace, { metadata: { generateName: "preview-" }, spec: { finalizers: ["kubernetes"] } }),
  manifest(LimitRange, {
    metadata: { name: "defaults" },
    spec: {
      limits: [
        {
          type: "Container",
          default: { cpu: "500m", memory: "256Mi" },
          defaultRequest: { cpu: "100m", memory: "64Mi" },
          min: { cpu: "10m", memory: "8Mi" },
          max: { cpu: "4", memory: "8Gi" },
          maxLimitRequestRatio: { cpu: "10" },
        },
        { type: "Pod", max: { cpu: "8", memory: "16Gi" } },
        { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "1Ti" } },
      ],
    },
  }),
  manifest(ResourceQuota, {
    metadata: { name: "compute" },
    spec: {
      hard: {
        "requests.cpu": "20",
        "requests.memory": "64Gi",
        "limits.cpu": "40",
        "limits.memory": "128Gi",
        "requests.example.com/fpga": "4",
        pods: "100",
      },
    },
  }),
  manifest(ResourceQuota, {
    metadata: { name: "objects" },
    spec: {
      hard: {
        configmaps: "50",
        secrets: "50",
        services: "20",
        "services.loadbalancers": "2",
        "count/deployments.apps": "30",
        "fast.storageclass.storage.k8s.io/requests.storage": "500Gi",
      },
    },
  }),
  manifest(ResourceQuota, {
    metadata: { name: "best-effort" },
    spec: { hard: { pods: "10" }, scopes: ["BestEffort", "NotTerminating"] },
  }),
  manifest(ResourceQuota, {
    metadata: { name: "critical" },
    spec: {
      hard: { pods: "5" },
      scopeSelector: {
        matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-cluster-critical"] }],
      },
    },
  }),
  manifest(Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "worker-1",
      labels: { "kubernetes.io/arch": "arm64", "topology.kubernetes.io/zone": "eu-central-1a" },
    },
    spec: {
      podCIDR: "10.244.1.0/24",
      podCIDRs: ["10.244.1.0/24", "fd00:10:244:1::/64"],
      providerID: "aws:///eu-central-1a/i-0a1b2c3d",
      unschedulable: true,
      taints: [
        { key: "dedicated", value: "gpu", effect: "NoSchedule" },
        { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: "2026-01-02T03:04:05Z" },
        { key: "spot", effect: "PreferNoSchedule" },
      ],
    },
  }),
  manifest(Node, {
    metadata: { name: "worker-2" },
    spec: {
      configSource: {
        configMap: { namespace: "kube-system", name: "kubelet", kubeletConfigKey: "kubelet" },
      },
    },
  }),
  manifest(Node, { metadata: { name: "worker-3" } }),
  manifest(Event, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "cart-0.17f2" },
    involvedObject: {
      apiVersion: "v1",
      kind: "Pod",
      namespace: "shop",
      name: "cart-0",
      uid: "0b1b6b0a-9b1f-4a3b-8f39-1f0f4d0a0001",
      resourceVersion: "4711",
      fieldPath: "spec.containers{web}",
    },
    reason: "BackOff",
    message: "Back-off restarting failed container web",
    type: "Warning",
    source: { component: "kubelet", host: "worker-1" },
    firstTimestamp: "2026-01-02T03:04:05Z",
    lastTimestamp: "2026-01-02T03:14:05+01:00",
    count: 12,
  }),
  manifest(Event, {
    metadata: { generateName: "cart-" },
    involvedObject: { kind: "Deployment", apiVersion: "apps/v1", namespace: "shop", name: "cart" },
    related: { kind: "ReplicaSet", apiVersion: "apps/v1", namespace: "shop", name: "cart-6d4cf56db6" },
    eventTime: "2026-01-02T03:04:05.678901Z",
    reportingComponent: "deployment-controller",
    reportingInstance: "deployment-controller-0",
    action: "Scale",
    reason: "ScalingReplicaSet",
    message: "Scaled up",
    type: "Normal",
    series: { count: 3, lastObservedTime: "2026-01-02T03:04:06.000001Z" },
  }),
  manifest(PodTemplate, {
    metadata: { name: "worker" },
    template: {
      metadata: { labels: { app: "worker" }, annotations: { "shop.example.com/revision": "7" } },
      spec: {
        restartPolicy: "OnFailure",
        containers: [{ name: "work", image: "registry.example.com/worker:4", resources: { limits: { cpu: "1" } } }],
      },
    },
  }),
  manifest(ReplicationController, {
    metadata: { name: "legacy" },
    spec: {
      replicas: 2,
      minReadySeconds: 5,
      selector: { app: "legacy" },
      template: {
        metadata: { labels: { app: "legacy" } },
        spec: { containers: [{ name: "web", image: "registry.example.com/legacy:1" }] },
      },
    },
  }),
  manifest(ReplicationController, {
    metadata: { name: "legacy-by-labels" },
    spec: {
      template: {
        metadata: { labels: { app: "legacy" } },
        spec: { containers: [{ name: "web", image: "registry.example.com/legacy:1" }] },
      },
    },
  }),
  manifest(Binding, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "cart-0" },
    target: { apiVersion: "v1", kind: "Node", name: "worker-1" },
  }),
];
