/**
 * Builds the requests of a `ResourceClient`: path, query, headers and body. It refuses arguments that must not be sent.
 *
 * Each call has its builder, such as {@linkcode listRequest} and {@linkcode patchRequest}. A kind with rules has
 * {@linkcode refuseInvalid}. `http/connection.ts` sends the requests.
 *
 * @module
 */
import {
  checkSelectors,
  type DecodeOptions,
  type ListOptions,
  type RequestOptions,
  type Selection,
  type ShardOption,
  type WatchOptions,
} from "../api/call_options.ts";
import { refuseRounded } from "../api/large_integers.ts";
import { isObject } from "../api/json.ts";
import { keyOf, type KubernetesObject, type ObjectKey, refuseReduced } from "../api/object.ts";
import {
  apiVersionOf,
  isBuiltInGroup,
  pathOf,
  type PathParts,
  type Resource,
  resourceName,
  type ResourcePlace,
} from "../api/resource.ts";
import { ArgumentError, checkCounts, checkDurations } from "../errors/checks.ts";
import { nearest } from "../errors/errors.ts";
import { checkNames, namesOf } from "../errors/option_names.ts";
import { type Causes, knownRefusal } from "../protocol/refusal.ts";
import type { RequestSpec } from "./http/connection.ts";
import { failureOf } from "./http/response.ts";
import type { DeleteOptions, FollowOptions, GetOptions, Patch, WriteOptions } from "./resource_client.ts";

const ANY = "signal timeoutMs query";
const SELECTION = "namespace namespaces labelSelector fieldSelector shard";
const DECODING = "managedFields fields secretData secretAnnotations known knownNext onDecoded";
const READ = `${SELECTION} ${DECODING} resourceVersion` as const;
const WRITE = `${ANY} dryRun fieldManager fieldValidation subresource` as const;
const DELETE = `${WRITE} preconditions propagationPolicy gracePeriodSeconds` as const;
const LIST = `${ANY} ${READ} resourceVersionMatch limit continue` as const;
const WATCH = `signal query ${READ} timeoutSeconds allowBookmarks sendInitialEvents` as const;

/** The option names for each call. */
const OPTIONS = {
  get: namesOf<GetOptions>()(ANY, "subresource"),
  list: namesOf<ListOptions>()(LIST),
  watch: namesOf<FollowOptions>()(WATCH, "backoff onInterrupted"),
  write: namesOf<WriteOptions>()(WRITE),
  delete: namesOf<DeleteOptions>()(DELETE),
  deleteCollection: namesOf<ListOptions & DeleteOptions>()(LIST, DELETE),
} as const;

/** Parameters that options or the client set, under the server's names. */
const PARAMETERS = [...new Set(Object.values(OPTIONS).flat()), "watch", "allowWatchBookmarks", "force", "pretty"];

/** A request without its place and options. */
interface Call {
  /** The call that accepts these options. */
  readonly call: keyof typeof OPTIONS;
  /** The parameters that the call sets. @default {"pretty=false"} */
  readonly query?: URLSearchParams | string;
  readonly init: RequestInit;
  /** See {@linkcode RequestSpec.patient}. @default {true} */
  readonly patient?: boolean;
}

/**
 * Returns a request to a place, with the `query` parameters and the `timeoutMs` limit from its options.
 *
 * @throws {TypeError} if an option is unknown, or `query` has an option's name, or nearly so.
 * @throws {RangeError} if `timeoutMs` is no duration.
 */
function requestTo(
  { action, resource, path, place }: PlannedRequest,
  { call, query: own = PRETTY, init, patient = true }: Call,
  options: RequestOptions,
): RequestSpec {
  const spec = { action, resource, path: `${path}?${own}`, place, init, patient };
  const { query, timeoutMs } = options;
  checkNames(spec.action, options, OPTIONS[call], "Put a parameter without an option into query");
  if (timeoutMs !== undefined) checkDurations(spec.action, { timeoutMs }, { min: 1 });
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
    ? `query has "${name}", which is an option. Pass it as the option`
    : `query has "${name}". Did you mean the option "${near}"?`;
  throw new ArgumentError(`Cannot ${action}: ${problem}`);
}

