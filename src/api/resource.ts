/**
 * Kinds and their places on a server: names, paths, verbs, columns.
 *
 * {@linkcode defineResource} is the entry point. {@linkcode onlyMetadata} and {@linkcode asTable} choose another
 * representation of a kind, and `isSecret` names the kind whose data informers do not keep. This file sends no
 * requests; discovery is in the client.
 *
 * @module
 */
import type { DynamicObject, KubernetesObject, Reduced } from "./object.ts";

/** A column of the table that a server prints of a kind (`TableColumnDefinition` of meta.k8s.io/v1). */
export interface TableColumn {
  /** The title, `"Restarts"`; kubectl prints it in upper case. */
  readonly name: string;
  /** The type of the cells, as in OpenAPI: `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`. */
  readonly type: string;
  /** The OpenAPI format: `"name"` for the column of the names, else mostly `""`. */
  readonly format: string;
  /** A description for people; may be long. */
  readonly description: string;
  /** 0 for a column that is always shown; above 0 for one of the wide output, `kubectl get -o wide`. */
  readonly priority: number;
}

/**
 * An object as a row of the table of its kind; see `asTable`. Kind, apiVersion and metadata are those of the object.
 */
export interface TableRow<T extends KubernetesObject = KubernetesObject> extends KubernetesObject, Reduced {
  /** The cells, in the order of the columns: strings, numbers, booleans, null, or what JSON has else. */
  readonly cells: readonly unknown[];
  /** The columns; all rows of one list or watch share them. */
  readonly columns: readonly TableColumn[];
  /** The object itself. */
  readonly object: T;
}

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
   * Short names, which servers of the kind list in discovery: `["po"]`.
   *
   * @default {[]}
   */
  readonly shortNames?: readonly string[];
  /**
   * The groups of resources that the kind belongs to, which servers of it list in discovery: `["all"]`.
   *
   * @default {[]}
   */
  readonly categories?: readonly string[];
  /**
   * The form in which the server is asked for objects: complete, their metadata alone, or rows of a table.
   *
   * @default {"object"}
   */
  readonly representation?: "object" | "metadata" | "table";
  /**
   * The paths of the fields to which objects are reduced, as `onlyFields` writes them: sorted, each once.
   *
   * @default {all fields}
   */
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
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}): Resource<T> {
  const { group = "", version, plural, kind, scope = "Namespaced", shortNames, categories } = definition;
  for (const [field, value] of Object.entries({ version, plural, kind })) {
    if (typeof value !== "string" || value === "") {
      throw new TypeError(
        `Cannot define a resource: ${field} must be a non-empty string, but it is ${JSON.stringify(value)}`,
      );
    }
  }
  prefixOf({ group, version });
  checkSegment("plural", plural);
  return Object.freeze({
    group,
    version,
    plural,
    kind,
    scope,
    ...shortNames && { shortNames },
    ...categories && { categories },
  });
}

/** The definitions of custom kinds. */
export const DEFINITIONS: Resource<KubernetesObject> = defineResource<KubernetesObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
});

/**
 * Returns the same resource with objects reduced to their metadata (`PartialObjectMetadata` on the wire).
 *
 * An informer of it needs a fraction of the memory. The objects cannot be written back. A server that has no such form
 * sends complete objects, which are kept complete.
 *
 * @throws {TypeError} when the resource is already reduced to named fields.
 */
export function onlyMetadata<T extends KubernetesObject>(
  resource: Resource<T>,
): Resource<KubernetesObject & Pick<T, "metadata"> & Reduced> {
  refuseFields(resource, "metadata");
  return Object.freeze({ ...resource, representation: "metadata" as const });
}

/**
 * Returns the same resource with objects as rows of the table that `kubectl get` prints: the cells come from the
 * server, for every kind, and each row has the complete object too (`Table` with `includeObject=Object` on the wire).
 *
 * Lists, pages, gets, watches and informers work with rows; the metadata of a row is that of its object. Writes are
 * refused. A cell that depends on the time, such as an age, is that of the moment at which the server sent the row. A
 * server that knows no tables sends objects; their rows have the name and the time of creation.
 *
 * @throws {TypeError} when the resource is reduced to named fields.
 *
 * @example
 * ```ts
 * import { Client, asTable } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { configMap, FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(ConfigMap, configMap({ name: "settings", data: { colour: "red" } }));
 * using client = new Client({ server: "http://fake", transport: server });
 * const { items: [row] } = await client.resource(asTable(ConfigMap)).list();
 * assertEquals(row.columns.map(({ name }) => name), ["Name", "Data", "Age"]);
 * assertEquals(row.cells.slice(0, 2), ["settings", 1]);
 * assertEquals(row.object.data?.colour, "red");
 * ```
 */
export function asTable<T extends KubernetesObject>(resource: Resource<T>): Resource<TableRow<T>> {
  refuseFields(resource, "table");
  const { $type: _type, ...rest } = resource;
  return Object.freeze({ ...rest, representation: "table" as const });
}

