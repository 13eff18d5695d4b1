import { badRequest } from "../http/refusal.ts";
import { isObject, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";

/** Returns the scale of an object: desired and current replicas (autoscaling/v1). */
export function scaleOf(object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = objectOr(object.metadata);
  const { replicas, selector } = objectOr(object.spec);
  const labels = Object.entries(objectOr(objectOr(selector).matchLabels)).map(([key, value]) => `${key}=${value}`);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: replicas ?? 1 },
    status: {
      replicas: objectOr(object.status).replicas ?? 0,
      ...(labels.length === 0 ? {} : { selector: labels.sort().join(",") }),
    },
  };
}

/**
 * Returns an object with the replicas of a scale, and its resourceVersion if the scale has one.
 *
 * @throws {StatusError} 400 if the replicas are not a non-negative integer, or the kind is not Scale.
 */
export function scaled(object: JsonObject, scale: JsonObject): JsonObject {
  const { replicas = 0 } = objectOr(scale.spec);
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    throw badRequest(`spec.replicas must be a number of replicas, found ${JSON.stringify(replicas)}`);
  }
  if (scale.kind !== undefined && scale.kind !== "Scale") {
    throw badRequest(`expected a Scale, found ${textOf(scale.kind)}`);
  }
  const metadata: MutableJson = { ...objectOr(object.metadata) };
  const { resourceVersion } = objectOr(scale.metadata);
  if (resourceVersion === undefined || resourceVersion === "") delete metadata.resourceVersion;
  else metadata.resourceVersion = resourceVersion;
  return { ...object, metadata, spec: { ...(isObject(object.spec) ? object.spec : {}), replicas } };
}
