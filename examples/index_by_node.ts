// Files pods by node, and prints which nodes have the most, without looking at all pods for each: now and every minute.
//   deno run -A examples/index_by_node.ts
import { SharedInformerFactory } from "@kube/informer";
import { connect, shutdownSignal } from "@kube/informer/connect";
import { Pod } from "@kube/informer/kinds/core/v1";

using signal = shutdownSignal();
using client = await connect();
await using informers = new SharedInformerFactory(client);
const pods = informers.forResource(Pod, {
  indexers: { node: (pod) => pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName] },
});

function report(): void {
  const nodes = pods.indexer.indexValues("node").map((node) => ({ node, pods: pods.indexer.byIndex("node", node) }));
  for (const { node, pods } of nodes.sort((a, b) => b.pods.length - a.pods.length).slice(0, 5)) {
    const running = pods.filter((pod) => pod.status?.phase === "Running").length;
    console.log(`${node}: ${pods.length} pods, ${running} running`);
  }
  console.log(`synced: ${pods.indexer.size} pods on ${nodes.length} nodes`);
}

let timer: ReturnType<typeof setInterval> | undefined;
pods.addEventHandler({
  onSynced: () => {
    report();
    timer = setInterval(report, 60_000);
  },
});
await informers.run({ signal });
clearInterval(timer);
