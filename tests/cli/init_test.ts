// Projects that `informer init` writes: their files, what they do, and what it refuses.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { defineResource, type Resource } from "../../src/engine/api/resource.ts";
import { PROJECT_FILES, WEBHOOK_FILES } from "../../src/cli/project_files.ts";
import { VERSION } from "../../src/engine/client/version.ts";
import { Deployment } from "../../src/engine/kinds/apps/v1.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { deno, Program } from "../support/processes/program.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";

const ROOT = new URL("../../", import.meta.url);
const FILES = Object.keys(PROJECT_FILES);
const CronTab: Resource = defineResource({ group: "acme.dev", version: "v1", plural: "crontabs", kind: "CronTab" });

/** Writes the project of a CronTab, which is linked to this repository, to a folder that exists. */
async function cronTabs(project: Folder): Promise<void> {
  const flags = ["--kind", "CronTab", "--group", "acme.dev", "--dir", project.path];
  const { code, out, err } = await run("init", "cron-runner", ...flags);
  assertEquals([code, out], [0, []], err.join("\n"));
  assertEquals(err, [
    ...FILES.map((name) => `wrote ${project.file(name)}`),
    `${project.file("deno.json")} links the package to ${ROOT.href}`,
    `next, in ${project.path}: deno task test; kubectl apply -f definition.yaml; deno task start`,
  ]);
}

Deno.test("a new project has the given names, the CRD of its kind, and the version of the package", async () => {
  await using project = new Folder();
  await cronTabs(project);
  for (const name of FILES) {
    const text = Deno.readTextFileSync(project.file(name));
    assertEquals(text.match(/website|example\.com/gi), null, name);
  }
  const definition = Deno.readTextFileSync(project.file("definition.yaml"));
  for (const line of ["name: crontabs.acme.dev", "plural: crontabs", "singular: crontab", "kind: CronTab"]) {
    assertStringIncludes(definition, ` ${line}\n`);
  }
  assertStringIncludes(Deno.readTextFileSync(project.file("manifests.yaml")), "resources: [crontabs/status]");
  const { imports, links } = JSON.parse(Deno.readTextFileSync(project.file("deno.json")));
  assertEquals([imports["@kube/informer"], links], [`jsr:@kube/informer@^${VERSION}`, [ROOT.href]]);
});

Deno.test("the tasks ok and crds of a new project pass, with the package of this repository", {
  timeout: 600_000,
}, async () => {
  await using project = new Folder();
  await cronTabs(project);
  const definition = Deno.readTextFileSync(project.file("definition.yaml"));
  project.write("definition.yaml", "");
  const written = await deno(["task", "crds"], { cwd: project.path });
  assertEquals([written.code, Deno.readTextFileSync(project.file("definition.yaml"))], [0, definition], written.err);
  const { code, out, err } = await deno(["task", "ok"], { cwd: project.path }); // formatting, lint, types, tests
  assertEquals(code, 0, out + err);
  assertMatch(out + err, /the controller converges in 25 seeds .* ok/);
  assertMatch(out + err, /the role grants what the program uses .* ok/);
  assertMatch(out + err, /\d passed \| 0 failed/);
});

Deno.test("init --webhooks adds webhooks, whose test passes, and their Service and certificate", {
  timeout: 600_000,
}, async () => {
  await using project = new Folder();
  const flags = ["--kind", "CronTab", "--group", "acme.dev", "--dir", project.path, "--webhooks"];
  const { code, err } = await run("init", "cron-runner", ...flags);
  assertEquals(code, 0, err.join("\n"));
  const files = { ...PROJECT_FILES, ...WEBHOOK_FILES };
  assertEquals([...Deno.readDirSync(project.path)].map(({ name }) => name).sort(), Object.keys(files).sort());
  for (const name of Object.keys(files)) {
    assertEquals(Deno.readTextFileSync(project.file(name)).match(/website|example\.com/gi), null, name);
  }
  assertStringIncludes(Deno.readTextFileSync(project.file("webhooks.yaml")), "dnsNames: [cron-runner.cron-runner.svc]");
  assertStringIncludes(Deno.readTextFileSync(project.file("Dockerfile")), " controller.ts webhooks.ts main.ts ");
  const checked = await deno(["task", "ok"], { cwd: project.path }); // formatting, lint, types, tests
  assertEquals(checked.code, 0, checked.out + checked.err);
  assertMatch(checked.out + checked.err, /a CronTab gets a label, and needs an image with a version .* ok/);
});

