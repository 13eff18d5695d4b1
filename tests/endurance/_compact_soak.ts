/**
 * A compact cache of 2,000 custom objects that receives a number of events in rollouts. Each rollout renames half of
 * the objects, and changes the constants in all objects. Each fifth one adds a field to the kind, as a new version of
 * its CRD does. Prints the numbers after a tenth of the events and at the end, after idle time and a collection:
 * EVENTS ROLLOUTS.
 *
 * Needs `--v8-flags=--expose-gc`.
 */
import { setImmediate } from "node:timers";
import { Client, defineResource, type KubernetesObject, SharedIndexInformer } from "../../mod.ts";
import { internals } from "../../src/engine/errors/internals.ts";

const OBJECTS = 2_000;
const BATCH = 200;
const [events, rollouts] = Deno.args.map(Number);
const perRollout = events / rollouts;

let version = 1;
let rollout = 0;

function nameOf(index: number, inRollout: number): string {
  const owner = `web-${index % 40}`;
  return index % 2 === 0 ? `${owner}-${index}` : `${owner}-${(inRollout * 7919).toString(36)}-${index}`;
}

function textOf(index: number, inRollout: number): string {
  const name = nameOf(index, inRollout);
  const conditions = ["Ready", "Scheduled", "Healthy"].map((type) => ({
    type,
    status: (version + index) % 3 === 0 ? "False" : "True",
    lastTransitionTime: `2026-03-${10 + version % 20}T10:00:00Z`,
    message: `${type} since rollout ${inRollout}`,
  }));
  const fields = Object.fromEntries(
    Array.from(
      { length: 5 + Math.floor(inRollout / 5) },
      (_, i) => [`field${i}`, `constant ${i} ${inRollout} `.repeat(4)],
    ),
  );
  return JSON.stringify({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: {
      name,
      namespace: "shop",
      uid: `uid-${name}`,
      resourceVersion: String(++version),
      creationTimestamp: "2026-03-01T10:00:00Z",
      labels: { app: `web-${index % 40}`, release: String(inRollout) },
    },
    spec: { ...fields, shard: index, image: `registry.example.com/web:${inRollout}` },
    status: { conditions, observed: version },
  });
}

/** The lines of the events from one number on. */
function* lines(from: number): Generator<string> {
  for (let event = from; event < from + BATCH; event++) {
    const index = event % OBJECTS;
    const inRollout = Math.floor(event / perRollout);
    // In the first round of a rollout, objects with a new name replace others.
    const isReplaced = index % 2 === 1 && inRollout > 0 && event - inRollout * perRollout < OBJECTS;
    if (isReplaced) yield `{"type":"DELETED","object":${textOf(index, inRollout - 1)}}\n`;
    yield `{"type":"${isReplaced ? "ADDED" : "MODIFIED"}","object":${textOf(index, inRollout)}}\n`;
  }
}

let sent = 0;
const encoder = new TextEncoder();
/** Resolves when the watch may send the events of the next rollout. */
let next = Promise.withResolvers<void>();

function watch(signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller): Promise<void> {
      if (sent >= (rollout + 1) * perRollout) await next.promise;
      if (signal.aborted) return controller.close();
      controller.enqueue(encoder.encode([...lines(sent)].join("")));
      sent += BATCH;
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
}

const transport = {
  fetch: ({ url, signal }: Request): Promise<Response> => {
    const headers = { "content-type": "application/json" };
    if (url.includes("watch=")) return Promise.resolve(new Response(watch(signal), { headers }));
    const items = Array.from({ length: OBJECTS }, (_, index) => textOf(index, 0)).join(",");
    const metadata = `{"resourceVersion":"${version}"}`;
    const list = `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":${metadata},"items":[${items}]}`;
    return Promise.resolve(new Response(list, { headers }));
  },
};

const Widget = defineResource<KubernetesObject>({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
});

using client = new Client({ server: "http://scripted", transport });
await using widgets = new SharedIndexInformer(client.resource(Widget), { reflector: { streamingList: "off" } });
const running = widgets.run();
await widgets.waitForCacheSync();
const { templates } = widgets[internals].sync.cache.compaction!;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The least bytes of several collections: buffers that were read a moment ago are freed late. */
async function measured(): Promise<Record<string, number>> {
  let bytes = Infinity;
  for (let i = 0; i < 10; i++) {
    (globalThis as unknown as { gc(): void }).gc();
    const { heapUsed, external } = Deno.memoryUsage();
    bytes = Math.min(bytes, heapUsed + external);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { compact, objects } = widgets.memory();
  return {
    bytes,
    rss: Deno.memoryUsage().rss,
    objects,
    compact: compact.objects,
    templates: templates.size,
    templateBytes: templates.bytes,
  };
}

let most = 0;
let before: Record<string, number> = {};
for (; rollout < rollouts; rollout++) {
  await until(() => Number(widgets.lastSyncResourceVersion) >= version && sent >= (rollout + 1) * perRollout);
  await until(() => widgets.memory().compact.objects === OBJECTS);
  most = Math.max(most, templates.size);
  if (rollout === rollouts / 10 - 1) before = await measured();
  const { resolve } = next;
  next = Promise.withResolvers();
  if (rollout < rollouts - 1) resolve();
}
const after = await measured();
console.log(JSON.stringify({ before, after, most, sent }));
next.resolve();
void running;
Deno.exit(0);
