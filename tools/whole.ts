/**
 * Plays `tests/whole`: the situations of a whole cluster, with controllers, a scheduler and nodes.
 *
 * It finds the programs, or builds them with `--install`; `tests/support/whole` starts them.
 *
 * @module
 */
import { join } from "node:path";
import { PROGRAMS } from "../tests/support/whole/whole_cluster.ts";
import { list, quit, readFlags, toggle } from "./flags.ts";
import { compile, download, installed } from "./versions.ts";

/** The versions of the programs next to the control plane. The control plane has the same minor version. */
const KUBERNETES = "1.36.3";
const KWOK = "0.8.0";
const MINOR = KUBERNETES.replace(/\.\d+$/, "");

const ROOT = join(import.meta.dirname!, "..");

/** The words that names of situations begin with. */
async function words(): Promise<string[]> {
  const folder = join(ROOT, "tests/whole");
  const files = await Array.fromAsync(Deno.readDir(folder), ({ name }) => Deno.readTextFile(join(folder, name)));
  return [...new Set(files.flatMap((text) => [...text.matchAll(/^situation\("(\w+):/gm)].map(([, word]) => word)))];
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Builds the programs that a folder lacks from the Go modules of Kubernetes and KWOK. */
async function build(folder: string): Promise<void> {
  // Kubernetes' own go.mod, with its staging modules at the versions under which they are published.
  const staged = `v0.${KUBERNETES.slice(2)}`;
  const adopt =
    `source=$(go mod download -json k8s.io/kubernetes@v${KUBERNETES} | sed -n 's/^\\t"Dir": "\\(.*\\)",$/\\1/p')
sed -E "s#^module .*#module cluster#; s#=> ./staging/src/(k8s.io/[a-z0-9-]+)#=> \\1 ${staged}#; s#^([[:space:]]*k8s.io/[a-z0-9-]+) v0\\.0\\.0([[:space:]]|\\$)#\\1 ${staged}\\2#" "$source/go.mod" >go.mod.new
cp "$source/go.sum" . && chmod u+w go.sum && mv go.mod.new go.mod && go mod edit -require k8s.io/kubernetes@v${KUBERNETES}`;
  const stamp = "k8s.io/component-base/version";
  const version = `-X ${stamp}.gitVersion=v${KUBERNETES} -X ${stamp}.gitMajor=1 -X ${stamp}.gitMinor=${MINOR.slice(2)}`;
  for (const name of PROGRAMS) {
    if (await isThere(join(folder, name))) continue;
    console.log(`building ${name}`);
    await (name === "kwok"
      ? compile(
        folder,
        name,
        `sigs.k8s.io/kwok/cmd/kwok`,
        `export CGO_ENABLED=0; go get sigs.k8s.io/kwok/cmd/kwok@v${KWOK}`,
      )
      : compile(folder, name, `k8s.io/kubernetes/cmd/${name}`, adopt, version));
  }
}

if (import.meta.main) {
  const home = Deno.env.get("HOME") ?? "";
  const assets = Deno.env.get("WHOLE_ASSETS") || join(home, ".cache/informer-whole", KUBERNETES);
  const { only, resume, keep, install } = readFlags({
    task: "test:whole",
    summary:
      "Plays situations on a whole cluster: with controllers, a scheduler, nodes of KWOK, and kubectl beside it.\n" +
      `WHOLE_ASSETS names the folder of ${PROGRAMS.join(", ")}; ${assets} if it is not set.`,
    flags: {
      only: list("WORDS", "situations whose names begin with one of these words and a colon", await words()),
      resume: toggle("leaves out what the runs before have passed"),
      keep: toggle("leaves the cluster of a situation that fails as it is, until Ctrl-C"),
      install: toggle(
        `builds programs that are not there, and has setup-envtest download Kubernetes ${MINOR}; needs Go`,
      ),
    },
    examples: ["--only wait,drain", "--resume --keep"],
    exits: "Exits with 1 when a situation fails or programs are missing, with 2 when the command line is wrong.",
  });
  if (install) await build(assets);
  for (const name of PROGRAMS) {
    if (!await isThere(join(assets, name))) quit(`Cannot find ${name} in ${assets}. Build it with --install`, 1);
  }
  const servers = Deno.env.get("KUBEBUILDER_ASSETS") || (await installed(["~/.cache/informer-cluster/*"])).get(MINOR) ||
    (install ? await download(MINOR) : undefined);
  if (servers === undefined) {
    quit(`Cannot find Kubernetes ${MINOR}. Download it with --install, or set KUBEBUILDER_ASSETS`, 1);
  }
  const passed = join(Deno.env.get("TMPDIR") ?? "/tmp", "informer-whole-passed");
  if (!resume) await Deno.writeTextFile(passed, "");
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", "--lock=tests/deno.lock", "--quiet"],
      ...["--preload=tests/support/times/time_limit.ts", "tests/whole"],
    ],
    cwd: ROOT,
    env: {
      KUBEBUILDER_ASSETS: servers,
      WHOLE_ASSETS: assets,
      WHOLE_ONLY: only?.join() ?? "",
      WHOLE_PASSED: passed,
      WHOLE_KEEP: keep ? "1" : "",
    },
    stdin: "null",
  }).spawn().status;
  Deno.exit(code);
}
