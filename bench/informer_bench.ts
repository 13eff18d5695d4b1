/**
 * The cost of an informer from change to handler, over the least that could keep a cache at all: building each object's
 * key and setting it in a Map. First with entries that are there already (queue, store, log and handlers), then from
 * bytes (client and walker too); there `JSON.parse` of ready lines is given for comparison.
 */
import type { ListerWatcher, ListPart, WatchChange } from "../src/engine/api/lister_watcher.ts";
import type { Transport } from "../src/engine/api/lister_watcher.ts";
import { keyOf } from "../src/engine/api/object.ts";
import type { KubernetesObject } from "../src/engine/api/object.ts";
import { Client } from "../src/engine/client/client.ts";
import { entryOf } from "../src/engine/entry/entry.ts";
import { SharedIndexInformer } from "../src/engine/informer/shared_index_informer.ts";
import { Pod } from "../src/engine/kinds/core/v1.ts";
import { bigPod } from "../tests/support/sources/big_pods.ts";

/** Answers lists with nothing, and watches with what it is fed. */
class Feed implements Transport {
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;

  fetch(request: Request): Promise<Response> {
    const headers = { "content-type": "application/json" };
    if (!request.url.includes("watch=")) {
      const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] };
      return Promise.resolve(new Response(JSON.stringify(list), { headers }));
    }
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#body = controller) });
    return Promise.resolve(new Response(body, { headers }));
  }

  send(chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) this.#body!.enqueue(chunk.slice());
  }
}

/** Handlers that count, with a promise that resolves when all of them have counted so much. */
class CountingHandlers {
  #left = 0;
  #done: (() => void) | undefined;
  readonly #size: number;

  constructor(informer: SharedIndexInformer<KubernetesObject>, size: number, reads: boolean) {
    this.#size = size;
    const count = (event: { readonly object: unknown }): void => {
      if (reads) void event.object;
      if (--this.#left === 0) this.#done!();
    };
    for (let i = 0; i < size; i++) informer.addEventHandler({ onAdd: count, onUpdate: count });
  }

  counted(events: number): Promise<void> {
    this.#left = events * this.#size;
    return new Promise((resolve) => this.#done = resolve);
  }
}

const OPTIONS = { reflector: { streamingList: "off", watchTimeoutMs: 86_400_000 } } as const;

/** The same objects in two versions that have no order, so that each is news behind the other. */
function twice<V>(make: (version: string) => V): () => V {
  const versions = [make("even"), make("odd")];
  let turn = 0;
  return () => versions[turn++ % 2];
}

function bareMap(group: string, objects: readonly KubernetesObject[]): void {
  const map = new Map<string, KubernetesObject>();
  Deno.bench({
    name: "bare Map.set with key",
    group,
    baseline: true,
    fn: () => {
      for (const object of objects) map.set(keyOf(object), object);
    },
  });
}

{
  const count = 10_000;
  const group = "informer / fan-out / 10k changes";
  const object = (index: number, resourceVersion: string): KubernetesObject => ({
    metadata: {
      namespace: `namespace-${index % 100}`,
      name: `object-${index}`,
      uid: `uid-${index}`,
      resourceVersion,
    } as KubernetesObject["metadata"],
  });
  bareMap(group, Array.from({ length: count }, (_, index) => object(index, "1")));
  for (const size of [1, 20]) {
    const next = twice((version) =>
      Array.from({ length: count }, (_, index): WatchChange<KubernetesObject> => ({
        type: "MODIFIED",
        entry: entryOf(object(index, version)),
      }))
    );
    const batches: (readonly WatchChange<KubernetesObject>[])[] = [];
    let wake: (() => void) | undefined;
    const source: ListerWatcher<KubernetesObject> = {
      async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>> {
        yield await Promise.resolve({ entries: [], resourceVersion: "1" });
      },
      async *watchChanges(): AsyncGenerator<readonly WatchChange<KubernetesObject>[]> {
        for (;;) {
          for (let batch; (batch = batches.shift()) !== undefined;) yield batch;
          await new Promise<void>((resolve) => wake = resolve);
        }
      },
    };
    const informer = new SharedIndexInformer(source, OPTIONS);
    const handlers = new CountingHandlers(informer, size, false);
    void informer.run();
    await informer.waitForCacheSync();
    Deno.bench({
      name: `change to ${size} handler${size === 1 ? "" : "s"}`,
      group,
      fn: async () => {
        const counted = handlers.counted(count);
        batches.push(next());
        wake?.();
        await counted;
      },
    });
  }
}

{
  const count = 1_000;
  const pods = (version: string): KubernetesObject[] =>
    Array.from({ length: count }, (_, index) => {
      const pod = bigPod(index) as unknown as KubernetesObject;
      return { ...pod, metadata: { ...pod.metadata, resourceVersion: version } };
    });
  const lines = pods("1").map((object) => JSON.stringify({ type: "MODIFIED", object }));
  const kilobytes = (lines.join("\n").length / count / 1_000).toFixed(1);
  const group = `informer / bytes to handler / 1k pods of ${kilobytes} kB`;
  bareMap(group, pods("1"));
  const parsed = new Map<string, KubernetesObject>();
  Deno.bench({
    name: "JSON.parse of ready lines, Map.set",
    group,
    fn: () => {
      for (const line of lines) {
        const { object } = JSON.parse(line) as { object: KubernetesObject };
        parsed.set(keyOf(object), object);
      }
    },
  });
  for (const [size, reads] of [[1, false], [1, true], [20, false], [20, true]] as const) {
    const next = twice((version) => {
      const text = pods(version).map((object) => JSON.stringify({ type: "MODIFIED", object }) + "\n").join("");
      const bytes = new TextEncoder().encode(text);
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.subarray(at, at + 65_536));
      return chunks;
    });
    const feed = new Feed();
    const client = new Client({ server: "http://feed", transport: feed });
    const informer = new SharedIndexInformer(client.resource(Pod), OPTIONS);
    const handlers = new CountingHandlers(informer as unknown as SharedIndexInformer<KubernetesObject>, size, reads);
    void informer.run();
    await informer.waitForCacheSync();
    while (informer.status().state !== "live") await new Promise((resolve) => setTimeout(resolve));
    Deno.bench({
      name: `bytes to ${size} handler${size === 1 ? "" : "s"}, ${reads ? "objects read" : "keys only"}`,
      group,
      fn: async () => {
        const counted = handlers.counted(count);
        feed.send(next());
        await counted;
      },
    });
  }
}
