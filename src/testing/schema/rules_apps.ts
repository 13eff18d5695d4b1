import { forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { goJson, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  all,
  atLeastZero,
  atMost,
  checkAnnotations,
  checkForm,
  checkLabels,
  checkShare,
  isEmptySelector,
  refuseValue,
  type Rule,
  selects,
  shareOf,
} from "./checks.ts";
import { dnsLabel } from "./forms.ts";

/** The fault of a selector that cannot be read; undefined: the kind reports none. */
type SelectorFault = string | undefined;

/** The rules of selector and template, which pods are made from. */
function podsOf(kind: string, says: string, fault: SelectorFault): Rule {
  return ({ selector, template }, at, causes) => {
    const { metadata, spec } = objectOr(template);
    const { restartPolicy, activeDeadlineSeconds } = objectOr(spec);
    const labels = objectOr(metadata).labels;
    if (isObject(selector) && isEmptySelector(selector)) {
      refuseValue(causes, `${at}.selector`, selector, `empty selector is invalid for ${says}`);
    }
    const selected = selects(selector, labels);
    if (selected === undefined && fault !== undefined) {
      causes.push({
        reason: "FieldValueInvalid",
        message: `Invalid value: ${goJson(selector)}${fault}`,
        field: `${at}.selector`,
      });
      return;
    }
    const place = `${at}.template`;
    if (selected === false) {
      refuseValue(causes, `${place}.metadata.labels`, labels, "`selector` does not match template `labels`");
    }
    if (restartPolicy !== undefined && restartPolicy !== "Always") {
      causes.push(unsupportedField(`${place}.spec.restartPolicy`, restartPolicy, ["Always"]));
    }
    if (activeDeadlineSeconds !== undefined) {
      const why = `activeDeadlineSeconds in ${kind} is not Supported`;
      causes.push(forbiddenField(`${place}.spec.activeDeadlineSeconds`, why));
    }
  };
}

const REPLICAS = "cannot be greater than status.replicas";
const READY = "cannot be greater than readyReplicas";

/** Returns a strategy as the server's own type of it is printed. */
function strategyText({ type, rollingUpdate }: JsonObject): JsonObject {
  return { Type: type ?? "", RollingUpdate: rollingUpdate ?? null };
}

const deploymentStrategy: Rule = (strategy, at, causes) => {
  const { type, rollingUpdate } = strategy;
  if (type === "Recreate") {
    if (rollingUpdate === undefined) return;
    const why = "may not be specified when strategy `type` is 'Recreate'";
    causes.push(forbiddenField(`${at}.rollingUpdate`, why));
  } else if (type === "RollingUpdate") {
    const { maxUnavailable, maxSurge } = objectOr(rollingUpdate);
    const place = `${at}.rollingUpdate.maxUnavailable`;
    checkShare(maxUnavailable, place, causes);
    checkShare(maxSurge, `${at}.rollingUpdate.maxSurge`, causes, Infinity);
    if (shareOf(maxUnavailable) === 0 && shareOf(maxSurge) === 0) {
      refuseValue(causes, place, maxUnavailable, "may not be 0 when `maxSurge` is 0");
    }
  } else causes.push(unsupportedField(at, strategyText(strategy), ["Recreate", "RollingUpdate"]));
};

const daemonSetStrategy: Rule = (strategy, at, causes) => {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return;
  if (type !== "RollingUpdate") {
    causes.push(unsupportedField(at, strategyText(strategy), ["RollingUpdate", "OnDelete"]));
    return;
  }
  const { maxUnavailable, maxSurge } = objectOr(rollingUpdate);
  const place = `${at}.rollingUpdate`;
  checkShare(maxUnavailable, `${place}.maxUnavailable`, causes);
  checkShare(maxSurge, `${place}.maxSurge`, causes);
  const [unavailable, surge] = [shareOf(maxUnavailable) !== 0, shareOf(maxSurge) !== 0];
  if (unavailable && surge) {
    refuseValue(causes, `${place}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero");
  }
  if (!unavailable && !surge) {
    causes.push(requiredField(`${place}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
};

const statefulSetStrategy: Rule = (strategy, at, causes) => {
  const { type, rollingUpdate } = strategy;
  const given = objectOr(rollingUpdate);
  const place = `${at}.rollingUpdate`;
  if (type === "OnDelete") {
    const shown = { Partition: given.partition ?? 0, MaxUnavailable: given.maxUnavailable ?? null };
    if (rollingUpdate !== undefined) {
      refuseValue(causes, place, shown, "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (type === "RollingUpdate") {
    atLeastZero("partition")(given, place, causes);
    checkShare(given.maxUnavailable, `${place}.maxUnavailable`, causes);
    if (given.maxUnavailable !== undefined && shareOf(given.maxUnavailable) === 0) {
      refuseValue(causes, `${place}.maxUnavailable`, given.maxUnavailable, "cannot be 0");
    }
  } else refuseValue(causes, at, strategyText(strategy), "must be 'RollingUpdate' or 'OnDelete'");
};

const deadline: Rule = ({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }, at, causes) => {
  if (typeof deadline === "number" && deadline <= Number(minReadySeconds)) {
    refuseValue(causes, `${at}.progressDeadlineSeconds`, deadline, "must be greater than minReadySeconds");
  }
};

const statefulSet: Rule = ({ podManagementPolicy: policy, ordinals, serviceName }, at, causes) => {
  if (policy !== undefined && policy !== "OrderedReady" && policy !== "Parallel") {
    refuseValue(causes, `${at}.podManagementPolicy`, policy, "must be 'OrderedReady' or 'Parallel'");
  }
  atLeastZero("start")(objectOr(ordinals), `${at}.ordinals`, causes);
  if (textOf(serviceName) !== "") checkForm(serviceName, `${at}.serviceName`, dnsLabel, causes);
};

const RETENTION = ["Retain", "Delete"];

const retention: Rule = (policy, at, causes) => {
  for (const name of ["whenDeleted", "whenScaled"]) {
    const value = policy[name];
    if (value !== undefined && !RETENTION.includes(textOf(value))) {
      causes.push(unsupportedField(`${at}.${name}`, value, RETENTION));
    }
  }
};

const revision: Rule = ({ data }, _, causes) => {
  if (data === undefined || data === null) causes.push(requiredField("data", "data is mandatory"));
  else if (!isObject(data)) causes.push(requiredField("data", "data must be a valid JSON object"));
};

/** The server names labels and annotations of a template without its metadata. */
const template: Rule = ({ metadata }, at, causes) => {
  const { labels, annotations } = objectOr(metadata);
  if (labels !== undefined) checkLabels(labels, `${at}.labels`, causes);
  if (annotations !== undefined) checkAnnotations(annotations, `${at}.annotations`, causes);
};

const COUNTS = ["replicas", "readyReplicas", "availableReplicas", "observedGeneration", "collisionCount"];

/** The rules of the types of apps/v1, and of the templates of their pods. */
export const APPS_RULES: Readonly<Record<string, Rule>> = {
  "apps/v1.ControllerRevision": all(atLeastZero("revision"), revision),
  "apps/v1.DaemonSetSpec": all(
    podsOf("DaemonSet", "daemonset", undefined),
    atLeastZero("minReadySeconds", "revisionHistoryLimit"),
  ),
  "apps/v1.DaemonSetStatus": atLeastZero(
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ),
  "apps/v1.DaemonSetUpdateStrategy": daemonSetStrategy,
  "apps/v1.DeploymentSpec": all(
    atLeastZero("replicas"),
    podsOf("ReplicaSet", "deployment", ": invalid label selector"),
    atLeastZero("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
    deadline,
  ),
  "apps/v1.DeploymentStatus": all(
    atLeastZero(...COUNTS, "updatedReplicas", "unavailableReplicas", "terminatingReplicas"),
    atMost("replicas", REPLICAS, "updatedReplicas", "readyReplicas", "availableReplicas"),
    atMost("readyReplicas", READY, "availableReplicas"),
  ),
  "apps/v1.DeploymentStrategy": deploymentStrategy,
  "apps/v1.ReplicaSetSpec": all(
    atLeastZero("replicas", "minReadySeconds"),
    podsOf("ReplicaSet", "deployment", ": invalid label selector"),
  ),
  "apps/v1.ReplicaSetStatus": all(
    atLeastZero(...COUNTS, "fullyLabeledReplicas", "terminatingReplicas"),
    atMost("replicas", REPLICAS, "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    atMost("readyReplicas", READY, "availableReplicas"),
  ),
  "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy": retention,
  "apps/v1.StatefulSetSpec": all(
    statefulSet,
    atLeastZero("replicas", "minReadySeconds"),
    podsOf("StatefulSet", "statefulset", ""),
  ),
  "apps/v1.StatefulSetStatus": all(
    atLeastZero(...COUNTS, "currentReplicas", "updatedReplicas"),
    atMost("replicas", REPLICAS, "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    atMost("readyReplicas", "cannot be greater than status.readyReplicas", "availableReplicas"),
  ),
  "apps/v1.StatefulSetUpdateStrategy": statefulSetStrategy,
  "core/v1.PodTemplateSpec": template,
};
