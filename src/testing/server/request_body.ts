import { mediaTypeOf, unsupportedMediaType } from "../http/media_type.ts";
import { badRequest } from "../http/refusal.ts";
import { isDeeper, isObject, type JsonObject } from "../wire/json.ts";
import { PROTOBUF, readProtobuf } from "../wire/read_protobuf.ts";

/** Maximum nesting of objects and arrays: kube-apiserver takes 10,000 levels, which overflow the stack here. */
const MAX_DEPTH = 1_000;

/** Returns the body as text; protobuf is converted to JSON. */
export async function requestBodyText(request: Request): Promise<string> {
  if (mediaTypeOf(request.headers.get("content-type")) !== PROTOBUF) return await request.text();
  const bytes = new Uint8Array(await request.arrayBuffer());
  let object: JsonObject | undefined;
  try {
    object = readProtobuf(bytes);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
  }
  if (object === undefined) throw unsupportedMediaType(["application/json"]);
  return JSON.stringify(object);
}

/**
 * Parses the body as a JSON object.
 *
 * @throws {StatusError} 400 if it is not one.
 */
export function requestBodyObject(text: string): JsonObject {
  const value = requestBodyJson(text);
  if (!isObject(value)) throw badRequest("the body of the request must be a JSON object");
  return value;
}

/**
 * Parses the body as JSON.
 *
 * @throws {StatusError} 400 if it does not parse or is nested too deeply.
 */
export function requestBodyJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
  }
  if (isDeeper(value, MAX_DEPTH)) throw badRequest("the object provided is unrecognized: json: exceeded max depth");
  return value;
}
