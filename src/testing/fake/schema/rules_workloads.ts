/**
 * The rules of workloads and jobs that a schema does not say.
 *
 * {@linkcode APPS_RULES} and {@linkcode BATCH_RULES} are the entry points; `rules.ts` takes them into its table.
 *
 * @module
 */
import { LabelSelector, type LabelSelectorFields } from "../../../engine/api/selector.ts";
import { fieldCause } from "../../../engine/protocol/refusal.ts";
import { isObject, type Json } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import {
  allOf,
  checkAnnotations,
  checkLabels,
  checkShare,
  formed,
  noneBelowZero,
  numberOf,
  refuseValue,
  type Rule,
  rulesOf,
  shareOf,
  type TextForm,
  textIn,
} from "./checks.ts";

/** The five fields of a schedule: their least and greatest values, and names of these, from the least on. */
const FIELDS: readonly (readonly [least: number, most: number, names?: readonly string[]])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
  [0, 6, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]],
];

const NAMED =
  /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|every (?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+)$/;

/** A cron schedule. */
export const schedule: TextForm = (text) => {
  if (text.includes("TZ")) return ["cannot use TZ or CRON_TZ in schedule, use timeZone field instead"];
  if (NAMED.test(text)) return [];
  const given = text.split(/\s+/).filter((field) => field !== "");
  if (given.length !== 5) return [`expected exactly 5 fields, found ${given.length}: [${given.join(" ")}]`];
  const wrong = given.find((field, index) => !field.split(",").every((part) => isInRange(part, ...FIELDS[index])));
  return wrong === undefined ? [] : [`is no range of its field: ${wrong}`];
};

/** Returns true for `*`, `5`, `1-5` and `mon-fri/2`. */
function isInRange(part: string, least: number, most: number, names: readonly string[] = []): boolean {
  const [, first, last, step] = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
  if (first === undefined || Number(step) === 0) return false;
  if (first === "*" || first === "?") return true;
  const numberOf = (text: string): number => {
    const at = names.indexOf(text.toLowerCase());
    return at < 0 ? Number(text) : at + least;
  };
  const start = numberOf(first);
  const end = last === undefined ? start : numberOf(last);
  return start >= least && start <= end && end <= most;
}

/** The name of a time zone. */
export const timeZone: TextForm = (zone) => {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return [];
  } catch (error) {
    if (error instanceof RangeError) return [`unknown time zone ${zone}`];
    throw error;
  }
};