/** The part of a collection that a request concerns. */
export interface Target<T extends KubernetesObject = KubernetesObject> {
  /** The kind. */
  readonly resource: Resource<T>;
  /** The selected part. */
  readonly selection: Selection;
  /** The namespace for objects that are created or addressed by name, if the selection has none. `""` means none. */
  readonly defaultNamespace: string;
}

/** Servers send indented JSON, twice the bytes, to some user agents such as browsers unless `pretty` is false. */
const PRETTY = "pretty=false";
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
 * Builds the request for a list.
 *
 * @throws {RangeError | SyntaxError} if an option is invalid.
 */
export function listRequest(target: Target, options: ListOptions, patient: boolean): RequestSpec {
  const { resource } = target;
  const query = listQuery(target, options);
  includeObject(query, resource);
  const init = { headers: { accept: accept(resource, "List", options) } };
  return requestTo(collectionOf(target, "list", options), { call: "list", query, init, patient }, options);
}

/**
 * Builds the request for a watch. It refuses content encodings: servers may compress each event separately, and Deno's
 * `fetch` ends the body after the first of several gzip members, so that later events would be lost without an error.
 *
 * @throws {RangeError | SyntaxError | TypeError} if an option is invalid.
 */
export function watchRequest(target: Target, options: WatchOptions): RequestSpec {
  const { resource } = target;
  const place = collectionOf(target, "watch", options);
  const { resourceVersion, timeoutSeconds, allowBookmarks = false, sendInitialEvents } = options;
  if (sendInitialEvents && !allowBookmarks) {
    throw new ArgumentError(
      `Cannot ${place.action}: sendInitialEvents needs allowBookmarks, because a bookmark ` +
        `marks the end of the initial events`,
    );
  }
  const query = selectorQuery(target, options);
  includeObject(query, resource);
  query.set("watch", "true");
  setTexts(query, { resourceVersion });
  setCount(query, "timeoutSeconds", timeoutSeconds);
  if (allowBookmarks) query.set("allowWatchBookmarks", "true");
  if (sendInitialEvents !== undefined) {
    query.set("sendInitialEvents", String(sendInitialEvents));
    // The server accepts the one only with the other, and with no other value (apimachinery `ValidateListOptions`).
    query.set("resourceVersionMatch", "NotOlderThan");
  }
  // Without the fallback: a server without tables in streaming lists, as Kubernetes 1.32, says so by 406.
  const type = sendInitialEvents && resource.representation === "table" ? TABLE_TYPE : accept(resource, "", options);
  const init = { headers: { accept: type, "accept-encoding": "identity" } };
  return requestTo(place, { call: "watch", query, init, patient: false }, options);
}

/** Builds the request to read an object. @throws {TypeError} if the object has no address. */
export function getRequest(target: Target, name: string, options: GetOptions): RequestSpec {
  const { subresource } = options;
  const place = plannedRequest(target, "get", { name, subresource });
  const query = baseQuery();
  if (!subresource) includeObject(query, target.resource);
  const init = { headers: { accept: subresource ? JSON_TYPE : accept(target.resource, "") } };
  return requestTo(place, { call: "get", query, init }, options);
}

/** Builds the request for a pod's log. It refuses content encodings, which would delay lines. */
export function logRequest(target: Target, name: string, query: URLSearchParams): RequestSpec {
  const place = plannedRequest(target, "get", { name, subresource: "log" });
  const init = { headers: { accept: `${JSON_TYPE}, */*`, "accept-encoding": "identity" } };
  return requestTo(place, { call: "get", query, init, patient: !query.has("follow") }, {});
}

