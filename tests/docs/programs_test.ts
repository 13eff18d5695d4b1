import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { pathToFileURL } from "node:url";
import { defineResource, type Resource } from "../../src/engine/api/resource.ts";
import type { StatusCause } from "../../src/engine/api/status.ts";
import { fixedShard, ShardFilter } from "../../src/engine/api/shard.ts";
import { PROJECT_FILES } from "../../src/cli/project_files.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { CronJob } from "../../src/engine/kinds/batch/v1.ts";
import { ConfigMap, Node, Pod, Secret, ServiceAccount } from "../../src/engine/kinds/core/v1.ts";
import { configMap, deployment, FakeApiServer, node, pod } from "../../src/testing/mod.ts";
import { entriesIn } from "../../tools/node.ts";
import { CRONTAB_FILE } from "../support/sources/crontab.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { blocksOf, type DocumentedProgram, extractPrograms, pages, programs, ROOT } from "../support/texts/pages.ts";
import { deno, Program } from "../support/processes/program.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";
import { CRONTAB_PROGRAM } from "./_crontab_program.ts";
import { JOBS } from "./_jobs.ts";
import { Receiver, type Run } from "./_run.ts";

const CONFIG = new URL("deno.json", ROOT).pathname;
const CronTab: Resource = defineResource({
  group: "stable.example.com",
  version: "v1",
  plural: "crontabs",
  kind: "CronTab",
});
const ignore = Deno.build.os === "windows";

/** Two pods of the shop on two nodes, one of data, and a deployment. */
function shop(options: ConstructorParameters<typeof FakeApiServer>[0] = {}): FakeApiServer {
  const server = new FakeApiServer(options);
  for (const name of ["worker-1", "worker-2"]) server.create(Node, node({ name }));
  server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1", labels: { app: "cart" } }));
  server.create(Pod, pod({ name: "web-0", namespace: "shop", node: "worker-2", labels: { app: "web" } }));
  server.create(Pod, pod({ name: "db-0", namespace: "data", node: "worker-1" }));
  server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 2 }));
  return server;
}

const CRASHING = { name: "main", ready: false, restartCount: 7, image: "web", imageID: "" };

