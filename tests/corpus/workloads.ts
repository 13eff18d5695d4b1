/** Workloads: apps, batch, autoscaling and policy. */
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../src/kinds/apps/v1.ts";
import { HorizontalPodAutoscaler as HorizontalPodAutoscalerV1 } from "../../src/kinds/autoscaling/v1.ts";
import { HorizontalPodAutoscaler } from "../../src/kinds/autoscaling/v2.ts";
import { CronJob, Job } from "../../src/kinds/batch/v1.ts";
import { PodDisruptionBudget } from "../../src/kinds/policy/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** A pod's template. */
const template = {
  metadata: { labels: { app: "cart" } },
  spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
};

/** The labels of its pods. */
const selector = { matchLabels: { app: "cart" } };

/** Objects that run pods, and that govern how many there are. */
export const workloads: readonly Manifest[] = [
  manifest(Deployment, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "cart", labels: { app: "cart" } },
    spec: { replicas: 3, selector, template },
  }),
  manifest(Deployment, {
    metadata: { name: "rolling" },
    spec: {
      replicas: 10,
      selector,
      template,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      minReadySeconds: 10,
      progressDeadlineSeconds: 300,
      revisionHistoryLimit: 3,
      paused: true,
    },
  }),
  manifest(Deployment, {
    metadata: { name: "recreate" },
    spec: { selector, template, strategy: { type: "Recreate" }, replicas: 0 },
  }),
  manifest(Deployment, {
    metadata: { name: "surge-by-number" },
    spec: { selector, template, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: "10%" } } },
  }),
  manifest(Deployment, {
    metadata: { name: "selector-expressions" },
    spec: {
      selector: {
        matchLabels: { app: "cart" },
        matchExpressions: [
          { key: "app", operator: "In", values: ["cart", "basket"] },
          { key: "canary", operator: "DoesNotExist" },
          { key: "tier", operator: "NotIn", values: ["db"] },
        ],
      },
      template: { ...template, metadata: { labels: { app: "cart", tier: "web" } } },
    },
  }),
  manifest(Deployment, {
    metadata: { name: "three-containers" },
    spec: {
      selector,
      template: {
        metadata: { labels: { app: "cart" }, annotations: { "prometheus.io/scrape": "true" } },
        spec: {
          serviceAccountName: "cart",
          containers: [
            { name: "web", image: "registry.example.com/cart:1.8.2", ports: [{ name: "http", containerPort: 8080 }] },
            { name: "proxy", image: "registry.example.com/proxy:2", args: ["--upstream", "localhost:8080"] },
            { name: "metrics", image: "registry.example.com/metrics:1", ports: [{ containerPort: 9090 }] },
          ],
          volumes: [{ name: "settings", configMap: { name: "cart" } }],
        },
      },
    },
  }),
  manifest(ReplicaSet, {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "cart-6d4cf56db6" },
    spec: { replicas: 3, minReadySeconds: 5, selector, template },
  }),
  manifest(ReplicaSet, { metadata: { name: "no-replicas" }, spec: { selector, template, replicas: 0 } }),
  manifest(DaemonSet, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: {
      selector,
      template,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "20%" } },
      minReadySeconds: 3,
      revisionHistoryLimit: 5,
    },
  }),
  manifest(DaemonSet, {
    metadata: { name: "agent-by-hand" },
    spec: { selector, template, updateStrategy: { type: "OnDelete" } },
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
  manifest(StatefulSet, {
    metadata: { name: "db-by-hand" },
    spec: { selector, template, podManagementPolicy: "OrderedReady", updateStrategy: { type: "OnDelete" } },
  }),
  manifest(StatefulSet, {
    metadata: { name: "db-unavailable" },
    spec: { serviceName: "db", selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: "30%" } } },
  }),
  manifest(ControllerRevision, {
    metadata: { name: "db-7d9f" },
    revision: 4,
    data: { spec: { template: { "$patch": "replace", spec: { containers: [] } } } },
  }),
  manifest(ControllerRevision, { metadata: { name: "without-data" }, revision: 0, data: {} }),
  manifest(Job, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "report" },
    spec: {
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "report", image: "registry.example.com/report:1" }] },
      },
    },
  }),
  manifest(Job, {
    metadata: { name: "indexed" },
    spec: {
      completionMode: "Indexed",
      completions: 10,
      parallelism: 5,
      backoffLimitPerIndex: 2,
      maxFailedIndexes: 4,
      activeDeadlineSeconds: 3600,
      ttlSecondsAfterFinished: 600,
      podReplacementPolicy: "Failed",
      suspend: true,
      successPolicy: { rules: [{ succeededIndexes: "0-4,7", succeededCount: 3 }, { succeededCount: 8 }] },
      podFailurePolicy: {
        rules: [
          { action: "FailIndex", onExitCodes: { containerName: "work", operator: "In", values: [1, 2, 3] } },
          { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
          { action: "FailJob", onExitCodes: { operator: "NotIn", values: [0] } },
          { action: "Count", onPodConditions: [{ type: "shop.example.com/Broken" }] },
        ],
      },
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "work", image: "registry.example.com/worker:4" }] },
      },
    },
  }),
  manifest(Job, {
    metadata: { name: "manual-selector" },
    spec: {
      manualSelector: true,
      selector: { matchLabels: { job: "manual" } },
      backoffLimit: 0,
      managedBy: "shop.example.com/queue",
      completionMode: "NonIndexed",
      template: {
        metadata: { labels: { job: "manual" } },
        spec: { restartPolicy: "OnFailure", containers: [{ name: "work", image: "registry.example.com/worker:4" }] },
      },
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
  manifest(CronJob, {
    metadata: { name: "hourly" },
    spec: {
      schedule: "@hourly",
      concurrencyPolicy: "Replace",
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: "OnFailure",
              containers: [{ name: "sweep", image: "registry.example.com/sweep:1" }],
            },
          },
        },
      },
    },
  }),
  manifest(HorizontalPodAutoscaler, {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "cart" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "cart" },
      minReplicas: 2,
      maxReplicas: 20,
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
      }],
    },
  }),
  manifest(HorizontalPodAutoscaler, {
    metadata: { name: "all-metrics" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" },
      maxReplicas: 5,
      metrics: [
        { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "500Mi" } } },
        {
          type: "ContainerResource",
          containerResource: { name: "cpu", container: "web", target: { type: "Utilization", averageUtilization: 60 } },
        },
        {
          type: "Pods",
          pods: {
            metric: { name: "requests_per_second", selector: { matchLabels: { verb: "GET" } } },
            target: { type: "AverageValue", averageValue: "1k" },
          },
        },
        {
          type: "Object",
          object: {
            describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "shop" },
            metric: { name: "hits" },
            target: { type: "Value", value: "2k" },
          },
        },
        {
          type: "External",
          external: {
            metric: { name: "queue_length", selector: { matchExpressions: [{ key: "queue", operator: "Exists" }] } },
            target: { type: "AverageValue", averageValue: "30" },
          },
        },
      ],
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: "Max",
          policies: [{ type: "Percent", value: 100, periodSeconds: 15 }, { type: "Pods", value: 4, periodSeconds: 15 }],
        },
        scaleDown: {
          stabilizationWindowSeconds: 300,
          selectPolicy: "Disabled",
          policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
          tolerance: "50m",
        },
      },
    },
  }),
  manifest(HorizontalPodAutoscalerV1, {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "cart-v1" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "cart" },
      minReplicas: 1,
      maxReplicas: 4,
      targetCPUUtilizationPercentage: 80,
    },
  }),
  manifest(PodDisruptionBudget, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "cart" },
    spec: { selector, minAvailable: 2 },
  }),
  manifest(PodDisruptionBudget, {
    metadata: { name: "cart-percent" },
    spec: { selector, maxUnavailable: "20%", unhealthyPodEvictionPolicy: "AlwaysAllow" },
  }),
  manifest(PodDisruptionBudget, {
    metadata: { name: "everything" },
    spec: { selector: {}, maxUnavailable: 0, unhealthyPodEvictionPolicy: "IfHealthyBudget" },
  }),
  manifest(CronJob, {
    metadata: { name: "suspended", annotations: { "shop.example.com/since": "2026-01-02" } },
    spec: {
      schedule: "0 0 1 */3 *",
      suspend: true,
      concurrencyPolicy: "Allow",
      jobTemplate: {
        spec: {
          completions: 3,
          parallelism: 3,
          completionMode: "Indexed",
          template: {
            metadata: { annotations: { "shop.example.com/report": "quarter" } },
            spec: {
              restartPolicy: "Never",
              containers: [{
                name: "report",
                image: "registry.example.com/report:1",
                env: [{ name: "QUARTER", value: "1" }],
              }],
            },
          },
        },
      },
    },
  }),
];
