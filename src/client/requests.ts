import {
  checkSelectors,
  type ListOptions,
  type RequestOptions,
  type Selection,
  type ShardOption,
  type WatchOptions,
} from "../api/options.ts";
import { checkCounts, checkDurations } from "../async/time.ts";
import { nearest } from "../errors/nearest_name.ts";
import { apiVersionOf, pathOf, type PathParts, type Resource, resourceName } from "../api/resource.ts";
import type { RequestSpec } from "./http/connection.ts";
import { type KubernetesObject, refuseReduced } from "../api/object.ts";
import type { DeleteOptions, FollowOptions, GetOptions, Patch, WriteOptions } from "./resource_client.ts";

/** Returns the names of all options of a type, which the compiler knows to be complete. */
function namesOf<O>(names: Readonly<Record<Exclude<keyof O, keyof RequestOptions>, true>>): readonly string[] {
  return Object.keys(names);
}

const ANY = Object.keys({ signal: true, timeoutMs: true, query: true } satisfies Record<keyof RequestOptions, true>);
const SELECTION = { namespace: true, namespaces: true, labelSelector: true, fieldSelector: true } as const;
const DECODING = { managedFields: true, fields: true, secretData: true, secretAnnotations: true } as const;
const READ = {
  ...SELECTION,
  shard: true,
  ...DECODING,
  known: true,
  knownNext: true,
  onDecoded: true,
  resourceVersion: true,
} as const;
const WRITE = { dryRun: true, fieldManager: true, fieldValidation: true, subresource: true } as const;
const DELETE = { ...WRITE, preconditions: true, propagationPolicy: true, gracePeriodSeconds: true } as const;
const LIST = { ...READ, resourceVersionMatch: true, limit: true, continue: true } as const;
const WATCH = { ...READ, timeoutSeconds: true, allowBookmarks: true, sendInitialEvents: true } as const;

/** The options of each call. */
const OPTIONS = {
  get: namesOf<GetOptions>({ subresource: true }),
  list: namesOf<ListOptions>(LIST),
  watch: namesOf<FollowOptions>({ ...WATCH, backoff: true, onInterrupted: true }),
  write: namesOf<WriteOptions>(WRITE),
  delete: namesOf<DeleteOptions>(DELETE),
  deleteCollection: namesOf<ListOptions & DeleteOptions>({ ...LIST, ...DELETE }),
} as const;

/** Parameters that options or the client set, under the names that the server has for them. */
const PARAMETERS = [
  ...new Set(Object.values(OPTIONS).flat()),
  "watch",
  "allowWatchBookmarks",
  "force",
  "pretty",
];

/** The rest of a request, beside the place that it is about and its options. */
interface Call {
  /** The call whose options it has. */
  readonly call: keyof typeof OPTIONS;
  /** The parameters that the call sets. @default {"pretty=false"} */
  readonly query?: URLSearchParams | string;
  readonly init: RequestInit;
  /** See {@linkcode RequestSpec.patient}. @default {true} */
  readonly patient?: boolean;
}

/**
 * Returns a request to a place, with the parameters of `query` and the limit of `timeoutMs` of its options.
 *
 * @throws {TypeError} when an option is unknown, or `query` has the name of an option, or nearly so.
 * @throws {RangeError} when `timeoutMs` is no duration.
 */
function requestTo(
  { action, resource, path }: Pick<Place, "action" | "resource" | "path">,
  { call, query: own = "pretty=false", init, patient = true }: Call,
  options: RequestOptions,
): RequestSpec {
  const spec = { action, resource, path: `${path}?${own}`, init, patient };
  const { query, timeoutMs } = options;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || OPTIONS[call].includes(name) || ANY.includes(name)) continue;
    const known = [...OPTIONS[call], ...ANY];
    const near = nearest(name, known);
    throw new TypeError(
      `Cannot ${spec.action}: unknown option "${name}"${near === undefined ? "" : `, did you mean "${near}"?`}; ` +
        `parameters without an option go into query: { … }`,
    );
  }
  checkDurations(spec.action, { timeoutMs }, { min: 1 });
  const limited = timeoutMs === undefined ? spec : { ...spec, timeoutMs };
  if (query === undefined) return limited;
  const parameters = new URLSearchParams(own);
  for (const [name, value] of Object.entries(query)) {
    checkParameter(name, spec.action);
    parameters.set(name, value);
  }
  return { ...limited, path: `${path}?${parameters}` };
}

