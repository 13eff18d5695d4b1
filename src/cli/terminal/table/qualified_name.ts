import type { Resource } from "../../../api/resource.ts";

/** Returns the name that kubectl accepts: `"pod/cart-0"`, `"deployment.apps/web"`. */
export function qualifiedName(resource: Resource, name: string): string {
  const kind = resource.kind.toLowerCase();
  return `${resource.group === "" ? kind : `${kind}.${resource.group}`}/${name}`;
}
