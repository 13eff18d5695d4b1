/** Pods: one field or group of fields each, as programs set them. */
import { Pod } from "../../src/kinds/core/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Pods. */
export const pods: readonly Manifest[] = [
  manifest(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "cart", labels: { app: "cart" }, annotations: { "shop.example.com/owner": "checkout" } },
    spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
  }),
  manifest(Pod, {
    metadata: { generateName: "migrate-", finalizers: ["shop.example.com/archive"] },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: 600,
      terminationGracePeriodSeconds: 5,
      containers: [{
        name: "migrate",
        image: "registry.example.com/cart-migrations:1.8.2",
        imagePullPolicy: "IfNotPresent",
        command: ["/bin/migrate"],
        args: ["--to", "latest", "--verbose"],
        workingDir: "/srv",
      }],
    },
  }),
  manifest(Pod, {
    metadata: {
      name: "cart-owned",
      ownerReferences: [{
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "cart-6d4cf56db6",
        uid: "5c1c2d0e-7d3b-4f2c-9a0a-0c6ff5a0a001",
        controller: true,
        blockOwnerDeletion: true,
      }],
    },
    spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
  }),
  manifest(Pod, {
    metadata: { name: "ports" },
    spec: {
      containers: [{
        name: "dns",
        image: "registry.k8s.io/coredns/coredns:v1.12.0",
        ports: [
          { name: "dns", containerPort: 53, protocol: "UDP" },
          { name: "dns-tcp", containerPort: 53, protocol: "TCP" },
          { name: "metrics", containerPort: 9153 },
          { name: "assoc", containerPort: 3868, protocol: "SCTP", hostPort: 3868, hostIP: "127.0.0.1" },
        ],
      }],
    },
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
  manifest(Pod, {
    metadata: { name: "pod-resources" },
    spec: {
      resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } },
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "huge-pages" },
    spec: {
      containers: [{
        name: "database",
        image: "registry.example.com/db:5",
        resources: {
          requests: { cpu: "2", memory: "1Gi", "hugepages-2Mi": "512Mi" },
          limits: { cpu: "2", memory: "1Gi", "hugepages-2Mi": "512Mi" },
        },
        volumeMounts: [{ name: "pages", mountPath: "/hugepages" }],
      }],
      volumes: [{ name: "pages", emptyDir: { medium: "HugePages-2Mi" } }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "probes-http" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        startupProbe: { httpGet: { path: "/healthz", port: "http" }, failureThreshold: 30, periodSeconds: 2 },
        livenessProbe: {
          httpGet: {
            path: "/livez",
            port: 8443,
            scheme: "HTTPS",
            host: "cart.shop.svc",
            httpHeaders: [{ name: "X-Probe", value: "live" }],
          },
          initialDelaySeconds: 3,
          timeoutSeconds: 2,
          successThreshold: 1,
          terminationGracePeriodSeconds: 10,
        },
        readinessProbe: { httpGet: { path: "/readyz", port: 8080 }, successThreshold: 2 },
        ports: [{ name: "http", containerPort: 8080 }],
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "probes-other" },
    spec: {
      containers: [{
        name: "db",
        image: "registry.example.com/db:5",
        startupProbe: { exec: { command: ["pg_isready", "-U", "postgres"] } },
        livenessProbe: { tcpSocket: { port: 5432, host: "127.0.0.1" } },
        readinessProbe: { grpc: { port: 50051, service: "db.Health" } },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "lifecycle" },
    spec: {
      terminationGracePeriodSeconds: 60,
      os: { name: "linux" },
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        lifecycle: {
          postStart: { exec: { command: ["/bin/warm-up"] } },
          preStop: { httpGet: { path: "/drain", port: 8080 } },
          stopSignal: "SIGUSR1",
        },
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "FallbackToLogsOnError",
      }, {
        name: "proxy",
        image: "registry.example.com/proxy:2",
        lifecycle: { preStop: { sleep: { seconds: 15 } } },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "terminal" },
    spec: { containers: [{ name: "shell", image: "busybox:1.37", stdin: true, stdinOnce: true, tty: true }] },
  }),
  manifest(Pod, {
    metadata: { name: "init-and-sidecar" },
    spec: {
      initContainers: [
        { name: "wait-for-db", image: "busybox:1.37", command: ["sh", "-c", "until nc -z db 5432; do sleep 1; done"] },
        {
          name: "log-shipper",
          image: "registry.example.com/shipper:3",
          restartPolicy: "Always",
          volumeMounts: [{ name: "logs", mountPath: "/var/log/cart", readOnly: true }],
        },
      ],
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [{ name: "logs", mountPath: "/var/log/cart" }],
      }],
      volumes: [{ name: "logs", emptyDir: {} }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "container-restarts" },
    spec: {
      restartPolicy: "Never",
      containers: [{
        name: "trainer",
        image: "registry.example.com/trainer:9",
        restartPolicy: "Never",
        restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42, 43] } }],
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "security" },
    spec: {
      automountServiceAccountToken: false,
      serviceAccountName: "cart",
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 3000,
        runAsNonRoot: true,
        fsGroup: 2000,
        fsGroupChangePolicy: "OnRootMismatch",
        supplementalGroups: [4000, 5000],
        supplementalGroupsPolicy: "Merge",
        seccompProfile: { type: "RuntimeDefault" },
        appArmorProfile: { type: "RuntimeDefault" },
        seLinuxOptions: { level: "s0:c123,c456", role: "object_r", type: "svirt_sandbox_file_t", user: "system_u" },
        seLinuxChangePolicy: "Recursive",
        sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
      },
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        securityContext: {
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          runAsUser: 1001,
          runAsGroup: 3001,
          runAsNonRoot: true,
          procMount: "Default",
          capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
          seccompProfile: { type: "Localhost", localhostProfile: "profiles/cart.json" },
          appArmorProfile: { type: "Localhost", localhostProfile: "cart" },
          seLinuxOptions: { level: "s0:c1,c2" },
        },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "privileged" },
    spec: {
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      dnsPolicy: "ClusterFirstWithHostNet",
      containers: [{
        name: "agent",
        image: "registry.example.com/agent:1",
        securityContext: { privileged: true, capabilities: { add: ["SYS_ADMIN", "NET_ADMIN"] } },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "user-namespace" },
    spec: {
      hostUsers: false,
      shareProcessNamespace: true,
      enableServiceLinks: false,
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        securityContext: { procMount: "Unmasked" },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "windows" },
    spec: {
      os: { name: "windows" },
      nodeSelector: { "kubernetes.io/os": "windows" },
      securityContext: {
        windowsOptions: {
          gmsaCredentialSpecName: "gmsa-cart",
          gmsaCredentialSpec: "{}",
          runAsUserName: "ContainerUser",
          hostProcess: false,
        },
      },
      containers: [{
        name: "iis",
        image: "mcr.microsoft.com/windows/servercore/iis:ltsc2022",
        securityContext: { windowsOptions: { runAsUserName: "ContainerAdministrator" } },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "dns" },
    spec: {
      hostname: "cart-0",
      subdomain: "cart",
      setHostnameAsFQDN: true,
      hostAliases: [{ ip: "10.1.2.3", hostnames: ["legacy.example.com", "legacy"] }],
      dnsPolicy: "None",
      dnsConfig: {
        nameservers: ["1.1.1.1"],
        searches: ["shop.svc.cluster.local", "svc.cluster.local"],
        options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
      },
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "node-affinity" },
    spec: {
      nodeSelector: { "topology.kubernetes.io/region": "eu-central-1" },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{
              matchExpressions: [
                { key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] },
                { key: "gpu", operator: "DoesNotExist" },
                { key: "cores", operator: "Gt", values: ["8"] },
              ],
              matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["worker-1"] }],
            }],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{
            weight: 80,
            preference: { matchExpressions: [{ key: "disktype", operator: "Exists" }] },
          }],
        },
      },
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "pod-affinity", labels: { app: "cart" } },
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{
            topologyKey: "topology.kubernetes.io/zone",
            labelSelector: { matchLabels: { app: "cache" } },
            namespaces: ["shop", "cache"],
          }],
          preferredDuringSchedulingIgnoredDuringExecution: [{
            weight: 10,
            podAffinityTerm: {
              topologyKey: "kubernetes.io/hostname",
              labelSelector: { matchExpressions: [{ key: "app", operator: "In", values: ["cache"] }] },
              namespaceSelector: { matchLabels: { team: "checkout" } },
              matchLabelKeys: ["pod-template-hash"],
            },
          }],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{
            topologyKey: "kubernetes.io/hostname",
            labelSelector: { matchLabels: { app: "cart" } },
            mismatchLabelKeys: ["tenant"],
          }],
          preferredDuringSchedulingIgnoredDuringExecution: [{
            weight: 1,
            podAffinityTerm: { topologyKey: "topology.kubernetes.io/zone", labelSelector: {}, namespaceSelector: {} },
          }],
        },
      },
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "spread", labels: { app: "cart" } },
    spec: {
      topologySpreadConstraints: [{
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "cart" } },
        minDomains: 3,
        nodeAffinityPolicy: "Honor",
        nodeTaintsPolicy: "Ignore",
        matchLabelKeys: ["pod-template-hash"],
      }, {
        maxSkew: 2,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["batch"] }] },
      }],
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "tolerations" },
    spec: {
      tolerations: [
        { operator: "Exists" },
        { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
        { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
        { key: "spot", effect: "PreferNoSchedule", value: "true" },
      ],
      nodeName: "worker-1",
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "scheduling" },
    spec: {
      schedulerName: "batch-scheduler",
      schedulingGates: [{ name: "shop.example.com/quota" }],
      priorityClassName: "system-cluster-critical",
      preemptionPolicy: "PreemptLowerPriority",
      readinessGates: [{ conditionType: "shop.example.com/load-balancer" }],
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "sandboxed" },
    spec: {
      runtimeClassName: "gvisor",
      imagePullSecrets: [{ name: "registry" }, { name: "mirror" }],
      containers: [{
        name: "web",
        image: "registry.example.com/cart@sha256:0f5f0c6b5b5bb6b3e9e7ab0a4a9b3f3b8f6d1a7d5a0c0b1e2f3a4b5c6d7e8f90",
        imagePullPolicy: "Always",
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volumes-local" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [
          { name: "scratch", mountPath: "/scratch", subPathExpr: "$(POD_NAME)" },
          { name: "memory", mountPath: "/dev/shm" },
          { name: "logs", mountPath: "/host/log", readOnly: true, recursiveReadOnly: "IfPossible" },
          { name: "modules", mountPath: "/lib/modules", mountPropagation: "HostToContainer" },
          { name: "claim", mountPath: "/data", subPath: "cart" },
        ],
        volumeDevices: [{ name: "block", devicePath: "/dev/xvda" }],
        env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      }],
      volumes: [
        { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
        { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
        { name: "logs", hostPath: { path: "/var/log", type: "Directory" } },
        { name: "modules", hostPath: { path: "/lib/modules" } },
        { name: "claim", persistentVolumeClaim: { claimName: "cart-data", readOnly: false } },
        { name: "block", persistentVolumeClaim: { claimName: "cart-block" } },
      ],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volumes-objects" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [
          { name: "settings", mountPath: "/etc/cart" },
          { name: "keys", mountPath: "/etc/keys", readOnly: true },
          { name: "about", mountPath: "/etc/about" },
        ],
      }],
      volumes: [
        {
          name: "settings",
          configMap: {
            name: "cart",
            defaultMode: 0o644,
            optional: true,
            items: [{ key: "cart.toml", path: "cart.toml", mode: 0o600 }],
          },
        },
        {
          name: "keys",
          secret: {
            secretName: "cart-keys",
            defaultMode: 0o400,
            optional: false,
            items: [{ key: "tls.key", path: "private/tls.key" }],
          },
        },
        {
          name: "about",
          downwardAPI: {
            defaultMode: 0o444,
            items: [
              { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
              { path: "cpu", mode: 0o400, resourceFieldRef: { containerName: "web", resource: "limits.cpu" } },
            ],
          },
        },
      ],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volume-projected" },
    spec: {
      serviceAccountName: "cart",
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [{ name: "all", mountPath: "/etc/all" }],
      }],
      volumes: [{
        name: "all",
        projected: {
          defaultMode: 0o440,
          sources: [
            { serviceAccountToken: { path: "token", audience: "vault", expirationSeconds: 3600 } },
            { configMap: { name: "cart", items: [{ key: "a", path: "a" }], optional: true } },
            { secret: { name: "cart-keys", items: [{ key: "b", path: "b", mode: 0o400 }], optional: true } },
            { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
          ],
        },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volume-ephemeral" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [{ name: "scratch", mountPath: "/scratch" }],
      }],
      volumes: [{
        name: "scratch",
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { type: "scratch" }, annotations: { "shop.example.com/ttl": "1h" } },
            spec: {
              accessModes: ["ReadWriteOnce"],
              storageClassName: "fast",
              resources: { requests: { storage: "10Gi" } },
            },
          },
        },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volumes-remote" },
    spec: {
      containers: [{
        name: "web",
        image: "registry.example.com/cart:1.8.2",
        volumeMounts: [
          { name: "share", mountPath: "/share" },
          { name: "iscsi", mountPath: "/iscsi" },
          { name: "fc", mountPath: "/fc" },
          { name: "csi", mountPath: "/csi" },
          { name: "image", mountPath: "/image", subPath: "models" },
        ],
      }],
      volumes: [
        { name: "share", nfs: { server: "nfs.example.com", path: "/exports/cart", readOnly: true } },
        {
          name: "iscsi",
          iscsi: {
            targetPortal: "10.0.2.15:3260",
            portals: ["10.0.2.16:3260"],
            iqn: "iqn.2001-04.com.example:storage.kube.sys1.xyz",
            lun: 0,
            fsType: "ext4",
            readOnly: true,
            iscsiInterface: "default",
            chapAuthDiscovery: true,
            chapAuthSession: true,
            initiatorName: "iqn.1994-05.com.example:cart",
            secretRef: { name: "chap" },
          },
        },
        { name: "fc", fc: { targetWWNs: ["50060e801049cfd1"], lun: 0, fsType: "ext4", readOnly: true } },
        {
          name: "csi",
          csi: {
            driver: "secrets-store.csi.example.com",
            fsType: "ext4",
            readOnly: true,
            volumeAttributes: { provider: "vault" },
            nodePublishSecretRef: { name: "vault" },
          },
        },
        { name: "image", image: { reference: "registry.example.com/models:7", pullPolicy: "IfNotPresent" } },
      ],
    },
  }),
  manifest(Pod, {
    metadata: { name: "volumes-of-clouds" },
    spec: {
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
      volumes: [
        { name: "aws", awsElasticBlockStore: { volumeID: "vol-0a1b", fsType: "ext4", partition: 1, readOnly: true } },
        { name: "gce", gcePersistentDisk: { pdName: "cart", fsType: "ext4", partition: 1, readOnly: true } },
        {
          name: "azure-disk",
          azureDisk: {
            diskName: "cart",
            diskURI: "/subscriptions/1/cart",
            kind: "Managed",
            cachingMode: "None",
            fsType: "ext4",
          },
        },
        { name: "azure-file", azureFile: { shareName: "cart", secretName: "azure", readOnly: true } },
        {
          name: "ceph",
          cephfs: { monitors: ["10.0.0.1:6789"], path: "/", user: "admin", secretRef: { name: "ceph" } },
        },
        {
          name: "rbd",
          rbd: { monitors: ["10.0.0.1:6789"], image: "cart", pool: "rbd", user: "admin", fsType: "ext4" },
        },
        { name: "cinder", cinder: { volumeID: "bd82f7e2", fsType: "ext4", secretRef: { name: "cinder" } } },
        { name: "vsphere", vsphereVolume: { volumePath: "[ds] cart.vmdk", fsType: "ext4", storagePolicyName: "gold" } },
        { name: "portworx", portworxVolume: { volumeID: "pxvol", fsType: "ext4", readOnly: true } },
        { name: "gluster", glusterfs: { endpoints: "gluster", path: "cart", readOnly: true } },
        {
          name: "flex",
          flexVolume: { driver: "example.com/lvm", options: { size: "10m" }, secretRef: { name: "lvm" } },
        },
        { name: "flocker", flocker: { datasetName: "cart" } },
        { name: "git", gitRepo: { repository: "https://git.example.com/cart.git", revision: "main", directory: "." } },
        {
          name: "scale-io",
          scaleIO: {
            gateway: "https://scaleio.example.com/api",
            system: "scaleio",
            secretRef: { name: "sio" },
            volumeName: "vol-0",
            protectionDomain: "pd",
            storagePool: "sp",
            storageMode: "ThinProvisioned",
            sslEnabled: true,
            fsType: "xfs",
          },
        },
        { name: "storage-os", storageos: { volumeName: "cart", volumeNamespace: "shop", fsType: "ext4" } },
        { name: "quobyte", quobyte: { registry: "registry:6789", volume: "cart", user: "root", group: "root" } },
        { name: "photon", photonPersistentDisk: { pdID: "disk-1", fsType: "ext4" } },
      ],
    },
  }),
  manifest(Pod, {
    metadata: { name: "devices" },
    spec: {
      resourceClaims: [
        { name: "gpu", resourceClaimTemplateName: "single-gpu" },
        { name: "shared", resourceClaimName: "shared-gpu" },
      ],
      containers: [{
        name: "trainer",
        image: "registry.example.com/trainer:9",
        resources: { claims: [{ name: "gpu", request: "gpu" }, { name: "shared" }] },
      }],
    },
  }),
  manifest(Pod, {
    metadata: { name: "labels-of-all-forms", labels: { "a.b/c": "", x: "A-b_c.9" } },
    spec: { containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }] },
  }),
  manifest(Pod, {
    metadata: { name: "init-in-detail" },
    spec: {
      initContainers: [{
        name: "prepare",
        image: "registry.example.com/prepare:1",
        imagePullPolicy: "Never",
        command: ["/bin/prepare"],
        args: ["--all"],
        workingDir: "/work",
        env: [{ name: "A", value: "$(B)" }],
        envFrom: [{ configMapRef: { name: "cart" } }],
        resources: { requests: { cpu: "10m" }, limits: { cpu: "1" } },
        securityContext: { runAsUser: 0, capabilities: { add: ["CHOWN"] } },
        terminationMessagePolicy: "File",
        volumeMounts: [{ name: "work", mountPath: "/work" }],
      }, {
        name: "sidecar",
        image: "registry.example.com/sidecar:1",
        restartPolicy: "Always",
        ports: [{ containerPort: 9000 }],
        startupProbe: { tcpSocket: { port: 9000 } },
        readinessProbe: { grpc: { port: 9000 } },
        livenessProbe: { exec: { command: ["true"] } },
        lifecycle: { postStart: { exec: { command: ["true"] } }, preStop: { sleep: { seconds: 1 } } },
      }],
      containers: [{ name: "web", image: "registry.example.com/cart:1.8.2" }],
      volumes: [{ name: "work", emptyDir: {} }],
    },
  }),
];
