import { DecodeError } from "../../api/errors.ts";
import { startsWith } from "../decode/object_reader.ts";
import { BYTES, FieldReader } from "./field_reader.ts";
import { readMessage } from "./message.ts";

/** `k8s` and a zero, before each object that stands alone. */
export const MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0]);

/** The fields of an envelope (apimachinery `runtime.Unknown`). */
export const ENVELOPE = { typeMeta: 1, raw: 2 } as const;

const TYPE_META = { 1: ["apiVersion", "string"], 2: ["kind", "string"] } as const;
const PARTIAL_KIND = "PartialObjectMetadata";
/** The type of PartialObjectMetadata as the server writes it, so that it need not be decoded for each event. */
const PARTIAL_TYPE = new TextEncoder().encode("\n\x0emeta.k8s.io/v1\x12\x15PartialObjectMetadata");

/** Reads the envelope of an object: its kind, and the place of its message. */
export class Envelope {
  /** The kind of the latest object; `""` if it has none. */
  kind = "";
  /** Start of its message. */
  start = 0;
  /** End of its message. */
  end = 0;
  readonly #fields: FieldReader = new FieldReader();

  /** Reads the envelope in `bytes[start, end)`. @throws {DecodeError} when it is none. */
  read(bytes: Uint8Array, start: number, end: number): void {
    if (!startsWith(bytes, start, end, MAGIC)) throw new DecodeError(`found no "k8s" at byte ${start}`);
    this.kind = "";
    this.start = this.end = end;
    for (let at = start + MAGIC.length; at < end;) {
      const fields = this.#fields;
      at = fields.next(bytes, at, end);
      if (fields.field === ENVELOPE.typeMeta) this.kind = kindOf(fields, bytes);
      else if (fields.field === ENVELOPE.raw) {
        fields.expect(BYTES);
        this.start = fields.start;
        this.end = fields.end;
      }
    }
  }
}

/** The kind in the latest field, which is the type in an envelope. @throws {DecodeError} */
export function kindOf(fields: FieldReader, bytes: Uint8Array): string {
  fields.expect(BYTES);
  const { start, end } = fields;
  if (end - start === PARTIAL_TYPE.length && startsWith(bytes, start, end, PARTIAL_TYPE)) return PARTIAL_KIND;
  const { kind = "" } = readMessage(fields, TYPE_META, bytes, start, end) as { kind?: string };
  return kind;
}
