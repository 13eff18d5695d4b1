/**
 * Objects of the size and shape they have on a busy cluster, the same in every run: pods of 9.1 kB, of which
 * managedFields are 2.9 kB, nodes of 8.8 kB, of which they are 2.1 kB, and leases of 0.85 kB.
 */
import { Random } from "../src/testing/fake/random.ts";
import { bigPod, leaves } from "../tests/support/sources/big_pods.ts";

const encoder = new TextEncoder();

/** One JSON object. */
export type Item = Record<string, unknown>;

function time(index: number): string {
  return new Date(Date.UTC(2026, 0, 5) + index * 61_000).toISOString().replace(".000", "");
}

/** One pod as an item of a list, without kind and apiVersion, with a version of seven digits: 9.1 kB. */
export function podItem(index: number): Item {
  const { metadata, spec, status } = bigPod(index);
  return { metadata: { ...metadata, resourceVersion: String(1_000_000 + index) }, spec, status };
}

/** The name of node number `index`. */
function nodeName(index: number): string {
  return `worker-${index}.eu-central-1.example.internal`;
}

/** The conditions of a node, with reason, message and status. The kubelet does not report the last one. */
const NODE_CONDITIONS = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available", "False"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "False"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available", "False"],
  ["Ready", "KubeletReady", "kubelet is posting ready status", "True"],
  ["NetworkUnavailable", "RouteCreated", "RouteController created a route", "False"],
] as const;

/** The conditions of {@linkcode NODE_CONDITIONS} whose heartbeat the kubelet writes. */
const KUBELET_CONDITIONS = NODE_CONDITIONS.slice(0, 4);

/** The images that a node reports. */
const IMAGES = 18;

/**
 * One node as an item of a list, without kind and apiVersion: 8.8 kB. The kubelet wrote its heartbeats and its
 * managedFields at `heartbeat`.
 */