function refuseFields(resource: Resource, representation: string): void {
  if (resource.fields === undefined) return;
  throw new TypeError(
    `Cannot use the representation "${representation}" of "${
      resourceName(resource)
    }": the resource is reduced to fields. ` +
      `Use the resource itself`,
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
    throw new TypeError(`Cannot address "${subresource}" of "${resourceName(resource)}": the object's name is missing`);
  }
  if (name !== undefined) {
    if (name === "") throw new TypeError(`Cannot address an object of "${resourceName(resource)}": its name is empty`);
    path += `/${checkSegment("name", name)}`;
  }
  // A subresource may have several segments, such as that of services/proxy.
  if (subresource) {
    path += `/${subresource.split("/").map((part) => part && checkSegment("subresource", part)).join("/")}`;
  }
  return path;
}

/** A collection, an object or a subresource, as a path addresses it. */
export interface ResourcePlace {
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
  /** Subresource of that object, of one segment or several. */
  readonly subresource: string | undefined;
}

/** Subresources of a namespace, as opposed to collections in it. */
const NAMESPACE_PARTS = ["status", "finalize"];

/**
 * Reads a path, as servers do and {@linkcode pathOf} makes it; `undefined` when it is about no resource.
 *
 * @throws {URIError} when the path has an invalid percent-encoding.
 */
export function placeOf(pathname: string): ResourcePlace | undefined {
  const written = pathname.split("/").filter((part) => part !== "");
  const parts = pathname.includes("%") ? written.map(decodeURIComponent) : written;
  const depth = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : Infinity;
  if (parts.length <= depth) return undefined;
  const below = parts.slice(depth);
  const inNamespace = below[0] === "namespaces" && below.length > 2 && !NAMESPACE_PARTS.includes(below[2]);
  const [plural, name, ...rest] = inNamespace ? below.slice(2) : below;
  return {
    group: depth === 2 ? "" : parts[1],
    version: parts[depth - 1],
    namespace: inNamespace ? below[1] : "",
    plural,
    name,
    subresource: rest.length === 0 ? undefined : rest.join("/"),
  };
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch" };

/**
 * Returns the verb of a request to a place, as rules name it and servers derive it (apiserver `RequestInfo`); that of
 * another method is the method in lower case.
 */
export function verbOf(method: string, { name }: Pick<ResourcePlace, "name">, query: URLSearchParams): string {
  if (method === "DELETE") return name === undefined ? "deletecollection" : "delete";
  if (method !== "GET" && method !== "HEAD") return VERBS[method] ?? method.toLowerCase();
  if (name !== undefined) return "get";
  return isSet(query.get("watch")) ? "watch" : "list";
}

/** Returns `true` for a parameter that is given and neither `0` nor `false`, as apimachinery reads booleans. */
function isSet(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
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

/**
 * Compares versions of a group as Kubernetes orders them (apimachinery `version.CompareKubeAwareVersionStrings`): `v2`,
 * `v1`, `v1beta1`, `v1alpha1`, then all others by their text. Returns a negative number if `a` comes first.
 */
export function compareVersionPriority(a: string, b: string): number {
  const [rankA, rankB] = [a, b].map((version) => {
    const [, major, stage, minor = 0] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
    if (major === undefined) return [0, 0, 0];
    return [stage === undefined ? 3 : stage === "beta" ? 2 : 1, Number(major), Number(minor)];
  });
  const different = rankA.findIndex((rank, i) => rank !== rankB[i]);
  return different === -1 ? (a < b ? -1 : a > b ? 1 : 0) : rankB[different] - rankA[different];
}

/** A kind that the server has, as discovery describes it. */
export interface ApiResource extends Resource<DynamicObject> {
  /** The singular name in lower case: `"pod"`. */
  readonly singular: string;
  /** Short names: `["po"]`. */
  readonly shortNames: readonly string[];
  /** The groups of resources that it belongs to: `["all"]`. */
  readonly categories: readonly string[];
  /** The verbs that the server supports: `["get", "list", "watch", …]`. */
  readonly verbs: readonly string[];
  /** The subresources: `["status", "scale"]`. */
  readonly subresources: readonly string[];
  /** True if its version is the one of its group that the server prefers. */
  readonly preferred: boolean;
}

/** The members of a Secret that hold its data. */
export const SECRET_DATA: readonly string[] = ["data", "stringData"];

/**
 * The annotations in which tools keep the data of a Secret: copies of what was applied by kubectl, kapp, Rancher and
 * the operators of Banzai Cloud, and the token of a service account by OpenShift.
 */
export const SECRET_ANNOTATIONS: readonly string[] = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "kapp.k14s.io/original",
  "kapp.k14s.io/original-diff",
  "kapp.k14s.io/original-diff-full",
  "kapp.k14s.io/original-diff-md5",
  "objectset.rio.cattle.io/applied",
  "banzaicloud.com/last-applied",
  "openshift.io/token-secret.value",
];

/** A type of Secrets, as that of `@kube/informer/kinds/core/v1`. */
export interface SecretLike extends KubernetesObject {
  /** Group and version. */
  readonly apiVersion?: "v1";
  /** The kind. */
  readonly kind?: "Secret";
}

/** A Secret without its data. It cannot be written back: see {@linkcode Reduced}. */
export type WithoutData<T extends SecretLike> = Omit<T, "data" | "stringData"> & Pick<T, "metadata"> & Reduced;

/** Returns `true` for the resource of Secrets, in any representation. */
export function isSecret({ group, plural }: Resource): boolean {
  return group === "" && plural === "secrets";
}
