import { assert, assertEquals, assertMatch } from "@std/assert";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Pod, Service } from "../../src/engine/kinds/core/v1.ts";
import { configMap, deployment, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { Random } from "../../src/testing/fake/random.ts";
import { Writers } from "../support/logs/play.ts";
import { serve } from "../support/servers/serve.ts";
import { json, type run, Session, type SessionOptions } from "../support/processes/session.ts";

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;

/** A fake server behind a port with pods in the namespace shop, and runs of `informer logs`. */
class Shop implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly #served: Awaited<ReturnType<typeof serve>>;

  private constructor(server: FakeApiServer, served: Awaited<ReturnType<typeof serve>>) {
    this.server = server;
    this.#served = served;
  }

  static async open(options: ConstructorParameters<typeof FakeApiServer>[0] = {}): Promise<Shop> {
    const server = new FakeApiServer(options);
    const shop = new Shop(server, await serve(server));
    server.create(Deployment, deployment({ name: "web", namespace: "shop" }));
    shop.pod("web-0", "web", 1, 4);
    shop.pod("web-1", "web", 2);
    shop.pod("db-0", "db", 3);
    return shop;
  }

  pod(name: string, app: string, ...seconds: number[]): void {
    this.server.create(Pod, pod({ name, namespace: "shop", node: "n", labels: { app } }));
    for (const second of seconds) this.server.writeLog(`shop/${name}`, `line ${second}`, { time: at(second) });
  }

  logs(args: readonly string[], options?: SessionOptions): Session {
    const namespace = args.includes("-A") ? [] : ["-n", "shop"];
    return new Session(["logs", ...args, ...namespace, "--server", this.#served.url], options);
  }

  async run(...args: string[]): ReturnType<typeof run> {
    const session = this.logs(args);
    return { code: await session.code, out: session.out.lines, err: session.err.lines };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served[Symbol.asyncDispose]();
  }
}

Deno.test("informer logs prints the lines of a workload's pods by time, of named pods, and of selected ones", async () => {
  await using shop = await Shop.open();
  const web = ["web-0 app line 1", "web-1 app line 2", "web-0 app line 4"];
  assertEquals(await shop.run("deploy/web"), { code: 0, out: web, err: [] });
  assertEquals((await shop.run("-l", "app=web")).out, web);
  assertEquals((await shop.run("web-1")).out, ["web-1 app line 2"]);
  assertEquals((await shop.run("pod/web-1", "db-0")).out, ["web-1 app line 2", "db-0 app line 3"]);
  assertEquals((await shop.run("-A", "-l", "app=db")).out, ["shop/db-0 app line 3"]);
  assertEquals((await shop.run("-A", "--field-selector", "metadata.name=db-0", "-o", "raw")).out, ["line 3"]);
  shop.server.create(Service, { metadata: { name: "web", namespace: "shop" }, spec: { selector: { app: "web" } } });
  assertEquals((await shop.run("svc/web")).out, web);
});

Deno.test("informer logs filters lines, begins where its flags say, and prints times, names and JSON", async () => {
  await using shop = await Shop.open();
  assertEquals((await shop.run("deploy/web", "--tail", "1", "-t")).out, [
    "web-1 app 2026-01-01T00:00:02.000000000Z line 2",
    "web-0 app 2026-01-01T00:00:04.000000000Z line 4",
  ]);
  assertEquals((await shop.run("deploy/web", "--include", "[12]$", "--exclude", "1")).out, ["web-1 app line 2"]);
  assertEquals((await shop.run("deploy/web", "--since", "1h")).out, []);
  shop.server.restartContainer("shop/web-0");
  shop.server.writeLog("shop/web-0", "again");
  assertEquals((await shop.run("web-0", "--previous", "--tail", "1")).out, ["web-0 app line 4"]);
  assertEquals(json((await shop.run("web-0", "-o", "json")).out), [{
    time: (await shop.run("web-0", "-t")).out[0].split(" ")[2],
    text: "again",
    container: "app",
    pod: "shop/web-0",
    uid: shop.server.get(Pod, "shop/web-0")!.metadata.uid,
  }]);
  const containers = ["app", "side"].map((name) => ({ name, image: "i" }));
  shop.server.create(Pod, pod({ name: "two", namespace: "shop", node: "n", spec: { containers } }));
  for (const [i, container] of ["side", "app"].entries()) {
    shop.server.writeLog("shop/two", "hello", { container, time: at(i) });
  }
  assertEquals((await shop.run("two")).out, ["two side hello", "two app hello"]);
  assertEquals((await shop.run("two", "-c", "app")).out, ["two app hello"]);
});

Deno.test("informer logs -f follows pods that come and go, names them, and ends with 0 when it is interrupted", async () => {
  await using shop = await Shop.open();
  const session = shop.logs(["deploy/web", "-f"]);
  await session.out.until((lines) => lines.length === 3);
  shop.pod("web-2", "web", 5);
  await session.out.line(/^web-2 app line 5$/);
  shop.server.restart(); // all connections break
  shop.server.rotateLog("shop/web-2");
  shop.server.writeLog("shop/web-2", "line 6", { time: at(6) });
  await session.out.line(/^web-2 app line 6$/);
  new Writers(shop.server, new Random(1)).end("shop/web-1");
  await session.err.line(/^- web-1 app$/);
  session.interrupt();
  assertEquals(await session.code, 0);
  assertEquals(session.err.lines.filter((line) => /^[-+]/.test(line)).sort(), [
    "+ web-0 app",
    "+ web-1 app",
    "+ web-2 app",
    "- web-1 app",
  ]);
  assert(session.err.lines.includes("web-2 app: lines may be missing before 2026-01-01T00:00:06.000000000Z"));
  assertEquals(session.out.lines.length, 5);
});

Deno.test("informer logs says that lines may be missing at the end, and that nothing has started", async () => {
  await using shop = await Shop.open();
  const session = shop.logs(["web-0", "-f"]);
  await session.out.line(/line 4/);
  shop.server.restart();
  shop.server.rotateLog("shop/web-0");
  new Writers(shop.server, new Random(1)).end("shop/web-0");
  await session.err.line(/^web-0 app: lines may be missing at the end$/);
  session.interrupt();
  assertEquals([await session.code, session.out.lines.length], [0, 2]);
  shop.pod("new", "new");
  assertEquals(await shop.run("new"), { code: 0, out: [], err: ["no logs yet: none of the containers has started"] });
  assertEquals(await shop.run("-l", "app=none"), { code: 0, out: [], err: ["no pods found in namespace shop"] });
});

Deno.test("informer logs colours names on a terminal, unless NO_COLOR is set, and passes on no other escapes", async () => {
  await using shop = await Shop.open();
  shop.server.writeLog("shop/db-0", "\x1b[31mred\x1b[0m \x1b[2Jclear\ttab", { time: at(4) });
  const shown = async (args: readonly string[]): Promise<string[]> => {
    const session = shop.logs(["deploy/web", "db-0", "--tail", "1", ...args], { terminal: true });
    assertEquals(await session.code, 0);
    return session.out.lines;
  };
  const before = Deno.env.get("NO_COLOR"); // CI sets it
  Deno.env.delete("NO_COLOR");
  try {
    const lines = await shown([]);
    assertEquals(lines.length, 3);
    // deno-lint-ignore no-control-regex -- colours
    for (const line of lines) assertMatch(line, /^\x1b\[\d\dm\S+ app\x1b\[0m /);
    assertEquals(new Set(lines.map((line) => line.slice(0, 5))).size, 3);
    assert(
      lines.some((line) => line.endsWith("\x1b[31mred\x1b[0m \\u001b[2Jclear\ttab\x1b[0m")),
      JSON.stringify(lines),
    );
    Deno.env.set("NO_COLOR", "1");
    assertEquals((await shown(["-o", "raw", "--include", "line"]))[0], "line 2");
    assertEquals((await shown(["--include", "line"]))[0], "web-1 app line 2");
  } finally {
    if (before === undefined) Deno.env.delete("NO_COLOR");
    else Deno.env.set("NO_COLOR", before);
  }
});

Deno.test("informer logs ends quietly when the reader of its output goes away", async () => {
  await using shop = await Shop.open();
  const session = shop.logs(["deploy/web", "-f"]);
  await session.out.until((lines) => lines.length === 3);
  session.out.failure = Object.assign(new Error("Broken pipe"), { name: "BrokenPipe", code: "EPIPE" });
  shop.server.writeLog("shop/web-0", "more", { time: at(5) });
  assertEquals(await session.code, 0);
  assertEquals(session.err.lines.filter((line) => line.includes("error")), []);
});

Deno.test("informer logs fails for names, rights and flags that are wrong", async () => {
  await using shop = await Shop.open({
    authorize: ({ name, subresource }) => name !== "db-0" || subresource !== "log",
  });
  const failed = async (code: number, message: RegExp, ...args: string[]): Promise<void> => {
    const ended = await shop.run(...args);
    assertEquals([ended.code, ended.out], [code, []], ended.err.join());
    assertMatch(ended.err.join("\n"), message);
  };
  await failed(2, /name a pod or a workload, such as deploy\/web/);
  await failed(2, /leave out --follow or --previous/, "web-0", "-f", "-p");
  await failed(2, /--include must be a regular expression, but it is "\("/, "web-0", "--include", "(");
  await failed(2, /--since must be a duration/, "web-0", "--since", "yesterday");
  await failed(2, /--tail must be a number that is at least 0/, "web-0", "--tail", "-1");
  await failed(2, /a name selects one object; leave out -l/, "web-0", "-l", "app=web");
  await failed(1, /pods "web-9" not found/, "web-9");
  await failed(1, /deployments.apps "none" not found/, "deploy/none");
  await failed(1, /logs: Cannot get "pods\/db-0\/log" in namespace "shop": 403 Forbidden/, "db-0");
  const missing = /no pod has a container "ap". The pods have app$/;
  await failed(1, missing, "deploy/web", "-c", "ap");
  await failed(1, missing, "deploy/web", "-c", "ap", "-f");
  shop.server.create(ConfigMap, configMap({ name: "settings", namespace: "shop" }));
  await failed(2, /configmap\/settings has no selector of pods/, "cm/settings");
  const { code, out } = await shop.run("db-0", "web-1");
  assertEquals([code, out], [1, ["web-1 app line 2"]]);
});
