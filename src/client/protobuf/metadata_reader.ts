import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { brokenEntry } from "../../entry/json_entry.ts";
import { ReducedEntry } from "../../entry/reduced_entry.ts";
import { Reduction } from "../../entry/reduction.ts";
import { type ReadOptions, spells } from "../decode/object_reader.ts";
import { utf8 } from "../decode/utf8.ts";
import { BYTES, FieldReader } from "./field_reader.ts";
import { MetadataText } from "./metadata_text.ts";

const SLASH = 47;
const NAME = 1;
const NAMESPACE = 3;
const UID = 5;
const RESOURCE_VERSION = 6;

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
   * The object in `bytes[start, end)`, or the known entry of the same version. The caller may reuse the bytes. An object
   * without a name becomes a broken entry with the key `""`.
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
    // Equal lengths: all ASCII, so the string is flat, with one byte per character. Else a copy of the bytes is smaller.
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
