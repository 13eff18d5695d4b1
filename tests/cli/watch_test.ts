import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../src/engine/api/object.ts";
import { defineResource } from "../../src/engine/api/resource.ts";
import { checkOutputFile, writeCacheFile } from "../../src/cli/output_file.ts";
import { UsageError } from "../../src/cli/shared/usage.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Pod } from "../../src/engine/kinds/core/v1.ts";
import { configMap, deployment, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { pods } from "../support/sources/big_pods.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { json, run, Session } from "../support/processes/session.ts";
import { ShownScreen } from "./_shown_screen.ts";
import { Big, NARROW, WIDE, wide } from "../support/sources/wide.ts";

Deno.test("checkOutputFile refuses a path that cannot be written", async () => {
  await using folder = new Folder();
  const file = folder.write("file", "");
  const cases: [string, string][] = [
    [folder.file("no/cache.json"), `--cache: folder "${folder.file("no")}" does not exist; create it first`],
    [`${file}/cache.json`, `--cache: "${file}" is not a folder`],
    [folder.path, "is a folder; name a file"],
    ["/dev/null", "is a device or a pipe"],
    ["--timeout", `--cache needs a file, but "--timeout" looks like a flag`],
  ];
  for (const [path, message] of cases) {
    await assertRejects(() => checkOutputFile("--cache", path), UsageError, message, path);
  }
});

Deno.test("checkOutputFile does not change the folder or an existing file", async () => {
  await using folder = new Folder();
  const file = folder.write("cache.json", "[1]");
  await checkOutputFile("--cache", file);
  await checkOutputFile("--cache", folder.file("new.json"));
  assertEquals((await Array.fromAsync(Deno.readDir(folder.path))).map(({ name }) => name), ["cache.json"]);
  assertEquals(await Deno.readTextFile(file), "[1]");
});

const Secret = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

Deno.test("informer watch -o json prints one event per line, and synced once", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "-A", "-o", "json", "--server", served.url]);
  await session.out.line(/"synced"/);
  server.patch(Pod, "a", { metadata: { labels: { app: "web" } } });
  server.create(Pod, pod({ name: "b" }));
  server.delete(Pod, "a");
  await session.out.line(/"deleted"/);
  session.interrupt();
  assertEquals([await session.code, session.err.text], [0, ""]);
  const events = json(session.out.lines);
  assertEquals(
    events.map(({ type, key, initial, resync, finalStateUnknown, objects }) => ({
      type,
      key,
      flag: initial ?? resync ?? finalStateUnknown,
      objects,
    })),
    [
      { type: "added", key: "default/a", flag: true, objects: undefined },
      { type: "synced", key: undefined, flag: undefined, objects: 1 },
      { type: "updated", key: "default/a", flag: false, objects: undefined },
      { type: "added", key: "default/b", flag: false, objects: undefined },
      { type: "deleted", key: "default/a", flag: false, objects: undefined },
    ],
  );
  assertEquals(events[2].object.metadata.labels, { app: "web" });
  for (const event of events.filter(({ type }) => type !== "synced")) {
    assertEquals(event.object.metadata.resourceVersion, event.resourceVersion);
    assertEquals("managedFields" in event.object.metadata, false);
  }
});

Deno.test("informer watch prints a table or names, of the selected objects only", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" }, node: "n1" }));
  server.create(Pod, pod({ name: "web-1", namespace: "bank", labels: { app: "web" }, node: "n2" }));
  server.create(Pod, pod({ name: "db-0", namespace: "shop", node: "n1" }));
  await using served = await serve(server);
  const once = (...args: string[]): ReturnType<typeof run> =>
    run("watch", "pods", "--until-synced", ...args, "--server", served.url);

  const table = await once("-n", "shop", "-l", "app=web");
  assertEquals([table.code, table.err], [0, [`synced 1 pods at version ${server.resourceVersion}`]]);
  assertMatch(table.out.join("\n"), /^added {3}web-0 {3}0\/1 {3}Running {3}0 {3}\d+d$/);

  assertEquals((await once("-A", "-o", "name", "-l", "app=web")).out, ["pod/web-1", "pod/web-0"]);
  assertEquals((await once("-A", "-o", "name", "--field-selector", "spec.nodeName=n2")).out, ["pod/web-1"]);
  assertEquals((await once("-n", "shop", "--no-object")).out, ["added   db-0", "added   web-0"]);
  assertEquals((await once("-A", "--no-object", "-l", "app=web")).out[0], "added   bank   web-1");
  const wide = await once("-A", "-o", "wide", "--field-selector", "spec.nodeName=n2");
  assertMatch(wide.out.join("\n"), /^added {3}bank {3}web-1 {3}.* n2 /);
  const metadata = await once("-n", "shop", "-l", "app=web", "--metadata-only");
  assertMatch(metadata.out.join("\n"), /^added {3}web-0 {3}\d+d$/);
  const bare = json((await once("-A", "--no-object", "-o", "json")).out);
  assertEquals([bare.length, bare.some((event) => "object" in event)], [4, false]);
});

