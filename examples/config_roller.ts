// Runs as many pods for each ConfigMap as its label example.com/pods says, and replaces them one at a time when its
// data changes.
//   deno run -A examples/config_roller.ts
import { type Client, isNotFound, retry } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { controllerOf, Reconciler, withController } from "@kube/informer/reconcile";

const PODS = "example.com/pods";
const CONFIG = "example.com/config";

export function configRoller(client: Client): Reconciler<ConfigMap> {
  const reconciler = new Reconciler(client, ConfigMap, async ({ object: map, client }) => {
    if (map === undefined || map.metadata.deletionTimestamp !== undefined) return; // the pods are garbage
    const { name, namespace, labels, uid } = map.metadata;
    const wanted = Array.from({ length: Number(labels?.[PODS] ?? 0) }, (_, index) => `${name}-${index}`);
    const config = JSON.stringify(Object.entries(map.data ?? {}).sort());
    const own = pods.namespace(namespace!).list().filter((pod) => controllerOf(pod)?.uid === uid);
    const clients = client.resource(Pod, { namespace });
    const remove = async ({ metadata }: Pod): Promise<void> => {
      if (metadata.deletionTimestamp !== undefined) return;
      await clients.delete(metadata.name, { preconditions: { uid: metadata.uid } }).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
      if (import.meta.main) console.log(`deleted ${namespace}/${metadata.name}`);
    };
    for (const pod of own) if (!wanted.includes(pod.metadata.name)) await remove(pod);
    const missing = wanted.filter((name) => !own.some(({ metadata }) => metadata.name === name));
    for (const name of missing) {
      if (pods.namespace(namespace!).get(name) !== undefined) return retry(); // it belongs to another owner, or did
      const spec = { containers: [{ name: "main", image: map.data?.image ?? "pause" }] };
      await clients.create(
        withController({ metadata: { name, namespace, annotations: { [CONFIG]: config } }, spec }, map),
      );
      if (import.meta.main) console.log(`created ${namespace}/${name}`);
    }
    const old = own.find(({ metadata }) => wanted.includes(metadata.name) && metadata.annotations?.[CONFIG] !== config);
    if (missing.length === 0 && old !== undefined) await remove(old); // the next one when this one is replaced
  }).owns(Pod);
  const pods = reconciler.informers.forResource(Pod).lister;
  return reconciler;
}

if (import.meta.main) {
  using signal = shutdownSignal();
  using client = await connect();
  await using roller = configRoller(client);
  await roller.run({ signal });
}
