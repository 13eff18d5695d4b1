/**
 * The rights of a client's user, by access reviews.
 *
 * {@linkcode missingRights} is the entry point. {@linkcode KeptReviews} keeps answers for a minute. `access_used.ts`
 * says which rights requests have needed, and `readable_namespaces.ts` finds namespaces. No right is granted here.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { defined } from "../api/json.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type ApiResource, defineResource, type Resource, resourceName } from "../api/resource.ts";
import { ruleGrants } from "../api/roles.ts";
import { checkNames } from "../errors/option_names.ts";
import { Latch } from "../async/signals.ts";
import type * as authorization from "../kinds/authorization/v1.ts";
import type { ResourceClients } from "./resource_client.ts";

/** A request that a client may be allowed to send, see `Client.can`. */
export interface AccessRight {
  /** The verb: `"list"`, `"create"`, or another one. */
  readonly verb: string;
  /** The kind, or a result of `client.find()`. */
  readonly resource: Resource | ApiResource;
  /** The namespace. Cluster-scoped kinds ignore it. @default {all namespaces} */
  readonly namespace?: string;
  /** The object's name. @default {all objects} */
  readonly name?: string;
  /** The subresource, e.g. `"status"` or `"log"`. @default {the object} */
  readonly subresource?: string;
}

/** The answer of any kind of review. */
type Answer = Partial<authorization.SubjectAccessReviewStatus & authorization.SubjectRulesReviewStatus>;

/** An object of any kind of review. */
type Reviewed = KubernetesObject & { readonly status?: Answer };

// Not from `kinds`, which would load all kinds of reviews with each client.
const [ACCESS, RULES] = ["Access", "Rules"].map((of) => {
  const plural = `selfsubject${of.toLowerCase()}reviews`;
  const group = "authorization.k8s.io";
  return defineResource<Reviewed>({ group, version: "v1", plural, kind: `SelfSubject${of}Review`, scope: "Cluster" });
});

/** A review that is answered, or under way. */
interface Review {
  readonly answer: Promise<Answer>;
  readonly answered: Latch;
  readonly job: AbortController;
  /** The time at which it is forgotten, in milliseconds since 1970. */
  readonly endsAt: number;
  /** The number of those who wait. */
  callers: number;
}

/** The time for which an answer is kept, in milliseconds. */
export const KEPT_MS = 60_000;

/** The number of answers that are kept. */
const MOST_KEPT = 10_000;

/** The number of reviews that are under way at one time. */
const AT_ONCE = 10;

/** Asks for reviews, the same one once at a time, and keeps the answers. */
export class KeptReviews {
  readonly #client: Pick<ResourceClients, "resource">;
  /** From the oldest on, by what was asked. */
  readonly #kept = new Map<string, Review>();
  /** The number of reviews that are under way or wait. */
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  /** Asks with this client. */
  constructor(client: Pick<ResourceClients, "resource">) {
    this.#client = client;
  }

  /**
   * Returns the answer, and when it will be asked for again. The request ends when the signals of all callers have
   * aborted. Failures are not kept.
   */
  ask(
    kind: Resource,
    spec: object,
    wait: Abortable = {},
  ): { readonly answer: Promise<Answer>; readonly endsAt: number } {
    const key = JSON.stringify([kind.kind, spec]);
    let review = this.#kept.get(key);
    if (review === undefined || review.endsAt <= Date.now()) {
      const [job, answered] = [new AbortController(), new Latch()];
      const answer = this.#send(kind, spec, job.signal);
      answer.then(() => answered.open(), (error) => answered.fail(error));
      review = { answer, answered, job, endsAt: Date.now() + KEPT_MS, callers: 0 };
      this.#kept.delete(key);
      this.#kept.set(key, review);
      if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    }
    return { answer: this.#wait(key, review, wait), endsAt: review.endsAt };
  }

  /** Sends a review when fewer than ten others are under way. */
  async #send(kind: Resource<Reviewed>, spec: object, signal: AbortSignal): Promise<Answer> {
    if (this.#open++ >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return (await this.#client.resource(kind).create({ spec } as never, { signal })).status ?? {};
    } finally {
      this.#open--;
      this.#waiting.shift()?.();
    }
  }

