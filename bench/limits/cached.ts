/**
 * The memory of a cache of the server's pods, in a process of its own. URL MODE. Modes: `bare` (the same objects
 * without managedFields in a Map), `full` (managedFields kept, parsed), `dropped` (parsed), `unread` (the default,
 * nothing read), `metadata` (metadata only), `fields` (node, phase and address, parsed), `transformed` (name, node and
 * phase, by a transform).
 */
import {
  Client,
  type KubernetesObject,
  onlyFields,
  onlyMetadata,
  type Resource,
  SharedIndexInformer,
  type SharedIndexInformerOptions,
} from "../../mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { statOf } from "../peers/child.ts";
import { Server } from "./_server.ts";
import { collect, expectObjects, type Limit, measureCase, type Measurement, ratio } from "./measurement.ts";

/** L14: what a cached pod weighs against the same object in a Map. */
export const HEAP: Measurement = {
  ids: ["L14"],
  measure: async () => {
    await using server = await Server.start({ pods: 10_000 });
    const bare = await measureCase(import.meta.url, { args: [server.url, "bare"] });
    await server.reset();
    const ours = await measureCase(import.meta.url, { args: [server.url, "dropped"] });
    return [
      ratio("L14", "heap per cached pod, parsed / same object in a bare Map", ours.heapBytes / bare.heapBytes, 1.05),
    ];
  },
};

/** The heap of a cached pod of which three fields are kept, against that of a complete one. */
export const FIELDS_HEAP: Measurement = {
  ids: ["fields-heap"],
  measure: async () => {
    await using server = await Server.start({ pods: 10_000 });
    const complete = await measureCase(import.meta.url, { args: [server.url, "dropped"] });
    await server.reset();
    const reduced = await measureCase(import.meta.url, { args: [server.url, "fields"] });
    expectObjects(10_000, complete, reduced);
    return [
      ratio(
        "fields-heap",
        "heap per cached pod, three fields, parsed / complete, parsed",
        reduced.heapBytes / complete.heapBytes,
        0.12,
      ),
    ];
  },
};

const MODES = {
  bare: "bare Map, parsed, managedFields dropped",
  full: "eager, managedFields kept",
  dropped: "eager",
  unread: "default, nothing read",
  metadata: "metadata only",
  transformed: "transformed to name, node and phase",
} as const;

/** W1 to W6: the memory of a cache, by what it keeps of a pod: heap, external memory, and peak RSS of the process. */
export const WEIGHTS: Measurement = {
  ids: Object.keys(MODES).flatMap((_, i) => ["h", "e", "r"].map((letter) => `W${i + 1}${letter}`)),
  measure: async () => {
    await using server = await Server.start({ pods: 10_000 });
    const limits: Limit[] = [];
    for (const [i, [mode, name]] of Object.entries(MODES).entries()) {
      await server.reset();
      const measured = await measureCase(import.meta.url, { args: [server.url, mode] });
      expectObjects(10_000, measured);
      const figure = (letter: string, what: string, value: number): Limit => {
        return { id: `W${i + 1}${letter}`, what: `${name}: ${what}`, value, unit: "MB" };
      };
      limits.push(
        figure("h", "heap per 10,000 pods", measured.heapBytes / 100),
        figure("e", "external memory per 10,000 pods", measured.externalBytes / 100),
        figure("r", "peak RSS with 10,000 pods", measured.peakRssMb),
      );
    }
    return limits;
  },
};

async function main(): Promise<void> {
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
        return informed(onlyMetadata(Pod), { parse: "eager" }).then(({ indexer }) => indexer);
      case "fields": {
        const resource = onlyFields(Pod, ["spec.nodeName", "status.phase", "status.podIP"]);
        return informed(resource, { parse: "eager" }).then(({ indexer }) => indexer);
      }
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
  Deno.exit(0); // an informer has no end
}

if (import.meta.main) await main();
