/**
 * Turns one object's bytes into an entry.
 *
 * {@linkcode ObjectReader} is the entry point. It skips objects in other shards, and yields known entries again. It
 * leaves out managedFields, the data in Secrets, and fields that an informer does not keep. It reads only JSON, and
 * does not split streams.
 *
 * @module
 */
import type { CacheEntry, Identity } from "../../api/entry.ts";
import { keepLiterals } from "../../api/large_integers.ts";
import { decoder, encoder, keyOf, type KubernetesObject, type ObjectKey, type ObjectMeta } from "../../api/object.ts";
import type { DecodeOptions, KnownEntries, Projection, ShardOption } from "../../api/call_options.ts";
import { isCustom, isSecret, type Resource, resourceName } from "../../api/resource.ts";
import { DecodeError, UnexpectedKindError } from "../../api/status.ts";
import { brokenEntry, entryOf, NO_POSITION, parseObject, unreadEntry } from "../../entry/entry.ts";
import { metadataWith, ReducedEntry, Reduction } from "../../entry/reduction.ts";
import { messageOf } from "../../errors/errors.ts";
import { JsonWalker, skipSpace, skipValue } from "../../entry/json_text.ts";
import { Projector } from "../../entry/projector.ts";

/**
 * Options for reading objects. If `known` has an object in the same version, the object is not decoded, and the known
 * entry is returned.
 */
export interface ReadOptions extends KnownEntries, Projection, DecodeOptions, ShardOption {
  /** The objects' resource, for messages. */
  readonly resource: Resource;
  /** The objects' kind. An object with another kind becomes a broken entry with the key `""`. @default {any} */
  readonly expectedKind?: string;
  /** Which managedFields to keep. Dropped ones are cut out of the bytes before an object is parsed. */
  readonly managedFields: NonNullable<DecodeOptions["managedFields"]>;
  /** `"now"` parses objects immediately, for callers that read all of them. @default {"later"} */
  readonly parse?: "now" | "later";
  /** The largest object, in bytes. @default {67_108_864} */
  readonly maxObjectBytes?: number;
  /** The reports of the collection's watches that were made before. @default {all} */
  readonly reported?: { bookmark: boolean };
}

/**
 * The identity for an object without a key. It has no version, because a watch must not resume from another kind's
 * version.
 */
export const NO_IDENTITY: Identity = { key: "", namespace: "", uid: "", resourceVersion: "" };
const SLASH = 47;
const COMMA = 44;
const OPEN_BRACKET = 91;
/** The rest of managedFields that are dropped. */
const NOTHING: Uint8Array = new Uint8Array(0);
const METADATA_FIRST = encoder.encode(`{"metadata":`);

/**
 * Converts the bytes of objects to entries. An entry stays unparsed if {@linkcode JsonWalker} finds its object's
 * identity.
 */
