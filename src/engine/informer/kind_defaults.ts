/**
 * Defaults for the informers of single kinds.
 *
 * {@linkcode defaultsFor} is the entry point. A factory finds a kind's defaults in its {@linkcode DefaultsByKind}. The
 * defaults of all kinds are the factory's own options.
 *
 * @module
 */
import { defined } from "../api/json.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type ApiResource, type Resource, resourceName } from "../api/resource.ts";
import { ArgumentError } from "../errors/checks.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import { CacheScope } from "./cache/cache_scope.ts";
import { type AnyOptions, type DefaultOptions, type KindDefaults, PLACED_OPTIONS } from "./options.ts";

/** The options of one call only. */
const OWN = ["cluster", "deliverUnchanged", "fields", "indexers", "secretData", "shard"];
const NAMES = Object.keys(PLACED_OPTIONS).filter((name) => !OWN.includes(name));

/**
 * Returns defaults for one kind's informers, for a factory's option `defaults`. Your functions receive the objects with
 * the kind's type.
 *
 * - They apply to every informer of the kind in that factory, also if it caches metadata or selected fields.
 * - `transform` is for objects in the form that `resource` says. An informer that caches another version or form of the
 *   kind throws, unless it has its own `transform`.
 * - There is no `fields`, because `forResource(Pod)` could not know the type. Declare the kind once instead:
 *   `const SlimPod = onlyFields(Pod, ["spec.nodeName"])`.
 *
 * @throws {TypeError} if an option does not exist, or a cluster-scoped kind has namespaces. A factory's own namespaces
 * do not apply to such kinds.
 *
 * @example
 * ```ts
 * import { Client, defaultsFor, SharedInformerFactory } from "@kube/informer";
 * import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client, {
 *   namespaces: ["shop", "data"],
 *   defaults: [defaultsFor(Pod, { labelSelector: "app=web" })],
 * });
 * informers.forResource(Pod); // app=web in both namespaces
 * informers.forResource(ConfigMap, { namespace: "bank" });
 * ```
 */
export function defaultsFor<T extends KubernetesObject>(
  resource: Resource<T> | ApiResource,
  options: DefaultOptions<T>,
): KindDefaults {
  const action = `set defaults for "${resourceName(resource)}"`;
  checkNames(action, options, NAMES, "Set it in forResource()");
  if (resource.scope === "Cluster" && (options.namespace ?? options.namespaces) !== undefined) {
    throw new ArgumentError(`Cannot ${action}: the kind is cluster-scoped, but has namespaces. Leave them out`);
  }
  return { [internals]: { resource: resource as Resource, options: options as AnyOptions } };
}

/** A factory's defaults by kind. */
export class DefaultsByKind {
  readonly #kinds = new Map<string, KindDefaults[typeof internals]>();

  /** @throws {TypeError} if a kind comes twice. */
  constructor(defaults: readonly KindDefaults[]) {
    const names = defaults.map(({ [internals]: { resource } }) => resourceName(resource));
    for (const [at, name] of names.entries()) {
      const both = `defaults[${names.indexOf(name)}] and defaults[${at}] are for "${name}"`;
      if (this.#kinds.has(name)) throw new ArgumentError(`Cannot create a factory: ${both}. Join them`);
      this.#kinds.set(name, defaults[at][internals]);
    }
  }

  /** Returns an informer's options over the defaults for its kind. */
  under(resource: Resource, own: AnyOptions): AnyOptions {
    const { namespace, namespaces, ...rest } = this.#kinds.get(resourceName(resource))?.options ?? {};
    const isPlaced = (own.namespace ?? own.namespaces) !== undefined;
    return { ...rest, ...(isPlaced ? {} : defined({ namespace, namespaces })), ...defined(own) };
  }

  /** @throws {TypeError} if the kind's transform does not fit the form of an informer's objects. */
  checkForm({ resource, secretData }: CacheScope<Resource>, { transform }: AnyOptions): void {
    const kind = this.#kinds.get(resourceName(resource));
    if (transform === undefined || kind?.options.transform !== transform) return;
    const { name: asked } = new CacheScope(resource, [{}], { secretData });
    const { name: known } = new CacheScope(kind.resource, [{}]);
    if (asked === known) return;
    const why = `the transform in its defaults is for "${known}"`;
    throw new ArgumentError(`Cannot create an informer of "${asked}": ${why}. Pass a transform to forResource()`);
  }
}
