import type { Selection } from "../../api/options.ts";
import { type Resource, resourceName } from "../../api/resource.ts";

/**
 * Returns the name of the snapshot of a cache: the resource's name and version, and what the cache has of it, as
 * `"deployments.apps/v1?namespaces=shop&labelSelector=app%3Dweb"`.
 */
export function snapshotName(
  resource: Resource,
  { namespaces, labelSelector, fieldSelector }: Omit<Selection, "namespace">,
  hasSecrets: boolean,
): string {
  const { representation = "object", fields } = resource;
  const query = new URLSearchParams();
  if (representation !== "object") query.set("representation", representation);
  for (const [name, list] of Object.entries({ namespaces: [...namespaces ?? []].sort(), fields: fields ?? [] })) {
    if (list.length > 0) query.set(name, list.join(","));
  }
  if (hasSecrets) query.set("keep", "data");
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (fieldSelector) query.set("fieldSelector", fieldSelector);
  const selected = query.size === 0 ? "" : `?${query}`;
  return `${resourceName(resource)}/${resource.version}${selected}`;
}
