/**
 * An informer that receives a number of changes of a thousand small objects: 18 updates, a deletion and an addition in
 * turn, the addition in a new namespace, with relists in between. Prints the numbers of delivered events, and the bytes
 * on the heap after a tenth of the changes and at the end.
 *
 * Needs `--v8-flags=--expose-gc`.
 */
import { setImmediate } from "node:timers";
import {
  type CacheEntry,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  SharedIndexInformer,
  type WatchChange,
  WorkQueue,
} from "../../mod.ts";

const OBJECTS = 1_000;
const BATCH = 500;
const RELISTS = 10;
const changes = Number(Deno.args[0]);

const versions = new Array<number>(OBJECTS).fill(1);
/** The number of additions of each object after the first one, each in a namespace of its own. */
const additions = new Array<number>(OBJECTS).fill(0);
let version = 1;

function entryAt(index: number): CacheEntry<KubernetesObject> {
  return entryOf({
    metadata: {
      name: `object-${index}`,
      namespace: additions[index] === 0 ? `namespace-${index % 10}` : `namespace-${index}-${additions[index]}`,
      uid: `uid-${index}`,
      resourceVersion: String(versions[index]),
      creationTimestamp: "",
      labels: { step: String(version % 50) },
    },
  });
}

/** The changes that are sent in one turn. */
function* batch(from: number): Generator<WatchChange<KubernetesObject>> {
  for (let change = from; change < from + BATCH; change++) {
    const step = change % 20;
    // The object that is deleted is the one that is added again.
    const index = step >= 18 ? Math.floor(change / 20) % OBJECTS : change % OBJECTS;
    versions[index] = ++version;
    if (step === 19) additions[index]++;
    yield { type: step === 18 ? "DELETED" : step === 19 ? "ADDED" : "MODIFIED", entry: entryAt(index) };
  }
}

/** The next batch is sent once the first handler has received all earlier ones, so that no backlog counts as a leak. */
let sent = 0;
let received = 0;
let caughtUp = Promise.withResolvers<void>();

class Source implements ListerWatcher<KubernetesObject> {
  async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>, void, undefined> {
    await Promise.resolve();
    yield { entries: versions.map((_, index) => entryAt(index)), resourceVersion: String(version) };
  }

  async *watchChanges(
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly WatchChange<KubernetesObject>[], void, undefined> {
    yield [];
    const end = Math.min(changes, (Math.floor(sent / (changes / RELISTS)) + 1) * (changes / RELISTS));
    while (sent < end) {
      const changed = [...batch(sent)];
      sent += changed.length;
      yield changed;
      if (received < sent) await caughtUp.promise;
      await new Promise((resolve) => setImmediate(resolve)); // as from a socket: in a turn of its own
    }
    yield [{ type: "BOOKMARK", resourceVersion: String(++version), initialEventsEnd: false }];
    if (sent < changes) return; // the watch ends in good order, and the next one continues
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  }
}

function liveBytes(): number {
  (globalThis as unknown as { gc(): void }).gc();
  return Deno.memoryUsage().heapUsed;
}

const counts = { updated: 0, added: 0, deleted: 0 };
let beforeBytes = NaN;
const done = Promise.withResolvers<void>();
function count(kind: keyof typeof counts): void {
  counts[kind]++;
  received++;
  if (received === changes / 10) beforeBytes = liveBytes();
  if (received === changes) done.resolve();
  if (received < sent) return;
  caughtUp.resolve();
  caughtUp = Promise.withResolvers();
}

const informer = new SharedIndexInformer<KubernetesObject, "step">(new Source(), {
  indexers: { step: (object) => [object.metadata.labels?.step ?? ""] },
  reflector: { streamingList: "off", backoff: { initialMs: 1, maxMs: 1, jitter: 0 } },
});
informer.addEventHandler({
  onAdd: ({ initial }) => initial ? undefined : count("added"),
  onUpdate: () => count("updated"),
  onDelete: () => count("deleted"),
});
const queue = new WorkQueue();
informer.addEventHandler({ onUpdate: ({ key }) => queue.add(key), onDelete: ({ key }) => queue.add(key) });
const stop = new AbortController();
const working = queue.run(() => {}, { signal: stop.signal });
const running = informer.run({ signal: stop.signal });
await done.promise;
const objects = informer.indexer.size;
const afterBytes = liveBytes();
stop.abort();
await Promise.all([running, working]);
console.log(JSON.stringify({ counts, objects, beforeBytes, afterBytes }));
