// main.ts: runs the controller with leader election, probes and metrics. webhook_server.ts is another program.
import type { Client } from "@kube/informer";
import { connect, runManager } from "@kube/informer/connect";
import { EventRecorder, LeaderElector, Manager } from "@kube/informer/reconcile";
import { controller, NAME } from "./controller.ts";

/** All parts of the program, also for `informer plan`. */
export function manager(client: Client): Manager {
  const events = new EventRecorder(client, { controller: NAME });
  return new Manager({
    reconcilers: [controller(client, events)],
    elector: new LeaderElector(client, { name: NAME }), // the Lease of the first release: only one of both works
    recorders: [events],
  });
}

if (import.meta.main) {
  using client = await connect(); // with the kubeconfig; in a pod with its service account
  await using parts = manager(client);
  await runManager(parts);
}
