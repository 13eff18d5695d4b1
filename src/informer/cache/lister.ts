/**
 * Reads an informer's cache.
 *
 * {@linkcode Lister} is the entry point. Listers and indexers return objects, which are parsed on first read; a quarantine
 * counts and reports objects that cannot be read. This folder does not fill the cache and sends no requests.
 *
 * @module
 */
import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { LabelSelector } from "../../api/selector.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { Quarantine } from "./quarantine.ts";

/**
 * Reads a cache by namespace, name and label selector, as requests to the server would (client-go: `Lister`).
 *
 * The objects are the cache's own and must not be changed.
 */
export interface Lister<T> {
  /**
   * Returns the objects that a label selector matches; all, without one. Of objects that do not match, only labels are parsed.
   *
   * @throws {SyntaxError} that points at the character at which the selector does not parse.
   */
  list(selector?: string): T[];
  /** Returns the object of a key, if it is cached. @throws {DecodeError} when it cannot be read. */
  get(key: ObjectKey): T | undefined;
  /** Returns a lister of one namespace. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** Reads one namespace of a cache. */
export interface NamespaceLister<T> {
  /** Returns the objects of this namespace that a label selector matches, as {@linkcode Lister.list} does. */
  list(selector?: string): T[];
  /** Returns the object of a name, if it is cached. @throws {DecodeError} when it cannot be read. */
  get(name: string): T | undefined;
}

/** A {@linkcode Lister} over a cache of entries. */
export class EntryLister<T extends KubernetesObject> implements Lister<T> {
  readonly #entries: ReadonlyIndexer<Entry<T>, "namespace">;
  readonly #quarantine: Quarantine<T>;
  /** The selector last used, because most programs use one. */
  #parsed: { readonly text: string; readonly selector: LabelSelector } | undefined;

  constructor(entries: ReadonlyIndexer<Entry<T>, "namespace">, quarantine: Quarantine<T>) {
    this.#entries = entries;
    this.#quarantine = quarantine;
  }

  list(selector = ""): T[] {
    return this.#select(() => this.#entries.list(), selector);
  }

  get(key: ObjectKey): T | undefined {
    const entry = this.#entries.getByKey(key);
    return entry && this.#quarantine.objectOf(entry);
  }

  namespace(namespace: string): NamespaceLister<T> {
    return {
      list: (selector = "") => this.#select(() => this.#entries.byIndex("namespace", namespace), selector),
      get: (name) => this.get(namespace === "" ? name : `${namespace}/${name}`),
    };
  }

  #select(entries: () => readonly Entry<T>[], text: string): T[] {
    const selector = this.#parse(text);
    const objects: T[] = [];
    for (const entry of entries()) {
      try {
        if (selector.requirements.length === 0 || selector.matches(entry.labels)) objects.push(entry.object);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.#quarantine.take(entry, error);
      }
    }
    return objects;
  }

  #parse(text: string): LabelSelector {
    if (this.#parsed?.text !== text) this.#parsed = { text, selector: LabelSelector.parse(text) };
    return this.#parsed.selector;
  }
}
