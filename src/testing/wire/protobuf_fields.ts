import { PROTOBUF_MESSAGES } from "./protobuf_messages.ts";

/** A field of a message. */
export interface ProtobufField {
  /** Its name in JSON. */
  readonly name: string;
  /** The type of its value, or of the values of its list or map. */
  readonly type: string;
  /** True if it is a list. */
  readonly list: boolean;
  /** True if it is a map with string keys. */
  readonly map: boolean;
  /** True if a zero value is kept, which Go has a pointer for. */
  readonly keepsZero: boolean;
  /** True if its members belong to the enclosing message. */
  readonly inline: boolean;
}

const parsed = new Map<string, ReadonlyMap<number, ProtobufField>>();

/** Returns the fields of a message in {@linkcode PROTOBUF_MESSAGES}, in the order of their numbers. */
export function protobufFields(message: string): ReadonlyMap<number, ProtobufField> {
  let fields = parsed.get(message);
  if (fields === undefined) {
    const texts = PROTOBUF_MESSAGES[message].split("|").filter((field) => field !== "").map((field) =>
      field.split(" ")
    );
    fields = new Map(
      texts.sort(([a], [b]) => Number(a) - Number(b)).map(([number, name, type]) => [Number(number), {
        name: name.replace("?", ""),
        type: type.replace(/[*{}]/g, ""),
        list: type.startsWith("*"),
        map: type.startsWith("{"),
        keepsZero: name.startsWith("?"),
        inline: name.endsWith("+"),
      }]),
    );
    parsed.set(message, fields);
  }
  return fields;
}
