/**
 * Implementations of `Entry`, the form in which objects pass through reflector, queue, store and event log.
 *
 * Entry points: {@linkcode unreadEntry} for JSON text from the server, `entryOf` for an object, {@linkcode brokenEntry}
 * for an object that cannot be read, `ReducedEntry` for JSON text of some fields, `RowEntry` for a row of a table, and
 * `frozenEntry`, which freezes what is read of another entry. This folder parses objects, but does not split bodies into
 * objects (`client/decode` does) and does not store entries.
 *
 * @module
 */
import type { Entry, Identity } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../api/object.ts";
import { type FieldValue, fieldValues } from "../api/field_values.ts";
import { parseObject } from "./parse_object.ts";
import { readValues } from "./read_values.ts";

type Labels = Readonly<Record<string, string>>;

/** A value of `#metadataEnd`: the entry holds its object, parsed. */
const READ = 0;
/** A value of `#metadataEnd`: the entry holds an error in place of an object. */
const BROKEN = -1;
/** Stands for a position in the text that is not known. */
export const NO_POSITION = -1;

const decoder = new TextDecoder();

/** Creates an entry of `identity` that holds an object. */
export function parsedEntry<T extends KubernetesObject>(identity: Identity, object: T): JsonEntry<T> {
  return new JsonEntry<T>(identity, object, 0, READ, NO_POSITION, NO_POSITION, undefined);
}

/**
 * Creates an entry that holds an object as JSON text, and parses it on first read.
 *
 * The entry keeps `text` alive: pass a string or bytes of their own, never a slice of something larger.
 *
 * @param identity The identity that the text has.
 * @param text The object, as text or as UTF-8 bytes.
 * @param metadataStart The position of the value of `metadata` in `text`.
 * @param metadataEnd The position behind that value.
 * @param labelsStart The position of the value of `metadata.labels`, which is an object. Without it, or with
 * {@linkcode NO_POSITION}, a read of the labels parses the metadata.
 * @param labelsEnd The position behind that value; equal to `labelsStart` when there are no labels.
 */