const RUNS: Readonly<Record<string, Run>> = {
  ...JOBS,
  "follow_logs.ts": {
    args: ["shop", "app=web"],
    expect: async ({ server, prints }) => {
      await watched(server);
      server.writeLog("shop/cart-0", "other");
      server.writeLog("shop/web-0", "ready", { time: "2026-01-31T12:00:00Z" });
      await prints("shop/web-0 app 2026-01-31T12:00:00.000000000Z ready");
    },
  },
  "collect_logs.ts": {
    args: ["shop", "FOLDER"],
    expect: async ({ server, prints }) => {
      await watched(server);
      server.writeLog("shop/web-0", "ready");
      await prints("shop/web-0 ready");
    },
  },
  "evict.ts": {
    args: ["shop", "cart-0"],
    ends: true,
    expect: async ({ server, prints }) => {
      await prints("evicted");
      assertEquals(server.get(Pod, "shop/cart-0")?.metadata.deletionTimestamp === undefined, false);
    },
  },
  "watch_pods.ts": {
    expect: async ({ server, prints }) => {
      await prints("found shop/cart-0");
      await prints("1 pods of the shop are web servers");
      await prints("2 pods are on worker-1");
      server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
      await prints("shop/web-0 Running → Failed");
      server.delete(Pod, "shop/web-0");
      await prints("deleted shop/web-0");
    },
  },
  "one_shard.ts": {
    expect: async ({ server, prints }) => {
      const ours = new ShardFilter("uid", fixedShard("0/4").ranges());
      const isOurs = ({ metadata: { uid } }: Pod): boolean => ours.has({ uid, namespace: "" });
      await prints(`${server.list(Pod).filter(isOurs).length} pods are of this shard`);
      for (let i = 0, found = 0; found < 2; i++) {
        const made = server.create(Pod, pod({ name: `more-${i}`, namespace: "shop" }));
        if (!isOurs(made)) continue;
        found++;
        await prints(`found shop/more-${i}`);
        server.delete(Pod, `shop/more-${i}`);
        await prints(`deleted shop/more-${i}`);
      }
    },
  },
  "many_clusters.ts": {
    expect: async ({ server, prints }) => {
      await prints("3 pods in home");
      server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
      await prints("home shop/web-0 updated");
    },
  },
  "first.ts": {
    ends: true,
    expect: async ({ prints }) => {
      for (const line of ["added shop/cart-0", "1 pods are cached", "cart-0 has failed"]) await prints(line);
    },
  },
  "crash_loops.ts": {
    expect: async ({ server, prints }) => {
      await watched(server);
      server.patch(Pod, "shop/web-0", {
        status: { containerStatuses: [{ ...CRASHING, state: { waiting: { reason: "CrashLoopBackOff" } } }] },
      });
      await prints("shop/web-0 main: 7 restarts");
      server.patch(Pod, "shop/web-0", { status: { containerStatuses: [{ ...CRASHING, state: { running: {} } }] } });
      await prints("shop/web-0 waits no more");
    },
  },
  "failed_pods.ts": {
    args: ["FOLDER"],
    expect: async ({ server, prints }) => {
      await watched(server);
      server.patch(Pod, "shop/web-0", { status: { phase: "Failed" } });
      await prints("shop/web-0 has failed");
      server.delete(Pod, "shop/web-0");
      await prints("shop/web-0 is deleted, or no longer failed");
    },
  },
  "rollout.ts": {
    args: ["shop", "web"],
    ends: true,
    server: () => {
      const server = shop();
      const rolling = { observedGeneration: 1, replicas: 3, updatedReplicas: 2, availableReplicas: 2 };
      server.patch(Deployment, "shop/web", { metadata: { generation: 2 }, status: rolling });
      return server;
    },
    expect: async ({ server, program }) => {
      await watched(server);
      const steps = [{ observedGeneration: 2 }, { availableReplicas: 3 }];
      for (const status of steps) server.patch(Deployment, "shop/web", { status });
      assertEquals(program.out.text, "");
      server.patch(Deployment, "shop/web", { status: { replicas: 2, availableReplicas: 2 } });
      assertEquals([await program.code, program.out.text], [0, "web: 2 replicas are available\n"]);
    },
  },
  "roll_out.ts": {
    args: ["shop", "web", "web:2"],
    ends: true,
    expect: async ({ server, program }) => {
      await server.until(Deployment, "shop/web", (web) => web?.metadata.generation === 2);
      server.patch(Deployment, "shop/web", { status: { observedGeneration: 2, updatedReplicas: 1 } });
      assertEquals(program.out.text, "");
      const is = { status: "True", reason: "NewReplicaSetAvailable" } as const;
      const conditions = [{ type: "Available", ...is }, { type: "Progressing", ...is }];
      server.patch(Deployment, "shop/web", { status: { updatedReplicas: 2, availableReplicas: 2, conditions } });
      assertEquals([await program.code, program.out.text], [0, "web: 2 replicas are available\n"]);
    },
  },
  "pods_by_node.ts": {
    ends: true,
    server: () => {
      const server = shop();
      server.create(Pod, pod({ name: "lost-0", namespace: "shop", node: "worker-9" }));
      return server;
    },
    expect: async ({ prints }) => {
      await prints(/^worker-1: 2 of 2 pods run, at most \d+ fit$/);
      await prints(/^worker-2: 1 of 1 pods run, at most \d+ fit$/);
      await prints('worker-9: gone [ "shop/lost-0" ]');
    },
  },
  "pods_on_nodes.ts": {
    expect: async ({ server, prints }) => {
      await prints(/^shop\/cart-0 uses \S+$/);
      await prints("2 pods are on worker-1");
      server.annotate(Pod, "shop/cart-0", { "example.com/owner": "me" }); // no event
      const cart = server.get(Pod, "shop/cart-0")!;
      server.update(Pod, { ...cart, status: { ...cart.status, phase: "Failed" } });
      await prints(/^shop\/cart-0 \w+ → Failed$/);
      server.delete(Pod, "shop/cart-0");
      await prints("shop/cart-0 is gone");
    },
  },
  "serve_pods.ts": {
    args: ["0"],
    first: /^http:.*\n/,
    isLazy: true,
    expect: async ({ server, program, prints }) => {
      await prints(/^http:/);
      const address = program.out.text.trim();
      const { items } = await (await fetch(address)).json();
      assertEquals(items.map(({ metadata }: Pod) => metadata.name).sort(), ["cart-0", "db-0", "web-0"]);
      const stream = await fetch(address.replace("/api/", "/events/"));
      assertEquals(stream.headers.get("content-type"), "text/event-stream");
      let text = "";
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes("event:synced") && server.get(Pod, "data/db-0") !== undefined) {
          server.delete(Pod, "data/db-0");
        }
        if (text.includes("event:deleted")) break; // ends the stream
      }
      assertStringIncludes(text, "event:added\ndata:{");
      const missing = await fetch(address.replace("/pods", "/nothing"));
      assertEquals([missing.status, Object.keys(await missing.json())], [404, ["error"]]);
    },
  },
  "follow.ts": {
    args: ["ct"],
    server: () => {
      const server = shop();
      server.define({ ...CronTab, shortNames: ["ct"] });
      server.create(CronTab, { metadata: { name: "nightly" }, spec: { cronSpec: "0 3 * * *" } } as never);
      return server;
    },
    expect: async ({ server, prints }) => {
      await prints('added default/nightly {"cronSpec":"0 3 * * *"}');
      server.delete(CronTab, "default/nightly");
      await prints("deleted default/nightly");
    },
  },
  "flags.ts": {
    ends: true,
    expect: ({ prints }) => prints(/^deno run .*--allow-net=127\.0\.0\.1:\d+ main\.ts$/),
  },
  "three_namespaces.ts": {
    server: () => shop({ authorize: ({ namespace }) => namespace === "shop" }),
    expect: async ({ prints }) => {
      await prints("shop: 2 pods");
      await prints(/^data: .*403.*$/);
      await prints(/^bank: .*403.*$/);
    },
  },
  "list_pods.ts": {
    ends: true,
    server: () => {
      const server = shop();
      server.create(Pod, pod({ name: "here-0", node: "worker-1" }));
      return server;
    },
    expect: ({ prints }) => prints("here-0 Running"),
  },
  "reloader.ts": {
    server: () => {
      const server = shop();
      server.create(ConfigMap, configMap({ name: "settings", namespace: "shop", data: { color: "red" } }));
      const template = { spec: { containers: [{ name: "app", envFrom: [{ configMapRef: { name: "settings" } }] }] } };
      server.patch(Deployment, "shop/web", { spec: { template } });
      return server;
    },
    expect: async ({ server, prints }) => {
      await watched(server, 3);
      server.annotate(ConfigMap, "shop/settings", { "example.com/owner": "me" }); // no restart
      server.patch(ConfigMap, "shop/settings", { data: { color: "blue" } });
      const { metadata } = server.get(ConfigMap, "shop/settings")!;
      await prints("shop/web restarts: ConfigMap shop/settings has changed");
      const { spec } = server.get(Deployment, "shop/web")!;
      const reloaded = `ConfigMap shop/settings ${metadata.resourceVersion}`;
      assertEquals(spec.template?.metadata?.annotations, { "example.com/reloaded": reloaded });
    },
  },
  "unused_secrets.ts": {
    ends: true,
    server: () => {
      const server = shop();
      for (const name of ["unused", "pull", "mounted", "ran"]) {
        server.create(Secret, { metadata: { name, namespace: "shop" } });
      }
      server.create(Secret, { metadata: { name: "mounted", namespace: "data" } }); // of that name elsewhere
      server.create(Secret, {
        metadata: { name: "token", namespace: "shop" },
        type: "kubernetes.io/service-account-token",
      });
      const volumes = [{ name: "a", secret: { secretName: "mounted" } }];
      server.patch(Deployment, "shop/web", { spec: { template: { spec: { volumes } } } });
      const template = { spec: { containers: [{ name: "a", envFrom: [{ secretRef: { name: "ran" } }] }] } };
      server.create(CronJob, {
        metadata: { name: "nightly", namespace: "shop" },
        spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template } } },
      });
      server.create(ServiceAccount, {
        metadata: { name: "default", namespace: "shop" },
        imagePullSecrets: [{ name: "pull" }],
      });
      return server;
    },
    expect: async ({ program }) => {
      assertEquals([await program.code, program.out.text], [0, "data/mounted\nshop/unused\n"]);
    },
  },
  "rollout_alarm.ts": {
    expect: async ({ server, prints }) => {
      await watched(server, 6);
      const condition = {
        type: "Progressing",
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: "too late",
      };
      server.patch(Deployment, "shop/web", { status: { conditions: [condition] } });
      await prints("shop/Deployment:web fails: ProgressDeadlineExceeded: too late");
      const is = { status: "True", reason: "NewReplicaSetAvailable" } as const;
      const conditions = [{ type: "Available", ...is }, { type: "Progressing", ...is }];
      const status = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions };
      server.patch(Deployment, "shop/web", { status });
      await prints("shop/Deployment:web has recovered");
    },
  },
  "shop_pods.ts": {
    expect: async ({ server, prints }) => {
      await prints("synced: 1 pods");
      server.endWatches();
      server.delete(Pod, "shop/web-0");
      await prints("deleted shop/web-0");
    },
  },
  "web_pods.ts": {
    expect: async ({ server, prints }) => {
      await prints("synced 1");
      server.endWatches();
      server.delete(Pod, "shop/web-0");
      await prints("deleted web-0");
    },
  },
};

