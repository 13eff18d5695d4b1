/**
 * The read requests in the Kubernetes API, as a server receives them. They are paths, options for lists and watches,
 * continue tokens, and the representations that a client accepts.
 *
 * {@linkcode parseRoute} and {@linkcode parseListOptions} are the entry points. If a part is wrong, they throw the
 * error with which the server responds. This file answers no requests.
 *
 * @module
 */

import { base64Of } from "../api/object.ts";
import { parseResourcePath, type ResourcePlace } from "../api/resource.ts";
import type { StatusCause } from "../api/status.ts";
import { quoted } from "../errors/errors.ts";
import { fieldCause, knownRefusal, PlainRefusal, refusal } from "./refusal.ts";

/** The path of a collection, an object or a subresource. */
export interface ResourceRoute extends ResourcePlace {
  /** Always `"resource"`. */
  readonly type: "resource";
}

/** A path's target. */
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
  if (root !== "apis") throw PlainRefusal.noPath();
  const [group, version] = rest;
  if (group === undefined) return { type: "groups" };
  return version === undefined ? { type: "group", group } : { type: "resources", group, version };
}

function placeIn(pathname: string): ResourcePlace | undefined {
  try {
    return parseResourcePath(pathname);
  } catch {
    throw PlainRefusal.noPath(); // invalid percent-encoding matches no path
  }
}

/** The query options for a list, a watch or a deletecollection. */
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
  /** The page size. 0 means no limit. */
  readonly limit: number;
  /** The continue token, or `""` for the first page. */
  readonly continue: string;
  /** True if the client allows bookmarks. */
  readonly allowWatchBookmarks: boolean;
  /** `undefined` if absent. */
  readonly sendInitialEvents: boolean | undefined;
  /** The watch's duration in seconds. With 0, the server decides. */
  readonly timeoutSeconds: number;
}

/**
 * Parses and validates the options for a list or watch (apimachinery `ValidateListOptions`).
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
  if (causes.length > 0) throw knownRefusal("invalid", { group: "meta.k8s.io", kind: "ListOptions", name: "" }, causes);
  return options;
}

/** Parses a resourceVersion. Returns 0 for an empty one. */
export function parseRevision(resourceVersion: string, watch: boolean): number {
  if (resourceVersion === "") return 0;
  if (/^[0-9]{1,15}$/.test(resourceVersion)) return Number(resourceVersion);
  const text = JSON.stringify(resourceVersion);
  const why = `resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`;
  // A watch answers without a reason: the error of the storage layer is passed on as it is.
  throw watch ? refusal(500, why, { reason: "" }) : refusal(400, `invalid resource version: ${why}`);
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
    throw refusal(400, `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

const MATCH = "resourceVersionMatch";

function listCauses(options: ServerListOptions): Required<StatusCause>[] {
  const { resourceVersion, resourceVersionMatch: match } = options;
  const causes: Required<StatusCause>[] = [];
  if (options.sendInitialEvents !== undefined) {
    causes.push(fieldCause.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match === "") return causes;
  if (resourceVersion === "") {
    causes.push(fieldCause.forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  }
  if (options.continue !== "") causes.push(fieldCause.forbidden(MATCH, `${MATCH} is forbidden for continue`));
  if (match !== "Exact" && match !== "NotOlderThan") {
    causes.push(fieldCause.unsupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && resourceVersion === "0") {
    causes.push(fieldCause.forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  return causes;
}

function watchCauses(options: ServerListOptions, streamingList: boolean): Required<StatusCause>[] {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const causes: Required<StatusCause>[] = [];
  if (sendInitialEvents !== undefined) {
    if (match !== "NotOlderThan") {
      causes.push(fieldCause.forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
    }
    if (!streamingList) {
      const why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
      causes.push(fieldCause.forbidden("sendInitialEvents", why));
    }
  }
  if (match === "") return causes;
  if (sendInitialEvents === undefined) {
    causes.push(fieldCause.forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") causes.push(fieldCause.unsupported(MATCH, match, ["NotOlderThan"]));
  if (options.continue !== "") causes.push(fieldCause.forbidden(MATCH, `${MATCH} is forbidden for continue`));
  return causes;
}

/** The position after a page, as a continue token has it. */
export class ContinueToken {
  /** The list's revision, or -1 for the current one, which makes the list inconsistent. */
  readonly revision: number;
  /** The next page's first key, relative to the listed namespace. */
  readonly start: string;

  constructor(revision: number, start: string) {
    this.revision = revision;
    this.start = start;
  }

  /**
   * Parses a token.
   *
   * @throws {StatusError} 400 if it is invalid.
   */
  static parse(text: string): ContinueToken {
    const { v, rv, start } = decodeToken(text);
    if (v !== "meta.k8s.io/v1" || typeof rv !== "number" || typeof start !== "string" || rv === 0) {
      throw refusal(
        400,
        "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion " +
          `(version ${quoted(String(v))})`,
      );
    }
    // Tokens from the watch cache begin with a slash, tokens from etcd do not.
    return new ContinueToken(rv, start.startsWith("/") ? start.slice(1) : start);
  }

  /** Formats a token like kube-apiserver: JSON in base64url, without padding. */
  toString(): string {
    // The last character of `start` is U+0000: the first possible key after the last one of the page.
    const json = JSON.stringify({ v: "meta.k8s.io/v1", rv: this.revision, start: this.start });
    return base64Of(json).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }
}

function decodeToken(text: string): { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) => byte.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    throw refusal(400, `invalid continue token: continue key is not valid: ${(error as Error).message}`);
  }
}

/** A representation for objects that a client accepts. */
export type Representation =
  | "object"
  | "PartialObjectMetadata"
  | "PartialObjectMetadataList"
  | "Table"
  | "APIGroupDiscoveryList";

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** Media ranges that include JSON. */
const JSON_TYPES = ["application/json", "application/*", "*/*"];

/**
 * Returns the best representation that the `Accept` header allows and the server offers.
 *
 * @throws {StatusError} 406 if there is none.
 */
export function negotiateRepresentation(accept: string | null, offered: readonly Representation[]): Representation {
  const ranges = parseAccept(accept ?? "*/*");
  for (const range of ranges) {
    if (!JSON_TYPES.includes(range.type)) continue;
    const { as, g, v } = range.parameters;
    if (as === undefined) return "object";
    const version = as === "APIGroupDiscoveryList"
      ? g === "apidiscovery.k8s.io" && v === "v2"
      : g === "meta.k8s.io" && v === "v1";
    const representation = offered.find((name) => name === as);
    if (version && representation !== undefined) return representation;
  }
  throw refusal(
    406,
    "406: Not Acceptable\n\nAvailable representations: application/json, application/json;stream=watch",
    { details: {} },
  );
}

/** Returns the ranges in an `Accept` header, by descending quality. */
function parseAccept(accept: string): MediaRange[] {
  const ranges = accept.split(",").map((text): MediaRange => {
    const [type, ...rest] = text.split(";").map((part) => part.trim());
    const parameters: Record<string, string> = {};
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals > 0) parameters[parameter.slice(0, equals).trim()] = parameter.slice(equals + 1).trim();
    }
    const quality = parameters.q === undefined ? 1 : Number(parameters.q);
    return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
  });
  return ranges.filter((range) => range.quality > 0).sort((a, b) => b.quality - a.quality);
}
