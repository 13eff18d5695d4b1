/**
 * What a cache of the server's pods weighs, in a process of its own. URL MODE. Modes: `bare` (the same objects without
 * managedFields in a Map), `full` (managedFields kept, parsed), `dropped` (parsed), `unread` (the default, nothing read),
 * `metadata` (metadata only), `transformed` (name, node and phase, by a transform).
 */
import {
  Client,
  type KubernetesObject,
  metadataOf,
  type Resource,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
} from "../../mod.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { collect } from "../collect.ts";
import { statOf } from "../peers/process_stat.ts";

const [url, mode] = Deno.args;

/** All that a scheduler's view needs. */
function slim(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion } = pod.metadata;
  return {
    kind: pod.kind,
    apiVersion: pod.apiVersion,
    metadata: { name, namespace, uid, resourceVersion },
    spec: { nodeName: pod.spec.nodeName },
    status: { phase: pod.status?.phase },
  } as Pod;
}

async function bare(): Promise<Map<string, unknown>> {
  const cache = new Map<string, unknown>();
  let next = "";
  do {
    const response = await fetch(`${url}/api/v1/pods?limit=500${next}`);
    const list = await response.json() as { metadata: { continue?: string }; items: KubernetesObject[] };
    for (const item of list.items) {
      const { managedFields: _dropped, ...metadata } = item.metadata as unknown as Record<string, unknown>;
      const text = JSON.stringify({ kind: "Pod", apiVersion: "v1", ...item, metadata });
      cache.set(`${metadata.namespace}/${metadata.name}`, JSON.parse(text));
    }
    next = list.metadata.continue === undefined ? "" : `&continue=${list.metadata.continue}`;
  } while (next !== "");
  return cache;
}

async function informed<T extends KubernetesObject>(
  resource: Resource<T>,
  options: SharedIndexInformerOptions<T>,
): Promise<SharedIndexInformer<T>> {
  const informer = new SharedIndexInformer(new Client({ server: url }).resource(resource), options);
  void informer.run();
  await informer.waitForCacheSync();
  return informer;
}

function cached(): Promise<{ readonly size: number }> {
  switch (mode) {
    case "bare":
      return bare();
    case "full":
      return informed(Pod, { parse: "eager", managedFields: "keep" }).then(({ indexer }) => indexer);
    case "dropped":
      return informed(Pod, { parse: "eager" }).then(({ indexer }) => indexer);
    case "unread":
      return informed(Pod, {}).then(({ indexer }) => indexer);
    case "metadata":
      return informed(metadataOf(Pod), { parse: "eager" }).then(({ indexer }) => indexer);
    case "transformed":
      return informed(Pod, { transform: slim }).then(({ indexer }) => indexer);
    default:
      throw new RangeError(`Cannot measure "${mode}": there is no such mode`);
  }
}

collect();
const before = Deno.memoryUsage();
const cache = await cached();
const { peakRssMb } = await statOf("self");
collect();
const after = Deno.memoryUsage();
console.log(JSON.stringify({
  objects: cache.size,
  heapBytes: (after.heapUsed - before.heapUsed) / cache.size,
  externalBytes: (after.external - before.external) / cache.size,
  peakRssMb,
}));
Deno.exit(0); // an informer goes on for ever
