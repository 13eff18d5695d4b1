import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { ConfigMap, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { Folder, serve, type Served } from "../../support/servers/serve.ts";
import { json, run, Session } from "../../support/processes/session.ts";
import { ShownScreen } from "../_shown_screen.ts";

/** The headers of the requests so far that name a user, without repetition. */
function users(server: FakeApiServer): string[] {
  return [
    ...new Set(
      server.requests.map(({ headers }) =>
        [...headers].filter(([name]) => name.startsWith("impersonate-")).map((line) => line.join("=")).join(" ")
      ),
    ),
  ];
}

Deno.test("each command that connects acts as the user of --as, --as-group and --as-uid", async () => {
  const as = ["--as", "ada", "--as-group", "analysts", "--as-group", "b", "--as-uid", "7"];
  const ada = ["impersonate-group=analysts, b impersonate-uid=7 impersonate-user=ada"];
  for (
    const args of [["get", "pods"], ["kinds"], ["doctor"], ["watch", "pods", "--until-synced"], [
      ...["wait", "pod/none", "--for", "deleted"],
    ]]
  ) {
    using server = new FakeApiServer();
    await using served = await serve(server);
    await run(...args, "--server", served.url, ...as);
    assert(server.requests.length > 0);
    // The doctor first looks whether there is a server at all.
    assertEquals(users(server), ada, args.join(" "));
  }
});

Deno.test("--as-group and --as-uid need --as, which the fake does not know", async () => {
  const cases: [string, ...string[]][] = [
    ["--as-group needs a user; name it with --as", "--as-group", "a"],
    ["--as-uid needs a user; name it with --as", "--as-uid", "7"],
    ["--fake needs no other server; leave out --as", "--as", "ada", "--fake"],
    ["Cannot connect: --as-group contains line ends or control characters, or begins or ends with a blank", ...[
      ...["--as", "ada", "--as-group", " a"],
    ]],
  ];
  for (const [message, ...args] of cases) {
    const { code, out, err } = await run("get", "pods", ...args);
    assertEquals([code, out, err], [2, [], [`error: ${message}`]]);
  }
});

Deno.test("informer get --verbose prints a line about each request to standard error, and the same results", async () => {
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0", namespace: "default" }));
  await using served = await serve(server);
  const get = (...args: string[]): ReturnType<typeof run> =>
    run("get", "pods", "-o", "name", "--server", served.url, ...args);
  const plain = await get();
  for (const flag of ["-v", "--verbose"]) {
    const { code, out, err } = await get(flag);
    assertEquals([code, out], [0, plain.out]);
    assertEquals(err.map((line) => line.replace(/in \d+ ms, \d+ bytes$/, "in time")), [
      `GET ${served.url}/api 200 in time`,
      `GET ${served.url}/apis 200 in time`,
      `GET ${served.url}/api/v1/namespaces/default/pods?pretty=false&limit=500 200 in time`,
    ]);
  }
  assertEquals(plain.err, []);
});

Deno.test("--verbose of each command prints the requests that it sends, those that fail too, and none of their bodies", async () => {
  for (
    const [args, path] of [
      [["kinds"], "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"],
      [["doctor"], "/version"],
      [["doctor"], "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
      [["doctor", "--memory", "cm"], "/api/v1/namespaces/default/configmaps"],
      [["doctor", "--fake"], "/version"],
      [["watch", "cm", "-A", "--until-synced"], "watch=true"],
      [["wait", "cm/none", "--for", "deleted"], "/api/v1/namespaces/default/configmaps"],
    ] as const
  ) {
    using server = new FakeApiServer();
    server.create(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { key: "hunter2" } });
    await using served = await serve(server);
    const target = (args as readonly string[]).includes("--fake") ? [] : ["--server", served.url];
    const { err } = await run(...args, ...target, "-v");
    const lines = err.filter((line) => /^(?:GET|POST) http:\S+ (?:\d{3}|no answer) /.test(line));
    assert(lines.some((line) => line.includes(path)), `${args.join(" ")}: ${err.join("\n")}`);
    assertFalse(err.join("\n").includes("hunter2"));
  }
  const { code, err } = await run("get", "pods", "-v", "--server", "http://127.0.0.1:1");
  assertEquals(code, 3);
  assertMatch(err[0], /^GET http:\/\/127\.0\.0\.1:1\/api no answer in \d+ ms, 0 bytes, Cannot reach /);
});

Deno.test("informer serve --verbose prints the watches that it begins", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const session = new Session(["serve", "pods", "-v", "--server", served.url]);
  await session.out.line(/127\.0\.0\.1/);
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(session.out.text)!;
  await (await fetch(`${address}/api/pods`)).text();
  await session.err.line(/watch=true\S* 200 after \d+ ms, watching$/);
  session.interrupt();
  await session.code;
});

