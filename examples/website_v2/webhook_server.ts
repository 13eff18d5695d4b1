// webhook_server.ts: serves the conversion, in a Deployment of its own that goes on when the controller is rolled back.
import { runManager } from "@kube/informer/connect";
import { Manager } from "@kube/informer/reconcile";
import { webhooks } from "./webhooks.ts";

// It asks the API server nothing, so it has no client and needs no rights. The manager answers the probes.
await using manager = new Manager({});
await runManager(manager, {
  webhooks: { handler: webhooks, certificate: { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" } },
});
