// Gives each pod the label example.com/team of its namespace, and takes it away with it.
//   deno run -A examples/namespace_labels.ts
import type { Client } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { labelsChanged, Reconciler } from "@kube/informer/reconcile";

const TEAM = "example.com/team";

export function namespaceLabels(client: Client): Reconciler<Pod> {
  const reconciler = new Reconciler(client, Pod, async ({ key, object: pod, client }) => {
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    const { name, namespace, labels, resourceVersion } = pod.metadata;
    const team = namespaces.get(namespace!)?.metadata.labels?.[TEAM];
    if (labels?.[TEAM] === team) return;
    const body = { metadata: { resourceVersion, labels: { [TEAM]: team ?? null } } };
    await client.resource(Pod, { namespace }).patch(name, { type: "merge", body });
    if (import.meta.main) console.log(`${key}: ${team === undefined ? "no team" : `team ${team}`}`);
  }, { concurrency: 4 }); // without labelsChanged: a change by hand may undo a patch before its event is seen
  const pods = reconciler.informers.forResource(Pod).indexer;
  const namespaces = reconciler.informers.forResource(Namespace).lister;
  return reconciler.watches(Namespace, ({ name }) => {
    return [...pods.keys()].filter((key) => key.startsWith(`${name}/`));
  }, { when: labelsChanged });
}

if (import.meta.main) {
  using signal = shutdownSignal();
  using client = await connect();
  await using labels = namespaceLabels(client);
  await labels.run({ signal });
}
