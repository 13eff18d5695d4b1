/**
 * Entries: one version of one object, as JSON text that is parsed on first read.
 *
 * {@linkcode unreadEntry} and {@linkcode entryOf} are the entry points. An entry keeps one flat string or its own
 * bytes, never a slice of something larger. An entry that cannot be parsed equals no other one, and every read throws.
 * This file scans no streams; `client/decode` does. Entries around others are in `entry_around.ts`.
 *
 * @module
 */
import type { CacheEntry, Identity } from "../api/entry.ts";
import { keepLiterals, mayRound, sameLiterals } from "../api/large_integers.ts";
import { decoder, keyOf, type KubernetesObject, type ObjectKey, type ObjectMeta } from "../api/object.ts";
import { type FieldValue, fieldValues, sameValue } from "../api/selector.ts";
import { DecodeError } from "../api/status.ts";
import { CompactText, decoded, type HeldText, written } from "./compact_text.ts";
import { readValues } from "./path.ts";
import { deepFreeze, ownText, type SharedParts } from "./shared_parts.ts";
import { ownString } from "./text_difference.ts";
import type { TextTemplates } from "./text_templates.ts";

/**
 * Parses the JSON object that `text` begins with.
 *
 * The object of a watch event, `{"type":…,"object":{…}}`, is cut out of the event without a search for its end. Members
 * that a server writes after the object are then part of `text`; they are ignored.
 *
 * @throws {SyntaxError} when `text` is not JSON.
 */
export function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return (JSON.parse(`{"object":${text}}`) as { object: unknown }).object;
    } catch {
      throw error; // the position that this error names is right
    }
  }
}

type Labels = Readonly<Record<string, string>>;

/** A value of `#metadataEnd`: the entry holds its object, parsed. */
const READ = 0;
/** A value of `#metadataEnd`: the entry holds an error in place of an object. */
const BROKEN = -1;
/** Stands for a position in the text that is not known. */
export const NO_POSITION = -1;

/**
 * Creates an entry that holds an object as JSON text, and parses it on first read.
 *
 * The entry keeps `text` alive: pass a string or bytes of their own, never a slice of something larger.
 *
 * @param identity The identity that the text has.
 * @param text The object, as text or as UTF-8 bytes.
 * @param metadataStart The position of the value of `metadata` in `text`.
 * @param metadataEnd The position after that value.
 * @param labelsStart The position of the value of `metadata.labels`, which is an object. Without it, or with
 * {@linkcode NO_POSITION}, a read of the labels parses the metadata.
 * @param labelsEnd The position after that value; equal to `labelsStart` when there are no labels.
 * @param isOfCustomKind If `true`, the object keeps integers that are rounded, see `api/large_integers.ts`.
 */
