import { unsupportedMediaType } from "../http/media_type.ts";

/** The kinds of patches, by what the `Content-Type` header calls them. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
  "application/apply-patch+json": "apply",
};

/**
 * The kind of patch that a `Content-Type` header names.
 *
 * @throws {StatusError} 415 when there is none, or a custom resource is asked to merge strategically.
 */
export function patchType(contentType: string | null, custom: boolean): PatchType {
  const type = MEDIA_TYPES[(contentType ?? "").split(";")[0].trim().toLowerCase()];
  if (type !== undefined && !(custom && type === "strategic")) return type;
  const accepted = Object.keys(MEDIA_TYPES).filter((name) => !(custom && MEDIA_TYPES[name] === "strategic"));
  throw unsupportedMediaType(accepted);
}