function checkParameter(name: string, action: string): void {
  if (name === "pretty") return;
  // Short names differ by one letter from others that mean something else.
  const near = nearest(name, PARAMETERS, name.length < 8 ? 1 : 2);
  if (near === undefined) return;
  const problem = near === name
    ? `query has "${name}", which is an option`
    : `query has "${name}", did you mean the option "${near}"?`;
  throw new TypeError(`Cannot ${action}: ${problem}`);
}

/** The part of a collection that a request is about. */
export interface Target<T extends KubernetesObject = KubernetesObject> {
  /** The kind. */
  readonly resource: Resource<T>;
  /** The part of the collection. */
  readonly selection: Selection;
  /** The namespace of objects that are read by name or created, where the selection has none; `""` for none. */
  readonly defaultNamespace: string;
}

const JSON_TYPE = "application/json";
const TABLE_TYPE = "application/json;as=Table;g=meta.k8s.io;v=v1";

const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // The server has no other name for it; JSON is YAML.
  apply: "application/apply-patch+yaml",
};

/**
 * Returns the request of a list.
 *
 * @throws {RangeError | SyntaxError} when an option is invalid.
 */
export function listRequest(target: Target, options: ListOptions, patient: boolean): RequestSpec {
  const { resource } = target;
  const query = listQuery(target, options);
  includeObject(query, resource);
  const init = { headers: { accept: accept(resource, "List") } };
  return requestTo(collectionOf(target, "list", options), { call: "list", query, init, patient }, options);
}

/**
 * Returns the request of a watch. It refuses content encodings: servers may compress each event separately, and Deno's
 * `fetch` ends the body after the first of several gzip members, so that later events would be lost without an error.
 *
 * @throws {RangeError | SyntaxError | TypeError} when an option is invalid.
 */
export function watchRequest(target: Target, options: WatchOptions): RequestSpec {
  const { resource } = target;
  const place = collectionOf(target, "watch", options);
  const { resourceVersion, timeoutSeconds, allowBookmarks = false, sendInitialEvents } = options;
  if (sendInitialEvents && !allowBookmarks) {
    throw new TypeError(
      `Cannot ${place.action}: sendInitialEvents needs allowBookmarks, as a bookmark ` +
        `marks the end of the initial events`,
    );
  }
  const query = selectorQuery(target, options);
  includeObject(query, resource);
  query.set("watch", "true");
  if (resourceVersion !== undefined) query.set("resourceVersion", resourceVersion);
  setCount(query, "timeoutSeconds", timeoutSeconds);
  if (allowBookmarks) query.set("allowWatchBookmarks", "true");
  if (sendInitialEvents !== undefined) {
    query.set("sendInitialEvents", String(sendInitialEvents));
    // The server accepts the one only with the other, and with no other value (apimachinery `ValidateListOptions`).
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  // Without the fallback: a server without tables in streaming lists, as Kubernetes 1.32, says so by 406.
  const type = sendInitialEvents && resource.representation === "table" ? TABLE_TYPE : accept(resource, "");
  const init = { headers: { accept: type, "accept-encoding": "identity" } };
  return requestTo(place, { call: "watch", query, init, patient: false }, options);
}

/** Returns the request of an object. @throws {TypeError} when the object has no address. */
export function getRequest(target: Target, name: string, options: GetOptions): RequestSpec {
  const { subresource } = options;
  const place = placeOf(target, "get", { name, subresource });
  const query = baseQuery();
  if (!subresource) includeObject(query, target.resource);
  const init = { headers: { accept: subresource ? JSON_TYPE : accept(target.resource, "") } };
  return requestTo(place, { call: "get", query, init }, options);
}

/** Returns the request of a creation. @throws {TypeError} when the object has no address. */
export function createRequest(
  target: Target,
  object: { readonly metadata: Partial<KubernetesObject["metadata"]> },
  options: WriteOptions,
): RequestSpec {
  refusePartial(target.resource, "create");
  refuseReduced(`create "${resourceName(target.resource)}" from an object of a cache`, object);
  const { subresource } = options;
  const { name, namespace } = object.metadata ?? {};
  if (subresource && !name) throw new TypeError(`Cannot create "${subresource}": the draft has no metadata.name`);
  const place = placeOf(target, "create", { namespace, ...(subresource ? { name, subresource } : {}) });
  const action = describe("create", target.resource, { name, namespace: place.namespace, subresource });
  const metadata = place.namespace === "" ? object.metadata : { ...object.metadata, namespace: place.namespace };
  return writeRequest(
    { ...place, action },
    "POST",
    fillIn(target.resource, { ...object, metadata }, subresource),
    options,
  );
}

/** Returns the request of an update. @throws {TypeError} when the object has no address. */
export function updateRequest(target: Target, object: KubernetesObject, options: WriteOptions): RequestSpec {
  refusePartial(target.resource, "update");
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError(`Cannot update "${resourceName(target.resource)}": the object has no metadata.name`);
  const place = placeOf(target, "update", { name, namespace, subresource: options.subresource });
  refuseReduced(place.action, object);
  return writeRequest(place, "PUT", fillIn(target.resource, object, options.subresource), options);
}

/**
 * Returns the request of a patch.
 *
 * @throws {TypeError} when the object has no address, or an apply has no field manager.
 */
export function patchRequest<T extends KubernetesObject>(
  target: Target,
  name: string,
  patch: Patch<T>,
  options: WriteOptions,
): RequestSpec {
  refuseTable(target.resource, "patch");
  const { resource } = target;
  const { subresource } = options;
  const place = placeOf(target, "patch", { name, subresource });
  // A merge patch keeps the fields that it does not name, but replaces lists.
  refuseReduced(place.action, patch.body, patch.type === "apply" ? "anywhere" : "in arrays");
  if (patch.type !== "apply") {
    return writeRequest(place, "PATCH", patch.body, options, PATCH_TYPES[patch.type], accept(resource, ""));
  }
  if (!patch.fieldManager) throw new TypeError(`Cannot ${place.action}: an apply needs a fieldManager`);
  const spec = writeRequest(
    place,
    "PATCH",
    fillIn(resource, patch.body as object, subresource),
    { ...options, fieldManager: patch.fieldManager },
    PATCH_TYPES.apply,
    accept(resource, ""),
  );
  return patch.force ? { ...spec, path: `${spec.path}&force=true` } : spec;
}

/**
 * Returns the request of a deletion.
 *
 * @throws {RangeError | TypeError} when the object has no address or an option is invalid.
 */
export function deleteRequest(target: Target, name: string, options: DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const place = placeOf(target, "delete", { name, subresource: options.subresource });
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  checkCounts(place.action, { gracePeriodSeconds });
  const body = { preconditions, propagationPolicy, gracePeriodSeconds, dryRun: dryRun ? ["All"] : undefined };
  const init = {
    method: "DELETE",
    headers: { accept: accept(target.resource, ""), "content-type": JSON_TYPE },
    // The server reads either the body or the query, so all options are in the body.
    body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...body }),
  };
  return requestTo(place, { call: "delete", init }, options);
}

