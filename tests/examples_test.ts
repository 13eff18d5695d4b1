import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { CronTab as Tab } from "../examples/crontab_controller.ts";
import { defineResource, type Resource } from "../src/engine/api/resource.ts";
import { FileCheckpoints } from "../src/host/connect/file_stores.ts";
import { Deployment } from "../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Namespace, Pod } from "../src/engine/kinds/core/v1.ts";
import type { RecordedRequest } from "../src/testing/fake/wire/exchange.ts";
import { deployment, FakeApiServer, pod } from "../src/testing/mod.ts";
import { writeKubeconfig } from "./support/processes/host.ts";
import { Program } from "./support/processes/program.ts";
import { Folder, serve } from "./support/servers/serve.ts";

const CronTab: Resource = defineResource({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});

const ignore = Deno.build.os === "windows";

/** One example on its way, and the server it talks to. */
interface Running {
  readonly server: FakeApiServer;
  /** Resolves once a line says exactly this. */
  readonly says: (line: string | RegExp) => Promise<void>;
}

/**
 * Tests that an example passes its `checks`, and ends with 0 when it is interrupted; `warning` is what it may warn of.
 */
function example(
  name: string,
  options: { readonly warning?: RegExp; readonly checks: (run: Running) => Promise<void> },
): void {
  Deno.test(`examples/${name}.ts prints the expected lines against a server, and exits with 0 when interrupted`, {
    ignore,
  }, async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    if (name === "crontab_controller") server.define(Tab);
    server.create(Pod, pod({ name: "web-0", node: "n1", labels: { app: "web" } }));
    server.create(Pod, pod({ name: "web-1", node: "n2", labels: { app: "web" } }));
    server.create(Pod, pod({ name: "db-0", node: "n1", namespace: "data" }));
    server.create(Deployment, deployment({ name: "web", replicas: 2, labels: { app: "web" } }));
    server.create(Deployment, deployment({ name: "db", namespace: "data" }));
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    const env = { KUBECONFIG: kubeconfig, STATE_DIRECTORY: folder.path };
    await using program = new Program(`examples/${name}.ts`, [], env);
    await options.checks({
      server,
      says: (wanted) =>
        program.out.until((lines) =>
          lines.some((line) => typeof wanted === "string" ? line === wanted : wanted.test(line))
        ),
    });
    program.kill("SIGINT");
    assertEquals([await program.code, program.err.text.replace(options.warning ?? "", "")], [0, ""]);
  });

  Deno.test(`examples/${name}.ts ends quietly when it is interrupted before it has synced`, { ignore }, async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    if (name === "crontab_controller") server.define(Tab);
    if (name === "custom_resource") server.define(CronTab); // a 404 is not stalled
    const asked = Promise.withResolvers<void>();
    server.beforeNext(() => asked.resolve());
    using _stalled = server.stallNext(1_000);
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    const env = { KUBECONFIG: kubeconfig, STATE_DIRECTORY: folder.path };
    await using program = new Program(`examples/${name}.ts`, [], env);
    await asked.promise;
    program.kill(name === "pods" ? "SIGTERM" : "SIGINT");
    assertEquals([await program.code, program.err.text, program.out.text], [0, "", ""]);
  });
}

/** Controllers with everything that belongs to them, which may have 50 lines; the others have fewer than 40. */
const CONTROLLERS = ["config_roller", "crontab_controller", "namespace_labels"];

Deno.test("examples are programs of fewer than 40 lines, or controllers of at most 50, each with a test", async () => {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(new URL("../examples", import.meta.url))) {
    if (!name.endsWith(".ts")) continue;
    found.push(name.slice(0, -3));
    const text = await Deno.readTextFile(new URL(`../examples/${name}`, import.meta.url));
    const most = CONTROLLERS.includes(name.slice(0, -3)) ? 50 : 39;
    assert(text.trimEnd().split("\n").length <= most, `${name} is too long`);
    assert(text.includes(`deno run -A examples/${name}`), `${name} does not say how it is run`);
  }
  assertEquals(found.sort(), tested.sort());
});

/** Programs for Deno only, with the reason. */
const DENO_ONLY = { "deno_deploy/main.ts": "Deno Deploy, and snapshots in Deno KV" };

Deno.test("examples run on Node and Bun too: none says Deno, except those for Deno only", () => {
  const folder = new URL("../examples/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? [...Deno.readDirSync(new URL(name, folder))].map((it) => `${name}/${it.name}`) : [name]
  );
  const saying = names.filter((name) =>
    name.endsWith(".ts") && /\bDeno\./.test(Deno.readTextFileSync(new URL(name, folder)))
  );
  assertEquals(saying, Object.keys(DENO_ONLY));
});

