import { noPath } from "./refusal.ts";

/** The path of a collection, an object or a subresource. */
export interface ResourceRoute {
  /** Always `"resource"`. */
  readonly type: "resource";
  /** API group. */
  readonly group: string;
  /** API version. */
  readonly version: string;
  /** `""` for all namespaces, and for a cluster-scoped resource. */
  readonly namespace: string;
  /** Plural name of the resource. */
  readonly plural: string;
  /** Name of the object. */
  readonly name: string | undefined;
  /** Subresource of that object. */
  readonly subresource: string | undefined;
}

/** The target of a path. */
export type Route =
  | ResourceRoute
  | { readonly type: "versions" | "groups" | "version" | "health" }
  | { readonly type: "openapi"; readonly path: string }
  | { readonly type: "group"; readonly group: string }
  | { readonly type: "resources"; readonly group: string; readonly version: string };

/** Subresources of a namespace, as opposed to collections in it. */
const NAMESPACE_PARTS = ["status", "finalize"];

/**
 * Parses a URL path.
 *
 * @throws {PlainRefusal} 404 if the server has no such path.
 */
export function parseRoute(pathname: string): Route {
  const parts = decode(pathname).filter((part) => part !== "");
  switch (parts[0]) {
    case "version":
      return { type: "version" };
    case "healthz":
    case "livez":
    case "readyz":
      return { type: "health" };
    case "openapi":
      if (parts[1] !== "v3") throw noPath();
      return { type: "openapi", path: parts.slice(2).join("/") };
    case "api":
      if (parts.length === 1) return { type: "versions" };
      return below("", parts[1], parts.slice(2));
    case "apis":
      if (parts.length === 1) return { type: "groups" };
      if (parts.length === 2) return { type: "group", group: parts[1] };
      return below(parts[1], parts[2], parts.slice(3));
    default:
      throw noPath();
  }
}

function below(group: string, version: string, parts: readonly string[]): Route {
  if (parts.length === 0) return { type: "resources", group, version };
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !NAMESPACE_PARTS.includes(parts[2]);
  const namespace = inNamespace ? parts[1] : "";
  const [plural, name, ...subresource] = inNamespace ? parts.slice(2) : parts;
  return {
    type: "resource",
    group,
    version,
    namespace,
    plural,
    name,
    subresource: subresource.length === 0 ? undefined : subresource.join("/"),
  };
}

function decode(pathname: string): string[] {
  try {
    return pathname.split("/").map(decodeURIComponent);
  } catch {
    // Invalid percent-encoding matches no path.
    throw noPath();
  }
}
