import { type Causes, forbiddenField, requiredField } from "../../protocol/refusal.ts";
import { equalJson, isObject, type Json, type JsonObject, textOf } from "../wire/json.ts";
import {
  checkAnnotations,
  checkForm,
  checkLabels,
  dnsLabel,
  type Form,
  labelKey,
  objectsOf,
  pathSegment,
  refuseValue,
  subdomain,
} from "./checks.ts";

/** The kind of an object whose metadata are checked. */
interface Kind {
  readonly group: string;
  readonly kind: string;
  /** True for a custom kind. */
  readonly custom: boolean;
}

const RBAC = "rbac.authorization.k8s.io";

/** The forms of names, where they are not subdomains of DNS, by group and kind. */
const NAMES: Readonly<Record<string, Form>> = {
  "/Namespace": dnsLabel,
  "/Service": dnsLabel,
  "apps/StatefulSet": dnsLabel,
  "apiregistration.k8s.io/APIService": pathSegment,
  "certificates.k8s.io/CertificateSigningRequest": pathSegment,
  "policy/PodDisruptionBudget": pathSegment,
  [`${RBAC}/ClusterRole`]: pathSegment,
  [`${RBAC}/ClusterRoleBinding`]: pathSegment,
  [`${RBAC}/Role`]: pathSegment,
  [`${RBAC}/RoleBinding`]: pathSegment,
};

/** Finds what is wrong with the name of a new object. */
export function checkName({ group, kind }: Kind, { name, generateName }: JsonObject, causes: Causes): Causes {
  const form = NAMES[`${group}/${kind}`] ?? subdomain;
  if (textOf(generateName) !== "") {
    const prefix = textOf(generateName).replace(/(.)-$/, "a");
    for (const why of form(prefix)) refuseValue(causes, "metadata.generateName", generateName, why);
  }
  if (textOf(name) === "") causes.push(requiredField("metadata.name", "name or generateName is required"));
  else checkForm(name, "metadata.name", form, causes);
  return causes;
}

/** Finds what is wrong with the metadata of an object of any kind, besides its name. */
export function checkMetadata(kind: Kind, metadata: JsonObject, causes: Causes): void {
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  if (labels !== undefined) checkLabels(labels, "metadata.labels", causes);
  if (isObject(annotations)) checkAnnotations(annotations, "metadata.annotations", causes);
  if (ownerReferences !== undefined) checkOwners(ownerReferences, causes);
  if (Array.isArray(finalizers) && finalizers.length > 0) checkFinalizers(kind, finalizers.map(textOf), causes);
}

const OWNER = ["apiVersion", "kind", "name", "uid"];

function checkOwners(owners: Json, causes: Causes): void {
  let first: string | undefined;
  objectsOf(owners).forEach((owner, index) => {
    const at = `metadata.ownerReferences[${index}]`;
    for (const name of OWNER) {
      if (textOf(owner[name]) === "") causes.push(requiredField(`${at}.${name}`, "must not be empty"));
    }
    const { apiVersion, kind, name, controller } = owner;
    if (textOf(apiVersion).split("/").length > 2 || textOf(apiVersion).endsWith("/")) {
      refuseValue(causes, `${at}.apiVersion`, apiVersion, "must be <group>/<version> or <version>");
    }
    if (apiVersion === "v1" && kind === "Event") {
      refuseValue(causes, at, owner, "/v1, Kind=Event is disallowed from being an owner");
    }
    if (controller !== true) return;
    const named = `${textOf(kind)}/${textOf(name)}`;
    if (first === undefined) first = named;
    else {
      const why = 'Only one reference can have Controller set to true. Found "true" in references for ' +
        `${first} and ${named}`;
      refuseValue(causes, "metadata.ownerReferences", owners, why);
    }
  });
}

const STANDARD = ["kubernetes", "orphan", "foregroundDeletion"];
/** Groups whose kinds may have finalizers without a domain. */
const LAX = ["apiextensions.k8s.io", "coordination.k8s.io", "policy"];

function checkFinalizers({ group, custom }: Kind, finalizers: readonly string[], causes: Causes): void {
  for (const name of finalizers) checkForm(name, "metadata.finalizers", labelKey, causes);
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const why = "finalizer orphan and foregroundDeletion cannot be both set";
    refuseValue(causes, "metadata.finalizers", finalizers, why);
  }
  if (custom || LAX.includes(group)) return;
  finalizers.forEach((name, index) => {
    if (name.includes("/") || STANDARD.includes(name)) return;
    const why = "name is neither a standard finalizer name nor is it fully qualified";
    refuseValue(causes, `metadata.finalizers[${index}]`, name, why);
  });
}

/** Finds what an update of metadata changes that cannot be changed; what it leaves out stays. */
export function checkMetadataUpdate(old: JsonObject, given: JsonObject, causes: Causes): Causes {
  const { finalizers, uid, deletionTimestamp, deletionGracePeriodSeconds: grace } = given;
  const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== "";
  const fixed = (name: string, value: Json | undefined): void =>
    refuseValue(causes, `metadata.${name}`, value, "field is immutable");
  if (old.deletionTimestamp !== undefined && Array.isArray(finalizers)) {
    const before = Array.isArray(old.finalizers) ? old.finalizers : [];
    const added = finalizers.filter((finalizer) => !before.includes(finalizer)).sort();
    if (added.length > 0) {
      const why = "no new finalizers can be added if the object is being deleted, found new finalizers " +
        `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
      causes.push(forbiddenField("metadata.finalizers", why));
    }
  }
  if (isSet(uid) && uid !== old.uid) fixed("uid", uid);
  if (isSet(deletionTimestamp) && old.deletionTimestamp === undefined) fixed("deletionTimestamp", deletionTimestamp);
  if (isSet(grace) && !equalJson(grace, old.deletionGracePeriodSeconds)) fixed("deletionGracePeriodSeconds", grace);
  return causes;
}

/** The owners of an object, each of them once. */
export function distinctOwners(metadata: JsonObject): readonly JsonObject[] {
  const owners = objectsOf(metadata.ownerReferences);
  return owners.filter((owner, index) => owners.findIndex((other) => equalJson(other, owner)) === index);
}
