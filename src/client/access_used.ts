import type { PlacedRule } from "../api/access_rule.ts";
import { AccessLog } from "./http/access_log.ts";
import type { ResourceClients } from "./resource_client.ts";

const LOGS = new WeakMap<ResourceClients, AccessLog>();

/** Returns the log of a client, and creates it at the first call. */
export function accessLogOf(client: ResourceClients): AccessLog {
  const log = LOGS.get(client) ?? new AccessLog();
  LOGS.set(client, log);
  return log;
}

/**
 * Returns the rights that the requests of a client have needed so far, whatever the server answered: a rule for each verb on each
 * resource of each namespace. `rolesYaml()` and `roleYaml()` print them.
 *
 * - Requests are those of `resource()` and `fetch()`, and of informers, reconcilers, electors and recorders on the client.
 * - `names` has the names of the objects, up to 16; with more, and for a request about a collection, the rule is about all.
 * - A server-side apply needs `create`, too, where the object does not exist.
 * - Discovery and paths such as `/version` have no rule: the ClusterRole `system:discovery` grants them to every user.
 *
 * @throws {TypeError} when `client` is not a `Client`: the clients of reconciles record in that of their reconciler.
 *
 * @example
 * ```ts
 * import { accessUsed, Client, rolesYaml } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await client.resource(ConfigMap, { namespace: "shop" }).list();
 * assertEquals(
 *   rolesYaml(accessUsed(client), { name: "shop-reader" }),
 *   `apiVersion: rbac.authorization.k8s.io/v1
 * kind: Role
 * metadata:
 *   name: "shop-reader"
 *   namespace: "shop"
 * rules:
 * - apiGroups: [""]
 *   resources: ["configmaps"]
 *   verbs: ["list"]
 * `,
 * );
 * ```
 */
export function accessUsed(client: ResourceClients): PlacedRule[] {
  const log = LOGS.get(client);
  if (log !== undefined) return log.rules();
  throw new TypeError(
    "Cannot list the access that was used: the argument is not a Client; pass the one that was created",
  );
}
