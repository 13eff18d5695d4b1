/** Storage: volumes, claims, classes and drivers. */
import { PersistentVolume, PersistentVolumeClaim } from "../../src/kinds/core/v1.ts";
import {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from "../../src/kinds/storage/v1.ts";
import { type Manifest, manifest } from "./_manifest.ts";

/** Objects of storage. */
export const storage: readonly Manifest[] = [
  manifest(PersistentVolumeClaim, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "cart-data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
  }),
  manifest(PersistentVolumeClaim, {
    metadata: { name: "cart-block" },
    spec: {
      accessModes: ["ReadWriteMany", "ReadOnlyMany"],
      volumeMode: "Block",
      storageClassName: "fast",
      volumeAttributesClassName: "gold",
      resources: { requests: { storage: "100Gi" }, limits: { storage: "1Ti" } },
      selector: { matchLabels: { tier: "fast" }, matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] },
    },
  }),
  manifest(PersistentVolumeClaim, {
    metadata: { name: "bound" },
    spec: {
      accessModes: ["ReadWriteOncePod"],
      volumeName: "pv-7",
      volumeMode: "Filesystem",
      storageClassName: "",
      resources: { requests: { storage: "5e9" } },
    },
  }),
  manifest(PersistentVolumeClaim, {
    metadata: { name: "from-snapshot" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "10Gi" } },
      dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" },
    },
  }),
  manifest(PersistentVolumeClaim, {
    metadata: { name: "from-elsewhere" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "10Gi" } },
      dataSourceRef: { apiGroup: "populator.example.com", kind: "Backup", name: "monday" },
    },
  }),
  manifest(PersistentVolume, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv-csi" },
    spec: {
      capacity: { storage: "100Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "fast",
      volumeMode: "Filesystem",
      mountOptions: ["noatime", "nodiratime"],
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "shop", name: "cart-data" },
      csi: {
        driver: "ebs.csi.example.com",
        volumeHandle: "vol-0a1b2c3d",
        fsType: "xfs",
        readOnly: false,
        volumeAttributes: { encrypted: "true" },
        controllerExpandSecretRef: { name: "ebs", namespace: "kube-system" },
        controllerPublishSecretRef: { name: "ebs", namespace: "kube-system" },
        nodeExpandSecretRef: { name: "ebs", namespace: "kube-system" },
        nodePublishSecretRef: { name: "ebs", namespace: "kube-system" },
        nodeStageSecretRef: { name: "ebs", namespace: "kube-system" },
      },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["eu-central-1a"] }],
          }],
        },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-nfs" },
    spec: {
      capacity: { storage: "1Ti" },
      accessModes: ["ReadWriteMany"],
      persistentVolumeReclaimPolicy: "Delete",
      nfs: { server: "nfs.example.com", path: "/exports", readOnly: true },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-local" },
    spec: {
      capacity: { storage: "500Gi" },
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Block",
      storageClassName: "local",
      local: { path: "/dev/nvme1n1", fsType: "ext4" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["worker-1"] }],
          }],
        },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-host-path" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadOnlyMany"],
      hostPath: { path: "/srv/share", type: "DirectoryOrCreate" },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-iscsi" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      iscsi: {
        targetPortal: "10.0.2.15:3260",
        iqn: "iqn.2001-04.com.example:storage.kube.sys1.xyz",
        lun: 1,
        chapAuthSession: true,
        secretRef: { name: "chap", namespace: "kube-system" },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-azure-file" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteMany"],
      azureFile: { shareName: "cart", secretName: "azure", secretNamespace: "kube-system" },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-fc" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      fc: { wwids: ["3600508b400105e210000900000490000"], fsType: "ext4" },
    },
  }),
  manifest(StorageClass, {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "ebs.csi.example.com",
    parameters: { type: "gp3", iops: "4000" },
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
    mountOptions: ["noatime"],
    allowedTopologies: [{
      matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: ["eu-central-1a", "eu-central-1b"] }],
    }],
  }),
  manifest(StorageClass, {
    metadata: { name: "local" },
    provisioner: "kubernetes.io/no-provisioner",
    reclaimPolicy: "Retain",
    volumeBindingMode: "Immediate",
  }),
  manifest(CSIDriver, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: "ebs.csi.example.com" },
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      fsGroupPolicy: "File",
      storageCapacity: true,
      requiresRepublish: true,
      seLinuxMount: true,
      volumeLifecycleModes: ["Persistent", "Ephemeral"],
      tokenRequests: [{ audience: "sts.example.com", expirationSeconds: 3600 }, { audience: "" }],
      nodeAllocatableUpdatePeriodSeconds: 60,
    },
  }),
  manifest(CSIDriver, { metadata: { name: "plain.csi.example.com" }, spec: {} }),
  manifest(CSINode, {
    metadata: { name: "worker-1" },
    spec: {
      drivers: [{
        name: "ebs.csi.example.com",
        nodeID: "i-0a1b2c3d",
        topologyKeys: ["topology.kubernetes.io/zone"],
        allocatable: { count: 25 },
      }],
    },
  }),
  manifest(CSINode, { metadata: { name: "worker-2" }, spec: { drivers: [] } }),
  manifest(CSIStorageCapacity, {
    metadata: { generateName: "csisc-" },
    storageClassName: "fast",
    capacity: "750Gi",
    maximumVolumeSize: "64Ti",
    nodeTopology: { matchLabels: { "topology.kubernetes.io/zone": "eu-central-1a" } },
  }),
  manifest(VolumeAttachment, {
    metadata: { name: "csi-1" },
    spec: { attacher: "ebs.csi.example.com", nodeName: "worker-1", source: { persistentVolumeName: "pv-csi" } },
  }),
  manifest(VolumeAttachment, {
    metadata: { name: "csi-inline" },
    spec: {
      attacher: "ebs.csi.example.com",
      nodeName: "worker-1",
      source: {
        inlineVolumeSpec: {
          accessModes: ["ReadWriteOnce"],
          csi: { driver: "ebs.csi.example.com", volumeHandle: "vol-1" },
        },
      },
    },
  }),
  manifest(VolumeAttributesClass, {
    metadata: { name: "gold" },
    driverName: "ebs.csi.example.com",
    parameters: { iops: "8000", throughput: "250" },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-aws" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      awsElasticBlockStore: { volumeID: "vol-1", fsType: "ext4", partition: 1, readOnly: true },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-gce" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      gcePersistentDisk: { pdName: "cart", fsType: "ext4", partition: 1, readOnly: true },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-azure" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      azureDisk: {
        diskName: "cart",
        diskURI: "/subscriptions/1/cart",
        kind: "Managed",
        cachingMode: "ReadOnly",
        fsType: "ext4",
        readOnly: true,
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-ceph" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      cephfs: {
        monitors: ["10.0.0.1:6789"],
        path: "/",
        user: "admin",
        secretFile: "/etc/ceph/secret",
        secretRef: { name: "ceph", namespace: "kube-system" },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-rbd" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      rbd: {
        monitors: ["10.0.0.1:6789"],
        image: "cart",
        pool: "rbd",
        user: "admin",
        keyring: "/etc/ceph/keyring",
        fsType: "ext4",
        secretRef: { name: "ceph" },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-cinder" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      cinder: {
        volumeID: "bd82f7e2",
        fsType: "ext4",
        readOnly: true,
        secretRef: { name: "cinder", namespace: "kube-system" },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-flex" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      flexVolume: {
        driver: "example.com/lvm",
        fsType: "ext4",
        options: { size: "10m" },
        readOnly: true,
        secretRef: { name: "lvm", namespace: "kube-system" },
      },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-vsphere" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      vsphereVolume: { volumePath: "[ds] cart.vmdk", fsType: "ext4", storagePolicyName: "gold", storagePolicyID: "7" },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-portworx" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      portworxVolume: { volumeID: "pxvol", fsType: "ext4", readOnly: true },
    },
  }),
  manifest(PersistentVolume, {
    metadata: { name: "pv-gluster" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      glusterfs: { endpoints: "gluster", endpointsNamespace: "kube-system", path: "cart", readOnly: true },
    },
  }),
];
