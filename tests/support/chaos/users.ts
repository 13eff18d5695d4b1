import type { KubernetesObject, Resource } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import type { FakeApiServer, Fixture } from "@kube/informer/testing";
import type { Random } from "@kube/informer/testing/chaos";

/** A change that users make, in any world. */
type Change = (server: FakeApiServer, random: Random) => string | void;

/** The names of the objects that users write. */
export const NAMES = ["a", "b"];

/** Users create, delete and recreate objects of a kind, of `names`. `draft` makes the object, without its name. */
export function writes<T extends KubernetesObject>(
  resource: Resource<T>,
  draft: (random: Random, again: boolean) => { readonly [member: string]: unknown; readonly metadata?: object },
  names: readonly string[] = NAMES,
): Readonly<Record<"create" | "delete" | "recreate", Change>> {
  const create = (server: FakeApiServer, name: string, random: Random, again: boolean): string => {
    if (server.get(resource, name) !== undefined) return `${name} exists`;
    const { metadata, ...rest } = draft(random, again);
    server.create(resource, { ...rest, metadata: { ...metadata, name } } as unknown as Fixture<T>);
    return name;
  };
  const remove = (server: FakeApiServer, name: string): string => {
    if (server.get(resource, name) !== undefined) server.delete(resource, name);
    return name;
  };
  return {
    create: (server, random) => create(server, random.pick(names), random, false),
    delete: (server, random) => remove(server, random.pick(names)),
    recreate: (server, random) => create(server, remove(server, random.pick(names)), random, true),
  };
}

/** Users patch one of the objects of a kind. */
export function patches<T extends KubernetesObject>(
  resource: Resource<T>,
  patchOf: (random: Random, object: T) => unknown,
  names: readonly string[] = NAMES,
): Change {
  return (server, random) => {
    const name = random.pick(names);
    const object = server.get(resource, name);
    if (object === undefined) return `${name} does not exist`;
    const patch = patchOf(random, object as T);
    server.patch(resource, name, patch);
    return `${name} ${JSON.stringify(patch)}`;
  };
}

/** Somebody acts on an object of a kind, if there is one. */
export function meddles<T extends KubernetesObject>(
  resource: Resource<T>,
  act: (server: FakeApiServer, key: string) => void,
): Change {
  return (server, random) => {
    const keys = server.keys(resource);
    if (keys.length > 0) act(server, random.pick(keys));
  };
}

/** Somebody deletes an object of a kind, if there is one. */
export const deletes = <T extends KubernetesObject>(resource: Resource<T>): Change =>
  meddles(resource, (server, key) => void server.delete(resource, key));

/** An invariant: no owner has more than three pods. */
export function atMostThreePods(server: FakeApiServer): boolean {
  const owners = server.list(Pod).map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
  return owners.every((owner) => owners.filter((other) => other === owner).length <= 3);
}
