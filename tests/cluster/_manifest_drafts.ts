/** Manifests as users write them, one or more of each API group that many use; the compiler checks them as drafts. */
import type { KubernetesObject, ObjectDraft, Resource } from "../../mod.ts";
import { ValidatingAdmissionPolicy } from "../../src/engine/kinds/admissionregistration/v1.ts";
import { Deployment, StatefulSet } from "../../src/engine/kinds/apps/v1.ts";
import { SelfSubjectReview } from "../../src/engine/kinds/authentication/v1.ts";
import { SubjectAccessReview } from "../../src/engine/kinds/authorization/v1.ts";
import { CronJob } from "../../src/engine/kinds/batch/v1.ts";
import { Lease } from "../../src/engine/kinds/coordination/v1.ts";
import { Binding, ConfigMap, PersistentVolumeClaim, Pod, Secret, Service } from "../../src/engine/kinds/core/v1.ts";
import { Ingress, NetworkPolicy } from "../../src/engine/kinds/networking/v1.ts";
import { RoleBinding } from "../../src/engine/kinds/rbac/v1.ts";

/** A draft and the kind that it is of. */
export interface Manifest {
  /** The kind. */
  readonly resource: Resource;
  /** The object to create. One of a namespaced kind belongs to the namespace `shop`, and does not name it. */
  readonly draft: ObjectDraft<KubernetesObject>;
}

/** Returns a manifest, whose draft the compiler checks as an `ObjectDraft` of its kind. */
function manifest<T extends KubernetesObject>(resource: Resource<T>, draft: NoInfer<ObjectDraft<T>>): Manifest {
  return { resource, draft: draft as ObjectDraft<KubernetesObject> };
}

/** A pod's template. */
const template = {
  metadata: { labels: { app: "cart" } },
  spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
};

/** The labels of its pods. */
const selector = { matchLabels: { app: "cart" } };

