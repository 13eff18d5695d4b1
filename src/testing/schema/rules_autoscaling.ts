import { parseQuantity } from "../../api/quantity.ts";
import { type Causes, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  atLeastZero,
  checkForm,
  checkOneOf,
  dnsLabel,
  numberOf,
  objectsOf,
  pathSegment,
  refuseValue,
  type Rule,
} from "./checks.ts";

/** The reference of a scaled or measured object. */
const reference: Rule = ({ kind, name, apiVersion }, at, causes) => {
  checkForm(kind, `${at}.kind`, pathSegment, causes);
  checkForm(name, `${at}.name`, pathSegment, causes);
  const slashes = textOf(apiVersion).split("/").length - 1;
  const why = slashes > 1
    ? `unexpected GroupVersion string: ${textOf(apiVersion)}`
    : "apiVersion must specify API group";
  if (slashes !== 1 && at === "spec.scaleTargetRef") refuseValue(causes, `${at}.apiVersion`, apiVersion ?? "", why);
};

const bounds: Rule = ({ minReplicas, maxReplicas, metrics }, at, causes) => {
  const [least, most] = [numberOf(minReplicas), numberOf(maxReplicas)];
  if (typeof minReplicas === "number" && least < 0) {
    refuseValue(causes, `${at}.minReplicas`, least, "must be greater than or equal to 0");
  }
  if (typeof minReplicas === "number" && most < least) {
    refuseValue(causes, `${at}.maxReplicas`, most, "must be greater than or equal to `minReplicas`");
  }
  if (most === 0) causes.push(requiredField(`${at}.maxReplicas`));
  if (most < 0) refuseValue(causes, `${at}.maxReplicas`, most, "must be greater than or equal to 1");
  const toZero = objectsOf(metrics).some(({ type }) => type === "Object" || type === "External");
  if (minReplicas === 0 && !toZero) {
    const why = "must specify at least one Object or External metric to support scaling to zero replicas";
    causes.push(forbiddenField(`${at}.metrics`, why));
  }
};

const TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/** The members of a metric, by its type, in the order in which the server looks at them. */
const SOURCES: readonly (readonly [type: string, member: string])[] = [
  ["Object", "object"],
  ["External", "external"],
  ["Pods", "pods"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
];

const metric: Rule = (spec, at, causes) => {
  const { type = "" } = spec;
  if (type === "") causes.push(requiredField(`${at}.type`, "must specify a metric source type"));
  checkOneOf(type, `${at}.type`, TYPES, causes);
  const present = SOURCES.filter(([, member]) => isObject(spec[member]));
  if (present.length > 0) {
    const [, member] = present[0];
    source(member, objectOr(spec[member]), `${at}.${member}`, causes);
  }
  const expected = SOURCES.find(([name]) => name === type)?.[1];
  if (expected !== undefined && !isObject(spec[expected])) {
    causes.push(requiredField(`${at}.${expected}`, "must populate information for the given metric source"));
  }
  if (present.length < 2) return;
  for (const [, member] of present) {
    if (member === expected) continue;
    causes.push(forbiddenField(`${at}.${member}`, "must populate the given metric source only"));
  }
};

/** The members of its target that a source needs: one of two members, with the text of each fault. */
const TARGETS: Readonly<Record<string, readonly [one: string, other: string, missing: string, both?: string]>> = {
  object: ["averageValue", "value", "must set either a target value or averageValue"],
  external: [
    "averageValue",
    "value",
    "must set either a target value for metric or a per-pod target",
    "may not set both a target value for metric and a per-pod target",
  ],
  pods: ["averageValue", "averageValue", "must specify a positive target averageValue"],
  resource: [
    "averageUtilization",
    "averageValue",
    "must set either a target raw value or a target utilization",
    "may not set both a target raw value and a target utilization",
  ],
};

function source(member: string, given: JsonObject, at: string, causes: Causes): void {
  const target = objectOr(given.target);
  if (member === "resource" || member === "containerResource") {
    if (textOf(given.name) === "") causes.push(requiredField(`${at}.name`, "must specify a resource name"));
    if (member === "containerResource") {
      if (textOf(given.container) === "") causes.push(requiredField(`${at}.container`, "must specify a container"));
      else checkForm(given.container, `${at}.container`, dnsLabel, causes);
    }
  } else {
    const { name = "" } = objectOr(given.metric);
    if (name === "") causes.push(requiredField(`${at}.metric.name`, "must specify a metric name"));
    else checkForm(name, `${at}.metric.name`, pathSegment, causes);
  }
  metricTarget(target, `${at}.target`, causes);
  const [one, other, missing, both] = TARGETS[member === "containerResource" ? "resource" : member];
  if (target[one] === undefined && target[other] === undefined) {
    causes.push(requiredField(`${at}.target.${one}`, missing));
  }
  if (both !== undefined && target[one] !== undefined && target[other] !== undefined) {
    causes.push(forbiddenField(`${at}.target.${other}`, both));
  }
}

const metricTarget: Rule = (target, at, causes) => {
  const { type = "", averageUtilization } = target;
  if (type === "") causes.push(requiredField(`${at}.type`, "must specify a metric target type"));
  if (!["Utilization", "Value", "AverageValue"].includes(textOf(type))) {
    refuseValue(causes, `${at}.type`, type, "must be either Utilization, Value, or AverageValue");
  }
  for (const name of ["value", "averageValue"]) {
    if (target[name] !== undefined && !isPositive(target[name])) {
      refuseValue(causes, `${at}.${name}`, target[name], "must be positive");
    }
  }
  if (typeof averageUtilization === "number" && averageUtilization < 1) {
    refuseValue(causes, `${at}.averageUtilization`, averageUtilization, "must be greater than 0");
  }
};

function isPositive(value: Json | undefined): boolean {
  return Number(parseQuantity(value as string | number)) > 0;
}

const scaling: Rule = ({ stabilizationWindowSeconds: window, selectPolicy, policies }, at, causes) => {
  const place = `${at}.stabilizationWindowSeconds`;
  if (numberOf(window) < 0) refuseValue(causes, place, window, "must be greater than or equal to zero");
  if (numberOf(window) > 3_600) refuseValue(causes, place, window, "must be less than or equal to 3600");
  if (selectPolicy !== undefined && !["Disabled", "Max", "Min"].includes(textOf(selectPolicy))) {
    causes.push(unsupportedField(`${at}.selectPolicy`, selectPolicy, ["Disabled", "Max", "Min"]));
  }
  if (objectsOf(policies).length === 0) {
    causes.push(requiredField(`${at}.policies`, "must specify at least one Policy"));
  }
};

const scalingPolicy: Rule = ({ type = "", value, periodSeconds }, at, causes) => {
  checkOneOf(type, `${at}.type`, ["Percent", "Pods"], causes);
  if (numberOf(value) <= 0) refuseValue(causes, `${at}.value`, numberOf(value), "must be greater than zero");
  const seconds = numberOf(periodSeconds);
  if (seconds <= 0) refuseValue(causes, `${at}.periodSeconds`, seconds, "must be greater than zero");
  if (seconds > 1_800) refuseValue(causes, `${at}.periodSeconds`, seconds, "must be less than or equal to 1800");
};

const status = atLeastZero("currentReplicas", "desiredReplicas");

/** The rules of the types of autoscaling/v1 and autoscaling/v2. */
export const AUTOSCALING_RULES: Readonly<Record<string, Rule>> = {
  "autoscaling/v1.CrossVersionObjectReference": reference,
  "autoscaling/v1.HorizontalPodAutoscalerSpec": bounds,
  "autoscaling/v1.HorizontalPodAutoscalerStatus": status,
  "autoscaling/v1.ScaleSpec": atLeastZero("replicas"),
  "autoscaling/v2.CrossVersionObjectReference": reference,
  "autoscaling/v2.HPAScalingPolicy": scalingPolicy,
  "autoscaling/v2.HPAScalingRules": scaling,
  "autoscaling/v2.HorizontalPodAutoscalerSpec": bounds,
  "autoscaling/v2.HorizontalPodAutoscalerStatus": status,
  "autoscaling/v2.MetricSpec": metric,
};
