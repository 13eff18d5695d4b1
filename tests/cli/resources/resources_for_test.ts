import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { kindsOfCrds } from "../../../src/cli/codegen/read_documents.ts";
import { SchemaError } from "../../../src/cli/codegen/read_schema.ts";
import { UsageError } from "../../../src/cli/errors/explain_error.ts";
import { definitionsIn, durationMs, fillFakeServer, SteadyChurn } from "../../../src/cli/resources/resources_for.ts";
import { Namespace, Node, Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { pods } from "../../support/big_pods.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { CRONTAB_FILE, crontabDefinition } from "../../support/crontab.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { writeKubeconfig } from "../../support/host.ts";
import { Folder, serve } from "../../support/serve.ts";
import { run, Session } from "../../support/session.ts";

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
    assertMatch(err[0], /certificate.*; check certificate-authority in the kubeconfig/);
  }
});

Deno.test("informer reports a server that does not speak TLS", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const { code, err } = await run("get", "pods", "--server", served.url.replace("http:", "https:"));
  assertEquals([code, err.length], [3, 1], err.join("\n"));
  assertMatch(err[0], /; the server does not speak TLS; check whether it should be "http:\/\/"$/);
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
    assertMatch(err[0], /401.*the credentials are not known to the server, renew them$/);
    assertEquals(err[0].includes("bad"), false, "the token is not printed");
  }
});

Deno.test("informer exits with 3 when list or watch is forbidden", async () => {
  for (const [verb, ...flags] of [["watch"], ["list", "--streaming-list", "off"]]) {
    using server = new FakeApiServer({ authorize: (request) => request.verb !== verb });
    await using served = await serve(server);
    const args = ["watch", "pods", "-n", "shop", "-o", "json", "--server", served.url, ...flags];
    const { code, out, err } = await run(...args);
    assertEquals([verb, code, out.length, err.length], [verb, 3, verb === "watch" ? 1 : 0, 1], err.join("\n"));
    assertMatch(err[0], /403.*; ask for the right to do that, or choose a namespace with -n$/);
  }
});

