/**
 * The rights of clients: which objects of a collection a user may see.
 *
 * {@linkcode Right} and {@linkcode accessReview} are the entry points. The program's `authorize` grants a right, and
 * this file checks and compares grants. {@linkcode accessReview} asks the API server who may list and watch, and keeps
 * the answers for a minute.
 *
 * @module
 */
import type { CacheEntry } from "../../engine/api/entry.ts";
import { type KubernetesObject, type ObjectKey, reduced, splitKey } from "../../engine/api/object.ts";
import { type Resource, resourceName, type TableRow } from "../../engine/api/resource.ts";
import type { Client } from "../../engine/client/client.ts";
import { KEPT_MS, KeptReviews } from "../../engine/client/access_reviews.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { SubjectAccessReview } from "../../engine/kinds/authorization/v1.ts";
import type { Authorization, Grant, ObjectPredicate, ObjectRight, RelaySettings, RequestedData } from "./options.ts";

/** The options of a relay that rights depend on. */
type RightSettings = Pick<RelaySettings, "predicates" | "onError">;

/** The objects of a collection that some of its clients may see. */
export class Right {
  /** Equal for rights to the same objects. */
  readonly id: string;
  readonly #namespaces: ReadonlySet<string> | undefined;
  readonly #names: ReadonlySet<string> | undefined;
  readonly #where: readonly { readonly name: string; readonly text: string; readonly matches: ObjectPredicate }[];
  readonly #isTable: boolean;
  readonly #resource: Resource;
  readonly #onError: RelaySettings["onError"];

