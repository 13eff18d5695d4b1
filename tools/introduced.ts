/**
 * The versions of Kubernetes that introduced the kinds of `src/engine/kinds`.
 *
 * Kubernetes declares them beside its Go types, in `zz_generated.prerelease-lifecycle.go`. `tools/introduced.json` has
 * those newer than {@linkcode OLDEST_MINOR}; `deno task kinds` writes it, so that comparisons need no Go.
 *
 * @module
 */
import { join } from "node:path";
import { type ApiResource, apiVersionOf } from "../src/engine/api/resource.ts";
import table from "./introduced.json" with { type: "json" };

/** The minor version of the oldest server that is tested; kinds of older versions have that one. */
export const OLDEST_MINOR = 32;

/** Minor versions by `"storage.k8s.io/v1 VolumeAttributesClass"`, of kinds newer than {@linkcode OLDEST_MINOR}. */
export type Introduced = Readonly<Record<string, number>>;

/** The recorded versions. */
export const INTRODUCED: Introduced = table;

const TABLE = join(import.meta.dirname!, "introduced.json");

/** The modules that have types of kinds, and the folders in them that have a folder for each group. */
const MODULES: Readonly<Record<string, string>> = {
  "k8s.io/api": ".",
  "k8s.io/apiextensions-apiserver": "pkg/apis",
  "k8s.io/kube-aggregator": "pkg/apis",
};

/** The minor version that introduced a kind, or {@linkcode OLDEST_MINOR} if that is older. */
export function introducedIn(
  resource: Pick<ApiResource, "group" | "version" | "kind">,
  introduced: Introduced = INTRODUCED,
): number {
  return introduced[`${apiVersionOf(resource)} ${resource.kind}`] ?? OLDEST_MINOR;
}

/** The minor version of a server, of its `gitVersion`: 37 of `"v1.37.2"`. */
export function minorOf(gitVersion: string): number {
  const [, minor] = /^v1\.(\d+)\./.exec(gitVersion) ?? [];
  if (minor === undefined) throw new Error(`Cannot read the version ${JSON.stringify(gitVersion)}: it is not v1.N.N`);
  return Number(minor);
}

/** Reads the versions from the Go modules of a version of Kubernetes, which Go downloads, and records them. */
export async function recordIntroduced(gitVersion: string): Promise<Introduced> {
  const [, patch] = /^v1\.(\d+\.\d+)/.exec(gitVersion) ?? [];
  const found: [string, number][] = [];
  for (const [module, folder] of Object.entries(MODULES)) {
    const root = join(await downloaded(`${module}@v0.${patch}`), folder);
    for await (const group of foldersIn(root)) {
      for await (const version of foldersIn(join(root, group))) {
        found.push(...await declared(join(root, group, version), version));
      }
    }
  }
  const recorded = Object.fromEntries(found.filter(([, minor]) => minor > OLDEST_MINOR).sort());
  await Deno.writeTextFile(TABLE, `${JSON.stringify(recorded, undefined, 2)}\n`);
  return recorded;
}

/** The versions that one folder declares; none where it has no such file, and for versions that are not stable. */
async function declared(folder: string, version: string): Promise<[string, number][]> {
  if (!/^v\d+$/.test(version)) return [];
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  if (!names.includes("zz_generated.prerelease-lifecycle.go")) return [];
  const text = await Deno.readTextFile(join(folder, "zz_generated.prerelease-lifecycle.go"));
  const [, group] = /GroupName\s*=\s*"(.*)"/.exec(await Deno.readTextFile(join(folder, "register.go"))) ?? [];
  if (group === undefined) throw new Error(`Cannot read "${folder}/register.go": it has no GroupName`);
  const functions = text.matchAll(/\*(\w+)\) APILifecycleIntroduced\(\)[^{]*\{\s*return 1, (\d+)/g);
  return [...functions].filter(([, kind]) => !kind.endsWith("List"))
    .map(([, kind, minor]) => [`${apiVersionOf({ group, version })} ${kind}`, Number(minor)]);
}

async function downloaded(module: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("go", { args: ["mod", "download", "-json", module] })
    .output();
  if (!success) throw new Error(`Cannot download "${module}" with Go: ${new TextDecoder().decode(stderr)}`);
  return (JSON.parse(new TextDecoder().decode(stdout)) as { Dir: string }).Dir;
}

async function* foldersIn(path: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(path)) if (isDirectory) yield name;
}
