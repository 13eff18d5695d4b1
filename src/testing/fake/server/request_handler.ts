/**
 * The HTTP interface: routes requests to resources, discovery and OpenAPI.
 *
 * {@linkcode RequestHandler} is the entry point of every request: it records, delays, fails and authorizes it.
 * `ResourceHandler` answers resource paths by means of `reads` and `writes`. It keeps no state of its own.
 *
 * @module
 */
import { verbOf } from "../../../engine/api/resource.ts";
import { fieldCause, knownRefusal, PlainRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import {
  negotiateRepresentation,
  parseRoute,
  type ResourceRoute,
  type Route,
} from "../../../engine/protocol/requests.ts";
import type { ByteBody } from "../wire/byte_body.ts";
import {
  type AccessControl,
  answerError,
  answerJson,
  answerText,
  type OpenRecord,
  recordRequest,
  type RequestAttributes,
  type RequestContext,
  userInfo,
} from "../wire/exchange.ts";
import { BrokenConnection, type Faults, gzipResponse } from "../wire/faults.ts";
import { goJson } from "../wire/go_text.ts";
import { isObject, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, textOf } from "../../../engine/api/members.ts";
import { openApiDocument, openApiIndex, SERVER_VERSION } from "./open_api.ts";
import { requestBodyObject, requestBodyText, ResourceHandler, type ResourceParts } from "./resource_handler.ts";
import type { Conversions } from "./conversion.ts";
import type { Review } from "./webhooks.ts";

const create = (apiGroup: string, ...resources: string[]): JsonObject => {
  return { verbs: ["create"], apiGroups: [apiGroup], resources };
};

/** The rules that a cluster has for all users. */
const OF_USERS = [
  create("authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
  create("authentication.k8s.io", "selfsubjectreviews"),
];
const INFO = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERED = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*"];
const PATHS_OF_USERS = [[...DISCOVERED, ...INFO.slice(2)], INFO]
  .map((nonResourceURLs) => ({ verbs: ["get"], nonResourceURLs }));

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";

/**
 * Returns the review that a request creates: what the tokens and the authorizer of the server say of a user. Undefined
 * for another resource.
 */
async function reviewOf(
  access: AccessControl,
  { group, version, plural, namespace }: ResourceRoute,
  { user, verb }: RequestAttributes,
  read: () => JsonObject,
): Promise<JsonObject | undefined> {
  if (verb !== "create" || version !== "v1") return undefined;
  switch (`${group}/${plural}`) {
    case `${AUTHENTICATION}/selfsubjectreviews`:
      return reviewed("SelfSubjectReview", undefined, { userInfo: userInfo(user) }, AUTHENTICATION);
    case `${AUTHENTICATION}/tokenreviews`:
      return reviewToken(access, read());
    case `${AUTHORIZATION}/selfsubjectaccessreviews`:
      return await reviewAccess(access, "SelfSubjectAccessReview", user, read());
    case `${AUTHORIZATION}/subjectaccessreviews`:
      return await reviewAccess(access, "SubjectAccessReview", undefined, read());
    case `${AUTHORIZATION}/localsubjectaccessreviews`:
      return await reviewAccess(access, "LocalSubjectAccessReview", undefined, read(), namespace);
    case `${AUTHORIZATION}/selfsubjectrulesreviews`:
      return reviewRules(access, read());
    default:
      return undefined;
  }
}

function reviewToken(access: AccessControl, { spec }: JsonObject): JsonObject {
  const username = access.userOf(textOf(objectOr(spec).token));
  const status = username === undefined
    ? { user: {}, error: "invalid bearer token" }
    : { authenticated: true, user: userInfo(username), audiences: ["https://kubernetes.default.svc"] };
  return reviewed("TokenReview", spec, status, AUTHENTICATION);
}

async function reviewAccess(
  access: AccessControl,
  kind: string,
  self: string | undefined,
  { spec }: JsonObject,
  inside?: string,
): Promise<JsonObject> {
  const { resourceAttributes: wanted, nonResourceAttributes: path, user } = objectOr(spec);
  const refuse = (field: string, value: string, why: string): never => {
    throw knownRefusal("invalid", { group: AUTHORIZATION, kind: "", name: "" }, [
      fieldCause.invalid(field, value, why),
    ]);
  };
  if (isObject(wanted) === isObject(path)) {
    refuse("spec", "null", "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  const text = (name: string): string => {
    const value = objectOr(wanted ?? path)[name];
    return typeof value === "string" ? value : "";
  };
  const namespace = text("namespace");
  if (inside !== undefined && namespace !== inside) {
    refuse("spec.resourceAttributes.namespace", goJson(namespace), "must match metadata.namespace");
  }
  const verdict = await access.allows({
    user: self ?? textOf(user),
    verb: text("verb"),
    group: text("group"),
    version: text("version"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace,
    name: text("name"),
    path: text("path"),
  });
  return reviewed(kind, spec, { allowed: verdict === true }, AUTHORIZATION);
}

/** The rules of a user; a function that authorizes cannot list them. */
function reviewRules(access: AccessControl, { spec }: JsonObject): JsonObject {
  if (!objectOr(spec).namespace) throw refusal(400, "no namespace on request");
  const all = { verbs: ["*"] };
  const status = access.allowsAll
    ? {
      resourceRules: [{ ...all, apiGroups: ["*"], resources: ["*"] }, ...OF_USERS],
      nonResourceRules: [{ ...all, nonResourceURLs: ["*"] }, ...PATHS_OF_USERS],
      incomplete: false,
    }
    : {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: "the fake server authorizes by a function, which has no rules to list",
    };
  return reviewed("SelfSubjectRulesReview", {}, status, AUTHORIZATION);
}

function reviewed(kind: string, spec: unknown, status: JsonObject, group: string): JsonObject {
  return {
    kind,
    apiVersion: `${group}/v1`,
    metadata: {},
    ...(spec === undefined ? {} : { spec: objectOr(spec) }),
    status,
  };
}

/** Components of the request handler. */
interface RequestHandlerParts extends ResourceParts {
  /** Authentication and authorization. */
  readonly access: AccessControl;
  /** Converts the objects of kinds with a conversion webhook, and has what answers for all webhooks. */
  readonly conversions: Conversions;
  /** Armed faults. */
  readonly faults: Faults;
  /** Maximum bytes per chunk of a response. */
  readonly chunkBytes: number;
  /** Takes the record of each request. */
  readonly record: (request: OpenRecord) => void;
  /** Adds its body to the record of a request. */
  readonly recordBody: (request: OpenRecord, body: string) => void;
}

/** Handles a request from end to end: records it, applies faults, authorizes it, and routes it. */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #resources: ResourceHandler;

  /** Uses these components. */
  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#resources = new ResourceHandler(parts);
  }

  /**
   * Answers one request. If `signal` aborts, the call rejects, or the body errors, with its reason.
   *
   * @throws {BrokenConnection} if a broken connection is armed.
   */
  async answer(request: Request, signal: AbortSignal | undefined): Promise<Response> {
    signal?.throwIfAborted();
    const { access, faults, record, recordBody, chunkBytes } = this.#parts;
    const url = URL.parse(request.url);
    // Deno.serve puts the Host header into the URL unchecked.
    if (url === null) return answerText("400 Bad Request: malformed Host header", 400);
    const path = url.pathname;
    const route = routeOr(path);
    const asked = attributesOf(request, url, path, route);
    const open = recordRequest(request, url, asked);
    record(open);
    const sending = (body: ByteBody): void => {
      faults.sending(body);
      faults.bodies.take(open)?.(body);
    };
    const spreadMs = (): number | undefined => faults.spread.take(open);
    const context: RequestContext = { request, url, signal, chunkBytes, sending, spreadMs };
    try {
      await faults.delay(signal);
      await faults.before.take(open)?.(open);
      const instead = faults.instead.take(open)?.();
      if (instead !== undefined) return this.#answered(open, instead);
      const attributes = { ...asked, user: access.user(request.headers) };
      await access.check(attributes);
      const body = await requestBodyText(request, signal === undefined);
      if (body !== "") recordBody(open, body);
      signal?.throwIfAborted();
      const response = await this.#route(context, route, attributes, body);
      await faults.after.take(open)?.(open);
      return this.#answered(open, faults.gzip.take(open) === undefined ? response : gzipResponse(response));
    } catch (error) {
      // There is no response: pass the error of the signal or the connection on to the caller.
      if (error instanceof BrokenConnection || signal?.aborted) {
        open.status = 0;
        throw error;
      }
      return this.#answered(open, answerError(context, error));
    }
  }

  #answered(record: OpenRecord, response: Response): Response {
    response.headers.set("date", new Date(this.#parts.now()).toUTCString());
    record.status = response.status;
    return response;
  }

  async #route(
    context: RequestContext,
    route: Route | undefined,
    attributes: RequestAttributes,
    body: string,
  ): Promise<Response> {
    const { access, conversions, discovery, store } = this.#parts;
    if (route === undefined) throw PlainRefusal.noPath();
    if (route.type === "resource") {
      const review = await reviewOf(access, route, attributes, () => requestBodyObject(body));
      if (review !== undefined) return answerJson(context, review, 201);
      const loading = this.#resources.loading(route, body);
      if (loading !== undefined) await loading;
      if (conversions.isLate) await conversions.settle(route);
      if (conversions.source.handler === undefined) return this.#resources.answer(context, route, attributes, body);
      const answer = (review?: Review): Response => this.#resources.answer(context, route, attributes, body, review);
      const { underReview } = await import("./webhooks.ts");
      return await underReview({ context, route, attributes, body }, { store, conversions }, answer);
    }
    if (context.request.method !== "GET" && context.request.method !== "HEAD") throw knownRefusal("noMethod");
    switch (route.type) {
      case "health":
        return answerText("ok");
      case "version":
        return answerJson({ ...context, url: new URL("?pretty=true", context.url) }, SERVER_VERSION);
      case "versions":
        return aggregated(context, () => discovery.aggregated(true)) ??
          answerJson(context, discovery.versions(context.url.host));
      case "openapi":
        return found(context, route.path === "" ? openApiIndex(store) : openApiDocument(store, route.path));
      case "groups":
        return aggregated(context, () => discovery.aggregated(false)) ?? answerJson(context, discovery.groups());
      case "group":
        return found(context, discovery.group(route.group));
      case "resources":
        return found(context, discovery.resources(route.group, route.version));
      default:
        return route satisfies never;
    }
  }
}

/** Returns the attributes that authorization decides on, as far as they are known without the user. */
function attributesOf(request: Request, url: URL, path: string, route: Route | undefined): RequestAttributes {
  const user = "";
  if (route?.type !== "resource") {
    const verb = request.method.toLowerCase();
    return { user, verb, group: "", version: "", resource: "", subresource: "", namespace: "", name: "", path };
  }
  const { group, version, plural: resource, subresource = "", namespace, name = "" } = route;
  const verb = verbOf(request.method, route, url.searchParams);
  return { user, verb, group, version, resource, subresource, namespace, name, path };
}

/** Unknown paths are rejected later, after authorization. */
function routeOr(pathname: string): Route | undefined {
  try {
    return parseRoute(pathname);
  } catch {
    return undefined;
  }
}

function aggregated(context: RequestContext, document: () => unknown): Response | undefined {
  const accept = context.request.headers.get("accept");
  const representation = negotiateRepresentation(accept, ["APIGroupDiscoveryList"]);
  if (representation === "object") return undefined;
  const response = answerJson(context, document());
  response.headers.set("content-type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  return response;
}

function found(context: RequestContext, document: unknown): Response {
  if (document === undefined) throw PlainRefusal.noPath();
  return answerJson(context, document);
}