Deno.test("informer watch prints that it is synced after the objects", async () => {
  using server = new FakeApiServer();
  for (const each of pods(300)) server.create(Pod, each);
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "-A", "--until-synced", "--server", served.url]);
  const before: number[] = [];
  const { writeSync } = session.err;
  session.err.writeSync = (bytes) => {
    before.push(session.out.lines.length);
    return writeSync.call(session.err, bytes);
  };
  assertEquals([await session.code, before], [0, [300]]);
});

Deno.test("informer watch watches several resources, and prints the resource with each event", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0" }));
  server.create(Deployment, deployment({ name: "web" }));
  server.create(ConfigMap, configMap({ name: "settings" }));
  await using served = await serve(server);
  const cache = folder.file("cache.json");
  const args = ["pods,deploy", "cm", "po", "--until-synced", "--cache", cache, "--server", served.url];
  const { code, out } = await run("watch", ...args, "-o", "json", "--no-object");
  assertEquals(code, 0);
  const said = json(out).map(({ type, resource, key, objects }) => `${type} ${resource} ${key ?? objects}`).sort();
  assertEquals(said, [
    "added configmaps default/settings",
    "added deployments.apps default/web",
    "added pods default/web-0",
    "synced configmaps 1",
    "synced deployments.apps 1",
    "synced pods 1",
  ]);
  const kinds = JSON.parse(await Deno.readTextFile(cache)).map(({ kind }: { kind: string }) => kind);
  assertEquals(kinds, ["Pod", "Deployment", "ConfigMap"]);
  const table = await run("watch", ...args);
  const objects = JSON.parse(await Deno.readTextFile(cache)) as Pod[];
  assertEquals(objects.map(({ metadata }) => metadata.name), ["web-0", "web", "settings"], "objects, not rows");
  assertMatch(table.out.join("\n"), /added {3}deployments {3}web /);
});

Deno.test("informer watch requests metadata alone, and a streaming list or pages, by its flags", async () => {
  using server = new FakeApiServer();
  server.create(Deployment, deployment({ name: "web" }));
  await using served = await serve(server);
  const once = async (...args: string[]): Promise<{ objects: unknown[]; lists: number; streams: number }> => {
    const before = server.requests.length;
    const { code, out } = await run(
      ...["watch", "deploy", "--until-synced", "-o", "json", ...args, "--server", served.url],
    );
    assertEquals(code, 0);
    const asked = server.requests.slice(before).filter(({ resource }) => resource === "deployments");
    const streams = asked.filter(({ query }) => query.has("sendInitialEvents")).length;
    return {
      objects: json(out).flatMap(({ object }) => object === undefined ? [] : [object]),
      lists: asked.filter(({ verb }) => verb === "list").length,
      streams,
    };
  };
  const metadata = await once("--metadata-only");
  assertEquals(metadata.objects.map((object) => Object.keys(object as object).sort()), [[
    "apiVersion",
    "kind",
    "metadata",
  ]]);
  for (const [mode, lists, streams] of [["on", 0, 1], ["off", 1, 0], ["auto", 0, 1]] as const) {
    const got = await once("--streaming-list", mode);
    assertEquals([mode, got.lists, got.streams, got.objects.length], [mode, lists, streams, 1]);
  }
});

Deno.test("informer watch falls back to pages on a server without streaming lists, unless a flag forbids it", async () => {
  using server = new FakeApiServer({ streamingList: false });
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  const args = ["watch", "pods", "--until-synced", "-o", "name", "--server", served.url];
  assertEquals((await run(...args)).out, ["pod/a"]);
  const { code, out, err } = await run(...args, "--streaming-list", "on");
  assertEquals([code, out, err.length], [1, [], 1], err.join("\n"));
  assertMatch(err[0], /^error: .*422/);
});

Deno.test("informer watch prints all objects again at each resync", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  const session = new Session([
    "watch",
    "pods",
    "-o",
    "json",
    "--resync",
    "50ms",
    "--no-object",
    "--server",
    served.url,
  ]);
  await session.out.until((lines) => lines.filter((line) => line.includes(`"resync":true`)).length >= 2);
  session.interrupt();
  assertEquals(await session.code, 0);
  assertMatch(session.out.lines[2], /^\{"type":"updated","key":"default\/a","resourceVersion":"\d+","resync":true\}$/);
});

