import { PROTOBUF } from "../wire/read_protobuf.ts";
import { refusal } from "./refusal.ts";

/** Returns the media type of a `Content-Type` header without parameters; JSON if there is none. */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "application/json").split(";")[0].trim().toLowerCase();
}

/**
 * Requires a body of JSON or protobuf.
 *
 * @throws {StatusError} 415 for another media type.
 */
export function requireJson(contentType: string | null): void {
  const type = mediaTypeOf(contentType);
  if (type === "application/json" || type === PROTOBUF) return;
  throw unsupportedMediaType(["application/json"]);
}

/** 415: the media type of the body is not supported. */
export function unsupportedMediaType(accepted: readonly string[]): Error {
  return refusal(
    415,
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}