  async #wait(key: string, review: Review, wait: Abortable): Promise<Answer> {
    review.callers++;
    try {
      await review.answered.wait(wait);
      return await review.answer;
    } catch (error) {
      if (review.callers === 1) {
        this.#kept.delete(key);
        review.job.abort(error); // if it is the caller's abort, otherwise the request has ended
      }
      throw error;
    } finally {
      review.callers--;
    }
  }
}

const REVIEWS = new WeakMap<object, KeptReviews>();

/**
 * Returns the rights that a client's user lacks, each once. Answers are kept for a minute for each client, or in
 * `reviews`.
 *
 * Several rights in one namespace cost one SelfSubjectRulesReview. For a single right, or if incomplete rules do not
 * grant a right, it asks a SelfSubjectAccessReview.
 */
export async function missingRights(
  client: Pick<ResourceClients, "resource">,
  rights: readonly AccessRight[],
  wait: Abortable = {},
  reviews: KeptReviews = REVIEWS.get(client) ?? REVIEWS.set(client, new KeptReviews(client)).get(client)!,
): Promise<AccessRight[]> {
  wait.signal?.throwIfAborted();
  for (const right of rights) checkNames("review a right", right, "verb resource namespace name subresource");
  const asked = distinctRights(rights);
  const places = Map.groupBy(asked, placeOf);
  const has = async (right: AccessRight): Promise<boolean> => {
    const { verb, resource: { group, version, plural }, name, subresource } = right;
    const namespace = placeOf(right);
    if (namespace !== "" && places.get(namespace)!.length > 1) {
      const { resourceRules = [], incomplete } = await reviews.ask(RULES, { namespace }, wait).answer;
      const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
      if (resourceRules.some((rule) => ruleGrants(rule, { verb, group, resource, name }))) return true;
      if (!incomplete) return false;
    }
    const resourceAttributes = defined({ namespace, verb, group, version, resource: plural, name, subresource });
    const { answer } = reviews.ask(ACCESS, { resourceAttributes }, wait);
    return (await answer).allowed === true;
  };
  const answers = await Promise.all(asked.map(has));
  return asked.filter((_right, at) => !answers[at]);
}

/** Returns the namespace in which a right is needed, `""` for all or none. */
function placeOf({ resource, namespace = "" }: AccessRight): string {
  return resource.scope === "Cluster" ? "" : namespace;
}

/** Returns the rights for each of these verbs, which spaces separate, in each namespace. */
export function rightsTo(
  verbs: string,
  resource: Resource,
  namespaces: readonly (string | undefined)[] = [undefined],
  name?: string,
): AccessRight[] {
  const each = verbs.split(" ");
  return namespaces.flatMap((namespace) => each.map((verb) => ({ verb, resource, ...defined({ namespace, name }) })));
}

/** Returns the rights without repetitions. */
export function distinctRights(rights: readonly AccessRight[]): AccessRight[] {
  return [...new Map(rights.map((right) => [rightsText([right]), right])).values()];
}

/** Returns rights as text: `list, watch pods in "shop"; create events in all namespaces`. */
export function rightsText(rights: readonly AccessRight[]): string {
  const targets = Map.groupBy(rights, (right) => {
    const { resource, name, subresource } = right;
    const [where, place] = [resource.scope === "Cluster" ? "" : " in all namespaces", placeOf(right)];
    const what = `${resourceName(resource)}${subresource ? `/${subresource}` : ""}${name ? ` "${name}"` : ""}`;
    return `${what}${place === "" ? where : ` in "${place}"`}`;
  });
  return Array.from(targets, ([target, same]) => `${same.map(({ verb }) => verb).join(", ")} ${target}`).join("; ");
}
