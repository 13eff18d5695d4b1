// Where the programs of a control plane are found, and starts that fail. tests/cluster/control_plane_test.ts has a real
// one.
import { readCrds, startControlPlane } from "@kube/informer/testing/control-plane";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { pathToFileURL } from "node:url";
import {
  findServerPrograms,
  type Machine,
  storedPrograms,
} from "../../../src/testing/control_plane/server_programs.ts";
import { Program } from "../../support/processes/program.ts";
import { Folder } from "../../support/servers/serve.ts";

const ignore = Deno.build.os === "windows";

/** A machine with these variables, Linux on amd64 unless said. */
function machine(variables: Readonly<Record<string, string>>, more: Partial<Machine> = {}): Machine {
  return { env: (name) => variables[name], os: "linux", arch: "x64", ...more };
}

/** Writes the two programs as shell scripts; those of no text say that they are Kubernetes of a version. */
function writePrograms(path: string, version: string, etcd = "exit 1", suffix = ""): string {
  Deno.mkdirSync(path, { recursive: true });
  const scripts = { etcd, "kube-apiserver": `echo "Kubernetes v${version}"` };
  for (const [name, script] of Object.entries(scripts)) {
    Deno.writeTextFileSync(`${path}/${name}${suffix}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return path;
}

Deno.test("startControlPlane takes programs of KUBEBUILDER_ASSETS, else the newest that setup-envtest has", {
  ignore,
}, async () => {
  await using folder = new Folder();
  const home = folder.path;
  const store = `${home}/.local/share/kubebuilder-envtest/k8s`;
  for (const version of ["1.9.0", "1.36.3", "1.37.2", "1.37.10"]) {
    writePrograms(`${store}/${version}-linux-amd64`, version);
  }
  writePrograms(`${store}/1.38.0-linux-arm64`, "1.38.0");
  Deno.mkdirSync(`${store}/1.39.0-linux-amd64`);
  const own = writePrograms(`${home}/own`, "1.35.1");
  const stored = machine({ HOME: home });
  assertEquals((await storedPrograms(stored)).map(({ version }) => version), ["1.37.10", "1.37.2", "1.36.3", "1.9.0"]);
  assertEquals(await findServerPrograms({}, stored), `${store}/1.37.10-linux-amd64`);
  assertEquals(await findServerPrograms({ version: "1.37.2" }, stored), `${store}/1.37.2-linux-amd64`);
  assertEquals(await findServerPrograms({ version: "v1.36.x" }, stored), `${store}/1.36.3-linux-amd64`);
  const both = machine({ HOME: home, KUBEBUILDER_ASSETS: own });
  assertEquals(await findServerPrograms({}, both), own);
  assertEquals(await findServerPrograms({ version: "1.35" }, both), own);
  assertEquals(await findServerPrograms({ version: "1.36" }, both), `${store}/1.36.3-linux-amd64`);
  assertEquals(await findServerPrograms({ assets: own }, stored), own);
  assertEquals((await assertRejects(() => findServerPrograms({ version: "1.34" }, both), Error)).message.split("\n"), [
    "Cannot start a control plane: etcd and kube-apiserver of Kubernetes 1.34 were not found",
    `- KUBEBUILDER_ASSETS, "${own}": it has Kubernetes 1.35.1`,
    `- setup-envtest: "${store}" has 1.37.10, 1.37.2, 1.36.3, 1.9.0`,
    "To download them: setup-envtest use 1.34.x",
    "To install that: go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest, or without Go a program of",
    "https://github.com/kubernetes-sigs/controller-runtime/releases",
  ]);
});

Deno.test("startControlPlane finds what setup-envtest has left on each system", { ignore }, async () => {
  await using folder = new Folder();
  const home = folder.path;
  const mac = writePrograms(
    `${home}/Library/Application Support/io.kubebuilder.envtest/k8s/1.37.2-darwin-arm64`,
    "1.37.2",
  );
  assertEquals(await findServerPrograms({}, machine({ HOME: home }, { os: "darwin", arch: "arm64" })), mac);
  const windows = `${home}/kubebuilder-envtest/k8s/1.37.2-windows-amd64`;
  writePrograms(windows, "1.37.2", "exit 1", ".exe");
  assertEquals(await findServerPrograms({}, machine({ LocalAppData: home }, { os: "win32" })), windows);
  const linux = writePrograms(`${home}/data/kubebuilder-envtest/k8s/1.37.2-linux-amd64`, "1.37.2");
  assertEquals(await findServerPrograms({}, machine({ XDG_DATA_HOME: `${home}/data`, HOME: "/nowhere" })), linux);
});

Deno.test("startControlPlane names the places where it found no programs, and the command that gets them", async () => {
  const message = async (...args: Parameters<typeof findServerPrograms>): Promise<string> =>
    (await assertRejects(() => findServerPrograms(...args), Error)).message;
  const empty = await message({}, machine({ HOME: "/nowhere" }));
  assertStringIncludes(empty, "\n- KUBEBUILDER_ASSETS: it is not set\n");
  assertStringIncludes(empty, '\n- setup-envtest: "/nowhere/.local/share/kubebuilder-envtest/k8s" has no versions\n');
  assertStringIncludes(empty, "\nTo download them: setup-envtest use\n");
  assertStringIncludes(await message({}, machine({})), "\n- setup-envtest: HOME is not set\n");
  // A folder that is named and has nothing is an error, whatever there is elsewhere.
  const wrong = await message({}, machine({ KUBEBUILDER_ASSETS: "/nowhere", HOME: "/nowhere" }));
  assertStringIncludes(wrong, '\n- KUBEBUILDER_ASSETS, "/nowhere": it has no etcd\n');
  assertEquals(wrong.includes("- setup-envtest"), false);
  await assertRejects(
    () => findServerPrograms({ version: "newest" }),
    TypeError,
    'version is "newest". Write it like "1.37"',
  );
});

Deno.test("startControlPlane fails with the log of a server that ends, and leaves no files", { ignore }, async () => {
  await using folder = new Folder();
  const assets = writePrograms(`${folder.path}/bin`, "1.37.2", 'echo "$1" >"$0.args"; echo "no room left" >&2; exit 3');
  const error = await assertRejects(() => startControlPlane({ assets }), Error);
  assertEquals(error.message, "Cannot start etcd: it has ended. The end of its log:\nno room left\n");
  const [, data] = /^--data-dir=(.+)\/data$/m.exec(Deno.readTextFileSync(`${assets}/etcd.args`))!;
  await assertRejects(() => Deno.stat(data), Deno.errors.NotFound);
});

/** Resolves when there is a process id in the file. */
async function pidIn(path: string): Promise<string> {
  for (;; await delay(10)) {
    try {
      const text = await Deno.readTextFile(path);
      if (text.endsWith("\n")) return text.trim();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

async function isRunning(pid: string): Promise<boolean> {
  return (await new Deno.Command("kill", { args: ["-0", pid], stderr: "null" }).output()).success;
}

Deno.test("startControlPlane ends with its signal, and its servers with it", { ignore }, async () => {
  await using folder = new Folder();
  const assets = writePrograms(`${folder.path}/bin`, "1.37.2", 'echo "$$" >"$0.pid"; exec sleep 1000');
  const stop = new AbortController();
  const starting = startControlPlane({ assets, signal: stop.signal });
  const pid = await pidIn(`${assets}/etcd.pid`);
  assert(await isRunning(pid));
  const reason = new Error("enough");
  stop.abort(reason);
  assertEquals(await assertRejects(() => starting), reason);
  assertEquals(await isRunning(pid), false);
  assertEquals(await assertRejects(() => startControlPlane({ assets, signal: stop.signal })), reason);
});

/** The folders of control planes that are there. */
function leftIn(path: string): string[] {
  return [...Deno.readDirSync(path)].map(({ name }) => name).filter((name) => name.startsWith("informer-cluster-"));
}

Deno.test("the servers of a program that is killed end, and their files are removed", { ignore }, async () => {
  await using folder = new Folder();
  const assets = writePrograms(`${folder.path}/bin`, "1.37.2", 'echo "$$" >"$0.pid"; exec sleep 1000');
  const program = folder.write(
    "starts.ts",
    `import { readCrds, startControlPlane } from "${import.meta.resolve("../../../src/testing/control_plane/mod.ts")}";
     await startControlPlane({ assets: Deno.args[0] });`,
  );
  const flags = ["-A", "--no-check", "--config", new URL("../../../deno.json", import.meta.url).pathname];
  await using running = new Program(program, [assets], { TMPDIR: folder.path }, flags);
  const pid = await pidIn(`${assets}/etcd.pid`);
  assertEquals(leftIn(folder.path).length, 1);
  running.kill("SIGKILL");
  while (await isRunning(pid)) await delay(10);
  while (leftIn(folder.path).length > 0) await delay(10); // its files
});

Deno.test("readCrds reads a file, or those of a folder, and says which has none", async () => {
  await using folder = new Folder();
  const crds = folder.file("crds");
  Deno.mkdirSync(crds);
  const namesOf = async (path: string | URL): Promise<unknown> =>
    (await readCrds(path)).map(({ metadata: { name } }) => name);
  const text = (name: string): string => `kind: CustomResourceDefinition\nmetadata: {name: ${name}}\n`;
  Deno.writeTextFileSync(`${crds}/b.yaml`, `kind: Namespace\n---\n${text("b")}---\n---\n${text("c")}`);
  Deno.writeTextFileSync(`${crds}/a.json`, '{"kind": "CustomResourceDefinition", "metadata": {"name": "a"}}');
  Deno.writeTextFileSync(`${crds}/kustomization.yml`, "kind: Kustomization\n");
  Deno.writeTextFileSync(`${crds}/README.md`, "kind: {");
  assertEquals(await namesOf(`${crds}/b.yaml`), ["b", "c"]);
  assertEquals([await namesOf(crds), await namesOf(pathToFileURL(crds))], [["a", "b", "c"], ["a", "b", "c"]]);
  const message = async (name: string): Promise<string> =>
    (await assertRejects(() => readCrds(`${crds}/${name}`), Error)).message;
  assertStringIncludes(await message("kustomization.yml"), 'kustomization.yml": it has no CustomResourceDefinition');
  assertStringIncludes(await message("README.md"), 'README.md": ');
  // Before anything is started.
  const assets = writePrograms(`${folder.path}/bin`, "1.37.2");
  await assertRejects(() => startControlPlane({ assets, crds: [`${crds}/none.yaml`] }), Error, "no such file");
});