export function unreadEntry<T extends KubernetesObject>(
  identity: Identity,
  text: string | Uint8Array,
  metadataStart: number,
  metadataEnd: number,
  labelsStart: number = NO_POSITION,
  labelsEnd: number = NO_POSITION,
): JsonEntry<T> {
  return new JsonEntry<T>(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
}

/** Creates an entry whose object cannot be read: every read throws `error`. */
export function brokenEntry<T extends KubernetesObject>(identity: Identity, error: DecodeError): JsonEntry<T> {
  return new JsonEntry<T>(identity, undefined, 0, BROKEN, NO_POSITION, NO_POSITION, error);
}

/** The JSON text of an object; the positions are those of {@linkcode unreadEntry}. */
export interface UnreadText {
  /** The object, as text or as UTF-8 bytes. */
  readonly text: string | Uint8Array;
  /** The position of the value of `metadata`. */
  readonly metadataStart: number;
  /** The position behind that value. */
  readonly metadataEnd: number;
  /** The position of the value of `metadata.labels`; -1 if it is not known. */
  readonly labelsStart: number;
  /** The position behind that value; equal to `labelsStart` when there are no labels. */
  readonly labelsEnd: number;
}

/** Labels that were parsed without the rest of the metadata. */
class LabelsAlone {
  readonly labels: Labels;

  constructor(labels: Labels) {
    this.labels = labels;
  }
}

/**
 * An entry in one of three states: it holds unread text, an object, or an error.
 *
 * One class for all three, so that readers see one hidden class. It has few fields, because there is one entry per
 * object.
 */
export class JsonEntry<T extends KubernetesObject> implements Entry<T> {
  /** See {@linkcode Entry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode Entry.namespace}. */
  readonly namespace: string;
  /** See {@linkcode Entry.uid}. After the parse it is the string of the object, so that one copy stays in memory. */
  uid: string;
  /** See {@linkcode Entry.resourceVersion}; the string of the object after the parse, as `uid`. */
  resourceVersion: string;
  /** The object if `#metadataEnd` is {@linkcode READ}, undefined if it is {@linkcode BROKEN}, else the unread text. */
  #body: string | Uint8Array | T | undefined;
  /** The start of the metadata if `#body` is text; the size of the text that was parsed, or 0, if it is the object. */
  #metadataStart: number;
  /** Above 0, the end of the metadata, if and only if `#body` is text; else {@linkcode READ} or {@linkcode BROKEN}. */
  #metadataEnd: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;
  /**
   * The error if `#metadataEnd` is {@linkcode BROKEN}, undefined if it is {@linkcode READ}. Beside unread text: the
   * metadata once it has been read, else the labels once these have been read, else undefined.
   */
  #aside: ObjectMeta | LabelsAlone | DecodeError | undefined;

  /** Use {@linkcode parsedEntry}, {@linkcode unreadEntry} or {@linkcode brokenEntry}. */
  constructor(
    { key, namespace, uid, resourceVersion }: Identity,
    body: string | Uint8Array | T | undefined,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
    error: DecodeError | undefined,
  ) {
    this.key = key;
    this.namespace = namespace;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.#body = body;
    this.#metadataStart = metadataStart;
    this.#metadataEnd = metadataEnd;
    this.#labelsStart = labelsStart;
    this.#labelsEnd = labelsEnd;
    this.#aside = error;
  }

  /** See {@linkcode Entry.name}. */
  get name(): string {
    return this.namespace === "" ? this.key : this.key.slice(this.namespace.length + 1);
  }

  /** See {@linkcode Entry.textBytes}. */
  get textBytes(): number | undefined {
    // A string has ASCII characters alone: one byte each.
    if (this.#metadataEnd > READ) return (this.#body as string | Uint8Array).length;
    return this.#metadataEnd === READ && this.#metadataStart > 0 ? this.#metadataStart : undefined;
  }

  /** See {@linkcode Entry.isParsed}. */
  get isParsed(): boolean {
    return this.#metadataEnd <= READ;
  }

  /** See {@linkcode Entry.error}. */
  get error(): DecodeError | undefined {
    return this.#metadataEnd === BROKEN ? this.#aside as DecodeError : undefined;
  }

  /** The unread text; `undefined` once it has been parsed, and for an error. */
  get text(): string | Uint8Array | undefined {
    return this.#metadataEnd > READ ? this.#body as string | Uint8Array : undefined;
  }

  /** The unread text and the positions in it; `undefined` once it has been parsed, and for an error. */
  get unread(): UnreadText | undefined {
    if (this.#metadataEnd <= READ) return undefined;
    return {
      text: this.#body as string | Uint8Array,
      metadataStart: this.#metadataStart,
      metadataEnd: this.#metadataEnd,
      labelsStart: this.#labelsStart,
      labelsEnd: this.#labelsEnd,
    };
  }

  /**
   * Replaces unread bytes that are part of a larger buffer, which they keep alive, by a text of their own. Returns their number;
   * 0 if there is nothing to do.
   */
  detach(): number {
    const body = this.#body;
    if (this.#metadataEnd <= READ || !(body instanceof Uint8Array) || body.length === body.buffer.byteLength) return 0;
    const text = decoder.decode(body);
    // Equal lengths: all ASCII. Else a copy of the bytes is smaller, and the positions hold.
    this.#body = text.length === body.length ? text : body.slice();
    return body.length;
  }

  /** See {@linkcode Entry.metadata}. */
  get metadata(): ObjectMeta {
    if (this.#metadataEnd <= READ) return this.object.metadata;
    if (this.#aside === undefined || this.#aside instanceof LabelsAlone) {
      this.#aside = this.#part(this.#metadataStart, this.#metadataEnd) as ObjectMeta;
    }
    return this.#aside as ObjectMeta;
  }

  /** See {@linkcode Entry.labels}. */
  get labels(): Labels | undefined {
    if (this.#metadataEnd <= READ || this.#labelsStart === NO_POSITION) return this.metadata.labels ?? undefined; // as Go
    if (this.#labelsStart === this.#labelsEnd) return undefined;
    this.#aside ??= new LabelsAlone(this.#part(this.#labelsStart, this.#labelsEnd) as Labels);
    return (this.#aside as ObjectMeta | LabelsAlone).labels;
  }

  /** See {@linkcode Entry.object}. */
  get object(): T {
    if (this.#metadataEnd > READ) this.#read(this.#body as string | Uint8Array);
    if (this.#metadataEnd === BROKEN) throw this.#aside;
    return this.#body as T;
  }

  /** See `valuesAt()`. Unread text stays unread, unless its layout is unusual. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    if (this.#metadataEnd <= READ) return fieldValues(this.object, keys);
    const text = this.#body as string | Uint8Array;
    const values = typeof text === "string"
      ? readValues(text, keys, this.#metadataStart, this.#metadataEnd)
      : readValues(decoder.decode(text), keys); // positions in bytes are none in text
    return values ?? fieldValues(this.object, keys);
  }

  /** Parses a part of the text. */
  #part(start: number, end: number): unknown {
    const text = this.#body as string | Uint8Array;
    const part = typeof text === "string" ? text.slice(start, end) : decoder.decode(text.subarray(start, end));
    try {
      return JSON.parse(part);
    } catch (cause) {
      throw this.#broken(cause);
    }
  }

  /** Parses the text and replaces it by the object. */
  #read(text: string | Uint8Array): void {
    let object: T;
    try {
      object = parseObject(typeof text === "string" ? text : decoder.decode(text)) as T;
    } catch (cause) {
      throw this.#broken(cause);
    }
    this.#body = object;
    this.#aside = undefined;
    this.#metadataStart = text.length;
    this.#metadataEnd = READ;
    // The object holds equal strings: keep one of each.
    const { uid, resourceVersion } = object.metadata ?? {};
    if (uid === this.uid) this.uid = uid;
    if (resourceVersion === this.resourceVersion) this.resourceVersion = resourceVersion;
  }

  /** Makes this entry broken and drops the text, so that later reads throw the same error. */
  #broken(cause: unknown): DecodeError {
    const error = new DecodeError(`Cannot parse "${this.key}" at version ${this.resourceVersion}`, {
      cause,
      key: this.key,
    });
    this.#body = undefined;
    this.#aside = error;
    this.#metadataEnd = BROKEN;
    return error;
  }
}
