/**
 * The forms of texts and numbers in objects: names, labels, addresses, ports, values that are allowed, in the words of
 * kube-apiserver.
 *
 * {@linkcode Check} and {@linkcode Rule} are the types of what the rules of kinds use. Which field has which form is
 * said there.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { goJson } from "../wire/go_text.ts";
import { encoder } from "../../../engine/api/object.ts";
import { FORMS } from "../../../operator/schema/values/forms.ts";
import { readAddress } from "../../../operator/schema/values/network.ts";
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { listOr, objectOr, objectsOf, textOf, textsOf } from "../../../engine/api/members.ts";

/** Returns what is wrong with an address that a client gives, in the words of the server. */
function address(text: string): readonly string[] {
  if (readAddress(text) === undefined) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  return /(^|\.)0\d/.test(text) && !text.includes(":") ? ["must not have leading 0s"] : [];
}

/** Returns what is wrong with a range of addresses that a client gives, in the words of the server. */
function addressRange(text: string): readonly string[] {
  const [, first = "", length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const read = readAddress(first);
  if (read === undefined || Number(length) > read.bits) {
    return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
  }
  const zeros = !text.includes(":") && /(^|[./])0\d/.test(text)
    ? ["must not have leading 0s in IP or prefix length"]
    : [];
  /** The bits that differ among the addresses of the range. */
  const rest = (1n << BigInt(read.bits - Number(length))) - 1n;
  return (read.value & rest) === 0n ? zeros : [...zeros, "must not have bits set beyond the prefix length"];
}

/** A form of texts: it returns what is wrong with one. */
export type TextForm = (typeof FORMS)[keyof typeof FORMS];

/** The forms by the names that rules have for them. */
const RULE_FORMS = { ...FORMS, address, addressRange };

/** A form: by its name, or one of the rules' own. */
type AnyForm = keyof typeof RULE_FORMS | TextForm;

/** Returns what is wrong with a text that must have a form; nothing if it has. */
export function formFaults(text: string, form: AnyForm): readonly string[] {
  return (typeof form === "string" ? RULE_FORMS[form] : form)(text);
}

/** Finds what is wrong with an object of one type, at a path, beyond what its schema says. */
export type Rule = (object: JsonObject, at: string, causes: Causes) => void;

/** Finds what is wrong with a value at a path. */
export type Check = (value: Json, at: string, causes: Causes) => void;

/**
 * Returns a rule: members by their path have a form, or what a check wants. An absent member or an empty text is
 * reported only if its path ends with `!`. The elements of a list are `name[]`.
 */
export function rulesOf(rows: Readonly<Record<string, Check | keyof typeof RULE_FORMS>>): Rule {
  return allOf(
    ...Object.entries(rows).map(([key, row]) => {
      const check = typeof row === "string" ? formed(row) : row;
      const isRequired = key.endsWith("!");
      return memberRule(key.slice(0, isRequired ? -1 : undefined).split("."), isRequired, (value, at, causes) => {
        const isAbsent = value === undefined || value === null || value === "" ||
          (isRequired && (value === 0 || (isList(value) && value.length === 0)));
        if (!isAbsent) check(value, at, causes);
        else if (isRequired) causes.push(fieldCause.required(at));
      });
    }),
  );
}

/** Joins the path of an object and the name of a member. */
export function memberPath(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}

/** Returns the rule that finds a member, of which a path that is not required looks no further than it is there. */
function memberRule(
  [step, ...rest]: readonly string[],
  isRequired: boolean,
  found: (value: Json | undefined, at: string, causes: Causes) => void,
): Rule {
  const name = step.replace("[]", "");
  const inner = rest.length === 0 ? undefined : memberRule(rest, isRequired, found);
  const next: typeof found = inner === undefined
    ? found
    : (value, at, causes) => isObject(value) && inner(value, at, causes);
  return (object, at, causes) => {
    const value = object[name];
    if (value === undefined && !isRequired) return;
    const place = memberPath(at, name);
    if (step === name) next(value, place, causes);
    else textsOf(value).forEach((element, index) => next(element, `${place}[${index}]`, causes));
  };
}

/** A check of nothing but that a value is there. */
export const anyJson: Check = () => {};

/** Returns a check: a text has a form. */
export function formed(form: AnyForm): Check {
  return (value, at, causes) => checkForm(value, at, form, causes);
}

/** Returns a check: a text is one of these. */
export function textIn(...allowed: readonly string[]): Check {
  return (value, at, causes) => checkOneOf(value, at, allowed, causes);
}

/** Returns a check: a number is not below a limit. */
export function atLeast(least: number): Check {
  return (value, at, causes) => {
    if (numberOf(value) < least) refuseValue(causes, at, value, `must be greater than or equal to ${least}`);
  };
}

/** Returns a check: a number is in a range. */
export function between(least: number, most: number): Check {
  return (value, at, causes) => {
    if (typeof value !== "number" || (value >= least && value <= most)) return;
    refuseValue(causes, at, value, `must be between ${least} and ${most}, inclusive`);
  };
}

/** The check of the number of a port. */
export const portNumber: Check = between(1, 65_535);

/** The check of a port's number or name. */
export const portOrName: Check = (value, at, causes) => {
  portNumber(value, at, causes);
  checkForm(value, at, "portName", causes);
};

/** Reports a value. */
export function refuseValue(causes: Causes, at: string, value: Json | undefined, why: string): void {
  causes.push(fieldCause.invalid(at, goJson(value ?? null), why));
}

/** Reports a text that has not its form; absent ones pass. */
export function checkForm(value: Json | undefined, at: string, form: AnyForm, causes: Causes): void {
  if (typeof value !== "string") return;
  for (const why of formFaults(value, form)) refuseValue(causes, at, value, why);
}

/**
 * Checks what the tags of Kubernetes' Go types say of a value, by their names and values. Returns false if the server
 * looks no further.
 */
export function checkTags(tags: JsonObject, value: Json, at: string, causes: Causes): boolean {
  const { minimum, maxItems = Infinity, maxLength, maxBytes, format } = tags;
  const [text, items] = [textOf(value), listOr(value).length];
  if (minimum !== undefined) atLeast(Number(minimum))(value, at, causes);
  if (encoder.encode(text).length > Number(maxBytes)) causes.push(fieldCause.tooLong(at, maxBytes));
  const message = `Too long: may not be more than ${maxLength} characters`;
  if ([...text].length > Number(maxLength)) causes.push({ ...fieldCause.tooLong(at, maxLength), message });
  if (format !== undefined && text !== "") checkForm(text, at, format as keyof typeof FORMS, causes);
  if (items <= Number(maxItems)) return true;
  const many = `Too many: ${items}: must have at most ${maxItems} items`;
  causes.push({ reason: "FieldValueTooMany", message: many, field: at });
  return false;
}

/** Reports a text that is none of those allowed; absent ones pass. */
export function checkOneOf(value: Json | undefined, at: string, allowed: readonly string[], causes: Causes): void {
  if (value !== undefined && !allowed.includes(textOf(value))) causes.push(fieldCause.unsupported(at, value, allowed));
}

/** The rule of objects whose numbers are counts and times: none is below 0. */
export const noneBelowZero: Rule = (object, at, causes) => {
  for (const [name, value] of Object.entries(object)) {
    if (numberOf(value) < 0) atLeast(0)(value!, memberPath(at, name), causes);
  }
};

/** Returns a function that reports keys with which it was called before. */
export function distinct(causes: Causes): (key: unknown, at: string, value: unknown) => void {
  const seen = new Set<unknown>();
  return (key, at, value) => {
    if (seen.has(key)) causes.push(fieldCause.duplicate(at, value));
    seen.add(key);
  };
}

/** Returns a rule that is all of these. */
export function allOf(...rules: readonly Rule[]): Rule {
  return (object, at, causes) => rules.forEach((rule) => rule(object, at, causes));
}

/** Reports a value that is neither a count nor, up to `most`, a percentage; absent ones pass. */
export function checkShare(value: Json | undefined, at: string, causes: Causes, most = 100): void {
  if (typeof value === "number" && value < 0) refuseValue(causes, at, value, "must be greater than or equal to 0");
  checkForm(value, at, "percentage", causes);
  if (typeof value === "string" && FORMS.percentage(value).length === 0 && parseInt(value) > most) {
    refuseValue(causes, at, value, "must not be greater than 100%");
  }
}

/** The number of a count or percentage; 0 for anything else. */
export function shareOf(value: Json | undefined): number {
  return typeof value === "string" && FORMS.percentage(value).length === 0 ? parseInt(value) : numberOf(value);
}

/** A number, or 0. */
export function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** Reports keys and values of labels. */
export function checkLabels(labels: Json | undefined, at: string, causes: Causes): void {
  for (const [key, value] of Object.entries(objectOr(labels))) {
    checkForm(key, at, "labelKey", causes);
    checkForm(value, at, "labelValue", causes);
  }
}

const ANNOTATION_BYTES = 256 * 1_024;

/** Reports keys of annotations, and annotations that are too large together. */
export function checkAnnotations(annotations: Json | undefined, at: string, causes: Causes): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(objectOr(annotations))) {
    for (const why of FORMS.labelKey(key.toLowerCase())) refuseValue(causes, at, key, why);
    bytes += key.length + textOf(value).length;
  }
  if (bytes <= ANNOTATION_BYTES) return;
  causes.push(fieldCause.tooLong(at, ANNOTATION_BYTES));
}

