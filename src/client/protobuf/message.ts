import { utf8 } from "../decode/utf8.ts";
import { BYTES, type FieldReader, VARINT } from "./field_reader.ts";

/** The type of a field: text, a number, a map of texts, a message, or a list of messages. */
type FieldType = "string" | "int" | "strings" | Schema | readonly [Schema];

/** The fields of a message that are read, by number. */
export interface Schema {
  /** The name of a field in JSON, and its type. */
  readonly [field: number]: readonly [name: string, type: FieldType];
}

const LIST_META: Schema = {
  2: ["resourceVersion", "string"],
  3: ["continue", "string"],
  4: ["remainingItemCount", "int"],
};
const CAUSE: Schema = { 1: ["reason", "string"], 2: ["message", "string"], 3: ["field", "string"] };
const DETAILS: Schema = {
  1: ["name", "string"],
  2: ["group", "string"],
  3: ["kind", "string"],
  4: ["causes", [CAUSE]],
  5: ["retryAfterSeconds", "int"],
  6: ["uid", "string"],
};

/** The message of a list's metadata (apimachinery `meta/v1` ListMeta). */
export const LIST_META_SCHEMA: Schema = LIST_META;

/** The message of a failure (apimachinery `meta/v1` Status). */
export const STATUS_SCHEMA: Schema = {
  1: ["metadata", LIST_META],
  2: ["status", "string"],
  3: ["message", "string"],
  4: ["reason", "string"],
  5: ["details", DETAILS],
  6: ["code", "int"],
};

/** The fields of a bookmark, which is a PartialObjectMetadata. */
export const BOOKMARK_SCHEMA: Schema = {
  1: ["metadata", { 6: ["resourceVersion", "string"], 12: ["annotations", "strings"] }],
};

/** Converts a message to the object that the server writes in JSON: without empty texts, and without fields of no name. */
export function readMessage(
  reader: FieldReader,
  schema: Schema,
  bytes: Uint8Array,
  start: number,
  limit: number,
): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let at = start; at < limit;) {
    at = reader.next(bytes, at, limit);
    const known = schema[reader.field];
    if (known === undefined) continue;
    const [name, type] = known;
    reader.expect(type === "int" ? VARINT : BYTES);
    const { start, end } = reader;
    if (type === "int") object[name] = Number(reader.decimal(bytes));
    else if (type === "string") {
      if (start < end) object[name] = utf8.decode(bytes.subarray(start, end));
    } else if (type === "strings") {
      const { key = "", value = "" } = readMessage(reader, MAP_ENTRY, bytes, start, end) as Record<string, string>;
      const map = (object[name] ??= Object.create(null)) as Record<string, string>;
      map[key] = value;
    } else if (isList(type)) {
      const list = (object[name] ??= []) as unknown[];
      list.push(readMessage(reader, type[0], bytes, start, end));
    } else object[name] = readMessage(reader, type, bytes, start, end);
  }
  return object;
}

const MAP_ENTRY: Schema = { 1: ["key", "string"], 2: ["value", "string"] };

function isList(type: FieldType): type is readonly [Schema] {
  return Array.isArray(type);
}