Deno.test("informer watch redacts Secrets in its output and in the cache file by default", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  const secret = { metadata: { name: "login", namespace: "default" }, data: { password: "aHVudGVyMg==" } };
  server.create(Secret, secret as never);
  await using served = await serve(server);
  const cache = folder.file("cache.json");
  const args = ["watch", "secrets", "-o", "json", "--until-synced", "--cache", cache, "--server", served.url];
  const hidden = await run(...args);
  assertEquals(json(hidden.out)[0].object.data, { password: "[redacted]" });
  assertEquals(JSON.parse(await Deno.readTextFile(cache))[0].data, { password: "[redacted]" });
  const shown = await run(...args, "--secret-data");
  assertEquals(json(shown.out)[0].object.data, { password: "aHVudGVyMg==" });
  assertEquals(JSON.parse(await Deno.readTextFile(cache))[0].data, { password: "aHVudGVyMg==" });
  if (Deno.build.os !== "windows") assertEquals((await Deno.stat(cache)).mode! & 0o077, 0, "for its owner alone");
});

Deno.test("informer watch writes a cache file that equals the output of get", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  for (const each of pods(700)) server.create(Pod, each);
  await using served = await serve(server);
  const cache = folder.file("cache.json");
  const session = new Session(
    ["watch", "pods", "-A", "-o", "json", "--no-object", "--cache", cache, "--server", served.url],
  );
  await session.out.line(/"synced","objects":700/);
  const [first, second, ...rest] = server.keys(Pod);
  server.delete(Pod, first);
  server.patch(Pod, second, { metadata: { labels: { changed: "yes" } } });
  server.create(Pod, pod({ name: "zz" }));
  for (const key of rest.slice(0, 50)) server.patch(Pod, key, { status: { phase: "Failed" } });
  await session.out.until((lines) => lines.length === 700 + 1 + 53);
  session.interrupt();
  assertEquals([await session.code, session.err.text], [0, ""]);
  const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
  const saved = JSON.parse(await Deno.readTextFile(cache)) as Pod[];
  const list = JSON.parse((await run("get", "pods", "-A", "-o", "json", "--server", served.url)).out.join("\n"));
  const keys = saved.map(keyOf);
  assertEquals(keys, [...keys].sort(), "sorted by key");
  const byKey = new Map((list.items as Pod[]).map((item) => [keyOf(item), item]));
  assertEquals(saved.length, byKey.size);
  for (const object of saved) assertEquals(object, byKey.get(keyOf(object)));
});

Deno.test("informer watch --timeout ends without an error, and with --until-synced as a failure", async () => {
  await using folder = new Folder();
  const cache = folder.write("cache.json", "[1]");
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  const watch = (...args: string[]): ReturnType<typeof run> =>
    run("watch", "pods", "-o", "name", "--timeout", "400ms", ...args);
  const at = ["--server", served.url];
  const good = await watch(...at);
  assertEquals([good.code, good.out], [0, ["pod/a"]]);
  assertEquals((await watch("--until-synced", ...at)).code, 0);

  server.failNext(500, 1_000, ({ resource }) => resource === "pods");
  const bad = await watch("--until-synced", "--cache", cache, ...at);
  assertEquals([bad.code, bad.out], [1, []]);
  assert(bad.err.includes(`--cache: "${cache}" was not written, because pods never synced`), bad.err.join("\n"));
  assertMatch(bad.err.at(-1)!, /^error: pods not synced within --timeout 400ms: .*500.*; check the server, or give it/);
  assertEquals(await Deno.readTextFile(cache), "[1]", "an earlier cache stays");

  using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 }); // connections are made, and nobody answers
  const { port } = mute.addr as Deno.NetAddr;
  const patient = await watch("--server", `http://127.0.0.1:${port}`);
  assertEquals([patient.code, patient.err.length], [0, 1]);
  assertMatch(patient.err[0], /^warning: no response within/);
  const silent = await watch("--until-synced", "--server", `http://127.0.0.1:${port}`);
  assertEquals(
    silent,
    { code: 1, out: [], err: ["error: no response within --timeout 400ms; check the server, or give it more time"] },
  );
});

Deno.test("informer watch on a terminal shows a live line below its output, and erases it at the end", async () => {
  using server = new FakeApiServer();
  for (const each of pods(20)) server.create(Pod, each);
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "-A", "--no-object", "--server", served.url], {
    terminal: true,
    columns: 30,
  });
  await session.err.until(() => session.err.text.includes("pods: live, 20 objects"));
  session.interrupt();
  assertEquals(await session.code, 0);
  assert(session.err.text.endsWith("\r\x1b[2K"), "the live line is gone");
  // deno-lint-ignore no-control-regex -- what takes a line back
  for (const shown of session.err.text.split(/\r\x1b\[2K|\n/)) {
    assert(!shown.startsWith("pods:") || shown.length <= 29, `too wide: ${shown}`);
  }
});

