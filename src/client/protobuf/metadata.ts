import { DecodeError } from "../../api/status.ts";
import { BYTES, FieldReader, JsonWriter, VARINT } from "./wire.ts";
import type { Entry } from "../../api/options.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { brokenEntry, ReducedEntry, Reduction } from "../../entry/entry.ts";
import { type ReadOptions, spells } from "../decode/object_reader.ts";
import { utf8 } from "../decode/body_reader.ts";

const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const encoder = new TextEncoder();
const HEAD = encoder.encode(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`);
const NULL = encoder.encode("null");
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");

type FieldType = "text" | "number" | "bool" | "time" | "raw" | "texts" | "map" | "messages";

/** A field of a message: its key in JSON, and the shape of its value. */
interface Field {
  readonly key: Uint8Array;
  readonly type: FieldType;
  /** True if the field is written when it is empty or zero: where Go has a pointer, or no `omitempty`. */
  readonly keepsEmpty: boolean;
  /** The type of {@linkcode FieldType} `"messages"`. */
  readonly message: Message | undefined;
}

/** The fields of a message by number. The server writes JSON in the order of these numbers, but for `first`. */
interface Message {
  readonly fields: readonly (Field | undefined)[];
  /** The number of the field that comes first in JSON; 0 for none. */
  readonly first: number;
}

/** Defines a message; a field reads `NUMBER NAME TYPE`, with `?` behind the name of one that is written when empty. */
function messageOf(fields: readonly string[], messages: Readonly<Record<string, Message>> = {}, first = 0): Message {
  const byNumber: (Field | undefined)[] = [];
  for (const text of fields) {
    const [number, name, type] = text.split(" ");
    const plain = name.replace("?", "");
    byNumber[Number(number)] = {
      key: encoder.encode(`"${plain}":`),
      type: type as FieldType,
      keepsEmpty: plain !== name,
      message: messages[plain],
    };
  }
  return { fields: Array.from(byNumber), first };
}

const OWNER_REFERENCE = messageOf(
  [
    "1 kind? text",
    "3 name? text",
    "4 uid? text",
    "5 apiVersion? text",
    "6 controller? bool",
    "7 blockOwnerDeletion? bool",
  ],
  {},
  5,
);

const MANAGED_FIELDS_ENTRY = messageOf([
  "1 manager text",
  "2 operation text",
  "3 apiVersion text",
  "4 time? time",
  "6 fieldsType text",
  "7 fieldsV1? raw",
  "8 subresource text",
]);

const UID = 5;
const RESOURCE_VERSION = 6;
const LABELS = 11;
const FIELDS = [
  "1 name text",
  "2 generateName text",
  "3 namespace text",
  "4 selfLink text",
  "5 uid text",
  "6 resourceVersion text",
  "7 generation number",
  "8 creationTimestamp time",
  "9 deletionTimestamp? time",
  "10 deletionGracePeriodSeconds? number",
  "11 labels map",
  "12 annotations map",
  "13 ownerReferences messages",
  "14 finalizers texts",
];
const MESSAGES = { ownerReferences: OWNER_REFERENCE, managedFields: MANAGED_FIELDS_ENTRY };

/** apimachinery `meta/v1` generated.proto and types.go: ObjectMeta. */
const OBJECT_META = {
  drop: messageOf(FIELDS, MESSAGES),
  keep: messageOf([...FIELDS, "17 managedFields messages"], MESSAGES),
} as const;

/**
 * Converts ObjectMeta from protobuf to the text of a PartialObjectMetadata that the server writes in JSON, in one
 * recycled buffer. So entries are the same however objects arrive; a string takes no more memory than an array of the
 * shorter bytes.
 *
 * Unknown fields are left out. A field that occurs twice, with others between, is refused, as no Kubernetes server
 * writes it.
 */
class MetadataText {
  /** Start of the value of `metadata` in the text. */
  readonly metadataStart: number = HEAD.length;
  /** End of it. */
  metadataEnd = 0;
  /** Start of the value of `metadata.labels`; 0 without labels. */
  labelsStart = 0;
  /** End of it. */
  labelsEnd = 0;
  /** End of the text of `metadata.uid`, inside its quotes; 0 if there is none, or if JSON escapes a part of it. */
  uidEnd = 0;
  /** As `uidEnd`, of `metadata.resourceVersion`. */
  versionEnd = 0;
  readonly #message: Message;
  readonly #fields: FieldReader;
  readonly #writer = new JsonWriter();

  /** Reads by `fields`, whose state changes; `"drop"` leaves out managedFields. */
  constructor(fields: FieldReader, managedFields: "drop" | "keep") {
    this.#fields = fields;
    this.#message = OBJECT_META[managedFields];
    this.#writer.literal(HEAD);
  }

  /** The text of the ObjectMeta in `bytes[start, end)`, valid until the next call. @throws {DecodeError} */
  write(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const writer = this.#writer;
    writer.reset(HEAD.length);
    this.labelsStart =
      this.labelsEnd =
      this.uidEnd =
      this.versionEnd =
        0;
    this.#write(this.#message, bytes, start, end, 0);
    this.metadataEnd = writer.length;
    writer.byte(CLOSE_BRACE);
    return writer.bytes.subarray(0, writer.length);
  }

  /** Writes the fields of a message; only the field `only` if that is not 0. */
  #write(message: Message, bytes: Uint8Array, start: number, limit: number, only: number): void {
    const { fields, first } = message;
    const reader = this.#fields;
    const writer = this.#writer;
    /** The bits of the numbers that have occurred. */
    let seen = 0;
    /** The list or map that is not closed. */
    let open = 0;
    if (only === 0) writer.byte(OPEN_BRACE);
    const begin = writer.length;
    if (first !== 0 && only === 0) this.#write(message, bytes, start, limit, first);
    for (let at = start; at < limit;) {
      at = reader.next(bytes, at, limit);
      const { field: number, start: from, end: to } = reader;
      const field = number < fields.length ? fields[number] : undefined;
      if (field === undefined || (only === 0 ? number === first : number !== only)) continue;
      const { type, keepsEmpty } = field;
      const follows = number === open;
      if (!follows) {
        if ((seen >>> number & 1) === 1) {
          throw new DecodeError(`found field ${number} again behind other fields, at byte ${from}`);
        }
        seen |= 1 << number;
        if (open !== 0) this.#close(open, fields[open]!);
        open = 0;
      }
      reader.expect(type === "number" || type === "bool" ? VARINT : BYTES);
      if (
        !keepsEmpty && (type === "number" ? reader.value === 0 : from === to && (type === "text" || type === "time"))
      ) {
        continue;
      }
      if (follows || writer.length > begin) writer.byte(COMMA);
      if (!follows) writer.literal(field.key);
      const begun = writer.length;
      switch (type) {
        case "text":
          writer.string(bytes, from, to);
          if (message === this.#message) this.#mark(number, begun, to - from);
          break;
        case "number":
          writer.ascii(reader.decimal(bytes));
          break;
        case "bool":
          writer.literal(reader.value === 0 ? FALSE : TRUE);
          break;
        case "time":
          if (from === to) writer.literal(NULL);
          else writer.time(this.#seconds(bytes, from, to));
          break;
        case "raw":
          this.#raw(bytes, from, to);
          break;
        case "map":
          if (!follows) this.#open(number, OPEN_BRACE);
          open = number;
          this.#pair(bytes, from, to);
          break;
        case "texts":
          if (!follows) this.#open(number, OPEN_BRACKET);
          open = number;
          writer.string(bytes, from, to);
          break;
        case "messages":
          if (!follows) this.#open(number, OPEN_BRACKET);
          open = number;
          this.#write(field.message!, bytes, from, to, 0);
          break;
      }
    }
    if (open !== 0) this.#close(open, fields[open]!);
    if (only === 0) writer.byte(CLOSE_BRACE);
  }

  /** Remembers the end of a text that identifies the object, if its JSON has no escapes. */
  #mark(number: number, begun: number, length: number): void {
    const { length: after } = this.#writer;
    if (after - begun !== length + 2) return;
    if (number === UID) this.uidEnd = after - 1;
    else if (number === RESOURCE_VERSION) this.versionEnd = after - 1;
  }

  #open(number: number, bracket: number): void {
    if (number === LABELS) this.labelsStart = this.#writer.length;
    this.#writer.byte(bracket);
  }

  #close(number: number, { type }: Field): void {
    this.#writer.byte(type === "map" ? CLOSE_BRACE : CLOSE_BRACKET);
    if (number === LABELS) this.labelsEnd = this.#writer.length;
  }

  /** An entry of a map of texts. */
  #pair(bytes: Uint8Array, start: number, limit: number): void {
    const reader = this.#fields;
    let keyStart = limit;
    let keyEnd = limit;
    let valueStart = limit;
    let valueEnd = limit;
    for (let at = start; at < limit;) {
      at = reader.next(bytes, at, limit);
      if (reader.field === 1) {
        reader.expect(BYTES);
        keyStart = reader.start;
        keyEnd = reader.end;
      } else if (reader.field === 2) {
        reader.expect(BYTES);
        valueStart = reader.start;
        valueEnd = reader.end;
      }
    }
    const writer = this.#writer;
    writer.string(bytes, keyStart, keyEnd);
    writer.byte(COLON);
    writer.string(bytes, valueStart, valueEnd);
  }

  /** The seconds since 1970 in a time, whose fraction JSON leaves out. */
  #seconds(bytes: Uint8Array, start: number, limit: number): number {
    const reader = this.#fields;
    let seconds = 0;
    for (let at = start; at < limit;) {
      at = reader.next(bytes, at, limit);
      if (reader.field !== 1) continue;
      reader.expect(VARINT);
      seconds = Number(reader.decimal(bytes));
    }
    return seconds;
  }

  /** The JSON in a FieldsV1. */
  #raw(bytes: Uint8Array, start: number, limit: number): void {
    const reader = this.#fields;
    let from = limit;
    let to = limit;
    for (let at = start; at < limit;) {
      at = reader.next(bytes, at, limit);
      if (reader.field !== 1) continue;
      reader.expect(BYTES);
      from = reader.start;
      to = reader.end;
    }
    if (from === to) this.#writer.literal(NULL);
    else this.#writer.raw(bytes, from, to);
  }
}

const SLASH = 47;
const NAME = 1;
const NAMESPACE = 3;

/** Converts the bytes of PartialObjectMetadata to entries, whose text is that of the server's JSON. */
export class MetadataReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #fields = new FieldReader();
  readonly #text: MetadataText;
  /** The ranges of the texts in the latest ObjectMeta, by twice their number. */
  readonly #ranges = new Int32Array(2 * RESOURCE_VERSION + 2);
  /** The numbers of the texts that identify an object of the resource. */
  readonly #identity: readonly number[];
  /** Start of the latest ObjectMeta; -1 if there is none. */
  #start = -1;
  #end = -1;
  /** The namespace of the latest object, whose string the next one shares. */
  #namespace = "";
  /** Buffer for keys. */
  #key = new Uint8Array(1_024);

  /** Reads metadata of one resource. */
  constructor(options: ReadOptions) {
    this.#options = options;
    const isNamespaced = options.resource.scope === "Namespaced";
    this.#identity = [RESOURCE_VERSION, UID, NAME, ...isNamespaced ? [NAMESPACE] : []];
    this.#text = new MetadataText(this.#fields, options.managedFields);
  }

  /**
   * The object in `bytes[start, end)`, or the known entry of the same version. The caller may reuse the bytes. An
   * object without a name becomes a broken entry with the key `""`.
   *
   * @throws {DecodeError} when it is no PartialObjectMetadata.
   */
  read(bytes: Uint8Array, start: number, end: number): Entry<T> {
    this.#walk(bytes, start, end);
    const ranges = this.#ranges;
    const namespace = this.#namespaceOf(bytes);
    const uidStart = ranges[2 * UID];
    const uidEnd = ranges[2 * UID + 1];
    const versionStart = ranges[2 * RESOURCE_VERSION];
    const versionEnd = ranges[2 * RESOURCE_VERSION + 1];
    if (ranges[2 * NAME] === ranges[2 * NAME + 1]) {
      const message = `Cannot file metadata of "${resourceName(this.#options.resource)}": it has no metadata.name`;
      return brokenEntry<T>({ key: "", namespace, uid: "", resourceVersion: "" }, new DecodeError(message));
    }
    const key = this.#keyOf(bytes, namespace);
    const known = this.#options.known?.(key);
    if (
      known !== undefined && versionStart < versionEnd &&
      spells(known.resourceVersion, bytes, versionStart, versionEnd) &&
      spells(known.uid, bytes, uidStart, uidEnd) && known.error === undefined
    ) return known as Entry<T>;
    const text = this.#text;
    const written = text.write(bytes, this.#start, this.#end);
    const string = utf8.decode(written);
    // Equal lengths: all ASCII, so the string is flat, with one byte per character. Else a copy of the bytes is
    // smaller.
    const ascii = string.length === written.length;
    const { uidEnd: uidAt, versionEnd: versionAt } = text;
    const uidLength = uidEnd - uidStart;
    const versionLength = versionEnd - versionStart;
    const identity = {
      key,
      namespace,
      // Slices of the entry's own text, which they are replaced with when that is parsed.
      uid: ascii && uidAt > 0 ? string.slice(uidAt - uidLength, uidAt) : utf8.decode(bytes.subarray(uidStart, uidEnd)),
      resourceVersion: ascii && versionAt > 0
        ? string.slice(versionAt - versionLength, versionAt)
        : utf8.decode(bytes.subarray(versionStart, versionEnd)),
    };
    const own = ascii ? string : written.slice();
    const { metadataStart, metadataEnd, labelsStart, labelsEnd } = text;
    return new ReducedEntry<T>(Reduction.metadata, identity, own, metadataStart, metadataEnd, labelsStart, labelsEnd);
  }

  /** Finds the ObjectMeta, and what identifies the object. */
  #walk(bytes: Uint8Array, start: number, end: number): void {
    const fields = this.#fields;
    const ranges = this.#ranges;
    this.#start = this.#end = end;
    let seen = false;
    for (let at = start; at < end;) {
      at = fields.next(bytes, at, end);
      if (fields.field !== 1) continue;
      fields.expect(BYTES);
      if (seen) throw new DecodeError("found metadata twice in one object");
      seen = true;
      this.#start = fields.start;
      this.#end = fields.end;
    }
    ranges.fill(0);
    const limit = this.#end;
    for (let at = this.#start; at < limit;) {
      at = fields.next(bytes, at, limit);
      const number = fields.field;
      if (number > RESOURCE_VERSION) {
        // Encoders write fields in the order of their numbers. What one writes that does not is read to the end.
        if (this.#identity.every((field) => ranges[2 * field + 1] > 0)) return;
        continue;
      }
      fields.expect(BYTES);
      ranges[2 * number] = fields.start;
      ranges[2 * number + 1] = fields.end;
    }
  }

  #namespaceOf(bytes: Uint8Array): string {
    const start = this.#ranges[2 * NAMESPACE];
    const end = this.#ranges[2 * NAMESPACE + 1];
    if (!spells(this.#namespace, bytes, start, end)) this.#namespace = utf8.decode(bytes.subarray(start, end));
    return this.#namespace;
  }

  /** The key, as one flat string. */
  #keyOf(bytes: Uint8Array, namespace: string): ObjectKey {
    const ranges = this.#ranges;
    const start = ranges[2 * NAME];
    const end = ranges[2 * NAME + 1];
    if (namespace === "") return utf8.decode(bytes.subarray(start, end));
    const before = ranges[2 * NAMESPACE];
    const length = ranges[2 * NAMESPACE + 1] - before;
    const needed = length + 1 + end - start;
    if (needed > this.#key.length) this.#key = new Uint8Array(2 * needed);
    const key = this.#key;
    for (let at = 0; at < length; at++) key[at] = bytes[before + at];
    key[length] = SLASH;
    for (let at = start, to = length + 1; at < end;) key[to++] = bytes[at++];
    return utf8.decode(key.subarray(0, needed));
  }
}
