import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { ageOf } from "./age_of.ts";
import { plain } from "./plain.ts";

/** Returns the name that kubectl accepts: `"pod/cart-0"`, `"deployment.apps/web"`. */
export function qualifiedName(resource: Resource, name: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === "" ? kind : `${kind}.${resource.group}`}/${name}`;
}

/** Returns the state of an object by its kind; empty if only metadata was fetched. */
function detailsOf(resource: Resource, object: KubernetesObject): string {
  if (resource.representation === "metadata") return "";
  const { spec, status, data, type } = object as KubernetesObject & {
    readonly spec?: Record<string, unknown>;
    readonly status?: Record<string, unknown>;
    readonly data?: Record<string, unknown>;
    readonly type?: string;
  };
  switch (resourceName(resource)) {
    case "pods":
      return [status?.phase, spec?.nodeName].filter((part) => typeof part === "string").join(" on ");
    case "deployments.apps":
    case "statefulsets.apps":
    case "replicasets.apps":
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1} ready`;
    case "nodes": {
      const conditions = (status?.conditions ?? []) as { readonly type: string; readonly status: string }[];
      const ready = conditions.find((condition) => condition.type === "Ready")?.status === "True"
        ? "Ready"
        : "NotReady";
      return spec?.unschedulable === true ? `${ready}, SchedulingDisabled` : ready;
    }
    case "namespaces":
      return typeof status?.phase === "string" ? status.phase : "";
    case "configmaps":
    case "secrets":
      return `${type === undefined ? "" : `${type}, `}${Object.keys(data ?? {}).length} keys`;
    default:
      return "";
  }
}

/** Returns the table row of an object. */
export function objectRow(resource: Resource, object: KubernetesObject): string[] {
  const { namespace, name, creationTimestamp } = object.metadata;
  return [
    ...(resource.scope === "Cluster" ? [] : [namespace ?? ""]),
    name,
    detailsOf(resource, object),
    ageOf(creationTimestamp),
  ].map(plain);
}

/** Returns the column heads of {@linkcode objectRow}. */
export function columnHeads(resource: Resource): string[] {
  return [...(resource.scope === "Cluster" ? [] : ["NAMESPACE"]), "NAME", "STATE", "AGE"];
}
