import { LabelSelector, type LabelSelectorFields } from "../../api/selector.ts";
import { type Causes, forbiddenField, invalidField, requiredField, unsupportedField } from "../http/refusal.ts";
import { goJson, isObject, type Json, type JsonObject, type MutableJson, objectOr, textOf } from "../wire/json.ts";
import { type Form, labelKey, labelValue, percentage } from "./forms.ts";

/** Finds what is wrong with an object of one type, at a path, beyond what its schema says. */
export type Rule = (object: JsonObject, at: string, causes: Causes) => void;

/** Fills in members of an object of one type that follow from its other members, or from those that were given. */
export type Compute = (object: MutableJson, given: JsonObject) => void;

/** Reports a value. */
export function refuseValue(causes: Causes, at: string, value: Json | undefined, why: string): void {
  causes.push(invalidField(at, goJson(value ?? null), why));
}

/** Reports a text that has not its form; absent ones pass. */
export function checkForm(value: Json | undefined, at: string, form: Form, causes: Causes): void {
  if (typeof value !== "string") return;
  for (const why of form(value)) refuseValue(causes, at, value, why);
}

/** Reports a text that is absent or has not its form. */
export function requireForm(value: Json | undefined, at: string, form: Form, causes: Causes): void {
  if (textOf(value) === "") causes.push(requiredField(at));
  else checkForm(value, at, form, causes);
}

/** Reports a text that is none of those allowed; absent ones pass. */
export function checkOneOf(value: Json | undefined, at: string, allowed: readonly string[], causes: Causes): void {
  if (value !== undefined && !allowed.includes(textOf(value))) causes.push(unsupportedField(at, value, allowed));
}

/** Returns a rule: these numbers are at least 0. */
export function atLeastZero(...names: readonly string[]): Rule {
  return (object, at, causes) => {
    for (const name of names) {
      const value = object[name];
      if (typeof value === "number" && value < 0) {
        refuseValue(causes, at === "" ? name : `${at}.${name}`, value, "must be greater than or equal to 0");
      }
    }
  };
}

/** Returns a rule: these counts are not above another one, which is absent where it is 0. */
export function atMost(limit: string, why: string, ...names: readonly string[]): Rule {
  return (object, at, causes) => {
    for (const name of names) {
      if (numberOf(object[name]) > numberOf(object[limit])) {
        refuseValue(causes, `${at}.${name}`, object[name] ?? 0, why);
      }
    }
  };
}

/** Returns a rule that is all of these. */
export function all(...rules: readonly Rule[]): Rule {
  return (object, at, causes) => rules.forEach((rule) => rule(object, at, causes));
}

/** Reports a port that is none. */
export function checkPort(value: Json | undefined, at: string, causes: Causes): void {
  if (typeof value === "number" && (value < 1 || value > 65_535)) {
    refuseValue(causes, at, value, "must be between 1 and 65535, inclusive");
  }
}

/** Reports a value that is neither a count nor, up to `most`, a percentage; absent ones pass. */
export function checkShare(value: Json | undefined, at: string, causes: Causes, most = 100): void {
  if (typeof value === "number" && value < 0) refuseValue(causes, at, value, "must be greater than or equal to 0");
  checkForm(value, at, percentage, causes);
  if (typeof value === "string" && percentage(value).length === 0 && parseInt(value) > most) {
    refuseValue(causes, at, value, "must not be greater than 100%");
  }
}

/** The number of a count or percentage; 0 for anything else. */
export function shareOf(value: Json | undefined): number {
  return typeof value === "string" && percentage(value).length === 0 ? parseInt(value) : numberOf(value);
}

/** A number, or 0. */
export function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOr) : [];
}

/** Reports keys and values of labels. */
export function checkLabels(labels: Json | undefined, at: string, causes: Causes): void {
  for (const [key, value] of Object.entries(objectOr(labels))) {
    checkForm(key, at, labelKey, causes);
    checkForm(value, at, labelValue, causes);
  }
}

const ANNOTATION_BYTES = 256 * 1_024;

/** Reports keys of annotations, and annotations that are too large together. */
export function checkAnnotations(annotations: Json | undefined, at: string, causes: Causes): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(objectOr(annotations))) {
    for (const why of labelKey(key.toLowerCase())) refuseValue(causes, at, key, why);
    bytes += key.length + textOf(value).length;
  }
  if (bytes <= ANNOTATION_BYTES) return;
  causes.push({
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${ANNOTATION_BYTES} bytes`,
    field: at,
  });
}

const NEEDS = "must be specified when `operator` is 'In' or 'NotIn'";
const HAS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";

/** The rules of `meta/v1.LabelSelector`. */
export const checkSelector: Rule = ({ matchLabels, matchExpressions }, at, causes) => {
  checkLabels(matchLabels, `${at}.matchLabels`, causes);
  objectsOf(matchExpressions).forEach(({ key = "", operator = "", values }, index) => {
    const place = `${at}.matchExpressions[${index}]`;
    const given = Array.isArray(values) ? values as readonly Json[] : [];
    if (operator === "In" || operator === "NotIn") {
      if (given.length === 0) causes.push(requiredField(`${place}.values`, NEEDS));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (given.length > 0) causes.push(forbiddenField(`${place}.values`, HAS));
    } else refuseValue(causes, `${place}.operator`, operator, "not a valid selector operator");
    checkForm(key, `${place}.key`, labelKey, causes);
    given.forEach((value, at) => checkForm(value, `${place}.values[${at}]`, labelValue, causes));
  });
};

/** Returns true if a selector matches labels; undefined if it cannot be read. An absent selector matches nothing. */
export function selects(selector: Json | undefined, labels: Json | undefined): boolean | undefined {
  if (!isObject(selector)) return false;
  try {
    return LabelSelector.from(selector as LabelSelectorFields).matches(objectOr(labels) as Record<string, string>);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns true if a selector has no condition. */
export function isEmptySelector(selector: Json | undefined): boolean {
  const { matchLabels, matchExpressions } = objectOr(selector);
  return Object.keys(objectOr(matchLabels)).length + objectsOf(matchExpressions).length === 0;
}