Deno.test("the files of a project with webhooks are those without, and more", () => {
  for (const name of ["main.ts", "manifests.yaml", "Dockerfile"]) {
    const [without, withThem] = [PROJECT_FILES, WEBHOOK_FILES].map((files) => files[name].split("\n"));
    const changed = without.filter((line) => !withThem.includes(line));
    // The head of each file, and the flags of the image, or the call that serves.
    assert(changed.length <= 3, `${name}: ${changed.join("\n")}`);
  }
});

Deno.test("a program that runs from an address carries the files, and links the project to nothing", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using folder = new Folder();
  const project = folder.file("web");
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const type = pathname.endsWith(".json") ? "json" : "typescript";
    return new Response(await Deno.readTextFile(new URL(`.${pathname}`, ROOT)), {
      headers: { "content-type": `application/${type}` },
    });
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const flags = ["--no-lock", "--no-check", "--no-prompt", `--allow-read=${project}`, `--allow-write=${project}`];
  const main = `http://127.0.0.1:${server.addr.port}/src/cli/main.ts`;
  const args = ["init", "website-controller", "--kind", "Website", "--dir", project];
  const { npmCache } = JSON.parse((await deno(["info", "--json"])).out);
  const cache = folder.file("cache"); // of its own, so that no module of an earlier server is in it
  Deno.mkdirSync(cache);
  Deno.symlinkSync(npmCache, `${cache}/npm`);
  const run = ["run", "--config", "deno.json", ...flags, main, ...args];
  const { code, err } = await deno(run, { env: { DENO_DIR: cache } });
  assertEquals(code, 0, err);
  for (const [name, text] of Object.entries(PROJECT_FILES)) {
    assertEquals(Deno.readTextFileSync(`${project}/${name}`), text, name);
  }
});

Deno.test("a project of a long kind is formatted, too", async () => {
  await using project = new Folder();
  await run("init", "a", "--kind", "VirtualMachineSnapshotClasses", "--dir", project.path);
  const { code, err } = await deno(["fmt", "--check"], { cwd: project.path });
  assertEquals(code, 0, err);
});

for (const way of ["task start", "Dockerfile"]) {
  Deno.test(`the program of a new project runs with the flags of its ${way}`, {
    ignore: Deno.build.os === "windows",
  }, async () => {
    await using project = new Folder();
    await cronTabs(project);
    await using folder = new Folder();
    using server = new FakeApiServer();
    server.create(
      CronTab,
      { metadata: { name: "nightly", namespace: "shop" }, spec: { image: "nginx", replicas: 2 } } as never,
    );
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("kubeconfig"), { server: served.url });
    const flags = way === "Dockerfile" ? [...imageFlags(project), `--allow-read=${kubeconfig}`] : startFlags(project);
    await using program = new Program(
      project.file("main.ts"),
      ["0"],
      { KUBECONFIG: kubeconfig },
      ["--no-check", "--no-prompt", ...flags],
    );
    await program.out.line(/^running$/);
    await server.until(Deployment, "shop/nightly", (made) => made?.spec.replicas === 2);
    await server.until(CronTab, "shop/nightly", (it) => JSON.stringify(it).includes("0 of 2 replicas exist"));
    const [, address] = /^probes: (.*)$/m.exec(program.out.text)!;
    const answer = await fetch(address);
    assertEquals([answer.status, await answer.text()], [200, "ok\n"]);
    program.kill("SIGTERM");
    assertEquals([await program.code, program.err.text], [0, ""]);
  });
}

