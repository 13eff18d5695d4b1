// Runs a Deployment for each CronTab, keeps its schedule outside of the cluster (in a Map here), and reports.
//   deno run -A examples/crontab_controller.ts
import { type Client, defineResource, type KubernetesObject, type Resource } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import * as kube from "@kube/informer/reconcile";

export interface CronTab extends KubernetesObject {
  readonly spec: { readonly schedule: string; readonly image: string; readonly replicas: number };
  readonly status?: { readonly replicas?: number; readonly conditions?: readonly kube.Condition[] };
}
const NAME = { group: "stable.example.com", version: "v1", plural: "crontabs", kind: "CronTab" };
const MANAGER = "crontabs"; // the owner of the fields that are applied
export const CronTab: Resource<CronTab> = defineResource<CronTab>(NAME);

export function cronTabs(client: Client, schedules: Map<string, string>): kube.Reconciler<CronTab> {
  const tabs: kube.Reconciler<CronTab> = new kube.Reconciler(client, CronTab, async (context) => {
    const { key } = context;
    const { object, client, signal } = context;
    const guard = { finalizer: "stable.example.com/schedule", cleanup: () => void schedules.delete(key) };
    const tab = object && await kube.finalize(client.resource(CronTab), object, guard);
    if (tab === undefined) return signal.aborted ? undefined : guard.cleanup(); // a stale cache may have led to one
    const { metadata: { namespace, name }, spec: { schedule, image, replicas } } = tab;
    schedules.set(key, schedule);
    const template = { metadata: { labels: { crontab: name } }, spec: { containers: [{ name, image }] } };
    const spec = { replicas, selector: { matchLabels: template.metadata.labels }, template };
    const draft = kube.withController({ metadata: { namespace, name }, spec }, tab);
    const deployments = client.resource(Deployment, { namespace });
    const { object: made } = await deployments.applyIfChanged(draft, { fieldManager: MANAGER, force: true });
    const ready = made.status?.readyReplicas ?? 0;
    const condition = { type: "Ready", status: ready === replicas ? "True" : "False", reason: "Replicas" } as const;
    const status = { replicas: ready, conditions: kube.setCondition(tab.status?.conditions, condition) };
    await kube.writeStatus(client.resource(CronTab), tab, status);
    if (import.meta.main) console.log(`${key}: "${schedule}", ${ready} of ${replicas} replicas are ready`);
  }).owns(Deployment, { informer: { managedFields: { manager: MANAGER } } });
  for (const key of schedules.keys()) tabs.enqueue(key); // a process may have crashed before it saw a deletion
  return tabs;
}

if (import.meta.main) {
  using stop = shutdownSignal();
  using client = await connect();
  await cronTabs(client, new Map()).run({ signal: stop });
}