/** Resolves when so many watches are open. */
async function watched(server: FakeApiServer, count = 1): Promise<void> {
  while (server.watches < count) await new Promise((resolve) => server.afterNext(resolve));
}

/** Runs an extracted program as its page says, against `server`. */
async function start(
  program: DocumentedProgram,
  folder: Folder,
  address: string,
  args: readonly string[] = [],
  receiver?: Receiver,
): Promise<Program> {
  const kubeconfig = await writeKubeconfig(folder.file(`${program.file}.kubeconfig`), { server: address });
  const flags = ["--no-check", "--no-prompt", "--config", CONFIG, ...program.flags];
  const places: Readonly<Record<string, string>> = { FOLDER: folder.path, RECEIVER: receiver?.url ?? "http://none" };
  const given = args.map((arg) => places[arg] ?? arg);
  return new Program(folder.file(program.file), given, { KUBECONFIG: kubeconfig }, flags);
}

for (const program of programs()) {
  const run = RUNS[program.file];
  if (run === undefined) continue; // the first test below fails then
  Deno.test(`${program.file} of ${program.place} prints the expected lines, with the flags of its page`, {
    ignore,
  }, async () => {
    await using folder = extractPrograms();
    using server = run.server?.() ?? shop();
    await using served = await serve(server);
    await using receiver = new Receiver();
    await using processes = new AsyncDisposableStack();
    const begin = async (args = run.args): Promise<Program> =>
      processes.use(await start(program, folder, served.url, args, receiver));
    let process = await begin();
    await run.expect({
      server,
      receiver,
      get program() {
        return process;
      },
      prints: (wanted) =>
        process.out.until((lines) =>
          lines.some((line) => typeof wanted === "string" ? line === wanted : wanted.test(line))
        ),
      again: async (args) => {
        await process[Symbol.asyncDispose]();
        process = await begin(args);
      },
    });
    if (!run.ends) process.kill("SIGINT");
    assertEquals([await process.code, process.err.text.replaceAll(run.errors ?? "", "")], [0, ""]);
  });

  if (run.ends) continue;
  Deno.test(`${program.file} of ${program.place} ends quietly when it is interrupted before it has synced`, {
    ignore,
  }, async () => {
    await using folder = extractPrograms();
    using server = shop();
    const asked = Promise.withResolvers<void>();
    server.beforeNext(() => asked.resolve());
    using _stalled = server.stallNext(1_000);
    await using served = await serve(server);
    await using process = await start(program, folder, served.url, run.args);
    if (run.isLazy) await process.out.until((lines) => lines.length > 0);
    else await asked.promise;
    process.kill("SIGTERM");
    const code = await process.code;
    assertEquals([code, process.err.text, process.out.text.replace(run.first ?? "", "")], [0, "", ""]);
  });
}

