import { PROTOBUF } from "../wire/read_protobuf.ts";
import { refusal } from "./refusal.ts";

/** The type that a `Content-Type` header names, without its parameters; JSON where there is none. */
export function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "application/json").split(";")[0].trim().toLowerCase();
}

/**
 * Refuses a body that is neither JSON nor protobuf.
 *
 * @throws {StatusError} 415.
 */
export function requireJson(contentType: string | null): void {
  const type = mediaTypeOf(contentType);
  if (type === "application/json" || type === PROTOBUF) return;
  throw unsupportedMediaType(["application/json"]);
}

/** 415: the body is in none of these formats. */
export function unsupportedMediaType(accepted: readonly string[]): Error {
  return refusal(
    415,
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}
