import { assertEquals, assertRejects } from "@std/assert";
import { KvCheckpoints } from "../../../src/host/connect/kv_checkpoints.ts";
import { KvSnapshots } from "../../../src/host/connect/kv_snapshots.ts";
import { MemoryCheckpoints } from "../../../src/engine/informer/events/checkpoint.ts";
import { checkCheckpointStore } from "../../support/sources/checkpoint_store.ts";
import { printedBy } from "../../support/processes/program.ts";

Deno.test("KvSnapshots and KvCheckpoints name the flag that they need", async () => {
  for (const store of [KvSnapshots, KvCheckpoints]) {
    await assertRejects(
      () => store.open(),
      Error,
      "Cannot open Deno KV: Deno has it disabled. Run Deno with --unstable-kv",
    );
  }
});

Deno.test("KvSnapshots switches snapshots in one step, leaves newer ones, and removes what is of no use any more", async () => {
  const program = new URL("./_kv_program.ts", import.meta.url);
  assertEquals(await printedBy(program, [], ["-A", "--unstable-kv", "--no-check"]), [
    null,
    ...[true, [3_000_000, 1], 51],
    ...[false, [3_000_000, 1], 51],
    ...[true, [3_000_000, 1]],
    ...[true, [400, 3], 2],
    ...[true, [200, 4], 2],
    ...[true, [300, 5]],
    ...["RangeError", [300, 5], 2],
    true,
    ...[[1_800_000, 9], 31],
    ...[33, true, 2],
    ...[4, true, 2],
    ...[true, true, 4],
    'Cannot read the snapshot "pods": chunks of it are missing',
  ]);
});

Deno.test("MemoryCheckpoints keeps what was written, and lets one reader write", async () => {
  await checkCheckpointStore(new MemoryCheckpoints());
});

Deno.test("KvCheckpoints keeps what was written, and lets one reader write", async () => {
  const program = new URL("./_kv_checkpoints_program.ts", import.meta.url);
  assertEquals(await printedBy(program, [], ["-A", "--unstable-kv"]), ["informer-checkpoints", "other"]);
});
