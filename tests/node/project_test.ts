// What users of npm get, on Node 24: the project that `informer init --runtime node` writes, and npx.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { defineResource, type Resource } from "../../src/engine/api/resource.ts";
import { NODE_FILES, PROJECT_FILES } from "../../src/cli/project_files.ts";
import { VERSION } from "../../src/engine/client/version.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { Namespace, Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, namespace, pod } from "../../src/testing/mod.ts";
import { NODE_VERSIONS, packForNpm } from "../../tools/npm.ts";
import { quotasRun, serviceRun } from "../support/processes/job_runs.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { BUNDLED_NODE, findNode } from "../support/node/find_node.ts";
import { programNamed } from "../support/texts/pages.ts";
import { type Output, outputOf, Process } from "../support/processes/program.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";

const CronTab: Resource = defineResource({ group: "acme.dev", version: "v1", plural: "crontabs", kind: "CronTab" });

/** Node 24 and its npm in PATH, and the package as npm installs it. */
class Npm extends Folder {
  /** The environment of the programs. */
  env: Readonly<Record<string, string>> = {};

  static async make(): Promise<Npm> {
    const npm = new Npm();
    const node = await findNode(npm.path);
    const path = Deno.env.get("PATH")!;
    npm.env = { PATH: node === "node" ? path : `${join(node, "..")}:${path}`, npm_config_update_notifier: "false" };
    await packForNpm(npm.file("informer.tgz"));
    return npm;
  }

  run(cwd: string, command: string, ...args: string[]): Promise<Output> {
    return outputOf(command, args, { cwd, env: this.env });
  }
}

const options = { ignore: Deno.build.os === "windows", timeout: 300_000, sanitizeResources: true };

