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
import { checkNamespaceOf, type Resource } from "../../api/resource.ts";
import { formatFieldPath } from "../../api/selector.ts";
import { EntrySelector } from "../../entry/entry_selector.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { Quarantine } from "./entry_transform.ts";

/** Selectors for cached objects. */
export interface CacheSelection {
  /** Labels that objects must have, such as `"app=web,tier!=db"`. By default, any. */
  readonly labelSelector?: string;
  /** Fields that objects must have, with any path, see {@linkcode FieldSelector.matches}. By default, any. */
  readonly fieldSelector?: string;
}

/**
 * Reads a cache by namespace, name and label selector, as `kubectl get` reads the server (client-go: `Lister`).
 *
 * The objects belong to the cache. Do not change them.
 */
export interface Lister<T> {
  /**
   * Returns the objects that match a label selector, or both selectors. Without a selector, returns all. Only the
   * matches are parsed: for other objects, only the labels and the selected field are read. If you read by the same
   * field often, create an index.
   *
   * @throws {SyntaxError} if a selector does not parse. It points at the character.
   * @throws {TypeError} if a selector names a label or field that the informer does not keep.
   */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object with this key, if it is cached.
   *
   * @throws {DecodeError} if it cannot be read.
   * @throws {TypeError} if the kind is namespaced, and the key has no namespace.
   */
  get(key: ObjectKey): T | undefined;
  /** Returns a lister for one namespace. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** Reads one namespace in a cache. */
export interface NamespaceLister<T> {
  /** Returns this namespace's objects that match a selector, like {@linkcode Lister.list}. */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object with this name, if it is cached.
   *
   * @throws {DecodeError} if it cannot be read.
   */
  get(name: string): T | undefined;
}

/** A {@linkcode Lister} over a cache of entries. */
export class EntryLister<T extends KubernetesObject> implements Lister<T> {
  readonly #entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">;
  readonly #quarantine: Quarantine<T>;
  readonly #fields: FieldTree | undefined;
  readonly #resource: Resource | undefined;
  /** The selector last used, because most programs use one. */
  #last: { readonly text: string; readonly selector: EntrySelector } | undefined;

  /** `fields` are those to which objects are reduced, if they are. `resource` is the kind, if there is one. */
  constructor(
    entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">,
    quarantine: Quarantine<T>,
    fields?: FieldTree,
    resource?: Resource,
  ) {
    this.#entries = entries;
    this.#quarantine = quarantine;
    this.#fields = fields;
    this.#resource = resource;
  }

  list(selector: string | CacheSelection = ""): T[] {
    return this.#select(() => this.#entries.list(), selector);
  }

  get(key: ObjectKey): T | undefined {
    const entry = this.#entries.getByKey(key);
    if (entry !== undefined) return this.#quarantine.objectOf(entry);
    checkNamespaceOf(key, this.#resource); // only now, as most keys are there
    return undefined;
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