Deno.test("the program of a new project ends quietly when it is interrupted before it has synced", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using project = new Folder();
  await cronTabs(project);
  using server = new FakeApiServer();
  const asked = Promise.withResolvers<void>();
  server.beforeNext(() => asked.resolve());
  using _stalled = server.stallNext(1_000);
  await using served = await serve(server);
  const kubeconfig = await writeKubeconfig(project.file("kubeconfig"), { server: served.url });
  await using program = new Program(project.file("main.ts"), ["0"], { KUBECONFIG: kubeconfig });
  await asked.promise;
  program.kill("SIGTERM");
  assertEquals([await program.code, program.err.text], [0, ""]);
  assertEquals(program.out.lines.slice(1), ["syncing", "stopping", "stopped"]);
});

/** The flags of `deno task start`. */
function startFlags(project: Folder): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(project.file("deno.json")));
  const [, flags] = /^deno run (.*) main\.ts$/.exec(tasks.start)!;
  assertStringIncludes(flags, "--v8-flags=--max-semi-space-size=4,--optimize-for-size");
  return flags.split(" ");
}

/** The permissions of a container: the folder of the service account is the only one that it reads. */
function imageFlags(project: Folder): string[] {
  const [first, ...flags] = commandIn(Deno.readTextFileSync(project.file("Dockerfile")));
  assertEquals([first, flags.pop()], ["run", "main.ts"]);
  return flags.filter((flag) => flag.startsWith("--allow-") && !flag.startsWith("--allow-read="));
}

function commandIn(dockerfile: string): string[] {
  return JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]);
}

Deno.test("the Dockerfile of a new project is that of examples/in_cluster, but for its files and its kubeconfig", () => {
  const other = Deno.readTextFileSync(new URL("examples/in_cluster/Dockerfile", ROOT));
  const same = (text: string): string[] =>
    text.split("\n").filter((line) => /^(?:FROM|WORKDIR|ENV|USER|EXPOSE) /.test(line));
  assertEquals(same(PROJECT_FILES.Dockerfile), same(other));
  assertStringIncludes(PROJECT_FILES.Dockerfile, "\nENV DENO_V8_FLAGS=--max-semi-space-size=4,--optimize-for-size\n");
  const flags = (text: string): string[] =>
    commandIn(text).slice(0, -1).map((flag) => flag.replace(/KUBECONFIG,HOME,|,POD_NAMESPACE,POD_NAME/, ""));
  assertEquals(flags(PROJECT_FILES.Dockerfile), flags(other));
});

Deno.test("no text of the project needs another word before or behind another kind", () => {
  for (const [name, text] of Object.entries(PROJECT_FILES)) {
    assertEquals(text.match(/\b[Aa]n? [Ww]ebsite|\bWebsites\b/g), null, name);
  }
});

Deno.test("plurals are those of English, or given", async () => {
  const cases = [
    ["Index", "indexes"],
    ["Policy", "policies"],
    ["Gateway", "gateways"],
    ["Switch", "switches"],
    ["Address", "addresses"],
    ["Index", "indices", "--plural", "indices"],
  ];
  for (const [kind, plural, ...flags] of cases) {
    await using project = new Folder();
    await run("init", "a", "--kind", kind, ...flags, "--dir", project.path);
    const definition = Deno.readTextFileSync(project.file("definition.yaml"));
    assertStringIncludes(definition, `name: ${plural}.example.com\n`);
  }
});

