/**
 * Pods whose texts become compact, and of which some are deleted or changed. Prints, as JSON, which of their values are
 * on the heap before and behind that.
 *
 * Needs `--v8-flags=--expose-gc,--heap-snapshot-string-limit=1000000`.
 */
import { Client, SharedIndexInformer } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { Session } from "node:inspector";
import { collectHeap } from "../../../support/times/heap.ts";

/** What to look for. None of them is in a string of this program. */
const VALUES = {
  "the own value of a deleted object": () => valueOf(107),
  "the constant of a family that is deleted": () => valueOf(2),
  "the constant of a family that is changed": () => valueOf(1),
  "the value of a deleted object that resembles none": () => valueOf(4),
  "the value of a changed object that resembles none": () => valueOf(5),
  "the own value of an object that stays": () => valueOf(108),
  "the constant of a family that is new": () => valueOf(3),
} as const;

/** The value of a number: letters that are nowhere else. */
function valueOf(number: number): string {
  let text = "";
  let state = Math.imul(number + 1, 0x9e3779b1);
  for (let i = 0; i < 20; i++) {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca77) + i;
    text += String.fromCharCode(97 + (state >>> 8) % 26);
  }
  return text;
}

let version = 100;

/** The text of a pod with a constant of its family, and a value of its own. */
function textOf(family: string, i: number, constant: number): string {
  return JSON.stringify({
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: `${family}-${i}`,
      namespace: "shop",
      uid: `uid-${family}-${i}`,
      resourceVersion: String(++version),
      annotations: {
        constant: valueOf(constant),
        own: valueOf((family === "web" ? 100 : 200) + i),
        note: "n".repeat(400),
      },
    },
  });
}

/** The text of a pod that resembles no other one. */
function oddText(name: string, constant: number): string {
  const metadata = { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: String(++version) };
  const numbers = Array.from({ length: 60 }, (_, i) => i % constant === 0 ? i : [i]);
  return JSON.stringify({ kind: "Pod", apiVersion: "v1", metadata, [name]: [valueOf(constant), numbers] });
}

let watch: ReadableStreamDefaultController<Uint8Array>;

function send(type: string, text: string): void {
  watch.enqueue(new TextEncoder().encode(`{"type":"${type}","object":${text}}\n`));
}

function listed(): Response {
  const items = [];
  for (let i = 0; i < 60; i++) items.push(textOf("web", i, 1));
  for (let i = 0; i < 20; i++) items.push(textOf("db", i, 2));
  items.push(oddText("gone", 4), oddText("other", 5));
  const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"},"items":[${items}]}`;
  return new Response(list, { headers: { "content-type": "application/json" } });
}

const client = new Client({
  server: "http://fake",
  transport: {
    fetch: (request: Request): Promise<Response> => {
      if (!new URL(request.url).searchParams.has("watch")) return Promise.resolve(listed());
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (watch = controller) });
      return Promise.resolve(new Response(body, { headers: { "content-type": "application/json" } }));
    },
  },
});
const informer = new SharedIndexInformer(client.resource(Pod), { reflector: { streamingList: "off" } });
let deleted = 0;
let updated = 0;
informer.addEventHandler({ onDelete: () => void deleted++, onUpdate: () => void updated++ });
void informer.run();

/** Waits until the cache has so many compact objects. */
async function compacted(count: number): Promise<void> {
  const end = Date.now() + 30_000;
  while (informer.memory().compact.objects !== count) {
    if (Date.now() > end) throw new Error(`Cannot go on: ${JSON.stringify(informer.memory().compact)}, not ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The names of the values that are on the heap. */
async function found(): Promise<string[]> {
  for (let i = 0; i < 4; i++) await collectHeap();
  const session = new Session();
  session.connect();
  let text = "";
  session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) => void (text += params.chunk));
  await new Promise<void>((resolve, reject) => {
    session.post("HeapProfiler.takeHeapSnapshot", {}, (error) => error ? reject(error) : resolve());
  });
  session.disconnect();
  return Object.entries(VALUES).filter(([, value]) => text.includes(value())).map(([name]) => name);
}

await informer.waitForCacheSync();
await compacted(80);
const before = await found();
send("DELETED", textOf("web", 7, 1));
send("DELETED", oddText("gone", 4));
send("MODIFIED", oddText("other", 6));
for (let i = 0; i < 20; i++) send("DELETED", textOf("db", i, 2));
for (let i = 0; i < 60; i++) if (i !== 7) send("MODIFIED", textOf("web", i, 3));
for (let i = 0; i < 3; i++) send("MODIFIED", textOf("web", i, 3)); // the log keeps what is before its last event
const end = Date.now() + 30_000;
while ((deleted < 22 || updated < 63) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
await new Promise((resolve) => setTimeout(resolve, 300));
await compacted(59);
await new Promise((resolve) => setTimeout(resolve, 500));
const behind = await found();
console.log(JSON.stringify({ before, behind, objects: informer.indexer.size } satisfies Record<string, unknown>));
Deno.exit();
