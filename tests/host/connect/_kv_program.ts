import { KvSnapshots } from "../../../src/host/connect/kv_snapshots.ts";
import type { SnapshotKv } from "../../../src/host/connect/kv_store.ts";

/** Writes and reads snapshots in a database of Deno KV, and prints what it finds, as JSON. `deno run --unstable-kv`. */

const kv = await (Deno as unknown as { openKv(path: string): Promise<SnapshotKv & Disposable> }).openKv(":memory:");
const store = new KvSnapshots(kv);
const large = new KvSnapshots(kv, { prefix: ["large"], maxBytes: 100_000_000 });

/** Writes so many bytes of a value, at a version. */
function set(
  version: string,
  length: number,
  value: number,
  replacesNewer = false,
  replacesSame = false,
  into = store,
): Promise<boolean> {
  const bytes = ReadableStream.from([new Uint8Array(length / 2).fill(value), new Uint8Array(length / 2).fill(value)]);
  return into.set("pods", { bytes, version, replacesNewer, replacesSame });
}

async function found(): Promise<readonly number[] | undefined> {
  const snapshot = await store.get("pods");
  if (snapshot === undefined) return undefined;
  const bytes = new Uint8Array(await new Response(ReadableStream.from(snapshot) as ReadableStream).arrayBuffer());
  return [bytes.length, ...new Set(bytes)];
}

async function keys(): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: [] }))).length;
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

const seen: unknown[] = [];
seen.push(await found());
seen.push(await set("10", 3_000_000, 1), await found(), await keys());
seen.push(await set("9", 100, 2), await found(), await keys()); // older
seen.push(await set("10", 100, 3), await found()); // the same
seen.push(await set("10", 400, 3, false, true), await found(), await keys()); // the same, repaired
seen.push(await set("11", 200, 4), await found(), await keys());
seen.push(await set("5", 300, 5, true), await found());
seen.push(await set("99", 2 * 16_777_216, 6).catch((error) => error.name), await found(), await keys());
// Two at once: the newer one stays, whichever ends last.
seen.push((await Promise.all([set("101", 900_000, 7), set("100", 2, 8), set("102", 1_800_000, 9)])).at(-1));
seen.push(await found(), await keys());
// A write that was cut off long ago, whose chunks nobody can reach.
await kv.atomic().set(["informer-snapshots", "pods", "writing", "old"], bytesOf(Date.now() - 700_000))
  .set(["informer-snapshots", "pods", "chunk", "old", 0], new Uint8Array(1)).commit();
seen.push(await keys(), await set("103", 2, 1), await keys());
// A removal that was cut off.
await kv.atomic().set(["informer-snapshots", "pods", "removing", "old"], bytesOf(1))
  .set(["informer-snapshots", "pods", "chunk", "old", 0], new Uint8Array(1)).commit();
seen.push(await keys(), await set("104", 2, 1), await keys());
// More chunks than one atomic write may remove.
seen.push(await set("1", 62_000_000, 1, false, false, large), await set("2", 2, 2, false, false, large), await keys());
// A head without its chunks.
await kv.atomic().set(["informer-snapshots", "pods", "head"], bytesOf({ id: "none", version: "105", chunks: 1 }))
  .commit();
seen.push(await found().catch((error) => error.message));
kv[Symbol.dispose]();
console.log(JSON.stringify(seen));
