/**
 * Kinds and where they are on a server: names, paths, verbs and table columns.
 *
 * {@linkcode defineResource} is the entry point. {@linkcode onlyMetadata} and {@linkcode asTable} choose another
 * representation for a kind, and `isSecret` recognizes Secrets, whose data informers drop. This file sends no requests:
 * discovery is in the client.
 *
 * @module
 */
import { ArgumentError } from "../errors/checks.ts";
import type { DynamicObject, KubernetesObject, Reduced } from "./object.ts";

/** A column in the table that a server prints for a kind (`TableColumnDefinition` in meta.k8s.io/v1). */
export interface TableColumn {
  /** The title, `"Restarts"`. kubectl prints it in upper case. */
  readonly name: string;
  /** The cells' OpenAPI type: `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`. */
  readonly type: string;
  /** The OpenAPI format: `"name"` for the name column, otherwise mostly `""`. */
  readonly format: string;
  /** A description for people. It may be long. */
  readonly description: string;
  /** 0 if the column is always shown. Above 0 if only the wide output has it (`kubectl get -o wide`). */
  readonly priority: number;
}

/** An object as a row in its kind's table, see `asTable`. Its kind, apiVersion and metadata are the object's. */
export interface TableRow<T extends KubernetesObject = KubernetesObject> extends KubernetesObject, Reduced {
  /** The cells, in the order of the columns: strings, numbers, booleans, null, or other JSON values. */
  readonly cells: readonly unknown[];
  /** The columns. All rows in one list or watch share them. */
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
  /** The collection's name in paths, in lower case: `"pods"`. */
  readonly plural: string;
  /** The kind, `"Pod"`. */
  readonly kind: string;
  /** `"Namespaced"` if each object has a namespace, otherwise `"Cluster"`. */
  readonly scope: "Namespaced" | "Cluster";
  /** Short names, as listed in discovery: `["po"]`. @default {[]} */
  readonly shortNames?: readonly string[];
  /** Categories that the kind belongs to, as listed in discovery: `["all"]`. @default {[]} */
  readonly categories?: readonly string[];
  /** The form in which to request objects: complete, only their metadata, or as table rows. @default {"object"} */
  readonly representation?: "object" | "metadata" | "table";
  /**
   * The field paths to which objects are reduced, in the form that `onlyFields` writes: sorted, without duplicates.
   * @default {all fields}
   */
  readonly fields?: readonly string[];
  /**
   * Loads a function that finds what the server would refuse in an object, or in its update from `previous`. Kinds of
   * `defineKind` have it. @default {nothing is checked}
   */
  readonly loadValidator?: () => Promise<
    (
      object: object,
      previous?: object,
    ) => readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[]
  >;
  /** Carries the type `T`. Never set. */
  readonly $type?: T;
}

/**
 * Defines a resource for a custom or built-in kind, so that you can list, watch and write its objects.
 *
 * @throws {TypeError} if a part is missing, or cannot be a path segment.
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
      throw new ArgumentError(
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

/** CustomResourceDefinitions (CRDs). */
export const DEFINITIONS: Resource<KubernetesObject> = defineResource<KubernetesObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
});

/**
 * Returns a resource whose objects contain only their metadata (`PartialObjectMetadata` on the wire). Use it if you
 * need only names, labels or owners: an informer needs a fraction of the memory.
 *
 * You cannot write the objects back. A server without this form sends complete objects, and they stay complete.
 *
 * @throws {TypeError} if the resource is already reduced to selected fields.
 */
export function onlyMetadata<T extends KubernetesObject>(
  resource: Resource<T>,
): Resource<KubernetesObject & Pick<T, "metadata"> & Reduced> {
  refuseFields(resource, "metadata");
  return Object.freeze({ ...resource, representation: "metadata" as const });
}

