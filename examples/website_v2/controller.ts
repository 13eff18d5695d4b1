// controller.ts: runs a Deployment for each Website, as the first release does, from the fields of v2.
import type { Client } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { readiness } from "@kube/informer/readiness";
import {
  type EventRecorder,
  findCondition,
  Reconciler,
  setCondition,
  withController,
  writeStatus,
} from "@kube/informer/reconcile";
import { NAME } from "../website/controller.ts"; // with another field manager, fields of the first release would stay
import { Website } from "./kinds.ts";

export { NAME };
export function controller(client: Client, events: EventRecorder): Reconciler<Website> {
  return new Reconciler(client, Website, async ({ object, client, signal }) => {
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const { metadata: { name, namespace, generation }, spec: { container, replicas = 1 }, status } = object;
    const { image, port } = container;
    const ports = port === undefined ? undefined : [{ containerPort: port, protocol: "TCP" as const }];
    // The first release has the same labels, because nobody can change the selector of a Deployment.
    const labels = { "app.kubernetes.io/instance": name, "app.kubernetes.io/managed-by": NAME };
    const { object: made } = await client.resource(Deployment, { namespace }).applyIfChanged(
      withController({
        metadata: { name, namespace, labels },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "main", image, ports }] } },
        },
      }, object),
      { fieldManager: NAME, force: true, signal },
    );

    const { state, reason, message } = readiness(made);
    const conditions = setCondition(status?.conditions, {
      type: "Ready",
      status: state === "ready" ? "True" : "False",
      reason,
      message,
      observedGeneration: generation,
    });
    const next = { ...status, readyReplicas: made.status?.readyReplicas ?? 0, conditions };
    await writeStatus(client.resource(Website), object, next, { signal });

    if (state === "progressing" || findCondition(status?.conditions, "Ready")?.reason === reason) return;
    const type = state === "failed" ? "Warning" : "Normal";
    events.record(object, { type, reason, action: "Deploy", note: message, related: made });
  }).owns(Deployment, { informer: { managedFields: { manager: NAME } } });
}