export function nodeItem(index: number, heartbeat: string): Item {
  const random = new Random(Math.imul(index + 1, 0x27d4eb2f));
  const name = nodeName(index);
  const address = `10.0.${index >>> 8 & 255}.${index & 255}`;
  const zone = `eu-central-1${"abc"[index % 3]}`;
  const instance = `i-${random.hex(17)}`;
  const created = time(index);
  const resources = { cpu: "16", "ephemeral-storage": "209612780Ki", "hugepages-2Mi": "0", memory: "64870104Ki" };
  return {
    metadata: {
      name,
      uid: random.uid(),
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: created,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "cloud.example.com/capacityType": "ON_DEMAND",
        "cloud.example.com/nodegroup": `general-${index % 5}`,
        "failure-domain.beta.kubernetes.io/region": "eu-central-1",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "general-16",
        "topology.kubernetes.io/region": "eu-central-1",
        "topology.kubernetes.io/zone": zone,
      },
      annotations: {
        "alpha.kubernetes.io/provided-node-ip": address,
        "csi.volume.kubernetes.io/nodeid": JSON.stringify({ "disk.csi.example.com": instance }),
        "network.example.com/ipv4-host": address,
        "network.example.com/ipv4-pod-cidr": `10.${64 + (index >>> 8 & 63)}.${index & 255}.0/24`,
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
      },
      managedFields: nodeManagedFields(created, heartbeat),
    },
    spec: {
      podCIDR: `10.${64 + (index >>> 8 & 63)}.${index & 255}.0/24`,
      podCIDRs: [`10.${64 + (index >>> 8 & 63)}.${index & 255}.0/24`],
      providerID: `example:///${zone}/${instance}`,
    },
    status: {
      capacity: { ...resources, pods: "110" },
      allocatable: { ...resources, cpu: "15890m", memory: "61715352Ki", pods: "110" },
      conditions: NODE_CONDITIONS.map(([type, reason, message, status], i) => ({
        type,
        status,
        lastHeartbeatTime: i < KUBELET_CONDITIONS.length ? heartbeat : created,
        lastTransitionTime: created,
        reason,
        message,
      })),
      addresses: [
        { type: "InternalIP", address },
        { type: "InternalDNS", address: name },
        { type: "Hostname", address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        machineID: random.hex(32),
        systemUUID: random.uid(),
        bootID: random.uid(),
        kernelVersion: "6.12.48+deb13-amd64",
        osImage: "Debian GNU/Linux 13 (trixie)",
        containerRuntimeVersion: "containerd://2.2.1",
        kubeletVersion: "v1.37.2",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
      images: Array.from({ length: IMAGES }, (_, image) => {
        const repository = `registry.example.com/team-${(index + image) % 40}/service-${random.below(200)}`;
        const tag = `v1.${random.below(30)}.${random.below(10)}`;
        return {
          names: [`${repository}@sha256:${random.hex(64)}`, `${repository}:${tag}`],
          sizeBytes: 20_000_000 + random.below(400_000_000),
        };
      }),
    },
  };
}

function nodeManagedFields(created: string, heartbeat: string): Item[] {
  const condition = (type: string, names: string): Item => ({ [`k:{"type":"${type}"}`]: leaves(names) });
  const entry = { operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" };
  return [
    {
      manager: "kubelet",
      ...entry,
      time: created,
      fieldsV1: {
        "f:metadata": {
          "f:annotations": leaves(
            ". alpha.kubernetes.io/provided-node-ip volumes.kubernetes.io/controller-managed-attach-detach",
          ),
          "f:labels": leaves(
            ". beta.kubernetes.io/arch beta.kubernetes.io/os cloud.example.com/capacityType " +
              "cloud.example.com/nodegroup kubernetes.io/arch kubernetes.io/hostname kubernetes.io/os",
          ),
        },
        "f:spec": leaves("providerID"),
      },
    },
    {
      manager: "kube-controller-manager",
      ...entry,
      time: created,
      fieldsV1: {
        "f:metadata": { "f:annotations": leaves("node.alpha.kubernetes.io/ttl") },
        "f:spec": { "f:podCIDR": {}, "f:podCIDRs": { ".": {}, 'v:"10.64.0.0/24"': {} } },
      },
    },
    {
      manager: "cloud-controller-manager",
      ...entry,
      time: created,
      fieldsV1: {
        "f:status": {
          "f:conditions": condition(
            "NetworkUnavailable",
            ". lastHeartbeatTime lastTransitionTime message reason status type",
          ),
        },
      },
      subresource: "status",
    },
    {
      manager: "kubelet",
      ...entry,
      time: heartbeat,
      fieldsV1: {
        "f:metadata": { "f:annotations": leaves("csi.volume.kubernetes.io/nodeid") },
        "f:status": {
          "f:allocatable": leaves("cpu ephemeral-storage memory"),
          "f:capacity": leaves("cpu ephemeral-storage memory"),
          "f:conditions": Object.assign(
            {},
            ...KUBELET_CONDITIONS.map(([type]) =>
              condition(type, "lastHeartbeatTime lastTransitionTime message reason status")
            ),
          ),
          "f:images": {},
          "f:nodeInfo": leaves("bootID kernelVersion osImage"),
        },
      },
      subresource: "status",
    },
  ];
}

/** One node's lease as an item of a list: 0.85 kB. */
export function leaseItem(index: number): Item {
  const random = new Random(index + 1);
  const node = nodeName(index);
  const owner = random.uid();
  return {
    metadata: {
      name: node,
      namespace: "kube-node-lease",
      uid: random.uid(),
      resourceVersion: String(2_000_000 + index),
      creationTimestamp: time(index),
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: owner }],
      managedFields: [{
        manager: "kubelet",
        operation: "Update",
        apiVersion: "coordination.k8s.io/v1",
        time: time(index + 1),
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:ownerReferences": { ".": {}, [`k:{"uid":"${owner}"}`]: {} } },
          "f:spec": { "f:holderIdentity": {}, "f:leaseDurationSeconds": {}, "f:renewTime": {} },
        },
      }],
    },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: time(index + 2).replace("Z", ".123456Z") },
  };
}

/** An item as a watch writes it. */
export function typed(kind: string, apiVersion: string, item: Item): Item {
  return { kind, apiVersion, ...item };
}

/** The body of a watch with one event for each of these objects. */
export function watchBody(objects: readonly Item[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(objects.map((object) => `{"type":"MODIFIED","object":${JSON.stringify(object)}}\n`).join(""));
}

/** The body of a built-in kind's list. */
export function listBody(kind: string, apiVersion: string, items: readonly Item[]): Uint8Array<ArrayBuffer> {
  const metadata = { resourceVersion: "3000000" };
  return encoder.encode(`${JSON.stringify({ kind: `${kind}List`, apiVersion, metadata, items })}\n`);
}

/** `bytes` as a byte stream in chunks of `size`, like the body of a response. */
export function streamOf(bytes: Uint8Array, size = 65_536): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller): void {
      const view = controller.byobRequest?.view;
      const length = Math.min(size, bytes.length - at, view?.byteLength ?? size);
      if (length === 0) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else if (view) {
        new Uint8Array(view.buffer, view.byteOffset, length).set(bytes.subarray(at, at + length));
        controller.byobRequest?.respond(length);
      } else controller.enqueue(bytes.slice(at, at + length));
      at += length;
    },
  }) as ReadableStream<Uint8Array>;
}
