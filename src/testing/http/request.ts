import { placeOf, type ResourcePlace } from "../../api/resource.ts";
import type { RequestAttributes } from "./access_control.ts";
import { badRequest, forbiddenField, invalid, noPath, refusal, unsupportedField } from "./refusal.ts";
import type { StatusCause } from "../../api/status.ts";

/** A request as recorded by the fake server. */
export interface RecordedRequest {
  /** HTTP method. */
  readonly method: string;
  /** The full URL. */
  readonly url: string;
  /** The URL's path. */
  readonly path: string;
  /** The query, parsed: `request.query.get("resourceVersion")`. */
  readonly query: URLSearchParams;
  /** The headers as received; credentials read `[redacted]`. */
  readonly headers: Headers;
  /** `"list"`, `"watch"`, `"get"`, `"create"` …; the HTTP method in lower case for non-resource paths. */
  readonly verb: string;
  /** Plural name, `"pods"`; `""` for non-resource paths. */
  readonly resource: string;
  /** The namespace of the path, else `""`. */
  readonly namespace: string;
  /** The body as text, if there was one and it was read. */
  readonly body: string | undefined;
  /** HTTP status of the response, once there is one; 0 if the connection broke instead. */
  readonly status: number | undefined;
}

/** A record to which body and status are still to be added. */
export type OpenRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

/** Records a request without its credentials. */
export function recordRequest(
  request: Request,
  url: URL,
  { verb, resource, namespace }: RequestAttributes,
): OpenRecord {
  const headers = new Headers(request.headers);
  for (const name of ["authorization", "cookie", "proxy-authorization"]) {
    if (headers.has(name)) headers.set(name, "[redacted]");
  }
  return {
    method: request.method,
    url: url.href,
    path: url.pathname,
    query: url.searchParams,
    headers,
    verb,
    resource,
    namespace,
    body: undefined,
    status: undefined,
  };
}

/**
 * Returns true if a request is for a streaming list: a watch that begins with the existing objects and marks their
 * end.
 */
export function isStreamingList({ query }: RecordedRequest): boolean {
  return query.get("sendInitialEvents") === "true";
}

/** The path of a collection, an object or a subresource. */
export interface ResourceRoute extends ResourcePlace {
  /** Always `"resource"`. */
  readonly type: "resource";
}

/** The target of a path. */
export type Route =
  | ResourceRoute
  | { readonly type: "versions" | "groups" | "version" | "health" }
  | { readonly type: "openapi"; readonly path: string }
  | { readonly type: "group"; readonly group: string }
  | { readonly type: "resources"; readonly group: string; readonly version: string };

/**
 * Parses a URL path.
 *
 * @throws {PlainRefusal} 404 if the server has no such path.
 */
export function parseRoute(pathname: string): Route {
  const place = placeIn(pathname);
  if (place !== undefined) return { type: "resource", ...place };
  const [root, ...rest] = pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
  if (root === "version") return { type: "version" };
  if (root === "healthz" || root === "livez" || root === "readyz") return { type: "health" };
  if (root === "openapi" && rest[0] === "v3") return { type: "openapi", path: rest.slice(1).join("/") };
  if (root === "api") {
    return rest.length === 0 ? { type: "versions" } : { type: "resources", group: "", version: rest[0] };
  }
  if (root !== "apis") throw noPath();
  const [group, version] = rest;
  if (group === undefined) return { type: "groups" };
  return version === undefined ? { type: "group", group } : { type: "resources", group, version };
}

function placeIn(pathname: string): ResourcePlace | undefined {
  try {
    return placeOf(pathname);
  } catch {
    throw noPath(); // invalid percent-encoding matches no path
  }
}

