// Labels each pod of its own namespace with its node. One of several processes does the work; all of them answer
// probes.
import { connectInCluster, runManager } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";
import { EventRecorder, LeaderElector, Manager, Reconciler } from "@kube/informer/reconcile";
import process from "node:process";

const LABEL = "example.com/node";
using client = await connectInCluster();
const { namespace } = client;
const recorder = new EventRecorder(client, { controller: "pod-labels", onError: (error) => console.error(error) });
const pods = new Reconciler(client, Pod, async ({ key, object: pod, client }) => {
  const node = pod?.spec?.nodeName;
  if (pod === undefined || node === undefined || pod.metadata.labels?.[LABEL] === node) return;
  const body = { metadata: { labels: { [LABEL]: node } } };
  await client.resource(Pod, { namespace }).patch(pod.metadata.name, { type: "merge", body });
  recorder.record(pod, { reason: "Labelled", action: "Label", note: `The pod has the label ${LABEL}=${node} now.` });
  console.log(`labelled ${key} with ${node}`);
}, { informer: { namespace }, onError: (error, key) => console.error(key, error) });
const manager = new Manager({
  reconcilers: [pods],
  elector: new LeaderElector(client, { name: "pod-labels", identity: process.env.POD_NAME }),
  recorders: [recorder],
  onPhase: (phase) => console.log(phase),
});
await runManager(manager, { port: 8080 });
