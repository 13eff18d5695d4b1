import { assertEquals, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import { writeCacheFile } from "../../src/cli/write_cache_file.ts";
import { Folder } from "../support/serve.ts";

function named(name: string): KubernetesObject {
  return { metadata: { name } } as KubernetesObject;
}

async function namesIn(folder: Folder): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder.path))).map(({ name }) => name).sort();
}

Deno.test("writeCacheFile writes a JSON array of one line per object", async () => {
  await using folder = new Folder();
  const file = folder.file("cache.json");
  await writeCacheFile(file, []);
  assertEquals(await Deno.readTextFile(file), "[]\n");
  await writeCacheFile(file, [named("a"), named("b")]);
  assertEquals(await Deno.readTextFile(file), `[\n{"metadata":{"name":"a"}},\n{"metadata":{"name":"b"}}\n]\n`);
  assertEquals(await namesIn(folder), ["cache.json"]);
});

Deno.test("writeCacheFile writes caches that are larger than one buffer", async () => {
  await using folder = new Folder();
  const file = folder.file("cache.json");
  const objects = Array.from({ length: 3_000 }, (_, i) => named(`${i}-${"x".repeat(1_000)}`));
  await writeCacheFile(file, objects);
  assertEquals(JSON.parse(await Deno.readTextFile(file)), objects);
});

Deno.test({
  name: "writeCacheFile writes a file that others cannot read",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using folder = new Folder();
    const file = folder.file("cache.json");
    await writeCacheFile(file, []);
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
  },
});

Deno.test("writeCacheFile keeps the old file when writing fails half way", async () => {
  await using folder = new Folder();
  const file = folder.write("cache.json", "[1]");
  const broken = (function* (): Generator<KubernetesObject> {
    yield named("a");
    throw new Error("cannot be read");
  })();
  const error = await assertRejects(() => writeCacheFile(file, broken), Error, `Cannot write the cache to "${file}"`);
  assertEquals((error.cause as Error).message, "cannot be read");
  assertEquals(await Deno.readTextFile(file), "[1]");
  assertEquals(await namesIn(folder), ["cache.json"]);
});