/**
 * Returns a resource whose objects are rows in the table that `kubectl get` prints. The server fills the cells for
 * every kind, and each row also has the complete object (`Table` with `includeObject=Object` on the wire).
 *
 * - Lists, pages, gets, watches and informers work with rows. A row's metadata is its object's metadata.
 * - You cannot write rows.
 * - A cell that depends on the time, such as an age, shows the time at which the server sent the row.
 * - A server without tables sends objects. Their rows have only the name and the creation time.
 *
 * @throws {TypeError} if the resource is reduced to selected fields.
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
  throw new ArgumentError(
    `Cannot use the representation "${representation}" of "${resourceName(resource)}": the resource is reduced to ` +
      `fields. Use the resource itself`,
  );
}

/** Returns the `apiVersion` for objects: `"apps/v1"`, or `"v1"` for the core group. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** Returns a collection's name for messages: `"deployments.apps"`, or `"pods"` for the core group. */
export function resourceName(resource: { readonly group: string; readonly plural: string }): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/**
 * Checks a key that a program gives. Without a namespace, no object of a namespaced kind has it.
 *
 * @throws {TypeError} if the namespace is missing.
 */
export function checkNamespaceOf(key: string, resource: Resource | undefined): void {
  if (resource?.scope !== "Namespaced" || key.includes("/")) return;
  const example = JSON.stringify(`default/${key}`);
  throw new ArgumentError(
    `Cannot use the key "${key}": keys of ${resourceName(resource)} are "namespace/name", e.g. ${example}`,
  );
}

/** The parts of a path below a resource. */
export interface PathParts {
  /** The namespace. Absent or empty means all namespaces. Ignored for cluster-scoped resources. */
  readonly namespace?: string;
  /** The object's name. Absent for the whole collection. */
  readonly name?: string;
  /** A subresource such as `"status"`. It needs a name. */
  readonly subresource?: string;
}

/**
 * Returns the server path to a collection, object or subresource.
 *
 * @throws {TypeError} if a part, or the resource's group, version or plural, contains `/`, `%`, `?`, `#` or `\`, or is
 * `.` or `..`. The server has no such names, and the path would address something else. client-go `rest/request.go`
 * refuses most of them too.
 * @throws {TypeError} if the version, plural or name is empty, or a subresource has no name.
 */
export function pathOf(resource: Resource, parts: PathParts = {}): string {
  const { namespace, name, subresource } = parts;
  let path = prefixOf(resource);
  if (namespace && resource.scope === "Namespaced") path += `/namespaces/${checkSegment("namespace", namespace)}`;
  path += `/${checkSegment("plural", resource.plural)}`;
  if (name === undefined && subresource) {
    throw new ArgumentError(
      `Cannot address "${subresource}" of "${resourceName(resource)}": the object's name is missing`,
    );
  }
  if (name !== undefined) {
    if (name === "") {
      throw new ArgumentError(`Cannot address an object of "${resourceName(resource)}": its name is empty`);
    }
    path += `/${checkSegment("name", name)}`;
  }
  // A subresource may have several segments, such as the path after services/NAME/proxy.
  if (subresource) {
    path += `/${subresource.split("/").map((part) => part && checkSegment("subresource", part)).join("/")}`;
  }
  return path;
}

/** A collection, object or subresource that a path addresses. */
export interface ResourcePlace {
  /** API group. */
  readonly group: string;
  /** API version. */
  readonly version: string;
  /** The namespace. `""` for all namespaces, and for a cluster-scoped resource. */
  readonly namespace: string;
  /** The resource's plural name. */
  readonly plural: string;
  /** The object's name. */
  readonly name: string | undefined;
  /** The object's subresource, with one or more segments. */
  readonly subresource: string | undefined;
}

/** A namespace's own subresources, in contrast to collections in the namespace. */
const NAMESPACE_PARTS = ["status", "finalize"];

/**
 * Parses a path from {@linkcode pathOf} the way servers do. Returns `undefined` if the path addresses no resource.
 *
 * @throws {URIError} if the path has an invalid percent-encoding.
 */
