import { Client, type KubernetesObject, type Resource, SharedIndexInformer } from "@kube/informer";
import { FakeApiServer } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";

/** Resolves once `holds` of the text of a file that exists, which is called after each change of it. */
export async function untilText(path: string, holds: (text: string) => boolean): Promise<void> {
  const changes = Deno.watchFs(path);
  try {
    if (holds(await Deno.readTextFile(path))) return;
    for await (const _change of changes) if (holds(await Deno.readTextFile(path))) return;
  } finally {
    changes.close();
  }
}

/** The objects of an informer that has followed the replay of a file to its end, by their uids. */
export async function replayed(
  path: string,
  resource: Resource<KubernetesObject>,
  speed: number,
): Promise<KubernetesObject[]> {
  using server = await FakeApiServer.from((await Deno.open(path)).readable);
  using client = new Client({ server: server.url, transport: server });
  await using informer = new SharedIndexInformer<KubernetesObject>(client.resource(resource), {
    managedFields: "keep",
    reflector: { backoff: { initialMs: 1, maxMs: 5 }, reconnectMs: 0 },
    onError: () => {}, // the recorded failures
  });
  informer.run();
  await informer.waitForCacheSync();
  assertEquals((await server.replay({ speed })).cut, undefined);
  server.bookmark();
  await informer.waitForVersion(server.resourceVersion);
  return byUid(informer.lister.list());
}

/** Objects in the order of their uids. */
export function byUid(objects: readonly KubernetesObject[]): KubernetesObject[] {
  return objects.toSorted((a, b) => a.metadata.uid! < b.metadata.uid! ? -1 : 1);
}
