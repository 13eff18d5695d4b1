/**
 * Objects of the size and shape they have on a busy cluster, the same in every run: pods of 9.5 kB, of which
 * managedFields are 2.7 kB, and leases of 0.85 kB.
 */

const encoder = new TextEncoder();

/** Numbers in [0, 1) that look random, and are the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function letters(next: () => number, count: number, alphabet = "0123456789abcdef"): string {
  let text = "";
  for (let i = 0; i < count; i++) text += alphabet[Math.floor(next() * alphabet.length)];
  return text;
}

function uid(next: () => number): string {
  return [8, 4, 4, 4, 12].map((count) => letters(next, count)).join("-");
}

function time(index: number): string {
  return new Date(Date.UTC(2026, 0, 5) + index * 61_000).toISOString().replace(".000", "");
}

/** One JSON object. */
export type Item = Record<string, unknown>;

function field(...names: string[]): Item {
  return Object.fromEntries([".", ...names].map((name) => [name.length === 1 ? name : `f:${name}`, {}]));
}

const PROBE_FIELDS = {
  ".": {},
  "f:failureThreshold": {},
  "f:httpGet": field("path", "port", "scheme"),
  "f:initialDelaySeconds": {},
  "f:periodSeconds": {},
  "f:successThreshold": {},
  "f:timeoutSeconds": {},
};

const CONDITIONS = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

function podFields(index: number, owner: string, ip: string): Item[] {
  return [
    {
      manager: "kube-controller-manager",
      operation: "Update",
      apiVersion: "v1",
      time: time(index),
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:metadata": {
          "f:annotations": field("checksum/config", "prometheus.io/port", "prometheus.io/scrape"),
          "f:generateName": {},
          "f:labels": field("app.kubernetes.io/name", "app.kubernetes.io/instance", "pod-template-hash", "team"),
          "f:ownerReferences": { ".": {}, [`k:{"uid":"${owner}"}`]: {} },
        },
        "f:spec": {
          "f:containers": {
            'k:{"name":"app"}': {
              ".": {},
              "f:args": {},
              "f:env": {
                ".": {},
                'k:{"name":"LOG_LEVEL"}': field("name", "value"),
                'k:{"name":"POD_IP"}': { ".": {}, "f:name": {}, "f:valueFrom": { "f:fieldRef": {} } },
                'k:{"name":"PASSWORD"}': { ".": {}, "f:name": {}, "f:valueFrom": { "f:secretKeyRef": {} } },
              },
              "f:image": {},
              "f:imagePullPolicy": {},
              "f:livenessProbe": PROBE_FIELDS,
              "f:name": {},
              "f:ports": {
                ".": {},
                'k:{"containerPort":8080,"protocol":"TCP"}': field("containerPort", "name", "protocol"),
              },
              "f:readinessProbe": PROBE_FIELDS,
              "f:resources": { ".": {}, "f:limits": field("cpu", "memory"), "f:requests": field("cpu", "memory") },
              "f:terminationMessagePath": {},
              "f:terminationMessagePolicy": {},
              "f:volumeMounts": { ".": {}, 'k:{"mountPath":"/etc/app"}': field("mountPath", "name", "readOnly") },
            },
          },
          "f:dnsPolicy": {},
          "f:restartPolicy": {},
          "f:schedulerName": {},
          "f:securityContext": {},
          "f:serviceAccountName": {},
          "f:terminationGracePeriodSeconds": {},
          "f:volumes": { ".": {}, 'k:{"name":"config"}': { ".": {}, "f:configMap": field("name"), "f:name": {} } },
        },
      },
    },
    {
      manager: "kubelet",
      operation: "Update",
      apiVersion: "v1",
      time: time(index + 1),
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:status": {
          "f:conditions": Object.fromEntries(
            CONDITIONS.map((
              type,
            ) => [`k:{"type":"${type}"}`, field("lastProbeTime", "lastTransitionTime", "status", "type")]),
          ),
          "f:containerStatuses": {},
          "f:hostIP": {},
          "f:phase": {},
          "f:podIP": {},
          "f:podIPs": { ".": {}, [`k:{"ip":"${ip}"}`]: field("ip") },
          "f:startTime": {},
        },
      },
      subresource: "status",
    },
  ];
}