/** Returns true if a selector matches labels; undefined if it cannot be read. An absent selector matches nothing. */
function selects(selector: Json | undefined, labels: Json | undefined): boolean | undefined {
  if (!isObject(selector)) return false;
  try {
    return LabelSelector.from(selector as LabelSelectorFields).matches(objectOr(labels) as Record<string, string>);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The rules of an autoscaler; its metrics have none here. */
const autoscaler: Rule = ({ minReplicas, maxReplicas }, at, causes) => {
  const most = numberOf(maxReplicas);
  if (typeof minReplicas !== "number" || most >= minReplicas) return;
  refuseValue(causes, `${at}.maxReplicas`, most, "must be greater than or equal to `minReplicas`");
};

/** The rules of selector and template, which pods are made from. */
const podsOf: Rule = ({ selector, template }, at, causes) => {
  const { labels } = objectOr(objectOr(template).metadata);
  const { matchLabels, matchExpressions } = objectOr(selector);
  const conditions = Object.keys(objectOr(matchLabels)).length + objectsOf(matchExpressions).length;
  if (isObject(selector) && conditions === 0) {
    refuseValue(causes, `${at}.selector`, selector, "empty selector would select all pods");
  }
  const isSelected = selects(selector, labels);
  if (isSelected === false) refuseValue(causes, `${at}.template.metadata.labels`, labels, UNSELECTED);
  running(objectOr(template), `${at}.template`, causes);
};

/** Also reports selectors that cannot be read, and then looks no further. */
const podsOfReadable: Rule = (spec, at, causes) => {
  const { selector } = spec;
  if (!isObject(selector) || selects(selector, {}) !== undefined) podsOf(spec, at, causes);
  else refuseValue(causes, `${at}.selector`, selector, "invalid label selector");
};

const UNSELECTED = "`selector` does not match template `labels`";

/** Pods that are replaced run until then. */
const running = rulesOf({
  "spec.restartPolicy": textIn("Always"),
  "spec.activeDeadlineSeconds": (_, at, causes) => {
    causes.push(fieldCause.forbidden(at, "activeDeadlineSeconds is not Supported"));
  },
});

/** Returns a rule of a strategy: its type, and what the parameters of rolling updates must be. */
function strategy(other: string, wrong: "Invalid" | "NotSupported", rolling: Rule): Rule {
  return (object, at, causes) => {
    const { type, rollingUpdate } = object;
    const place = `${at}.rollingUpdate`;
    if (type === "RollingUpdate") return rolling(objectOr(rollingUpdate), place, causes);
    if (type !== other) {
      if (wrong === "Invalid") refuseValue(causes, at, object, `must be 'RollingUpdate' or '${other}'`);
      else causes.push(fieldCause.unsupported(at, object, ["RollingUpdate", other]));
    } else if (rollingUpdate !== undefined && other === "Recreate") {
      causes.push(fieldCause.forbidden(place, "may not be specified when strategy `type` is 'Recreate'"));
    } else if (rollingUpdate !== undefined && wrong === "Invalid") {
      refuseValue(causes, place, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
    }
  };
}

const rollingDeployment: Rule = ({ maxUnavailable, maxSurge }, at, causes) => {
  checkShare(maxUnavailable, `${at}.maxUnavailable`, causes);
  checkShare(maxSurge, `${at}.maxSurge`, causes, Infinity);
  if (shareOf(maxUnavailable) === 0 && shareOf(maxSurge) === 0) {
    refuseValue(causes, `${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0");
  }
};

const deadline: Rule = ({ progressDeadlineSeconds: deadline, minReadySeconds = 0 }, at, causes) => {
  if (typeof deadline === "number" && deadline <= Number(minReadySeconds)) {
    refuseValue(causes, `${at}.progressDeadlineSeconds`, deadline, "must be greater than minReadySeconds");
  }
};

const statefulSet: Rule = ({ podManagementPolicy: policy }, at, causes) => {
  if (policy === undefined || policy === "OrderedReady" || policy === "Parallel") return;
  refuseValue(causes, `${at}.podManagementPolicy`, policy, "must be 'OrderedReady' or 'Parallel'");
};

/** The server names labels and annotations of a template without its metadata. */
const template: Rule = ({ metadata }, at, causes) => {
  const { labels, annotations } = objectOr(metadata);
  if (labels !== undefined) checkLabels(labels, `${at}.labels`, causes);
  if (annotations !== undefined) checkAnnotations(annotations, `${at}.annotations`, causes);
};

const kept = textIn("Retain", "Delete");

/** The rules of the types of apps/v1, of the templates of their pods, and of their scaling. */
export const APPS_RULES: Readonly<Record<string, Rule>> = {
  "apps/v1.DaemonSetSpec": allOf(podsOf, noneBelowZero),
  "apps/v1.DaemonSetStatus": noneBelowZero,
  "apps/v1.DaemonSetUpdateStrategy": strategy("OnDelete", "NotSupported", noneBelowZero),
  "apps/v1.DeploymentSpec": allOf(podsOfReadable, noneBelowZero, deadline),
  "apps/v1.DeploymentStatus": noneBelowZero,
  "apps/v1.DeploymentStrategy": strategy("Recreate", "NotSupported", rollingDeployment),
  "apps/v1.ReplicaSetSpec": allOf(podsOfReadable, noneBelowZero),
  "apps/v1.ReplicaSetStatus": noneBelowZero,
  "apps/v1.StatefulSetOrdinals": noneBelowZero,
  "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy": rulesOf({ whenDeleted: kept, whenScaled: kept }),
  "apps/v1.StatefulSetSpec": allOf(podsOfReadable, noneBelowZero, statefulSet, rulesOf({ serviceName: "dnsLabel" })),
  "apps/v1.StatefulSetStatus": noneBelowZero,
  "apps/v1.StatefulSetUpdateStrategy": strategy("OnDelete", "Invalid", noneBelowZero),
  "core/v1.PodTemplateSpec": template,
  "autoscaling/v1.HorizontalPodAutoscalerSpec": autoscaler,
  "autoscaling/v2.HorizontalPodAutoscalerSpec": autoscaler,
};

const jobRestarts: Rule = ({ template, podFailurePolicy }, at, causes) => {
  const place = `${at}.template.spec.restartPolicy`;
  const policy = textOf(objectOr(objectOr(template).spec).restartPolicy);
  if (policy === "Always" || policy === "") {
    causes.push(fieldCause.required(place, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== "OnFailure" && policy !== "Never") {
    causes.push(fieldCause.unsupported(place, policy, ["OnFailure", "Never"]));
  } else if (podFailurePolicy !== undefined && policy !== "Never") {
    refuseValue(causes, place, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
};

/** The labels by which the server knows the pods of a job. */
export const JOB_LABELS = {
  name: ["job-name", "batch.kubernetes.io/job-name"],
  uid: ["controller-uid", "batch.kubernetes.io/controller-uid"],
};

const job: Rule = ({ spec }, _, causes) => {
  const { selector, template } = objectOr(spec);
  const { labels } = objectOr(objectOr(template).metadata);
  if (selector === undefined) causes.push(fieldCause.required("spec.selector"));
  if (selects(selector, labels) === false) {
    refuseValue(causes, "spec.template.metadata.labels", labels, UNSELECTED);
  }
};

const cronJobName: Rule = ({ metadata }, _, causes) => {
  const name = textOf(objectOr(metadata).name);
  if (name.length > 52) refuseValue(causes, "metadata.name", name, "must be no more than 52 characters");
};

/** The rules of the types of batch/v1. */
export const BATCH_RULES: Readonly<Record<string, Rule>> = {
  "batch/v1.CronJob": cronJobName,
  "batch/v1.CronJobSpec": allOf(
    rulesOf({ schedule: formed(schedule), timeZone: formed(timeZone) }),
    noneBelowZero,
  ),
  "batch/v1.Job": job,
  "batch/v1.JobSpec": allOf(noneBelowZero, jobRestarts),
  "batch/v1.JobStatus": noneBelowZero,
};
