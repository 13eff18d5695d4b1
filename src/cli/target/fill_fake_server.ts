import { Namespace, Node, Pod } from "../../kinds/core/v1.ts";
import { type FakeApiServer, namespace, node, pods } from "../../testing/mod.ts";

/** The first pods are in the namespace "default", in which commands look without -n and -A. */
const IN_DEFAULT = 20;

/** Creates `count` pods on a fake server, and the namespaces and nodes that they are in. The same seed, the same objects. */
export function fillFakeServer(server: FakeApiServer, count: number, seed = 1): void {
  const namespaces = new Set(["default", "kube-system"]);
  const nodes = new Set<string>();
  let made = 0;
  for (const pod of pods(count, seed)) {
    const { namespace: own = "default" } = pod.metadata;
    const where = made++ < IN_DEFAULT ? "default" : own;
    server.create(Pod, { ...pod, metadata: { ...pod.metadata, namespace: where } });
    namespaces.add(where);
    if (pod.spec.nodeName !== undefined) nodes.add(pod.spec.nodeName);
  }
  for (const name of namespaces) server.create(Namespace, namespace({ name }));
  for (const name of nodes) server.create(Node, node({ name }));
}
