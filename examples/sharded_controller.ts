// Reconciles the config maps that are labelled sharded=yes, in any number of processes, which divide them by Leases: it
// says which, each time. A process that is killed is replaced by the others after LEASE_SECONDS, 15 if not set.
//   deno run -A examples/sharded_controller.ts --kubeconfig FILE
import { connect, shutdownSignal } from "@kube/informer/connect";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Manager, Reconciler, ShardGroup } from "@kube/informer/reconcile";
import process from "node:process";

using signal = shutdownSignal();
const [flag, kubeconfig] = process.argv.slice(2);
if (flag !== undefined && (flag !== "--kubeconfig" || kubeconfig === undefined)) {
  console.error(`Cannot read the arguments: expected --kubeconfig FILE, found ${process.argv.slice(2).join(" ")}`);
  process.exit(2);
}
using client = await connect({ kubeconfig });
const leaseMs = Number(process.env.LEASE_SECONDS ?? 15) * 1_000;
const shards = new ShardGroup(client, {
  name: "sharded-controller", // the Leases are in the namespace of the client
  ...{ leaseMs, renewDeadlineMs: leaseMs * 2 / 3, renewMs: leaseMs / 3 },
});
const maps = new Reconciler(client, ConfigMap, ({ key, object }) => {
  if (object !== undefined) console.log(`reconciled ${key}`);
}, { shards, informer: { labelSelector: "sharded=yes" } });
await using manager = new Manager({ reconcilers: [maps], shards });
await manager.run({ signal });
