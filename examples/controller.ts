// The classic controller: handlers put keys into a workqueue, two workers read the lister and act. This one labels
// pods.
//   deno run -A examples/controller.ts
import { isConflict, isNotFound, SharedInformerFactory, WorkQueue } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
await using queue = new WorkQueue();
const pods = informers.forResource(Pod);
pods.addEventHandler({
  onAdd: ({ key }) => queue.add(key),
  onUpdate: ({ key }) => queue.add(key),
  onDelete: ({ key }) => queue.add(key),
});

async function label(key: string): Promise<void> {
  const pod = pods.lister.get(key);
  const { nodeName } = pod?.spec ?? {};
  if (pod === undefined || nodeName === undefined || pod.metadata.labels?.["example.com/node"] === nodeName) return;
  const body = { metadata: { labels: { "example.com/node": nodeName } } };
  await client.resource(Pod).namespace(pod.metadata.namespace).patch(pod.metadata.name, { type: "merge", body });
  console.log(`labelled ${key} with ${nodeName}`);
}

const running = informers.run({ signal });
try {
  await informers.waitForCacheSync({ signal }); // a worker must not take what has not been listed for deleted
  console.log(`synced: ${pods.indexer.size} pods`);
  const onError = (error: unknown, key: string): void => {
    if (!isConflict(error) && !isNotFound(error)) console.error(`cannot label ${key}, will try again`, error);
  };
  await queue.run(label, { concurrency: 2, signal, onError });
} catch (error) {
  if (!signal.aborted) throw error;
}
await running;
