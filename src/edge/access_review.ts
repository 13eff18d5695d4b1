import { SubjectAccessReview } from "../kinds/authorization/v1.ts";
import type { Client } from "../client/client.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { InformerError } from "../errors/informer_error.ts";
import type { Authorization, ObjectRight, RequestedData } from "./options.ts";

/** The time for which an answer is kept, in milliseconds. */
const KEPT_MS = 60_000;

/** The number of answers that are kept. */
const MOST_KEPT = 10_000;

/** The number of reviews that are under way at one time. */
const AT_ONCE = 10;

/** The number of namespaces that are reviewed for one request. */
const MOST_NAMESPACES = 200;

/** A user, as the `status.user` of a TokenReview names him, or an authenticating proxy. */
export interface ReviewedUser {
  /** The name. A user without one is refused. */
  readonly username?: string;
  /** The groups, `system:authenticated` included. @default {none} */
  readonly groups?: readonly string[];
  /** The uid. @default {none} */
  readonly uid?: string;
  /** Further attributes, for authorizers. @default {none} */
  readonly extra?: { readonly [name: string]: readonly string[] };
}

/** Decides what a user may see of that which a request asks for. Rejects where the server does not answer. */
export type ReviewAccess = (user: ReviewedUser, requested: RequestedData) => Promise<Authorization>;

/** An answer, or the wait for it. */
interface Review {
  readonly isAllowed: Promise<boolean>;
  /** The time at which it is forgotten, in milliseconds since 1970. */
  readonly endsAt: number;
}

/**
 * Returns a function for `authorize` that asks the API server, by SubjectAccessReviews, whether a user may list what a
 * request asks for. The client needs the right to create `subjectaccessreviews`.
 *
 * - A user who may list the collection sees all of it. Else each namespace that the request asks for is reviewed,
 *   and he sees those that he may list; a request for all namespaces is refused, and so is one for more than 200.
 * - Ten reviews are under way at one time. Answers are kept for a minute, 10,000 of them, and open streams are reviewed
 *   again when theirs are over: a right that is withdrawn lasts for a minute, and so does a refusal.
 * - Users with the right to list see changes too: `watch` is not asked for.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { accessReview, InformerRelay } from "@kube/informer/edge";
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
  const reviews = new AccessReviews(client);
  return (user, requested) => reviews.authorize(user, requested);
}

class AccessReviews {
  readonly #client: Pick<Client, "resource">;
  /** From the oldest on, by what was asked. */
  readonly #kept = new Map<string, Review>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(client: Pick<Client, "resource">) {
    this.#client = client;
  }

  async authorize(user: ReviewedUser, { parts }: RequestedData): Promise<Authorization> {
    if (!user.username) return false;
    const rights: Record<string, ObjectRight> = {};
    let endsAt = Date.now() + KEPT_MS;
    let namespaces = 0;
    const ask = (resource: Resource, namespace: string): Promise<boolean> => {
      const review = this.#review(user, resource, namespace);
      endsAt = Math.min(endsAt, review.endsAt);
      return review.isAllowed;
    };
    for (const { collection, resource, namespaces: asked } of parts) {
      if (await ask(resource, "")) rights[collection] = {};
      else if (asked !== "all") {
        namespaces += asked.length;
        if (namespaces > MOST_NAMESPACES) {
          const error = `Cannot review the access to ${namespaces} namespaces: expected ${MOST_NAMESPACES} at most`;
          return Response.json({ error }, { status: 403 });
        }
        const answers = await Promise.all(asked.map((namespace) => ask(resource, namespace)));
        const allowed = asked.filter((_namespace, index) => answers[index]);
        const before = rights[collection]?.namespaces ?? [];
        if (allowed.length > 0) rights[collection] = { namespaces: [...before, ...allowed] };
      }
    }
    return { rights, askAgainAt: new Date(endsAt) };
  }

  /** Returns the review of a namespace, or of all with `""`, that is kept, or a new one. */
  #review({ username, groups, uid, extra }: ReviewedUser, resource: Resource, namespace: string): Review {
    const { group, version, plural } = resource;
    const resourceAttributes = { verb: "list", group, version, resource: plural, namespace };
    const spec = { user: username, groups, uid, extra, resourceAttributes };
    const key = JSON.stringify(spec);
    const known = this.#kept.get(key);
    if (known !== undefined && known.endsAt > Date.now()) return known;
    const isAllowed = this.#inTurn(async () => {
      try {
        const { status } = await this.#client.resource(SubjectAccessReview).create({ spec });
        return status?.allowed === true;
      } catch (cause) {
        const what = `access of "${username}" to "${resourceName(resource)}"`;
        throw new InformerError(`Cannot review the ${what}`, { cause });
      }
    });
    const review: Review = { isAllowed, endsAt: Date.now() + KEPT_MS };
    isAllowed.catch(() => this.#kept.get(key) === review && this.#kept.delete(key));
    this.#kept.delete(key);
    this.#kept.set(key, review);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return review;
  }

  /** Calls `job` when fewer than ten others are under way. */
  async #inTurn<R>(job: () => Promise<R>): Promise<R> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await job();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
