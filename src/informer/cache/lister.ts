/**
 * Reads an informer's cache by key, namespace and selectors.
 *
 * {@linkcode Lister} is the entry point. Listers return objects, which are parsed when they are first read. The cache
 * itself is in `object_cache.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { FieldTree } from "../../api/fields.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { formatFieldPath } from "../../api/selector.ts";
import { EntrySelector } from "../../entry/entry_selector.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { Quarantine } from "./entry_transform.ts";

/** Selectors for objects of a cache. */
export interface CacheSelection {
  /** The labels that objects must have. @default {any} */
  readonly labelSelector?: string;
  /** The fields that objects must have, any path of an object, see {@linkcode FieldSelector.matches}. @default {any} */
  readonly fieldSelector?: string;
}

/**
 * Reads a cache by namespace, name and label selector, as requests to the server would (client-go: `Lister`).
 *
 * The objects are the cache's own and must not be changed.
 */
export interface Lister<T> {
  /**
   * Returns the objects that a label selector, or both selectors, match; all, without one. Of objects that do not
   * match, only the labels and the selected fields are parsed. For many reads by one field, an index is faster.
   *
   * @throws {SyntaxError} that points at the character at which a selector does not parse.
   * @throws {TypeError} when a selector names a label or field that the informer does not keep.
   */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object of a key, if it is cached.
   *
   * @throws {DecodeError} when it cannot be read.
   */
  get(key: ObjectKey): T | undefined;
  /** Returns a lister of one namespace. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** Reads one namespace of a cache. */
export interface NamespaceLister<T> {
  /** Returns the objects of this namespace that a selector matches, as {@linkcode Lister.list} does. */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object of a name, if it is cached.
   *
   * @throws {DecodeError} when it cannot be read.
   */
  get(name: string): T | undefined;
}

/** A {@linkcode Lister} over a cache of entries. */
export class EntryLister<T extends KubernetesObject> implements Lister<T> {
  readonly #entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">;
  readonly #quarantine: Quarantine<T>;
  readonly #fields: FieldTree | undefined;
  /** The selector last used, because most programs use one. */
  #last: { readonly text: string; readonly selector: EntrySelector } | undefined;

  /** `fields` are those to which objects are reduced, if they are. */
  constructor(
    entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">,
    quarantine: Quarantine<T>,
    fields?: FieldTree,
  ) {
    this.#entries = entries;
    this.#quarantine = quarantine;
    this.#fields = fields;
  }

  list(selector: string | CacheSelection = ""): T[] {
    return this.#select(() => this.#entries.list(), selector);
  }

  get(key: ObjectKey): T | undefined {
    const entry = this.#entries.getByKey(key);
    return entry && this.#quarantine.objectOf(entry);
  }

  /** As `ReadonlyIndexer.byIndex`: the objects that can be read. */
  byIndex(name: string, value: string): T[] {
    return this.#quarantine.objectsOf(this.#entries.byIndex(name, value));
  }

  namespace(namespace: string): NamespaceLister<T> {
    return {
      list: (selector: string | CacheSelection = "") =>
        this.#select(() => this.#entries.byIndex("namespace", namespace), selector),
      get: (name) => this.get(namespace === "" ? name : `${namespace}/${name}`),
    };
  }

  /** Parses selectors. @throws as {@linkcode Lister.list}. */
  selector(given: string | CacheSelection): EntrySelector {
    if (typeof given !== "string") checkNames("select objects", given, "labelSelector fieldSelector");
    const { labelSelector = "", fieldSelector = "" } = typeof given === "string" ? { labelSelector: given } : given;
    const text = `${labelSelector}\n${fieldSelector}`;
    if (this.#last?.text === text) return this.#last.selector;
    const selector = new EntrySelector({ labelSelector, fieldSelector });
    for (const { key } of selector.labels.requirements) this.#checkKept(["metadata", "labels", key]);
    for (const { keys } of selector.fields.requirements) this.#checkKept(keys);
    this.#last = { text, selector };
    return selector;
  }

  #select(entries: () => readonly CacheEntry<T>[], given: string | CacheSelection): T[] {
    const selector = this.selector(given);
    return this.#quarantine.objectsOf(entries(), (entry) => selector.matches(entry));
  }

  #checkKept(keys: readonly string[]): void {
    if (this.#fields === undefined || this.#fields.keeps(keys)) return;
    throw new TypeError(
      `Cannot select by "${
        formatFieldPath(keys)
      }": the informer does not keep this field. Add the path to its option fields`,
    );
  }
}
