import { type Causes, forbiddenField } from "../http/refusal.ts";
import { at, equalJson, type Json, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import { numberOf, objectsOf, refuseValue } from "./checks.ts";
import { checkGenerated } from "./rules_batch.ts";
import { checkNewPod } from "./rules_pod.ts";
import type { Struct } from "./schema.ts";
import { CORE_UPDATES } from "./updates_core.ts";

/** Finds what an update of an object changes that cannot be changed. */
type Update = (old: JsonObject, object: JsonObject, causes: Causes) => void;

const IMMUTABLE = "field is immutable";

/** Returns a check: these fields stay as they are. */
function fixed(...paths: readonly string[]): Update {
  return (old, object, causes) => {
    for (const path of paths) {
      const names = path.split(".");
      const value = at(object, ...names) as Json | undefined;
      if (!equalJson(at(old, ...names), value)) refuseValue(causes, path, value, IMMUTABLE);
    }
  };
}

/** The members of its template that a job may change before its pods have begun. */
const DIRECTIVES = ["affinity", "nodeSelector", "tolerations", "schedulingGates"];

function withoutDirectives(template: Json | undefined): MutableJson {
  const { metadata: _, spec, ...rest } = objectOr(template) as MutableJson;
  const pod: MutableJson = { ...objectOr(spec) as MutableJson };
  for (const name of DIRECTIVES) delete pod[name];
  for (const name of ["containers", "initContainers"]) {
    if (Array.isArray(pod[name])) pod[name] = pod[name].map((one) => ({ ...objectOr(one), resources: null }));
  }
  return { ...rest, spec: pod };
}

const job: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.spec), objectOr(object.spec)];
  const { completions, parallelism, completionMode } = after;
  if (!equalJson(before.completions, completions)) {
    const why = completionMode === "Indexed" ? "can only be modified in tandem with spec.parallelism" : IMMUTABLE;
    if (completionMode !== "Indexed" || (completions !== undefined && completions !== parallelism)) {
      refuseValue(causes, "spec.completions", completions, why);
    }
  }
  fixed("spec.selector")(old, object, causes);
  const { startTime, active } = objectOr(old.status);
  const waits = before.suspend === true && startTime === undefined && numberOf(active) === 0;
  const same = waits
    ? equalJson(withoutDirectives(before.template), withoutDirectives(after.template))
    : equalJson(before.template, after.template);
  if (!same) refuseValue(causes, waits ? "spec.template.spec" : "spec.template", after.template, IMMUTABLE);
  fixed(
    "spec.completionMode",
    "spec.podFailurePolicy",
    "spec.backoffLimitPerIndex",
    "spec.managedBy",
    "spec.successPolicy",
  )(old, object, causes);
};

const TERMINAL = ["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"];

const jobStatus: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.status), objectOr(object.status)];
  const has = (status: JsonObject, type: string): boolean =>
    Array.isArray(status.conditions) &&
    status.conditions.map(objectOr).some((one) => one.type === type && one.status === "True");
  for (const type of TERMINAL) {
    if (!has(before, type) || has(after, type)) continue;
    const which = type === "SuccessCriteriaMet" ? "the" : "the terminal";
    const message = `Invalid value: cannot disable ${which} ${type}=True condition`;
    causes.push({ reason: "FieldValueInvalid", message, field: "status.conditions" });
  }
  const { suspend, completionMode } = objectOr(object.spec);
  for (const name of completionMode === "Indexed" ? ["failed"] : ["failed", "succeeded"]) {
    if (numberOf(after[name]) >= numberOf(before[name])) continue;
    refuseValue(causes, `status.${name}`, after[name] ?? 0, `cannot decrease the ${name} counter`);
  }
  if (before.completionTime !== undefined && after.completionTime !== undefined) {
    fixed("status.completionTime")(old, object, causes);
  }
  if (before.startTime !== undefined && suspend !== true && before.startTime !== after.startTime) {
    refuseValue(causes, "status.startTime", after.startTime, "field is immutable for unsuspended job once set");
  }
};

const priorityClass: Update = (old, object, causes) => {
  if (numberOf(old.value) !== numberOf(object.value)) {
    causes.push(forbiddenField("value", "may not be changed in an update."));
  }
  fixed("preemptionPolicy")(old, object, causes);
};

/** Returns a check: a counter of the status does not fall. */
const collisions: Update = (old, object, causes) => {
  const [before, after] = [objectOr(old.status).collisionCount, objectOr(object.status).collisionCount];
  if (numberOf(after) < numberOf(before)) {
    refuseValue(causes, "status.collisionCount", after ?? 0, "cannot be decremented");
  }
};

/** A definition whose names are taken keeps them. */
const definition: Update = (old, object, causes) => {
  fixed("spec.group", "spec.names.kind", "spec.names.plural", "spec.scope")(old, object, causes);
};

/** The checks of updates, by the name of the type. */
const UPDATES: Readonly<Record<string, readonly Update[]>> = {
  "apiextensions/v1.CustomResourceDefinition": [definition],
  "apps/v1.ControllerRevision": [fixed("data")],
  "apps/v1.DaemonSet": [fixed("spec.selector"), collisions],
  "apps/v1.Deployment": [fixed("spec.selector"), collisions],
  "apps/v1.ReplicaSet": [fixed("spec.selector")],
  "apps/v1.StatefulSet": [
    fixed("spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"),
    collisions,
  ],
  "batch/v1.Job": [job, jobStatus],
  "discovery/v1.EndpointSlice": [fixed("addressType")],
  "networking/v1.IngressClass": [fixed("spec.controller")],
  "rbac/v1.ClusterRoleBinding": [fixed("roleRef")],
  "rbac/v1.RoleBinding": [fixed("roleRef")],
  "scheduling/v1.PriorityClass": [priorityClass],
  "storage/v1.StorageClass": [fixed("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")],
};

/** Finds what a new object cannot have. */
export function validateCreate({ name }: Struct, object: JsonObject): Causes {
  const causes: Causes = [];
  if (name === "core/v1.Pod") checkNewPod(objectOr(object.spec), causes);
  if (name === "batch/v1.Job") checkGenerated(object, causes);
  return causes;
}

/** Finds what an update changes that cannot be changed. */
export function validateUpdate(schema: Struct, old: JsonObject, object: JsonObject): Causes {
  const causes: Causes = [];
  CORE_UPDATES[schema.name]?.(old, object, causes);
  for (const update of UPDATES[schema.name] ?? []) update(old, object, causes);
  return causes;
}

/** Checks an update by a subresource, beside what its object must fulfil: ephemeral containers stay. */
export function validatePart(subresource: string, old: JsonObject, object: JsonObject): Causes {
  if (subresource !== "ephemeralcontainers") return [];
  const names = objectsOf(objectOr(object.spec).ephemeralContainers).map(({ name }) => name);
  return objectsOf(objectOr(old.spec).ephemeralContainers).filter(({ name }) => !names.includes(name)).map(({ name }) =>
    forbiddenField(
      "spec.ephemeralContainers",
      `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`,
    )
  );
}