/** The query options of a list, a watch or a deletecollection. */
export interface ServerListOptions {
  /** True for a watch. */
  readonly watch: boolean;
  /** As sent; `""` if absent. */
  readonly labelSelector: string;
  /** As sent; `""` if absent. */
  readonly fieldSelector: string;
  /** As sent; `""` if absent. */
  readonly shardSelector: string;
  /** As sent; `""` if absent. */
  readonly resourceVersion: string;
  /** As sent; `""` if absent. */
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  /** Page size; 0 means no limit. */
  readonly limit: number;
  /** Continue token; `""` for the first page. */
  readonly continue: string;
  /** True if the client allows bookmarks. */
  readonly allowWatchBookmarks: boolean;
  /** Undefined if absent. */
  readonly sendInitialEvents: boolean | undefined;
  /** Duration of a watch; 0 leaves it to the server. */
  readonly timeoutSeconds: number;
}

/**
 * Parses and validates the options of a list or watch (apimachinery `ValidateListOptions`).
 *
 * @throws {StatusError} 400 for values that do not parse, 422 for invalid combinations.
 */
export function parseListOptions(parameters: URLSearchParams, streamingList: boolean): ServerListOptions {
  const text = (name: string): string => parameters.get(name) ?? "";
  const options: ServerListOptions = {
    watch: flag(parameters, "watch") ?? false,
    labelSelector: text("labelSelector"),
    fieldSelector: text("fieldSelector"),
    shardSelector: text("shardSelector"),
    resourceVersion: text("resourceVersion"),
    resourceVersionMatch: text("resourceVersionMatch") as ServerListOptions["resourceVersionMatch"],
    limit: integer(text("limit")),
    continue: text("continue"),
    allowWatchBookmarks: flag(parameters, "allowWatchBookmarks") ?? false,
    sendInitialEvents: flag(parameters, "sendInitialEvents"),
    timeoutSeconds: integer(text("timeoutSeconds")),
  };
  const causes = options.watch ? watchCauses(options, streamingList) : listCauses(options);
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions", name: "" }, causes);
  return options;
}

/** Parses a resourceVersion; 0 for an empty one. */
export function parseRevision(resourceVersion: string, watch: boolean): number {
  if (resourceVersion === "") return 0;
  if (/^[0-9]{1,15}$/.test(resourceVersion)) return Number(resourceVersion);
  const why = `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: strconv.ParseUint: parsing ${
    JSON.stringify(resourceVersion)
  }: invalid syntax`;
  // A watch answers without a reason: the error of the storage layer is passed on as it is.
  throw watch ? refusal(500, why, { reason: "" }) : badRequest(`invalid resource version: ${why}`);
}

function flag(parameters: URLSearchParams, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === null) return undefined;
  // apimachinery Convert_Slice_string_To_bool: "0" and "false" are false; all else is true, including "".
  return value !== "0" && value.toLowerCase() !== "false";
}

function integer(text: string): number {
  if (text === "") return 0;
  if (!/^[+-]?[0-9]{1,15}$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

const MATCH = "resourceVersionMatch";

function listCauses(options: ServerListOptions): Required<StatusCause>[] {
  const { resourceVersion, resourceVersionMatch: match } = options;
  const causes: Required<StatusCause>[] = [];
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match === "") return causes;
  if (resourceVersion === "") {
    causes.push(forbiddenField(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  }
  if (options.continue !== "") causes.push(forbiddenField(MATCH, `${MATCH} is forbidden for continue`));
  if (match !== "Exact" && match !== "NotOlderThan") {
    causes.push(unsupportedField(MATCH, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && resourceVersion === "0") {
    causes.push(forbiddenField(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  return causes;
}

function watchCauses(options: ServerListOptions, streamingList: boolean): Required<StatusCause>[] {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const causes: Required<StatusCause>[] = [];
  if (sendInitialEvents !== undefined) {
    if (match !== "NotOlderThan") {
      causes.push(forbiddenField(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
    }
    if (!streamingList) {
      const why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
      causes.push(forbiddenField("sendInitialEvents", why));
    }
  }
  if (match === "") return causes;
  if (sendInitialEvents === undefined) {
    causes.push(forbiddenField(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") causes.push(unsupportedField(MATCH, match, ["NotOlderThan"]));
  if (options.continue !== "") causes.push(forbiddenField(MATCH, `${MATCH} is forbidden for continue`));
  return causes;
}
