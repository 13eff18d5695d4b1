import { equalJson, isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import { reasonBefore38 } from "../schema/ruled.ts";
import type { Answer, Exchange } from "./play.ts";
import { DRAWN_NAME } from "./step.ts";

/**
 * The categories of comparison.
 *
 * - `answer`: the status code, its reason, and the fields and reasons of the causes.
 * - `object`: the object, without what a server draws by chance or by the clock, and without managedFields.
 * - `fields`: managedFields without times.
 * - `texts`: the messages and warnings, which decide nothing.
 */
export const CATEGORIES = ["answer", "object", "fields", "texts"] as const;

/** One of {@linkcode CATEGORIES}. */
export type Category = typeof CATEGORIES[number];

/** The categories that decide whether two servers are twins. */
export const GOALS: readonly Category[] = ["answer", "object", "fields"];

/** A difference between two answers. */
export interface Difference {
  readonly category: Category;
  /** The place in the answer: `spec.ports[0].name`. */
  readonly path: string;
  /** The values there; undefined for none. */
  readonly real: Json | undefined;
  readonly fake: Json | undefined;
}

/** The comparison of one request. */
export interface Compared {
  /** The categories in which it was compared. */
  readonly categories: readonly Category[];
  readonly differences: readonly Difference[];
}

/** The time that a server may have set itself. */
const RECENT_MS = 3_600_000;

/** Compares the answers to a request. Where the status codes differ, only these are compared. */
export function compared({ real, fake }: Exchange): Compared {
  const answers = differencesOf("answer", answerOf(real), answerOf(fake));
  if (real.status !== fake.status) return { categories: ["answer"], differences: answers };
  const objects = differencesOf("object", objectOf(real.body), objectOf(fake.body));
  const texts = differencesOf("texts", textsOf(real), textsOf(fake));
  if (!hasFields(real.body) && !hasFields(fake.body)) {
    return { categories: ["answer", "object", "texts"], differences: [...answers, ...objects, ...texts] };
  }
  const fields = differencesOf("fields", fieldsOf(real.body), fieldsOf(fake.body));
  return { categories: CATEGORIES, differences: [...answers, ...objects, ...fields, ...texts] };
}

/** The status code, the reason, and the causes without their messages. */
export function answerOf({ status, body }: Answer): JsonObject {
  if (status < 300) return { status };
  const { reason, details } = objectOr(body);
  const causes = (objectOr(details).causes as JsonObject[] | undefined ?? [])
    .map(({ field, reason }) => `${field ?? ""} ${reasonBefore38(reason as string | undefined) ?? ""}`).sort();
  return { status, ...reason !== undefined && { reason }, ...causes.length > 0 && { causes } };
}

/**
 * An object as it is compared: without managedFields, and with its uids, versions, times of the server's clock, and
 * drawn addresses, ports and names replaced by words.
 */
export function objectOf(body: Json): Json {
  if (!isObject(body)) return typeof body === "string" ? "text" : body;
  if (body.kind === "Status") {
    const { message: _, metadata: _metadata, ...status } = body;
    const { causes: _causes, ...details } = objectOr(status.details);
    return masked({ ...status, ...status.details !== undefined && { details } }, "");
  }
  const { managedFields: _, ...metadata } = objectOr(body.metadata);
  return masked({ ...body, metadata }, "");
}

/** The managedFields of an object without times, sorted, by manager, operation and subresource. */
export function fieldsOf(body: Json): JsonObject {
  const entries = objectOr(objectOr(body).metadata).managedFields as JsonObject[] | undefined ?? [];
  const named = entries.map(({ time: _, ...entry }): [string, Json] => [
    [entry.manager, entry.operation, entry.subresource ?? ""].join(" ").trim(),
    masked(entry, ""),
  ]);
  const out: MutableJson = {};
  for (const [name, entry] of named.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)) {
    out[name in out ? `${name} (another)` : name] = entry;
  }
  return out;
}

/** All places at which two values differ, outermost first. */
export function differencesOf(
  category: Category,
  real: Json | undefined,
  fake: Json | undefined,
  path = "",
): Difference[] {
  if (equalJson(real, fake)) return [];
  if (isObject(real) && isObject(fake)) {
    return [...new Set([...Object.keys(real), ...Object.keys(fake)])].flatMap((key) =>
      differencesOf(
        category,
        real[key],
        fake[key],
        path === "" ? key : /^[\w:-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`,
      )
    );
  }
  if (category !== "answer" && Array.isArray(real) && Array.isArray(fake) && real.length === fake.length) {
    return real.flatMap((element, at) => differencesOf(category, element, fake[at], `${path}[${at}]`));
  }
  return [{ category, path, real, fake }];
}

function textsOf({ body, warnings }: Answer): JsonObject {
  const { kind, message, details } = objectOr(body);
  if (kind !== "Status") return { ...typeof body === "string" && { body }, ...warnings.length > 0 && { warnings } };
  const causes = (objectOr(details).causes as JsonObject[] | undefined ?? []).map(({ message }) => message ?? "");
  return masked({ message, causes: causes.sort(), ...warnings.length > 0 && { warnings } }, "") as JsonObject;
}

function hasFields(body: Json): boolean {
  return objectOr(objectOr(body).metadata).managedFields !== undefined;
}

function masked(value: Json, key: string): Json {
  if (Array.isArray(value)) return value.map((element) => masked(element, key));
  if (isObject(value)) {
    const out: MutableJson = {};
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) out[maskedText(name, "")] = masked(member, name);
    }
    return out;
  }
  if (typeof value === "number") return /^(?:nodePort|healthCheckNodePort)$/.test(key) && value > 0 ? "<port>" : value;
  return typeof value === "string" ? maskedText(value, key) : value;
}

function maskedText(text: string, key: string): string {
  if (key === "resourceVersion" && /^\d+$/.test(text)) return "<version>";
  if (/^clusterIPs?$/.test(key) && /^\d+(?:\.\d+){3}$/.test(text)) return "<address>";
  return text.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "<uid>")
    .replace(
      /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
      (time) => Math.abs(Date.parse(time) - Date.now()) < RECENT_MS ? "<time>" : time,
    )
    .replace(DRAWN_NAME, "$1<drawn>");
}
