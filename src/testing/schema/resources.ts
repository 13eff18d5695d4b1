import { type ParsedQuantity, parseQuantity } from "../../api/quantity.ts";
import { type Causes, forbiddenField, requiredField } from "../http/refusal.ts";
import { isObject, type Json, type JsonObject, objectOr } from "../wire/json.ts";
import { checkForm, refuseValue } from "./checks.ts";
import { labelKey } from "./forms.ts";

/** The quantities of a map of resources. */
export function quantitiesOf(resources: Json | undefined): readonly (readonly [name: string, ParsedQuantity])[] {
  return Object.entries(objectOr(resources)).map(([name, value]) => [name, parseQuantity(value as string)]);
}

const CONTAINER = ["cpu", "memory", "ephemeral-storage"];
const COUNTS = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const COMPUTE = ["", "requests.", "limits."].flatMap((prefix) => CONTAINER.map((name) => prefix + name));
/** Resources that a quota may limit. */
export const QUOTA: ReadonlySet<string> = new Set([...COMPUTE, ...COUNTS, "requests.storage"]);
/** Resources without a domain. */
const STANDARD: ReadonlySet<string> = new Set([...QUOTA, "storage"]);

const HUGE = /^hugepages-/;
const QUOTA_HUGE = /^(requests\.)?hugepages-/;

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith("requests.") && labelKey(`requests.${name}`).length === 0;
}

/** True for resources that more may be requested of than there is. */
function allowsOvercommit(name: string): boolean {
  return isNative(name) && !HUGE.test(name);
}

/** Reports a name that is no resource; `of` says which ones are meant. */
export function checkResourceName(name: string, at: string, of: "container" | "quota" | "any", causes: Causes): void {
  const before = causes.length;
  checkForm(name, at, labelKey, causes);
  const isUnqualified = !name.includes("/");
  if (causes.length === before && isUnqualified && !STANDARD.has(name) && !QUOTA_HUGE.test(name)) {
    refuseValue(causes, at, name, "must be a standard resource type or fully qualified");
  }
  if (of === "quota" && isUnqualified && !QUOTA.has(name) && !QUOTA_HUGE.test(name)) {
    refuseValue(causes, at, name, "must be a standard resource for quota");
  }
  if (of !== "container") return;
  if (isUnqualified) {
    if (!CONTAINER.includes(name) && !HUGE.test(name)) {
      refuseValue(causes, at, name, "must be a standard resource for containers");
    }
  } else if (!isNative(name) && !isExtended(name)) {
    refuseValue(causes, at, name, "doesn't follow extended resource name standard");
  }
}

/** Reports a quantity below 0, or a fraction of what is counted. */
export function checkAmount(name: string, value: ParsedQuantity, at: string, causes: Causes): void {
  if (value.nanos < 0n) refuseValue(causes, at, String(value), "must be greater than or equal to 0");
  if ((COUNTS.includes(name) || isExtended(name)) && value.nanos % 1_000_000_000n !== 0n) {
    refuseValue(causes, at, String(value), "must be an integer");
  }
}

/** The rules of `core/v1.ResourceRequirements`. */
export function checkRequirements({ limits, requests }: JsonObject, at: string, causes: Causes): void {
  for (const [field, resources] of Object.entries({ limits, requests })) {
    for (const [name, value] of quantitiesOf(resources)) {
      checkResourceName(name, `${at}.${field}[${name}]`, "container", causes);
      checkAmount(name, value, `${at}.${field}[${name}]`, causes);
    }
  }
  for (const [name, value] of quantitiesOf(requests)) {
    const given = objectOr(limits)[name];
    if (given === undefined) {
      if (allowsOvercommit(name)) continue;
      causes.push(requiredField(`${at}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const limit = parseQuantity(given as string);
    const order = value.compare(limit);
    const what = `${name} limit of ${limit}`;
    if (order !== 0 && !allowsOvercommit(name)) {
      refuseValue(causes, `${at}.requests`, String(value), `must be equal to ${what}`);
    } else if (order > 0) refuseValue(causes, `${at}.requests`, String(value), `must be less than or equal to ${what}`);
  }
  const names = [limits, requests].flatMap((map) => isObject(map) ? Object.keys(map) : []);
  if (names.some((name) => HUGE.test(name)) && !names.includes("cpu") && !names.includes("memory")) {
    causes.push(forbiddenField(at, "HugePages require cpu or memory"));
  }
}
