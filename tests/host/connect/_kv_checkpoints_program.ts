import { KvCheckpoints } from "../../../src/host/connect/kv_checkpoints.ts";
import type { SnapshotKv } from "../../../src/host/connect/kv_store.ts";
import { checkCheckpointStore } from "../../support/sources/checkpoint_store.ts";

/** Checks the checkpoints of a database of Deno KV. `deno run --unstable-kv`. */

using kv = await (Deno as unknown as { openKv(path: string): Promise<SnapshotKv & Disposable> }).openKv(":memory:");
await checkCheckpointStore(new KvCheckpoints(kv));
await checkCheckpointStore(new KvCheckpoints(kv, { prefix: ["other"] }));
const keys = await Array.fromAsync(kv.list({ prefix: [] }));
console.log(JSON.stringify([...new Set(keys.map(({ key }) => key[0]))]));
{
  using opened = await KvCheckpoints.open({ path: ":memory:" });
  await checkCheckpointStore(opened);
}
