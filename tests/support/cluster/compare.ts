import {
  type Client,
  keyOf,
  type KubernetesObject,
  type Resource,
  type Selection,
  type SharedIndexInformer,
} from "@kube/informer";
import { assertEquals, equal } from "@std/assert";

/** The differences between two collections: one line for each key, at most 20. */
export function differences(
  found: Iterable<KubernetesObject>,
  expected: Iterable<KubernetesObject>,
): readonly string[] {
  const left = new Map([...expected].map((object) => [keyOf(object), object]));
  const lines: string[] = [];
  for (const object of found) {
    const key = keyOf(object);
    const other = left.get(key);
    left.delete(key);
    if (other === undefined) lines.push(`"${key}" is cached and not on the server`);
    else if (!equal(object, other)) {
      const versions = [object, other].map(({ metadata }) => metadata.resourceVersion);
      lines.push(`"${key}" is cached at version ${versions[0]} and on the server at ${versions[1]}, or differs inside`);
    }
  }
  for (const key of left.keys()) lines.push(`"${key}" is on the server and not cached`);
  return lines.slice(0, 20);
}

/** Lists the objects of the server in pages, without managedFields. */
export async function onServer<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  selection: Selection = {},
): Promise<T[]> {
  const found: T[] = [];
  for await (const { items } of client.resource(resource, selection).pages({ managedFields: "drop" })) {
    found.push(...items);
  }
  return found;
}

/** Fails unless the cache holds what the server has, object by object. Nobody may write meanwhile. */
export async function assertEqualToServer<T extends KubernetesObject>(
  informer: SharedIndexInformer<T, string>,
  client: Client,
  resource: Resource<T>,
  selection: Selection = {},
): Promise<void> {
  const expected = await onServer(client, resource, selection);
  assertEquals(differences(informer.indexer.list(), expected), []);
  assertEquals(informer.indexer.size, expected.length);
}