Deno.test("informer watch on a terminal shows a table that changes in place, and gives the screen back", async () => {
  using server = new FakeApiServer();
  for (const name of ["a", "b", "c"]) server.create(Pod, pod({ name, phase: "Running" }));
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "--server", served.url], { terminal: true, columns: 100, rows: 8 });
  const screen = new ShownScreen();
  let read = 0;
  const shows = (holds: (rows: string[]) => boolean): Promise<void> =>
    session.out.until(() => {
      screen.write(session.out.text.slice(read));
      read = session.out.text.length;
      return holds(screen.rows);
    });
  await shows((rows) => rows.some((row) => row.startsWith("c  ")) && /events\/s$/.test(rows[0]));
  assertMatch(screen.rows[0], /^pods: live, 3 objects/);
  assertMatch(screen.rows[1], /^NAME +READY +STATUS +RESTARTS +AGE$/);
  assertEquals(screen.rows.slice(2, 5).map((row) => row.split(" ")[0]), ["a", "b", "c"]);
  assertEquals(screen.rows.at(-1), "q ends");

  screen.written.length = 0;
  server.patch(Pod, "b", { status: { phase: "Failed" } });
  await shows((rows) => / Failed /.test(rows[3]));
  assertEquals(screen.written.filter((row) => row > 1), [4], "only the changed row is written");
  server.delete(Pod, "a");
  await shows((rows) => rows[2]?.startsWith("b "));

  for (const name of ["d", "e", "f", "g", "h"]) server.create(Pod, pod({ name }));
  await shows((rows) => rows[6]?.startsWith("f ") && rows[7]?.startsWith("lines 1 to 6 of 8"));
  session.press("G");
  await shows((rows) => rows[6]?.startsWith("h "));
  session.size = { columns: 20, rows: 5 };
  await shows((rows) => rows.length === 5 && rows[3]?.startsWith("e ") && rows.every((row) => row.length <= 20));

  session.press("q");
  assertEquals(await session.code, 0);
  assert(session.out.text.endsWith("\x1b[?7h\x1b[?25h\x1b[?1049l"), "the screen is given back");
});

Deno.test("informer watch on a terminal names the namespace without objects, and prints its messages at the end", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const session = new Session(["watch", "cm", "-n", "shop", "--server", served.url], { terminal: true });
  await session.out.until(() => session.out.text.includes("no configmaps found in namespace shop"));
  server.failNext(500, 1, ({ verb }) => verb === "watch");
  server.endWatches();
  await session.out.until(() => session.out.text.includes("configmaps: live again"));
  assertEquals(session.err.text.includes("trying again"), false, "not across the table");
  session.interrupt();
  assertEquals(await session.code, 0);
  assertMatch(session.err.text, /configmaps: .*500.*; trying again\n/);
});

Deno.test("informer watch that is stopped prints the whole cache to a slow reader, in order", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  for (const each of pods(1_500)) server.create(Pod, each);
  await using served = await serve(server);
  const cache = folder.file("cache.json");
  const session = new Session(["watch", "pods", "-A", "-o", "json", "--cache", cache, "--server", served.url]);
  const reader = Promise.withResolvers<void>();
  let writes = 0;
  Object.defineProperty(session.out, "blocked", { get: () => ++writes > 3 ? reader.promise : undefined });
  await session.out.line(/"added"/);
  const read = session.out.lines.length;
  session.interrupt();
  assert(read < 500, `all was read before it was interrupted: ${read} lines`);
  reader.resolve();
  assertEquals([await session.code, session.err.text], [0, ""]);
  const events = json(session.out.lines);
  assertEquals(events.at(-1).type, "synced");
  assertEquals(events.slice(0, -1).map(({ object }) => object), JSON.parse(await Deno.readTextFile(cache)));
  assertEquals(events.length, 1_501);
});

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

Deno.test("informer watch prints large integers of custom kinds as the server has them", async () => {
  using server = new FakeApiServer();
  server.define(Big.crd as never);
  server.create(Big, { metadata: { name: "a", namespace: "shop" }, spec: { id: NARROW[0], ids: [NARROW[1]] } });
  await using served = await serve(wide(server));
  await using folder = new Folder();
  const path = folder.file("cache.json");
  const { out } = await run(
    "watch",
    "bigs",
    "-n",
    "shop",
    "-o",
    "json",
    "--until-synced",
    "--cache",
    path,
    "--server",
    served.url,
  );
  const spec = `"spec":{"id":${WIDE[0]},"ids":[${WIDE[1]}]}`;
  assert(out[0].includes(spec), out[0]);
  assert((await Deno.readTextFile(path)).includes(spec));
});