const NEEDS = "must be specified when `operator` is 'In' or 'NotIn'";
const HAS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";

/** Reports what is wrong with a condition of a selector; `more` are operators of one value. */
export function checkRequirement(
  { key = "", operator = "", values }: JsonObject,
  at: string,
  causes: Causes,
  more: readonly string[] = [],
): void {
  const given = textsOf(values);
  if (operator === "In" || operator === "NotIn") {
    if (given.length === 0) causes.push(fieldCause.required(`${at}.values`, NEEDS));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (given.length > 0) causes.push(fieldCause.forbidden(`${at}.values`, HAS));
  } else if (!more.includes(textOf(operator))) {
    refuseValue(causes, `${at}.operator`, operator, "not a valid selector operator");
  } else if (given.length !== 1) {
    causes.push(fieldCause.required(`${at}.values`, `must be one where \`operator\` is ${more}`));
  }
  checkForm(key, `${at}.key`, "labelKey", causes);
  given.forEach((value, index) => checkForm(value, `${at}.values[${index}]`, "labelValue", causes));
}

/** The rules of `meta/v1.LabelSelector`. */
export const checkSelector: Rule = ({ matchLabels, matchExpressions }, at, causes) => {
  checkLabels(matchLabels, `${at}.matchLabels`, causes);
  objectsOf(matchExpressions).forEach((expression, index) => {
    checkRequirement(expression, `${at}.matchExpressions[${index}]`, causes);
  });
};

