import { type BuiltIn, define, type Definition, type ResourceDefinition, sameResource } from "./definition.ts";

type Kind = Partial<BuiltIn> & { readonly plural: string; readonly kind: string };

function group(name: string, version: string, ...kinds: readonly Kind[]): BuiltIn[] {
  return kinds.map((kind) => ({ group: name, version, scope: "Namespaced", subresources: [], ...kind }));
}

const STATUS = ["status"];
const SCALED = ["scale", "status"];

/** The kinds served by default, with names and selectable fields of Kubernetes 1.36. */
export const BUILT_IN: readonly BuiltIn[] = [
  ...group(
    "",
    "v1",
    {
      plural: "componentstatuses",
      kind: "ComponentStatus",
      scope: "Cluster",
      shortNames: ["cs"],
      verbs: ["get", "list"],
      warning: "v1 ComponentStatus is deprecated in v1.19+",
    },
    { plural: "configmaps", kind: "ConfigMap", shortNames: ["cm"] },
    { plural: "endpoints", kind: "Endpoints", shortNames: ["ep"], singular: "endpoints" },
    {
      plural: "events",
      kind: "Event",
      shortNames: ["ev"],
      fields: [
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "type",
      ],
    },
    { plural: "limitranges", kind: "LimitRange", shortNames: ["limits"] },
    {
      plural: "namespaces",
      kind: "Namespace",
      scope: "Cluster",
      shortNames: ["ns"],
      subresources: ["finalize", "status"],
      fields: ["status.phase"],
      returnsDeleted: true,
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    },
    {
      plural: "nodes",
      kind: "Node",
      scope: "Cluster",
      shortNames: ["no"],
      subresources: STATUS,
      fields: ["spec.unschedulable"],
    },
    { plural: "persistentvolumeclaims", kind: "PersistentVolumeClaim", shortNames: ["pvc"], subresources: STATUS },
    {
      plural: "persistentvolumes",
      kind: "PersistentVolume",
      scope: "Cluster",
      shortNames: ["pv"],
      subresources: STATUS,
    },
    {
      plural: "pods",
      kind: "Pod",
      shortNames: ["po"],
      categories: ["all"],
      subresources: STATUS,
      generation: true,
      returnsDeleted: true,
      fields: [
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
      ],
    },
    { plural: "secrets", kind: "Secret", fields: ["type"] },
    { plural: "serviceaccounts", kind: "ServiceAccount", shortNames: ["sa"], returnsDeleted: true },
    {
      plural: "services",
      kind: "Service",
      shortNames: ["svc"],
      categories: ["all"],
      subresources: STATUS,
      returnsDeleted: true,
      fields: ["spec.clusterIP", "spec.type"],
    },
  ),
  ...group("apiextensions.k8s.io", "v1", {
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    scope: "Cluster",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    subresources: STATUS,
    generation: true,
  }),
  ...group(
    "apps",
    "v1",
    { plural: "controllerrevisions", kind: "ControllerRevision" },
    {
      plural: "daemonsets",
      kind: "DaemonSet",
      shortNames: ["ds"],
      categories: ["all"],
      subresources: STATUS,
      generation: true,
    },
    {
      plural: "deployments",
      kind: "Deployment",
      shortNames: ["deploy"],
      categories: ["all"],
      subresources: SCALED,
      generation: true,
    },
    {
      plural: "replicasets",
      kind: "ReplicaSet",
      shortNames: ["rs"],
      categories: ["all"],
      subresources: SCALED,
      generation: true,
      fields: ["status.replicas"],
    },
    {
      plural: "statefulsets",
      kind: "StatefulSet",
      shortNames: ["sts"],
      categories: ["all"],
      subresources: SCALED,
      generation: true,
    },
  ),
  ...group("batch", "v1", {
    plural: "cronjobs",
    kind: "CronJob",
    shortNames: ["cj"],
    categories: ["all"],
    subresources: STATUS,
    generation: true,
  }, {
    plural: "jobs",
    kind: "Job",
    categories: ["all"],
    subresources: STATUS,
    generation: true,
    fields: ["status.successful"],
  }),
  ...group("coordination.k8s.io", "v1", { plural: "leases", kind: "Lease", unconditionalUpdate: false }),
  ...group("discovery.k8s.io", "v1", { plural: "endpointslices", kind: "EndpointSlice", generation: true }),
  ...group("events.k8s.io", "v1", {
    plural: "events",
    kind: "Event",
    shortNames: ["ev"],
    fields: [
      "regarding.kind",
      "regarding.namespace",
      "regarding.name",
      "regarding.uid",
      "regarding.apiVersion",
      "regarding.resourceVersion",
      "regarding.fieldPath",
      "reason",
      "reportingController",
      "type",
    ],
  }),
  ...group("networking.k8s.io", "v1", {
    plural: "ingresses",
    kind: "Ingress",
    shortNames: ["ing"],
    subresources: STATUS,
    generation: true,
  }, { plural: "networkpolicies", kind: "NetworkPolicy", shortNames: ["netpol"], generation: true }),
  ...group("policy", "v1", {
    plural: "poddisruptionbudgets",
    kind: "PodDisruptionBudget",
    shortNames: ["pdb"],
    subresources: STATUS,
    generation: true,
  }),
  ...group(
    "rbac.authorization.k8s.io",
    "v1",
    { plural: "clusterrolebindings", kind: "ClusterRoleBinding", scope: "Cluster" },
    { plural: "clusterroles", kind: "ClusterRole", scope: "Cluster" },
    { plural: "rolebindings", kind: "RoleBinding" },
    { plural: "roles", kind: "Role" },
  ),
  ...group("storage.k8s.io", "v1", {
    plural: "storageclasses",
    kind: "StorageClass",
    scope: "Cluster",
    shortNames: ["sc"],
  }),
];

/** The groups of Kubernetes itself: all others are custom, even if the name ends in `k8s.io`. */
const GROUPS: ReadonlySet<string> = new Set([
  "",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "apps",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
]);

/** Returns true if the group is part of Kubernetes itself. */
export function isBuiltInGroup(group: string): boolean {
  return GROUPS.has(group);
}

/** Completes a definition: from the table of built-in kinds if it has the resource, else from the argument. */
export function definitionOf(resource: ResourceDefinition): Definition {
  const known = BUILT_IN.find((kind) => sameResource(kind, resource));
  return define(resource, known ?? (isBuiltInGroup(resource.group) ? resource : undefined));
}