Deno.test("each program of README and docs has a name of its own and a run in this file", () => {
  const named = programs().map(({ file }) => file);
  assertEquals(named.toSorted(), Object.keys(RUNS).toSorted());
});

Deno.test(
  "the programs of README and docs type-check, and need no cast; so does one with generated kinds, whose wrong uses are errors",
  { ignore, timeout: 600_000 },
  async () => {
    await using folder = extractPrograms();
    const files = programs().map(({ file }) => folder.file(file));
    folder.write("kinds.ts", (await run("kinds", "--file", CRONTAB_FILE)).out.join("\n"));
    files.push(folder.write("crontab_program.ts", CRONTAB_PROGRAM)); // in one run: most of the time goes for the package
    const { code, err } = await deno(["check", "--quiet", "--config", CONFIG, ...files]);
    assertEquals([code, err], [0, ""]);
    for (const { place, text } of programs()) {
      assert(!/\bas (?!const\b|\w+ from\b)|\bany\b|@ts-/.test(text.replaceAll(/\/\/.*$|"[^"]*"|`[^`]*`/gm, "")), place);
    }
  },
);

Deno.test("the guides show each module of the project of informer init, its kind, its role and its image", () => {
  const all = pages().map((page) => Deno.readTextFileSync(new URL(page, ROOT))).join("\n");
  const shown = (text: string, name: string): void => assertStringIncludes(all, `\n${text}\`\`\`\n`, name);
  for (const [name, text] of Object.entries(PROJECT_FILES)) {
    const isLeftOut = ["README.md", "deno.json", "definition.yaml", "manifests.yaml"].includes(name);
    if (!isLeftOut) shown(text, name);
  }
  const role = PROJECT_FILES["manifests.yaml"].split("---\n").find((part) => part.includes("\nkind: ClusterRole\n"));
  shown(role!, "the role");
});

/** The libraries in programs for Node, with the versions of the tests. */
const LIBRARIES: Readonly<Record<string, string>> = {
  zod: "npm:zod@4.6.7",
  valibot: "npm:valibot@1.5.0",
  "@valibot/to-json-schema": "npm:@valibot/to-json-schema@1.8.0",
};

Deno.test("the page Define a kind shows schemas of libraries that type-check and define kinds", {
  ignore,
  timeout: 600_000,
}, async () => {
  await using folder = new Folder();
  const text = Deno.readTextFileSync(new URL("docs/guides/define-a-kind.md", ROOT));
  const blocks = [...text.matchAll(/^```js ignore\n(import[^]*?)^```$/gm)].map(([, block]) => block);
  const files = blocks.map((block, at) =>
    folder.write(`library_${at}.ts`, block.replace(/(?<= from ")[^"]+/g, (name) => LIBRARIES[name] ?? name))
  );
  const { code, err } = await deno(["check", "--quiet", "--no-lock", "--config", CONFIG, ...files]);
  assertEquals([code, err, files.length], [0, "", 2]);
  for (const file of files) {
    const { Website } = await import(pathToFileURL(file).href);
    const status = { conditions: [{ type: "Ready", status: "True", reason: "Done" }] };
    const spec = { image: "nginx:latest", replicas: 101 };
    const causes: readonly StatusCause[] = await Website.validate({ metadata: { name: "web" }, spec, status });
    assert(causes.some(({ field }) => field === "status.conditions[0].lastTransitionTime"));
    // Rules run once the schema finds nothing.
    const [{ message }] = await Website.validate({ metadata: { name: "web" }, spec });
    assertMatch(message, /replicas exceed maxReplicas|pin the image/);
  }
});

/** The modules of `examples`, also of its folders: name and text. */
function examples(folder = new URL("examples/", ROOT)): (readonly [name: string, text: string])[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return examples(new URL(`${name}/`, folder));
    const file = new URL(name, folder);
    return name.endsWith(".ts") ? [[file.href.slice(ROOT.href.length), Deno.readTextFileSync(file)]] : [];
  });
}

Deno.test("each example and program imports from at most three entry points, and from those of kinds", () => {
  // The entry points of kinds do not count: which ones a program needs follows from the objects that it reads. All
  // others do, the root among them, and also those of which a program imports only types.
  const all = [...examples(), ...programs().map(({ place, text }) => [place, text] as const)];
  assert(all.length > 25, `found ${all.length}`);
  const counted = all.map(([name, text]) => {
    const entries = new Set(entriesIn(text).filter((entry) => !entry.startsWith("./kinds/")));
    return { name, entries: [...entries] };
  });
  assertEquals(counted.filter(({ entries }) => entries.length > 3), []);
});

Deno.test("blocks of TypeScript in README and docs are run, by deno test --doc or by this file", () => {
  for (const page of pages()) {
    for (const { place, fence } of blocksOf(page)) {
      assert(fence === "ts" || fence === "ts ignore", `${place}: ${fence}`);
    }
  }
});
