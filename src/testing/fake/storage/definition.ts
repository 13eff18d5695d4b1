/**
 * Definitions of the kinds that the fake server serves, built-in and custom.
 *
 * {@linkcode define} and {@linkcode builtInResources} are the entry points. Schemas are in `schema`, and objects are in
 * `store.ts`.
 *
 * @module
 */
import { defined, isObject, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { memberAt, objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
import { apiVersionOf, isBuiltInGroup, type Resource } from "../../../engine/api/resource.ts";
import type { DiscoveredResource } from "../../../engine/protocol/discovery.ts";
import { knownRefusal } from "../../../engine/protocol/refusal.ts";
import { hasRules, loadedRules } from "../../../operator/schema/rules/load.ts";
import { schemaOfKind, type Struct } from "../../../operator/schema/values/object_schema.ts";
import type { customCauses, ScalePaths } from "../../../operator/schema/values/validate.ts";
import { schemaOf, structNamed } from "../schema/schema.ts";
import { SERVED_TEXT } from "../schema/served.ts";

/** A column in a custom resource's table, like in `additionalPrinterColumns`. */
export interface PrinterColumn {
  /** The column's title. */
  readonly name: string;
  /** `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`, which is shown as an age. */
  readonly type: string;
  /** The value's JSONPath: `.spec.size`. */
  readonly jsonPath: string;
  /** The column's description. @default {""} */
  readonly description?: string;
  /** Above 0, only the wide output shows the column. @default {0} */
  readonly priority?: number;
  /** OpenAPI format. @default {""} */
  readonly format?: string;
}

/** A resource to serve, with its discovery fields. */
export interface ResourceDefinition extends Omit<Resource, "representation" | "$type" | "loadValidator"> {
  /** Singular name. @default {the kind in lower case} */
  readonly singular?: string;
  /** Short names: `["po"]`. @default {none} */
  readonly shortNames?: readonly string[];
  /** Categories: `["all"]`. @default {none} */
  readonly categories?: readonly string[];
  /** Supported verbs. @default {all verbs} */
  readonly verbs?: readonly string[];
  /** A custom resource's subresources: `"status"` and `"scale"`. @default {["status"]} */
  readonly subresources?: readonly string[];
  /** Paths for the scale, like in `subresources.scale`. @default {.spec.replicas and .status.replicas} */
  readonly scale?: ScalePaths;
  /** Columns after the name in tables, which `kubectl get` shows. @default {the age} */
  readonly columns?: readonly PrinterColumn[];
  /** Selectable fields, in addition to `metadata.name` and `metadata.namespace`. @default {none} */
  readonly fields?: readonly string[];
  /** A custom kind's `schema.openAPIV3Schema`, like in its CRD. @default {a schema that keeps all fields} */
  readonly openAPIV3Schema?: object;
}

/** The complete definition of a served resource. */
export interface Definition extends Required<Omit<ResourceDefinition, "openAPIV3Schema" | "scale">> {
  /** A custom kind's rules in CEL; undefined if it has none, or while they are not loaded. Throws if one is wrong. */
  readonly rules: Parameters<typeof customCauses>[1];
  /** A custom kind's schema as its definition has it; undefined if it has none. */
  readonly openAPIV3Schema: JsonObject | undefined;
  /** Paths of the scale; undefined for the usual ones. */
  readonly scale: ScalePaths | undefined;
  /** The types of its fields, read at their first use; undefined for a kind of a built-in group that is not known. */
  readonly schema: Struct | undefined;
  /** API version: `"apps/v1"`, `"v1"`. */
  readonly apiVersion: string;
  /** The API versions in its CRD, served or not; undefined for other kinds. */
  readonly apiVersions: readonly string[] | undefined;
  /** The subresources, with what discovery says of them. */
  readonly parts: DiscoveredResource["parts"];
  /** The columns of a built-in kind's tables; undefined for others. */
  readonly table: readonly PrintedColumn[] | undefined;
  /** True for a custom resource, whose JSON keys are sorted. */
  readonly custom: boolean;
  /** True if `metadata.generation` counts changes of the desired state; the member of metadata that counts as such. */
  readonly generation: boolean | "annotations" | "labels";
  /** True if deletions have a grace period: pods. */
  readonly graceful: boolean;
  /** True if an update without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** True if an update of an object that does not exist creates it. */
  readonly createdByUpdate: boolean;
  /** True if a deletion returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Warning header of each response. */
  readonly warning: string | undefined;
  /** Returns the selectable fields of an object; undefined if the kind has none. */
  readonly fieldsOf: (object: JsonObject) => Readonly<Record<string, string>> | undefined;
}

/** A column of a table, without its cells. */
export type PrintedColumn = Required<Omit<PrinterColumn, "jsonPath">>;

/** A built-in resource, and its deviations. */
type BuiltIn =
  & ResourceDefinition
  & Partial<
    Pick<Definition, "parts" | "table" | "generation" | "unconditionalUpdate" | "returnsDeleted" | "warning">
  >;

/** All verbs, in the order of discovery. */
const VERBS = "create delete deletecollection get list patch update watch".split(" ");

/** The built-in resources whose objects an update may create. */
const CREATED_BY_UPDATE = words(
  "/endpoints /events /limitranges /services coordination.k8s.io/leasecandidates coordination.k8s.io/leases " +
    "events.k8s.io/events node.k8s.io/runtimeclasses rbac.authorization.k8s.io/clusterrolebindings " +
    "rbac.authorization.k8s.io/clusterroles rbac.authorization.k8s.io/rolebindings rbac.authorization.k8s.io/roles",
);

/** Completes a definition; without `builtIn` it is a custom resource. */
export function define(resource: ResourceDefinition, builtIn?: BuiltIn): Definition {
  const { group, version, plural, kind, openAPIV3Schema: rules } = resource;
  const given = { subresources: ["status"], fields: [], ...builtIn, ...defined(resource) };
  const { subresources } = given;
  const fields = builtIn?.fields ?? given.fields;
  const paths = fields.map((field) => ({ field, path: field.split(".") }));
  const openAPIV3Schema = isObject(rules) ? rules : undefined;
  let schema: Struct | undefined;
  let compiled: ReturnType<NonNullable<ReturnType<typeof loadedRules>>["compile"]> | undefined;
  return {
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: VERBS,
    parts: subresources.map((name) => {
      const responseKind = name === "scale" ? SCALE : { group: "", version: "", kind };
      return { name, verbs: ["get", "patch", "update"], responseKind };
    }),
    table: undefined,
    columns: [],
    scale: undefined,
    apiVersions: undefined,
    warning: undefined,
    returnsDeleted: false,
    unconditionalUpdate: builtIn !== undefined,
    generation: builtIn === undefined,
    ...given,
    get schema(): Struct | undefined {
      return schema ??= builtIn === undefined
        ? schemaOfKind(openAPIV3Schema, structNamed("meta/v1.ObjectMeta"))
        : schemaOf(group, version, kind);
    },
    get rules(): Parameters<typeof customCauses>[1] {
      if (openAPIV3Schema === undefined || !hasRules(openAPIV3Schema)) return undefined;
      compiled ??= loadedRules()?.compile(openAPIV3Schema);
      // A server has no such kind: it refuses the definition.
      if (compiled !== undefined && compiled.causes.length > 0) {
        throw knownRefusal("invalid", { ...CRD, name: `${plural}.${group}` }, compiled.causes);
      }
      return compiled;
    },
    fields,
    openAPIV3Schema,
    apiVersion: apiVersionOf(resource),
    custom: builtIn === undefined,
    graceful: builtIn?.plural === "pods",
    createdByUpdate: builtIn !== undefined && CREATED_BY_UPDATE.has(`${group}/${plural}`),
    fieldsOf: (object) => {
      if (paths.length === 0) return undefined;
      return Object.fromEntries(paths.map(({ field, path }) => [field, textOf(memberAt(object, ...path))]));
    },
  };
}

/** Returns the schema of a definition, one that keeps all fields if the kind is not known. */
export function schemaOfDefinition({ schema }: Pick<Definition, "schema">): Struct {
  return schema ?? schemaOfKind(undefined, structNamed("meta/v1.ObjectMeta"));
}

const CRD = { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" } as const;

/** The kind of the subresource `scale`. */
const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" } as const;

/** The identity of a resource. */
export type ResourceName = Pick<Resource, "group" | "version" | "plural">;

/** Returns true if two definitions name the same collection. */
export function sameResource(a: ResourceName, b: ResourceName): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version;
}

/** Returns the map key of a collection. */
export function resourceId({ group, version, plural }: ResourceName): string {
  return `${group}/${version}/${plural}`;
}

/** Fills in the defaults and conditions of a CustomResourceDefinition, which is established at once. */
export function crdDefaults(object: MutableJson, time: string): void {
  const spec = objectOr(object.spec);
  const names = objectOr(spec.names);
  const kind = textOf(names.kind);
  const accepted = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  object.spec = { ...spec, names: accepted, conversion: spec.conversion ?? { strategy: "None" } };
  const condition = (type: string, reason: string, message: string): JsonObject => {
    return { type, status: "True", lastTransitionTime: time, reason, message };
  };
  object.status = {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: accepted,
    storedVersions: storedVersionsOf(object, []),
  };
}

/** Returns the versions in which objects of a CRD may be stored: these, and the one in which they are stored now. */
export function storedVersionsOf(crd: JsonObject, before: readonly string[]): string[] {
  const stored = versionsOf(crd).filter(({ storage }) => storage === true).map(({ name }) => textOf(name));
  return [...new Set([...before, ...stored])];
}

/** Returns the resources that a CustomResourceDefinition defines: one per served version, or per version. */
export function crdResources(crd: JsonObject, isAll = false): ResourceDefinition[] {
  const spec = objectOr(crd.spec);
  const names = objectOr(spec.names);
  const apiVersions = versionsOf(crd).map(({ name }) => `${textOf(spec.group)}/${textOf(name)}`);
  return versionsOf(crd).filter((version) => isAll || version.served === true).map((version) => {
    const subresources = objectOr(version.subresources);
    const { openAPIV3Schema: schema } = objectOr(version.schema);
    const fields = objectsOf(version.selectableFields);
    return {
      apiVersions,
      group: textOf(spec.group),
      version: textOf(version.name),
      plural: textOf(names.plural),
      kind: textOf(names.kind),
      scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
      singular: typeof names.singular === "string" ? names.singular : textOf(names.kind).toLowerCase(),
      shortNames: textsOf(names.shortNames),
      categories: textsOf(names.categories),
      subresources: ["status", "scale"].filter((part) => subresources[part] !== undefined),
      columns: columnsOf(version.additionalPrinterColumns),
      ...(isObject(subresources.scale) ? { scale: subresources.scale as unknown as ScalePaths } : {}),
      fields: fields.map((field) => textOf(field.jsonPath).replace(/^\./, "")),
      ...(isObject(schema) ? { openAPIV3Schema: schema } : {}),
    };
  });
}

function columnsOf(value: unknown): PrinterColumn[] {
  return objectsOf(value).map((column) => ({
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
  return objectsOf(versions);
}

/** Selectable fields, by group and plural name. */
const FIELDS: Readonly<Record<string, string>> = {
  "/events": "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid " +
    "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent type",
  "/namespaces": "status.phase",
  "/nodes": "spec.unschedulable",
  "/pods":
    "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase " +
    "status.podIP status.nominatedNodeName",
  "/replicationcontrollers": "status.replicas",
  "/secrets": "type",
  "/services": "spec.clusterIP spec.type",
  "batch/jobs": "status.successful",
  "certificates.k8s.io/certificatesigningrequests": "spec.signerName",
  "certificates.k8s.io/clustertrustbundles": "spec.signerName",
  "certificates.k8s.io/podcertificaterequests": "spec.signerName spec.podName spec.nodeName",
  "events.k8s.io/events": "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion " +
    "regarding.resourceVersion regarding.fieldPath reason reportingController type",
  "resource.k8s.io/resourceslices": "spec.nodeName spec.driver spec.pool.name",
};

const ADMISSION = "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations " +
  "validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations";

/** Kinds whose objects count changes of the desired state. */
const COUNTED = words(
  `${ADMISSION} customresourcedefinitions daemonsets deployments replicasets statefulsets horizontalpodautoscalers ` +
    "cronjobs jobs endpointslices flowschemas prioritylevelconfigurations ingressclasses ingresses networkpolicies " +
    "poddisruptionbudgets pods podtemplates replicationcontrollers deviceclasses devicetaintrules resourceslices " +
    "priorityclasses",
);

/** Those whose annotations or labels count, too. */
const METADATA_COUNTED: Readonly<Record<string, "annotations" | "labels">> = {
  deployments: "annotations",
  endpointslices: "labels",
};

/** Kinds of which an update needs a resourceVersion. */
const CONDITIONAL = words(
  `${ADMISSION} customresourcedefinitions apiservices clustertrustbundles podcertificaterequests leases ` +
    "runtimeclasses poddisruptionbudgets csidrivers csinodes csistoragecapacities volumeattachments",
);

/** Kinds of which a deletion returns the object. */
const RETURNED = words(
  "namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services " +
    "deviceclasses resourceclaims resourceclaimtemplates resourceslices csidrivers csinodes storageclasses " +
    "volumeattachments volumeattributesclasses",
);

const WARNINGS: Readonly<Record<string, string>> = {
  "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
  "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

let builtIn: readonly BuiltIn[] | undefined;

/** Returns the resources that are served by default, as Kubernetes 1.37 serves them, in the order of its discovery. */
export function builtInResources(): readonly BuiltIn[] {
  if (builtIn === undefined) {
    const described = new Map<string, string>();
    builtIn = SERVED_TEXT.trim().split(/\n(?! )/).map((block) => readResource(block, described));
  }
  return builtIn;
}

/** Reads a resource: a line, and below it one for each subresource and column. */
function readResource(block: string, described: Map<string, string>): BuiltIn {
  const [line, ...rest] = block.split("\n");
  const [apiVersion, plural, kind, scope, ...marks] = line.split(" ");
  const [version, group = ""] = apiVersion.split("/").reverse();
  const mark = Object.fromEntries(marks.map((text) => text.split("=")));
  const list = (name: string): readonly string[] | undefined => mark[name]?.split(",");
  const id = `${group}/${plural}`;
  const parts = rest.filter((line) => line.startsWith(" /")).map(readPart);
  return {
    group,
    version,
    plural,
    kind,
    scope: scope === "Cluster" ? scope : "Namespaced",
    ...defined({ singular: mark.singular, shortNames: list("short"), categories: list("categories") }),
    ...defined({ verbs: list("verbs") }),
    fields: FIELDS[id]?.split(" ") ?? [],
    generation: METADATA_COUNTED[plural] ?? COUNTED.has(plural),
    unconditionalUpdate: !CONDITIONAL.has(plural),
    returnsDeleted: RETURNED.has(plural),
    warning: WARNINGS[id],
    subresources: parts.map(({ name }) => name),
    parts,
    table: rest.filter((line) => line.startsWith(" |")).map((line) => readColumn(line, described)),
  };
}

function readPart(line: string): DiscoveredResource["parts"][number] {
  const [path, type, verbs] = line.slice(1).split(" ");
  const [kind, version = "", group = ""] = type.split("/").reverse();
  return { name: path.slice(1), verbs: verbs.split(","), responseKind: { group, version, kind } };
}

function readColumn(line: string, described: Map<string, string>): PrintedColumn {
  const [name, type, format, priority, ...rest] = line.slice(2).split("|");
  if (rest.length > 0) described.set(name, JSON.parse(`"${rest.join("|")}"`));
  return { name, type, format, priority: Number(priority), description: described.get(name) ?? "" };
}

/** Completes a definition: from the built-in resources if these have it, else from the argument. */
export function definitionOf(resource: ResourceDefinition): Definition {
  const { crd } = resource as { readonly crd?: unknown }; // of a kind of `defineKind`
  const own = isObject(crd) ? crdResources(crd).find((kind) => sameResource(kind, resource)) : undefined;
  if (own !== undefined) return define(own);
  const known = builtInResources().find((kind) => sameResource(kind, resource));
  return define(resource, known ?? (isBuiltInGroup(resource.group) ? resource : undefined));
}
