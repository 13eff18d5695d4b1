import { ValidationError } from "@cliffy/command";
import { assertEquals, assertMatch } from "@std/assert";
import { DecodeError, StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { explainError } from "../../../src/cli/shared/explain_error.ts";
import { UsageError } from "../../../src/cli/shared/usage.ts";
import { ConnectError } from "../../../src/host/connect/connect_options.ts";
import { KubeconfigError } from "../../../src/host/connect/kubeconfig/parse_kubeconfig.ts";
import { ArgumentError, ValueError } from "../../../src/engine/errors/checks.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { writeKubeconfig } from "../../support/processes/host.ts";
import { Folder, serve } from "../../support/servers/serve.ts";
import { run, Session } from "../../support/processes/session.ts";

function status(code: number, reason: string): StatusError {
  return new StatusError(`Cannot list "pods": ${code} ${reason}: no`, { code, reason, message: "no" });
}

Deno.test("explainError gives each kind of error its exit code", () => {
  const cases: [unknown, number][] = [
    [new UsageError("--port must be at least 0"), 2],
    [new ValidationError("Missing argument(s): resources"), 2],
    [new SyntaxError("Cannot parse label selector"), 2],
    [new ArgumentError(`Cannot connect: "server" is empty`), 2],
    [new ValueError("Cannot create a reflector"), 2],
    [new TypeError("x is not a function"), 1],
    [new ConnectError("Cannot connect", []), 3],
    [new KubeconfigError("Cannot use kubeconfig"), 3],
    [new KubeconfigError(`Cannot use user "a": there is no such file`, { entry: `user "a"` }), 3],
    [new UnreachableError("Cannot reach it"), 3],
    [status(401, "Unauthorized"), 3],
    [status(403, "Forbidden"), 3],
    [status(404, "NotFound"), 1],
    [status(500, "InternalError"), 1],
    [new DecodeError("Cannot read the answer"), 1],
    ["thrown text", 1],
  ];
  for (const [error, code] of cases) assertEquals(explainError(error).code, code, String(error));
});

Deno.test("explainError finds the exit code by the reason of an error, whatever its words are", () => {
  const kubeconfig = (text: string, reason?: KubeconfigError["reason"]): KubeconfigError =>
    new KubeconfigError(text, { reason });
  const option = (text: string, reason?: ConnectError["reason"]): ConnectError =>
    new ConnectError(text, [], { reason });
  const cases: [Error, number][] = [
    [kubeconfig("in other words", "missing-file"), 2],
    [kubeconfig("in other words", "missing-context"), 2],
    [kubeconfig(`Cannot use kubeconfig: it was asked for context "a": there is no such file`), 3],
    [option("in other words", "missing-file"), 2],
    [option(`Cannot connect: "tokenFile" names "/t": there is no such file`), 3],
    [new Error(`Cannot connect: there is no such file`), 1],
    [new ArgumentError("in other words"), 2],
    [new ValueError("in other words"), 2],
    [new TypeError("Cannot read properties of undefined (reading 'name')"), 1],
    [Object.assign(new DecodeError("in other words"), { reason: "discovery" }), 3],
    [new DecodeError(`Cannot discover "/api": it is no list`), 1],
  ];
  for (const [error, code] of cases) assertEquals(explainError(error).code, code, String(error));
  const denied = new Deno.errors.NotCapable("Run this program with --allow-net=a:443");
  assertEquals(
    explainError(new UnreachableError("Cannot reach --allow-net.example")).message,
    "Cannot reach --allow-net.example. Check the address, and whether the server is running",
  );
  assertEquals(explainError(new UnreachableError("In other words: --allow-net=a:443", { cause: denied })), {
    code: 3,
    message: "In other words: --allow-net=a:443",
  });
});

Deno.test("explainError names the flags that help", () => {
  const attempts = [{ source: "KUBECONFIG", problem: "it is not set" }, { source: "in-cluster", problem: "no pod" }];
  assertEquals(
    explainError(new ConnectError(`Cannot connect: found nothing; pass "server" or "kubeconfig"`, attempts)).message,
    "Cannot connect: found nothing; pass --server or --kubeconfig (KUBECONFIG: it is not set; in-cluster: no pod)",
  );
  assertEquals(
    explainError(new ArgumentError(`Cannot connect: "tokenFile" is empty`)).message,
    "Cannot connect: --token-file is empty",
  );
  assertEquals(
    explainError(
      new KubeconfigError(`field "current-context" is missing: set it, or pass "context"`, {
        field: "current-context",
        reason: "missing-context",
      }),
    ).message,
    `field "current-context" is missing: set it, or pass --context`,
  );
});

Deno.test("explainError distinguishes a bad certificate, a wrong protocol and an unreachable server", () => {
  const adviceFor = (reason: string): string =>
    explainError(new UnreachableError(reason)).message.slice(reason.length + 2);
  assertEquals(
    adviceFor("invalid peer certificate: UnknownIssuer"),
    "Check certificate-authority in the kubeconfig, and the server's certificate",
  );
  assertEquals(
    adviceFor("received corrupt message of type InvalidContentType"),
    `The server does not speak TLS. Check whether its address should begin with "http://"`,
  );
  assertEquals(adviceFor("Connection refused"), "Check the address, and whether the server is running");
});

Deno.test("errorLine adds causes that the message does not contain, on one line", () => {
  const inner = new Error("disk\n full");
  assertEquals(errorLine(new Error("Cannot write", { cause: inner })), "Cannot write: disk full");
  assertEquals(errorLine(new Error("Cannot write: disk full", { cause: inner })), "Cannot write: disk full");
  assertEquals(errorLine(new RangeError()), "RangeError");
  assertEquals(errorLine(7), "7");
});

Deno.test("informer trusts only the CA of the kubeconfig, and exits with 3 for another", async () => {
  await using certificates = await makeCertificates();
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0" }));
  const [cert, key] = [certificates.text("server.crt"), certificates.text("server.key")];
  await using served = await serve(server, { cert, key });
  const configFor = (ca: string): Promise<string> =>
    writeKubeconfig(certificates.path(`${ca}.kubeconfig`), {
      server: served.url,
      "certificate-authority": certificates.path(`${ca}.crt`),
    });
  assertEquals(
    await run("get", "pods", "-o", "name", "--kubeconfig", await configFor("ca")),
    { code: 0, out: ["pod/web-0"], err: [] },
  );
  for (const command of ["get", "watch"]) {
    const { code, out, err } = await run(command, "pods", "--kubeconfig", await configFor("other-ca"));
    assertEquals([code, out, err.length], [3, [], 1], err.join("\n"));
    assertMatch(err[0], /certificate.*\. Check certificate-authority in the kubeconfig/);
  }
});

Deno.test("informer reports a server that does not speak TLS", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const { code, err } = await run("get", "pods", "--server", served.url.replace("http:", "https:"));
  assertEquals([code, err.length], [3, 1], err.join("\n"));
  assertMatch(err[0], /\. The server does not speak TLS\. Check whether its address should begin with "http:\/\/"$/);
});

