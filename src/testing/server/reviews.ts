import { type AccessControl, type RequestAttributes, userInfo } from "../http/access_control.ts";
import { badRequest, invalid, invalidField } from "../../protocol/refusal.ts";
import type { ResourceRoute } from "../../protocol/requests.ts";
import { goJson, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";

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

/** Answers reviews: what the tokens and the authorizer of the server say of a user. */
export class Reviews {
  readonly #access: AccessControl;

  /** Asks `access`. */
  constructor(access: AccessControl) {
    this.#access = access;
  }

  /** Returns the review that a request creates; undefined if it is for another resource. */
  async answer(
    { group, version, plural, namespace }: ResourceRoute,
    { user, verb }: RequestAttributes,
    read: () => JsonObject,
  ): Promise<JsonObject | undefined> {
    if (verb !== "create" || version !== "v1") return undefined;
    switch (`${group}/${plural}`) {
      case "authentication.k8s.io/selfsubjectreviews":
        return reviewed("SelfSubjectReview", undefined, { userInfo: userInfo(user) }, "authentication.k8s.io/v1");
      case "authentication.k8s.io/tokenreviews":
        return this.#token(read());
      case "authorization.k8s.io/selfsubjectaccessreviews":
        return await this.#allowed("SelfSubjectAccessReview", user, read());
      case "authorization.k8s.io/subjectaccessreviews":
        return await this.#allowed("SubjectAccessReview", undefined, read());
      case "authorization.k8s.io/localsubjectaccessreviews":
        return await this.#allowed("LocalSubjectAccessReview", undefined, read(), namespace);
      case "authorization.k8s.io/selfsubjectrulesreviews":
        return this.#rules(read());
      default:
        return undefined;
    }
  }

  #token({ spec }: JsonObject): JsonObject {
    const { token } = objectOr(spec);
    const username = this.#access.userOf(textOf(token ?? ""));
    const status = username === undefined
      ? { user: {}, error: "invalid bearer token" }
      : { authenticated: true, user: userInfo(username), audiences: ["https://kubernetes.default.svc"] };
    return reviewed("TokenReview", spec, status, "authentication.k8s.io/v1");
  }

  async #allowed(kind: string, self: string | undefined, { spec }: JsonObject, inside?: string): Promise<JsonObject> {
    const { resourceAttributes: wanted, nonResourceAttributes: path, user } = objectOr(spec);
    if (isObject(wanted) === isObject(path)) {
      const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
      throw invalid({ group: "authorization.k8s.io", kind: "", name: "" }, [invalidField("spec", "null", why)]);
    }
    const text = (name: string): string => {
      const value = objectOr(wanted ?? path)[name];
      return typeof value === "string" ? value : "";
    };
    const namespace = text("namespace");
    if (inside !== undefined && namespace !== inside) {
      const cause = invalidField(
        "spec.resourceAttributes.namespace",
        goJson(namespace),
        "must match metadata.namespace",
      );
      throw invalid({ group: "authorization.k8s.io", kind: "", name: "" }, [cause]);
    }
    const verdict = await this.#access.allows({
      user: self ?? textOf(user ?? ""),
      verb: text("verb"),
      group: text("group"),
      version: text("version"),
      resource: text("resource"),
      subresource: text("subresource"),
      namespace,
      name: text("name"),
      path: text("path"),
    });
    return reviewed(kind, spec, { allowed: verdict === true }, "authorization.k8s.io/v1");
  }

  /** The rules of a user; a function that authorizes cannot list them. */
  #rules({ spec }: JsonObject): JsonObject {
    if (!objectOr(spec).namespace) throw badRequest("no namespace on request");
    const all = { verbs: ["*"] };
    const status = this.#access.allowsAll
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
    return reviewed("SelfSubjectRulesReview", {}, status, "authorization.k8s.io/v1");
  }
}

function reviewed(kind: string, spec: unknown, status: JsonObject, apiVersion: string): JsonObject {
  return { kind, apiVersion, metadata: {}, ...(spec === undefined ? {} : { spec: objectOr(spec) }), status };
}
