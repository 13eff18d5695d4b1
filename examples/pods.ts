// Follows the pods of one namespace, connected by kubeconfig or, in a pod, by its service account.
//   deno run -A examples/pods.ts [namespace]
import { SharedIndexInformer } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import process from "node:process";

using signal = shutdownSignal();
using client = await connect();
const namespace = process.argv[2] ?? client.namespace;
await using pods = new SharedIndexInformer(client.resource(Pod, { namespace }));

pods.addEventHandler({
  onAdd: ({ name, initial }) => console.log(initial ? "found" : "added", name),
  onUpdate: ({ name, object }) => console.log("updated", name, object.status?.phase ?? ""),
  onDelete: ({ name }) => console.log("deleted", name),
  onSynced: ({ objects }) => console.log(`synced: ${objects} pods in ${namespace}`),
});

await pods.run({ signal });
