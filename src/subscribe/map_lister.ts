import { FieldSelector } from "../api/field_selector.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { LabelSelector } from "../api/selector.ts";
import type { CacheSelection, Lister, NamespaceLister } from "../informer/cache/lister.ts";

/** A {@linkcode Lister} over objects by their keys. */
export class MapLister<T extends KubernetesObject> implements Lister<T> {
  readonly #objects: ReadonlyMap<ObjectKey, T>;

  /** Reads `objects`, which may change. */
  constructor(objects: ReadonlyMap<ObjectKey, T>) {
    this.#objects = objects;
  }

  /** See {@linkcode Lister.list}. */
  list(selection: string | CacheSelection = ""): T[] {
    return this.#select(selection, () => true);
  }

  /** See {@linkcode Lister.get}. */
  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  /** See {@linkcode Lister.namespace}. */
  namespace(namespace: string): NamespaceLister<T> {
    return {
      list: (selection = "") => this.#select(selection, ({ metadata }) => (metadata.namespace ?? "") === namespace),
      get: (name) => this.get(namespace === "" ? name : `${namespace}/${name}`),
    };
  }

  #select(given: string | CacheSelection, belongs: (object: T) => boolean): T[] {
    const { labelSelector = "", fieldSelector = "" } = typeof given === "string" ? { labelSelector: given } : given;
    const labels = LabelSelector.parse(labelSelector);
    const fields = FieldSelector.parse(fieldSelector);
    return [...this.#objects.values()].filter((object) =>
      belongs(object) && labels.matches(object.metadata.labels) && fields.matches(object)
    );
  }
}
