import { mediaTypeOf } from "../http/media_type.ts";
import { badRequest, refusal } from "../http/refusal.ts";
import { joinBytes } from "../wire/byte_body.ts";
import { isDeeper, isObject, type JsonObject } from "../wire/json.ts";
import { PROTOBUF, readProtobuf, UnknownMessage } from "../wire/read_protobuf.ts";

/** Maximum nesting of objects and arrays: kube-apiserver takes 10,000 levels, which overflow the stack here. */
const MAX_DEPTH = 1_000;

/** Maximum bytes of a body, as of kube-apiserver. */
const MAX_BYTES = 3_145_728;

const decoder = new TextDecoder();

/**
 * Returns the body as text; protobuf is converted to JSON.
 *
 * @throws {StatusError} 413 if it has more than 3 MiB, 415 for protobuf that is not known, 400 for bytes that are none.
 */
export async function requestBodyText(request: Request): Promise<string> {
  const bytes = await bodyBytes(request);
  if (mediaTypeOf(request.headers.get("content-type")) !== PROTOBUF) return decoder.decode(bytes);
  try {
    return JSON.stringify(readProtobuf(bytes));
  } catch (error) {
    const { message } = error as Error;
    if (!(error instanceof UnknownMessage)) throw badRequest(`the object provided is unrecognized: ${message}`);
    throw refusal(
      415,
      `the fake server does not read ${message} in protobuf; send JSON: the content type of the client is ` +
        "application/json (in client-go ContentType of rest.Config)",
    );
  }
}

async function bodyBytes({ body }: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    if ((size += chunk.length) > MAX_BYTES) throw refusal(413, `Request entity too large: limit is ${MAX_BYTES}`);
  }
  return joinBytes(...chunks);
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
