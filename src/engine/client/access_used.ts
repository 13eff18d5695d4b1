/**
 * The access that a client's requests need, so that a program gets only the rights that it uses.
 *
 * {@linkcode accessUsed} is the entry point. A connection records each request in its client's {@linkcode AccessLog}.
 * Whether the server allows a request plays no part.
 *
 * @module
 */
import type { Impersonation } from "../api/impersonation.ts";
import { parseResourcePath, type ResourcePlace, verbOf } from "../api/resource.ts";
import type { PlacedRule } from "../api/roles.ts";
import { ArgumentError } from "../errors/checks.ts";
import type { RequestSpec } from "./http/connection.ts";
import type { ResourceClients } from "./resource_client.ts";

const LOGS = new WeakMap<ResourceClients, AccessLog>();

/** Returns a client's log. The first call creates it. */
export function accessLogOf(client: ResourceClients): AccessLog {
  const log = LOGS.get(client) ?? new AccessLog();
  LOGS.set(client, log);
  return log;
}

/**
 * Returns the RBAC rules that a client's requests have needed so far, whether or not the server allowed them. Call it
 * after a trial run to grant your program only the rights that it uses. `rolesYaml()` prints the rules as roles.
 *
 * - There is one rule for each verb, resource and namespace.
 * - All requests count: your calls, and the requests from informers, reconcilers, electors and recorders that use the
 *   client.
 * - `names` has up to 16 object names. With more names, or after a request for a collection, the rule covers all
 *   objects.
 * - A server-side apply also adds `create`, because the server requires it if the object does not exist.
 * - Discovery, paths such as `/version`, and reviews of the client's own rights add no rule: the ClusterRoles
 *   `system:discovery` and `system:basic-user` grant them to every user.
 *
 * @throws {TypeError} if `client` is not a {@linkcode Client}. The client that a reconcile receives has no rules: its
 * requests count for the reconciler's client, so pass that one.
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
  throw new ArgumentError(
    "Cannot list the access that was used: the argument is not a Client. Pass the client that made the requests",
  );
}

const NO_PARAMETERS = new URLSearchParams();

/** The number of names that are remembered for one verb, resource and namespace. */
const MAX_NAMES = 16;

/**
 * Remembers the access that requests need. The API server derives it in the same way from method and path
 * (`RequestInfo`).
 */
export class AccessLog {
  /** The names by verb and place, as JSON. `undefined` means all names. */
  readonly #names = new Map<string, Set<string> | undefined>();

  /** Records a request. It skips discovery, paths outside `/api` and `/apis`, and own reviews: they need no rule. */
  record({ path, init, place = placeIn(path.split("?", 1)[0]) }: RequestSpec): void {
    if (place === undefined || place.plural.startsWith("selfsubject")) return;
    const method = init.method?.toUpperCase() ?? "GET";
    // The queries of writes say nothing about access; parsing them would cost half of the record.
    const parameters = method === "GET" ? new URLSearchParams(path.split("?", 2)[1]) : NO_PARAMETERS;
    const verb = verbOf(method, place, parameters);
    this.#add(verb, place, place.name ?? (verb === "list" || verb === "watch" ? selectedName(parameters) : undefined));
    // The server asks for this right, too, when the object does not exist.
    if (verb === "patch" && isApply(init.headers)) this.#add("create", place, place.name);
  }

  /** Records an impersonation. The server checks each member separately. */
  impersonate({ user, uid, groups = [], extra = {} }: Impersonation): void {
    const add = (plural: string, name: string, group = "", namespace = ""): void =>
      this.#add("impersonate", { group, version: "v1", namespace, plural, name, subresource: undefined }, name);
    const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
    if (account === undefined) add("users", user);
    else add("serviceaccounts", account, "", namespace);
    for (const name of groups) add("groups", name);
    if (uid !== undefined) add("uids", uid, "authentication.k8s.io");
    for (const [key, values] of Object.entries(extra)) {
      for (const value of values) add(`userextras/${key.toLowerCase()}`, value, "authentication.k8s.io");
    }
  }

  /** Returns the rules, by namespace, group, resource and verb. */
  rules(): PlacedRule[] {
    return Array.from(this.#names, ([key, names]): PlacedRule => {
      const [namespace, group, resource, verb] = JSON.parse(key) as string[];
      const rule = { verbs: [verb], groups: [group], resources: [resource], namespace };
      return names === undefined ? rule : { ...rule, names: [...names].sort() };
    });
  }

  #add(verb: string, { namespace, group, plural, subresource }: ResourcePlace, name: string | undefined): void {
    const resource = subresource === undefined ? plural : `${plural}/${subresource.split("/", 1)[0]}`;
    const key = JSON.stringify([namespace, group, resource, verb]);
    if (name === undefined) return void this.#names.set(key, undefined);
    const names = this.#names.has(key) ? this.#names.get(key) : new Set<string>();
    if (names === undefined) return;
    names.add(name);
    this.#names.set(key, names.size > MAX_NAMES ? undefined : names);
  }
}

/** Returns the name that a selector selects. A rule with names allows a list or watch that selects exactly one name. */
export function selectedName(parameters: URLSearchParams): string | undefined {
  return /(?:^|,)metadata\.name={1,2}([^,=]+)(?:,|$)/.exec(parameters.get("fieldSelector") ?? "")?.[1];
}

function placeIn(pathname: string): ResourcePlace | undefined {
  try {
    return parseResourcePath(pathname);
  } catch {
    return undefined; // the server refuses the path
  }
}

function isApply(headers: HeadersInit | undefined): boolean {
  // This client passes plain objects. To copy them as `Headers` would cost more than the rest of the record.
  const own = (headers as Readonly<Record<string, string>> | undefined)?.["content-type"];
  const type = typeof own === "string" ? own : new Headers(headers).get("content-type");
  return type?.startsWith("application/apply-patch") ?? false;
}