export class ObjectReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #isStrict: boolean;
  readonly #walker = new JsonWalker();
  /** Buffer for rewritten objects, allocated by the first one. */
  #scratch = new Uint8Array(0);
  /** Buffer for the strings of an identity. */
  #head = new Uint8Array(1_024);
  /** The namespace of the latest object, whose string the next one shares. */
  #namespace = "";
  #kind = "";
  #apiVersion = "";
  /** `"kind":"Pod","apiVersion":"v1",`, inserted before the members of a list's items. */
  #typeMeta = new Uint8Array(0);
  /** The bytes and position of the latest {@linkcode walk}, until {@linkcode read}. */
  #walked: Uint8Array | undefined;
  #walkedStart = -1;
  /** True if the latest object was known. Then the next one is first compared with the next known entry. */
  #following = false;
  /** Set if the objects of other shards are left out here; in shards by controller, lists and the informer do that. */
  readonly #shard: ReadOptions["shard"];
  /** True if objects are parsed at once and unchanged, so that a walk gains nothing. */
  readonly #parsesAll: boolean;
  /** True for objects whose rounded integers are kept. */
  readonly #isCustom: boolean;
  /** Set if and only if objects are reduced, here or by the server. */
  readonly #reduction: Reduction | undefined;
  /** Set if and only if objects are reduced here. */
  readonly #projector: Projector | undefined;
  /** `metadata.managedFields` is cut out of objects that are not reduced here: reducing them does that too. */
  readonly #cuts: boolean;
  /** The manager whose entries of managedFields are not cut out. */
  readonly #manager: string | undefined;
  /** The bytes and position of the object that {@linkcode project} has copied, until {@linkcode read}. */
  #projected: Uint8Array | undefined;
  #projectedStart = -1;
  /** The latest character read by {@linkcode #joined}. */
  #asked = 0;

  /**
   * Reads objects for one resource. An object without metadata is refused with a `DecodeError`, or becomes a broken
   * entry with the key `""`, like an object without a name.
   */
  constructor(options: ReadOptions, withoutMetadata: "refused" | "broken" = "refused") {
    this.#options = options;
    this.#isStrict = withoutMetadata === "refused";
    if (options.shard?.by !== "controller") this.#shard = options.shard;
    const { resource, parse, managedFields } = options;
    this.#isCustom = isCustom(resource);
    const reduction = this.#reduction = Reduction.of(resource, options);
    if (reduction !== undefined && reduction !== Reduction.metadata) this.#projector = new Projector(reduction.fields);
    this.#cuts = managedFields !== "keep" && this.#projector === undefined;
    if (typeof managedFields === "object") this.#manager = managedFields.manager;
    this.#parsesAll = parse === "now" && managedFields === "keep" && this.#projector === undefined;
  }

  /**
   * Inserts kind and apiVersion into following objects that begin with `metadata`, in the order that watch events use.
   */
  fillIn(kind: string, apiVersion: string): void {
    this.#kind = kind;
    this.#apiVersion = apiVersion;
    this.#typeMeta = encoder.encode(`"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
  }

  /**
   * Walks the object that begins at `start`. Returns the end of its metadata if it is found before `end`, otherwise -1.
   * A following {@linkcode read} for the same bytes uses this walk.
   */
  walk(bytes: Uint8Array, start: number, end: number): number {
    if (this.#parsesAll || !this.#walker.walk(bytes, start, end)) return -1;
    this.#walked = bytes;
    this.#walkedStart = start;
    return this.#walker.metadataEnd;
  }

  /** True if {@linkcode project} may copy an object. */
  get projects(): boolean {
    return this.#projector !== undefined;
  }

  /**
   * Copies the selected fields from the object that begins at `start`, if objects are reduced to them. Returns the
   * object's end if it is found before `end`, otherwise -1. A following {@linkcode read} for the same bytes uses this
   * copy. `text` is the same as in `read`.
   */
  project(bytes: Uint8Array, start: number, end: number, text?: string): number {
    if (this.#projector === undefined) return -1;
    if (this.#shard !== undefined && this.#walker.identify(bytes, start, end, text) && !this.#isOurs(bytes)) {
      return skipValue(bytes, start, end);
    }
    const behind = this.#projector.project(bytes, start, end, text);
    if (behind === -1) return -1;
    this.#projected = bytes;
    this.#projectedStart = start;
    return behind;
  }

  /**
   * Returns the object in `bytes[start, end)`, unparsed if possible. The caller may reuse the bytes. `text` is the
   * bytes as text if all of it is ASCII. The entry does not keep it in memory.
   *
   * An object without a name becomes a broken entry with the key `""`. An object with another kind does too, unless its
   * kind comes after its metadata. No API server writes it there.
   *
   * Returns `undefined` for an object that is not in the shard.
   *
   * @throws {DecodeError} if it is no JSON object, or has no metadata and such objects are refused.
   */
  read(bytes: Uint8Array, start: number, end: number, text?: string): CacheEntry<T> | undefined {
    if (this.#parsesAll) return this.#parseNow(bytes, start, end, text);
    const walker = this.#walker;
    const { known } = this.#options;
    const walked = this.#walked === bytes && this.#walkedStart === start;
    this.#walked = undefined;
    const projected = this.#projected === bytes && this.#projectedStart === start;
    this.#projected = undefined;
    // A known object needs no further walk, nor does an object that the projector copies.
    const named = walked ||
      (known === undefined && this.#projector === undefined
        ? walker.walk(bytes, start, end, text)
        : walker.identify(bytes, start, end, text));
    if (!named || walker.nameStart === -1 || walker.nameStart === walker.nameEnd) {
      return this.parse(bytes, start, end, text);
    }
    if (this.#mayBeOtherKind(bytes)) return this.parse(bytes, start, end, text);
    if (this.#shard !== undefined && !this.#isOurs(bytes)) return this.#drop();
    // An unusual layout: kind and apiVersion are inserted after the object has been parsed.
    if (this.#typeMeta.length > 0 && !walker.metadataFirst && !walker.typed) return this.parse(bytes, start, end, text);
    if (this.#following) {
      const guess = this.#options.knownNext?.();
      if (guess !== undefined && this.#hasKey(guess, bytes) && this.#isSame(guess, bytes)) {
        return guess as CacheEntry<T>;
      }
      this.#following = false;
    }
    const namespace = walker.namespaceStart === -1
      ? ""
      : this.#namespaceOf(bytes, walker.namespaceStart, walker.namespaceEnd, text);
    const key = text === undefined ? this.#keyOf(bytes, namespace) : this.#keyIn(text, namespace);
    if (known !== undefined) {
      const entry = known(key);
      if (entry !== undefined && this.#isSame(entry, bytes)) {
        this.#following = true;
        return entry as CacheEntry<T>;
      }
    }
    if (this.#projector !== undefined) {
      if (!projected && !this.#projector.projectWhole(bytes, start, end, text)) {
        return this.parse(bytes, start, end, text);
      }
      return this.#reduced(this.#projector, bytes, key, namespace);
    }
    if (!walker.finish(bytes, end, text)) return this.parse(bytes, start, end, text);
    return this.#complete(bytes, start, end, text, key, namespace);
  }

  /** Returns the walked object's entry, with all fields except the cut ones. */
  #complete(
    bytes: Uint8Array,
    start: number,
    end: number,
    text: string | undefined,
    key: ObjectKey,
    namespace: string,
  ): CacheEntry<T> {
    const walker = this.#walker;
    const kept = this.#cuts && walker.cutStart !== -1 ? this.#keptOfCut(bytes) : undefined;
    const prefix = walker.metadataFirst ? this.#typeMeta.length : 0;
    const shift = prefix - start;
    const metadataStart = walker.metadataStart + shift;
    const cutLength = kept === undefined ? 0 : walker.cutEnd - walker.cutStart - kept.length;
    const metadataEnd = walker.metadataEnd + shift - cutLength;
    // Without labels the range is empty.
    const labelsShift = shift - (walker.labelsStart > walker.cutStart ? cutLength : 0);
    const labelsStart = walker.labelsStart === -1 ? 0 : walker.labelsStart + labelsShift;
    const labelsEnd = walker.labelsStart === -1 ? 0 : walker.labelsEnd + labelsShift;
    if (text !== undefined && prefix === 0) {
      const tail = kept === undefined ? "" : text.slice(walker.cutEnd, end);
      const own = kept === undefined
        ? this.#own(text, start, end)
        : this.#joined(text.slice(start, walker.cutStart), kept === NOTHING ? tail : decoder.decode(kept) + tail);
      return this.#unread(
        this.#identityIn(text, key, namespace),
        own,
        metadataStart,
        metadataEnd,
        labelsStart,
        labelsEnd,
      );
    }
    const identity = this.#identity(bytes, key, namespace);
    const own = kept !== undefined || prefix > 0
      ? this.#rewrite(bytes, start, end, kept, prefix)
      : bytes.subarray(start, end);
    const string = decoder.decode(own);
    // Equal lengths: all ASCII, so the string is flat, with one byte per character. Else a copy of the bytes is
    // smaller.
    return string.length === own.length
      ? this.#unread(identity, string, metadataStart, metadataEnd, labelsStart, labelsEnd)
      : this.#unread(identity, own.slice(), metadataStart, metadataEnd, labelsStart, labelsEnd);
  }

  /** Returns the walked object's entry, with only its selected fields, which the projector has copied. */
  #reduced(copy: Projector, bytes: Uint8Array, key: ObjectKey, namespace: string): CacheEntry<T> {
    const prefix = this.#walker.metadataFirst ? this.#typeMeta.length : 0;
    const own = prefix === 0
      ? copy.bytes.subarray(0, copy.length)
      : this.#rewrite(copy.bytes, 0, copy.length, undefined, prefix);
    const text = decoder.decode(own);
    const isAscii = text.length === own.length;
    const body = isAscii ? text : own.slice();
    const { uidStart, uidEnd, versionStart, versionEnd } = this.#walker;
    const ending = (end: number, length: number): string => text.slice(prefix + end - 1 - length, prefix + end - 1);
    const identity = isAscii && uidStart !== -1 && copy.uidEnd !== -1 && versionStart !== -1 && copy.versionEnd !== -1
      // Slices of the entry's own text, which they are replaced with when that is parsed.
      ? {
        key,
        namespace,
        uid: ending(copy.uidEnd, uidEnd - uidStart),
        resourceVersion: ending(copy.versionEnd, versionEnd - versionStart),
      }
      : this.#identity(bytes, key, namespace);
    const [start, end] = [copy.metadataStart + prefix, copy.metadataEnd + prefix];
    if (copy.keepsMetadata) return this.#unread(identity, body, start, end, NO_POSITION, NO_POSITION);
    if (copy.labelsStart === -1) return this.#unread(identity, body, start, end, 0, 0);
    return this.#unread(identity, body, start, end, copy.labelsStart + prefix, copy.labelsEnd + prefix);
  }

  #unread(
    identity: Identity,
    text: string | Uint8Array,
    metadataStart: number,
    metadataEnd: number,
    labelsStart: number,
    labelsEnd: number,
  ): CacheEntry<T> {
    return this.#reduction === undefined
      ? unreadEntry<T>(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, this.#isCustom)
      : new ReducedEntry<T>(this.#reduction, identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd);
  }

  /** The object, parsed at once, with its members in the same order as if it were parsed later. */
  #parseNow(bytes: Uint8Array, start: number, end: number, text: string | undefined): CacheEntry<T> | undefined {
    const prefix = this.#typeMeta.length;
    if (prefix === 0 || !startsWith(bytes, start, end, METADATA_FIRST)) return this.parse(bytes, start, end, text);
    const rewritten = this.#rewrite(bytes, start, end, undefined, prefix);
    return this.parse(rewritten, 0, rewritten.length);
  }

  /** Returns the object in `bytes[start, end)`, parsed immediately. Unusual objects are read in this way. */
  parse(bytes: Uint8Array, start: number, end: number, text?: string): CacheEntry<T> | undefined {
    let object: unknown;
    const own = text === undefined ? decoder.decode(bytes.subarray(start, end)) : text.slice(start, end);
    try {
      object = parseObject(own);
    } catch (cause) {
      throw notJson("an object", this.#options.resource, cause);
    }
    if (this.#isCustom) keepLiterals(object, own);
    return this.entryOf(object);
  }

  /**
   * Returns an entry around a parsed value. It treats kind, apiVersion and managedFields like in the text. Returns
   * `undefined` if the object is not in the shard.
   *
   * @throws {DecodeError} if it is no object, or has no metadata and such objects are refused.
   */
  entryOf(value: unknown): CacheEntry<T> | undefined {
    const entry = this.#entryOf(value);
    const shard = this.#shard;
    // An object without a key is reported in each shard.
    return shard === undefined || entry.key === "" || shard.has(entry) ? entry : this.#drop();
  }

  #drop(): undefined {
    this.#shard!.dropped++;
  }

  /** True if the walked object is in the shard. */
  #isOurs(bytes: Uint8Array): boolean {
    const { uidStart, uidEnd, namespaceStart, namespaceEnd } = this.#walker;
    const shard = this.#shard!;
    if (shard.by === "uid") return shard.hasBytes(bytes, uidStart, uidStart === -1 ? -1 : uidEnd);
    return shard.hasBytes(bytes, namespaceStart, namespaceStart === -1 ? -1 : namespaceEnd);
  }

  #entryOf(value: unknown): CacheEntry<T> {
    const { resource, expectedKind } = this.#options;
    const metadata = (value as { metadata?: unknown } | null)?.metadata;
    if (typeof metadata !== "object" || metadata === null) {
      const found = isSecret(resource) ? typeof value : (JSON.stringify(value) ?? String(value)).slice(0, 80);
      const error = new DecodeError(
        `Cannot read an object of "${resourceName(resource)}": ${found} is not an object with metadata`,
      );
      if (this.#isStrict || typeof value !== "object" || value === null) throw error;
      return brokenEntry<T>(NO_IDENTITY, error);
    }
    const object = value as Record<string, unknown>;
    const { kind } = object;
    if (expectedKind !== undefined && typeof kind === "string" && kind !== expectedKind && kind !== "") {
      const message = `Cannot use an object of "${resourceName(resource)}": its kind is ${
        JSON.stringify(kind)
      } instead of ${JSON.stringify(expectedKind)}. Objects of that kind are skipped`;
      return brokenEntry<T>(NO_IDENTITY, new UnexpectedKindError(message, kind));
    }
    const kept = this.#cuts ? metadataWith(metadata, this.#options.managedFields) : metadata;
    const fillKind = this.#kind !== "" && !("kind" in object);
    const fillVersion = this.#apiVersion !== "" && !("apiVersion" in object);
    const complete = kept !== metadata || fillKind || fillVersion
      ? {
        ...(fillKind ? { kind: this.#kind } : {}),
        ...(fillVersion ? { apiVersion: this.#apiVersion } : {}),
        ...object,
        metadata: kept,
      }
      : object;
    const { name, namespace, uid, resourceVersion } = metadata as Partial<Record<keyof ObjectMeta, unknown>>;
    if (!(isText(name) && isText(namespace) && isText(uid) && isText(resourceVersion))) {
      const message = `Cannot read an object of "${resourceName(resource)}": its metadata has ${
        JSON.stringify([name, namespace, uid, resourceVersion].find((part) => !isText(part)))
      } in the place of a string`;
      if (!isText(name) || !isText(namespace) || !name) return brokenEntry<T>(NO_IDENTITY, new DecodeError(message));
      // It has a key, so that a change of it is not lost.
      const key = keyOf({ metadata: { name, namespace: namespace ?? undefined } });
      const identity: Identity = {
        key,
        namespace: namespace ?? "",
        uid: isText(uid) ? uid ?? "" : "",
        resourceVersion: isText(resourceVersion) ? resourceVersion ?? "" : "",
      };
      return brokenEntry<T>(identity, new DecodeError(message, { key }));
    }
    return entryOf((this.#reduction === undefined ? complete : this.#reduction.of(complete)) as unknown as T);
  }

  /** The key, as a string that does not keep the text in memory. */
  #keyOf(bytes: Uint8Array, namespace: string): ObjectKey {
    const { namespaceStart, namespaceEnd, nameStart, nameEnd } = this.#walker;
    let length = 0;
    if (namespace !== "") {
      length = this.#copy(bytes, namespaceStart, namespaceEnd, length);
      this.#head[length++] = SLASH;
    }
    length = this.#copy(bytes, nameStart, nameEnd, length);
    return decoder.decode(this.#head.subarray(0, length));
  }

  /** True if the walked object has a kind before its metadata that is not the expected one. */
  #mayBeOtherKind(bytes: Uint8Array): boolean {
    const { expectedKind } = this.#options;
    const { kindStart, kindEnd } = this.#walker;
    return expectedKind !== undefined && kindStart !== -1 && !spells(expectedKind, bytes, kindStart + 1, kindEnd - 1);
  }

  /** True if an entry has the namespace and name of the walked object. */
  #hasKey({ key, namespace }: CacheEntry<unknown>, bytes: Uint8Array): boolean {
    const { namespaceStart, namespaceEnd, nameStart, nameEnd } = this.#walker;
    const length = namespaceStart === -1 ? 0 : namespaceEnd - namespaceStart;
    const before = length === 0 ? 0 : length + 1; // with the slash
    if (namespace.length !== length || key.length - before !== nameEnd - nameStart) return false;
    for (let i = key.length - 1, at = nameEnd - 1; at >= nameStart; i--, at--) {
      if (key.charCodeAt(i) !== bytes[at]) return false;
    }
    return length === 0 || spells(namespace, bytes, namespaceStart, namespaceEnd);
  }

  /** True if an entry is the walked object in the same version. A broken entry is not equal to any object. */
  #isSame(entry: CacheEntry<unknown>, bytes: Uint8Array): boolean {
    const { uidStart, uidEnd, versionStart, versionEnd } = this.#walker;
    return versionStart !== -1 && versionStart !== versionEnd &&
      spells(entry.resourceVersion, bytes, versionStart, versionEnd) &&
      (uidStart === -1 ? entry.uid === "" : spells(entry.uid, bytes, uidStart, uidEnd)) && entry.error === undefined;
  }

  /** The identity of the walked object, as strings that do not keep the text in memory. */
  #identity(bytes: Uint8Array, key: ObjectKey, namespace: string): Identity {
    const { uidStart, uidEnd, versionStart, versionEnd } = this.#walker;
    let length = 0;
    if (uidStart !== -1) length = this.#copy(bytes, uidStart, uidEnd, length);
    const uid = length;
    if (versionStart !== -1) length = this.#copy(bytes, versionStart, versionEnd, length);
    // The key lives as long as the entry. These are replaced by the strings of the object when that is parsed.
    const both = decoder.decode(this.#head.subarray(0, length));
    return { key, namespace, uid: both.slice(0, uid), resourceVersion: both.slice(uid) };
  }

  /** As {@linkcode #keyOf}, from text. */
  #keyIn(text: string, namespace: string): ObjectKey {
    const { nameStart, nameEnd } = this.#walker;
    return namespace === ""
      ? this.#own(text, nameStart, nameEnd)
      : this.#joined(`${namespace}/`, text.slice(nameStart, nameEnd));
  }

  /** As {@linkcode #identity}, from text. */
  #identityIn(text: string, key: ObjectKey, namespace: string): Identity {
    const { uidStart, uidEnd, versionStart, versionEnd } = this.#walker;
    const uid = uidStart === -1 ? "" : this.#own(text, uidStart, uidEnd);
    const resourceVersion = versionStart === -1 ? "" : this.#own(text, versionStart, versionEnd);
    return { key, namespace, uid, resourceVersion };
  }

  /** A copy of a part of a text: a slice would keep all of the text in memory. */
  #own(text: string, start: number, end: number): string {
    return start === end ? "" : this.#joined(text.slice(start, start + 1), text.slice(start + 1, end));
  }

  /**
   * A string of two parts, neither of them empty, that does not keep their text in memory. V8 copies the parts into one
   * when the first character is read; storing the character keeps that read from being optimized away.
   */
  #joined(head: string, tail: string): string {
    const text = head + tail;
    this.#asked = text.charCodeAt(0);
    return text;
  }

  #copy(bytes: Uint8Array, start: number, end: number, at: number): number {
    const length = at + end - start;
    if (length >= this.#head.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#head);
      this.#head = larger;
    }
    const head = this.#head;
    while (start < end) head[at++] = bytes[start++];
    return at;
  }

  /** The namespace of the walked object; neighbours mostly share it, and its string. */
  #namespaceOf(bytes: Uint8Array, start: number, end: number, text: string | undefined): string {
    if (!spells(this.#namespace, bytes, start, end)) {
      this.#namespace = text === undefined ? decoder.decode(bytes.subarray(start, end)) : this.#own(text, start, end);
    }
    return this.#namespace;
  }

  /**
   * Returns the walked object's managedFields member, which is cut out. It has only the manager's elements, and
   * includes the comma next to it.
   */
  #keptOfCut(bytes: Uint8Array): Uint8Array {
    const { cutStart, cutEnd } = this.#walker;
    const array = this.#manager === undefined ? 0 : bytes.subarray(cutStart, cutEnd).indexOf(OPEN_BRACKET) + 1;
    if (array === 0) return NOTHING;
    const found: string[] = [];
    for (let at = cutStart + array, code = COMMA; code === COMMA; code = bytes[at++]) {
      const start = skipSpace(bytes, at);
      const behind = skipValue(bytes, start, cutEnd);
      if (behind === -1) return NOTHING;
      const element = decoder.decode(bytes.subarray(start, behind));
      // Servers escape `&`, `<` and `>`. Fields are named by `f:…`, so that no other text matches.
      const [, manager = "null"] = MANAGER.exec(element) ?? [];
      if (JSON.parse(manager) === this.#manager) found.push(element);
      at = skipSpace(bytes, behind);
    }
    const comma = bytes[cutEnd - 1] === COMMA ? "," : "";
    return encoder.encode(`${decoder.decode(bytes.subarray(cutStart, cutStart + array))}${found.join(",")}]${comma}`);
  }

  /**
   * The object in the scratch buffer, with kind and apiVersion inserted. If `kept` is given, it replaces managedFields.
   */
  #rewrite(bytes: Uint8Array, start: number, end: number, kept: Uint8Array | undefined, prefix: number): Uint8Array {
    const { cutStart, cutEnd } = this.#walker;
    const needed = end - start + prefix;
    if (needed > this.#scratch.length || (this.#scratch.length > 1_048_576 && needed <= 65_536)) {
      this.#scratch = new Uint8Array(Math.max(needed * 2, 16_384));
    }
    const scratch = this.#scratch;
    let from = start;
    let at = 0;
    if (prefix > 0) {
      scratch[at++] = bytes[from++];
      scratch.set(this.#typeMeta, at);
      at += prefix;
    }
    if (kept !== undefined) {
      scratch.set(bytes.subarray(from, cutStart), at);
      at += cutStart - from;
      scratch.set(kept, at);
      at += kept.length;
      from = cutEnd;
    }
    scratch.set(bytes.subarray(from, end), at);
    return scratch.subarray(0, at + end - from);
  }
}

/** The name of the manager of an entry of managedFields, with its quotes. */
const MANAGER = /"manager"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** True if a field of the metadata is a string or absent: Go reads null as absent. */
function isText(part: unknown): part is string | undefined | null {
  return typeof part === "string" || part === undefined || part === null;
}

/** True if `text` is ASCII and equal to `bytes[start, end)`. */
function spells(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  // From the end, as versions differ in their last digits.
  for (let i = text.length - 1; i >= 0; i--) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

/** Returns true if `bytes[start, end)` begins with `prefix`. */
export function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  if (end - start < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

/**
 * Returns the error for a text that is not JSON, with the reason. For Secrets, it neither quotes the text nor keeps an
 * error that quotes it.
 */
export function notJson(what: string, resource: Resource, cause: unknown): DecodeError {
  const action = `Cannot read ${what} of "${resourceName(resource)}"`;
  return isSecret(resource)
    ? new DecodeError(`${action}: it is not valid JSON, which may have data of Secrets and is not quoted`)
    : new DecodeError(`${action}: ${messageOf(cause)}`, { cause });
}
