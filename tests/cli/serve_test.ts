import { assert, assertEquals, assertMatch } from "@std/assert";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run, Session } from "../support/processes/session.ts";

/** A session that serves, and the address that it has printed. */
async function serving(...args: string[]): Promise<{ session: Session; address: string }> {
  const session = new Session(["serve", ...args]);
  await session.out.line(/^http:/);
  return { session, address: session.out.lines[0] };
}

Deno.test("informer serve serves lists and events until it is interrupted, and ends open streams", async () => {
  const { session, address } = await serving("pods,nodes", "-A", "--fake");
  const { items } = await (await fetch(`${address}/api/pods?fields=spec.nodeName`)).json();
  assert(items.length > 50);
  assertEquals(Object.keys(items[0].spec), ["nodeName"]);
  const stream = await fetch(`${address}/events/nodes`);
  session.interrupt();
  assertEquals(await session.code, 0);
  assertMatch(await stream.text(), /event:end\ndata:\{"reason":"closed"\}\n\n$/);
  assertEquals(session.err.lines, [
    `serving pods, nodes on ${address}; open it in a browser, or try: curl -N ${address}/events/pods`,
  ]);
});

Deno.test("informer serve serves one namespace, unless all are asked for", async () => {
  const { session, address } = await serving("pods", "--fake", "--port", "0");
  const { items } = await (await fetch(`${address}/api/pods`)).json();
  // deno-lint-ignore no-explicit-any
  assertEquals(new Set(items.map(({ metadata }: any) => metadata.namespace)), new Set(["default"]));
  assertEquals(await (await fetch(`${address}/readyz`)).text(), "ok\n");
  session.interrupt();
  await session.code;
});

Deno.test("informer serve serves each of several collections with one plural, in any order", async () => {
  const names = ["events", "events.events.k8s.io"];
  for (const args of [names, names.toReversed()]) {
    const { session, address } = await serving(...args, "--fake");
    const { error } = await (await fetch(`${address}/api/none`)).json();
    assertMatch(error, new RegExp(`Its collections are ${args.join(", ")}$`));
    for (const [i, path] of ["api/v1", "apis/events.k8s.io/v1"].entries()) {
      assertEquals((await (await fetch(`${address}/api/${names[i]}`)).json()).state, "live");
      const { resources } = await (await fetch(`${address}/kubernetes/${path}`)).json();
      assertEquals(resources.map(({ name }: { readonly name: string }) => name), ["events"]);
    }
    session.interrupt();
    await session.code;
  }
});

Deno.test("informer serve --snapshot keeps the members of a category in a file each", async () => {
  await using folder = new Folder();
  const place = { group: "example.com", version: "v1", scope: "Namespaced", categories: ["mine"] } as const;
  await using served = await serve(
    new FakeApiServer({
      resources: [{ ...place, plural: "alphas", kind: "Alpha" }, { ...place, plural: "betas", kind: "Beta" }],
    }),
  );
  const { session, address } = await serving("mine", "--server", served.url, "--snapshot", folder.file("all"));
  for (const name of ["alphas", "betas"]) await (await fetch(`${address}/api/${name}`)).text();
  session.interrupt();
  await session.code;
  const files = Array.from(Deno.readDirSync(folder.path), ({ name }) => name).sort();
  assertEquals(files, ["all.alphas.example.com", "all.betas.example.com"]);
});

Deno.test("informer serve --snapshot begins with the cache that it wrote at its end, without a list", async () => {
  await using folder = new Folder();
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  const file = folder.file("pods.snapshot");
  const listOf = async (): Promise<[string, string[]]> => {
    const { session, address } = await serving("pods", "-A", "--server", served.url, "--snapshot", file);
    const { state, items } = await (await fetch(`${address}/api/pods`)).json();
    session.interrupt();
    assertEquals(await session.code, 0);
    // deno-lint-ignore no-explicit-any
    return [state, items.map(({ metadata }: any) => metadata.name)];
  };
  await listOf();
  const before = server.requests.length;
  const [state, names] = await listOf();
  assert(["stale", "live"].includes(state));
  assertEquals(names, ["a"]);
  const later = server.requests.slice(before).filter(({ url }) => url.includes("/pods"));
  const versions = later.map(({ url }) => new URL(url, served.url).searchParams.get("resourceVersion"));
  assertEquals(new Set(versions), new Set(["2"])); // on a busy machine a watch may be opened again
});