function container(index: number, name: string, app: string): Item {
  const probe = (path: string): Item => ({
    httpGet: { path, port: 8080, scheme: "HTTP" },
    initialDelaySeconds: 10,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  return {
    name,
    image: `registry.example.com/${app}/${name}:v1.${index % 13}.${index % 7}`,
    args: [`--config=/etc/${name}/config.yaml`, "--listen=:8080", "--log-format=json"],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }, {
      name: "metrics",
      containerPort: 9090,
      protocol: "TCP",
    }],
    env: [
      { name: "LOG_LEVEL", value: "info" },
      { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
      { name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
      { name: "PASSWORD", valueFrom: { secretKeyRef: { name: `${app}-database`, key: "password" } } },
      { name: "DATABASE", value: `postgres://${app}-database.${app}.svc.cluster.local:5432/${app}` },
    ],
    resources: { limits: { cpu: "2", memory: "2Gi" }, requests: { cpu: "250m", memory: "512Mi" } },
    volumeMounts: [
      { name: "config", readOnly: true, mountPath: `/etc/${name}` },
      { name: "scratch", mountPath: "/tmp" },
      { name: "kube-api-access", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: {
      capabilities: { drop: ["ALL"] },
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    },
  };
}

/** One pod as an item of a list, without kind and apiVersion: 9.5 kB. */
export function podItem(index: number): Item {
  const next = numbers(index + 1);
  const app = `service-${index % 60}`;
  const hash = letters(numbers(index % 60), 10);
  const owner = uid(numbers(index % 60 + 1_000));
  const ip = `10.42.${Math.floor(index / 250) % 250}.${index % 250}`;
  const containers = ["app", "proxy"];
  return {
    metadata: {
      name: `${app}-${hash}-${letters(next, 5, "bcdfghjklmnpqrstvwxz2456789")}`,
      generateName: `${app}-${hash}-`,
      namespace: `team-${index % 12}`,
      uid: uid(next),
      resourceVersion: String(1_000_000 + index),
      generation: 1,
      creationTimestamp: time(index),
      labels: {
        "app.kubernetes.io/name": app,
        "app.kubernetes.io/instance": `${app}-production`,
        "app.kubernetes.io/managed-by": "Helm",
        "pod-template-hash": hash,
        team: `team-${index % 12}`,
      },
      annotations: {
        "checksum/config": letters(next, 64),
        "cni.projectcalico.org/containerID": letters(next, 64),
        "cni.projectcalico.org/podIP": `${ip}/32`,
        "prometheus.io/port": "9090",
        "prometheus.io/scrape": "true",
      },
      ownerReferences: [{
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: `${app}-${hash}`,
        uid: owner,
        controller: true,
        blockOwnerDeletion: true,
      }],
      managedFields: podFields(index, owner, ip),
    },
    spec: {
      volumes: [
        { name: "config", configMap: { name: `${app}-config`, defaultMode: 420 } },
        { name: "scratch", emptyDir: {} },
        {
          name: "kube-api-access",
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
      ],
      containers: containers.map((name) => container(index, name, app)),
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      serviceAccountName: app,
      serviceAccount: app,
      nodeName: `worker-${index % 200}.example.internal`,
      securityContext: { fsGroup: 1_000, seccompProfile: { type: "RuntimeDefault" } },
      schedulerName: "default-scheduler",
      tolerations: ["not-ready", "unreachable"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
    },
    status: {
      phase: "Running",
      conditions: CONDITIONS.map((type) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: time(index),
      })),
      hostIP: `10.0.${index % 200}.7`,
      hostIPs: [{ ip: `10.0.${index % 200}.7` }],
      podIP: ip,
      podIPs: [{ ip }],
      startTime: time(index),
      containerStatuses: containers.map((name) => ({
        name,
        state: { running: { startedAt: time(index + 1) } },
        lastState: {},
        ready: true,
        restartCount: index % 3,
        image: `registry.example.com/${app}/${name}:v1.${index % 13}.${index % 7}`,
        imageID: `registry.example.com/${app}/${name}@sha256:${letters(next, 64)}`,
        containerID: `containerd://${letters(next, 64)}`,
        started: true,
      })),
      qosClass: "Burstable",
    },
  };
}

/** One node's lease as an item of a list: 0.85 kB. */
export function leaseItem(index: number): Item {
  const next = numbers(index + 1);
  const node = `worker-${index}.eu-central-1.example.internal`;
  const owner = uid(next);
  return {
    metadata: {
      name: node,
      namespace: "kube-node-lease",
      uid: uid(next),
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