/** Builds the request to create an object. @throws {TypeError} if the object has no address. */
export function createRequest(
  target: Target,
  object: { readonly metadata: Partial<KubernetesObject["metadata"]> },
  options: WriteOptions,
): RequestSpec {
  refusePartial(target.resource, "create");
  refuseReduced(`create "${resourceName(target.resource)}" from an object of a cache`, object);
  const { subresource } = options;
  const { name, namespace } = object.metadata ?? {};
  if (subresource && !name) throw new ArgumentError(`Cannot create "${subresource}": the draft has no metadata.name`);
  const place = plannedRequest(target, "create", { namespace, ...(subresource ? { name, subresource } : {}) });
  const action = describe("create", target.resource, { name, namespace: place.namespace, subresource });
  const metadata = place.namespace === "" ? object.metadata : { ...object.metadata, namespace: place.namespace };
  const body = fillIn(target.resource, { ...object, metadata }, subresource);
  const spec = writeRequest({ ...place, action }, "POST", body, options);
  // A disruption budget refuses with 429 and Retry-After: the caller has to know, and may wait for minutes.
  return subresource === "eviction" ? { ...spec, patient: false } : spec;
}

/** Builds the request to update an object. @throws {TypeError} if the object has no address. */
export function updateRequest(target: Target, object: KubernetesObject, options: WriteOptions): RequestSpec {
  refusePartial(target.resource, "update");
  const { name, namespace } = object.metadata ?? {};
  if (!name) {
    throw new ArgumentError(`Cannot update "${resourceName(target.resource)}": the object has no metadata.name`);
  }
  const place = plannedRequest(target, "update", { name, namespace, subresource: options.subresource });
  refuseReduced(place.action, object);
  return writeRequest(place, "PUT", fillIn(target.resource, object, options.subresource), options);
}

/**
 * Builds the request for a patch.
 *
 * @throws {TypeError} if the object has no address, or an apply has no field manager.
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
  // An apply is addressed as the object that it may create.
  const { namespace } = (patch.type === "apply" ? patch.body.metadata : undefined) ?? {};
  const place = plannedRequest(target, "patch", { name, namespace, subresource });
  // A merge patch keeps the fields that it does not name, but replaces lists.
  refuseReduced(place.action, patch.body, patch.type === "apply" ? "anywhere" : "in arrays");
  const types = [PATCH_TYPES[patch.type], accept(resource, "")] as const;
  if (patch.type !== "apply") return writeRequest(place, "PATCH", patch.body, options, ...types);
  if (!patch.fieldManager) throw new ArgumentError(`Cannot ${place.action}: an apply needs the option fieldManager`);
  const body = fillIn(resource, patch.body as object, subresource);
  const spec = writeRequest(place, "PATCH", body, { ...options, fieldManager: patch.fieldManager }, ...types);
  return patch.force ? { ...spec, path: `${spec.path}&force=true` } : spec;
}

/**
 * Builds the request to delete an object.
 *
 * @throws {RangeError | TypeError} if the object has no address or an option is invalid.
 */
export function deleteRequest(target: Target, name: string, options: DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const place = plannedRequest(target, "delete", { name, subresource: options.subresource });
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  checkCounts(place.action, { gracePeriodSeconds });
  const sent = { preconditions, propagationPolicy, gracePeriodSeconds, dryRun: dryRun ? ["All"] : undefined };
  // The server reads either the body or the query, so all options are in the body.
  const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...sent });
  const headers = { accept: accept(target.resource, ""), "content-type": JSON_TYPE };
  return requestTo(place, { call: "delete", init: { method: "DELETE", headers, body } }, options);
}

/**
 * Builds the request that deletes the selected objects.
 *
 * @throws {RangeError | SyntaxError | TypeError} if no namespace is given, or an option is invalid.
 */
export function deleteCollectionRequest(target: Target, options: ListOptions & DeleteOptions): RequestSpec {
  refuseTable(target.resource, "delete");
  const { resource } = target;
  const place = collectionOf(target, "delete all selected", options);
  if (resource.scope === "Namespaced" && !place.namespace) {
    throw new ArgumentError(
      `Cannot ${place.action}: no namespace is given, and a server does not delete across namespaces. Choose one with namespace()`,
    );
  }
  const query = new URLSearchParams(listQuery(target, options) + writeQuery(options));
  setTexts(query, { propagationPolicy: options.propagationPolicy });
  setCount(query, "gracePeriodSeconds", options.gracePeriodSeconds);
  const init = { method: "DELETE", headers: { accept: accept(resource, "List") } };
  return requestTo(place, { call: "deleteCollection", query, init }, options);
}