/** The kind of an object whose metadata are checked. */
interface Kind {
  readonly group: string;
  readonly kind: string;
  /** True for a custom kind. */
  readonly custom: boolean;
}

/** An object to check, and what is wrong with it. */
interface CheckedObject {
  readonly definition: Kind;
  readonly object: JsonObject;
  readonly causes: Causes;
}

const RBAC = "rbac.authorization.k8s.io";

/** The forms of names, where they are not subdomains of DNS, by group and kind. */
const NAMES: Readonly<Record<string, keyof typeof FORMS>> = {
  "/Namespace": "dnsLabel",
  "/Service": "dnsLabel",
  "apps/StatefulSet": "dnsLabel",
  "apiregistration.k8s.io/APIService": "pathSegment",
  "certificates.k8s.io/CertificateSigningRequest": "pathSegment",
  "policy/PodDisruptionBudget": "pathSegment",
  [`${RBAC}/ClusterRole`]: "pathSegment",
  [`${RBAC}/ClusterRoleBinding`]: "pathSegment",
  [`${RBAC}/Role`]: "pathSegment",
  [`${RBAC}/RoleBinding`]: "pathSegment",
};

/** Finds what is wrong with the name of a new object. */
export function checkName({ definition: { group, kind }, object, causes }: CheckedObject): void {
  const { name, generateName } = objectOr(object.metadata);
  const form = FORMS[NAMES[`${group}/${kind}`] ?? "subdomain"];
  if (textOf(generateName) !== "") {
    const prefix = textOf(generateName).replace(/(.)-$/, "a");
    for (const why of form(prefix)) refuseValue(causes, "metadata.generateName", generateName, why);
  }
  if (textOf(name) === "") causes.push(fieldCause.required("metadata.name", "name or generateName is required"));
  else checkForm(name, "metadata.name", form, causes);
}

