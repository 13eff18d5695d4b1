import { resourceName } from "../../api/resource.ts";
import type { Status } from "../../api/status.ts";
import { detailsOf, refusal, refusalOf } from "../../protocol/refusal.ts";

/** The attributes of a request that authorization decides on. */
export interface RequestAttributes {
  /** The user of the token, or `"system:anonymous"`. */
  readonly user: string;
  /** `"get"`, `"list"`, `"watch"`, `"create"`, `"update"`, `"patch"`, `"delete"`, `"deletecollection"`. */
  readonly verb: string;
  /** API group; `""` for the core group and for non-resource paths. */
  readonly group: string;
  /** API version. */
  readonly version: string;
  /** Plural name, `"pods"`; `""` for non-resource paths. */
  readonly resource: string;
  /** Subresource, such as `"status"`, else `""`. */
  readonly subresource: string;
  /** `""` for all namespaces and cluster-scoped resources. */
  readonly namespace: string;
  /** Name of the object, else `""`. */
  readonly name: string;
  /** URL path. */
  readonly path: string;
}

/** Authorizes a request: true allows it, false answers 403, a Status answers with that Status. */
export type Authorize = (
  attributes: RequestAttributes,
) => boolean | Partial<Status> | Promise<boolean | Partial<Status>>;

/** Users by bearer token: a record, or a function for tokens that change. */
export type Tokens = Readonly<Record<string, string>> | ((token: string) => string | undefined);

const ANONYMOUS = "system:anonymous";
/** Paths that need no authorization. */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

/** Authenticates and authorizes requests. Without options, everything is allowed. */
export class AccessControl {
  readonly #tokens: Tokens | undefined;
  readonly #authorize: Authorize | undefined;

  /** Uses these options. */
  constructor(tokens: Tokens | undefined, authorize: Authorize | undefined) {
    this.#tokens = tokens;
    this.#authorize = authorize;
  }

  /**
   * Returns the user of a request.
   *
   * @throws {StatusError} 401 if the token is unknown.
   */
  user(headers: Headers): string {
    if (this.#tokens === undefined) return "system:admin";
    const [, token] = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return ANONYMOUS;
    const user = this.userOf(token);
    if (user === undefined) throw refusal(401, "Unauthorized");
    return user;
  }

  /** Returns the user of a token; undefined if it is unknown. */
  userOf(token: string): string | undefined {
    if (this.#tokens === undefined) return "system:admin";
    if (typeof this.#tokens === "function") return this.#tokens(token);
    return Object.hasOwn(this.#tokens, token) ? this.#tokens[token] : undefined;
  }

  /** True if no function decides what a user may do. */
  get allowsAll(): boolean {
    return this.#authorize === undefined;
  }

  /** Returns the authorizer's decision about a request. */
  async allows(attributes: RequestAttributes): Promise<boolean | Partial<Status>> {
    if (attributes.resource === "" && PUBLIC.test(attributes.path)) return true;
    if (this.#authorize !== undefined) return await this.#authorize(attributes);
    return attributes.user !== ANONYMOUS;
  }

  /**
   * Authorizes a request.
   *
   * @throws {StatusError} 403, or the Status that `authorize` returned.
   */
  async check(attributes: RequestAttributes): Promise<void> {
    const allowed = await this.allows(attributes);
    if (allowed === true) return;
    if (allowed === false) throw forbidden(attributes);
    throw refusalOf({ code: 403, ...allowed });
  }
}

function forbidden(attributes: RequestAttributes): Error {
  const { user, verb, group, resource, subresource, namespace, name, path } = attributes;
  if (resource === "") {
    return refusal(403, `forbidden: User ${JSON.stringify(user)} cannot ${verb} path ${JSON.stringify(path)}`, {
      details: {},
    });
  }
  const subject = resourceName({ group, plural: resource }) + (name === "" ? "" : ` ${JSON.stringify(name)}`);
  const what = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return refusal(
    403,
    `${subject} is forbidden: User ${JSON.stringify(user)} cannot ${verb} resource ${what} in API group ` +
      `${JSON.stringify(group)} ${where}`,
    { details: detailsOf({ group, plural: resource }, name === "" ? undefined : name) },
  );
}

/** A user, and the groups that the server puts users into. */
export function userInfo(username: string): { readonly username: string; readonly groups: readonly string[] } {
  const groups = username === "system:anonymous"
    ? ["system:unauthenticated"]
    : [...(username === "system:admin" ? ["system:masters"] : []), "system:authenticated"];
  return { username, groups };
}
