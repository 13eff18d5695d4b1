// informer plan: the module runs in a process that reaches nothing but the command.
import { Client } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Pod } from "@kube/informer/kinds/core/v1";
import { configMap, FakeApiServer, type PlanReport, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Website } from "../../examples/website/kinds.ts";
import { forwarder } from "../../src/cli/plan.ts";
import { run, Session } from "../support/processes/session.ts";
import { Folder, serve } from "../support/servers/serve.ts";

const WEBSITES = "examples/website/main.ts";

function cluster(): FakeApiServer {
  const server = new FakeApiServer();
  server.create(CustomResourceDefinition, Website.crd as never);
  server.create(Website, { metadata: { namespace: "shop", name: "blog" }, spec: { image: "nginx" } as never });
  return server;
}

function writes(server: FakeApiServer): string[] {
  return server.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

/** A module whose reconcile of ConfigMaps has this body. */
async function moduleOf(folder: Folder, body: string): Promise<string> {
  const path = folder.file("main.ts");
  const from = (path: string): string => JSON.stringify(new URL(`../../${path}`, import.meta.url).href);
  await Deno.writeTextFile(
    path,
    `import { ConfigMap, Pod } from ${from("src/engine/kinds/core/v1.ts")};
import { Manager, Reconciler } from ${from("src/operator/controllers/reconcile/mod.ts")};
export function manager(client) {
  const reconcile = async ({ object, key, client, signal }) => { ${body} };
  return new Manager({ reconcilers: [new Reconciler(client, ConfigMap, reconcile, { onError: () => {} })] });
}
`,
  );
  return path;
}

Deno.test("informer plan prints what the project of informer init would do, exits with 2, and writes nothing", async () => {
  await using folder = new Folder();
  using server = cluster();
  await using served = await serve(server);
  const first = await run("plan", WEBSITES, "--server", served.url);
  assertEquals(first.code, 2, first.err.join("\n"));
  assertEquals(first.out[0], "Nothing was written. Calls to other systems than the API server were stopped.");
  assert(first.out.includes("+ create deployments.apps shop/blog  by websites.example.com shop/blog"));
  assert(first.out.includes("    spec.replicas: 1"));
  assertEquals(first.out.at(-1), "1 to create, 1 to change, 0 to delete; result: changes");
  assertEquals([writes(server), server.keys(Deployment)], [[], []]);
  assertEquals((await run("plan", WEBSITES, "--server", served.url)).out, first.out);
  assertEquals((await run("plan", WEBSITES, "--server", served.url, "-n", "other")).code, 0);
  const asJson = await run("plan", WEBSITES, "--server", served.url, "-o", "json", "--allow-outside");
  const report: PlanReport = JSON.parse(asJson.out.join("\n"));
  assertEquals([report.result, report.outside, report.changes.length], ["changes", "allowed", 2]);
  const recording = folder.file("a.jsonl");
  const timeout = ["--timeout", "300ms"];
  await run("record", "websites,deployments.apps", "-A", "--server", served.url, "--out", recording, ...timeout);
  const played = await run("plan", WEBSITES, "--recording", recording);
  assertEquals(played.code, 2, played.out.join("\n"));
  assert(played.out.includes("+ create deployments.apps shop/blog  by websites.example.com shop/blog"));
});

Deno.test("informer plan stops calls to other systems, writes and programs, and names them", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ name: "a" }));
  await using served = await serve(server);
  using mail = new FakeApiServer();
  await using other = await serve(mail);
  const { port } = new URL(other.url);
  const target = folder.file("written");
  const attempts = {
    [`await fetch("${other.url}/mail").catch(() => {});`]: `Requires net access to "127.0.0.1:${port}"`,
    [`await fetch("${served.url}/api/v1/namespaces/default/configmaps/a", { method: "DELETE" });`]:
      `Requires net access to "127.0.0.1:${new URL(served.url).port}"`,
    [`await Deno.connect({ hostname: "127.0.0.1", port: ${port} });`]: `Requires net access to "127.0.0.1:${port}"`,
    [`await Deno.writeTextFile("${target}", "x");`]: `Requires write access to "${target}"`,
    [`new Deno.Command("touch", { args: ["${target}"] }).outputSync();`]: `Requires run access to "touch"`,
  };
  const bodies = Object.keys(attempts).map((body, at) => `if (${at} === attempt) { ${body} }`).join("\n");
  const path = await moduleOf(
    folder,
    `for (let attempt = 0; attempt < 5; attempt++) try { ${bodies} } catch (error) { if (key.endsWith(String(attempt))) throw error; }`,
  );
  for (let at = 0; at < 5; at++) server.create(ConfigMap, configMap({ name: `map-${at}` }));
  const { code, out, err } = await run("plan", path, "--server", served.url, "-o", "json");
  const report: PlanReport = JSON.parse(out.join("\n") || "{}");
  assertEquals([code, report.result, report.outside], [1, "failed", "stopped"], err.join("\n"));
  assert(report.facts.every(({ is }) => is === "stopped"), JSON.stringify(report.facts));
  for (const [at, message] of Object.values(attempts).entries()) {
    if (at === 0) continue;
    assert(report.facts.some((it) => it.by === `configmaps default/map-${at}` && it.message === message), message);
  }
  assert(
    report.facts.some(({ by, message }) => by === "configmaps default/a" && message === Object.values(attempts)[0]),
  );
  assertEquals([mail.requests, writes(server)], [[], []]);
  await assertRejects(() => Deno.stat(target), Deno.errors.NotFound);
});

