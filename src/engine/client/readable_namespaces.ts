/**
 * Finds the namespaces that a client may read, with access reviews.
 *
 * {@linkcode readableNamespaces} is the entry point. It remembers nothing. An informer that follows such namespaces
 * asks again.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import { defineResource, onlyMetadata, type Resource } from "../api/resource.ts";
import { isForbidden } from "../api/status.ts";
import { checkNames } from "../errors/option_names.ts";
import { KeptReviews, missingRights, rightsTo } from "./access_reviews.ts";
import type { ResourceClients } from "./resource_client.ts";

const NAMESPACES = defineResource({ version: "v1", plural: "namespaces", kind: "Namespace", scope: "Cluster" });

/** The verbs that are needed, which spaces separate. @default {"list watch"} */
type ReadOptions = Abortable & { readonly verbs?: "list" | "list watch" };

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
  checkNames("find readable namespaces", options, "signal");
  return await namespacesWith(client, resources, options);
}

/**
 * Returns `undefined` if the client may use `verbs` on all `resources` in all namespaces at once. Otherwise it returns
 * the namespaces in which the client may, like {@linkcode readableNamespaces}. The result may be empty.
 *
 * It sends one SelfSubjectAccessReview for each verb and resource.
 *
 * @throws the same errors as {@linkcode readableNamespaces}.
 */
export async function readablePart(
  client: ResourceClients,
  resources: readonly Resource[],
  options: ReadOptions = {},
): Promise<readonly string[] | undefined> {
  const all = await readableOf([""], client, resources, options);
  return all.length > 0 ? undefined : await namespacesWith(client, resources, options);
}

async function namespacesWith(
  client: ResourceClients,
  resources: readonly Resource[],
  options: ReadOptions,
): Promise<string[]> {
  return await readableOf((await namesOf(client, options)).toSorted(), client, resources, options);
}

/** Returns the names of all namespaces. If the client may not list them, it returns the client's namespace. */
async function namesOf(client: ResourceClients, { signal }: Abortable): Promise<readonly string[]> {
  try {
    const names: string[] = [];
    for await (const { items } of client.resource(onlyMetadata(NAMESPACES)).pages({ signal })) {
      names.push(...items.map(({ metadata }) => metadata.name));
    }
    return names;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return [client.namespace || "default"];
  }
}

/** Returns the namespaces in which no right is missing. Answers are not kept. */
async function readableOf(
  namespaces: readonly string[],
  client: ResourceClients,
  resources: readonly Resource[],
  { verbs = "list watch", signal }: ReadOptions,
): Promise<string[]> {
  const rights = resources.flatMap((resource) => rightsTo(verbs, resource, namespaces));
  const missing = await missingRights(client, rights, { signal }, new KeptReviews(client));
  const refused = new Set(missing.map(({ namespace }) => namespace));
  return namespaces.filter((namespace) => !refused.has(namespace));
}
