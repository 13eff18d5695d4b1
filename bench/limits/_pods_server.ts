/**
 * A server of many pods, a process of its own: `deno run -A _pods_server.ts PODS [filters]`. It prints its address, and
 * ends when its standard input does. It makes the pods of 9.1 kB while it sends them, and keeps none; its watch is
 * silent. With `filters` it sends those alone that a `shardSelector` selects.
 */
import { ShardFilter } from "../../src/engine/api/shard.ts";
import { podItem } from "../_data.ts";
import { writeDigits } from "../peers/object_bytes.ts";
import { serveProcess } from "./_serve_process.ts";

const encoder = new TextEncoder();
/** Pods that differ in more than their name, uid and version. */
const TEMPLATES = 1_000;
const PART_BYTES = 131_072;
const FIRST_VERSION = 1_000_000;

/** The bytes of a pod, and the places of what differs. */
interface Template {
  readonly bytes: Uint8Array;
  /** End of `metadata.name`. */
  readonly name: number;
  /** End of the first part of `metadata.uid`. */
  readonly uid: number;
  /** Beginning and end of `metadata.uid`. */
  readonly uidAt: readonly [number, number];
  /** End of `metadata.resourceVersion`. */
  readonly version: number;
}

const templates = Array.from({ length: TEMPLATES }, (_, index): Template => {
  const pod = podItem(index);
  const metadata = pod.metadata as Record<string, unknown>;
  metadata.name = `${metadata.name}-00000`;
  const json = JSON.stringify(pod);
  const behind = (text: string): number => json.indexOf(text) + text.length;
  return {
    bytes: encoder.encode(`,${json}`),
    name: behind("-00000") + 1,
    uid: behind(`"uid":"`) + 9,
    uidAt: [behind(`"uid":"`) + 1, behind(`"uid":"`) + 37],
    version: behind(`"resourceVersion":"`) + 8,
  };
});

function podBytes(index: number, shard: ShardFilter | undefined): Uint8Array | undefined {
  const { bytes, name, uid, uidAt, version } = templates[index % TEMPLATES];
  writeDigits(bytes, uid, 8, index, 16);
  if (shard?.hasBytes(bytes, ...uidAt) === false) return undefined;
  writeDigits(bytes, name, 5, index, 36);
  writeDigits(bytes, version, 7, FIRST_VERSION + index);
  return bytes;
}

function list(count: number, shard: ShardFilter | undefined): ReadableStream<Uint8Array> {
  const head = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${
    FIRST_VERSION + count
  }"},"items":[`;
  let index = 0;
  let isFirst = true;
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    pull(controller): void {
      const part = new Uint8Array(PART_BYTES);
      let length = 0;
      for (; index < count; index++) {
        let pod = podBytes(index, shard);
        if (pod === undefined) continue;
        if (length + pod.length > part.length) break;
        if (isFirst) pod = pod.subarray(1);
        isFirst = false;
        part.set(pod, length);
        length += pod.length;
      }
      controller.enqueue(part.subarray(0, length));
      if (index < count) return;
      controller.enqueue(encoder.encode("]}\n"));
      controller.close();
    },
  });
}

const pods = Number(Deno.args[0]);
const filters = Deno.args[1] === "filters";

/** Returns the filter of a `shardSelector` of uids; `undefined` where all are wanted. */
function shardIn(selector: string | null): ShardFilter | undefined {
  if (selector === null || !filters) return undefined;
  const ranges = [...selector.matchAll(/'(0x[0-9a-f]+)', '(0x[0-9a-f]+)'/g)];
  return new ShardFilter("uid", ranges.map(([, start, end]) => ({ start: BigInt(start), end: BigInt(end) })));
}

function answer(request: Request): Response {
  const { searchParams } = new URL(request.url);
  if (searchParams.has("sendInitialEvents")) {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422 };
    return Response.json(status, { status: 422 });
  }
  const body = searchParams.has("watch")
    ? new ReadableStream<Uint8Array>()
    : list(pods, shardIn(searchParams.get("shardSelector")));
  return new Response(body, { headers: { "content-type": "application/json" } });
}

await serveProcess(answer);
