import { schemaOf, structNamed } from "../schema/built_in.ts";
import { schemaOfKind } from "../schema/open_api.ts";
import type { Struct } from "../schema/schema.ts";
import { apiVersionOf, type Resource } from "../../api/resource.ts";
import { at, isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";

/** A column of a custom resource's table, as in `additionalPrinterColumns`. */
export interface PrinterColumn {
  /** Title of the column. */
  readonly name: string;
  /** Type: `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`, which is shown as an age. */
  readonly type: string;
  /** JSONPath of the value: `.spec.size`. */
  readonly jsonPath: string;
  /** Description of the column. @default {""} */
  readonly description?: string;
  /** Above 0: only in wide output. @default {0} */
  readonly priority?: number;
  /** OpenAPI format. @default {""} */
  readonly format?: string;
}

/** A resource to serve, with its discovery fields. */
export interface ResourceDefinition extends Omit<Resource, "representation" | "$type"> {
  /** Singular name. @default {the kind in lower case} */
  readonly singular?: string;
  /** Short names: `["po"]`. @default {none} */
  readonly shortNames?: readonly string[];
  /** Categories: `["all"]`. @default {none} */
  readonly categories?: readonly string[];
  /** Supported verbs. @default {all of them} */
  readonly verbs?: readonly string[];
  /** Subresources; `"status"` and `"scale"` are served. @default {["status"]} */
  readonly subresources?: readonly string[];
  /** Columns after the name in tables, which `kubectl get` shows. @default {the age} */
  readonly columns?: readonly PrinterColumn[];
  /** Selectable fields, besides `metadata.name` and `metadata.namespace`. @default {none} */
  readonly fields?: readonly string[];
  /** A custom kind's `schema.openAPIV3Schema`, as in its definition. @default {one that keeps all fields} */
  readonly openAPIV3Schema?: object;
}

/** The complete definition of a served resource. */
export interface Definition extends Required<Omit<ResourceDefinition, "openAPIV3Schema">> {
  /** The types of its fields, read at their first use; undefined for a kind of a built-in group that is not known. */
  readonly schema: Struct | undefined;
  /** API version: `"apps/v1"`, `"v1"`. */
  readonly apiVersion: string;
  /** True for a custom resource, whose JSON keys are sorted. */
  readonly custom: boolean;
  /** True if `metadata.generation` counts changes of the desired state. */
  readonly generation: boolean;
  /** True if deletions have a grace period: pods. */
  readonly graceful: boolean;
  /** True if an update without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** True if a deletion returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Warning header of each response. */
  readonly warning: string | undefined;
  /** Returns the selectable fields of an object; undefined if the kind has none. */
  readonly fieldsOf: (object: JsonObject) => Readonly<Record<string, string>> | undefined;
}

/** Deviations of a built-in kind. */
interface BuiltIn extends ResourceDefinition {
  /** @see Definition.generation */
  readonly generation?: boolean;
  /** @see Definition.unconditionalUpdate */
  readonly unconditionalUpdate?: boolean;
  /** @see Definition.returnsDeleted */
  readonly returnsDeleted?: boolean;
  /** @see Definition.warning */
  readonly warning?: string;
}

/** All verbs, in the order of discovery. */
const VERBS: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** Completes a definition; without `builtIn` it is a custom resource. */
export function define(resource: ResourceDefinition, builtIn?: BuiltIn): Definition {
  const { group, version, plural, kind, scope } = resource;
  const fields = builtIn?.fields ?? resource.fields ?? [];
  const paths = fields.map((field) => ({ field, path: field.split(".") }));
  let schema: Struct | undefined;
  return {
    get schema(): Struct | undefined {
      return schema ??= builtIn === undefined
        ? schemaOfKind(resource.openAPIV3Schema as JsonObject | undefined, structNamed("meta/v1.ObjectMeta"))
        : schemaOf(group, version, kind);
    },
    group,
    version,
    plural,
    kind,
    scope,
    singular: resource.singular ?? builtIn?.singular ?? kind.toLowerCase(),
    shortNames: resource.shortNames ?? builtIn?.shortNames ?? [],
    categories: resource.categories ?? builtIn?.categories ?? [],
    verbs: resource.verbs ?? builtIn?.verbs ?? VERBS,
    subresources: resource.subresources ?? builtIn?.subresources ?? ["status"],
    fields,
    columns: resource.columns ?? [],
    apiVersion: apiVersionOf(resource),
    custom: builtIn === undefined,
    generation: builtIn === undefined || builtIn.generation === true,
    graceful: builtIn?.plural === "pods",
    unconditionalUpdate: builtIn !== undefined && builtIn.unconditionalUpdate !== false,
    returnsDeleted: builtIn?.returnsDeleted === true,
    warning: builtIn?.warning,
    fieldsOf: (object) => {
      if (paths.length === 0) return undefined;
      const values: Record<string, string> = {};
      for (const { field, path } of paths) values[field] = textOf(at(object, ...path));
      return values;
    },
  };
}

/** Returns the schema of a definition, one that keeps all fields if the kind is not known. */
export function schemaOfDefinition({ schema }: Pick<Definition, "schema">): Struct {
  return schema ?? schemaOfKind(undefined, structNamed("meta/v1.ObjectMeta"));
}

/** Returns true if two definitions name the same collection. */
export function sameResource(
  a: { readonly group: string; readonly version: string; readonly plural: string },
  b: typeof a,
): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version;
}