const EXAMPLES: Readonly<Record<string, Parameters<typeof example>[1]>> = {
  controller: {
    checks: async ({ server, says }) => {
      await says("synced: 3 pods");
      for (const [key, node] of [["default/web-0", "n1"], ["default/web-1", "n2"], ["data/db-0", "n1"]]) {
        await says(`labelled ${key} with ${node}`);
        assertEquals(server.get(Pod, key)?.metadata.labels?.["example.com/node"], node);
      }
      server.create(Pod, pod({ name: "late", node: "n9" }));
      await says("labelled default/late with n9");
      server.delete(Pod, "default/late");
    },
  },
  config_roller: {
    checks: async ({ server, says }) => {
      server.create(ConfigMap, {
        metadata: { name: "shop", labels: { "example.com/pods": "2" } },
        data: { colour: "red" },
      });
      await says("created default/shop-0");
      await says("created default/shop-1");
      server.patch(ConfigMap, "shop", { data: { colour: "blue" } });
      await says("deleted default/shop-0");
      await says("deleted default/shop-1");
    },
  },
  crontab_controller: {
    checks: async ({ server, says }) => {
      server.create(Tab, { metadata: { name: "b" }, spec: { schedule: "@hourly", image: "cron", replicas: 2 } });
      await says(`default/b: "@hourly", 0 of 2 replicas are ready`);
      server.patch(Deployment, "b", { status: { readyReplicas: 2 } });
      await says(`default/b: "@hourly", 2 of 2 replicas are ready`);
    },
  },
  custom_resource: {
    warning: /^informer of "crontabs.stable.example.com": .* the server has no resource .*\n/,
    checks: async ({ server, says }) => {
      server.define(CronTab);
      server.create(CronTab, { metadata: { name: "nightly" }, spec: { cronSpec: "0 3 * * *" } } as never);
      await says(`default/nightly runs at "0 3 * * *"`);
      await says("synced: 1 crontabs");
      server.delete(CronTab, "nightly");
      await says("default/nightly runs no more");
    },
  },
  deployments: {
    checks: async ({ server, says }) => {
      await says("synced: 2 deployments, 1 of them with app=web");
      await says("added default/web, 2 replicas");
      server.patch(Deployment, "web", { spec: { replicas: 5 } });
      await says("scaled default/web from 2 to 5");
      server.delete(Deployment, "data/db");
      await says("deleted data/db");
    },
  },
  events: {
    checks: async ({ server, says }) => {
      await says("synced: 3 pods");
      for (const key of ["default/web-0", "default/web-1", "data/db-0"]) await says(`found ${key}`);
      server.patch(Pod, "web-0", { status: { phase: "Failed" } });
      await says("updated default/web-0 Running → Failed");
      server.delete(Pod, "web-0");
      await says("deleted default/web-0");
      server.create(Pod, pod({ name: "new" }));
      await says("added default/new");
    },
  },
  notifier: {
    checks: async ({ server, says }) => {
      server.patch(Pod, "web-0", { status: { phase: "Failed", reason: "Evicted" } });
      await says("default/web-0 has failed: Evicted");
      server.delete(Pod, "web-0");
      await says("default/web-0 is gone");
    },
  },
  index_by_node: {
    checks: async ({ says }) => {
      await says("n1: 2 pods, 2 running");
      await says("n2: 1 pods, 1 running");
      await says("synced: 3 pods on 2 nodes");
    },
  },
  late_handler: {
    checks: async ({ says }) => {
      await says("cached: 3 pods");
      await says("synced: the late handler received 3 pods");
    },
  },
  namespace_labels: {
    checks: async ({ server, says }) => {
      server.create(Namespace, { metadata: { name: "data", labels: { "example.com/team": "red" } } });
      await says("data/db-0: team red");
      server.patch(Namespace, "data", { metadata: { labels: { "example.com/team": null } } });
      await says("data/db-0: no team");
    },
  },
  sharded_controller: {
    checks: async ({ server, says }) => {
      server.create(ConfigMap, { metadata: { name: "a", labels: { sharded: "yes" } } });
      await says("reconciled default/a");
    },
  },
  plain_watch: {
    checks: async ({ server, says }) => {
      await says(/^listed: 3 pods at version \d+$/);
      server.create(Pod, pod({ name: "new" }));
      await says("ADDED new");
      server.patch(Pod, "new", { metadata: { labels: { a: "b" } } });
      await says("MODIFIED new");
      server.endWatches();
      server.delete(Pod, "new");
      await says("DELETED new");
    },
  },
  pods: {
    checks: async ({ server, says }) => {
      await says("found web-0");
      await says("found web-1");
      await says("synced: 2 pods in default");
      server.create(Pod, pod({ name: "new" }));
      await says("added new");
      server.patch(Pod, "new", { status: { phase: "Running" } });
      await says("updated new Running");
      server.delete(Pod, "new");
      await says("deleted new");
    },
  },
};

