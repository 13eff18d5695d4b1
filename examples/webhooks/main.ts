// main.ts: runs the controller of Websites, and serves their webhooks in both versions.
import type { Client } from "@kube/informer";
import { connect, runManager } from "@kube/informer/connect";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { Manager, Reconciler, withController } from "@kube/informer/reconcile";
import { Website } from "./kinds.ts";
import { install, webhooks } from "./webhooks.ts";

/** Keeps a ConfigMap for each Website. */
export function controller(client: Client): Reconciler<Website> {
  return new Reconciler(client, Website, async ({ object, client, signal }) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const { metadata: { name, namespace }, spec: { container, replicas = 0 } } = object;
    const data = { image: container.image, replicas: String(replicas) };
    await client.resource(ConfigMap, { namespace })
      .applyIfChanged(withController({ metadata: { name }, data }, object), { fieldManager: "websites", signal });
  }).owns(ConfigMap, { informer: { managedFields: { manager: "websites" } } });
}

if (import.meta.main) {
  using client = await connect();
  const certificate = { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
  const { promise: listening, resolve: onListen } = Promise.withResolvers<unknown>();
  const running = runManager(new Manager({ reconcilers: [controller(client)] }), {
    webhooks: { handler: webhooks, certificate, onListen },
  });
  await Promise.race([listening, running]);
  await install(client);
  await running;
}
