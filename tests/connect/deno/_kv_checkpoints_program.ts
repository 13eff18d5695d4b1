import { KvCheckpoints, type SnapshotKv } from "../../../src/connect/deno/stores.ts";
import { checkPositionStore } from "../../support/checkpoint_store.ts";

/** Checks the checkpoints of a database of Deno KV. `deno run --unstable-kv`. */

using kv = await (Deno as unknown as { openKv(path: string): Promise<SnapshotKv & Disposable> }).openKv(":memory:");
await checkPositionStore(new KvCheckpoints(kv));
await checkPositionStore(new KvCheckpoints(kv, { prefix: ["other"] }));
const keys = await Array.fromAsync(kv.list({ prefix: [] }));
console.log(JSON.stringify([...new Set(keys.map(({ key }) => key[0]))]));
