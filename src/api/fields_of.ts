import { FieldTree, MANAGED_FIELDS, namesManagedFields } from "./field_tree.ts";
import type { KubernetesObject } from "./object.ts";
import type { FieldPaths, Picked } from "./picked.ts";
import { type Resource, resourceName } from "./resource.ts";

/**
 * Returns the same resource with objects reduced to the fields at these paths, and to those that identify them. The rest is
 * skipped as the bytes arrive, and never parsed, so an informer of it needs a fraction of the memory.
 *
 * - A path passes through arrays: `"spec.containers.image"` keeps the image of each container. A key with other characters than
 *   letters, digits, `_`, `-` and `$` is written in brackets: `metadata.annotations["example.com/owner"]`.
 * - Always kept: apiVersion, kind, and of the metadata name, namespace, uid, resourceVersion, generation, creationTimestamp,
 *   deletionTimestamp and ownerReferences.
 * - The compiler checks that each path leads to a field of `T`. Paths that are not known until run time (`string[]`) give a type
 *   whose members are optional.
 * - The objects cannot be written back: see {@linkcode Picked}.
 *
 * @throws {SyntaxError} when one of them is no path.
 * @throws {TypeError} when `fields` is not an array of strings, or the resource is of metadata or of tables.
 *
 * @example
 * ```ts
 * import { Client, fieldsOf, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(fieldsOf(Pod, ["spec.nodeName", "status.phase"])));
 * pods.run();
 * await pods.waitForCacheSync();
 * assertEquals(pods.lister.get("shop/cart-0")?.spec.nodeName, "worker-1");
 * ```
 */
export function fieldsOf<T extends KubernetesObject, const P extends readonly string[]>(
  resource: Resource<T>,
  fields: P & FieldPaths<T, P>,
): Resource<Picked<T, P>> {
  const { representation = "object", $type: _type, ...rest } = resource;
  if (representation !== "object") {
    throw new TypeError(
      `Cannot reduce "${
        resourceName(resource)
      }" to fields: the resource is of the representation "${representation}"; ` +
        `use the resource itself`,
    );
  }
  const paths: unknown = fields;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    throw new TypeError(
      `Cannot reduce "${resourceName(resource)}" to fields: found ${
        JSON.stringify(fields)
      }, expected an array of paths`,
    );
  }
  const kept = FieldTree.of(paths).paths;
  // Metadata is kept without its managed fields where no path names them.
  const isAbsorbed = namesManagedFields(paths) && !namesManagedFields(kept);
  return Object.freeze({ ...rest, fields: Object.freeze(isAbsorbed ? [...kept, MANAGED_FIELDS].sort() : kept) });
}
