// controller.ts: runs a Deployment for each Website, and reports the state of its pods in the status.
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
import { Website } from "./kinds.ts";

/** The name of the lease, the event reporter and the field manager. */
export const NAME = "website-controller";

export function controller(client: Client, events: EventRecorder): Reconciler<Website> {
  return new Reconciler(client, Website, async ({ object, client, signal }) => {
    // When the object is deleted, Kubernetes deletes the Deployment too, because of its owner reference.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const { metadata: { name, namespace, generation }, spec: { image, replicas = 1 }, status } = object;
    const labels = { "app.kubernetes.io/instance": name, "app.kubernetes.io/managed-by": NAME };
    // Server-side apply sets these fields and leaves all others alone. If the cache shows that nothing would change,
    // nothing is sent.
    const { object: made } = await client.resource(Deployment, { namespace }).applyIfChanged(
      withController({
        metadata: { name, namespace, labels },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "main", image }] } },
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
