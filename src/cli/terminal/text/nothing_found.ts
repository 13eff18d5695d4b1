import type { Resource } from "../../../api/resource.ts";

/** Returns the message for a selection without objects: `"no pods found in namespace shop"`; `namespace` is absent for all. */
export function nothingFound(resources: readonly Resource[], namespace: string | undefined): string {
  const names = resources.map(({ plural }) => plural).join(" or ");
  const namespaced = resources.some(({ scope }) => scope === "Namespaced");
  return `no ${names} found${namespaced && namespace !== undefined ? ` in namespace ${namespace}` : ""}`;
}
