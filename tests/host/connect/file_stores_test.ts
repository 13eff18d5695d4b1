import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { CheckpointRecord } from "../../../src/engine/api/stores.ts";
import { FileCheckpoints, FileSnapshots } from "../../../src/host/connect/file_stores.ts";
import { checkCheckpointStore } from "../../support/sources/checkpoint_store.ts";
import { deno } from "../../support/processes/program.ts";
import { Folder } from "../../support/servers/serve.ts";

/** Child programs import modules that need it. */
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Writes a text, or chunks of it and then an error. */
function set(store: FileSnapshots, name: string, chunks: readonly (string | Error)[]): Promise<boolean> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      if (typeof chunk !== "string") throw chunk;
      yield await Promise.resolve(new TextEncoder().encode(chunk));
    }
  }
  return store.set(name, { bytes: bytes(), version: "1", replacesNewer: false });
}

async function textOf(store: FileSnapshots, name: string): Promise<string | undefined> {
  const found = await store.get(name);
  return found && await new Response(ReadableStream.from(found)).text();
}

Deno.test("FileSnapshots keeps each snapshot in a file of its own, which others cannot read", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(folder.path);
  assertEquals(await textOf(store, "pods/v1"), undefined);
  const long = "x".repeat(9_000_000);
  await set(store, "pods/v1", ["old"]);
  await set(store, "pods/v1", [long, "end"]);
  await set(store, "pods/v1?labelSelector=a", ["other"]);
  assertEquals(await textOf(store, "pods/v1"), `${long}end`);
  const names = Array.from(Deno.readDirSync(folder.path), ({ name }) => name).sort();
  assertEquals(names, ["pods%2Fv1%3FlabelSelector%3Da.snapshot", "pods%2Fv1.snapshot"]);
  assertEquals((await Deno.stat(folder.file(names[1]))).mode! & 0o777, 0o600);
});

Deno.test("FileSnapshots and FileCheckpoints cut long names, which stay distinct", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(folder.path);
  const fields = Array.from({ length: 30 }, (_, i) => `status.conditions.field${i}`);
  const names = [...fields, "status.other"].map((_, i, all) => `pods/v1?fields=${all.toSpliced(i, 1).join()}`);
  for (const [i, name] of names.entries()) await set(store, name, [`${i}`]);
  for (const [i, name] of names.entries()) assertEquals(await textOf(store, name), `${i}`);
  const checkpoints = new FileCheckpoints(folder.path);
  const record = { holder: crypto.randomUUID(), version: "1", objects: new Map() };
  assert(await checkpoints.set(names[0], record, { stamp: undefined, keys: [] }) !== undefined);
  assertEquals((await checkpoints.get(names[0]))?.record, record);
  assertEquals(await checkpoints.get(names[1]), undefined);
  const files = Array.from(Deno.readDirSync(folder.path), ({ name }) => name);
  assertEquals(files.length, names.length + 1);
  assert(files.every((name) => name.length <= 200 && name.startsWith("pods%2Fv1%3Ffields%3Dstatus.")), files.join());
});

Deno.test("FileSnapshots names the reason for which a file cannot be written, also where it cannot be removed either", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("a".repeat(260)));
  const error = await assertRejects(() => set(store, "pods/v1", ["new"]), Error, "Cannot write");
  assertStringIncludes((error.cause as Error).message, "name too long");
});

Deno.test("FileSnapshots leaves the old file where the writing fails, or the snapshot is too large", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("pods"), { maxBytes: 6 });
  await set(store, "pods/v1", ["old"]);
  const error = await assertRejects(() => set(store, "pods/v1", ["new", new Error("broken")]), Error, "Cannot write");
  assertEquals((error.cause as Error).message, "broken");
  await assertRejects(() => set(store, "pods/v1", ["1234", "567"]), RangeError, "more than 6 bytes");
  assertEquals(await textOf(store, "pods/v1"), "old");
  assertEquals([...Deno.readDirSync(folder.path)].length, 1);
});

Deno.test("FileSnapshots leaves the old file when the process is killed while it writes, and removes what that has left later", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("pods"));
  await set(store, "pods/v1", ["old"]);
  const program = `
    import { FileSnapshots } from "${import.meta.resolve("../../../src/host/connect/file_stores.ts")}";
    const bytes = (async function* () {
      yield new Uint8Array(1_000_000);
      console.log("writing");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    })();
    await new FileSnapshots(() => "${
    folder.file("pods")
  }").set("pods/v1", { bytes, version: "2", replacesNewer: false });`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", CONFIG, `data:text/typescript,${encodeURIComponent(program)}`],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  assertEquals(new TextDecoder().decode((await reader.read()).value), "writing\n");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  assertEquals(await textOf(store, "pods/v1"), "old");
  const names = (): string[] => [...Deno.readDirSync(folder.path)].map(({ name }) => name).sort();
  const left = names().find((name) => /^pods\.[0-9a-f]{8}\.tmp$/.test(name))!;
  await Deno.writeTextFile(folder.file("pods.mine.tmp"), "not ours");
  await set(store, "pods/v1", ["new"]);
  assertEquals(names(), ["pods", left, "pods.mine.tmp"].sort()); // another process may be at it
  for (const name of [left, "pods.mine.tmp"]) await Deno.utime(folder.file(name), 0, Date.now() / 1_000 - 660);
  await set(store, "pods/v1", ["newer"]);
  assertEquals(names(), ["pods", "pods.mine.tmp"]);
});