/**
 * Returns the request that deletes the selected objects.
 *
 * @throws {RangeError | SyntaxError | TypeError} when no namespace is given, or an option is invalid.
 */
export function deleteCollectionRequest(target: Target, options: ListOptions & DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const { resource } = target;
  const place = collectionOf(target, "delete all selected", options);
  if (resource.scope === "Namespaced" && !place.namespace) {
    throw new TypeError(`Cannot ${place.action}: no namespace is given, and servers do not delete across namespaces`);
  }
  const query = listQuery(target, options);
  setWriteQuery(query, options);
  if (options.propagationPolicy !== undefined) query.set("propagationPolicy", options.propagationPolicy);
  setCount(query, "gracePeriodSeconds", options.gracePeriodSeconds);
  const init = { method: "DELETE", headers: { accept: accept(resource, "List") } };
  return requestTo(place, { call: "deleteCollection", query, init }, options);
}

/** Returns a selector for objects that match both. */
function bothSelectors(a: string | undefined, b: string | undefined): string | undefined {
  return a && b ? `${a},${b}` : a || b || undefined;
}

interface Place extends PathParts {
  readonly action: string;
  readonly resource: string;
  readonly path: string;
  readonly namespace: string;
}

/** Returns the path of a collection. */
function collectionOf({ resource, selection }: Target, verb: string, options: Selection): Place {
  const { namespace = selection.namespace ?? "" } = options;
  const action = describe(verb, resource, { namespace });
  return { action, resource: resourceName(resource), path: pathOf(resource, { namespace }), namespace };
}

/** Returns the path of an existing or new object. */
function placeOf(target: Target, verb: string, parts: PathParts): Place {
  const { resource, selection, defaultNamespace } = target;
  if (resource.scope === "Cluster") {
    return {
      ...parts,
      resource: resourceName(resource),
      namespace: "",
      action: describe(verb, resource, { ...parts, namespace: undefined }),
      path: pathOf(resource, parts),
    };
  }
  const namespace = parts.namespace || selection.namespace || defaultNamespace;
  const action = describe(verb, resource, { ...parts, namespace });
  if (namespace === "") {
    throw new TypeError(
      `Cannot ${action}: no namespace is given; give one by namespace(), in the object, or as an option of the client`,
    );
  }
  if (parts.namespace && selection.namespace && parts.namespace !== selection.namespace) {
    throw new TypeError(`Cannot ${action}: the collection is of namespace "${selection.namespace}"`);
  }
  const path = pathOf(resource, { ...parts, namespace });
  return { ...parts, resource: resourceName(resource), namespace, action, path };
}

