// The classic controller: handlers put keys into a workqueue, two workers read the lister and act. This one labels pods.
//   deno run -A examples/controller.ts
import { isConflict, isNotFound, SharedInformerFactory, WorkQueue } from "@kube/informer";
import { connect } from "@kube/informer/deno";
import { Pod } from "@kube/informer/kinds/core/v1";

const stop = new AbortController();
Deno.addSignalListener("SIGINT", () => stop.abort());

using client = await connect();
await using informers = new SharedInformerFactory(client);
await using queue = new WorkQueue();
const pods = informers.forResource(Pod);
pods.addEventHandler({
  onAdd: ({ key }) => queue.add(key),
  onUpdate: ({ key }) => queue.add(key),
  onDelete: ({ key }) => queue.add(key),
});
informers.start({ signal: stop.signal });
await informers.waitForCacheSync({ signal: stop.signal });
console.log(`synced: ${pods.indexer.size} pods`);

await queue.run(async (key) => {
  const pod = pods.lister.get(key);
  const { nodeName } = pod?.spec ?? {};
  if (pod === undefined || nodeName === undefined || pod.metadata.labels?.["example.com/node"] === nodeName) return;
  const body = { metadata: { labels: { "example.com/node": nodeName } } };
  await client.resource(Pod).namespace(pod.metadata.namespace!).patch(pod.metadata.name, { type: "merge", body });
  console.log(`labelled ${key} with ${nodeName}`);
}, {
  concurrency: 2,
  signal: stop.signal,
  onError: (error, key) => {
    if (!isConflict(error) && !isNotFound(error)) console.error(`cannot label ${key}, will try again`, error);
  },
});
