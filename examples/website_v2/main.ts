// main.ts: runs the controller with leader election, probes and metrics. webhook_server.ts is another program.
import { connect, runManager } from "@kube/informer/connect";
import { EventRecorder, LeaderElector, Manager } from "@kube/informer/reconcile";
import { controller, NAME } from "./controller.ts";

using client = await connect(); // with the kubeconfig; in a pod with its service account
const events = new EventRecorder(client, { controller: NAME });
await using manager = new Manager({
  reconcilers: [controller(client, events)],
  elector: new LeaderElector(client, { name: NAME }), // the Lease of the first release: only one of both works
  recorders: [events],
});
await runManager(manager);
