import { parseQuantity } from "../../api/quantity.ts";
import { forbiddenField, requiredField } from "../http/refusal.ts";
import { isObject, objectOr, textOf } from "../wire/json.ts";
import {
  all,
  atLeast,
  between,
  type Check,
  dnsLabel,
  fields,
  formed,
  noneBelowZero,
  numberOf,
  objectsOf,
  oneOf,
  pathSegment,
  present,
  refuseValue,
  type Rule,
} from "./checks.ts";

/** The reference of a scaled or measured object. */
const reference: Rule = ({ apiVersion }, at, causes) => {
  const slashes = textOf(apiVersion).split("/").length - 1;
  if (slashes === 1 || at !== "spec.scaleTargetRef") return;
  const why = slashes > 1
    ? `unexpected GroupVersion string: ${textOf(apiVersion)}`
    : "apiVersion must specify API group";
  refuseValue(causes, `${at}.apiVersion`, apiVersion ?? "", why);
};

const bounds: Rule = ({ minReplicas, maxReplicas, metrics }, at, causes) => {
  const most = numberOf(maxReplicas);
  if (typeof minReplicas === "number" && most < minReplicas) {
    refuseValue(causes, `${at}.maxReplicas`, most, "must be greater than or equal to `minReplicas`");
  }
  const toZero = objectsOf(metrics).some(({ type }) => type === "Object" || type === "External");
  if (minReplicas === 0 && !toZero) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    causes.push(forbiddenField(`${at}.metrics`, why));
  }
};

/** The members of a metric, by its type, and members of its target, of which it needs one. */
const SOURCES: Readonly<Record<string, readonly [member: string, one: string, other?: string]>> = {
  Object: ["object", "averageValue", "value"],
  External: ["external", "averageValue", "value"],
  Pods: ["pods", "averageValue"],
  Resource: ["resource", "averageUtilization", "averageValue"],
  ContainerResource: ["containerResource", "averageUtilization", "averageValue"],
};

const metric: Rule = (spec, at, causes) => {
  const [expected, one, other = one] = SOURCES[textOf(spec.type)] ?? [];
  if (expected === undefined) return;
  for (const [member] of Object.values(SOURCES)) {
    if (member === expected || !isObject(spec[member])) continue;
    causes.push(forbiddenField(`${at}.${member}`, "must populate the given metric source only"));
  }
  const source = spec[expected];
  if (!isObject(source)) {
    causes.push(requiredField(`${at}.${expected}`, "must populate information for the given metric source"));
    return;
  }
  const target = objectOr(source.target);
  const place = `${at}.${expected}.target`;
  if (target[one] === undefined && target[other] === undefined) {
    causes.push(requiredField(`${place}.${one}`, `must set ${one} or ${other}`));
  } else if (one !== other && target[one] !== undefined && target[other] !== undefined && expected !== "object") {
    causes.push(forbiddenField(`${place}.${other}`, `may not set both ${one} and ${other}`));
  }
};

const positive: Check = (value, at, causes) => {
  if (Number(parseQuantity(value as string | number)) <= 0) refuseValue(causes, at, value, "must be positive");
};

const name = formed(pathSegment);
const target = all(reference, fields({ kind: name, name }));
const spec = all(bounds, fields({ minReplicas: atLeast(0), "maxReplicas!": atLeast(1) }));

/** The rules of the types of autoscaling/v1 and autoscaling/v2. */
export const AUTOSCALING_RULES: Readonly<Record<string, Rule>> = {
  "autoscaling/v1.CrossVersionObjectReference": target,
  "autoscaling/v1.HorizontalPodAutoscalerSpec": spec,
  "autoscaling/v1.ScaleSpec": noneBelowZero,
  "autoscaling/v2.CrossVersionObjectReference": target,
  "autoscaling/v2.ContainerResourceMetricSource": fields({ container: formed(dnsLabel) }),
  "autoscaling/v2.HPAScalingPolicy": fields({ value: atLeast(1), periodSeconds: between(1, 1_800) }),
  "autoscaling/v2.HPAScalingRules": fields({
    stabilizationWindowSeconds: between(0, 3_600),
    selectPolicy: oneOf("Disabled", "Max", "Min"),
    "policies!": present,
  }),
  "autoscaling/v2.HorizontalPodAutoscalerSpec": spec,
  "autoscaling/v2.MetricIdentifier": fields({ name }),
  "autoscaling/v2.MetricSpec": metric,
  "autoscaling/v2.MetricTarget": fields({ value: positive, averageValue: positive, averageUtilization: atLeast(1) }),
};
