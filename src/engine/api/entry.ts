/**
 * One version of an object, as the package passes it around internally.
 *
 * {@linkcode CacheEntry} is the entry point. The reflector, queue, store, event log and informer pass entries on.
 * `entry/entry.ts` implements the interface. This file parses nothing.
 *
 * @module
 */
import type { ObjectKey, ObjectMeta } from "./object.ts";
import type { DecodeError } from "./status.ts";

/**
 * One version of an object: its identity, and the object itself, which is parsed when you first read it.
 *
 * The reflector, queue, store and event log pass entries on without a look inside. An object that nobody reads is
 * therefore never parsed.
 */
export interface CacheEntry<T> {
  /**
   * `"namespace/name"`, or `"name"` if the object is cluster-scoped. `""` if the object has no name, and then `error`
   * is set.
   */
  readonly key: ObjectKey;
  /** The object's namespace. `""` if the object is cluster-scoped. */
  readonly namespace: string;
  /** The object's name. */
  readonly name: string;
  /** The object's uid. A deleted and re-created object has another uid under the same name. */
  readonly uid: string;
  /** The object's resourceVersion. */
  readonly resourceVersion: string;
  /**
   * The object's metadata. The first read parses only the metadata, which costs a fifth as much time as the object,
   * unless the object is parsed already.
   *
   * @throws {DecodeError} if the metadata cannot be read.
   */
  readonly metadata: ObjectMeta;
  /**
   * The object's labels, or `undefined` if it has none. The first read parses only the labels, which costs a third as
   * much time as the metadata, unless the metadata or the object is parsed already.
   *
   * @throws {DecodeError} if the labels cannot be read.
   */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /**
   * The object. The first read parses it, and later reads return the same object.
   *
   * @throws {DecodeError} if the object cannot be read.
   */
  readonly object: T;
  /** The size of the object's JSON text in bytes. `undefined` if the object did not arrive as text. */
  readonly textBytes?: number;
  /** The bytes that the cache saves because it holds the text compactly, see `CacheOptions.compact`. @default {0} */
  readonly savedBytes?: number;
  /** `true` after the object was parsed. Parsing frees the text. @default {true} */
  readonly isParsed?: boolean;
  /** The reason why the object cannot be read. It is set from the start, or after a first read has failed. */
  readonly error?: DecodeError;
}

/** The strings that identify one version of an object. */
export interface Identity {
  /** See {@linkcode CacheEntry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode CacheEntry.namespace}. */
  readonly namespace: string;
  /** See {@linkcode CacheEntry.uid}. */
  readonly uid: string;
  /** See {@linkcode CacheEntry.resourceVersion}. */
  readonly resourceVersion: string;
}

/** Returns `true` if two entries hold the same version of the same object. An entry with an error equals no entry. */
export function sameVersion<T>(a: CacheEntry<T>, b: CacheEntry<T>): boolean {
  return a.resourceVersion === b.resourceVersion && a.uid === b.uid && a.resourceVersion !== "" &&
    a.error === undefined && b.error === undefined;
}
