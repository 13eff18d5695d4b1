import { defined, namespacesOf, type Selection } from "../api/options.ts";
import { InformerError } from "../errors/informer_error.ts";
import { apiVersionOf, pathOf, type Resource, resourceName } from "../api/resource.ts";

/** Which objects an informer of a factory caches, and in which form. */
export class CacheScope {
  /** The kind, and the form of its objects. */
  readonly resource: Resource;
  /** The namespaces; `undefined` for all of them. */
  readonly namespaces: readonly string[] | undefined;
  /** The selectors. */
  readonly selectors: Pick<Selection, "labelSelector" | "fieldSelector">;
  /** `"data"` if the fields of Secrets are kept though they are secret. */
  readonly keep?: "data";

  /**
   * Fills in the defaults of the factory: its selectors, and its namespaces where there are no others.
   *
   * @throws {TypeError} when the namespaces contradict each other, or cannot be part of a path.
   */
  constructor(resource: Resource, own: Selection & { readonly keep?: "data" }, defaults: Selection) {
    const where = own.namespace === undefined && own.namespaces === undefined ? defaults : own;
    // Checked also for a cluster-scoped resource, which ignores it.
    const given = namespacesOf(where);
    const namespaces = resource.scope === "Cluster" ? undefined : given;
    for (const namespace of namespaces ?? []) pathOf(resource, { namespace });
    const { labelSelector = defaults.labelSelector, fieldSelector = defaults.fieldSelector } = own;
    this.resource = resource;
    this.namespaces = namespaces;
    this.selectors = { labelSelector, fieldSelector };
    this.keep = own.keep;
  }

  /**
   * The same name for the same objects, whatever the order of their namespaces: the resource's name and version, and
   * what is cached of it, as `"deployments.apps/v1?namespaces=shop&labelSelector=app%3Dweb"`.
   */
  get name(): string {
    const { resource, keep, selectors: { labelSelector, fieldSelector } } = this;
    const { version, representation = "object", fields } = resource;
    const query = new URLSearchParams();
    if (representation !== "object") query.set("representation", representation);
    for (const [name, list] of Object.entries({ namespaces: this.namespaces?.toSorted(), fields })) {
      if (list !== undefined) query.set(name, list.map((it) => it.replace(/[%,]/g, encodeURIComponent)).join(","));
    }
    if (keep !== undefined) query.set("keep", keep);
    if (labelSelector) query.set("labelSelector", labelSelector);
    if (fieldSelector) query.set("fieldSelector", fieldSelector);
    return `${resourceName(resource)}/${version}${query.size === 0 ? "" : `?${query}`}`;
  }

  /** The part of the collection that is selected. */
  get selection(): Omit<Selection, "namespace"> {
    return { ...defined({ namespaces: this.namespaces }), ...this.selectors };
  }

  /** The selection of each list and watch: one, or one for each namespace. */
  get parts(): readonly Omit<Selection, "namespaces">[] {
    return (this.namespaces ?? [undefined]).map((namespace) => ({ namespace, ...this.selectors }));
  }
}

/**
 * Reported by a factory, once per kind, when two of its informers cache the same objects, which the server then sends
 * twice: complete and as metadata or named fields, of all namespaces and of one, with and without a selector.
 */
export class OverlappingCachesError extends InformerError {
  /** `"OverlappingCachesError"`. */
  override readonly name = "OverlappingCachesError";

  /** Names the two caches. */
  constructor(a: CacheScope, b: CacheScope) {
    super(
      `Two informers cache the same ${resourceName(a.resource)}: one has ${textOf(a, b)}, the other ${textOf(b, a)}; ` +
        `use the larger one for both, or ignore this error`,
    );
  }
}

/** Finds caches that overlap, once for each kind. */
export class OverlapFinder {
  /** The names of the kinds of which an overlap was found. */
  readonly #found = new Set<string>();

  /** Returns an error if a cache overlaps with one of the others, unless one was found of its kind before. */
  find(scope: CacheScope, others: readonly CacheScope[]): OverlappingCachesError | undefined {
    const name = resourceName(scope.resource);
    if (this.#found.has(name)) return undefined;
    const other = others.find((other) => overlap(other, scope));
    if (other === undefined) return undefined;
    this.#found.add(name);
    return new OverlappingCachesError(other, scope);
  }
}

/**
 * Returns `true` if two caches of one kind share objects for sure, or one of them has no selector. Of two different
 * selectors nobody knows, so they count as separate.
 */
function overlap(a: CacheScope, b: CacheScope): boolean {
  if (a.resource.group !== b.resource.group || a.resource.plural !== b.resource.plural) return false;
  const inOneNamespace = a.namespaces === undefined || b.namespaces === undefined ||
    a.namespaces.some((name) => b.namespaces!.includes(name));
  return inOneNamespace && (["labelSelector", "fieldSelector"] as const).every((name) => {
    const [one, other] = [a.selectors[name], b.selectors[name]];
    return !one || !other || one === other;
  });
}

function textOf({ resource, namespaces, selectors, keep }: CacheScope, other: CacheScope): string {
  const { labelSelector, fieldSelector } = selectors;
  return [
    resource.representation === "metadata"
      ? "metadata"
      : resource.fields === undefined
      ? "objects"
      : "fields of objects",
    keep === undefined ? "" : "with data",
    resource.version === other.resource.version ? "" : `at ${apiVersionOf(resource)}`,
    namespaces === undefined ? "" : `of namespace ${namespaces.join(", ")}`,
    namespaces === undefined && resource.scope === "Namespaced" ? "of all namespaces" : "",
    labelSelector ? `with labels "${labelSelector}"` : "",
    fieldSelector ? `with fields "${fieldSelector}"` : "",
  ].filter((part) => part !== "").join(" ");
}