export function parseResourcePath(pathname: string): ResourcePlace | undefined {
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
 * Returns a request's verb as RBAC rules name it and servers derive it (apiserver `RequestInfo`). For an unknown
 * method, it returns the method in lower case.
 */
export function verbOf(method: string, { name }: Pick<ResourcePlace, "name">, query: URLSearchParams): string {
  if (method === "DELETE") return name === undefined ? "deletecollection" : "delete";
  if (method !== "GET" && method !== "HEAD") return VERBS[method] ?? method.toLowerCase();
  if (name !== undefined) return "get";
  return isSet(query.get("watch")) ? "watch" : "list";
}

/** Returns `true` for a parameter that is present and neither `0` nor `false`, like booleans in apimachinery. */
function isSet(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** Returns the start of all paths for a group and version. @throws {TypeError} like {@linkcode pathOf}. */
function prefixOf({ group, version }: Pick<Resource, "group" | "version">): string {
  const groupPath = group === "" ? "/api" : `/apis/${checkSegment("group", group)}`;
  return `${groupPath}/${checkSegment("version", version)}`;
}

function checkSegment(field: string, value: string): string {
  if (value === "" || value === "." || value === ".." || /[/%?#\\]/.test(value)) {
    throw new ArgumentError(
      `Cannot use "${value}" as ${field}: it must not be empty, "." or "..", and must not contain ` +
        `"/", "%", "?", "#" or "\\"`,
    );
  }
  return encodeURIComponent(value);
}

/**
 * Compares a group's API versions in Kubernetes order (apimachinery `version.CompareKubeAwareVersionStrings`): `v2`,
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

/** A kind that the server offers, as discovery describes it. */
export interface ApiResource extends Resource<DynamicObject> {
  /** The singular name in lower case: `"pod"`. */
  readonly singular: string;
  /** Short names: `["po"]`. */
  readonly shortNames: readonly string[];
  /** Categories that the kind belongs to: `["all"]`. */
  readonly categories: readonly string[];
  /** The verbs that the server supports: `["get", "list", "watch", …]`. */
  readonly verbs: readonly string[];
  /** The subresources: `["status", "scale"]`. */
  readonly subresources: readonly string[];
  /** `true` if this is the version that the server prefers in its group. */
  readonly preferred: boolean;
}

/** Returns each resource once, in its best version: the preferred version of its group, else the first. */
export function inBestVersion(resources: readonly ApiResource[]): readonly ApiResource[] {
  const found = new Map<string, ApiResource>();
  for (const resource of resources) {
    const name = resourceName(resource);
    if (resource.preferred || !found.has(name)) found.set(name, resource);
  }
  return [...found.values()];
}

/** The members in a Secret that hold its data. */
export const SECRET_DATA: readonly string[] = ["data", "stringData"];

/**
 * The annotations in which tools keep a Secret's data. kubectl, kapp, Rancher and the Banzai Cloud operators keep
 * copies of applied objects, and OpenShift keeps a service account's token.
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

/** A type for Secrets, such as `Secret` in `@kube/informer/kinds/core/v1`. */
export interface SecretLike extends KubernetesObject {
  /** Group and version. */
  readonly apiVersion?: "v1";
  /** The kind. */
  readonly kind?: "Secret";
}

/** A Secret without its data. You cannot write it back, see {@linkcode Reduced}. */
export type WithoutData<T extends SecretLike> = Omit<T, "data" | "stringData"> & Pick<T, "metadata"> & Reduced;

/** Returns `true` for the Secrets resource, in any representation. */
export function isSecret({ group, plural }: Resource): boolean {
  return group === "" && plural === "secrets";
}

/** Kubernetes' own groups with names. All other groups are custom, even if the name ends in `k8s.io`. */
const GROUPS: ReadonlySet<string> = new Set((
  "admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps authentication.k8s.io " +
  "authorization.k8s.io autoscaling batch certificates.k8s.io coordination.k8s.io discovery.k8s.io " +
  "events.k8s.io flowcontrol.apiserver.k8s.io networking.k8s.io node.k8s.io policy rbac.authorization.k8s.io " +
  "resource.k8s.io scheduling.k8s.io storage.k8s.io storagemigration.k8s.io"
).split(" "));

/** Returns true if the group is part of Kubernetes itself. */
export function isBuiltInGroup(group: string): boolean {
  return group === "" || GROUPS.has(group);
}

/** Returns true for the objects of a kind that is not part of Kubernetes, if they are more than metadata. */
export function isCustom({ group, representation }: Resource): boolean {
  return representation !== "metadata" && !isBuiltInGroup(group);
}