Deno.test("init writes nothing where a file exists, and replaces it with --force", async () => {
  await using parent = new Folder();
  const project = parent.file("web");
  const init = (...flags: string[]): ReturnType<typeof run> =>
    run("init", "web", "--kind", "Website", "--dir", project, ...flags);
  Deno.mkdirSync(project);
  const own = parent.write("web/main.ts", "mine");
  const refused = await init();
  assertEquals([refused.code, refused.err], [2, [
    `error: "${own}" exists; name another folder with --dir, or replace them with --force`,
  ]]);
  parent.write("web/README.md", "mine");
  assertStringIncludes((await init()).err[0], `README.md" and 1 more of the files exist; `);
  assertEquals([...Deno.readDirSync(project)].map(({ name }) => name).sort(), ["README.md", "main.ts"]);
  assertEquals(Deno.readTextFileSync(own), "mine");
  assertEquals((await init("--force")).code, 0);
  assertEquals(Deno.readTextFileSync(own), PROJECT_FILES["main.ts"]);

  Deno.removeSync(own);
  Deno.mkdirSync(own);
  parent.write("web/deno.json", "mine");
  const folder = await init("--force");
  assertEquals([folder.code, folder.err], [2, [
    `error: "${own}" is not a regular file; name another folder with --dir`,
  ]]);
  assertEquals(Deno.readTextFileSync(`${project}/deno.json`), "mine");
});

Deno.test("init refuses names that Kubernetes or the project cannot have, in one line", async () => {
  await using folder = new Folder();
  const file = folder.write("file", "");
  const cases: [RegExp, ...string[]][] = [
    [/^error: Missing argument\(s\): name; see informer init --help$/],
    [/a project name must have 1 to 63 lower-case letters.*, but it is "Web_1"$/, "Web_1", "--kind", "A"],
    [/--kind must be one word in CamelCase with at most 50 letters, such as "CronTab"$/, "web"],
    [/--kind must be one word in CamelCase .*, but it is "web"$/, "web", "--kind", "web"],
    [/--kind "Deployment" clashes with another name in the project's files/, "web", "--kind", "Deployment"],
    [/--kind "Promise" clashes with another name/, "web", "--kind", "Promise"],
    [/--runtime/, "web", "--kind", "A", "--runtime", "bun"],
    [/--plural must have .*, and begin with a letter, but it is "2s"$/, "web", "--kind", "A", "--plural", "2s"],
    [/--group must be a domain that you own, .*, but it is "web"$/, "web", "--kind", "A", "--group", "web"],
    [/--group "a.k8s.io" is reserved for Kubernetes/, "web", "--kind", "A", "--group", "a.k8s.io"],
    [/Dockerfile" cannot be written: .*; name another folder with --dir$/, "web", "--kind", "A", "--dir", file],
  ];
  for (const [message, ...args] of cases) {
    const { code, out, err } = await run("init", ...args);
    assertEquals([code, out, err.length], [2, [], 1], err.join("\n"));
    assertMatch(err[0], message);
  }
});

Deno.test("shells complete the command, its flags and its folder", async () => {
  const offered = async (...words: string[]): Promise<string[]> =>
    (await run("completions", "complete", "--", ...words)).out.map((line) => line.split("\t")[0]);
  assertEquals([await offered("ini"), await offered("init", "web", "--p")], [["init"], ["--plural"]]);
  assertEquals([await offered("init", "--dir", ""), await offered("init", "")], [[":files"], []]);
  assertEquals(await offered("init", "web", "--runtime", ""), ["deno", "node"]);
});

Deno.test("init runs with the permissions that it asks for", async () => {
  await using folder = new Folder();
  const project = folder.file("web");
  const init = (flags: readonly string[]): ReturnType<typeof deno> =>
    deno([
      "run",
      "--no-check",
      "--no-prompt",
      ...flags,
      "src/cli/main.ts",
      ..."init web --kind A --dir".split(" "),
      project,
    ]);
  const refused = await init([]);
  assertEquals(refused.code, 2);
  const flags = [...refused.err.matchAll(/--allow-\S+/g)].map(([flag]) => flag);
  assertEquals(flags, [`--allow-read=${project}`, `--allow-write=${project}`]);
  const written = await init(flags);
  assertEquals(written.code, 0, written.err);
  assert(Deno.statSync(`${project}/controller.ts`).isFile);
});