Deno.test("informer watch --verbose leaves the screen as it is, and prints its lines above the live line", async () => {
  using server = new FakeApiServer();
  for (let i = 0; i < 3; i++) server.create(Pod, pod({ name: `web-${i}`, namespace: "default" }));
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "-v", "--server", served.url], { terminal: true, columns: 200 });
  await session.err.line(/watching$/);
  await session.err.until(() => session.err.text.includes("pods: live, 3 objects"));
  session.interrupt();
  assertEquals(await session.code, 0);
  assertFalse(session.out.text.includes("GET http"));
  assertFalse(session.out.text.includes("\x1b[?1049h"));
  // A live line is erased before each line, which begins in the first column.
  // deno-lint-ignore no-control-regex -- what takes a line back
  const lines = session.err.text.split(/\r\x1b\[2K|\n/).filter((line) => line.includes("http://"));
  assert(lines.length >= 3 && lines.every((line) => line.startsWith("GET http://")), lines.join("\n"));
});

/** Two clusters, berlin and paris, a third that does not answer, and a context that cannot be used. */
class Contexts implements AsyncDisposable {
  readonly servers: Readonly<Record<"berlin" | "paris", FakeApiServer>>;
  readonly kubeconfig: string;
  readonly #folder: Folder;
  readonly #served: readonly Served[];

  private constructor(servers: Contexts["servers"], served: readonly Served[], folder: Folder) {
    this.servers = servers;
    this.#served = served;
    this.#folder = folder;
    const clusters = { berlin: served[0].url, paris: served[1].url, gone: "http://127.0.0.1:1" };
    const config = {
      clusters: Object.entries(clusters).map(([name, server]) => ({ name, cluster: { server } })),
      contexts: [...Object.keys(clusters), "lost"].map((name) => ({ name, context: { cluster: name } })),
    };
    this.kubeconfig = folder.write("config", JSON.stringify(config));
  }

  static async begin(): Promise<Contexts> {
    const servers = { berlin: new FakeApiServer(), paris: new FakeApiServer() };
    servers.berlin.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
    servers.paris.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
    servers.paris.create(Pod, pod({ name: "web-0", namespace: "shop" }));
    return new Contexts(servers, [await serve(servers.berlin), await serve(servers.paris)], new Folder());
  }

