// Prints the events of the ConfigMaps of a namespace from a checkpoint on.
// deno run -A tests/cluster/_checkpoint_reader.ts NAMESPACE FOLDER
import { Checkpoint, type InformerEvent, SharedIndexInformer, type SyncedEvent } from "@kube/informer";
import { connect, FileCheckpoints, shutdownSignal } from "@kube/informer/connect";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { delay } from "@std/async";

const [namespace, folder] = Deno.args;
using signal = shutdownSignal();
using client = await connect();
await using checkpoint = await Checkpoint.open(new FileCheckpoints(folder), { name: "test" });
await using informer = new SharedIndexInformer<ConfigMap>(client.resource(ConfigMap, { namespace }));
informer.addEventHandler({ onAdd: call, onUpdate: call, onDelete: call }, { checkpoint });
await informer.run({ signal });

async function call(event: Exclude<InformerEvent<ConfigMap>, SyncedEvent>): Promise<void> {
  const { key, uid, resourceVersion } = event;
  console.log(JSON.stringify({ type: event.type, key, uid, resourceVersion }));
  await delay(Math.random() * 10); // the time in which it may be killed
}
