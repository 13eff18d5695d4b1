import type { JsonObject } from "../../../src/testing/wire/json.ts";

/** A creation that a kube-apiserver 1.37.2 refuses, and the causes that it names. */
export type Refused = readonly [path: string, object: JsonObject, causes: readonly string[]];

/** Creations, by kind: each object has as many faults as its kind allows at once. */
export const REFUSED: readonly Refused[] = [
  ["/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "x" } }, [
    "Invalid spec.template.metadata.labels",
    "Required spec.selector",
  ]],
  ["/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "x" },
    spec: {
      selector: {
        matchLabels: { c: "d" },
        matchExpressions: [{ key: "a", operator: "X" }, { key: "a", operator: "In" }],
      },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
    },
  }, [
    "Invalid spec.selector",
    "Invalid spec.selector.matchExpressions[0].operator",
    "Required spec.selector.matchExpressions[1].values",
  ]],
  ["/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "x" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      updateStrategy: { type: "X" },
      strategy: { type: "X" },
      podManagementPolicy: "Q",
    },
  }, ["NotSupported spec.strategy"]],
  ["/apis/apps/v1/namespaces/default/replicasets", { metadata: { name: "x" } }, [
    "Invalid spec.template.metadata.labels",
    "Required spec.selector",
  ]],
  ["/apis/apps/v1/namespaces/default/replicasets", {
    metadata: { name: "x" },
    spec: {
      selector: {
        matchLabels: { c: "d" },
        matchExpressions: [{ key: "a", operator: "X" }, { key: "a", operator: "In" }],
      },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
    },
  }, [
    "Invalid spec.selector",
    "Invalid spec.selector.matchExpressions[0].operator",
    "Required spec.selector.matchExpressions[1].values",
  ]],
  ["/apis/apps/v1/namespaces/default/daemonsets", { metadata: { name: "x" } }, [
    "Invalid spec.template.metadata.labels",
  ]],
  ["/apis/apps/v1/namespaces/default/daemonsets", {
    metadata: { name: "x" },
    spec: {
      selector: {
        matchLabels: { c: "d" },
        matchExpressions: [{ key: "a", operator: "X" }, { key: "a", operator: "In" }],
      },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
    },
  }, ["Invalid spec.selector.matchExpressions[0].operator", "Required spec.selector.matchExpressions[1].values"]],
  ["/apis/apps/v1/namespaces/default/daemonsets", {
    metadata: { name: "x" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      updateStrategy: { type: "X" },
      strategy: { type: "X" },
      podManagementPolicy: "Q",
    },
  }, ["NotSupported spec.updateStrategy"]],
  ["/apis/apps/v1/namespaces/default/statefulsets", { metadata: { name: "x" } }, [
    "Invalid spec.template.metadata.labels",
    "Required spec.selector",
  ]],
  ["/apis/apps/v1/namespaces/default/statefulsets", {
    metadata: { name: "x" },
    spec: {
      selector: {
        matchLabels: { c: "d" },
        matchExpressions: [{ key: "a", operator: "X" }, { key: "a", operator: "In" }],
      },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
    },
  }, [
    "Invalid spec.selector",
    "Invalid spec.selector.matchExpressions[0].operator",
    "Required spec.selector.matchExpressions[1].values",
  ]],
  ["/apis/apps/v1/namespaces/default/statefulsets", {
    metadata: { name: "x" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      updateStrategy: { type: "X" },
      strategy: { type: "X" },
      podManagementPolicy: "Q",
    },
  }, ["Invalid spec.podManagementPolicy", "Invalid spec.updateStrategy"]],
  ["/apis/batch/v1/namespaces/default/jobs", { metadata: { name: "x" } }, [
    "Required spec.template.spec.restartPolicy",
  ]],
  ["/apis/batch/v1/namespaces/default/jobs", {
    metadata: { name: "x" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      completionMode: "Q",
      podReplacementPolicy: "Z",
    },
  }, [
    "Invalid spec.selector",
    "NotSupported spec.completionMode",
    "NotSupported spec.podReplacementPolicy",
    "Required spec.template.spec.restartPolicy",
  ]],
  ["/apis/batch/v1/namespaces/default/cronjobs", { metadata: { name: "x" } }, [
    "Required spec.jobTemplate.spec.template.spec.restartPolicy",
    "Required spec.schedule",
  ]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" },
    spec: {
      schedule: "61 * * * *",
      timeZone: "Nope/Zone",
      concurrencyPolicy: "F",
      jobTemplate: {
        spec: { template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } } },
      },
    },
  }, [
    "Invalid metadata.name",
    "Invalid spec.schedule",
    "Invalid spec.timeZone",
    "NotSupported spec.concurrencyPolicy",
    "Required spec.jobTemplate.spec.template.spec.restartPolicy",
  ]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "a b",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "* * * * 8",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "@hourl",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "* * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "*/0 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "5-1 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "* * * JANX *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "TZ=UTC * * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "@every 1x",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "1/2/3 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Required spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "x * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "* * * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "100000000000000000000 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "1-2-3 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/apis/batch/v1/namespaces/default/cronjobs", {
    metadata: { name: "x" },
    spec: {
      schedule: "-1 * * * *",
      jobTemplate: {
        spec: {
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "b" }], restartPolicy: "Never" },
          },
        },
      },
    },
  }, ["Invalid spec.schedule"]],
  ["/api/v1/namespaces/default/configmaps", { metadata: { name: "x", ownerReferences: [{}] } }, [
    "Required metadata.ownerReferences[0].apiVersion",
    "Required metadata.ownerReferences[0].kind",
    "Required metadata.ownerReferences[0].name",
    "Required metadata.ownerReferences[0].uid",
  ]],
  ["/api/v1/namespaces/default/configmaps", {
    metadata: {
      name: "x",
      ownerReferences: [{ apiVersion: "a/b/c", kind: "Pod", name: "a", uid: "u", controller: true }, {
        apiVersion: "v1",
        kind: "Event",
        name: "a",
        uid: "u2",
        controller: true,
      }],
    },
  }, [
    "Invalid metadata.ownerReferences",
    "Invalid metadata.ownerReferences[0].apiVersion",
    "Invalid metadata.ownerReferences[1]",
  ]],
  ["/api/v1/namespaces/default/configmaps", { metadata: { generateName: "A_" } }, [
    "Invalid metadata.generateName",
    "Invalid metadata.name",
  ]],
  ["/api/v1/namespaces/default/configmaps", { metadata: {} }, ["Required metadata.name"]],
  ["/api/v1/namespaces/default/configmaps", {
    metadata: {
      name:
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      namespace: "default",
    },
  }, ["Invalid metadata.name"]],
  ["/api/v1/namespaces", { metadata: { name: "a.b" } }, ["Invalid metadata.name"]],
  ["/api/v1/namespaces/default/services", { metadata: { name: "1.b" }, spec: { ports: [{ port: 1 }] } }, [
    "Invalid metadata.name",
  ]],
  ["/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", { metadata: { name: "a:%b/c" } }, [
    "Invalid metadata.name",
    "Invalid metadata.name",
  ]],
  ["/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", {
    metadata: { name: "a" },
    rules: [{}, { verbs: ["get"], nonResourceURLs: ["/x"], resources: ["a"] }, { verbs: ["get"], apiGroups: [""] }],
  }, [
    "Invalid rules[1].nonResourceURLs",
    "Invalid rules[1].nonResourceURLs",
    "Required rules[0].apiGroups",
    "Required rules[0].resources",
    "Required rules[0].verbs",
    "Required rules[2].resources",
  ]],
  ["/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", { metadata: { name: "a" } }, [
    "NotSupported roleRef.kind",
    "Required roleRef.name",
  ]],
  ["/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
    metadata: { name: "a" },
    roleRef: { kind: "Foo", name: "a/b", apiGroup: "x" },
    subjects: [{}, { kind: "User", name: "a", apiGroup: "z" }, { kind: "ServiceAccount", name: "A_", apiGroup: "q" }, {
      kind: "Group",
    }],
  }, [
    "Invalid roleRef.name",
    "Invalid subjects[2].name",
    "NotSupported roleRef.apiGroup",
    "NotSupported roleRef.kind",
    "NotSupported subjects[0].kind",
    "NotSupported subjects[1].apiGroup",
    "NotSupported subjects[2].apiGroup",
    "Required subjects[0].name",
    "Required subjects[3].name",
  ]],
  ["/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "a" },
    roleRef: { kind: "Role", name: "a", apiGroup: "x" },
    subjects: [{ kind: "ServiceAccount", name: "a" }],
  }, ["NotSupported roleRef.apiGroup", "NotSupported roleRef.kind", "Required subjects[0].namespace"]],
  ["/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", { metadata: { name: "a" } }, [
    "Invalid spec.maxReplicas",
    "Invalid spec.scaleTargetRef.apiVersion",
    "Required spec.maxReplicas",
    "Required spec.scaleTargetRef.kind",
    "Required spec.scaleTargetRef.name",
  ]],
  ["/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", {
    metadata: { name: "a" },
    spec: { minReplicas: 0, maxReplicas: -1, scaleTargetRef: { kind: "D", name: "a/b", apiVersion: "v1" } },
  }, [
    "Forbidden spec.metrics",
    "Invalid spec.maxReplicas",
    "Invalid spec.maxReplicas",
    "Invalid spec.scaleTargetRef.apiVersion",
    "Invalid spec.scaleTargetRef.name",
  ]],
  ["/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: {
      minAvailable: -1,
      maxUnavailable: "101%",
      unhealthyPodEvictionPolicy: "X",
      selector: { matchLabels: { "a b": "c d" } },
    },
  }, [
    "Invalid spec",
    "Invalid spec.maxUnavailable",
    "Invalid spec.minAvailable",
    "Invalid spec.selector.matchLabels",
    "Invalid spec.selector.matchLabels",
    "NotSupported spec.unhealthyPodEvictionPolicy",
  ]],
  ["/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: { minAvailable: "a", selector: {} },
  }, ["Invalid spec.minAvailable"]],
  ["/apis/networking.k8s.io/v1/namespaces/default/ingresses", { metadata: { name: "a" } }, ["Invalid spec"]],
  [
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    { metadata: { name: "a" }, spec: { defaultBackend: {} } },
    ["Invalid spec.defaultBackend"],
  ],
  ["/apis/coordination.k8s.io/v1/namespaces/default/leases", {
    metadata: { name: "a" },
    spec: { leaseDurationSeconds: 0, leaseTransitions: -1, strategy: "X", preferredHolder: "z" },
  }, ["Invalid spec.leaseDurationSeconds", "Invalid spec.leaseTransitions"]],
  ["/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: "a" } }, ["Required provisioner"]],
  ["/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "a" },
    spec: { attacher: "a", nodeName: "n", source: {} },
  }, ["Required spec.source"]],
  ["/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "a" },
    spec: {
      attacher: "a",
      nodeName: "n",
      source: {
        persistentVolumeName: "v",
        inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi: { driver: "a", volumeHandle: "v" } },
      },
    },
  }, ["Forbidden spec.source"]],
  ["/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "a" },
    spec: {
      attacher: "a",
      nodeName: "n",
      source: {
        inlineVolumeSpec: {
          accessModes: ["All"],
          csi: { driver: "a", volumeHandle: "v" },
          claimRef: { name: "c" },
          capacity: { storage: "1" },
          storageClassName: "s",
          persistentVolumeReclaimPolicy: "Delete",
          volumeMode: "Block",
        },
      },
    },
  }, [
    "Forbidden spec.source.inlineVolumeSpec.capacity",
    "Forbidden spec.source.inlineVolumeSpec.claimRef",
    "Forbidden spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy",
    "Forbidden spec.source.inlineVolumeSpec.storageClassName",
    "Forbidden spec.source.inlineVolumeSpec.volumeMode",
    "NotSupported spec.source.inlineVolumeSpec.accessModes",
  ]],
  ["/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "a" },
    spec: { attacher: "a", nodeName: "n", source: { inlineVolumeSpec: { hostPath: { path: "/a" } } } },
  }, ["Required spec.source.inlineVolumeSpec.accessModes", "Required spec.source.inlineVolumeSpec.csi"]],
  ["/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", { metadata: { name: "a" } }, [
    "Required addressType",
  ]],
  ["/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "a" },
    addressType: "X",
    endpoints: null,
  }, ["NotSupported addressType"]],
  ["/apis/apps/v1/namespaces/default/controllerrevisions", { metadata: { name: "a" } }, ["Required data"]],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "bar.ex.com" },
    spec: {
      group: "ex.com",
      scope: "Namespaced",
      names: { plural: "foos", kind: "Foo" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  }, ["Invalid metadata.name"]],
];