/** Returns the map key of a collection. */
export function resourceId(
  resource: { readonly group: string; readonly version: string; readonly plural: string },
): string {
  return `${resource.group}/${resource.version}/${resource.plural}`;
}

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
  "storagemigration.k8s.io",
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

/** Fills in the defaults and conditions of a CustomResourceDefinition, which is established at once. */
export function crdDefaults(object: MutableJson, time: string): void {
  const spec = objectOr(object.spec);
  const names = objectOr(spec.names);
  const kind = textOf(names.kind);
  const accepted = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  object.spec = { ...spec, names: accepted, conversion: spec.conversion ?? { strategy: "None" } };
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime: time,
    reason,
    message,
  });
  object.status = {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: accepted,
    storedVersions: versionsOf(object).filter((version) => version.storage === true).map((version) =>
      version.name as Json
    ),
  };
}

/** Returns the resources that a CustomResourceDefinition defines: one per served version. */
export function crdResources(crd: JsonObject): ResourceDefinition[] {
  const spec = objectOr(crd.spec);
  const names = objectOr(spec.names);
  const strings = (value: unknown): string[] => Array.isArray(value) ? value.map(textOf) : [];
  return versionsOf(crd).filter((version) => version.served === true).map((version) => {
    const subresources = objectOr(version.subresources);
    const { openAPIV3Schema: schema } = objectOr(version.schema);
    const fields = Array.isArray(version.selectableFields) ? version.selectableFields.map(objectOr) : [];
    return {
      group: textOf(spec.group),
      version: textOf(version.name),
      plural: textOf(names.plural),
      kind: textOf(names.kind),
      scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
      singular: typeof names.singular === "string" ? names.singular : textOf(names.kind).toLowerCase(),
      shortNames: strings(names.shortNames),
      categories: strings(names.categories),
      subresources: ["status", "scale"].filter((part) => subresources[part] !== undefined),
      columns: columnsOf(version.additionalPrinterColumns),
      fields: fields.map((field) => textOf(field.jsonPath).replace(/^\./, "")),
      ...(isObject(schema) ? { openAPIV3Schema: schema } : {}),
    };
  });
}

function columnsOf(value: unknown): PrinterColumn[] {
  return (Array.isArray(value) ? value as readonly Json[] : []).filter(isObject).map((column) => ({
    name: textOf(column.name),
    type: textOf(column.type ?? "string"),
    jsonPath: textOf(column.jsonPath),
    ...(typeof column.description === "string" ? { description: column.description } : {}),
    ...(typeof column.priority === "number" ? { priority: column.priority } : {}),
    ...(typeof column.format === "string" ? { format: column.format } : {}),
  }));
}

function versionsOf(crd: JsonObject): readonly JsonObject[] {
  const { versions } = objectOr(crd.spec);
  return Array.isArray(versions) ? (versions as readonly Json[]).filter(isObject) : [];
}

/** The ids of the two resources of events, which are one collection: a write to one of them writes to the other. */
const CORE = "/v1/events";
const NEWER = "events.k8s.io/v1/events";

/** The members of an event of events.k8s.io/v1, in their order, and their names in core/v1. */
const NEWER_MEMBERS: readonly (readonly [name: string, core: string])[] = [
  ["eventTime", "eventTime"],
  ["series", "series"],
  ["reportingController", "reportingComponent"],
  ["reportingInstance", "reportingInstance"],
  ["action", "action"],
  ["reason", "reason"],
  ["regarding", "involvedObject"],
  ["related", "related"],
  ["note", "message"],
  ["type", "type"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];

/** The order of the members in core/v1. */
const CORE_ORDER = [6, 5, 8, 10, 11, 12, 13, 9, 0, 1, 4, 7, 2, 3];
const CORE_MEMBERS = CORE_ORDER.map((at) => [NEWER_MEMBERS[at][1], NEWER_MEMBERS[at][0]] as const);

/** The values of members that the server writes although they are absent; it leaves out all others. */
const ABSENT: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  [CORE]: {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  },
  [NEWER]: {
    eventTime: null,
    regarding: {},
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  },
};

/** Returns the id of the other resource of events; undefined if `id` is none of the two. */
export function otherEvents(id: string): string | undefined {
  return id === CORE ? NEWER : id === NEWER ? CORE : undefined;
}

/** Returns an event of one form in the other one, that of the resource `id`, as kube-apiserver converts it. */
export function convertEvent(event: JsonObject, id: string): MutableJson {
  const [version, absent] = [id === CORE ? "v1" : "events.k8s.io/v1", ABSENT[id]];
  const converted: MutableJson = { kind: "Event", apiVersion: version, metadata: event.metadata };
  for (const [name, from] of id === CORE ? CORE_MEMBERS : NEWER_MEMBERS) {
    const value = event[from];
    const isAbsent = value === undefined || value === null || value === "" || value === 0 ||
      (isObject(value) && Object.keys(value).length === 0);
    if (!isAbsent) converted[name] = value;
    else if (absent[name] !== undefined) converted[name] = absent[name];
  }
  return converted;
}