/**
 * Refuses a create or an update of a complete object that does not fit its kind.
 *
 * @throws {StatusError} 422, as the server would send it.
 */
export async function refuseInvalid(
  { loadValidator, group, kind }: Resource,
  { action, init }: { readonly action: string; readonly init: RequestInit },
  subresource: string,
  cached: (key: ObjectKey) => KubernetesObject | undefined,
): Promise<void> {
  if (loadValidator === undefined || (subresource !== "" && subresource !== "status")) return;
  const validate = await loadValidator();
  const object: KubernetesObject = JSON.parse(init.body as string);
  const { name = "" } = object.metadata ?? {};
  const causes = validate(object, init.method === "PUT" ? cached(keyOf(object)) : undefined) as Causes;
  if (causes.length > 0) throw failureOf(action, knownRefusal("invalid", { group, kind, name }, causes).status);
}

/** Returns a selector for objects that match both. */
function bothSelectors(a: string | undefined, b: string | undefined): string | undefined {
  return a && b ? `${a},${b}` : a || b || undefined;
}

interface PlannedRequest extends Pick<RequestSpec, "action" | "path"> {
  readonly resource: string;
  readonly namespace: string;
  readonly place: ResourcePlace;
}

/** Returns a planned request, whose parts are checked. Its `place` is what `parseResourcePath` finds in the path. */
function placed(resource: Resource, verb: string, parts: PathParts): PlannedRequest {
  const { group, version, plural, scope } = resource;
  const { namespace = "", name, subresource } = parts;
  const within = scope === "Cluster" ? "" : namespace;
  return {
    action: describe(verb, resource, parts),
    resource: resourceName(resource),
    path: pathOf(resource, parts),
    place: { group, version, plural, namespace: within, name, subresource: subresource || undefined },
    namespace,
  };
}

/** Returns a collection's path. */
function collectionOf({ resource, selection }: Target, verb: string, options: Selection): PlannedRequest {
  return placed(resource, verb, { namespace: options.namespace ?? selection.namespace ?? "" });
}

/** Returns the path for an existing or new object. */
function plannedRequest(target: Target, verb: string, parts: PathParts): PlannedRequest {
  const { resource, selection, defaultNamespace } = target;
  const isCluster = resource.scope === "Cluster";
  const namespace = parts.namespace || (isCluster ? "" : selection.namespace || defaultNamespace);
  const where = { ...parts, namespace };
  const wrong = isCluster
    ? namespace !== "" &&
      `the object has namespace "${namespace}", but ${resource.kind} is cluster-scoped. Remove the namespace. If it ` +
        `comes from an owner, the object cannot have that owner`
    : namespace === ""
    ? "no namespace is given. Choose one with namespace(), in the object, or in the client's options"
    : selection.namespace && namespace !== selection.namespace &&
      `the collection covers only namespace "${selection.namespace}"`;
  if (wrong) throw new ArgumentError(`Cannot ${describe(verb, resource, where)}: ${wrong}`);
  return placed(resource, verb, where);
}

function describe(verb: string, resource: Resource, parts: PathParts): string {
  const { namespace, name, subresource } = parts;
  const what = `${resourceName(resource)}${name ? `/${name}` : ""}${subresource ? `/${subresource}` : ""}`;
  return `${verb} "${what}"${namespace && resource.scope === "Namespaced" ? ` in namespace "${namespace}"` : ""}`;
}

function writeRequest(
  place: PlannedRequest,
  method: string,
  body: unknown,
  options: WriteOptions,
  contentType: string = JSON_TYPE,
  acceptType: string = JSON_TYPE,
): RequestSpec {
  const headers = { accept: acceptType, "content-type": contentType };
  const text = JSON.stringify(body);
  if (!isBuiltInGroup(place.place.group)) {
    // The rest of an object is not written with its status.
    const written = options.subresource === "status" && isObject(body) ? { status: body.status } : body;
    refuseRounded(place.action, written, text);
  }
  const init = { method, headers, body: text };
  return requestTo(place, { call: "write", query: PRETTY + writeQuery(options), init }, options);
}

