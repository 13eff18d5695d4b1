/** A change of a node with twenty pods, up to the outputs of a join: one that is derived beside one by hand. */
import { SharedIndexInformer } from "../mod.ts";
import { nextTurn } from "../src/engine/async/turns.ts";
import { Fed, joinByHand, joinDerived, node, pod } from "./limits/derived.ts";

const PODS = 10_000;
const NODES = 500;

for (const join of [joinByHand, joinDerived]) {
  const podSource = new Fed(
    Array.from({ length: PODS }, (_, i) => ({ ...pod(i, 1, 0), nodeName: `node-${i % NODES}` })),
  );
  const nodeSource = new Fed(Array.from({ length: NODES }, (_, i) => node(i, 1, i)));
  const pods = new SharedIndexInformer(podSource, { reflector: { streamingList: "off" } });
  const nodes = new SharedIndexInformer(nodeSource, { reflector: { streamingList: "off" } });
  let changes = 0;
  let version = 1;
  let begun: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    for (const informer of [pods, nodes]) void informer.run();
    for (const informer of [pods, nodes]) await informer.waitForCacheSync();
    join(pods, nodes, () => changes++);
    while (changes < PODS) await nextTurn();
  };
  Deno.bench({
    name: join === joinByHand ? "by hand" : "derived",
    group: "join / change of a node with 20 pods",
    baseline: join === joinByHand,
    fn: async () => {
      await (begun ??= begin());
      const due = changes + PODS / NODES;
      version++;
      const index = version % NODES;
      nodeSource.put([node(index, version, index + 1 + Math.floor(version / NODES))]);
      while (changes < due) await nextTurn();
    },
  });
}
