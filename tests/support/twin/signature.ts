import { isObject, type Json } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import type { Difference } from "./compare.ts";
import type { Exchange } from "./play.ts";

/**
 * Parts of the server: apply, strategic patches and managedFields; decoding, defaults and schemas; the rules of kinds;
 * what is served; all else.
 */
export const PARTS = ["ssa", "val", "rules", "kinds", "other"] as const;

/** The part of the server that a difference is about. */
export type Part = typeof PARTS[number];

/** The places of pods in other kinds, which have the same rules. */
const POD =
  /^(?:(?:spec\.)?(?:jobTemplate\.spec\.)?template\.spec|(?:f:spec\.)?(?:f:jobTemplate\.f:spec\.)?f:template\.f:spec)\b/;

/** A difference without the kind, names, indexes and numbers: differences with one cause have the same. */
export function signatureOf(
  { category, path, real, fake }: Difference,
  { step, real: answer, fake: other }: Exchange,
): string {
  if (category === "answer") {
    return `answer: ${answerShape(answer.status, objectOr(answer.body))} | ${
      answerShape(other.status, objectOr(other.body))
    }`;
  }
  const place = (category === "fields" ? fieldsPlace(path) : erased(path))
    .replace(/^(?:f:)?spec\b/, (spec) => step.collection.endsWith("/pods") ? "POD" : spec);
  const verb = category === "fields" ? `, ${/ (Apply|Update)\b/.exec(path)?.[1] ?? step.patch ?? step.method}` : "";
  return `${category} ${place}: ${shapeOf(real)} | ${shapeOf(fake)}${verb}`;
}

/** The part of the server that would be changed to mend a difference: a guess. */
export function partOf({ category, real, path }: Difference, { step, real: answer, fake }: Exchange): Part {
  if (category === "fields") return "ssa";
  if (category === "answer" && answer.status !== fake.status) {
    if ([404, 405, 415].includes(fake.status) || [404, 405, 415].includes(answer.status)) return "kinds";
    if (step.patch === "apply" && (answer.status === 409 || fake.status === 409)) return "ssa";
    if (step.patch === "apply" && messageOf(answer.body).includes("typed patch")) return "ssa";
    if (
      /fieldValidation|strict|cannot unmarshal|unknown field|decod|must be of type|Unsupported value|pattern/i
        .test(messageOf(answer.body))
    ) {
      return isCustom(step.collection) || answer.status !== 422 ? "val" : "rules";
    }
    if (answer.status === 422 || fake.status === 422) return isCustom(step.collection) ? "val" : "rules";
    return step.patch === "strategic" || step.patch === "apply" ? "ssa" : "other";
  }
  if (category === "answer") return isCustom(step.collection) ? "val" : "rules";
  if (category === "texts") return "other";
  if (path.startsWith("details")) return "other";
  if (real !== undefined && step.patch !== "strategic" && step.patch !== "apply") return "val";
  return step.patch === "strategic" || step.patch === "apply" ? "ssa" : "val";
}

function isCustom(collection: string): boolean {
  return collection.includes("/twin.example.com/");
}

function messageOf(body: Json): string {
  const { message } = objectOr(body);
  return typeof message === "string" ? message : "";
}

/** `422 Invalid spec.containers[].name FieldValueRequired`. */
function answerShape(
  status: number,
  { reason, details, message }: { readonly [key: string]: Json | undefined },
): string {
  if (status < 300) return `${status < 203 ? "2xx" : status}`;
  const causes = (objectOr(details).causes as { field?: string; reason?: string }[] | undefined ?? [])
    .map(({ field = "", reason = "" }) => `${erased(field)} ${reason.replace(/^FieldValue/, "")}`);
  const named = [...new Set(causes)].sort().slice(0, 3).join(", ");
  const text = named === "" && typeof message === "string" ? `"${brief(message)}"` : named;
  return `${status} ${reason ?? ""} ${text}`.trim();
}

/** The words of a message that do not depend on the case. */
function brief(message: string): string {
  const erased = message.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/\{.*\}|\[.*\]/gs, "{…}").replace(/\d+/g, "0");
  return erased.slice(0, 90);
}

function erased(path: string): string {
  return path.replace(POD, "POD").replace(/^spec\.(?=containers|initContainers|volumes|tolerations)/, "POD.")
    .replaceAll(/\[\d+\]/g, "[]").replace("initContainers", "containers")
    .replace(/\b(labels|annotations|data|binaryData|matchLabels|nodeSelector)[.[].*/, "$1.*");
}

/** The place in managedFields: without manager, and without the keys' values. */
function fieldsPlace(path: string): string {
  const [, rest = ""] = /fieldsV1(.*)/s.exec(path) ?? [];
  if (rest === "") return /[.[]/.test(path) ? path.replace(/^[^.[]*|^\[[^\]]*\]/, "ENTRY") : "ENTRY";
  return rest.replace(/\["k:\{(.*?)\}"\]/g, (_, keys: string) => `[k ${namesOf(keys)}]`)
    .replaceAll(/\["v:.*?"\]/g, "[v]").replace(/^\./, "").replace(POD, "POD")
    .replace(/(f:(?:labels|annotations|data|binaryData|matchLabels|nodeSelector))[.[].*/, "$1.*");
}

/** The names in `\"port\":53,\"protocol\":\"UDP\"`. */
function namesOf(keys: string): string {
  return [...keys.matchAll(/"(\w+)\\?":/g)].map(([, key]) => key).join(",");
}

function shapeOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "list";
  if (isObject(value)) return Object.keys(value).length === 0 ? "{}" : "object";
  return typeof value;
}