function describe(verb: string, resource: Resource, parts: PathParts): string {
  const { namespace, name, subresource } = parts;
  const what = [resourceName(resource), name, subresource].filter((part) => part).join("/");
  return `${verb} "${what}"${namespace && resource.scope === "Namespaced" ? ` in namespace "${namespace}"` : ""}`;
}

function writeRequest(
  place: Place,
  method: string,
  body: unknown,
  options: WriteOptions,
  contentType: string = JSON_TYPE,
  acceptType: string = JSON_TYPE,
): RequestSpec {
  const query = baseQuery();
  setWriteQuery(query, options);
  const headers = { accept: acceptType, "content-type": contentType };
  return requestTo(place, { call: "write", query, init: { method, headers, body: JSON.stringify(body) } }, options);
}

function setWriteQuery(query: URLSearchParams, options: WriteOptions): void {
  if (options.dryRun) query.set("dryRun", "All");
  if (options.fieldManager !== undefined) query.set("fieldManager", options.fieldManager);
  if (options.fieldValidation !== undefined) query.set("fieldValidation", options.fieldValidation);
}

function listQuery(target: Target, options: ListOptions): URLSearchParams {
  const query = selectorQuery(target, options);
  const { resourceVersion, resourceVersionMatch, limit, continue: token } = options;
  if (resourceVersion !== undefined) query.set("resourceVersion", resourceVersion);
  if (resourceVersionMatch !== undefined) query.set("resourceVersionMatch", resourceVersionMatch);
  checkCounts("send the request", { limit });
  if (limit) query.set("limit", String(limit));
  if (token) query.set("continue", token);
  return query;
}

function selectorQuery(target: Target, options: Selection & ShardOption): URLSearchParams {
  const query = baseQuery();
  // The server would answer 400; the error of the parser names the wrong character.
  checkSelectors(options);
  const labels = bothSelectors(target.selection.labelSelector, options.labelSelector);
  const fields = bothSelectors(target.selection.fieldSelector, options.fieldSelector);
  if (labels !== undefined) query.set("labelSelector", labels);
  if (fields !== undefined) query.set("fieldSelector", fields);
  const shard = options.shard?.selector;
  if (shard !== undefined) query.set("shardSelector", shard);
  return query;
}

/** Requests the complete objects with the rows of a table; without it, the server sends their metadata. */
function includeObject(query: URLSearchParams, resource: Resource): void {
  if (resource.representation === "table") query.set("includeObject", "Object");
}

/** Servers send indented JSON, twice the bytes, to some user agents such as browsers unless `pretty` is false. */
function baseQuery(): URLSearchParams {
  return new URLSearchParams({ pretty: "false" });
}

function setCount(query: URLSearchParams, name: string, value: number | undefined): void {
  checkCounts("send the request", { [name]: value });
  if (value !== undefined) query.set(name, String(value));
}

/**
 * Returns the accepted media types. Plain JSON is the fallback for servers without the form. A watch of metadata must
 * request the form of an object: with the form of a list, the server answers 200 and an empty body. A table has one
 * form.
 */
function accept(resource: Resource, suffix: "" | "List"): string {
  const { representation = "object" } = resource;
  if (representation === "object") return JSON_TYPE;
  if (representation === "table") return `${TABLE_TYPE},${JSON_TYPE}`;
  const form = `as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`;
  return `${JSON_TYPE};${form},${JSON_TYPE}`;
}

/**
 * Fills in apiVersion and kind. A subresource may be of another kind (Scale, Eviction), which only the caller knows.
 */
function fillIn(resource: Resource, object: object, subresource: string | undefined): object {
  if (subresource && subresource !== "status") return object;
  const { apiVersion = apiVersionOf(resource), kind = resource.kind, ...rest } = object as Partial<KubernetesObject>;
  return { apiVersion, kind, ...rest };
}

function refusePartial(resource: Resource, verb: string): void {
  const { representation = "object", fields } = resource;
  if (representation === "object" && fields === undefined) return;
  const [form, instead] = representation === "table"
    ? ["a table", "use the resource itself"]
    : [`${fields === undefined ? "metadata" : "named fields"} only`, "patch it, or use the resource with all fields"];
  throw new TypeError(`Cannot ${verb} "${resourceName(resource)}": the resource is ${form}; ${instead}`);
}

/** Rows are read, not written. */
function refuseTable(resource: Resource, verb: string): void {
  if (resource.representation === "table") refusePartial(resource, verb);
}
