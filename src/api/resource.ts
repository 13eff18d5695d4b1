import type { KubernetesObject } from "./object.ts";

/** Where a kind lives on the server, and what its objects look like. */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  /** API group, `""` for the core group. */
  readonly group: string;
  /** API version, `"v1"`. */
  readonly version: string;
  /** The name of the collection in paths, lower case: `"pods"`. */
  readonly plural: string;
  /** The kind of its objects, `"Pod"`. */
  readonly kind: string;
  /** Whether its objects live in namespaces. */
  readonly scope: "Namespaced" | "Cluster";
  /** How the server is asked to represent objects. @default {"object"} */
  readonly representation?: "object" | "metadata";
  /** Carries `T`; never set. */
  readonly $type?: T;
}

/**
 * Describes a kind, built in or custom.
 *
 * @throws {TypeError} when a part is missing or is not what paths are made of.
 *
 * @example
 * ```ts
 * import { defineResource, type KubernetesObject, type Resource } from "@kube/informer";
 *
 * interface CronTab extends KubernetesObject {
 *   readonly spec: { readonly cronSpec: string };
 * }
 * const CronTab: Resource<CronTab> = defineResource<CronTab>({
 *   group: "stable.example.com",
 *   version: "v1",
 *   plural: "crontabs",
 *   kind: "CronTab",
 * });
 * ```
 */
export function defineResource<T extends KubernetesObject>(definition: {
  readonly group?: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly scope?: "Namespaced" | "Cluster";
}): Resource<T> {
  const { group = "", version, plural, kind, scope = "Namespaced" } = definition;
  for (const [field, value] of Object.entries({ version, plural, kind })) {
    if (typeof value !== "string" || value === "") {
      throw new TypeError(
        `Cannot define a resource: ${field} must be a non-empty string, found ${JSON.stringify(value)}`,
      );
    }
  }
  prefixOf({ group, version });
  checkSegment("plural", plural);
  return Object.freeze({ group, version, plural, kind, scope });
}

/** The same kind, metadata only (PartialObjectMetadata on the wire): a fraction of the memory for who needs no more. */
export function metadataOf(resource: Resource): Resource<KubernetesObject> {
  return Object.freeze({ ...resource, representation: "metadata" as const });
}

/** `"apps/v1"`, or `"v1"` for the core group: what objects carry as `apiVersion`. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `"deployments.apps"`, or `"pods"` for the core group: how people and messages name a collection. */
export function resourceName(resource: { readonly group: string; readonly plural: string }): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** What a path addresses within a resource. */
export interface PathParts {
  /** All namespaces when absent or empty; ignored for cluster-scoped resources. */
  readonly namespace?: string;
  /** One object of the collection. */
  readonly name?: string;
  /** A part of that object, `"status"`; needs a name. */
  readonly subresource?: string;
}

/**
 * The path of a collection, object or subresource on the server.
 *
 * @throws {TypeError} when a part, or the resource's group, version or plural, holds `/`, `%`, `?`, `#` or `\`, or is `.` or
 * `..`: the server has no such names, and a path must not lead elsewhere (client-go `rest/request.go` refuses most of these
 * too); when the version, plural or name is empty; when there is a subresource, but no name.
 */
export function pathOf(resource: Resource, parts: PathParts = {}): string {
  const { namespace, name, subresource } = parts;
  let path = prefixOf(resource);
  if (namespace && resource.scope === "Namespaced") path += `/namespaces/${checkSegment("namespace", namespace)}`;
  path += `/${checkSegment("plural", resource.plural)}`;
  if (name === undefined && subresource) {
    throw new TypeError(`Cannot address "${subresource}" of one of "${resourceName(resource)}": no name is given`);
  }
  if (name !== undefined) {
    if (name === "") throw new TypeError(`Cannot address one of "${resourceName(resource)}": the name is empty`);
    path += `/${checkSegment("name", name)}`;
  }
  // A subresource may have a path of its own behind it: services/proxy.
  if (subresource) {
    path += `/${subresource.split("/").map((part) => part && checkSegment("subresource", part)).join("/")}`;
  }
  return path;
}

/** What the paths of a group and version begin with. @throws {TypeError} as {@linkcode pathOf}. */
function prefixOf({ group, version }: Pick<Resource, "group" | "version">): string {
  const groupPath = group === "" ? "/api" : `/apis/${checkSegment("group", group)}`;
  return `${groupPath}/${checkSegment("version", version)}`;
}

function checkSegment(field: string, value: string): string {
  if (value === "" || value === "." || value === ".." || /[/%?#\\]/.test(value)) {
    throw new TypeError(
      `Cannot use "${value}" as ${field}: it must not be empty, "." or ".." nor hold "/", "%", "?", "#" or "\\"`,
    );
  }
  return encodeURIComponent(value);
}
