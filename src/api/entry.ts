/**
 * One version of one object.
 *
 * {@linkcode CacheEntry} is what reflector, queue, store, event log and informer pass on. `entry/entry.ts` implements
 * it; this file parses nothing.
 *
 * @module
 */
import type { ObjectKey, ObjectMeta } from "./object.ts";
import type { DecodeError } from "./status.ts";

/**
 * One version of one object: its identity, and the object itself, parsed on first read.
 *
 * Reflector, queue, store and event log pass entries on, so an object that nobody reads is never parsed.
 */
export interface CacheEntry<T> {
  /** `"namespace/name"` or `"name"`; `""` when the object has no name, which also makes the entry broken. */
  readonly key: ObjectKey;
  /** The object's namespace, `""` when cluster-scoped. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** The object's uid; it differs from that of an earlier object of the same name. */
  readonly uid: string;
  /** The object's resourceVersion. */
  readonly resourceVersion: string;
  /**
   * The object's metadata. Parsed alone on first read, which costs a fifth of parsing the object, unless the object has
   * been parsed already. Throws {@linkcode DecodeError}.
   */
  readonly metadata: ObjectMeta;
  /**
   * The object's labels; undefined when it has none. Parsed alone on first read, which costs a third of parsing the
   * metadata, unless the metadata or the object has been parsed already. Throws {@linkcode DecodeError}.
   */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The object. Parsed on first read and remembered. Throws {@linkcode DecodeError}. */
  readonly object: T;
  /** The size of the JSON text that the object came as, in bytes; undefined where it came as something else. */
  readonly textBytes?: number;
  /** True once the object has been parsed, which drops the text. @default {true} */
  readonly isParsed?: boolean;
  /** The reason why the object cannot be read; known from the start, or since a first read failed. */
  readonly error?: DecodeError;
}

/** The strings that identify one version of one object. */
export interface Identity {
  /** As in {@linkcode CacheEntry.key}. */
  readonly key: ObjectKey;
  /** As in {@linkcode CacheEntry.namespace}. */
  readonly namespace: string;
  /** As in {@linkcode CacheEntry.uid}. */
  readonly uid: string;
  /** As in {@linkcode CacheEntry.resourceVersion}. */
  readonly resourceVersion: string;
}

/** Returns true when two entries hold the same version of the same object. A broken entry equals no entry. */
export function sameVersion<T>(a: CacheEntry<T>, b: CacheEntry<T>): boolean {
  return a.resourceVersion === b.resourceVersion && a.uid === b.uid && a.resourceVersion !== "" &&
    a.error === undefined && b.error === undefined;
}
