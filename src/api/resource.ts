import type { KubernetesObject } from "./object.ts";
import type { Reduced } from "./reduced.ts";
import type { TableRow } from "./table_row.ts";

/** A kind: its name and place on the server, and the type of its objects. */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  /** API group, `""` for the core group. */
  readonly group: string;
  /** API version, `"v1"`. */
  readonly version: string;
  /** The name of the collection in paths, in lower case: `"pods"`. */
  readonly plural: string;
  /** The kind of the objects, `"Pod"`. */
  readonly kind: string;
  /** `"Namespaced"` when each object has a namespace, else `"Cluster"`. */
  readonly scope: "Namespaced" | "Cluster";
  /**
   * The form in which the server is asked for objects: complete, their metadata alone, or rows of a table.
   *
   * @default {"object"}
   */
  readonly representation?: "object" | "metadata" | "table";
  /** The paths of the fields to which objects are reduced, as `fieldsOf` writes them: sorted, each once. @default {all fields} */
  readonly fields?: readonly string[];
  /** Carries the type `T`; never set. */
  readonly $type?: T;
}

/**
 * Defines a resource, of a built-in kind or of a custom one.
 *
 * @throws {TypeError} when a part is missing, or cannot be a segment of a path.
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

/**
 * Returns the same resource with objects reduced to their metadata (`PartialObjectMetadata` on the wire).
 *
 * An informer of it needs a fraction of the memory. The objects cannot be written back. Informers ask for protobuf, as
 * client-go's metadata client does, and accept JSON; a server that has no such form sends complete objects, which are kept
 * complete. What is read is the same in both encodings. Lists, gets and watches of objects that are read at once are in JSON.
 *
 * @throws {TypeError} when the resource is already reduced to named fields.
 */
export function metadataOf(resource: Resource): Resource<KubernetesObject & Reduced> {
  refuseFields(resource, "metadata");
  return Object.freeze({ ...resource, representation: "metadata" as const });
}

/**
 * Returns the same resource with objects as rows of the table that `kubectl get` prints: the cells come from the server,
 * for every kind, and each row has the complete object too (`Table` with `includeObject=Object` on the wire).
 *
 * Lists, pages, gets, watches and informers work with rows; the metadata of a row is that of its object. Writes are
 * refused. A cell that depends on the time, such as an age, is that of the moment at which the server sent the row. A
 * server that knows no tables sends objects; their rows have the name and the time of creation.
 *
 * @throws {TypeError} when the resource is reduced to named fields.
 *
 * @example
 * ```ts
 * import { Client, tableOf } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { configMap, FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(ConfigMap, configMap({ name: "settings", data: { colour: "red" } }));
 * using client = new Client({ server: "http://fake", transport: server });
 * const { items: [row] } = await client.resource(tableOf(ConfigMap)).list();
 * assertEquals(row.columns.map(({ name }) => name), ["Name", "Data", "Age"]);
 * assertEquals(row.cells.slice(0, 2), ["settings", 1]);
 * assertEquals(row.object.data?.colour, "red");
 * ```
 */
export function tableOf<T extends KubernetesObject>(resource: Resource<T>): Resource<TableRow<T>> {
  refuseFields(resource, "table");
  const { $type: _type, ...rest } = resource;
  return Object.freeze({ ...rest, representation: "table" as const });
}

function refuseFields(resource: Resource, representation: string): void {
  if (resource.fields === undefined) return;
  throw new TypeError(
    `Cannot use the representation "${representation}" of "${
      resourceName(resource)
    }": the resource is reduced to fields; ` +
      `use the resource itself`,
  );
}

/** Returns the `apiVersion` of objects: `"apps/v1"`, or `"v1"` for the core group. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** Returns the name of a collection for messages: `"deployments.apps"`, or `"pods"` for the core group. */
export function resourceName(resource: { readonly group: string; readonly plural: string }): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** The parts of a path below a resource. */
export interface PathParts {
  /** The namespace. Absent or empty for all namespaces; ignored for cluster-scoped resources. */
  readonly namespace?: string;
  /** The name of one object; absent for the collection. */
  readonly name?: string;
  /** A subresource of that object, such as `"status"`; needs a name. */
  readonly subresource?: string;
}

/**
 * Returns the path of a collection, object or subresource on the server.
 *
 * @throws {TypeError} when a part, or the resource's group, version or plural, contains `/`, `%`, `?`, `#` or `\`, or
 * is `.` or `..`: the server has no such names, and the path would address something else (client-go `rest/request.go`
 * refuses most of them too); when the version, plural or name is empty; when there is a subresource, but no name.
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
  // A subresource may have several segments, such as that of services/proxy.
  if (subresource) {
    path += `/${subresource.split("/").map((part) => part && checkSegment("subresource", part)).join("/")}`;
  }
  return path;
}

/** Returns the start of all paths of a group and version. @throws {TypeError} as {@linkcode pathOf}. */
function prefixOf({ group, version }: Pick<Resource, "group" | "version">): string {
  const groupPath = group === "" ? "/api" : `/apis/${checkSegment("group", group)}`;
  return `${groupPath}/${checkSegment("version", version)}`;
}

function checkSegment(field: string, value: string): string {
  if (value === "" || value === "." || value === ".." || /[/%?#\\]/.test(value)) {
    throw new TypeError(
      `Cannot use "${value}" as ${field}: it must not be empty, "." or "..", and must not contain ` +
        `"/", "%", "?", "#" or "\\"`,
    );
  }
  return encodeURIComponent(value);
}
