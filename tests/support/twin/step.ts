import type { Json } from "../../../src/engine/api/json.ts";

/** The types of patches. */
export const PATCH_TYPES = ["json", "merge", "strategic", "apply"] as const;

/** One of {@linkcode PATCH_TYPES}. */
export type PatchType = typeof PATCH_TYPES[number];

/**
 * A request, as plain data: a case can be printed, shrunk and played again. Texts contain what the player fills in:
 * `${ns}`, `${long}`, and of the object that the step is about, as this server answered last: `${name}`, `${uid}`,
 * `${version}`, and `${stale}`, its first version.
 */
export interface Step {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path of the collection. */
  readonly collection: string;
  /** The object that the step is about: `"a"` or `"b"`. */
  readonly object: string;
  /** Its name; undefined for `generateName`. */
  readonly name?: string;
  readonly subresource?: string;
  readonly query: Readonly<Record<string, string>>;
  readonly patch?: PatchType;
  readonly body?: Json;
  /** True if the body is laid over the object as this server answered last. */
  readonly isOverlay?: boolean;
  /** The mistake in it, if the case's writer made one. */
  readonly wrong?: string;
}

/** Some requests on one or two objects. */
export interface Case {
  readonly seed: number;
  readonly kind: string;
  readonly steps: readonly Step[];
}

/** A name that a server drew for an object of a case, `web-a-x4k9z`, in two parts. */
export const DRAWN_NAME = /(-[ab]-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;

/** The media types of patches. */
export const MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** The path of a step with its query. */
export function pathOf({ method, collection, name, subresource, query }: Step): string {
  const object = method === "POST" ? collection : `${collection}/${name ?? "${name}"}`;
  const parameters = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return `${object}${subresource === undefined ? "" : `/${subresource}`}${parameters && `?${parameters}`}`;
}

/** A step as a line: `PATCH merge /api/v1/… {"data":{"a":"1"}}`. */
export function lineOf(step: Step): string {
  const { method, patch, body, isOverlay, wrong } = step;
  return [
    method,
    ...patch === undefined ? [] : [patch],
    pathOf(step),
    ...isOverlay ? ["the last answer with"] : [],
    ...body === undefined ? [] : [JSON.stringify(body)],
    ...wrong === undefined ? [] : [`# ${wrong}`],
  ].join(" ");
}
