import { unsupportedMediaType } from "../http/media_type.ts";

/** Types of patches, by their `Content-Type`. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
  "application/apply-patch+json": "apply",
};

/**
 * Returns the type of patch of a `Content-Type` header.
 *
 * @throws {StatusError} 415 if there is none, or for a strategic merge of a custom resource.
 */
export function patchType(contentType: string | null, custom: boolean): PatchType {
  const type = MEDIA_TYPES[(contentType ?? "").split(";")[0].trim().toLowerCase()];
  if (type !== undefined && !(custom && type === "strategic")) return type;
  const accepted = Object.keys(MEDIA_TYPES).filter((name) => !(custom && MEDIA_TYPES[name] === "strategic"));
  throw unsupportedMediaType(accepted);
}