export function unreadEntry<T extends KubernetesObject>(
  identity: Identity,
  text: string | Uint8Array,
  metadataStart: number,
  metadataEnd: number,
  labelsStart: number = NO_POSITION,
  labelsEnd: number = NO_POSITION,
  isOfCustomKind = false,
): JsonEntry<T> {
  const Entry = isOfCustomKind ? CustomEntry<T> : JsonEntry<T>;
  return new Entry(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
}

/** Creates an entry whose object cannot be read: every read throws `error`. */
export function brokenEntry<T extends KubernetesObject>(identity: Identity, error: DecodeError): JsonEntry<T> {
  return new JsonEntry<T>(identity, undefined, 0, BROKEN, NO_POSITION, NO_POSITION, error);
}

/** The JSON text of an object; the positions are as for {@linkcode unreadEntry}. */
export interface UnreadText {
  /** The object, as text or as UTF-8 bytes. */
  readonly text: string | Uint8Array;
  /** The position of the value of `metadata`. */
  readonly metadataStart: number;
  /** The position after that value. */
  readonly metadataEnd: number;
  /** The position of the value of `metadata.labels`; -1 if it is not known. */
  readonly labelsStart: number;
  /** The position after that value; equal to `labelsStart` when there are no labels. */
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
export class JsonEntry<T extends KubernetesObject> implements CacheEntry<T> {
  /** See {@linkcode CacheEntry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode CacheEntry.namespace}. */
  readonly namespace: string;
  /**
   * See {@linkcode CacheEntry.uid}. After the parse it is the string of the object, so that one copy stays in memory.
   */
  uid: string;
  /** See {@linkcode CacheEntry.resourceVersion}; the string of the object after the parse, as `uid`. */
  resourceVersion: string;
  /** The object if `#metadataEnd` is {@linkcode READ}, undefined if it is {@linkcode BROKEN}, else the unread text. */
  #body: HeldText | T | undefined;
  /** The start of the metadata if `#body` is text; the size of the text that was parsed, or 0, if it is the object. */
  #metadataStart: number;
  /** Above 0, the end of the metadata, if and only if `#body` is text; else {@linkcode READ} or {@linkcode BROKEN}. */
  #metadataEnd: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;
  /**
   * The error if `#metadataEnd` is {@linkcode BROKEN}, undefined if it is {@linkcode READ}. Next to unread text: the
   * metadata once it has been read, else the labels once these have been read, else undefined.
   */
  #aside: ObjectMeta | LabelsAlone | DecodeError | undefined;
  /** Set if and only if what is read is frozen, and shares its parts with the version that was read before. */
  #parts: SharedParts | undefined;

  /** Use {@linkcode entryOf}, {@linkcode unreadEntry} or {@linkcode brokenEntry}. */
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
    this.#parts = undefined;
  }

  /** See {@linkcode CacheEntry.name}. */
  get name(): string {
    return this.namespace === "" ? this.key : this.key.slice(this.namespace.length + 1);
  }

  /** See {@linkcode CacheEntry.textBytes}. */
  get textBytes(): number | undefined {
    // A string has ASCII characters only: one byte each.
    if (this.#metadataEnd > READ) return (this.#body as HeldText).length;
    return this.#metadataEnd === READ && this.#metadataStart > 0 ? this.#metadataStart : undefined;
  }

  /** See {@linkcode CacheEntry.isParsed}. */
  get isParsed(): boolean {
    return this.#metadataEnd <= READ;
  }

  /** See {@linkcode CacheEntry.error}. */
  get error(): DecodeError | undefined {
    return this.#metadataEnd === BROKEN ? this.#aside as DecodeError : undefined;
  }

  /** The unread text; `undefined` once it has been parsed, and for an error. */
  get text(): string | Uint8Array | undefined {
    return this.#metadataEnd > READ ? written(this.#body as HeldText) : undefined;
  }

  /** See {@linkcode CacheEntry.savedBytes}. */
  get savedBytes(): number {
    return this.#body instanceof CompactText ? this.#body.savedBytes : 0;
  }

  /** Holds the unread text compactly, if it resembles others. Returns `true` if it takes fewer bytes than before. */
  compact(templates: TextTemplates): boolean {
    const { text, savedBytes } = this;
    const compact = text === undefined ? undefined : templates.compact(this.key, text, this);
    if (compact === undefined || compact.savedBytes <= savedBytes) return false;
    this.release();
    this.#body = compact;
    // Those of selected fields are slices, which keep the text in memory.
    if (this.uid.length > 1) this.uid = ownString(this.uid[0], this.uid.slice(1));
    if (this.resourceVersion.length > 1) {
      this.resourceVersion = ownString(this.resourceVersion[0], this.resourceVersion.slice(1));
    }
    return true;
  }

  /** Counts as a user of its template, while the cache holds it. */
  use(): void {
    if (this.#body instanceof CompactText) this.#body.use();
  }

  /** Ends the use of its template, when the entry leaves the cache. It can still be read. */
  release(): void {
    if (this.#body instanceof CompactText) this.#body.release();
  }

  /** The unread text and the positions in it; `undefined` once it has been parsed, and for an error. */
  get unread(): UnreadText | undefined {
    if (this.#metadataEnd <= READ) return undefined;
    return {
      text: written(this.#body as HeldText),
      metadataStart: this.#metadataStart,
      metadataEnd: this.#metadataEnd,
      labelsStart: this.#labelsStart,
      labelsEnd: this.#labelsEnd,
    };
  }

  /**
   * From now on what is read is frozen, and shares its parts with the version that was read before. Returns `false` if
   * it has been parsed: then its object is frozen as it is.
   */
  share(parts: SharedParts): boolean {
    if (this.#metadataEnd > READ) this.#parts = parts;
    return this.#parts !== undefined;
  }

  /**
   * Completes the object or a member of it that has been parsed, before it is frozen. Overridden where it is marked.
   */
  protected completed<V>(part: V, _member?: string): V {
    return part;
  }

  /** Returns true if the parse may round integers whose literals are kept. Overridden for custom kinds. */
  protected rounds(_text: string): boolean {
    return false;
  }

  /**
   * Replaces unread bytes that are part of a larger buffer, which they keep alive, by a text of their own. Returns
   * their number; 0 if there is nothing to do.
   */
  detach(): number {
    const body = this.#body;
    if (this.#metadataEnd <= READ || !(body instanceof Uint8Array) || body.length === body.buffer.byteLength) return 0;
    this.#body = ownText(body, decoder.decode(body)); // the positions hold in it
    return body.length;
  }

  /** See {@linkcode CacheEntry.metadata}. */
  get metadata(): ObjectMeta {
    if (this.#metadataEnd <= READ) return this.object.metadata;
    if (this.#aside === undefined || this.#aside instanceof LabelsAlone) {
      this.#aside = this.#frozen(
        this.completed(this.#part(this.#metadataStart, this.#metadataEnd) as ObjectMeta, "metadata"),
      );
    }
    return this.#aside as ObjectMeta;
  }

  /** See {@linkcode CacheEntry.labels}. */
  get labels(): Labels | undefined {
    if (this.#metadataEnd <= READ || this.#labelsStart === NO_POSITION) return this.metadata.labels ?? undefined; // as Go
    if (this.#labelsStart === this.#labelsEnd) return undefined;
    this.#aside ??= new LabelsAlone(this.#frozen(this.#part(this.#labelsStart, this.#labelsEnd) as Labels));
    return (this.#aside as ObjectMeta | LabelsAlone).labels;
  }

  /** See {@linkcode CacheEntry.object}. */
  get object(): T {
    if (this.#metadataEnd > READ) this.#read(this.#body as HeldText);
    if (this.#metadataEnd === BROKEN) throw this.#aside;
    return this.#body as T;
  }

  /** See `valuesAt()`. Unread text stays unread, unless its layout is unusual. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    const text = this.#metadataEnd <= READ ? undefined : this.#body as HeldText;
    if (typeof text === "string") {
      return readValues(text, keys, this.#metadataStart, this.#metadataEnd) ?? fieldValues(this.object, keys);
    }
    const values = text instanceof CompactText ? text.valuesAt(keys) : text && readValues(decoder.decode(text), keys); // positions in bytes are none in text
    return values ?? fieldValues(this.object, keys);
  }

  /** Parses a part of the text. */
  #part(start: number, end: number): unknown {
    const text = this.#body as HeldText;
    const part = text instanceof Uint8Array ? decoder.decode(text.subarray(start, end)) : text.slice(start, end);
    try {
      return JSON.parse(part);
    } catch (cause) {
      throw this.#broken(cause);
    }
  }

  #frozen<V>(part: V): V {
    return this.#parts === undefined ? part : deepFreeze(part);
  }

  /** Parses the text and replaces it by the object. */
  #read(text: HeldText): void {
    const string = decoded(text);
    const isRounded = this.rounds(string);
    // Parts that are shared have their own literals, and are frozen.
    const parts = isRounded ? undefined : this.#parts;
    const shared = parts?.parse(this.key, this.uid, string);
    let object: T;
    try {
      object = (shared ?? parseObject(string)) as T;
    } catch (cause) {
      throw this.#broken(cause);
    }
    object = this.completed(object);
    if (isRounded) keepLiterals(object, string);
    if (this.#parts !== undefined) deepFreeze(object, shared === undefined);
    this.#body = object;
    this.#aside = undefined;
    this.#metadataStart = text.length;
    this.#metadataEnd = READ;
    // The object holds equal strings: keep one of each.
    const { uid, resourceVersion } = object.metadata ?? {};
    if (uid === this.uid) this.uid = uid;
    if (resourceVersion === this.resourceVersion) this.resourceVersion = resourceVersion;
    const isKept = parts?.keep(this.key, this.uid, text, string, object);
    if (text instanceof CompactText) {
      if (!isKept) text.release();
      text.template.onRead?.(this.key);
    }
  }

  /** Makes this entry broken and drops the text, so that later reads throw the same error. */
  #broken(cause: unknown): DecodeError {
    this.release();
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

/** An unread entry of a custom kind, whose integers may be beyond what JavaScript reads. */
class CustomEntry<T extends KubernetesObject> extends JsonEntry<T> {
  protected override rounds(text: string): boolean {
    return mayRound(text);
  }
}

/**
 * Creates an entry of an object.
 *
 * An object without a name makes a broken entry with the key `""`; an informer reports such entries and does not store
 * them.
 */
export function entryOf<T extends KubernetesObject>(object: T): CacheEntry<T> {
  const metadata: Partial<ObjectMeta> | undefined = object?.metadata;
  const identity: Identity = {
    key: metadata?.name ? keyOf(object) : "",
    namespace: metadata?.namespace ?? "",
    uid: metadata?.uid ?? "",
    resourceVersion: metadata?.resourceVersion ?? "",
  };
  if (identity.key !== "") return new JsonEntry(identity, object, 0, READ, NO_POSITION, NO_POSITION, undefined);
  return brokenEntry(identity, new DecodeError(`Cannot store ${describe(object)}: it has no metadata.name`));
}

function describe(object: unknown): string {
  const { kind, metadata } = (object ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown } };
  const what = typeof kind === "string" ? kind : "an object";
  return typeof metadata?.namespace === "string" ? `${what} in namespace "${metadata.namespace}"` : what;
}

type Text = string | Uint8Array;

/**
 * Returns `true` if two entries hold equal objects but for `metadata.resourceVersion`. The texts of unread entries are
 * compared, else the objects, which are parsed. A broken entry equals no entry.
 */
export function sameFields<T>(a: CacheEntry<T>, b: CacheEntry<T>): boolean {
  if (a.error !== undefined || b.error !== undefined) return false;
  const [text, other] = [unreadText(a), unreadText(b)];
  if (text !== undefined && other !== undefined) return sameText(text, a.resourceVersion, other, b.resourceVersion);
  try {
    return sameValue(a.object, b.object, (a.object as { readonly metadata?: unknown }).metadata) &&
      sameLiterals(a.object, b.object);
  } catch {
    return false; // an object that cannot be read, or a getter of a transform that throws: its readers meet the error
  }
}

/** The text that an entry holds; `undefined` if it was parsed, is broken, or has none. */
export function unreadText(entry: object): Text | undefined {
  return (entry as { readonly text?: Text }).text;
}

/**
 * Compares texts without the first member `"resourceVersion"` of this version. If another member of this name comes
 * before the metadata, the version in the metadata is compared, and differs.
 */
function sameText(a: Text, aVersion: string, b: Text, bVersion: string): boolean {
  if (a.length - aVersion.length !== b.length - bVersion.length || typeof a !== typeof b) return false;
  const [text, other] = [decoded(a), decoded(b)];
  const [member, otherMember] = [`"resourceVersion":"${aVersion}"`, `"resourceVersion":"${bVersion}"`];
  const at = text.indexOf(member);
  return at !== -1 && other.startsWith(otherMember, at) && text.slice(0, at) === other.slice(0, at) &&
    text.slice(at + member.length) === other.slice(at + otherMember.length);
}
