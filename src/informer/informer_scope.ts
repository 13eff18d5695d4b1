import { namespacesOf, type Selection } from "../api/options.ts";
import { pathOf, type Resource } from "../api/resource.ts";
import type { CacheScope } from "./overlapping_caches.ts";

/** The objects that an informer of a factory caches. */
export class InformerScope implements CacheScope {
  readonly resource: Resource;
  readonly namespaces: readonly string[] | undefined;
  readonly selectors: Pick<Selection, "labelSelector" | "fieldSelector">;
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

  /** The same text for the same objects, in whatever order their namespaces are. */
  get id(): string {
    const { group, version, plural, representation = "object", fields } = this.resource;
    const { labelSelector = "", fieldSelector = "" } = this.selectors;
    const namespaces = [...this.namespaces ?? []].sort();
    return JSON.stringify([
      ...[group, version, plural, representation, fields, this.keep],
      ...[namespaces, labelSelector, fieldSelector],
    ]);
  }

  /** The part of the collection that is selected. */
  get selection(): Omit<Selection, "namespace"> {
    return { ...(this.namespaces === undefined ? {} : { namespaces: this.namespaces }), ...this.selectors };
  }

  /** The selection of each list and watch: one, or one for each namespace. */
  get parts(): readonly Omit<Selection, "namespaces">[] {
    return (this.namespaces ?? [undefined]).map((namespace) => ({ namespace, ...this.selectors }));
  }
}