Deno.test("informer exits with 3 when the server rejects the credentials", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer({ tokens: (token) => token === "good" ? "ada" : undefined });
  server.create(Pod, pod({ name: "web-0" }));
  await using served = await serve(server);
  const good = folder.write("good", "good");
  const bad = folder.write("bad", "bad");
  assertEquals(
    await run("get", "pods", "-o", "name", "--server", served.url, "--token-file", good),
    { code: 0, out: ["pod/web-0"], err: [] },
  );
  for (const command of ["get", "watch"]) {
    const { code, out, err } = await run(command, "pods", "--server", served.url, "--token-file", bad);
    assertEquals([code, out, err.length], [3, [], 1], err.join("\n"));
    assertMatch(err[0], /401.*The server does not accept these credentials\. Log in again, or renew the token$/);
    assertEquals(err[0].includes("bad"), false, "the token is not printed");
  }
});

Deno.test("informer exits with 3 when no kind can be discovered, and with 1 when only the list fails", async () => {
  const failure = { kind: "Status", apiVersion: "v1", status: "Failure", code: 501, message: "x" };
  await using broken = await serve({
    fetch: () => Promise.resolve(Response.json(failure, { status: 501 })),
    [Symbol.dispose]: () => {},
  });
  const { code, err } = await run("get", "foos", "--server", broken.url);
  assertEquals([code, err.length], [3, 1], err.join("\n"));
  assertMatch(err[0], /\. Check that the address belongs to an API server$/);

  using server = new FakeApiServer();
  server.failNext(501, 100, ({ verb }) => verb === "list");
  await using served = await serve(server);
  const listed = await run("get", "pods", "--server", served.url);
  assertEquals([listed.code, listed.err.length], [1, 1], listed.err.join("\n"));
});