  private constructor(right: ObjectRight, resource: Resource, { predicates, onError }: RightSettings) {
    this.#namespaces = right.namespaces && new Set(right.namespaces);
    this.#names = right.names && new Set(right.names);
    const where = Object.entries(right.where ?? {}).sort();
    this.#where = where.map(([name, text]) => ({ name, text, matches: predicates[name] }));
    this.#isTable = resource.representation === "table";
    this.#resource = resource;
    this.#onError = onError;
    const sorted = (texts: ReadonlySet<string> | undefined): string[] | undefined => texts && [...texts].sort();
    this.id = JSON.stringify([sorted(this.#namespaces), sorted(this.#names), where]);
  }

  /** Returns the right, of a collection of `resource`; `undefined` where it has all objects. */
  static of(right: ObjectRight, resource: Resource, settings: RightSettings): Right | undefined {
    return right.namespaces ?? right.names ?? right.where ? new Right(right, resource, settings) : undefined;
  }

  /** Returns false when no object of that key may be seen, whatever it has. */
  allowsKey(key: ObjectKey): boolean {
    if (this.#namespaces === undefined && this.#names === undefined) return true;
    const { namespace = "", name } = splitKey(key);
    return this.#namespaces?.has(namespace) !== false && this.#names?.has(name) !== false;
  }

  /** Returns true when the complete object of an entry may be seen, which is parsed for a predicate alone. */
  allowsEntry(entry: CacheEntry<KubernetesObject>): boolean {
    return this.allowsKey(entry.key) && (this.#where.length === 0 || this.allows(entry.object));
  }

  /** Returns true when an object, as `redact` leaves it, may be seen; it is a row where the collection is a table. */
  allows(object: KubernetesObject): boolean {
    const { namespace = "", name = "" } = object.metadata;
    if (this.#namespaces?.has(namespace) === false || this.#names?.has(name) === false) return false;
    const row = object as Partial<TableRow>;
    const shown = this.#isTable && reduced in object && row.object !== undefined ? row.object : object;
    return this.#where.every(({ name: predicate, text, matches }) => {
      try {
        return matches(shown, text) === true;
      } catch (cause) {
        const by = `"${predicate}" of ${JSON.stringify(text)}`;
        const message = `Cannot decide with ${by} who may see an object of "${resourceName(this.#resource)}"`;
        this.#onError(new InformerError(message, { cause }));
        return false;
      }
    });
  }
}

/**
 * Returns the grant of `authorize`.
 *
 * @throws {TypeError} when it is none: a mistyped one must not show objects.
 */
export function checkGrant(
  grant: Grant,
  { predicates, collections }: Pick<RelaySettings, "predicates" | "collections">,
): Grant {
  checkMembers("the grant", grant, ["expiresAt", "rights", "askAgainAt"]);
  if (Number.isNaN(grant.askAgainAt?.getTime())) {
    throw wrong("askAgainAt", "it is not a valid time", "Return a valid Date");
  }
  checkMembers("the member rights", grant.rights ?? {}, Object.keys(collections));
  for (const [collection, right] of Object.entries(grant.rights ?? {})) checkRight(collection, right, predicates);
  return grant;
}

function checkRight(collection: string, right: ObjectRight, predicates: RightSettings["predicates"]): void {
  checkMembers(`the right to ${collection}`, right, ["namespaces", "names", "where"]);
  const { namespaces, names, where } = right;
  for (const [member, value] of Object.entries({ namespaces, names })) {
    if (value === undefined || (Array.isArray(value) && value.every((it) => typeof it === "string"))) continue;
    throw wrong(
      `the ${member} of the right to ${collection}`,
      `it is ${JSON.stringify(value)}`,
      "Return an array of strings",
    );
  }
  if (!Object.hasOwn(right, "where")) return;
  const what = `where of the right to ${collection}`;
  checkMembers(what, where, Object.keys(predicates));
  for (const [name, text] of Object.entries(where!)) {
    if (typeof text !== "string") {
      throw wrong(`${name} in ${what}`, `it is ${JSON.stringify(text) ?? typeof text}`, "Return a string");
    }
  }
}

/** Throws where a member is unknown, or undefined though it would limit what is seen. */
function checkMembers(what: string, value: unknown, members: readonly string[]): void {
  const allowed = members.length === 0
    ? "Leave it out, because the relay has no predicates"
    : `The members may be ${members.join(", ")}`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(what, `it is ${String(value)} and not an object`, allowed);
  }
  for (const [name, member] of Object.entries(value)) {
    if (!members.includes(name)) throw wrong(what, `it has an unknown member ${name}`, allowed);
    if (member === undefined && !name.endsWith("At")) {
      throw wrong(what, `its member ${name} is undefined`, "Give it a value, or leave it out");
    }
  }
}

function wrong(what: string, problem: string, remedy: string): TypeError {
  return new TypeError(`Cannot use ${what} that authorize returned: ${problem}. ${remedy}`);
}

/** The number of namespaces that are reviewed for one request. */
const MOST_NAMESPACES = 200;

/** A user, as in the `status.user` of a TokenReview, or as an authenticating proxy names the user. */
export interface ReviewedUser {
  /** The name. The relay refuses a user without a name. */
  readonly username?: string;
  /** The groups, including `system:authenticated`. @default {[]} */
  readonly groups?: readonly string[];
  /** The UID. */
  readonly uid?: string;
  /** Further attributes for authorizers, such as scopes. @default {{}} */
  readonly extra?: { readonly [name: string]: readonly string[] };
}

/** Decides which requested objects a user may see. It rejects if the API server does not respond. */
export type ReviewAccess = (user: ReviewedUser, requested: RequestedData) => Promise<Authorization>;

/**
 * Returns a function for `authorize` that asks the API server whether a user may list or watch what the request asks
 * for, so that RBAC decides. It sends SubjectAccessReviews, so the client needs the right to `create`
 * `subjectaccessreviews`.
 *
 * - **Lists need `list`. Event streams, views and watches need `list` and `watch`.**
 * - **First the whole collection, then each namespace.** If the user may not list all namespaces, it reviews the
 *   namespaces that the request names, and allows those to which the user has access. It refuses a request for all
 *   namespaces, or for more than 200.
 * - **Results of reviews are kept for a minute**, 10,000 at most. A right that you grant or revoke takes effect within
 *   61 s, in open streams too.
 * - **At most ten reviews run at one time.**
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { accessReview, InformerRelay } from "@kube/informer/relay";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer({ authorize: ({ user, namespace }) => user !== "ada" || namespace === "shop" });
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const review = accessReview(client);
 * await using relay = new InformerRelay(informers, {
 *   collections: { pods: Pod },
 *   authorize: (_request, requested) => review({ username: "ada" }, requested),
 * });
 * const get = async (path: string) => (await relay.fetch(new Request(`http://localhost${path}`))).status;
 * assertEquals([await get("/api/pods?namespace=shop"), await get("/api/pods")], [200, 403]);
 * ```
 */
export function accessReview(client: Pick<Client, "resource">): ReviewAccess {
  const kept = new KeptReviews(client);
  return async ({ username, groups, uid, extra }, { parts, follows }) => {
    if (!username) return false;
    const rights: Record<string, ObjectRight> = {};
    let endsAt = Date.now() + KEPT_MS;
    let namespaces = 0;
    const ask = async (resource: Resource, namespace: string): Promise<boolean> => {
      const { group, version, plural } = resource;
      const reviews = (follows ? ["list", "watch"] : ["list"]).map((verb) => {
        const resourceAttributes = { verb, group, version, resource: plural, namespace };
        return kept.ask(SubjectAccessReview, { user: username, groups, uid, extra, resourceAttributes });
      });
      endsAt = Math.min(endsAt, ...reviews.map((review) => review.endsAt));
      try {
        return (await Promise.all(reviews.map(({ answer }) => answer))).every(({ allowed }) => allowed);
      } catch (cause) {
        throw new InformerError(`Cannot review the access of "${username}" to "${resourceName(resource)}"`, { cause });
      }
    };
    for (const { collection, resource, namespaces: asked } of parts) {
      if (await ask(resource, "")) rights[collection] = {};
      else if (asked !== "all") {
        namespaces += asked.length;
        if (namespaces > MOST_NAMESPACES) {
          const error =
            `Cannot review the access to ${namespaces} namespaces: the relay reviews at most ${MOST_NAMESPACES}`;
          return Response.json({ error }, { status: 403 });
        }
        const answers = await Promise.all(asked.map((namespace) => ask(resource, namespace)));
        const allowed = asked.filter((_namespace, index) => answers[index]);
        const before = rights[collection]?.namespaces ?? [];
        if (allowed.length > 0) rights[collection] = { namespaces: [...before, ...allowed] };
      }
    }
    return { rights, askAgainAt: new Date(endsAt) };
  };
}
