/**
 * Entries: one version of one object, as JSON text that is parsed on first read.
 *
 * {@linkcode unreadEntry} and {@linkcode entryOf} are the entry points. An entry keeps one flat string or its own
 * bytes, never a slice of something larger. An entry that cannot be parsed equals no other one, and every read throws.
 * This file scans no streams; `client/decode` does.
 *
 * @module
 */
import type { DecodeOptions, Projection } from "../api/call_options.ts";
import type { CacheEntry, Identity } from "../api/entry.ts";
import { FieldTree, MANAGED_FIELDS, MAX_ARRAYS, namesManagedFields } from "../api/fields.ts";
import {
  deepJson,
  exactJson,
  keepLiterals,
  markAround,
  markAs,
  mayRound,
  sameLiterals,
} from "../api/large_integers.ts";
import {
  decoder,
  encoder,
  keyOf,
  type KubernetesObject,
  type ObjectKey,
  type ObjectMeta,
  type Reduced,
  reduced,
} from "../api/object.ts";
import {
  isCustom,
  isSecret,
  type Resource,
  SECRET_ANNOTATIONS,
  SECRET_DATA,
  type TableColumn,
  type TableRow,
} from "../api/resource.ts";
import { type FieldValue, fieldValues, formatFieldPath, parseFieldPath, sameValue } from "../api/selector.ts";
import { DecodeError } from "../api/status.ts";
import { CompactText, decoded, type HeldText, written } from "./compact_text.ts";
import { readValues, valuesAt } from "./path.ts";
import { deepFreeze, type SharedParts } from "./shared_parts.ts";
import type { TextTemplates } from "./text_templates.ts";

/**
 * Parses the JSON object that `text` begins with.
 *
 * The object of a watch event, `{"type":…,"object":{…}}`, is cut out of the event without a search for its end. Members
 * that a server writes behind the object are then part of `text`; they are ignored.
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

/** Creates an entry of `identity` that holds an object. */
function parsedEntry<T extends KubernetesObject>(identity: Identity, object: T): JsonEntry<T> {
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

/** The JSON text of an object; the positions are those of {@linkcode unreadEntry}. */
interface UnreadText {
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
   * The error if `#metadataEnd` is {@linkcode BROKEN}, undefined if it is {@linkcode READ}. Beside unread text: the
   * metadata once it has been read, else the labels once these have been read, else undefined.
   */
  #aside: ObjectMeta | LabelsAlone | DecodeError | undefined;
  /** Set if and only if what is read is frozen, and shares its parts with the version that was read before. */
  #parts: SharedParts | undefined;

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
    const text = decoder.decode(body);
    // Equal lengths: all ASCII. Else a copy of the bytes is smaller, and the positions hold.
    this.#body = text.length === body.length ? text : body.slice();
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
  if (identity.key !== "") return parsedEntry(identity, object);
  return brokenEntry(identity, new DecodeError(`Cannot store ${describe(object)}: it has no metadata.name`));
}

function describe(object: unknown): string {
  const { kind, metadata } = (object ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown } };
  const what = typeof kind === "string" ? kind : "an object";
  return typeof metadata?.namespace === "string" ? `${what} in namespace "${metadata.namespace}"` : what;
}

/** The JSON text of an object as UTF-8 bytes, and the positions in them. */
interface EntryBytes extends UnreadText {
  /** The object. */
  readonly text: Uint8Array;
}

/**
 * Returns the text of an entry: that which it holds, or where its object was parsed or has no text, that of
 * `JSON.stringify`.
 *
 * @throws {DecodeError} when the entry is broken, and what `JSON.stringify` throws.
 */
export function entryBytes<T extends KubernetesObject>(entry: CacheEntry<T>): EntryBytes {
  const unread = (entry as { readonly unread?: UnreadText }).unread ?? writtenObject(entry.object, entry.key);
  const { text } = unread;
  if (typeof text !== "string") return { ...unread, text };
  const bytes = encoder.encode(text);
  if (bytes.length === text.length) return { ...unread, text: bytes };
  const at = (position: number): number => position < 0 ? position : encoder.encode(text.slice(0, position)).length;
  return {
    text: bytes,
    metadataStart: at(unread.metadataStart),
    metadataEnd: at(unread.metadataEnd),
    labelsStart: at(unread.labelsStart),
    labelsEnd: at(unread.labelsEnd),
  };
}

