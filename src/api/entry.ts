import { DecodeError, messageOf } from "./errors.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import type { KubernetesObject, ObjectMeta } from "./object.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * One object at one resourceVersion: what is needed to file it, and the object itself, parsed when first read.
 * This is what flows through reflector, queue and store.
 */
export interface Entry<T> {
  /** `"namespace/name"` or `"name"`; `""` when the object has no name, which also makes it broken. */
  readonly key: ObjectKey;
  /** The object's namespace, `""` when cluster-scoped. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** Which object of that name this is. */
  readonly uid: string;
  /** Which version of the object this is. */
  readonly resourceVersion: string;
  /** Parsed alone on first read: labels, annotations and owners cost a fifth of the object. Throws {@linkcode DecodeError}. */
  readonly metadata: ObjectMeta;
  /**
   * The object's labels; undefined when it has none. Parsed alone on first read, where nothing else has been read before: a
   * third of what the metadata costs. Throws {@linkcode DecodeError}.
   */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Parsed on first read and remembered. Throws {@linkcode DecodeError}. */
  readonly object: T;
  /** Why the object cannot be had: known from the start, or since somebody tried to read it. */
  readonly error?: DecodeError;
}

/** What identifies one version of one object. */
export interface Identity {
  /** As in {@linkcode Entry.key}. */
  readonly key: ObjectKey;
  /** As in {@linkcode Entry.namespace}. */
  readonly namespace: string;
  /** As in {@linkcode Entry.uid}. */
  readonly uid: string;
  /** As in {@linkcode Entry.resourceVersion}. */
  readonly resourceVersion: string;
}

/**
 * An entry around an object that is already there.
 *
 * An object without a name makes a broken entry with the key `""`: whoever files entries reports it and passes it over.
 */
export function entryOf<T extends KubernetesObject>(object: T): Entry<T> {
  const metadata: Partial<ObjectMeta> | undefined = object?.metadata;
  const identity = {
    key: metadata?.name ? keyOf(object) : "",
    namespace: metadata?.namespace ?? "",
    uid: metadata?.uid ?? "",
    resourceVersion: metadata?.resourceVersion ?? "",
  };
  if (identity.key !== "") return new JsonEntry<T>(identity, object, 0, READ, UNKNOWN, UNKNOWN, undefined);
  return brokenEntry(identity, new DecodeError(`Cannot file ${describe(object)}: it has no metadata.name`));
}

/**
 * An entry around the JSON text of an object, which is parsed when it is first read.
 *
 * The entry keeps `text` as it is: pass a string or bytes of its own, never a slice of something larger.
 *
 * @param identity What the text says about itself.
 * @param text The object, as text or as UTF-8 bytes.
 * @param metadataStart Where the value of `metadata` begins in `text`.
 * @param metadataEnd Where it ends.
 * @param labelsStart Where the value of `metadata.labels`, an object, begins; {@linkcode UNKNOWN} when that has not been
 * looked at, or is anything else: then the metadata is parsed to find out.
 * @param labelsEnd Where it ends; equal to `labelsStart` when there are no labels.
 */
export function unreadEntry<T extends KubernetesObject>(
  identity: Identity,
  text: string | Uint8Array,
  metadataStart: number,
  metadataEnd: number,
  labelsStart: number = UNKNOWN,
  labelsEnd: number = UNKNOWN,
): Entry<T> {
  return new JsonEntry<T>(identity, text, metadataStart, metadataEnd, labelsStart, labelsEnd, undefined);
}

/** An entry whose object cannot be had, because of `error`. */
export function brokenEntry<T extends KubernetesObject>(identity: Identity, error: DecodeError): Entry<T> {
  return new JsonEntry<T>(identity, undefined, 0, BROKEN, UNKNOWN, UNKNOWN, error);
}

/**
 * The same entry, whose object and metadata are frozen, deeply, when they are first read: who writes to them gets a
 * `TypeError`. Costs about a third of a parse, once, for objects that are read. An object that cannot be frozen, such as one
 * with a typed array in it, makes the entry broken.
 */
export function frozenEntry<T extends KubernetesObject>(entry: Entry<T>): Entry<T> {
  return entry instanceof FrozenEntry ? entry : new FrozenEntry(entry);
}

/** Whether two entries hold the same version of the same object. A broken entry is equal to nothing. */
export function sameVersion<T>(a: Entry<T>, b: Entry<T>): boolean {
  // mutant: relist-updates-unchanged, relist-keeps-old-entry
  return a.resourceVersion === b.resourceVersion && a.uid === b.uid && a.resourceVersion !== "" &&
    a.error === undefined && b.error === undefined;
}

const decoder = new TextDecoder();

/** What an entry holds: its object, nothing because it is broken, or text of which the metadata ends at this place. */
const READ = 0;
const BROKEN = -1;
/** In place of a position that nobody has found. */
const UNKNOWN = -1;

/** Labels that were parsed while the rest of the metadata was not. */
class LabelsAlone {
  readonly labels: Labels;

  constructor(labels: Labels) {
    this.labels = labels;
  }
}

