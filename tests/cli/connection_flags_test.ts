import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { serve } from "../support/serve.ts";
import { run, Session } from "../support/session.ts";

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
    ["--as-group is of a user; name it by --as", "--as-group", "a"],
    ["--as-uid is of a user; name it by --as", "--as-uid", "7"],
    ["--fake is a server of its own; leave out --as", "--as", "ada", "--fake"],
    ["Cannot connect: --as-group holds line ends, control characters, or blanks at its ends", ...[
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