Deno.test("FileSnapshots names the flags of Deno that are missing", async () => {
  await using folder = new Folder();
  const program = `
    import { FileSnapshots } from "${import.meta.resolve("../../../src/host/connect/file_stores.ts")}";
    const store = new FileSnapshots("${folder.path}");
    const bytes = (async function* () {})();
    for (const call of [store.get("pods"), store.set("pods", { bytes, version: "", replacesNewer: false })]) {
      await call.catch((error) => console.log(error.message));
    }`;
  const url = `data:text/typescript,${encodeURIComponent(program)}`;
  const { out } = await deno(["run", "--no-check", "--no-prompt", "--config", CONFIG, url]);
  const flags = `--allow-read=${folder.path} --allow-write=${folder.path}`;
  assertMatch(
    out,
    new RegExp(`^Cannot read "[^"]*"\\. Run Deno with ${flags}\nCannot write "[^"]*"\\. Run Deno with ${flags}\n$`),
  );
});

const HOLDER = crypto.randomUUID();

Deno.test("FileCheckpoints keeps what was written, and lets one reader write", async () => {
  await using folder = new Folder();
  await checkCheckpointStore(new FileCheckpoints(folder.path));
  const names = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
  assertEquals(names, ["a%2Fb%20%2A.checkpoint"], "nothing is left beside it");
});

/** A record of one object. */
function record(version: string): CheckpointRecord {
  return { holder: HOLDER, version, objects: new Map([["shop/a", ["uid", version]]]) };
}

Deno.test("FileCheckpoints appends what has changed, and reads all but a line that a crash has cut", async () => {
  await using folder = new Folder();
  const store = new FileCheckpoints(folder.path);
  const file = folder.file("x.checkpoint");
  let stamp = await store.set("x", record("1"), { stamp: undefined, keys: [] });
  const before = await Deno.readTextFile(file);
  stamp = await store.set("x", record("2"), { stamp, keys: ["shop/a"] });
  const whole = await Deno.readTextFile(file);
  assertEquals(whole, `${before}${JSON.stringify({ version: "2", objects: [["shop/a", "uid", "2"]] })}\n`);
  for (let cut = before.length; cut < whole.length; cut++) {
    await Deno.writeTextFile(file, whole.slice(0, cut));
    assertEquals((await new FileCheckpoints(folder.path).get("x"))?.record, record("1"));
  }
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
});

Deno.test("FileCheckpoints writes a file anew when as much was appended as it had", async () => {
  await using folder = new Folder();
  const store = new FileCheckpoints(folder.path);
  let stamp: unknown;
  let largest = 0;
  for (let version = 1; version <= 3_000; version++) {
    stamp = await store.set("x", record(`${version}`), { stamp, keys: ["shop/a"] });
    largest = Math.max(largest, (await Deno.stat(folder.file("x.checkpoint"))).size);
  }
  assertEquals(largest < 80_000, true, `a file of ${largest} bytes`);
  assertEquals((await store.get("x"))?.record, record("3000"));
});

Deno.test("FileCheckpoints names the file that it cannot read or write", async () => {
  await using folder = new Folder();
  await Deno.writeTextFile(folder.file("x.checkpoint"), "Dear diary\n");
  const store = new FileCheckpoints(folder.path);
  await assertRejects(
    () => store.get("x"),
    Error,
    `x.checkpoint": it is not a checkpoint, because it begins with "Dear diary"`,
  );
  for (const damaged of ["{}", "nonsense", "null", `{"version":"1","objects":[5]}`, "[".repeat(9_000)]) {
    await store.set("y", record("1"), { stamp: undefined, keys: [] });
    await Deno.writeTextFile(folder.file("y.checkpoint"), `${damaged}\n`, { append: true });
    const error = await assertRejects(() => store.get("y"), Error);
    assertEquals(
      error.message,
      `Cannot read "${folder.file("y.checkpoint")}": line 3 is damaged. Remove the file to begin from scratch`,
    );
    await Deno.remove(folder.file("y.checkpoint"));
  }
  const missing = new FileCheckpoints(folder.file("missing"));
  const change = { stamp: undefined, keys: [] };
  await assertRejects(
    () => missing.set("y", record("1"), change),
    Error,
    `Cannot write "${folder.file("missing")}/y`,
  );
});
