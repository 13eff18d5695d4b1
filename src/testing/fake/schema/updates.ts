/**
 * The fields that a new object cannot have, and those that an update cannot change.
 *
 * {@linkcode validateCreate} and {@linkcode validateUpdate} are the entry points. What an object must look like at any
 * time is checked in `validate.ts`.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { hasWrongBundle } from "../../../operator/schema/values/client_config.ts";
import { equalJson, type Json, type JsonObject, type MutableJson } from "../../../engine/api/json.ts";
import { memberAt, objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";
import { refuseValue } from "./checks.ts";
import type { Struct } from "../../../operator/schema/values/object_schema.ts";

/** Finds what an update changes that cannot be changed. */
type UpdateRule = (old: JsonObject, object: JsonObject, causes: Causes) => void;

const IMMUTABLE = "field is immutable";

/** Reports members that differ once an object says that it is immutable. */
function checkSealed(old: JsonObject, object: JsonObject, names: readonly string[], causes: Causes): void {
  if (old.immutable !== true) return;
  const why = `${IMMUTABLE} when \`immutable\` is set`;
  if (object.immutable !== true) causes.push(fieldCause.forbidden("immutable", why));
  for (const name of names) {
    if (!equalJson(objectOr(old[name]), objectOr(object[name]))) causes.push(fieldCause.forbidden(name, why));
  }
}

const POD_FIELDS = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
  "`spec.tolerations` (only additions to existing tolerations)";

/** The members of a pod that cannot be changed. */
function fixedMembers(spec: JsonObject): JsonObject {
  const { activeDeadlineSeconds: _, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  const plain = (list: Json | undefined): readonly JsonObject[] =>
    objectsOf(list).map(({ image: _, ...others }) => others);
  return { ...rest, containers: plain(rest.containers), initContainers: plain(rest.initContainers) };
}

function checkDeadline(old: Json | undefined, value: Json | undefined, causes: Causes): void {
  if (typeof old !== "number" || (typeof value === "number" && value <= old)) return;
  refuseValue(causes, "spec.activeDeadlineSeconds", value, "must be less than or equal to previous value");
}

const pod: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  for (const list of ["containers", "initContainers"]) {
    const containers = objectsOf(spec[list]);
    if (containers.length !== objectsOf(before[list]).length) {
      causes.push(fieldCause.forbidden(`spec.${list}`, "pod updates may not add or remove containers"));
      return;
    }
    containers.forEach(({ image }, index) => {
      const place = `spec.${list}[${index}].image`;
      const text = textOf(image);
      if (text === "") causes.push(fieldCause.required(place));
      if (text !== text.trim()) refuseValue(causes, place, text, "must not have leading or trailing whitespace");
    });
  }
  checkDeadline(before.activeDeadlineSeconds, spec.activeDeadlineSeconds, causes);
  if (equalJson(fixedMembers(before), fixedMembers(spec))) return;
  causes.push(fieldCause.forbidden("spec", `pod updates may not change fields other than ${POD_FIELDS}\n`));
};

const service: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  const place = "spec.clusterIPs[0]";
  const [ip] = textsOf(before.clusterIPs);
  const ips = textsOf(spec.clusterIPs);
  if (ip !== undefined && before.type !== "ExternalName" && spec.type !== "ExternalName") {
    if (ips.length === 0) refuseValue(causes, place, ips, "primary clusterIP can not be unset");
    else if (ips[0] !== ip) refuseValue(causes, place, ips, "may not change once set");
  }
};

const claim: UpdateRule = (old, object, causes) => {
  const [before, spec] = [objectOr(old.spec), objectOr(object.spec)];
  const next: MutableJson = { ...spec };
  if (!before.volumeName) delete next.volumeName;
  if (before.storageClassName === undefined) delete next.storageClassName;
  if (objectOr(object.status).phase === "Bound") {
    next.resources = { ...objectOr(spec.resources), requests: objectOr(before.resources).requests };
  }
  if (!equalJson(next, before)) {
    const why =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";
    causes.push(fieldCause.forbidden("spec", why));
  }
  if (before.volumeMode !== spec.volumeMode) refuseValue(causes, "volumeMode", spec.volumeMode, IMMUTABLE);
};

