/**
 * Finds the namespaces that a client may read, with access reviews.
 *
 * {@linkcode readableNamespaces} is the entry point. It remembers nothing. An informer that follows such namespaces
 * asks again.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { defined } from "../api/json.ts";
import type { KubernetesObject } from "../api/object.ts";
import { defineResource, onlyMetadata, type Resource } from "../api/resource.ts";
import { isForbidden } from "../api/status.ts";
import type { ResourceClients } from "./resource_client.ts";

const NAMESPACES = defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", scope: "Cluster" });
const AUTHORIZATION = { group: "authorization.k8s.io", version: "v1", scope: "Cluster" } as const;
const RULES = defineResource<Review>({
  ...AUTHORIZATION,
  plural: "selfsubjectrulesreviews",
  kind: "SelfSubjectRulesReview",
});
const ACCESS = defineResource<Review>({
  ...AUTHORIZATION,
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
});

/** The answer of both kinds of reviews. */
interface Review extends KubernetesObject {
  readonly spec: object;
  readonly status?: {
    readonly allowed?: boolean;
    readonly incomplete?: boolean;
    readonly resourceRules?: readonly {
      readonly verbs: readonly string[];
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly resourceNames?: readonly string[];
    }[];
  };
}

/** A verb that reads a collection. */
type ReadVerb = "list" | "watch";

/** The verbs that an informer needs. */
const VERBS: readonly ReadVerb[] = ["list", "watch"];
/** The number of namespaces that are reviewed at one time. */
const AT_ONE_TIME = 10;

/**
 * Finds the namespaces in which the client may list and watch all `resources`. Use it if your credentials may not read
 * them in all namespaces at once, and pass the result to an informer's or a factory's `namespaces`. The names are
 * sorted.
 *
 * - It checks every namespace on the server, if the client may list namespaces. Otherwise it checks only the client's
 *   own namespace (or `default`).
 * - It sends one SelfSubjectRulesReview per namespace, ten at a time. If the server cannot name all rules, for example
 *   because a webhook authorizes, it also sends a SelfSubjectAccessReview for each verb and resource.
 *
 * @throws the same errors as `ResourceClient.list()` and `create()`.
 *
 * @example
 * ```ts
 * import { Client, readableNamespaces, SharedInformerFactory } from "@kube/informer";
 * import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, namespace } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer({ authorize: (asked) => asked.resource !== "pods" || asked.namespace === "shop" });
 * for (const name of ["bank", "shop"]) server.create(Namespace, namespace({ name }));
 * using client = new Client({ server: server.url, transport: server });
 * const namespaces = await readableNamespaces(client, [Pod]);
 * assertEquals(namespaces, ["shop"]);
 * await using informers = new SharedInformerFactory(client, { namespaces });
 * ```
 */
export async function readableNamespaces(
  client: ResourceClients,
  resources: readonly Resource[],
  options: Abortable = {},
): Promise<string[]> {
  return await namespacesWith({ client, verbs: VERBS, resources, options });
}

/**
 * Returns `undefined` if the client may use `verbs` on all `resources` in all namespaces at once. Otherwise it returns
 * the namespaces in which the client may, like {@linkcode readableNamespaces}. The result may be empty.
 *
 * It sends one SelfSubjectAccessReview for each verb and resource, until one is refused.
 *
 * @throws the same errors as {@linkcode readableNamespaces}.
 */
export async function readablePart(
  client: ResourceClients,
  resources: readonly Resource[],
  { verbs = VERBS, ...options }: Abortable & { readonly verbs?: readonly ReadVerb[] } = {},
): Promise<readonly string[] | undefined> {
  for (const resource of resources) {
    for (const verb of verbs) {
      if (!await mayRead(client, resource, verb, options)) {
        return await namespacesWith({ client, verbs, resources, options });
      }
    }
  }
  return undefined;
}

/** A question about the rights of a client. */
interface Question {
  readonly client: ResourceClients;
  readonly verbs: readonly ReadVerb[];
  readonly resources: readonly Resource[];
  readonly options: Abortable;
}

async function namespacesWith(question: Question): Promise<string[]> {
  const { client, options } = question;
  const candidates = (await namesOf(client, options)).toSorted();
  const readable: string[] = [];
  for (let at = 0; at < candidates.length; at += AT_ONE_TIME) {
    const some = candidates.slice(at, at + AT_ONE_TIME);
    const answers = await Promise.all(some.map((name) => isReadable(name, question)));
    readable.push(...some.filter((_name, i) => answers[i]));
  }
  return readable;
}

/** Returns the names of all namespaces. If the client may not list them, it returns the client's namespace. */
async function namesOf(client: ResourceClients, options: Abortable): Promise<readonly string[]> {
  try {
    const names: string[] = [];
    for await (const { items } of client.resource(onlyMetadata(NAMESPACES)).pages(options)) {
      names.push(...items.map(({ metadata }) => metadata.name));
    }
    return names;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return [client.namespace || "default"];
  }
}

/** Returns `true` if the client may list or watch a kind, in one namespace or in all namespaces. */
async function mayRead(
  client: ResourceClients,
  { group, version, plural }: Resource,
  verb: ReadVerb,
  { namespace, ...options }: Abortable & { readonly namespace?: string },
): Promise<boolean> {
  const resourceAttributes = { ...defined({ namespace }), verb, group, version, resource: plural };
  return (await review(client, ACCESS, { resourceAttributes }, options)).allowed === true;
}

async function review(
  client: ResourceClients,
  kind: Resource<Review>,
  spec: object,
  options: Abortable,
): Promise<NonNullable<Review["status"]>> {
  const { status = {} } = await client.resource(kind).create({ metadata: {}, spec } as never, options);
  return status;
}

async function isReadable(namespace: string, { client, verbs, resources, options }: Question): Promise<boolean> {
  const { resourceRules = [], incomplete = false } = await review(client, RULES, { namespace }, options);
  const has = (list: readonly string[] | undefined, name: string): boolean =>
    list !== undefined && (list.includes(name) || list.includes("*"));
  for (const resource of resources) {
    const { group, plural } = resource;
    for (const verb of verbs) {
      const isNamed = resourceRules.some((rule) =>
        has(rule.verbs, verb) && has(rule.apiGroups, group) && has(rule.resources, plural) &&
        (rule.resourceNames ?? []).length === 0
      );
      if (isNamed) continue;
      if (!incomplete) return false;
      if (!await mayRead(client, resource, verb, { namespace, ...options })) return false;
    }
  }
  return true;
}
