import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { ageOf } from "../target/duration_ms.ts";
import { plain } from "./plain.ts";

/** How results are printed. */
export type OutputFormat = "table" | "json" | "name";

const REDACTED = "[redacted]";
/** What kubectl keeps the last applied state in, a Secret's data too. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The object as it may be shown: what a Secret holds is `[redacted]`, its keys are not. */
export function redactObject<T extends KubernetesObject>(object: T, resource: Resource, showSecrets: boolean): T {
  if (showSecrets || resource.kind !== "Secret" || resource.group !== "") return object;
  const shown = { ...object } as Record<string, unknown>;
  for (const field of ["data", "stringData"]) {
    const values = shown[field];
    if (typeof values !== "object" || values === null) continue;
    shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  }
  if (object.metadata.annotations?.[LAST_APPLIED] !== undefined) {
    shown.metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, [LAST_APPLIED]: REDACTED } };
  }
  return shown as unknown as T;
}

/** `"pod/cart-0"`, `"deployment.apps/web"`: what kubectl takes back. */
export function qualifiedName(resource: Resource, name: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === "" ? kind : `${kind}.${resource.group}`}/${name}`;
}

/** What is said of an object in a table, by kind; nothing where only metadata was asked for. */
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

/** One row of a table about an object. */
export function objectRow(resource: Resource, object: KubernetesObject): string[] {
  const { namespace, name, creationTimestamp } = object.metadata;
  return [
    ...(resource.scope === "Cluster" ? [] : [namespace ?? ""]),
    name,
    detailsOf(resource, object),
    ageOf(creationTimestamp),
  ].map(plain);
}

/** The heads of the columns of {@linkcode objectRow}. */
export function columnHeads(resource: Resource): string[] {
  return [...(resource.scope === "Cluster" ? [] : ["NAMESPACE"]), "NAME", "STATE", "AGE"];
}

/** Lays out lines of which nobody knows yet what follows: a column is as wide as its widest cell so far. */
export class GrowingTable {
  readonly #widths: number[] = [];

  /** The cells as a line. */
  line(cells: readonly string[]): string {
    cells.forEach((cell, i) => this.#widths[i] = Math.max(this.#widths[i] ?? 0, cell.length));
    return cells.map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(this.#widths[i]))).join("   ").trimEnd();
  }
}

/** Lines of a table whose columns are as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const table = new GrowingTable();
  for (const row of rows) table.line(row);
  return rows.map((row) => table.line(row));
}