/** Returns a check: these fields stay as they are. The refusal does not show the value of a path with `!`. */
function fixed(...paths: readonly string[]): UpdateRule {
  return (old, object, causes) => {
    for (const path of paths) {
      const names = path.replace("!", "").split(".");
      const value = memberAt(object, ...names) as Json | undefined;
      if (equalJson(memberAt(old, ...names), value)) continue;
      refuseValue(causes, names.join("."), path.endsWith("!") ? null : value, IMMUTABLE);
    }
  };
}

const JOB_FIELDS = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
  .map((name) => `spec.${name}`);

const job: UpdateRule = (old, object, causes) => {
  const [before, after] = [objectOr(old.spec), objectOr(object.spec)];
  const { completions, parallelism, completionMode } = after;
  if (!equalJson(before.completions, completions)) {
    const why = completionMode === "Indexed" ? "can only be modified in tandem with spec.parallelism" : IMMUTABLE;
    if (completionMode !== "Indexed" || (completions !== undefined && completions !== parallelism)) {
      refuseValue(causes, "spec.completions", completions, why);
    }
  }
  fixed("spec.selector")(old, object, causes);
  // A job that waits may get other directives of scheduling.
  const waits = before.suspend === true && objectOr(old.status).startTime === undefined;
  if (!waits) fixed("spec.template")(old, object, causes);
  fixed(...JOB_FIELDS)(old, object, causes);
};

const selector = fixed("spec.selector");

/** The checks of updates, by the name of the type. */
const UPDATES: Readonly<Record<string, readonly UpdateRule[]>> = {
  "apiextensions/v1.CustomResourceDefinition": [
    fixed("spec.group", "spec.names.kind", "spec.names.plural", "spec.scope"),
    (old, object, causes) => {
      if (hasWrongBundle(old) || !hasWrongBundle(object)) return;
      const { caBundle } = memberAt(object, "spec", "conversion", "webhook", "clientConfig") as JsonObject;
      const why = "unable to load root certificates: unable to parse bytes as PEM block";
      refuseValue(causes, "spec.conversion.webhookClientConfig.caBundle", caBundle, why);
    },
    (_, object, causes) => {
      const names = objectsOf(memberAt(object, "spec", "versions")).map(({ name }) => textOf(name));
      textsOf(memberAt(object, "status", "storedVersions")).forEach((stored, index) => {
        if (names.includes(stored)) return;
        const why = `missing from spec.versions; ${stored} was previously a storage version, and must remain in ` +
          "spec.versions until a storage migration ensures no data remains persisted in " +
          `${stored} and removes ${stored} from status.storedVersions`;
        refuseValue(causes, `status.storedVersions[${index}]`, stored, why);
      });
    },
  ],
  "apps/v1.ControllerRevision": [fixed("data")],
  "apps/v1.DaemonSet": [selector],
  "apps/v1.Deployment": [selector],
  "apps/v1.ReplicaSet": [selector],
  "batch/v1.Job": [job],
  "core/v1.ConfigMap": [(old, object, causes) => checkSealed(old, object, ["data", "binaryData"], causes)],
  "core/v1.PersistentVolume": [fixed("spec.volumeMode")],
  "core/v1.PersistentVolumeClaim": [claim],
  "core/v1.Pod": [pod],
  "core/v1.Secret": [(old, object, causes) => checkSealed(old, object, ["data"], causes)],
  "core/v1.Service": [service],
  "networking/v1.IngressClass": [fixed("spec.controller")],
};

/** Finds what an update changes that cannot be changed; a subresource changes what an update of the object cannot. */
export function validateUpdate(schema: Struct, subresource: string, old: JsonObject, object: JsonObject): Causes {
  if (subresource !== "" && subresource !== "status") return [];
  const causes: Causes = [];
  const tagged = fixed(...textsOf(schema.rules?.fixed));
  for (const update of [tagged, ...UPDATES[schema.name] ?? []]) update(old, object, causes);
  return causes;
}
