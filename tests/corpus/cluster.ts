/** Leases, priorities, runtimes, devices, and the events of `events.k8s.io`. */
import { Lease } from "../../src/kinds/coordination/v1.ts";
import { Event } from "../../src/kinds/events/v1.ts";
import { RuntimeClass } from "../../src/kinds/node/v1.ts";
import { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "../../src/kinds/resource/v1.ts";
import { PriorityClass } from "../../src/kinds/scheduling/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Objects that schedulers, kubelets and controllers share. */
export const cluster: readonly Manifest[] = [
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
  manifest(Lease, { metadata: { name: "free" }, spec: {} }),
  manifest(Lease, { metadata: { name: "without-spec" } }),
  manifest(Lease, {
    metadata: { name: "worker-1", ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "worker-1", uid: "7" }] },
    spec: { holderIdentity: "worker-1", leaseDurationSeconds: 40, renewTime: "2026-01-02T03:04:05.000001+02:00" },
  }),
  manifest(PriorityClass, {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "checkout" },
    value: 100_000,
    globalDefault: false,
    description: "Carts and payments.",
    preemptionPolicy: "PreemptLowerPriority",
  }),
  manifest(PriorityClass, { metadata: { name: "batch" }, value: -10, preemptionPolicy: "Never" }),
  manifest(RuntimeClass, {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    metadata: { name: "kata" },
    handler: "kata-qemu",
    overhead: { podFixed: { cpu: "250m", memory: "120Mi" } },
    scheduling: {
      nodeSelector: { runtime: "kata" },
      tolerations: [{ key: "runtime", operator: "Equal", value: "kata", effect: "NoSchedule" }],
    },
  }),
  manifest(RuntimeClass, { metadata: { name: "plain" }, handler: "runc" }),
  manifest(Event, {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "cart.17f2" },
    eventTime: "2026-01-02T03:04:05.678901Z",
    reportingController: "shop.example.com/cart",
    reportingInstance: "cart-controller-0",
    action: "Reconcile",
    reason: "Paid",
    type: "Normal",
    note: "The cart was paid.",
    regarding: { apiVersion: "shop.example.com/v1", kind: "Cart", namespace: "shop", name: "c-1" },
    related: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "cart-0" },
  }),
  manifest(Event, {
    metadata: { generateName: "cart-" },
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "shop.example.com/cart",
    reportingInstance: "cart-controller-0",
    action: "Reconcile",
    reason: "Failed",
    type: "Warning",
    regarding: { kind: "Pod", namespace: "shop", name: "cart-0", fieldPath: "spec.containers{web}" },
    series: { count: 2, lastObservedTime: "2026-01-02T03:05:05.000000Z" },
  }),
  manifest(DeviceClass, {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name: "gpu.example.com" },
    spec: {
      selectors: [{ cel: { expression: "device.driver == 'gpu.example.com'" } }],
      config: [{ opaque: { driver: "gpu.example.com", parameters: { sharing: "time", slices: 4 } } }],
      extendedResourceName: "example.com/gpu",
    },
  }),
  manifest(DeviceClass, { metadata: { name: "any.example.com" }, spec: {} }),
  manifest(ResourceClaim, {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "shared-gpu" },
    spec: {
      devices: {
        requests: [
          {
            name: "gpu",
            exactly: {
              deviceClassName: "gpu.example.com",
              allocationMode: "ExactCount",
              count: 2,
              selectors: [{ cel: { expression: "device.attributes['gpu.example.com'].model == 'a100'" } }],
              tolerations: [{ key: "gpu.example.com/degraded", operator: "Exists", effect: "NoSchedule" }],
            },
          },
          {
            name: "nic",
            firstAvailable: [
              { name: "fast", deviceClassName: "nic.example.com", count: 1, allocationMode: "ExactCount" },
              { name: "slow", deviceClassName: "nic.example.com", allocationMode: "All" },
            ],
          },
        ],
        constraints: [
          { requests: ["gpu"], matchAttribute: "gpu.example.com/numa" },
        ],
        config: [{
          requests: ["gpu"],
          opaque: { driver: "gpu.example.com", parameters: { apiVersion: "gpu.example.com/v1", kind: "Config" } },
        }],
      },
    },
  }),
  manifest(ResourceClaim, {
    metadata: { name: "administrator" },
    spec: {
      devices: { requests: [{ name: "all", exactly: { deviceClassName: "gpu.example.com", allocationMode: "All" } }] },
    },
  }),
  manifest(ResourceClaim, { metadata: { name: "nothing" }, spec: {} }),
  manifest(ResourceClaimTemplate, {
    metadata: { name: "single-gpu" },
    spec: {
      metadata: { labels: { app: "trainer" } },
      spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } },
    },
  }),
  manifest(ResourceSlice, {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { generateName: "worker-1-gpu-" },
    spec: {
      driver: "gpu.example.com",
      nodeName: "worker-1",
      pool: { name: "worker-1", generation: 1, resourceSliceCount: 1 },
      devices: [
        {
          name: "gpu-0",
          attributes: {
            model: { string: "a100" },
            numa: { int: 0 },
            healthy: { bool: true },
            "gpu.example.com/driver": { version: "1.2.3" },
          },
          capacity: { memory: { value: "80Gi" } },
        },
        { name: "gpu-1" },
      ],
    },
  }),
  manifest(ResourceSlice, {
    metadata: { name: "everywhere" },
    spec: {
      driver: "net.example.com",
      allNodes: true,
      pool: { name: "net", generation: 2, resourceSliceCount: 2 },
      devices: [],
    },
  }),
  manifest(ResourceSlice, {
    metadata: { name: "some-nodes" },
    spec: {
      driver: "net.example.com",
      nodeSelector: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "net", operator: "In", values: ["fabric"] }] }],
      },
      pool: { name: "fabric", generation: 1, resourceSliceCount: 1 },
      devices: [{ name: "port-0" }],
    },
  }),
  manifest(Event, {
    metadata: { name: "cart.legacy" },
    reason: "Created",
    type: "Normal",
    regarding: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "cart-0", uid: "7", resourceVersion: "12" },
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "kubelet",
    reportingInstance: "worker-1",
    action: "Create",
  }),
  manifest(ResourceClaim, {
    metadata: { name: "capacity" },
    spec: {
      devices: {
        requests: [{
          name: "gpu",
          exactly: {
            deviceClassName: "gpu.example.com",
            tolerations: [{ key: "a", operator: "Equal", value: "b", effect: "NoExecute", tolerationSeconds: 60 }],
          },
        }],
        constraints: [{ matchAttribute: "gpu.example.com/model", requests: ["gpu"] }],
      },
    },
  }),
  manifest(ResourceSlice, {
    metadata: { name: "tainted" },
    spec: {
      driver: "gpu.example.com",
      nodeName: "worker-2",
      pool: { name: "worker-2", generation: 3, resourceSliceCount: 1 },
      devices: [{
        name: "gpu-0",
        taints: [{
          key: "gpu.example.com/degraded",
          value: "ecc",
          effect: "NoSchedule",
          timeAdded: "2026-01-02T03:04:05Z",
        }],
      }],
    },
  }),
  manifest(ResourceSlice, {
    metadata: { name: "counters" },
    spec: {
      driver: "gpu.example.com",
      nodeName: "worker-3",
      pool: { name: "worker-3", generation: 1, resourceSliceCount: 2 },
      sharedCounters: [{ name: "gpu-0", counters: { memory: { value: "80Gi" }, slices: { value: "7" } } }],
    },
  }),
  manifest(ResourceSlice, {
    metadata: { name: "partitions" },
    spec: {
      driver: "gpu.example.com",
      nodeName: "worker-3",
      pool: { name: "worker-3", generation: 1, resourceSliceCount: 2 },
      devices: [{
        name: "gpu-0-1g",
        consumesCounters: [{ counterSet: "gpu-0", counters: { memory: { value: "10Gi" } } }],
      }],
    },
  }),
];
