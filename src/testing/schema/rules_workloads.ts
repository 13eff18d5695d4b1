import { type Causes, forbiddenField, requiredField, unsupportedField } from "../http/refusal.ts";
import { goJson, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import {
  all,
  atLeastZero,
  atMost,
  checkAnnotations,
  checkForm,
  checkLabels,
  checkOneOf,
  checkShare,
  cronFault,
  dnsLabel,
  domainPath,
  isEmptySelector,
  numberOf,
  objectsOf,
  refuseValue,
  type Rule,
  selects,
  shareOf,
  timeZoneFaults,
} from "./checks.ts";

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

const jobModes: Rule = (spec, at, causes) => {
  const { completionMode, backoffLimitPerIndex, maxFailedIndexes, completions, parallelism, managedBy } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    causes.push(requiredField(`${at}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  checkForm(managedBy, `${at}.managedBy`, domainPath, causes);
  checkOneOf(completionMode, `${at}.completionMode`, ["NonIndexed", "Indexed"], causes);
  if (completionMode === "Indexed") {
    if (completions === undefined) causes.push(requiredField(`${at}.completions`, "when completion mode is Indexed"));
    if (numberOf(parallelism) > 100_000) {
      const why = "must be less than or equal to 100000 when completion mode is Indexed";
      refuseValue(causes, `${at}.parallelism`, parallelism, why);
    }
    if (completions !== undefined && numberOf(maxFailedIndexes) > numberOf(completions)) {
      refuseValue(causes, `${at}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions");
    }
    return;
  }
  if (completionMode !== undefined && completionMode !== "NonIndexed") return;
  for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
    if (spec[name] !== undefined) refuseValue(causes, `${at}.${name}`, spec[name], "requires indexed completion mode");
  }
};

const REPLACEMENTS = ["Failed", "TerminatingOrFailed"];

const jobPolicies: Rule = (spec, at, causes) => {
  const { podFailurePolicy, podReplacementPolicy, successPolicy, completionMode } = spec;
  if (podFailurePolicy !== undefined) failurePolicy(spec, `${at}.podFailurePolicy.rules`, causes);
  if (successPolicy !== undefined) {
    if (completionMode !== "Indexed") {
      refuseValue(causes, `${at}.successPolicy`, successPolicy, "requires indexed completion mode");
    } else if (objectsOf(objectOr(successPolicy).rules).length === 0) {
      const why = "at least one rules must be specified when the successPolicy is specified";
      causes.push(requiredField(`${at}.successPolicy.rules`, why));
    }
  }
  const replacements = podFailurePolicy === undefined ? REPLACEMENTS : ["Failed"];
  checkOneOf(podReplacementPolicy, `${at}.podReplacementPolicy`, replacements, causes);
};

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];

const failurePolicy: Rule = ({ podFailurePolicy, backoffLimitPerIndex }, at, causes) => {
  objectsOf(objectOr(podFailurePolicy).rules).forEach(({ action, onExitCodes, onPodConditions }, index) => {
    const place = `${at}[${index}]`;
    const either = (why: string): number =>
      causes.push({ reason: "FieldValueInvalid", message: `Invalid value: ${why}`, field: place });
    const valid = `valid values: [${ACTIONS.map((text) => JSON.stringify(text)).join(" ")}]`;
    if (textOf(action) === "") causes.push(requiredField(`${place}.action`, valid));
    else if (action === "FailIndex" && backoffLimitPerIndex === undefined) {
      refuseValue(causes, `${place}.action`, action, "requires the backoffLimitPerIndex to be set");
    } else checkOneOf(action, `${place}.action`, ACTIONS, causes);
    if (isObject(onExitCodes)) exitCodes(onExitCodes, `${place}.onExitCodes`, causes);
    const conditions = objectsOf(onPodConditions).length > 0;
    if (isObject(onExitCodes) && conditions) {
      either("specifying both OnExitCodes and OnPodConditions is not supported");
    }
    if (!isObject(onExitCodes) && !conditions) {
      either("specifying one of OnExitCodes and OnPodConditions is required");
    }
  });
};

