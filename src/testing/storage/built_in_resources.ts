import { isBuiltInGroup, type Subresource } from "../../protocol/discovery.ts";
import {
  type BuiltIn,
  define,
  type Definition,
  type PrintedColumn,
  type ResourceDefinition,
  sameResource,
} from "./definition.ts";
import { SERVED_TEXT } from "../schema/served.ts";

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

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };
interface Read extends Mutable<BuiltIn> {
  readonly subresources: string[];
  readonly parts: Subresource[];
  readonly table: PrintedColumn[];
}

let builtIn: readonly BuiltIn[] | undefined;

/** Returns the resources that are served by default, as Kubernetes 1.37 serves them, in the order of its discovery. */
export function builtInResources(): readonly BuiltIn[] {
  return builtIn ??= readServed(SERVED_TEXT);
}

function readServed(text: string): BuiltIn[] {
  const resources: Read[] = [];
  const described = new Map<string, string>();
  for (const line of text.split("\n")) {
    const read = resources.at(-1)!;
    if (line.startsWith(" |")) read.table.push(readColumn(line, described));
    else if (line.startsWith(" /")) {
      const part = readPart(line);
      read.parts.push(part);
      read.subresources.push(part.name);
    } else if (line !== "") resources.push(readResource(line));
  }
  return resources;
}

function readResource(line: string): Read {
  const [apiVersion, plural, kind, scope, ...marks] = line.split(" ");
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const mark = Object.fromEntries(marks.map((text) => text.split("=")));
  const list = (name: string): readonly string[] | undefined => mark[name]?.split(",");
  const id = `${group}/${plural}`;
  return {
    group,
    version,
    plural,
    kind,
    scope: scope as "Namespaced" | "Cluster",
    singular: mark.singular ?? kind.toLowerCase(),
    shortNames: list("short") ?? [],
    categories: list("categories") ?? [],
    ...(mark.verbs === undefined ? {} : { verbs: list("verbs") }),
    fields: FIELDS[id]?.split(" ") ?? [],
    generation: METADATA_COUNTED[plural] ?? COUNTED.has(plural),
    unconditionalUpdate: !CONDITIONAL.has(plural),
    returnsDeleted: RETURNED.has(plural),
    warning: WARNINGS[id],
    subresources: [],
    parts: [],
    table: [],
  } as Read;
}

function readPart(line: string): Subresource {
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
  const known = builtInResources().find((kind) => sameResource(kind, resource));
  return define(resource, known ?? (isBuiltInGroup(resource.group) ? resource : undefined));
}