Deno.test(
  "a new project for Node installs, type-checks, passes its tests, and runs its program and the command line",
  options,
  async () => {
    await using npm = await Npm.make();
    const project = npm.file("project");
    const { code, err } = await run(
      ...[
        "init",
        "cron-runner",
        "--kind",
        "CronTab",
        "--group",
        "acme.dev",
        "--runtime",
        "node",
        "--dir",
        project,
      ] as const,
    );
    assertEquals(code, 0, err.join("\n"));
    assertStringIncludes(err.at(-2)!, `${project}/package.json takes the package from informer.tgz`);
    assertMatch(Deno.readTextFileSync(join(project, "Dockerfile")), /^COPY package.* informer\.tgz \.\/$/m);
    assertEquals(err.at(-1), `next, in ${project}: npm install; npm test; kubectl apply -f definition.yaml; npm start`);
    const names = [...Deno.readDirSync(project)].map(({ name }) => name).sort();
    const wanted = new Set([...Object.keys(PROJECT_FILES), ...Object.keys(NODE_FILES)]);
    assertEquals([...wanted].sort().filter((name) => name !== "deno.json"), names);
    for (const name of names) {
      assertEquals(Deno.readTextFileSync(join(project, name)).match(/website|example\.com/gi), null, name);
    }

    Deno.copyFileSync(npm.file("informer.tgz"), join(project, "informer.tgz"));
    const call = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await npm.run(project, "npm", ...args);
      assertEquals(code, 0, out + err);
      return out;
    };
    await call("install", "--no-audit", "--no-fund");
    const definition = Deno.readTextFileSync(join(project, "definition.yaml"));
    Deno.writeTextFileSync(join(project, "definition.yaml"), "");
    await call("run", "crds");
    assertEquals(Deno.readTextFileSync(join(project, "definition.yaml")), definition);
    const checked = await call("run", "ok"); // types, tests
    assertMatch(checked, /the controller converges in 25 seeds/);
    assertMatch(checked, /pass 7\n.*fail 0\n/);
    assertMatch(await call("run", "chaos", "2"), /the controller converges in 2 seeds .*\n.*tests 1\n/);
    assertMatch(await call("run", "--silent", "informer", "--", "get", "pods", "--fake", "-A", "-o", "name"), /^pod\//);

    using server = new FakeApiServer();
    server.create(
      CronTab,
      { metadata: { name: "nightly", namespace: "shop" }, spec: { image: "nginx", replicas: 2 } } as never,
    );
    await using served = await serve(server);
    const env = { ...npm.env, KUBECONFIG: await writeKubeconfig(npm.file("kubeconfig"), { server: served.url }) };
    const [command, ...args] = JSON.parse(/^CMD (.*)$/m.exec(NODE_FILES.Dockerfile)![1]) as string[];
    assertStringIncludes(NODE_FILES["package.json"], `"start": "${[command, ...args].join(" ")}"`);
    await using program = new Process(command, [...args, "0"], { cwd: project, env });
    await server.until(Deployment, "shop/nightly", (made) => made?.spec.replicas === 2);
    await program.out.line(/^running$/);
    const [, address] = /^probes: (.*)$/m.exec(program.out.text)!;
    const answer = await fetch(address);
    assertEquals([answer.status, await answer.text()], [200, "ok\n"]);
    program.kill("SIGTERM");
    assertEquals([await program.code, program.err.text], [0, ""]);

    server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" } }));
    const programs = { "watch_pods.ts": "1 pods of the shop are web servers", "shop_pods.ts": "synced: 1 pods" };
    await call("install", "--no-audit", "--no-fund", "--no-save", "typescript@latest");
    const page = Deno.readTextFileSync(new URL("../../docs/operations/node-and-bun.md", import.meta.url));
    const table = [...page.matchAll(/^\| `("\w+": [^`]+)`/gm)].map(([, option]) => option);
    assert(table.length >= 6, "the options of tsconfig.json");
    const tsconfig = `{ "compilerOptions": { ${table} }, "files": ["documented.ts", "argv.ts"] }`;
    Deno.writeTextFileSync(join(project, "tsconfig.documented.json"), tsconfig);
    Deno.writeTextFileSync(join(project, "argv.ts"), `import { argv } from "node:process";\nconsole.log(argv);\n`);
    for (const [file, line] of Object.entries(programs)) { // as a page has them
      Deno.writeTextFileSync(join(project, "documented.ts"), programNamed(file).text);
      await call("exec", "--", "tsc", "--project", "tsconfig.documented.json");
      await using program = new Process("node", ["documented.ts"], { cwd: project, env });
      await program.until(file, (it) => it === line);
      program.kill("SIGINT");
      assertEquals([await program.code, program.err.text], [0, ""]);
    }
  },
);

Deno.test(
  "npx runs the command line from the file of deno task npm, with the exit codes of Deno",
  options,
  async () => {
    await using npm = await Npm.make();
    const informer = (...args: string[]): Promise<Output> => npm.run(npm.path, "npx", "-y", "./informer.tgz", ...args);
    const { code, out, err } = await informer("get", "pods", "--fake", "-A", "-o", "name");
    assertEquals([code, err], [0, ""]);
    assertMatch(out, /^(pod\/\S+\n)+$/);
    assertEquals((await informer("get", "pods", "--wrong")).code, 2);
    const project = npm.file("made"); // by an installed package, which is no clone to take it from
    assertEquals(
      (await informer("init", "website-controller", "--kind", "Website", "--runtime", "node", "--dir", project)).code,
      0,
    );
    assertEquals(Deno.readTextFileSync(join(project, "controller.ts")), PROJECT_FILES["controller.ts"]);
    assertStringIncludes(Deno.readTextFileSync(join(project, "package.json")), `"file:informer.tgz"`);
    const call = (...args: string[]): Promise<Output> => npm.run(project, "npm", ...args);
    const installed = await call("install", "--no-audit", "--no-fund");
    assertEquals(installed.code, 0, installed.err);
    assertEquals((await call("run", "--silent", "informer", "--", "--version")).out, `informer ${VERSION}\n`);
    const plan = await call("run", "--silent", "informer", "--", "plan", "main.ts", "--server", "http://127.0.0.1:1");
    assertEquals([plan.code, plan.out], [2, ""]);
    assertStringIncludes(plan.err, "only Deno can stop calls to other systems than the API server");

    const { sideEffects, dependencies, peerDependencies } = JSON.parse(
      Deno.readTextFileSync(join(project, "node_modules", "@kube", "informer", "package.json")),
    );
    assertEquals([sideEffects, Object.keys(peerDependencies)], [false, ["@opentelemetry/api"]]);
    assertEquals(Object.keys(dependencies).includes("@opentelemetry/api"), false);
    const old = await findNode(npm.path, BUNDLED_NODE, BUNDLED_NODE);
    const cli = join(project, "node_modules", "@kube", "informer", "src", "cli", "informer.cjs");
    const refused = await npm.run(npm.path, old, cli, "--version");
    assertEquals([refused.code, refused.out], [1, ""]);
    assertMatch(refused.err, /^error: informer needs Node 24\.2 or newer, and this is Node 22\.\d+\.\d+\n$/);
  },
);

/** A block of JavaScript with this file name in a page. */
function scriptOf(page: string, file: string): string {
  const text = Deno.readTextFileSync(new URL(`../../docs/jobs/${page}`, import.meta.url));
  const found = [...text.matchAll(/^```js ignore\n([^]*?)^```$/gm)].find(([, block]) => block.startsWith(`// ${file}`));
  assert(found !== undefined, file);
  return found[1];
}

Deno.test(
  "the programs with Hono and client-node in docs/jobs run on Node, type-check, and do what those without do",
  options,
  async () => {
    await using npm = await Npm.make();
    const folder = npm.file("jobs");
    Deno.mkdirSync(folder);
    Deno.writeTextFileSync(join(folder, "package.json"), `{ "type": "module", "private": true }`);
    const call = async (command: string, ...args: string[]): Promise<void> => {
      const { code, out, err } = await npm.run(folder, command, ...args);
      assertEquals(code, 0, out + err);
    };
    const packages = [
      "hono@4",
      "@hono/node-server@2",
      "@kubernetes/client-node@2.0.1",
      "@types/node@24",
      "typescript@7",
    ];
    await call("npm", "install", "--no-audit", "--no-fund", "../informer.tgz", ...packages);
    const programs = {
      "service_hono.ts": scriptOf("service-in-kubernetes.md", "service_hono.ts"),
      "quotas.js": scriptOf("migrate-a-client-node-program.md", "quotas.js"),
      "quotas.ts": programNamed("quotas.ts").text,
    };
    for (const [file, text] of Object.entries(programs)) Deno.writeTextFileSync(join(folder, file), text);
    const { compilerOptions } = JSON.parse(NODE_FILES["tsconfig.json"]);
    const files = ["service_hono.ts", "quotas.ts"];
    Deno.writeTextFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    await call("npx", "tsc");

    using server = new FakeApiServer();
    await using served = await serve(server);
    const env = { ...npm.env, KUBECONFIG: await writeKubeconfig(npm.file("kubeconfig"), { server: served.url }) };
    const start = (file: string, ...args: string[]): Process =>
      new Process("node", [file, ...args], { cwd: folder, env });
    server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
    await using service = start("service_hono.ts", "0", "3000");
    await serviceRun(server, service);
    assertEquals(service.err.text, "");

    for (const file of ["quotas.js", "quotas.ts"]) {
      using server = new FakeApiServer();
      server.create(Namespace, namespace({ name: "shop", labels: { team: "a" } }));
      server.create(Namespace, namespace({ name: "other" }));
      await using served = await serve(server);
      const cluster = { server: served.url, "insecure-skip-tls-verify": true }; // client-node refuses HTTP without it
      await writeKubeconfig(npm.file("kubeconfig"), cluster);
      await using program = start(file);
      await quotasRun(server);
      program.kill("SIGTERM");
      assertEquals(await program.code, 0, program.err.text);
    }
  },
);

Deno.test("the project for Node asks for the versions of Node that the package needs, and has the package of JSR", () => {
  const { engines, dependencies } = JSON.parse(NODE_FILES["package.json"]);
  const { imports } = JSON.parse(PROJECT_FILES["deno.json"]);
  const [, range] = imports["@kube/informer"].split("@kube/informer@");
  assertEquals([engines.node, dependencies], [NODE_VERSIONS, {
    "@kube/informer": `npm:@jsr/kube__informer@${range}`,
  }]);
  assertEquals(NODE_FILES[".npmrc"], "@jsr:registry=https://npm.jsr.io\n");
});
