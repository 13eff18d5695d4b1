/**
 * The least that can be called a cache, as a process: URL PODS EVENTS CHANGED MODE MIX. `.json()` for lists, one carry
 * buffer, one JSON.parse for each line of the watch, and a Map. No errors, no reconnects but the one that the job has,
 * no handlers; three fields of each version are read.
 */
import { type Followed, followedIn } from "../job.ts";
import { Progress } from "../progress.ts";
import { readFields } from "../reads.ts";

const PATHS: Readonly<Record<Followed, string>> = {
  pods: "/api/v1/pods",
  nodes: "/api/v1/nodes",
  leases: "/apis/coordination.k8s.io/v1/leases",
};

interface BareObject {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly resourceVersion: string };
}

const progress = new Progress();
const cache = new Map<string, BareObject>();
let read = 0;
const decoder = new TextDecoder();

function keyOf({ metadata }: BareObject): string {
  return `${metadata.namespace}/${metadata.name}`; // a node and its lease have other namespaces
}

async function list(name: Followed): Promise<string> {
  const response = await fetch(`${progress.url}${PATHS[name]}`);
  const list = await response.json() as { metadata: { resourceVersion: string }; items: BareObject[] };
  for (const object of list.items) {
    const key = keyOf(object);
    const known = cache.get(key);
    cache.set(key, object);
    read += readFields(name, object);
    if (known === undefined) progress.added();
    else if (known.metadata.resourceVersion !== object.metadata.resourceVersion) progress.updated();
  }
  return list.metadata.resourceVersion;
}

async function watch(name: Followed, resourceVersion: string): Promise<void> {
  const response = await fetch(`${progress.url}${PATHS[name]}?watch=1&resourceVersion=${resourceVersion}`);
  const reader = response.body!.getReader();
  const line = (bytes: Uint8Array): void => {
    const { type, object } = JSON.parse(decoder.decode(bytes)) as { type: string; object: BareObject };
    if (type === "ERROR") return;
    if (type === "DELETED") cache.delete(keyOf(object));
    else cache.set(keyOf(object), object);
    read += readFields(name, object);
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
for (const name of followedIn(progress.job.mix)) {
  void (async () => {
    await watch(name, await list(name));
    await list(name);
  })();
}
await progress.finish();