const exitCodes: Rule = ({ operator, values }, at, causes) => {
  if (textOf(operator) === "") causes.push(requiredField(`${at}.operator`, 'valid values: ["In" "NotIn"]'));
  else checkOneOf(operator, `${at}.operator`, ["In", "NotIn"], causes);
  const codes = Array.isArray(values) ? values.map(Number) : [];
  if (codes.length === 0) refuseValue(causes, `${at}.values`, codes, "at least one value is required");
  codes.forEach((code, index) => {
    if (code === 0 && operator === "In") {
      refuseValue(causes, `${at}.values[${index}]`, code, "must not be 0 for the In operator");
    }
  });
  if (codes.some((code, index) => code < codes[index - 1])) {
    refuseValue(causes, `${at}.values`, codes, "must be ordered");
  }
};

const jobRestarts: Rule = ({ template, podFailurePolicy }, at, causes) => {
  const place = `${at}.template.spec.restartPolicy`;
  const policy = textOf(objectOr(objectOr(template).spec).restartPolicy);
  if (policy === "Always" || policy === "") {
    causes.push(requiredField(place, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== "OnFailure" && policy !== "Never") {
    causes.push(unsupportedField(place, policy, ["OnFailure", "Never"]));
  } else if (podFailurePolicy !== undefined && policy !== "Never") {
    refuseValue(causes, place, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
};

/** The labels by which the server knows the pods of a job. */
export const JOB_LABELS = {
  name: ["job-name", "batch.kubernetes.io/job-name"],
  uid: ["controller-uid", "batch.kubernetes.io/controller-uid"],
};

/** Finds what a new job lacks of what the server generates. */
export const checkGenerated = ({ metadata, spec }: JsonObject, causes: Causes): void => {
  const { name, uid } = objectOr(metadata);
  const { selector, template, manualSelector } = objectOr(spec);
  if (manualSelector === true || selector === undefined) return;
  const { labels } = objectOr(objectOr(template).metadata);
  const expected: Record<string, string> = {};
  for (const key of JOB_LABELS.uid) expected[key] = textOf(uid);
  for (const key of JOB_LABELS.name) expected[key] = textOf(name);
  for (const [key, value] of Object.entries(expected)) {
    const found = objectOr(labels)[key];
    const place = `spec.template.metadata.labels`;
    if (found === undefined) causes.push(requiredField(`${place}[${key}]`, `must be '${value}'`));
    else if (found !== value) refuseValue(causes, `${place}[${key}]`, labels, `must be '${value}'`);
  }
  if (selects(selector, expected) === false) {
    refuseValue(causes, "spec.selector", selector, "`selector` not auto-generated");
  }
};

const job: Rule = ({ metadata, spec }, _, causes) => {
  const { name } = objectOr(metadata);
  const { selector, template, completionMode, completions } = objectOr(spec);
  const { labels } = objectOr(objectOr(template).metadata);
  if (selector === undefined) causes.push(requiredField("spec.selector"));
  if (selects(selector, labels) === false) {
    refuseValue(causes, "spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
  }
  if (completionMode === "Indexed" && numberOf(completions) > 0) {
    const last = `${textOf(name)}-${numberOf(completions) - 1}`;
    if (dnsLabel(last).length > 0) {
      refuseValue(causes, "metadata.name", name, `will not able to create pod with invalid DNS label: ${last}`);
    }
  }
};

/** The text of a fault of a status, which shows no value. */
function jobConditions(status: JsonObject): (type: string) => boolean {
  return (type) => objectsOf(status.conditions).some((one) => one.type === type && one.status === "True");
}

const CONDITIONS: readonly (readonly [set: string, with_: string, both: boolean, why: string])[] = [
  ["Complete", "Failed", true, "cannot set Complete=True and Failed=true conditions"],
  ["Complete", "FailureTarget", true, "cannot set Complete=True and FailureTarget=true conditions"],
  ["Failed", "FailureTarget", false, "cannot set Failed=True condition without the FailureTarget=true condition"],
  [
    "Complete",
    "SuccessCriteriaMet",
    false,
    "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
  ],
  ["SuccessCriteriaMet", "Failed", true, "cannot set SuccessCriteriaMet=True and Failed=true conditions"],
  ["SuccessCriteriaMet", "FailureTarget", true, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"],
];

const jobStatus: Rule = (status, at, causes) => {
  const { completionTime, startTime, active, ready, terminating } = status;
  const is = jobConditions(status);
  const finished = is("Complete") || is("Failed");
  for (const [set, other, both, why] of CONDITIONS) {
    if (!is(set) || is(other) !== both) continue;
    causes.push({ reason: "FieldValueInvalid", message: `Invalid value: ${why}`, field: `${at}.conditions` });
  }
  if (completionTime !== undefined && !is("Complete")) {
    const why = "cannot set completionTime when there is no Complete=True condition";
    refuseValue(causes, `${at}.completionTime`, completionTime, why);
  }
  if (completionTime === undefined && is("Complete")) {
    causes.push(requiredField(`${at}.completionTime`, "completionTime is required for Complete jobs"));
  }
  if (textOf(startTime) > textOf(completionTime) && completionTime !== undefined) {
    refuseValue(causes, `${at}.completionTime`, completionTime, "must be equal to or after `startTime`");
  }
  if (numberOf(active) > 0 && finished) {
    refuseValue(causes, `${at}.active`, active, "active>0 is invalid for finished job");
  }
  if (startTime === undefined && finished) {
    causes.push(requiredField(`${at}.startTime`, "startTime is required for finished job"));
  }
  if (numberOf(terminating) > 0 && finished) {
    refuseValue(causes, `${at}.terminating`, terminating, "terminating>0 is invalid for finished job");
  }
  if (numberOf(ready) > numberOf(active)) {
    refuseValue(causes, `${at}.ready`, ready, "cannot set more ready pods than active");
  }
};

const cronJob: Rule = ({ schedule, timeZone, concurrencyPolicy, jobTemplate }, at, causes) => {
  const text = textOf(schedule);
  const fault = text === "" ? undefined : cronFault(text);
  if (fault !== undefined) refuseValue(causes, `${at}.schedule`, text, fault);
  if (text.includes("TZ")) {
    refuseValue(causes, `${at}.schedule`, text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  }
  checkForm(timeZone, `${at}.timeZone`, timeZoneFaults, causes);
  checkOneOf(concurrencyPolicy, `${at}.concurrencyPolicy`, ["Allow", "Forbid", "Replace"], causes);
  const { selector, manualSelector } = objectOr(objectOr(jobTemplate).spec);
  const place = `${at}.jobTemplate.spec`;
  if (selector !== undefined) refuseValue(causes, `${place}.selector`, selector, "`selector` will be auto-generated");
  if (manualSelector === true) {
    causes.push(unsupportedField(`${place}.manualSelector`, manualSelector, ["nil", "false"]));
  }
};

const cronJobName: Rule = ({ metadata }, _, causes) => {
  const name = textOf(objectOr(metadata).name);
  if (name.length > 52) refuseValue(causes, "metadata.name", name, "must be no more than 52 characters");
};

/** The rules of the types of batch/v1. */
export const BATCH_RULES: Readonly<Record<string, Rule>> = {
  "batch/v1.CronJob": cronJobName,
  "batch/v1.CronJobSpec": all(
    cronJob,
    atLeastZero("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
  ),
  "batch/v1.Job": job,
  "batch/v1.JobSpec": all(
    atLeastZero(
      "parallelism",
      "completions",
      "activeDeadlineSeconds",
      "backoffLimit",
      "ttlSecondsAfterFinished",
      "backoffLimitPerIndex",
      "maxFailedIndexes",
    ),
    jobModes,
    jobPolicies,
    jobRestarts,
  ),
  "batch/v1.JobStatus": all(atLeastZero("active", "succeeded", "failed", "ready", "terminating"), jobStatus),
};
