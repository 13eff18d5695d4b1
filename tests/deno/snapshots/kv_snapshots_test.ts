import { assertEquals, assertRejects } from "@std/assert";
import { KvSnapshots } from "../../../src/deno/snapshots/kv_snapshots.ts";

Deno.test("KvSnapshots names the flag that it needs", async () => {
  await assertRejects(() => KvSnapshots.open(), Error, "Cannot open Deno KV: run Deno with --unstable-kv");
});

Deno.test("KvSnapshots switches snapshots in one step, leaves newer ones, and removes what is of no use any more", async () => {
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", "--no-check", new URL("./_kv_program.ts", import.meta.url).href],
    stderr: "inherit",
  }).output();
  assertEquals(code, 0);
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [
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