/** The manifests. */
export const MANIFESTS: readonly Manifest[] = [
  manifest(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "cart", labels: { app: "cart" }, annotations: { "shop.example.com/owner": "checkout" } },
    spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
  }),
  manifest(Pod, {
    metadata: { name: "environment" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        env: [
          { name: "LOG_LEVEL", value: "info" },
          { name: "EMPTY", value: "" },
          { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
          {
            name: "MEMORY_LIMIT",
            valueFrom: { resourceFieldRef: { containerName: "web", resource: "limits.memory", divisor: "1Mi" } },
          },
          { name: "CPU_LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
          { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "cart-db", key: "password" } } },
          { name: "THEME", valueFrom: { configMapKeyRef: { name: "cart", key: "theme", optional: true } } },
        ],
        envFrom: [
          { configMapRef: { name: "cart", optional: true } },
          { prefix: "DB_", secretRef: { name: "cart-db", optional: false } },
        ],
        resources: { limits: { cpu: "500m", memory: "256Mi" } },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "resources" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        resources: {
          requests: { cpu: "250m", memory: "64Mi", "ephemeral-storage": "1Gi", "example.com/fpga": "1" },
          limits: { cpu: "1.5", memory: "128M", "ephemeral-storage": "2e9", "example.com/fpga": "1" },
        },
        resizePolicy: [
          { resourceName: "cpu", restartPolicy: "NotRequired" },
          { resourceName: "memory", restartPolicy: "RestartContainer" },
        ],
      }],
    },
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
  manifest(Binding, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "cart-0" },
    target: { apiVersion: "v1", kind: "Node", name: "worker-1" },
  }),
  manifest(Deployment, {
    metadata: { name: "surge-by-number" },
    spec: { selector, template, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: "10%" } } },
  }),
  manifest(StatefulSet, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db" },
    spec: {
      serviceName: "db",
      replicas: 3,
      selector,
      template: {
        ...template,
        spec: {
          containers: [{
            name: "db",
            image: "registry.example.com/db:5",
            volumeMounts: [{ name: "data", mountPath: "/var/lib/db" }],
          }],
        },
      },
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } },
      revisionHistoryLimit: 2,
      minReadySeconds: 10,
      ordinals: { start: 5 },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
      volumeClaimTemplates: [{
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data", labels: { app: "db" } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "fast",
          resources: { requests: { storage: "100Gi" } },
        },
      }],
    },
  }),
  manifest(CronJob, {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "nightly" },
    spec: {
      schedule: "15 3 * * *",
      timeZone: "Europe/Berlin",
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 300,
      successfulJobsHistoryLimit: 2,
      failedJobsHistoryLimit: 5,
      suspend: false,
      jobTemplate: {
        metadata: { labels: { app: "report" } },
        spec: {
          backoffLimit: 1,
          template: {
            spec: { restartPolicy: "Never", containers: [{ name: "report", image: "registry.example.com/report:1" }] },
          },
        },
      },
    },
  }),
  manifest(Service, {
    metadata: { name: "cart-node-port" },
    spec: {
      type: "NodePort",
      externalTrafficPolicy: "Local",
      internalTrafficPolicy: "Cluster",
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
      selector: { app: "cart" },
      ports: [
        { name: "http", port: 80, targetPort: 8080, nodePort: 30080 },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
    },
  }),
  manifest(Ingress, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "shop", annotations: { "nginx.ingress.kubernetes.io/proxy-body-size": "8m" } },
    spec: {
      ingressClassName: "nginx",
      tls: [{ hosts: ["shop.example.com"], secretName: "cart-tls" }],
      rules: [{
        host: "shop.example.com",
        http: {
          paths: [
            { path: "/cart", pathType: "Prefix", backend: { service: { name: "cart", port: { number: 80 } } } },
            { path: "/pay", pathType: "Exact", backend: { service: { name: "pay", port: { name: "http" } } } },
          ],
        },
      }, { host: "*.shop.example.com" }],
    },
  }),
  manifest(NetworkPolicy, {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "cart" },
    spec: {
      podSelector: { matchLabels: { app: "cart" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{
        from: [
          { podSelector: { matchLabels: { app: "gateway" } } },
          { namespaceSelector: { matchLabels: { team: "checkout" } }, podSelector: {} },
          { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
        ],
        ports: [{ port: "http", protocol: "TCP" }, { port: 8000, endPort: 8999 }],
      }],
      egress: [{ to: [{ ipBlock: { cidr: "2001:db8::/32" } }], ports: [{ protocol: "UDP", port: 53 }] }, {}],
    },
  }),
  manifest(PersistentVolumeClaim, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "cart-data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  }),
  manifest(RoleBinding, {
    metadata: { name: "cart" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "cart" },
    subjects: [
      { kind: "ServiceAccount", name: "cart", namespace: "shop" },
      { kind: "User", name: "ada", apiGroup: "rbac.authorization.k8s.io" },
      { kind: "Group", name: "checkout", apiGroup: "rbac.authorization.k8s.io" },
    ],
  }),
  manifest(SelfSubjectReview, { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  manifest(SubjectAccessReview, {
    metadata: {},
    spec: {
      groups: ["system:masters"],
      resourceAttributes: {
        verb: "list",
        resource: "pods",
        fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["worker-1"] }] },
        labelSelector: { requirements: [{ key: "app", operator: "Exists" }] },
      },
    },
  }),
  manifest(ValidatingAdmissionPolicy, {
    metadata: { name: "no-latest" },
    spec: {
      failurePolicy: "Ignore",
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))" }],
    },
  }),
  manifest(Lease, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "controller" },
    spec: {
      holderIdentity: "controller-0_5c1c2d0e",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-02T03:04:05.678901Z",
      renewTime: "2026-01-02T03:14:05.000000Z",
      leaseTransitions: 3,
    },
  }),
];