Deno.test("informer exits with 1 for an object that does not exist, and with 2 for an unknown field", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const missing = await run("get", "pods", "nosuch", "--server", served.url);
  assertEquals([missing.code, missing.out, missing.err.length], [1, [], 1]);
  assertMatch(missing.err[0], /pods "nosuch" not found; check the name and the namespace$/);
  for (const command of ["get", "watch"]) {
    const { code, out, err } = await run(command, "pods", "--field-selector", "a.b=c", "--server", served.url);
    assertEquals([code, out, err], [2, [], [
      `error: --field-selector "a.b=c" is refused by the server: field label not supported: a.b`,
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

const TEXT = Deno.readTextFileSync(CRONTAB_FILE);

function pathsIn(text: string): string[] {
  return definitionsIn(text, "crd.yaml").map(({ path }) => path);
}

Deno.test("definitionsIn finds definitions among other documents, and in lists", () => {
  assertEquals(definitionsIn(TEXT, "crd.yaml"), [{ value: crontabDefinition(), path: "crd.yaml, document 2#" }]);
  const definition = crontabDefinition();
  assertEquals(pathsIn(JSON.stringify(definition)), ["crd.yaml#"]);
  assertEquals(pathsIn(`---\n---\n${JSON.stringify(definition)}\n---\n`), ["crd.yaml, document 2#"]);
  const list = { apiVersion: "v1", kind: "List", items: [{ kind: "Pod" }, definition] };
  assertEquals(pathsIn(JSON.stringify(list)), ["crd.yaml#/items/1"]);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = definition;
  const typed = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinitionList", items: [item] };
  assertEquals(pathsIn(JSON.stringify(typed)), ["crd.yaml#/items/0"]);
});

Deno.test("definitionsIn refuses text that is not YAML, or has no definitions", () => {
  const cases: [string, RegExp][] = [
    ["", /^--file: "crd.yaml" has no CustomResourceDefinition among its 0 objects/],
    ["kind: Pod\n---\nkind: Service", /no CustomResourceDefinition among its 2 objects/],
    ["spec:\n  group: 'stable", /neither YAML nor JSON that can be read: unexpected end .* at line 2, column 17$/],
    ['{"kind": "CustomResourceDefinition", "spec": {', /neither YAML nor JSON that can be read: .* at line 1/],
    ["kind: A\nkind: B", /duplicated mapping key at line 2, column 1$/],
    ["a: &a [1]\nb: *a", /aliases exceeded .* at line 2/],
    ["[".repeat(100_000), /nesting exceeded/],
    ["a: !!js/function x", /unknown scalar tag/],
  ];
  for (const [text, message] of cases) {
    const error = assertThrows(() => definitionsIn(text, "crd.yaml"), UsageError);
    assert(message.test(error.message), error.message);
  }
  const error = assertThrows(() => definitionsIn("kind: Pod\n---\njust text", "crd.yaml"), SchemaError);
  assertEquals(error.path, "crd.yaml, document 2#");
});

Deno.test("a definition that is cut off anywhere is refused, or gives kinds that are complete", () => {
  const complete = new Map(kindsOfCrds(definitionsIn(TEXT, "crd.yaml")).kinds.map((kind) => [kind.name, kind]));
  const lines = TEXT.split("\n");
  let refused = 0;
  for (let count = 0; count < lines.length; count++) {
    // At the end of a line, and within one.
    for (const text of [lines.slice(0, count).join("\n"), lines.slice(0, count + 1).join("\n").slice(0, -3)]) {
      try {
        for (const kind of kindsOfCrds(definitionsIn(text, "crd.yaml")).kinds) {
          assertEquals(kind, complete.get(kind.name), `cut off in line ${count}`);
        }
      } catch (error) {
        if (!(error instanceof SchemaError || error instanceof UsageError)) throw error;
        refused++;
      }
    }
  }
  assert(refused > 250, `${refused} of ${lines.length * 2} refused`);
});

Deno.test("durationMs adds up units such as 1h30m", () => {
  const cases: [string, number][] = [
    ["0", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["1h1m1s1ms", 3_661_001],
    ["596h", 2_145_600_000],
  ];
  for (const [text, ms] of cases) assertEquals(durationMs(text, "timeout"), ms, text);
});

Deno.test("durationMs refuses invalid durations, and names the flag", () => {
  for (const text of ["", "3", "3x", "s", "-3s", "1m 30s", "30s,", "1e3s", "∞"]) {
    assertThrows(() => durationMs(text, "resync"), UsageError, `--resync must be a duration`, text);
  }
});

Deno.test("durationMs refuses durations longer than a timer allows", () => {
  assertThrows(() => durationMs("597h", "timeout"), UsageError, `--timeout must be at most "596h", found "597h"`);
});

Deno.test("fillFakeServer makes pods, also in the default namespace, and all of their namespaces and nodes", async () => {
  using server = new FakeApiServer();
  await fillFakeServer(server, { count: 100 });
  const pods = server.list(Pod);
  assertEquals(pods.length, 100);
  assertEquals(pods.filter(({ metadata }) => metadata.namespace === "default").length, 20);
  const namespaces = server.keys(Namespace);
  const nodes = server.keys(Node);
  for (const { metadata, spec } of pods) {
    assert(namespaces.includes(metadata.namespace ?? ""), metadata.namespace);
    assert(nodes.includes(spec.nodeName ?? ""), spec.nodeName);
  }
  assert(namespaces.includes("kube-system"));
});

/** Time for a churn, which reads the clock that never goes back. */
class Clock extends FakeTime {
  readonly #real = performance.now.bind(performance);

  constructor() {
    super();
    performance.now = () => Date.now();
  }

  override [Symbol.dispose](): void {
    performance.now = this.#real;
    super[Symbol.dispose]();
  }
}

function serverWith(count: number): FakeApiServer {
  const server = new FakeApiServer();
  for (const pod of pods(count)) server.create(Pod, pod);
  return server;
}

function counted(perSecond: number, ms: number, forMs?: number): { readonly done: number; readonly timers: number } {
  using time = new Clock();
  using server = serverWith(20);
  const churn = new SteadyChurn(server, perSecond, { forMs });
  churn.start();
  time.tick(ms);
  const { timers } = time;
  churn.stop();
  assertEquals(time.timers, 0);
  return { done: churn.done, timers };
}

Deno.test("SteadyChurn makes as many changes as the rate says", () => {
  assertEquals(counted(500, 2_000), { done: 1_000, timers: 1 });
  assertEquals(counted(0.5, 4_000), { done: 2, timers: 1 });
});

Deno.test("SteadyChurn stops at the end of its time, with all changes due by then", () => {
  assertEquals(counted(300, 5_000, 1_005), { done: 301, timers: 0 });
});

Deno.test("SteadyChurn at rate 0 sets no timer", () => {
  assertEquals(counted(0, 1_000), { done: 0, timers: 0 });
});

Deno.test("SteadyChurn of updates alone leaves the same pods, and the same seed makes the same changes", () => {
  const results = [1, 2].map(() => {
    using time = new Clock();
    using server = serverWith(10);
    const before = server.keys(Pod);
    const churn = new SteadyChurn(server, 100, { mix: "update", seed: 7 });
    churn.start();
    time.tick(1_000);
    churn.stop();
    assertEquals(server.keys(Pod), before);
    return server.list(Pod).map(({ metadata, status }) => ({
      annotations: metadata.annotations,
      phase: status?.phase,
    }));
  });
  assertEquals(results[0], results[1]);
});

Deno.test("SteadyChurn of all kinds creates and deletes equally often", () => {
  using time = new Clock();
  using server = serverWith(50);
  const before = new Set(server.keys(Pod));
  const churn = new SteadyChurn(server, 100, { mix: "all" });
  churn.start();
  time.tick(5_000);
  churn.stop();
  const after = server.keys(Pod);
  assert(after.some((key) => !before.has(key)), "something was created");
  assert(Math.abs(after.length - 50) <= 5, `found ${after.length} pods`);
});
