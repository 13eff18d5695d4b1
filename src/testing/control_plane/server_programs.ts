/**
 * Finds `etcd` and `kube-apiserver` on this machine.
 *
 * {@linkcode findServerPrograms} is the entry point. It downloads nothing.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { failureKind } from "../../host/connect/runtime/runtime.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";

/** The parts of a machine that decide where programs are looked for; tests replace them. */
export interface Machine {
  /** Returns the value of an environment variable. */
  env(name: string): string | undefined;
  /** The operating system, as Node names it: `"win32"`. */
  readonly os: string;
  /** The processor, as Node names it: `"x64"`. */
  readonly arch: string;
}

/** A folder with `etcd` and `kube-apiserver`. */
interface ServerPrograms {
  /** The folder. */
  readonly folder: string;
  /** The version of kube-apiserver, `"1.37.2"`. */
  readonly version: string;
}

const thisMachine: Machine = { env: (name) => process.env[name], os: process.platform, arch: process.arch };

/** The names that Go has for what Node calls otherwise. */
const GO_NAMES: Readonly<Record<string, string>> = { x64: "amd64", win32: "windows" };

/** Returns the path of a program of a control plane. */
export function programPath(folder: string, name: "etcd" | "kube-apiserver", os: string = process.platform): string {
  return join(folder, os === "win32" ? `${name}.exe` : name);
}

/**
 * Returns the folder with `etcd` and `kube-apiserver` of a version: `assets`, else that of `KUBEBUILDER_ASSETS`, else
 * the newest one that setup-envtest has left.
 *
 * @throws {InformerError} when there is none; it names the places, and the command that downloads them.
 * @throws {TypeError} when `version` is none.
 */
export async function findServerPrograms(
  { assets, version }: { readonly assets?: string; readonly version?: string },
  machine: Machine = thisMachine,
): Promise<string> {
  const wanted = version === undefined ? "" : checkVersion(version);
  const given = assets ?? (machine.env("KUBEBUILDER_ASSETS") || undefined);
  const source = assets === undefined ? "KUBEBUILDER_ASSETS" : "assets";
  if (given === undefined) return await inStore(wanted, machine, `${source}: it is not set`);
  const missing = await missingIn(given, machine.os);
  if (missing !== undefined) throw notFound(wanted, [`${source}, ${JSON.stringify(given)}: it has no ${missing}`]);
  const found = wanted === "" ? "" : await versionOf(given);
  if (isVersion(found, wanted)) return resolve(given);
  const other = `${source}, ${JSON.stringify(given)}: it has Kubernetes ${found}`;
  if (assets !== undefined) throw notFound(wanted, [other]);
  return await inStore(wanted, machine, other);
}

/** As {@linkcode findServerPrograms}, of what setup-envtest has left; `before` says why the place before it is none. */
async function inStore(wanted: string, machine: Machine, before: string): Promise<string> {
  const found = await storedPrograms(machine);
  const best = found.find(({ version }) => isVersion(version, wanted));
  if (best !== undefined) return best.folder;
  const store = storeFolder(machine);
  const versions = found.map(({ version }) => version).join(", ");
  const has = store === undefined ? "HOME is not set" : `${JSON.stringify(store)} has ${versions || "no versions"}`;
  throw notFound(wanted, [before, `setup-envtest: ${has}`]);
}

function notFound(wanted: string, looked: readonly string[]): InformerError {
  const which = wanted === "" ? "" : ` of Kubernetes ${wanted}`;
  const range = wanted === "" ? "" : ` ${wanted}${wanted.split(".").length === 2 ? ".x" : ""}`;
  return new InformerError(
    [
      `Cannot start a control plane: etcd and kube-apiserver${which} were not found`,
      ...looked.map((line) => `- ${line}`),
      `To download them: setup-envtest use${range}`,
      "To install that: go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest, or without Go a program of",
      "https://github.com/kubernetes-sigs/controller-runtime/releases",
    ].join("\n"),
  );
}

/** The servers that setup-envtest has downloaded for this machine, newest first. */
export async function storedPrograms(machine: Machine = thisMachine): Promise<readonly ServerPrograms[]> {
  const store = storeFolder(machine);
  if (store === undefined) return [];
  const platform = `-${GO_NAMES[machine.os] ?? machine.os}-${GO_NAMES[machine.arch] ?? machine.arch}`;
  const found: ServerPrograms[] = [];
  try {
    for (const name of await readdir(store)) {
      const version = name.slice(0, -platform.length);
      if (!name.endsWith(platform) || !/^\d+\.\d+\.\d+$/.test(version)) continue;
      const folder = join(store, name);
      if (await missingIn(folder, machine.os) === undefined) found.push({ folder, version });
    }
  } catch (error) {
    if (failureKind(error) !== "missing") throw error;
  }
  const numbers = ({ version }: ServerPrograms): number => {
    const [major, minor, patch] = version.split(".").map(Number);
    return (major * 1_000 + minor) * 1_000 + patch;
  };
  return found.sort((a, b) => numbers(b) - numbers(a));
}

/** The folder in which setup-envtest keeps a folder for each version (its `store/helpers.go`). */
function storeFolder({ env, os }: Machine): string | undefined {
  const home = env("HOME");
  if (os === "win32") {
    const data = env("LocalAppData");
    return data && join(data, "kubebuilder-envtest", "k8s");
  }
  if (os === "darwin") return home && join(home, "Library/Application Support/io.kubebuilder.envtest/k8s");
  const data = env("XDG_DATA_HOME") || (home && join(home, ".local/share"));
  return data && join(data, "kubebuilder-envtest/k8s");
}

/** Returns `"1.37"` or `"1.37.2"`, also of `"v1.37.2"` and `"1.37.x"`. */
function checkVersion(version: string): string {
  const [, number] = /^v?(\d+\.\d+(?:\.\d+)?)(?:\.x)?$/.exec(version) ?? [];
  if (number === undefined) {
    throw new TypeError(`Cannot start a control plane: version is ${JSON.stringify(version)}. Write it like "1.37"`);
  }
  return number;
}

function isVersion(version: string, wanted: string): boolean {
  return wanted === "" || version === wanted || version.startsWith(`${wanted}.`);
}

/** Returns the name of a program that the folder does not have. */
async function missingIn(folder: string, os: string): Promise<string | undefined> {
  for (const name of ["etcd", "kube-apiserver"] as const) {
    try {
      await stat(programPath(folder, name, os));
    } catch (error) {
      if (failureKind(error) !== "missing") throw error;
      return name;
    }
  }
  return undefined;
}

/** Asks a kube-apiserver which version it is. */
export async function versionOf(folder: string): Promise<string> {
  const command = programPath(folder, "kube-apiserver");
  const { stdout } = await promisify(execFile)(command, ["--version"]);
  const text = stdout.trim();
  const [, version] = /^Kubernetes v(\d+\.\d+\.\d+)/.exec(text) ?? [];
  if (version === undefined) throw new InformerError(`Cannot read the version of "${command}": it printed "${text}"`);
  return version;
}