function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): string {
  let query = dryRun ? "&dryRun=All" : "";
  if (fieldManager !== undefined) query += `&fieldManager=${encodeURIComponent(fieldManager)}`;
  if (fieldValidation !== undefined) query += `&fieldValidation=${encodeURIComponent(fieldValidation)}`;
  return query;
}

function listQuery(target: Target, options: ListOptions): URLSearchParams {
  const query = selectorQuery(target, options);
  const { resourceVersion, resourceVersionMatch, limit, continue: token } = options;
  setTexts(query, { resourceVersion, resourceVersionMatch });
  checkCounts("send the request", { limit });
  if (limit) query.set("limit", String(limit));
  if (token) query.set("continue", token);
  return query;
}

function selectorQuery(target: Target, options: Selection & ShardOption): URLSearchParams {
  const query = baseQuery();
  // The server would answer 400; the error of the parser names the wrong character.
  checkSelectors(options);
  const labelSelector = bothSelectors(target.selection.labelSelector, options.labelSelector);
  const fieldSelector = bothSelectors(target.selection.fieldSelector, options.fieldSelector);
  setTexts(query, { labelSelector, fieldSelector, shardSelector: options.shard?.selector });
  return query;
}

/** Requests the complete objects with the rows of a table; without it, the server sends their metadata. */
function includeObject(query: URLSearchParams, resource: Resource): void {
  if (resource.representation === "table") query.set("includeObject", "Object");
}

function baseQuery(): URLSearchParams {
  return new URLSearchParams(PRETTY);
}

function setTexts(query: URLSearchParams, texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) query.set(name, text);
}

function setCount(query: URLSearchParams, name: string, value: number | undefined): void {
  checkCounts("send the request", { [name]: value });
  setTexts(query, { [name]: value?.toString() });
}

/**
 * Returns the accepted media types. Plain JSON is the fallback for servers without the form. A watch of metadata must
 * request the form of an object: with the form of a list, the server answers 200 and an empty body. A table has one
 * form.
 *
 * If managedFields are dropped, the server is asked to leave them out, which is up to half of the bytes. Kubernetes can
 * do so from 1.38 on (KEP-5958, feature gate `ManagedFieldsOptOut`). Earlier servers ignore the parameter.
 */
function accept(resource: Resource, suffix: "" | "List", { managedFields }: DecodeOptions = {}): string {
  const { representation = "object" } = resource;
  if (representation === "table") return `${TABLE_TYPE},${JSON_TYPE}`;
  const form = representation === "object" ? "" : `;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1`;
  const without = managedFields === "drop" ? ";drop=metadata.managedFields" : "";
  return form + without === "" ? JSON_TYPE : `${JSON_TYPE}${form}${without},${JSON_TYPE}`;
}

/** Fills in apiVersion and kind. A subresource may have another kind (Scale, Eviction), which only the caller knows. */
function fillIn(resource: Resource, object: object, subresource: string | undefined): object {
  if (subresource && subresource !== "status") return object;
  const { apiVersion = apiVersionOf(resource), kind = resource.kind, ...rest } = object as Partial<KubernetesObject>;
  return { apiVersion, kind, ...rest };
}

function refusePartial(resource: Resource, verb: string): void {
  const { representation = "object", fields } = resource;
  if (representation === "object" && fields === undefined) return;
  const [form, instead] = representation === "table" ? ["a table", "Use the resource itself"] : [
    `reduced to ${fields === undefined ? "metadata" : "selected fields"}`,
    "Patch it, or use the resource with all fields",
  ];
  throw new ArgumentError(`Cannot ${verb} "${resourceName(resource)}": the resource is ${form}. ${instead}`);
}

/** Rows are read, not written. */
function refuseTable(resource: Resource, verb: string): void {
  if (resource.representation === "table") refusePartial(resource, verb);
}
