import { badRequest, invalid, invalidField } from "../../protocol/refusal.ts";
import type { Definition, ScalePaths } from "../storage/definition.ts";
import { at, isObject, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";

const PATHS: ScalePaths = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };

function keysOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/** Returns the scale of an object: desired and current replicas (autoscaling/v1). */
export function scaleOf(definition: Definition, object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = objectOr(object.metadata);
  const { specReplicasPath, statusReplicasPath } = definition.scale ?? PATHS;
  const selector = selectorOf(definition, object);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberAt(object, specReplicasPath) ?? (definition.custom ? 0 : 1) },
    status: {
      replicas: numberAt(object, statusReplicasPath) ?? 0,
      ...(selector === "" ? {} : { selector }),
    },
  };
}

function numberAt(object: JsonObject, path: string): number | undefined {
  const value = at(object, ...keysOf(path));
  return typeof value === "number" ? value : undefined;
}

function selectorOf({ custom, scale, plural }: Definition, object: JsonObject): string {
  if (custom) {
    const path = scale?.labelSelectorPath;
    return path === undefined ? "" : textOf(at(object, ...keysOf(path)) ?? "");
  }
  const selector = objectOr(at(object, "spec", "selector"));
  const labels = plural === "replicationcontrollers" ? selector : objectOr(selector.matchLabels);
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`).sort().join(",");
}

/**
 * Returns an object with the replicas of a scale, and its resourceVersion if the scale has one.
 *
 * @throws {StatusError} 400 if the replicas are no integer, or the kind is not Scale; 422 if they are negative.
 */
export function scaled(definition: Definition, object: JsonObject, scale: JsonObject): JsonObject {
  const replicas = replicasOf(scale);
  const metadata: MutableJson = { ...objectOr(object.metadata) };
  const { resourceVersion } = objectOr(scale.metadata);
  if (resourceVersion !== undefined && resourceVersion !== "") metadata.resourceVersion = resourceVersion;
  return { ...withReplicas(definition, object, replicas), metadata };
}

/** Returns the configuration of an object that applying a scale to it means. */
export function scaledConfig(definition: Definition, name: string, scale: JsonObject): JsonObject {
  const { apiVersion, kind } = definition;
  const { resourceVersion } = objectOr(scale.metadata);
  const metadata = { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return withReplicas(definition, { apiVersion, kind, metadata }, replicasOf(scale));
}

function replicasOf(scale: JsonObject): number {
  const { replicas = 0 } = objectOr(scale.spec);
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    throw badRequest(`spec.replicas must be a number of replicas, found ${JSON.stringify(replicas)}`);
  }
  if (scale.kind !== undefined && scale.kind !== "Scale") {
    throw badRequest(`expected a Scale, found ${textOf(scale.kind)}`);
  }
  if (replicas < 0) {
    const name = textOf(objectOr(scale.metadata).name);
    const cause = invalidField("spec.replicas", String(replicas), "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", kind: "Scale", name }, [cause]);
  }
  return replicas;
}

function withReplicas({ scale }: Definition, object: JsonObject, replicas: number): JsonObject {
  const [member, ...rest] = keysOf((scale ?? PATHS).specReplicasPath);
  return { ...object, [member]: withNumber(object[member], rest, replicas) };
}

function withNumber(value: unknown, [member, ...rest]: readonly string[], replicas: number): JsonObject | number {
  if (member === undefined) return replicas;
  const object = isObject(value) ? value : {};
  return { ...object, [member]: withNumber(object[member], rest, replicas) };
}
