/**
 * The two forms of one object: events of core/v1 and events.k8s.io/v1, autoscalers of autoscaling/v1 and v2.
 *
 * {@linkcode convert} is the entry point; the store writes both forms at once. Other kinds have one form.
 *
 * @module
 */
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { objectOr, objectsOf } from "../../../engine/api/members.ts";

/** The ids of the two resources of events, which are one collection: a write to one of them writes to the other. */
const CORE = "/v1/events";
const NEWER = "events.k8s.io/v1/events";

/** The members of an event of events.k8s.io/v1, in their order, and their names in core/v1. */
const NEWER_MEMBERS = ("eventTime series reportingController=reportingComponent reportingInstance action reason " +
  "regarding=involvedObject related note=message type deprecatedSource=source deprecatedFirstTimestamp=firstTimestamp " +
  "deprecatedLastTimestamp=lastTimestamp deprecatedCount=count").split(" ").map((pair) => {
    const [name, core = name] = pair.split("=");
    return [name, core] as const;
  });

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

const HPA = "autoscaling/v1/horizontalpodautoscalers";
const NEWER_HPA = "autoscaling/v2/horizontalpodautoscalers";

/** The ids of resources that have the same objects in another form. */
export const OTHER_FORMS: Readonly<Record<string, string>> = {
  [CORE]: NEWER,
  [NEWER]: CORE,
  [HPA]: NEWER_HPA,
  [NEWER_HPA]: HPA,
};

/**
 * Returns an object of one form in the other one, that of the resource `id`, as kube-apiserver converts it. `before` is
 * the existing object in that form. Autoscalers of v1 have the metric of the CPU alone: the others, the behavior and
 * the conditions are those of `before`.
 */
export function convert(object: JsonObject, id: string, before: JsonObject | undefined): MutableJson {
  if (id === HPA) return olderAutoscaler(object);
  return id === NEWER_HPA ? newerAutoscaler(object, before ?? {}) : convertEvent(object, id);
}

function olderAutoscaler({ metadata, spec, status }: JsonObject): MutableJson {
  const { metrics, behavior: _, ...rest } = objectOr(spec);
  const { currentMetrics, conditions: __, ...counts } = objectOr(status);
  const [target] = objectsOf(metrics).filter(isCpu).map((metric) => objectOr(objectOr(metric.resource).target));
  const current = objectsOf(currentMetrics).filter(isCpu).map((metric) => objectOr(objectOr(metric.resource).current))
    .at(0);
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: { ...rest, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target.averageUtilization }) },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...counts,
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current.averageUtilization }),
    },
  };
}

function newerAutoscaler({ metadata, spec, status }: JsonObject, before: JsonObject): MutableJson {
  const { targetCPUUtilizationPercentage: target, ...rest } = objectOr(spec);
  const { currentCPUUtilizationPercentage: current, ...counts } = objectOr(status);
  const [old, oldStatus] = [objectOr(before.spec), objectOr(before.status)];
  const metrics = [...cpu("target", target), ...others(old.metrics)];
  const currentMetrics = [...cpu("current", current), ...others(oldStatus.currentMetrics)];
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: "autoscaling/v2",
    metadata,
    spec: {
      ...rest,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(old.behavior === undefined ? {} : { behavior: old.behavior }),
    },
    status: {
      ...counts,
      currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
      ...(oldStatus.conditions === undefined ? {} : { conditions: oldStatus.conditions }),
    },
  };
}

function cpu(member: "target" | "current", percentage: Json | undefined): JsonObject[] {
  if (percentage === undefined) return [];
  const value = { ...(member === "target" ? { type: "Utilization" } : {}), averageUtilization: percentage };
  return [{ type: "Resource", resource: { name: "cpu", [member]: value } }];
}

function others(value: Json | undefined): JsonObject[] {
  return objectsOf(value).filter((metric) => !isCpu(metric));
}

function isCpu({ type, resource }: JsonObject): boolean {
  const { name, target, current } = objectOr(resource);
  return type === "Resource" && name === "cpu" && objectOr(target ?? current).averageUtilization !== undefined;
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