/**
 * Returns an object, or its metadata alone, as JSON: the text that it came as, or where that was parsed, that of
 * `JSON.stringify`.
 *
 * @throws {DecodeError} when the entry is broken.
 */
export function entryText(entry: CacheEntry<KubernetesObject>, part: "object" | "metadata" = "object"): string {
  const { unread } = entry as { readonly unread?: UnreadText };
  if (unread === undefined) return jsonOf(entry[part], entry.key);
  const { text, metadataStart, metadataEnd } = unread;
  const [start, end] = part === "object" ? [0, text.length] : [metadataStart, metadataEnd];
  return typeof text === "string" ? text.slice(start, end) : decoder.decode(text.subarray(start, end));
}

/** Writes an object as `JSON.stringify` does, and notes where its metadata are. @throws as {@linkcode jsonOf}. */
function writtenObject(object: KubernetesObject, key: ObjectKey): UnreadText {
  let text = "{";
  let [metadataStart, metadataEnd] = [0, 0];
  for (const [name, member] of Object.entries(object)) {
    const value = jsonOf(member, key);
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:`;
    if (name === "metadata") metadataStart = text.length;
    text += value;
    if (name === "metadata") metadataEnd = text.length;
  }
  return { text: `${text}}`, metadataStart, metadataEnd, labelsStart: -1, labelsEnd: -1 };
}

/**
 * Returns what `JSON.stringify` returns of a part of the object with this key, also where it is nested deeper than the
 * stack allows, as objects of servers may be.
 *
 * @throws {TypeError} which names the key, when it has a cycle, or another value that JSON does not have.
 */
export function jsonOf(value: unknown, key: ObjectKey): string {
  try {
    try {
      return exactJson(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return deepJson(value);
    }
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : "a getter throws").split("\n");
    throw new TypeError(
      `Cannot write "${key}" as JSON: ${reason}. Leave out of the object what JSON does not have, such as a member that ` +
        "leads back to its parent",
      { cause },
    );
  }
}

/**
 * Returns an entry whose object, metadata and labels are frozen, deeply, when they are first read: writing to them
 * throws a `TypeError`. An unread entry is returned as it is, and shares its parts by `parts`. Others are wrapped.
 *
 * Freezing costs about a third of a parse, once per object that is read, and nothing for shared parts.
 */
export function frozenEntry<T extends KubernetesObject>(entry: CacheEntry<T>, parts: SharedParts): CacheEntry<T> {
  if (entry instanceof FrozenEntry) return entry;
  if (entry instanceof JsonEntry && entry.share(parts)) return entry;
  return new FrozenEntry(entry);
}

/** An entry around another one, of the same object. */
abstract class EntryAround<T extends KubernetesObject, O> implements CacheEntry<O> {
  protected readonly wrapped: CacheEntry<T>;
  /** See {@linkcode CacheEntry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode CacheEntry.namespace}. */
  readonly namespace: string;
  /** See {@linkcode CacheEntry.uid}. */
  readonly uid: string;
  /** See {@linkcode CacheEntry.resourceVersion}. */
  readonly resourceVersion: string;

  constructor(entry: CacheEntry<T>) {
    this.wrapped = entry;
    this.key = entry.key;
    this.namespace = entry.namespace;
    this.uid = entry.uid;
    this.resourceVersion = entry.resourceVersion;
  }

  abstract get object(): O;

  /** See {@linkcode CacheEntry.name}. */
  get name(): string {
    return this.wrapped.name;
  }

  /** See {@linkcode CacheEntry.error}. */
  get error(): DecodeError | undefined {
    return this.wrapped.error;
  }

  /** See {@linkcode CacheEntry.textBytes}: that of the entry inside. */
  get textBytes(): number | undefined {
    return this.wrapped.textBytes;
  }

  /** See {@linkcode CacheEntry.savedBytes}. */
  get savedBytes(): number | undefined {
    return this.wrapped.savedBytes;
  }

  /** See {@linkcode CacheEntry.isParsed}. */
  get isParsed(): boolean | undefined {
    return this.wrapped.isParsed;
  }

  /** See {@linkcode CacheEntry.metadata}. */
  get metadata(): ObjectMeta {
    return this.wrapped.metadata;
  }

  /** See {@linkcode CacheEntry.labels}. */
  get labels(): CacheEntry<O>["labels"] {
    return this.wrapped.labels;
  }
}

/** An entry around one that was parsed before, or made of an object. */
class FrozenEntry<T extends KubernetesObject> extends EntryAround<T, T> {
  /** As that of a `JsonEntry`. */
  get text(): string | Uint8Array | undefined {
    return (this.wrapped as { readonly text?: string | Uint8Array }).text;
  }

  /** The entry that this one freezes. */
  get unfrozen(): CacheEntry<T> {
    return this.wrapped;
  }

  override get metadata(): ObjectMeta {
    return deepFreeze(this.wrapped.metadata);
  }

  override get labels(): CacheEntry<T>["labels"] {
    return deepFreeze(this.wrapped.labels);
  }

  override get object(): T {
    return deepFreeze(this.wrapped.object);
  }

  /** See `valuesAt()`: strings need no freezing. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    return valuesAt(this.wrapped, keys);
  }
}

/**
 * Returns the fields of a value that `tree` keeps: a new object, whose leaves are those of `value`. `undefined` if
 * nothing is kept of a value without members.
 */
export function pickFields(value: unknown, tree: FieldTree): unknown {
  return markAs(value, pick(value, tree, 0));
}

function pick(value: unknown, tree: FieldTree, arrays: number): unknown {
  if (tree.isLeaf || value === null) return value;
  if (typeof value !== "object") return tree.keepsOthers ? value : undefined;
  if (Array.isArray(value)) {
    return arrays === MAX_ARRAYS ? undefined : value.map((element) => pick(element, tree, arrays + 1) ?? null);
  }
  const picked: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const below = tree.below(key);
    const kept = below.isNothing ? undefined : pick(member, below, 0);
    if (kept !== undefined) Object.defineProperty(picked, key, { value: kept, ...PROPERTY });
  }
  return picked;
}

/** A plain property, also under the key `__proto__`. */
const PROPERTY = { enumerable: true, configurable: true, writable: true };

/** Returns metadata with those of its managedFields that an option keeps. */
export function metadataWith<M extends object>(metadata: M, kept: DecodeOptions["managedFields"] = "keep"): M {
  if (kept === "keep" || !("managedFields" in metadata)) return metadata;
  const { managedFields, ...rest } = metadata as M & Pick<ObjectMeta, "managedFields">;
  if (kept === "drop" || !Array.isArray(managedFields)) return rest as unknown as M;
  return { ...metadata, managedFields: managedFields.filter((entry) => entry?.manager === kept.manager) };
}

type Marked = { -readonly [Name in keyof Reduced]: Reduced[Name] };

/** The fields to which objects are reduced, and the mark that such objects have. */
export class Reduction {
  /** The fields that objects have. */
  readonly fields: FieldTree;
  /** The members whose reading throws an error, because their absence could be taken for that on the server. */
  readonly #hidden: readonly string[];
  /** The value of the mark {@linkcode reduced}. */
  readonly mark: string;
  /** `true` for the objects of a custom kind. */
  readonly isCustom: boolean;

  static #metadata: Reduction | undefined;

  private constructor(fields: FieldTree, mark: string, isCustom = false, hidden: readonly string[] = []) {
    this.fields = fields;
    this.mark = mark;
    this.isCustom = isCustom;
    this.#hidden = hidden;
  }

  /** The reduction of objects to metadata, which the server makes. */
  static get metadata(): Reduction {
    return this.#metadata ??= new Reduction(FieldTree.of(["metadata"]), "its metadata");
  }

  /**
   * The reduction of a resource's objects, also of those in rows; `undefined` if they are complete.
   *
   * @throws {SyntaxError} when a path is none.
   * @throws {TypeError} when a path leads to data of Secrets, which is dropped.
   */
  static of(resource: Resource, options: Projection & DecodeOptions = {}): Reduction | undefined {
    const { fields = resource.fields, secretData, managedFields } = options;
    const isMetadata = resource.representation === "metadata";
    const secret = secretData === "drop" ? secretPaths(resource, options) : [];
    if (fields === undefined && secret.length === 0) return isMetadata ? Reduction.metadata : undefined;
    for (const path of fields ?? []) {
      if (secret.some((hidden) => isAtOrBelow(path, hidden))) throw hiddenError(`keep "${path}"`);
    }
    const dropsManaged = (managedFields ?? "keep") !== "keep" && !namesManagedFields(fields ?? []);
    const kept = (fields === undefined ? FieldTree.leaf : FieldTree.of(fields))
      .without([...secret, ...dropsManaged ? [MANAGED_FIELDS] : []]);
    if (fields !== undefined) {
      const mark = `the fields ${fields.length === 0 ? "that identify it" : fields.join(", ")}`;
      return new Reduction(kept, mark, isCustom(resource));
    }
    return isMetadata
      ? new Reduction(kept, Reduction.metadata.mark)
      : new Reduction(kept, "the fields beside its data", false, SECRET_DATA);
  }

  /** `true` if a resource's objects may have data of Secrets. @throws as {@linkcode of}. */
  static keepsSecrets(resource: Resource, options: Projection & DecodeOptions): boolean {
    const { fields } = Reduction.of(resource, options) ?? { fields: FieldTree.leaf };
    return fields.without(secretPaths(resource, options)) !== fields;
  }

  /** Reduces an object as the server sent it: metadata is reduced by the server. The result is marked. */
  of<T>(object: T): T {
    return this.marked(this === Reduction.metadata ? object : pickFields(object, this.fields) as T);
  }

  /**
   * Marks an object that has been reduced, or a member of it, and those of its parts that were reduced too: the values
   * of leaves are complete. Returns it. A marked one is returned as it is.
   */
  marked<T>(value: T, member?: string): T {
    if ((value as Reduced)[reduced] === undefined) {
      mark(value, member === undefined ? this.fields : this.fields.members.get(member)!, this.mark);
      if (member === undefined) { for (const name of this.#hidden) hide(value as object, name); }
    }
    return value;
  }

  /** @throws {TypeError} when the keys lead to a member whose reading throws an error. */
  refuseHidden([first]: readonly string[]): void {
    if (this.#hidden.includes(first)) throw hiddenError(`read "${first}"`);
  }
}

/** The paths at which objects of a resource have data of Secrets. */
function secretPaths(resource: Resource, { secretAnnotations = [] }: DecodeOptions): readonly string[] {
  if (!isSecret(resource)) return [];
  const annotations = [...SECRET_ANNOTATIONS, ...secretAnnotations];
  return [...SECRET_DATA, ...annotations.map((name) => formatFieldPath(["metadata", "annotations", name]))];
}

function isAtOrBelow(path: string, place: string): boolean {
  const keys = parseFieldPath(path);
  return parseFieldPath(place).every((key, i) => keys[i] === key);
}

/** Defines a member that is not there, and throws when it is read. It can be set. Copies and JSON do not have it. */
function hide(object: object, name: string): void {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: false,
    get: () => {
      throw hiddenError(`read "${name}"`);
    },
    set(this: object, value: unknown): void {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

function mark(value: unknown, tree: FieldTree, text: string): void {
  if (tree.members.size === 0 || typeof value !== "object" || value === null) return;
  if ((value as Reduced)[reduced] !== undefined) return; // it is shared with the version before
  if (Array.isArray(value)) {
    for (const element of value) mark(element, tree, text);
    return;
  }
  (value as Marked)[reduced] = text;
  for (const [key, below] of tree.members) {
    if (below.members.size > 0 && Object.hasOwn(value, key)) mark((value as Record<string, unknown>)[key], below, text);
  }
}

function hiddenError(action: string): TypeError {
  const error = new TypeError(
    `Cannot ${action} of a Secret: informers do not keep it. Create the informer with secretData: "keep", or read the object ` +
      `with client.get()`,
  );
  return Object.assign(error, { reason: "argument" });
}

/** An unread entry whose text has only some fields of its object. The object is marked when it is first read. */
export class ReducedEntry<T extends KubernetesObject> extends JsonEntry<T> {
  readonly #reduction: Reduction;

  /** The other parameters are those of `unreadEntry`. */
  constructor(
    reduction: Reduction,
    identity: Identity,
    text: string | Uint8Array,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
  ) {
    super(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
    this.#reduction = reduction;
  }

  /** See `valuesAt()`. */
  override valuesAt(keys: readonly string[]): readonly FieldValue[] {
    this.#reduction.refuseHidden(keys);
    return super.valuesAt(keys);
  }

  protected override rounds(text: string): boolean {
    return this.#reduction.isCustom && mayRound(text);
  }

  protected override completed<V>(part: V, member?: string): V {
    return this.#reduction.marked(part, member);
  }
}

/** The columns of a row without cells of the server (apiserver `rest/table.go`, `defaultTableConvertor`). */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "name", description: "Name of the object.", priority: 0 },
  { name: "Created At", type: "date", format: "", description: "Time of creation.", priority: 0 },
];

/** The mark of rows. */
const MARK = "a row of a table";

/**
 * An entry whose object is a row of a table, around the entry of the row's object, which stays unparsed until a read.
 */
export class RowEntry<T extends KubernetesObject> extends EntryAround<T, TableRow<T>> {
  readonly #columns: readonly TableColumn[];
  readonly #cells: readonly unknown[] | undefined;
  #row: TableRow<T> | undefined;

  /** Without columns and cells, a row has the name and the time of creation of its object. */
  constructor(entry: CacheEntry<T>, columns: readonly TableColumn[] = PLAIN_COLUMNS, cells?: readonly unknown[]) {
    super(entry);
    this.#columns = columns;
    this.#cells = cells;
  }

  /** The entry of the row's object. */
  get inner(): CacheEntry<T> {
    return this.wrapped;
  }

  /** The columns. */
  get columns(): readonly TableColumn[] {
    return this.#columns;
  }

  /** The server's cells; `undefined` if it sent none. */
  get cells(): readonly unknown[] | undefined {
    return this.#cells;
  }

  /** See {@linkcode CacheEntry.object}. */
  override get object(): TableRow<T> {
    if (this.#row !== undefined) return this.#row;
    const { object } = this.wrapped;
    const { apiVersion, kind, metadata } = object;
    const cells = this.#cells ?? [metadata.name, metadata.creationTimestamp ?? null];
    const row = { apiVersion, kind, metadata, columns: this.#columns, cells, object, [reduced]: MARK };
    return this.#row = markAround(row, cells, object);
  }
}

/**
 * An unread entry of a row that was written as an object: what a transform has returned for it. It is marked when it is
 * first read.
 */
export class WrittenRowEntry extends JsonEntry<KubernetesObject> {
  readonly #reduction: Reduction | undefined;

  /** `reduction` is that of the row's object; the other parameters are those of `unreadEntry`. */
  constructor(
    reduction: Reduction | undefined,
    identity: Identity,
    text: Uint8Array,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
  ) {
    super(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
    this.#reduction = reduction;
  }

  protected override completed<V>(part: V, member?: string): V {
    if (member !== undefined) return part;
    const row = part as KubernetesObject & { object?: unknown; [reduced]?: string };
    this.#reduction?.marked(row.metadata, "metadata");
    if (typeof row.object === "object" && row.object !== null) this.#reduction?.marked(row.object);
    row[reduced] = MARK;
    return part;
  }
}

/** Returns the entry of an object itself: without its freezing, and where it is a row, that of the row's object. */
export function entryWithin(entry: CacheEntry<KubernetesObject>): CacheEntry<KubernetesObject> {
  const plain = entry instanceof FrozenEntry ? entry.unfrozen : entry;
  return plain instanceof RowEntry ? plain.inner : plain;
}

type Text = string | Uint8Array;

/**
 * Returns `true` if two entries hold equal objects but for `metadata.resourceVersion`. The texts of unread entries are
 * compared, else the objects, which are parsed. A broken entry equals no entry.
 */
export function sameFields<T>(a: CacheEntry<T>, b: CacheEntry<T>): boolean {
  if (a.error !== undefined || b.error !== undefined) return false;
  const [text, other] = [textOf(a), textOf(b)];
  if (text !== undefined && other !== undefined) return sameText(text, a.resourceVersion, other, b.resourceVersion);
  try {
    return sameValue(a.object, b.object, (a.object as { readonly metadata?: unknown }).metadata) &&
      sameLiterals(a.object, b.object);
  } catch {
    return false; // an object that cannot be read, or a getter of a transform that throws: its readers meet the error
  }
}

function textOf(entry: object): Text | undefined {
  return (entry as { readonly text?: Text }).text;
}

/**
 * Compares texts without the first member `"resourceVersion"` of this version. If another one than that of the metadata
 * comes first, that of the metadata is compared, and differs.
 */
function sameText(a: Text, aVersion: string, b: Text, bVersion: string): boolean {
  if (a.length - aVersion.length !== b.length - bVersion.length || typeof a !== typeof b) return false;
  const [text, other] = [decoded(a), decoded(b)];
  const [member, otherMember] = [`"resourceVersion":"${aVersion}"`, `"resourceVersion":"${bVersion}"`];
  const at = text.indexOf(member);
  return at !== -1 && other.startsWith(otherMember, at) && text.slice(0, at) === other.slice(0, at) &&
    text.slice(at + member.length) === other.slice(at + otherMember.length);
}