Deno.test("informer serve --snapshot keeps several resources in a file each, and no data of Secrets", async () => {
  await using folder = new Folder();
  const server = new FakeApiServer();
  await using served = await serve(server);
  const { session, address } = await serving(
    "pods,deployments,secrets",
    ...["-n", "shop", "--secret-data", "--server", served.url, "--snapshot", folder.file("all")],
  );
  for (const name of ["pods", "deployments", "secrets"]) await (await fetch(`${address}/api/${name}`)).text();
  session.interrupt();
  await session.code;
  assertEquals(Array.from(Deno.readDirSync(folder.path), ({ name }) => name).sort(), [
    "all.deployments.apps",
    "all.pods",
  ]);
});

Deno.test("informer serve --max-bytes ends a list that is too large, and says so", async () => {
  const { session, address } = await serving("pods", "-A", "--fake", "--max-bytes", "20kB");
  const response = await fetch(`${address}/api/pods`);
  assertEquals(response.status, 503);
  assertMatch((await response.json()).error, /has not synced/);
  await session.err.line(/Cannot list "pods": the caches of the factory hold more than maxBytes, 20.0 kB/);
  session.interrupt();
  await session.code;
  for (const size of ["0", "many", "-1MB", "5TB"]) {
    assertEquals((await run("serve", "pods", "--fake", `--max-bytes=${size}`)).err, [
      `error: --max-bytes must be a size such as "512MB" or "1GiB", but it is "${size}"`,
    ]);
  }
});

Deno.test("informer serve refuses what it cannot serve", async () => {
  assertEquals((await run("serve", "podz", "--fake")).code, 2);
  assertEquals((await run("serve", "pods", "--fake", "--port", "70000")).err, [
    "error: --port must be at most 65535, but it is 70000",
  ]);
  assertEquals((await run("serve")).code, 2);
  assertEquals((await run("serve", "pods", "--fake", "--snapshot", "x")).err, [
    "error: --snapshot and --fake cannot be combined, because fake objects end with this program; leave one out",
  ]);
  assertEquals((await run("serve", "pods", "--snapshot", "/nowhere/x")).err, [
    'error: --snapshot: folder "/nowhere" does not exist; create it first',
  ]);
});

Deno.test("informer serve exits with 1 if it could not write its snapshot", async () => {
  await using folder = new Folder();
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  await using served = await serve(server);
  await Deno.mkdir(folder.file("snapshots"));
  const file = folder.file("snapshots/pods");
  const { session, address } = await serving("pods", "-A", "--server", served.url, "--snapshot", file);
  await (await fetch(`${address}/api/pods`)).text();
  await Deno.remove(folder.file("snapshots"), { recursive: true });
  session.interrupt();
  assertEquals(await session.code, 1);
  assertMatch(session.err.lines.at(-1)!, /^error: pods: Cannot keep a snapshot of "pods.*no such file or directory/);
});

Deno.test("informer serve lists the short names of its kinds for kubectl", async () => {
  const { session, address } = await serving("pods,deployments", "-A", "--fake");
  const { resources } = await (await fetch(`${address}/kubernetes/apis/apps/v1`)).json();
  assertEquals([resources[0].shortNames, resources[0].categories], [["deploy"], ["all"]]);
  session.interrupt();
  await session.code;
});

Deno.test("informer serve answers the page under names of this machine and those of --host, and asks no relay for it", async () => {
  const { session, address } = await serving("pods", "--fake", "--host", "tunnel.example");
  for (const [host, status] of [["tunnel.example", "200"], ["localhost", "200"], ["evil.example", "421"]]) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(address).port) });
    const head = `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    const answer = await new Response(connection.readable).text();
    assertEquals(answer.slice(0, 12), `HTTP/1.1 ${status}`);
    assertEquals(/\r\n\r\nCannot answer "?GET"?: this server does not serve this host/.test(answer), status === "421");
  }
  const posted = await fetch(address, { method: "POST" });
  assertEquals([posted.status, (await posted.json()).error.includes("/api/<name>")], [404, true]);
  session.interrupt();
  assertEquals(await session.code, 0);
});
