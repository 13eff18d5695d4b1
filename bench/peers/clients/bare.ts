/**
 * The least that can be called a cache, as a process: URL PODS EVENTS CHANGED. `.json()` for lists, one carry buffer,
 * one JSON.parse for each line of the watch, and a Map. No errors, no reconnects but the one that the job has, no
 * handlers.
 */
import { Progress } from "../progress.ts";

interface BarePod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly resourceVersion: string };
}

const progress = new Progress();
const cache = new Map<string, BarePod>();
const decoder = new TextDecoder();

function keyOf({ metadata }: BarePod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

async function list(): Promise<string> {
  const response = await fetch(`${progress.url}/api/v1/pods`);
  const list = await response.json() as { metadata: { resourceVersion: string }; items: BarePod[] };
  for (const pod of list.items) {
    const key = keyOf(pod);
    const known = cache.get(key);
    cache.set(key, pod);
    if (known === undefined) progress.added();
    else if (known.metadata.resourceVersion !== pod.metadata.resourceVersion) progress.updated();
  }
  return list.metadata.resourceVersion;
}

async function watch(resourceVersion: string): Promise<void> {
  const response = await fetch(`${progress.url}/api/v1/pods?watch=1&resourceVersion=${resourceVersion}`);
  const reader = response.body!.getReader();
  const line = (bytes: Uint8Array): void => {
    const { type, object } = JSON.parse(decoder.decode(bytes)) as { type: string; object: BarePod };
    if (type === "ERROR") return;
    cache.set(keyOf(object), object);
    progress.updated();
  };
  let carry = new Uint8Array(1_048_576);
  let length = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    let start = 0;
    for (let end = value.indexOf(10); end !== -1; start = end + 1, end = value.indexOf(10, start)) {
      if (length === 0) {
        line(value.subarray(start, end));
        continue;
      }
      carry.set(value.subarray(start, end), length);
      line(carry.subarray(0, length + end - start));
      length = 0;
    }
    const rest = value.subarray(start);
    if (length + rest.length > carry.length) {
      const larger = new Uint8Array(2 * (length + rest.length));
      larger.set(carry.subarray(0, length));
      carry = larger;
    }
    carry.set(rest, length);
    length += rest.length;
  }
}

progress.begin();
void (async () => {
  await watch(await list());
  await list();
})();
await progress.finish();
