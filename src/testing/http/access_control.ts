import { resourceName } from "../../api/resource.ts";
import type { Status } from "../../api/status.ts";
import { detailsOf, refusal, refusalOf } from "./refusal.ts";

/** Who asks for what: what the decision about a request is made of. */
export interface RequestAttributes {
  /** Who asks: the user of the token, or `"system:anonymous"`. */
  readonly user: string;
  /** `"get"`, `"list"`, `"watch"`, `"create"`, `"update"`, `"patch"`, `"delete"`, `"deletecollection"`. */
  readonly verb: string;
  /** API group; `""` for the core group, and for paths that are no resource. */
  readonly group: string;
  /** API version. */
  readonly version: string;
  /** Name of the collection, `"pods"`; `""` for paths that are no resource. */
  readonly resource: string;
  /** Part of an object, `"status"`, else `""`. */
  readonly subresource: string;
  /** `""` for all namespaces and cluster-scoped resources. */
  readonly namespace: string;
  /** Name of the object, else `""`. */
  readonly name: string;
  /** The path of the address. */
  readonly path: string;
}

/** What decides about a request: yes, no, or a refusal of its own. */
export type Authorize = (
  attributes: RequestAttributes,
) => boolean | Partial<Status> | Promise<boolean | Partial<Status>>;

/** Names the user that a token belongs to; a record, or a function for tokens that come and go. */
export type Tokens = Readonly<Record<string, string>> | ((token: string) => string | undefined);

const ANONYMOUS = "system:anonymous";
/** What the server tells everybody. */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|$)/;

/** Tells who asks, and whether they may. Everybody may do everything when neither option is given. */
export class AccessControl {
  readonly #tokens: Tokens | undefined;
  readonly #authorize: Authorize | undefined;

  /** Decides by these. */
  constructor(tokens: Tokens | undefined, authorize: Authorize | undefined) {
    this.#tokens = tokens;
    this.#authorize = authorize;
  }

  /**
   * The user a request comes from.
   *
   * @throws {StatusError} 401 when it has a token that nobody knows.
   */
  user(headers: Headers): string {
    if (this.#tokens === undefined) return "system:admin";
    const [, token] = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return ANONYMOUS;
    const user = typeof this.#tokens === "function"
      ? this.#tokens(token)
      : Object.hasOwn(this.#tokens, token)
      ? this.#tokens[token]
      : undefined;
    if (user === undefined) throw refusal(401, "Unauthorized");
    return user;
  }

  /** Whether a request would be let through. */
  async allows(attributes: RequestAttributes): Promise<boolean | Partial<Status>> {
    if (attributes.resource === "" && PUBLIC.test(attributes.path)) return true;
    if (this.#authorize !== undefined) return await this.#authorize(attributes);
    return attributes.user !== ANONYMOUS;
  }

  /**
   * Lets a request through, or not.
   *
   * @throws {StatusError} 403, or what `authorize` answered.
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
