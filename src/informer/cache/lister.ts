import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { LabelSelector } from "../../api/selector.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { Quarantine } from "./quarantine.ts";

/** Reads a cache as one would ask the server. The objects are the cache's own and must not be changed. */
export interface Lister<T> {
  /**
   * The objects that a label selector matches; all, without one. Of what does not match only the labels are parsed.
   *
   * @throws {SyntaxError} that points at the character where the selector does not parse.
   */
  list(selector?: string): T[];
  /** The object of a key, if it is there. @throws {DecodeError} when it cannot be read. */
  get(key: ObjectKey): T | undefined;
  /** One namespace. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** Reads one namespace of a cache. */
export interface NamespaceLister<T> {
  /** As {@linkcode Lister.list}, in this namespace, without looking at others. */
  list(selector?: string): T[];
  /** The object of a name, if it is there. @throws {DecodeError} when it cannot be read. */
  get(name: string): T | undefined;
}

/** A {@linkcode Lister} over a cache of entries. */
export class EntryLister<T extends KubernetesObject> implements Lister<T> {
  readonly #entries: ReadonlyIndexer<Entry<T>, "namespace">;
  readonly #quarantine: Quarantine<T>;
  /** The selector last used: most programs have one. */
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
