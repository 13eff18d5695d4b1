import { assertEquals, assertRejects } from "@std/assert";
import { FilePositions } from "../../src/deno/positions.ts";
import type { PositionRecord } from "../../src/api/position.ts";
import { MemoryPositions } from "../../src/informer/events/position.ts";
import { checkPositionStore } from "../support/position_store.ts";
import { printedBy } from "../support/program.ts";
import { Folder } from "../support/serve.ts";

const HOLDER = crypto.randomUUID();

Deno.test("MemoryPositions keeps what was written, and lets one reader write", async () => {
  await checkPositionStore(new MemoryPositions());
});

Deno.test("FilePositions keeps what was written, and lets one reader write", async () => {
  await using folder = new Folder();
  await checkPositionStore(new FilePositions(folder.path));
  const names = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
  assertEquals(names, ["a%2Fb%20%2A.position"], "nothing is left beside it");
});

Deno.test("KvPositions keeps what was written, and lets one reader write", async () => {
  const program = new URL("./_kv_positions_program.ts", import.meta.url);
  assertEquals(await printedBy(program, [], ["-A", "--unstable-kv"]), ["informer-positions", "other"]);
});

/** A record of one object. */
function record(version: string): PositionRecord {
  return { holder: HOLDER, version, objects: new Map([["shop/a", ["uid", version]]]) };
}

Deno.test("FilePositions appends what has changed, and reads all but a line that a crash has cut", async () => {
  await using folder = new Folder();
  const store = new FilePositions(folder.path);
  const file = folder.file("x.position");
  let stamp = await store.write("x", record("1"), { stamp: undefined, keys: [] });
  const before = await Deno.readTextFile(file);
  stamp = await store.write("x", record("2"), { stamp, keys: ["shop/a"] });
  const whole = await Deno.readTextFile(file);
  assertEquals(whole, `${before}${JSON.stringify({ version: "2", objects: [["shop/a", "uid", "2"]] })}\n`);
  for (let cut = before.length; cut < whole.length; cut++) {
    await Deno.writeTextFile(file, whole.slice(0, cut));
    assertEquals((await new FilePositions(folder.path).read("x"))?.record, record("1"));
  }
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
});

Deno.test("FilePositions writes a file anew when as much was appended as it had", async () => {
  await using folder = new Folder();
  const store = new FilePositions(folder.path);
  let stamp: unknown;
  let largest = 0;
  for (let version = 1; version <= 3_000; version++) {
    stamp = await store.write("x", record(`${version}`), { stamp, keys: ["shop/a"] });
    largest = Math.max(largest, (await Deno.stat(folder.file("x.position"))).size);
  }
  assertEquals(largest < 80_000, true, `a file of ${largest} bytes`);
  assertEquals((await store.read("x"))?.record, record("3000"));
});

Deno.test("FilePositions names the file that it cannot read or write", async () => {
  await using folder = new Folder();
  await Deno.writeTextFile(folder.file("x.position"), "Dear diary\n");
  const store = new FilePositions(folder.path);
  await assertRejects(() => store.read("x"), Error, `x.position": found "Dear diary", no position`);
  const missing = new FilePositions(folder.file("missing"));
  const change = { stamp: undefined, keys: [] };
  await assertRejects(
    () => missing.write("y", record("1"), change),
    Error,
    `Cannot write "${folder.file("missing")}/y`,
  );
});
