import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { FileSnapshots, KvSnapshots } from "../../src/deno/snapshots.ts";
import { deno, printedBy } from "../support/program.ts";
import { Folder } from "../support/serve.ts";

/** Child programs import modules that need it. */
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

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
    import { FileSnapshots } from "${import.meta.resolve("../../src/deno/snapshots.ts")}";
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
    import { FileSnapshots } from "${import.meta.resolve("../../src/deno/snapshots.ts")}";
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
    new RegExp(`^Cannot read "[^"]*"; run Deno with ${flags}\nCannot write "[^"]*"; run Deno with ${flags}\n$`),
  );
});

Deno.test("KvSnapshots names the flag that it needs", async () => {
  await assertRejects(() => KvSnapshots.open(), Error, "Cannot open Deno KV: run Deno with --unstable-kv");
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
