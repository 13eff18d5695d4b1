// main.ts: runs the controller with leader election, probes, metrics and webhooks.
import type { Client } from "@kube/informer";
import { connect, runManager } from "@kube/informer/connect";
import { EventRecorder, LeaderElector, Manager, type ManagerPhase } from "@kube/informer/reconcile";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { controller, NAME } from "./controller.ts";
import { install, webhooks } from "./webhooks.ts";

/** The folder of the certificate, which cert-manager writes: see webhooks.yaml. Without it, no webhooks are served. */
const TLS = "/tls";

/** All parts of the program. */
export function manager(client: Client, onPhase?: (phase: ManagerPhase) => void): Manager {
  const events = new EventRecorder(client, { controller: NAME });
  return new Manager({
    reconcilers: [controller(client, events)],
    elector: new LeaderElector(client, { name: NAME }), // a Lease in the client's namespace
    recorders: [events],
    onPhase,
  });
}

if (import.meta.main) {
  using client = await connect(); // with the kubeconfig; in a pod with its service account
  await using parts = manager(client, (phase) => console.log(phase));
  const isServing = existsSync(TLS);
  if (!isServing) console.log(`no webhooks: ${TLS} is missing`);
  const certificate = { certFile: `${TLS}/tls.crt`, keyFile: `${TLS}/tls.key` };
  const listening = Promise.withResolvers<void>();
  const running = runManager(parts, {
    port: Number(process.argv[2] ?? 8080),
    onListen: (port) => console.log(`probes: http://127.0.0.1:${port}/readyz`),
    webhooks: isServing ? { handler: webhooks, certificate, onListen: () => listening.resolve() } : undefined,
  });
  if (isServing) {
    await Promise.race([listening.promise, running]);
    await install(client, readFileSync(`${TLS}/ca.crt`, "utf8"));
  }
  await running;
}