Deno.test("informer exits with 3 when list or watch is forbidden", async () => {
  for (const [verb, ...flags] of [["watch"], ["list", "--streaming-list", "off"]]) {
    using server = new FakeApiServer({ authorize: (request) => request.verb !== verb });
    await using served = await serve(server);
    const args = ["watch", "pods", "-n", "shop", "-o", "json", "--server", served.url, ...flags];
    const { code, out, err } = await run(...args);
    assertEquals([verb, code, out.length, err.length], [verb, 3, verb === "watch" ? 1 : 0, 1], err.join("\n"));
    assertMatch(err[0], /403.*\. Ask for this permission, or choose a namespace with -n$/);
  }
});

Deno.test("informer exits with 1 for an object that does not exist, and with 2 for an unknown field", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const missing = await run("get", "pods", "nosuch", "--server", served.url);
  assertEquals([missing.code, missing.out, missing.err.length], [1, [], 1]);
  assertMatch(missing.err[0], /pods "nosuch" not found\. Check the name and the namespace$/);
  for (const command of ["get", "watch"]) {
    const { code, out, err } = await run(command, "pods", "--field-selector", "a.b=c", "--server", served.url);
    assertEquals([code, out, err], [2, [], [
      `error: the server does not support --field-selector "a.b=c": field label not supported: a.b`,
    ]]);
  }
});

Deno.test("informer watch continues when the server refuses after the first sync, and reports it once", async () => {
  let allowed = true;
  using server = new FakeApiServer({ authorize: () => allowed });
  await using served = await serve(server);
  const session = new Session(["watch", "pods", "-A", "-o", "json", "--no-object", "--server", served.url]);
  await session.out.line(/"synced"/);
  allowed = false;
  server.endWatches();
  await session.err.line(/403.*; trying again$/);
  allowed = true;
  await session.err.line(/^pods: live again$/);
  server.create(Pod, pod({ name: "later" }));
  await session.out.line(/"default\/later"/);
  session.interrupt();
  assertEquals(await session.code, 0);
  assertEquals(session.err.lines.length, 2, session.err.text);
});

Deno.test("informer watch continues when the resource is removed, and reports it", async () => {
  using server = new FakeApiServer();
  const Widget = { group: "acme.dev", version: "v1", plural: "widgets", kind: "Widget", scope: "Namespaced" as const };
  server.define(Widget);
  server.create(Widget, { metadata: { name: "w" } });
  await using served = await serve(server);
  const session = new Session(["watch", "widgets", "-A", "-o", "json", "--no-object", "--server", served.url]);
  await session.out.line(/"synced","objects":1/);
  server.undefine(Widget);
  await session.err.line(/^widgets\.acme\.dev: .*404.*; trying again$/);
  server.define(Widget);
  server.create(Widget, { metadata: { name: "again" } });
  await session.err.line(/^widgets\.acme\.dev: live again$/);
  await session.out.line(/"added","key":"default\/again"/);
  session.interrupt();
  assertEquals(await session.code, 0);
});