/** One class for all entries, so that readers see one shape; and few fields, because there are as many as objects. */
class JsonEntry<T extends KubernetesObject> implements Entry<T> {
  readonly key: ObjectKey;
  readonly namespace: string;
  uid: string;
  resourceVersion: string;
  #body: string | Uint8Array | T | undefined;
  readonly #metadataStart: number;
  /** Where the metadata ends in the text; {@linkcode READ} and {@linkcode BROKEN} when there is no text. */
  #metadataEnd: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;
  /** Beside text the metadata or its labels, once somebody has asked for them; of a broken entry the error. */
  #aside: ObjectMeta | LabelsAlone | DecodeError | undefined;

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

  get name(): string {
    return this.namespace === "" ? this.key : this.key.slice(this.namespace.length + 1);
  }

  get error(): DecodeError | undefined {
    return this.#metadataEnd === BROKEN ? this.#aside as DecodeError : undefined;
  }

  get metadata(): ObjectMeta {
    if (this.#metadataEnd <= READ) return this.object.metadata;
    if (this.#aside === undefined || this.#aside instanceof LabelsAlone) {
      this.#aside = this.#part(this.#metadataStart, this.#metadataEnd) as ObjectMeta;
    }
    return this.#aside as ObjectMeta;
  }

  get labels(): Labels | undefined {
    if (this.#metadataEnd <= READ || this.#labelsStart === UNKNOWN) return this.metadata.labels ?? undefined; // as in Go
    if (this.#labelsStart === this.#labelsEnd) return undefined;
    this.#aside ??= new LabelsAlone(this.#part(this.#labelsStart, this.#labelsEnd) as Labels);
    return (this.#aside as ObjectMeta | LabelsAlone).labels;
  }

  get object(): T {
    if (this.#metadataEnd > READ) this.#read(this.#body as string | Uint8Array);
    if (this.#metadataEnd === BROKEN) throw this.#aside;
    return this.#body as T;
  }

  /** A part of the text, parsed. */
  #part(start: number, end: number): unknown {
    const text = this.#body as string | Uint8Array;
    const part = typeof text === "string" ? text.slice(start, end) : decoder.decode(text.subarray(start, end));
    try {
      return JSON.parse(part);
    } catch (cause) {
      throw this.#broken(cause);
    }
  }

  #read(text: string | Uint8Array): void {
    let object: T;
    try {
      object = parseObject(typeof text === "string" ? text : decoder.decode(text)) as T;
    } catch (cause) {
      throw this.#broken(cause);
    }
    this.#body = object;
    this.#aside = undefined;
    this.#metadataEnd = READ;
    // The object has these strings too: one of each is enough.
    const { uid, resourceVersion } = object.metadata ?? {};
    if (uid === this.uid) this.uid = uid;
    if (resourceVersion === this.resourceVersion) this.resourceVersion = resourceVersion;
  }

  /** Remembers why, and lets go of the text: a second reader gets the same answer. */
  #broken(cause: unknown): DecodeError {
    const error = new DecodeError(`Cannot parse "${this.key}" at version ${this.resourceVersion}: ${reason(cause)}`, {
      cause,
      key: this.key,
    });
    this.#body = undefined;
    this.#aside = error;
    this.#metadataEnd = BROKEN;
    return error;
  }
}

class FrozenEntry<T extends KubernetesObject> implements Entry<T> {
  /** A broken one instead, once freezing has failed. */
  #entry: Entry<T>;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;

  constructor(entry: Entry<T>) {
    this.#entry = entry;
    this.key = entry.key;
    this.namespace = entry.namespace;
    this.uid = entry.uid;
    this.resourceVersion = entry.resourceVersion;
  }

  get name(): string {
    return this.#entry.name;
  }

  get error(): DecodeError | undefined {
    return this.#entry.error;
  }

  get metadata(): ObjectMeta {
    return this.#frozen(this.#entry.metadata);
  }

  get labels(): Labels | undefined {
    return this.#frozen(this.#entry.labels);
  }

  get object(): T {
    return this.#frozen(this.#entry.object);
  }

  #frozen<V>(value: V): V {
    try {
      return deepFreeze(value);
    } catch (cause) {
      const error = new DecodeError(`Cannot freeze "${this.key}": ${messageOf(cause)}`, { cause, key: this.key });
      this.#entry = brokenEntry<T>(this, error);
      throw error;
    }
  }
}

/**
 * The object that `text` begins with, parsed: the first member of what the text is cut from. A watch event is `{"type":…,"object":{…}}`, and its object is cut out
 * without looking for its end; should a server ever write members behind it, the text has them too.
 *
 * @throws {SyntaxError} when it is not JSON.
 */
export function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return (JSON.parse(`{"object":${text}}`) as { object: unknown }).object;
    } catch {
      throw error; // of the two, this one names the right position
    }
  }
}

/** Without recursion: objects may be nested deeper than the stack is. */
function deepFreeze<V>(value: V): V {
  if (!canFreeze(value)) return value;
  const found: object[] = [value];
  for (let next = found.pop(); next !== undefined; next = found.pop()) {
    Object.freeze(next);
    for (const part of Object.values(next)) if (canFreeze(part)) found.push(part);
  }
  return value;
}

function canFreeze(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Object.isFrozen(value);
}

function describe(object: unknown): string {
  const { kind, metadata } = (object ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown } };
  const what = typeof kind === "string" ? kind : "an object";
  return typeof metadata?.namespace === "string" ? `${what} in namespace "${metadata.namespace}"` : what;
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : "it has no text";
}