/** Finds what is wrong with the metadata of an object of any kind, besides its name. */
export function checkMetadata(kind: Kind, metadata: JsonObject, causes: Causes): void {
  const { labels, annotations, ownerReferences, finalizers } = metadata;
  if (labels !== undefined) checkLabels(labels, "metadata.labels", causes);
  if (isObject(annotations)) checkAnnotations(annotations, "metadata.annotations", causes);
  if (ownerReferences !== undefined) checkOwners(ownerReferences, causes);
  if (isList(finalizers) && finalizers.length > 0) checkFinalizers(kind, finalizers.map(textOf), causes);
}

const OWNER = ["apiVersion", "kind", "name", "uid"];

function checkOwners(owners: Json, causes: Causes): void {
  let first: string | undefined;
  objectsOf(owners).forEach((owner, index) => {
    const at = `metadata.ownerReferences[${index}]`;
    for (const name of OWNER) {
      if (textOf(owner[name]) === "") causes.push(fieldCause.required(`${at}.${name}`, "must not be empty"));
    }
    const { apiVersion, kind, name, controller } = owner;
    if (textOf(apiVersion).split("/").length > 2 || textOf(apiVersion).endsWith("/")) {
      refuseValue(causes, `${at}.apiVersion`, apiVersion, "must be <group>/<version> or <version>");
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

/** Reports a finalizer that has no domain. */
export function checkDomain(name: string, at: string, causes: Causes): void {
  if (name.includes("/") || STANDARD.includes(name)) return;
  refuseValue(causes, at, name, "name is neither a standard finalizer name nor is it fully qualified");
}

function checkFinalizers({ group, custom }: Kind, finalizers: readonly string[], causes: Causes): void {
  for (const name of finalizers) checkForm(name, "metadata.finalizers", "labelKey", causes);
  if (custom || LAX.includes(group)) return;
  finalizers.forEach((name, index) => checkDomain(name, `metadata.finalizers[${index}]`, causes));
}

/** Finds what an update of metadata changes that cannot be changed; what it leaves out stays. */
export function checkMetadataUpdate(draft: {
  readonly old: JsonObject;
  readonly given: JsonObject;
  readonly causes: Causes;
}): void {
  const { given, causes } = draft;
  const old = objectOr(draft.old.metadata);
  const { finalizers, uid, deletionTimestamp, deletionGracePeriodSeconds: grace } = given;
  const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== "";
  const fixed = (name: string, value: Json | undefined): void =>
    refuseValue(causes, `metadata.${name}`, value, "field is immutable");
  if (old.deletionTimestamp !== undefined && isList(finalizers)) {
    const before = new Set(listOr(old.finalizers));
    const added = finalizers.filter((finalizer) => !before.has(finalizer)).sort();
    if (added.length > 0) {
      const why = "no new finalizers can be added if the object is being deleted, found new finalizers " +
        `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
      causes.push(fieldCause.forbidden("metadata.finalizers", why));
    }
  }
  if (isSet(uid) && uid !== old.uid) fixed("uid", uid);
  if (isSet(deletionTimestamp) && old.deletionTimestamp === undefined) fixed("deletionTimestamp", deletionTimestamp);
  if (isSet(grace) && !equalJson(grace, old.deletionGracePeriodSeconds)) fixed("deletionGracePeriodSeconds", grace);
}