const tested = Object.keys(EXAMPLES);
for (const [name, options] of Object.entries(EXAMPLES)) example(name, options);

Deno.test(
  "examples/pods.ts watches the namespace of its argument",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    server.create(Pod, pod({ name: "db-0", namespace: "data" }));
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    await using program = new Program("examples/pods.ts", ["data"], { KUBECONFIG: kubeconfig });
    await program.out.line(/^synced: 1 pods in data$/);
    program.kill("SIGINT");
    assertEquals([await program.code, program.out.text], [0, "found db-0\nsynced: 1 pods in data\n"]);
  },
);

Deno.test(
  "examples/notifier.ts is killed and started again, and neither misses nor repeats a message",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    const fail = (name: string): void => {
      server.patch(Pod, name, { status: { phase: "Failed", reason: "Evicted" } });
    };
    for (const name of ["a", "b", "c"]) server.create(Pod, pod({ name }));
    fail("a");
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    const store = new FileCheckpoints(folder.path);
    /** Runs until the checkpoint has these objects, kills it, and returns what it has said. */
    const run = async (...names: string[]): Promise<string[]> => {
      const env = { KUBECONFIG: kubeconfig, STATE_DIRECTORY: folder.path };
      await using program = new Program("examples/notifier.ts", [], env);
      const versions = names.map((name) => server.get(Pod, name)!.metadata.resourceVersion).sort();
      for (;;) {
        const { record } = await store.get("failed-pods") ?? {};
        const written = [...record?.objects.values() ?? []].map(([, version]) => version).sort();
        if (record?.version !== "" && written.join() === versions.join()) break;
        await delay(20); // files have no events
      }
      program.kill("SIGKILL");
      await program.code;
      return program.out.lines.toSorted();
    };
    assertEquals(await run("a"), ["default/a has failed: Evicted"]);
    fail("b");
    assertEquals(await run("a", "b"), ["default/b has failed: Evicted"]);
    server.delete(Pod, "a");
    fail("c");
    assertEquals(await run("b", "c"), ["default/a is gone", "default/c has failed: Evicted"]);
  },
);

Deno.test(
  "examples/notifier.ts loses no message while its webhook answers 500, or is away",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    for (const name of ["a", "b"]) server.create(Pod, pod({ name, phase: "Failed" }));
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    const sent: string[] = [];
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    let refusals = 0;
    const hook = (port: number): Deno.HttpServer<Deno.NetAddr> =>
      Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, async (request) => {
        const text = await request.text();
        if (++refusals === 1) return new Response("no", { status: 500 });
        sent.push(text);
        if (sent.length === 2) finish();
        return new Response("ok");
      });
    const first = hook(0);
    const { port } = first.addr;
    const env = { KUBECONFIG: kubeconfig, STATE_DIRECTORY: folder.path, WEBHOOK: `http://127.0.0.1:${port}` };
    await using program = new Program("examples/notifier.ts", [], env);
    while (refusals === 0) await delay(20); // nobody says that a request was answered
    await first.shutdown(); // it is away
    await program.err.line(/webhook answers 500/);
    await using _second = hook(port);
    await done;
    assertEquals(sent.sort(), ["default/a has failed: no reason", "default/b has failed: no reason"]);
    program.kill("SIGTERM");
    assertEquals(await program.code, 0);
  },
);

Deno.test(
  "examples/crontab_controller.ts finishes the reconcile in flight on SIGTERM, and ends with 0",
  { ignore: Deno.build.os === "windows" },
  async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    server.define(Tab);
    server.create(Tab, { metadata: { name: "b" }, spec: { schedule: "@hourly", image: "cron", replicas: 2 } });
    const applied = Promise.withResolvers<void>();
    const isApply = ({ verb, resource }: RecordedRequest): boolean => verb === "patch" && resource === "deployments";
    const stalled = server.stallNext(1, isApply);
    server.afterNext(() => applied.resolve(), 1, isApply);
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    await using program = new Program("examples/crontab_controller.ts", [], { KUBECONFIG: kubeconfig });
    await applied.promise; // the answer is on its way
    program.kill("SIGTERM");
    await delay(500); // for the signal to arrive; the answer must not come first
    stalled[Symbol.dispose]();
    assertEquals([await program.code, program.err.text], [0, ""]);
    assertEquals(program.out.lines, [`default/b: "@hourly", 0 of 2 replicas are ready`]);
    assertEquals(server.get(Tab, "b")?.status?.conditions?.map(({ type, status }) => [type, status]), [[
      "Ready",
      "False",
    ]]);
  },
);