Deno.test("informer plan fails for a module that it cannot run, and for a failing reconcile", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ name: "a" }));
  await using served = await serve(server);
  const at = ["--server", served.url];
  const failing = await moduleOf(folder, `console.log("hello"); throw new Error("no colour")`);
  const { code, out } = await run("plan", failing, ...at, "-o", "json");
  assertEquals(code, 1);
  const fact = { is: "error", by: "configmaps default/a", message: "no colour" };
  assertEquals(JSON.parse(out.join("\n")).facts, [fact]);
  const none = folder.file("none.ts");
  await Deno.writeTextFile(none, "export const other = 1;");
  assertEquals((await run("plan", none, ...at)).code, 1);
  const here = await run("plan", none, ...at, "--allow-outside");
  assertMatch(here.err.join("\n"), /exports no function manager\(client\); export it, and return a Manager/);
  assertEquals(here.code, 2);
  assertEquals((await run("plan", none, "--recording", none, "--server-dry-run")).code, 2);
});

Deno.test("informer plan that is interrupted ends the module's process, and exits with 1", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  server.create(ConfigMap, configMap({ name: "a" }));
  await using served = await serve(server);
  server.create(Pod, pod({ name: "b" }));
  server.writeLog("default/b", "hello");
  for (const flags of [[], ["--allow-outside"]]) {
    // The process of its own ends at once, although its reconcile ignores the signal.
    const options = `{ follow: true, signal: ${flags.length > 0 ? "signal" : "undefined"} }`;
    const endless = await moduleOf(
      folder,
      `for await (const _ of client.resource(Pod, { namespace: "default" }).logs("b", ${options})) ;`,
    );
    const waiting = Promise.withResolvers<void>();
    server.beforeNext(() => waiting.resolve(), 1, ({ url }) => url.includes("/log"));
    const session = new Session(["plan", endless, "--server", served.url, ...flags]);
    await waiting.promise;
    session.interrupt();
    assertEquals([await session.code, session.out.text], [1, ""]);
  }
});

Deno.test("informer plan needs no right to the server's version", async () => {
  const server = cluster();
  const fetch = (request: Request): Promise<Response> =>
    request.url.endsWith("/version")
      ? Promise.resolve(
        Response.json({ kind: "Status", code: 403, reason: "Forbidden", message: "no" }, { status: 403 }),
      )
      : server.fetch(request);
  await using served = await serve({ fetch, [Symbol.dispose]: () => {} });
  assertEquals((await run("plan", WEBSITES, "--server", served.url)).code, 2);
});

Deno.test("informer plan ends with 3 without a server", async () => {
  assertEquals((await run("plan", WEBSITES, "--server", "http://127.0.0.1:1")).code, 3);
});

Deno.test("the process of a module gets reads and dry runs from the command, only with its token, and no credentials", async () => {
  const server = cluster();
  server.create(ConfigMap, configMap({ name: "a" }));
  using client = new Client({ server: server.url, transport: server, retries: 0 });
  const maps = "http://127.0.0.1/api/v1/namespaces/default/configmaps";
  const ask = async (
    url: string,
    init: RequestInit = {},
    dryRun = false,
    token = "secret",
  ): Promise<[number, string]> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await forwarder(client, "secret", dryRun)(new Request(url, { ...init, headers }));
    return [response.status, await response.text()];
  };
  assertEquals((await ask(`${maps}/a`))[0], 200);
  assertEquals((await ask(`${maps}/a`, {}, false, "guess"))[0], 401);
  assertEquals((await ask(`${maps}/b`))[0], 404);
  const draft = { method: "POST", body: '{"metadata":{"name":"b"}}' };
  const [code, text] = await ask(maps, draft, true);
  assertEquals(code, 403);
  assertMatch(text, /Cannot send POST \/api\/v1\/namespaces\/default\/configmaps to the cluster: a plan only reads it/);
  assertEquals((await ask(`${maps}?dryRun=All`, draft))[0], 403);
  assertEquals((await ask(`${maps}?dryRun=All`, draft, true))[0], 201);
  assertEquals((await ask(`${maps}/a?dryRun=All`, { method: "DELETE", body: "{}" }, true))[0], 403);
  assertEquals(server.keys(ConfigMap), ["default/a"]);
});
