import { nextTurn } from "../../async/next_turn.ts";
import { Namespace, Node, Pod } from "../../kinds/core/v1.ts";
import { type FakeApiServer, namespace, node, pods } from "../../testing/mod.ts";

/** The first pods are in the namespace "default", in which commands look without -n and -A. */
const IN_DEFAULT = 20;

/** The number of pods that are created in one turn. */
const AT_A_TIME = 500;

/** The pods that {@linkcode fillFakeServer} creates. */
export interface Filling {
  /** Number of pods. */
  readonly count: number;
  /** The same seed, the same objects. @default {1} */
  readonly seed?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Called with the number of pods so far, between turns. */
  readonly onProgress?: (made: number) => void;
}

/** Creates pods on a fake server, and the namespaces and nodes that they are in; a few hundred in each turn. */
export async function fillFakeServer(server: FakeApiServer, filling: Filling): Promise<void> {
  const { count, seed = 1, signal, onProgress } = filling;
  const namespaces = new Set(["default", "kube-system"]);
  const nodes = new Set<string>();
  let made = 0;
  for (const pod of pods(count, seed)) {
    const { namespace: own = "default" } = pod.metadata;
    const where = made++ < IN_DEFAULT ? "default" : own;
    server.create(Pod, { ...pod, metadata: { ...pod.metadata, namespace: where } });
    namespaces.add(where);
    if (pod.spec.nodeName !== undefined) nodes.add(pod.spec.nodeName);
    if (made % AT_A_TIME !== 0 || made === count) continue;
    onProgress?.(made);
    await nextTurn();
    if (signal?.aborted) return;
  }
  for (const name of namespaces) server.create(Namespace, namespace({ name }));
  for (const name of nodes) server.create(Node, node({ name }));
}