  /** The arguments that name some contexts. */
  of(contexts: string): string[] {
    return ["--kubeconfig", this.kubeconfig, "--contexts", contexts];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const served of this.#served) await served[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

Deno.test("informer get --contexts has a column CLUSTER, and names the cluster in every format", async () => {
  await using contexts = await Contexts.begin();
  const of = contexts.of("berlin,paris");
  const table = await run("get", "pods", "-n", "shop", ...of);
  assertEquals([table.code, table.err, table.out.length], [0, [], 4]);
  assertMatch(table.out[0], /^CLUSTER +NAME +READY/);
  assertEquals(
    table.out.slice(1).map((line) => line.split(/ +/).slice(0, 2)),
    [["berlin", "cart-0"], ["paris", "cart-0"], ["paris", "web-0"]],
  );
  assertMatch((await run("get", "pods", "-A", ...of)).out[0], /^CLUSTER +NAMESPACE +NAME/);
  assertEquals(
    (await run("get", "pods", "-A", "-o", "name", ...of)).out,
    ["berlin pod/cart-0", "paris pod/cart-0", "paris pod/web-0"],
  );
  const { items, metadata } = JSON.parse((await run("get", "pods", "-A", "-o", "json", ...of)).out.join("\n"));
  // deno-lint-ignore no-explicit-any
  assertEquals(items.map((it: any) => [it.cluster, it.metadata.name])[2], ["paris", "web-0"]);
  assertEquals(metadata, { resourceVersion: "" });
  assertEquals((await run("get", "cm", "-A", ...of)).err, ["no configmaps found"]);
});

Deno.test("informer get --contexts: a cluster that lacks an object or does not answer is named, and others are printed", async () => {
  await using contexts = await Contexts.begin();
  const named = await run("get", "pod/web-0", "-n", "shop", "-o", "name", ...contexts.of("berlin,paris"));
  assertEquals([named.code, named.out], [1, ["paris pod/web-0"]]);
  assertMatch(named.err[0], /^error: berlin: Cannot get "pods\/web-0" .*404/);
  const all = await run("get", "pods", "-A", "-o", "name", "--kubeconfig", contexts.kubeconfig, "--all-contexts");
  assertEquals([all.code, all.out.length, all.err.length], [1, 3, 2]);
  assertMatch(all.err[0], /^error: lost: Cannot use context "lost"/);
  assertMatch(all.err[1], /^error: gone: Cannot reach/);
  const none = await run("get", "pods", ...contexts.of("gone"));
  assertMatch(none.err[0], /^error: .*Cannot reach/);
  assertEquals([none.code, none.out], [3, []]);
});

Deno.test("informer watch --contexts prints the events of all clusters, and names one that does not answer", async () => {
  await using contexts = await Contexts.begin();
  const { berlin, paris } = contexts.servers;
  const session = new Session([
    "watch",
    "pods",
    "-A",
    "-o",
    "json",
    "--no-object",
    ...contexts.of("berlin,paris,gone"),
  ]);
  await session.out.until((lines) => lines.filter((line) => line.includes('"synced"')).length === 2);
  await session.err.line(/^gone: pods: .*trying again$/);
  paris.delete(Pod, "shop/web-0");
  await session.out.line(/"deleted"/);
  berlin.create(Pod, pod({ name: "new-0", namespace: "shop" }));
  await session.out.line(/new-0/);
  session.interrupt();
  assertEquals(await session.code, 0);
  const events = json(session.out.lines).map(({ type, cluster, key }) => `${type} ${cluster} ${key ?? ""}`.trim());
  assertEquals(
    events.slice(0, -2).sort(),
    ["added berlin shop/cart-0", "added paris shop/cart-0", "added paris shop/web-0", "synced berlin", "synced paris"],
  );
  assertEquals(events.slice(-2), ["deleted paris shop/web-0", "added berlin shop/new-0"]);
});

Deno.test("informer watch --contexts --until-synced ends when each cluster has synced or refuses, with 1 if one refuses", async () => {
  await using contexts = await Contexts.begin();
  const once = (...args: string[]): ReturnType<typeof run> =>
    run("watch", "pods", "-n", "shop", "--until-synced", ...args, ...contexts.of("berlin,paris"));
  const both = await once();
  assertEquals(both.code, 0);
  assertEquals(
    both.out.map((line) => line.split(/ +/).slice(0, 3)).sort(),
    [["added", "berlin", "cart-0"], ["added", "paris", "cart-0"], ["added", "paris", "web-0"]],
  );
  assertEquals(both.err.map((line) => line.replace(/\d+$/, "N")).sort(), [
    "berlin: synced 1 pods at version N",
    "paris: synced 2 pods at version N",
  ]);
  contexts.servers.paris.failNext(403, Infinity, ({ path }) => path.endsWith("/pods"));
  const one = await once("-o", "name");
  assertEquals([one.code, one.out], [1, ["berlin pod/cart-0"]]);
  assertMatch(one.err.join("\n"), /^paris: pods: .*403.*trying again$/m);
});

Deno.test("informer watch --contexts shows a table of all clusters on a screen", async () => {
  await using contexts = await Contexts.begin();
  const session = new Session(["watch", "pods", "-n", "shop", ...contexts.of("berlin,paris")], { terminal: true });
  const screen = new ShownScreen();
  let read = 0;
  const shows = (pattern: RegExp): Promise<void> =>
    session.out.until(() => {
      screen.write(session.out.text.slice(read));
      read = session.out.text.length;
      return pattern.test(screen.rows.join("\n"));
    });
  await shows(/CLUSTER +NAME[^]*berlin +cart-0[^]*paris +cart-0[^]*paris +web-0/);
  await shows(/berlin pods: live, 1 objects/);
  contexts.servers.paris.delete(Pod, "shop/cart-0");
  await shows(/berlin +cart-0[^\n]*\n[^]*paris +web-0/);
  session.interrupt();
  assertEquals(await session.code, 0);
});

Deno.test("informer refuses flags that contradict --contexts", async () => {
  await using contexts = await Contexts.begin();
  const of = contexts.of("berlin");
  for (
    const [message, ...args] of [
      [/^error: --contexts names several clusters; leave out --context$/, "get", "pods", "--context", "paris", ...of],
      [
        /^error: --contexts names several clusters; leave out --server$/,
        "watch",
        "pods",
        "--server",
        "http://a",
        ...of,
      ],
      [/^error: --contexts names several clusters; leave out --fake$/, "serve", "pods", "--fake", ...of],
      [/^error: --contexts names several clusters; leave out --token-file$/, "get", "pods", "--token-file", "a", ...of],
      [
        /^error: --contexts and --all-contexts cannot be combined; leave one out$/,
        "get",
        "pods",
        "--all-contexts",
        ...of,
      ],
      [/^error: --contexts must name contexts, such as a,b, but it is ","$/, "get", "pods", ...contexts.of(",")],
      [/context "rome", which does not exist/, "get", "pods", ...contexts.of("berlin,rome")],
      [/^error: --contexts: no context can be used/, "get", "pods", ...contexts.of("lost")],
      [/^error: --cache works with one cluster only/, "watch", "pods", "--cache", contexts.kubeconfig, ...of],
      [/^error: --snapshot works with one cluster only/, "serve", "pods", "--snapshot", contexts.kubeconfig, ...of],
    ] as const
  ) {
    const { code, err } = await run(...args);
    assertMatch(err.at(-1)!, message);
    assertEquals(code, 2);
  }
});

Deno.test("informer serve --contexts serves each cluster below a path of its own, and names none to other hosts", async () => {
  await using contexts = await Contexts.begin();
  contexts.servers.paris.create(ConfigMap, { metadata: { name: "settings", namespace: "shop" } });
  const session = new Session(["serve", "pods", "-A", ...contexts.of("paris,berlin,gone")]);
  await session.out.line(/^http:/);
  const [address] = session.out.lines;
  assertEquals(await (await fetch(`${address}/clusters`)).json(), ["paris", "berlin", "gone"]);
  const page = await fetch(address);
  assertEquals(page.url, `${address}/clusters/paris/`);
  assertMatch(await page.text(), /id="cluster"/);
  const names = async (cluster: string): Promise<string[]> => {
    const { items } = await (await fetch(`${address}/clusters/${cluster}/api/pods`)).json();
    // deno-lint-ignore no-explicit-any
    return items.map(({ metadata }: any) => metadata.name);
  };
  assertEquals([await names("paris"), await names("berlin")], [["cart-0", "web-0"], ["cart-0"]]);
  const stream = await fetch(`${address}/clusters/berlin/events/pods`);
  for (const path of ["/api/pods", "/clusters/rome/api", "/clusters/"]) {
    const response = await fetch(address + path);
    assertEquals(response.status, 404);
    await response.body?.cancel();
  }
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const led = await fetch(address, { headers: link, redirect: "manual" }); // a link of another site
  assertEquals([led.status, led.headers.get("location")], [302, "/clusters/paris/"]);
  await led.body?.cancel();
  for (const path of ["/clusters", "/", "/clusters/paris/", "/clusters/paris/api/pods"]) {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(address).port) });
    const head = `GET ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    const answer = await new Response(connection.readable).text();
    assertEquals([answer.slice(0, 12), /berlin|paris\//.test(answer)], ["HTTP/1.1 421", false]);
  }
  session.interrupt();
  assertEquals(await session.code, 0);
  assertMatch(await stream.text(), /\{"reason":"closed"\}\n\n$/);
  assertMatch(session.err.lines[0], /try: curl -N http:\S+\/clusters\/paris\/events\/pods$/);
});
