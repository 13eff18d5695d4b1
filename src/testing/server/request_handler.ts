import { BrokenConnection } from "../faults/broken_connection.ts";
import type { Faults } from "../faults/faults.ts";
import { gzipResponse } from "../faults/gzip.ts";
import type { AccessControl, RequestAttributes } from "../http/access_control.ts";
import { answerError, answerJson, answerText, type RequestContext } from "../http/answer.ts";
import { type OpenRecord, recordRequest } from "../http/recorded_request.ts";
import { noMethod, noPath } from "../http/refusal.ts";
import { negotiateRepresentation } from "../http/representation.ts";
import { parseRoute, type Route } from "../http/route.ts";
import type { ByteBody } from "../wire/byte_body.ts";
import { at, objectOr } from "../wire/json.ts";
import type { Discovery } from "./discovery.ts";
import type { OpenApi } from "./open_api.ts";
import { requestBodyObject, requestBodyText } from "./request_body.ts";
import type { ResourceHandler } from "./resource_handler.ts";
import { resourceVerb } from "./resource_verb.ts";
import { SERVER_VERSION } from "./server_version.ts";

/** What a request goes through. */
export interface RequestHandlerParts {
  /** Who may do what. */
  readonly access: AccessControl;
  /** What goes wrong. */
  readonly faults: Faults;
  /** What the server says of itself. */
  readonly discovery: Discovery;
  /** What the server says of its paths. */
  readonly openApi: OpenApi;
  /** Collections and objects. */
  readonly resources: ResourceHandler;
  /** Most bytes to a chunk of an answer. */
  readonly chunkBytes: number;
  /** The server's clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** Takes the record of each request. */
  readonly record: (request: OpenRecord) => void;
}

/** The way of a request: written down, delayed, failed if so armed, let in, and answered. */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;

  /** Leads requests through these. */
  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
  }

  /**
   * Answers one request. With `signal`, its abort rejects, or breaks the body, with its reason.
   *
   * @throws {BrokenConnection} when that was armed.
   */
  async answer(request: Request, signal: AbortSignal | undefined): Promise<Response> {
    signal?.throwIfAborted();
    const { access, faults, record, chunkBytes } = this.#parts;
    const url = URL.parse(request.url);
    // Deno.serve puts the Host header into the URL, whatever it is.
    if (url === null) return answerText("400 Bad Request: malformed Host header", 400);
    const open = recordRequest(request, url, attributesOf(request, url, ""));
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
      const user = access.user(request.headers);
      const attributes = attributesOf(request, url, user);
      await access.check(attributes);
      const body = request.body === null ? "" : await requestBodyText(request);
      if (body !== "") open.body = body;
      signal?.throwIfAborted();
      const response = await this.#route(context, attributes, body);
      await faults.after.take(open)?.(open);
      return this.#answered(open, faults.gzip.take(open) === undefined ? response : gzipResponse(response));
    } catch (error) {
      // Not an answer at all: what the signal, or a broken connection, has to say goes to the caller as it is.
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

  async #route(context: RequestContext, attributes: RequestAttributes, body: string): Promise<Response> {
    const { discovery, openApi, resources } = this.#parts;
    const route = parseRoute(context.url.pathname);
    if (route.type === "resource") {
      if (isAccessReview(route, attributes.verb)) return await this.#review(context, attributes, body);
      return await resources.answer(context, route, attributes.verb, body);
    }
    if (context.request.method !== "GET" && context.request.method !== "HEAD") throw noMethod();
    switch (route.type) {
      case "health":
        return answerText("ok");
      case "version":
        return answerJson({ ...context, url: new URL("?pretty=true", context.url) }, SERVER_VERSION);
      case "versions":
        return aggregated(context, () => discovery.aggregated(true)) ??
          answerJson(context, discovery.versions(context.url.host));
      case "openapi":
        return found(context, route.path === "" ? openApi.index : openApi.document(route.path));
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

  /** `SelfSubjectAccessReview`: whether who asks might do something. */
  async #review(context: RequestContext, { user }: RequestAttributes, body: string): Promise<Response> {
    const review = requestBodyObject(body);
    const wanted = objectOr(at(review, "spec", "resourceAttributes"));
    const text = (name: string): string => typeof wanted[name] === "string" ? wanted[name] : "";
    const path = at(review, "spec", "nonResourceAttributes", "path");
    const verdict = await this.#parts.access.allows({
      user,
      verb: text("verb") || String(at(review, "spec", "nonResourceAttributes", "verb") ?? ""),
      group: text("group"),
      version: text("version"),
      resource: text("resource"),
      subresource: text("subresource"),
      namespace: text("namespace"),
      name: text("name"),
      path: typeof path === "string" ? path : "",
    });
    const answer = {
      kind: "SelfSubjectAccessReview",
      apiVersion: "authorization.k8s.io/v1",
      metadata: {},
      spec: review.spec ?? {},
      status: { allowed: verdict === true },
    };
    return answerJson(context, answer, 201);
  }
}

function isAccessReview(route: Route & { readonly type: "resource" }, verb: string): boolean {
  return route.group === "authorization.k8s.io" && route.version === "v1" && verb === "create" &&
    route.plural === "selfsubjectaccessreviews";
}

/** What is asked for, for whoever decides about it. */
function attributesOf(request: Request, url: URL, user: string): RequestAttributes {
  const route = routeOr(url.pathname);
  const path = url.pathname;
  if (route?.type !== "resource") {
    const verb = request.method.toLowerCase();
    return { user, verb, group: "", version: "", resource: "", subresource: "", namespace: "", name: "", path };
  }
  const { group, version, plural: resource, subresource = "", namespace, name = "" } = route;
  const verb = resourceVerb(request.method, route, url.searchParams);
  return { user, verb, group, version, resource, subresource, namespace, name, path };
}

/** Paths that are nowhere are refused later, after the question who asks. */
function routeOr(pathname: string): Route | undefined {
  try {
    return parseRoute(pathname);
  } catch {
    return undefined;
  }
}

function aggregated(context: RequestContext, document: () => unknown): Response | undefined {
  const representation = negotiateRepresentation(context.request.headers.get("accept"), ["APIGroupDiscoveryList"]);
  if (representation === "object") return undefined;
  const response = answerJson(context, document());
  response.headers.set("content-type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  return response;
}

function found(context: RequestContext, document: unknown): Response {
  if (document === undefined) throw noPath();
  return answerJson(context, document);
}
