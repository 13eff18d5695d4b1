/**
 * The machine: environment, files, programs, and the permissions that they need.
 *
 * {@linkcode Host} is the entry point, and {@linkcode denoHost} this machine; tests replace it. {@linkcode
 * RecordingHost} notes permissions for `requiredPermissions()`.
 *
 * @module
 */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { decoder } from "../../api/object.ts";
import { messageOf } from "../../errors/errors.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** A program to run. */
export interface Program {
  /** A name to search in `PATH`, or a path. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Environment variables, in addition to the inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /** If `true`, it inherits standard input and standard error, so that it can prompt on the terminal. */
  readonly interactive: boolean;
}

interface ProgramResult {
  /** Its exit code; 128 plus the number of the signal if a signal ended it. */
  readonly code: number;
  /** Its standard output. */
  readonly stdout: string;
  /** Its standard error; empty if it was interactive. */
  readonly stderr: string;
}

/** Maximum output of a program, in bytes, for each stream. */
const MAX_BYTES = 1_048_576;

/**
 * Runs a program to its end.
 *
 * @param signal Kills the program and rejects with its reason at once, even if child processes live on.
 * @throws {Deno.errors.NotFound} when there is no such program, {@linkcode Deno.errors.NotCapable} when it may not be
 * run.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
  signal.throwIfAborted();
  const { command, args, env, interactive } = program;
  const child = new Deno.Command(command, {
    args: [...args],
    env: { ...env },
    stdin: interactive ? "inherit" : "null",
    stdout: "piped",
    stderr: interactive ? "inherit" : "piped",
  }).spawn();
  const readers = [child.stdout.getReader(), ...(interactive ? [] : [child.stderr.getReader()])];
  const killed = Promise.withResolvers<never>();
  const kill = (): void => {
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has just ended.
      if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) return killed.reject(error);
    }
    killed.reject(signal.reason);
  };
  signal.addEventListener("abort", kill, { once: true });
  try {
    const [stdout, stderr = ""] = await Promise.race([Promise.all(readers.map(readText)), killed.promise]);
    const { code } = await Promise.race([child.status, killed.promise]);
    return { code, stdout, stderr };
  } catch (error) {
    if (!signal.aborted) child.kill("SIGKILL");
    await Promise.all(readers.map((reader) => reader.cancel()));
    await child.status;
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let length = 0;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > MAX_BYTES) throw new RangeError(`it wrote more than ${MAX_BYTES} bytes`);
    text += decoder.decode(value, { stream: true });
  }
}

/** Access to the environment, files and programs of a machine; tests replace it. */
export interface Host {
  /**
   * Returns the value of an environment variable.
   *
   * @throws {Deno.errors.NotCapable} when the program may not read it.
   */
  env(name: string): string | undefined;
  /** Returns the content of a file. Throws the errors of `Deno.readTextFile`. */
  readTextFile(path: string): Promise<string>;
  /** Runs a program to its end; see {@linkcode runProgram}. */
  runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult>;
  /** Returns `true` if standard input is a terminal, so that a plugin can prompt. */
  isTerminal(): boolean;
  /** `true` on Windows: lists of paths are separated by `;`, and the home folder is `USERPROFILE`. */
  readonly windows: boolean;
  /** Folder of a pod's token, CA and namespace files. */
  readonly serviceAccountFolder: string;
}

/** This machine. */
export const denoHost: Host = {
  env: (name) => Deno.env.get(name),
  readTextFile: (path) => Deno.readTextFile(path),
  runProgram,
  isTerminal: () => Deno.stdin.isTerminal(),
  windows: Deno.build.os === "windows",
  serviceAccountFolder: "/var/run/secrets/kubernetes.io/serviceaccount",
};

/** Returns the flag that permits reading environment variables. */
export function envFlag(...names: readonly string[]): string {
  return `--allow-env=${names.join(",")}`;
}

/** Returns the flag that permits reading files and folders, quoted for a shell. */
export function readFlag(...paths: readonly string[]): string {
  return `--allow-read=${shellWord(paths.join(","))}`;
}

/** Returns the flag that permits running programs, quoted for a shell. */
export function runFlag(...commands: readonly string[]): string {
  return `--allow-run=${shellWord(commands.join(","))}`;
}

/** Returns the flag that permits connecting to a server, and to the hosts in `more`. */
export function netFlag(server: URL, ...more: readonly string[]): string {
  const host = `${server.hostname}:${server.port || (server.protocol === "https:" ? "443" : "80")}`;
  return `--allow-net=${[host, ...more].join(",")}`;
}

function shellWord(text: string): string {
  return /^[\w./,:@%+=~\\-]*$/.test(text) ? text : JSON.stringify(text);
}

/** A file cannot be used. The message follows the path in a sentence, and says what to do. */
export class FileProblem extends Error {
  /** `"FileProblem"`. */
  override readonly name = "FileProblem";

  /** `"missing-file"` if there is no such file. */
  get reason(): "missing-file" | undefined {
    return this.cause instanceof Deno.errors.NotFound ? "missing-file" : undefined;
  }
}

/**
 * Reads and validates a file.
 *
 * @param problemOf Returns the problem with the content; `undefined` if it is valid.
 * @throws {FileProblem} when it cannot be read, or its content is invalid.
 */
export async function readCheckedFile(
  path: string,
  host: Pick<Host, "readTextFile">,
  problemOf: (text: string) => string | undefined = () => undefined,
): Promise<string> {
  let text: string;
  try {
    text = await host.readTextFile(path);
  } catch (cause) {
    throw new FileProblem(readProblem(cause, path), { cause });
  }
  const problem = problemOf(text);
  if (problem !== undefined) throw new FileProblem(problem);
  return text;
}

/** Converts a problem to an error that says which setting named the file. The problem is its cause. */
export type ExplainFileProblem = (problem: FileProblem) => Error;

/** Resolves a path that is written in `file`: relative paths start from that file's folder. */
export function pathBeside(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** Returns the reason why a file cannot be read, with the permission flag that is missing. */
export function readProblem(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such file";
  if (error instanceof Deno.errors.NotCapable) return `this program may not read it, run it with ${readFlag(path)}`;
  if (error instanceof Deno.errors.PermissionDenied) return "the user who runs this program may not read it";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return messageOf(error);
}

/** A host that records the permissions needed for the accesses made through it. */
export class RecordingHost implements Host {
  /** As the wrapped host. */
  readonly windows: boolean;
  /** As the wrapped host. */
  readonly serviceAccountFolder: string;
  readonly #host: Host;
  /** Environment variables that were read; like the other sets, it only grows. */
  readonly #names = new Set<string>();
  /** Files that were read, and the folder of the service account instead of its files. */
  readonly #paths = new Set<string>();
  /** Programs that will be run. */
  readonly #programs = new Set<string>();

  /** Forwards each access to `host`. */
  constructor(host: Host) {
    this.#host = host;
    this.windows = host.windows;
    this.serviceAccountFolder = host.serviceAccountFolder;
  }

  /** Returns the value of an environment variable. */
  env(name: string): string | undefined {
    this.#names.add(name);
    return this.#host.env(name);
  }

  /** Returns the content of a file. */
  readTextFile(path: string): Promise<string> {
    // The kubelet replaces the files of this folder, which are links to other files in it.
    this.#paths.add(path.startsWith(`${this.serviceAccountFolder}/`) ? this.serviceAccountFolder : path);
    return this.#host.readTextFile(path);
  }

  runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
    return this.#host.runProgram(program, signal);
  }

  /** Returns `true` if standard input is a terminal. */
  isTerminal(): boolean {
    return this.#host.isTerminal();
  }

  /** Records that the program `command` will be run. */
  willRun(command: string): void {
    this.#programs.add(command);
  }

  /** The flags that permit the accesses recorded so far. */
  get permissions(): readonly string[] {
    const flags: string[] = [];
    if (this.#names.size > 0) flags.push(envFlag(...this.#names));
    if (this.#paths.size > 0) flags.push(readFlag(...this.#paths));
    if (this.#programs.size > 0) flags.push(runFlag(...this.#programs));
    return flags;
  }
}

/** The age from which a temporary file is one of a process that was killed, in milliseconds. */
const LEFT_MS = 600_000;

/** Returns the path of a temporary file, in the folder of `path`, so that it can be renamed to it. */
export function temporaryPath(path: string): string {
  return `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}

/** Returns the Deno flags with which {@linkcode replaceFile} can replace a file: its folder is read and written. */
export function folderPermissions(path: string): string {
  const folder = dirname(path);
  return `--allow-read=${folder} --allow-write=${folder}`;
}

/**
 * Replaces a file atomically: `write` creates a file at the temporary path, which is then renamed to `path`. Temporary
 * files of the same `path` that are older than 10 minutes, as a process leaves them that is killed meanwhile, are
 * removed.
 *
 * @throws {Error} with the message `failure` and the underlying error as its cause; the file at `path` stays unchanged.
 */
export async function replaceFile(
  path: string,
  failure: string,
  write: (beside: string) => Promise<void>,
): Promise<void> {
  const beside = temporaryPath(path);
  try {
    await removeLeft(path);
    await write(beside);
    await Deno.rename(beside, path);
  } catch (cause) {
    try {
      await Deno.remove(beside);
    } catch (second) {
      // It was never created, or the folder cannot be written.
      const isAbsent = second instanceof Deno.errors.NotFound || second instanceof Deno.errors.NotCapable;
      if (!isAbsent) throw new AggregateError([cause, second], failure, { cause });
    }
    throw new Error(failure, { cause });
  }
}

/** Removes the temporary files that earlier processes have left of a file, where that is permitted. */
async function removeLeft(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  try {
    for await (const { name: other } of Deno.readDir(folder)) {
      if (!other.startsWith(`${name}.`) || !/^[0-9a-f]{8}\.tmp$/.test(other.slice(name.length + 1))) continue;
      const { mtime } = await Deno.stat(join(folder, other));
      if (mtime !== null && Date.now() - mtime.getTime() > LEFT_MS) await Deno.remove(join(folder, other));
    }
  } catch (error) {
    // Another process has removed it, or may; a folder that is missing is found by the write.
    const { NotFound, NotCapable, PermissionDenied } = Deno.errors;
    if (!(error instanceof NotFound || error instanceof NotCapable || error instanceof PermissionDenied)) throw error;
  }
}

/** The parts of a machine that decide where programs are looked for; tests replace them. */
export interface Machine {
  /** Returns the value of an environment variable. */
  env(name: string): string | undefined;
  /** As `Deno.build` has it. */
  readonly os: string;
  /** As `Deno.build` has it. */
  readonly arch: string;
}

/** A folder with `etcd` and `kube-apiserver`. */
interface ServerPrograms {
  /** The folder. */
  readonly folder: string;
  /** The version of kube-apiserver, `"1.37.2"`. */
  readonly version: string;
}

const thisMachine: Machine = { env: (name) => Deno.env.get(name), os: Deno.build.os, arch: Deno.build.arch };

/** The names that Go has for what Deno calls otherwise. */
const GO_ARCH: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** Returns the path of a program of a control plane. */
export function programPath(folder: string, name: "etcd" | "kube-apiserver", os: string = Deno.build.os): string {
  return join(folder, os === "windows" ? `${name}.exe` : name);
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
  const has = store === undefined ? "HOME is not set" : `${JSON.stringify(store)} has ${versions || "none"}`;
  throw notFound(wanted, [before, `setup-envtest: ${has}`]);
}

function notFound(wanted: string, looked: readonly string[]): InformerError {
  const which = wanted === "" ? "" : ` of Kubernetes ${wanted}`;
  const range = wanted === "" ? "" : ` ${wanted}${wanted.split(".").length === 2 ? ".x" : ""}`;
  return new InformerError(
    [
      `Cannot start a control plane: found no etcd and kube-apiserver${which}`,
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
  const platform = `-${machine.os}-${GO_ARCH[machine.arch] ?? machine.arch}`;
  const found: ServerPrograms[] = [];
  try {
    for await (const { name } of Deno.readDir(store)) {
      const version = name.slice(0, -platform.length);
      if (!name.endsWith(platform) || !/^\d+\.\d+\.\d+$/.test(version)) continue;
      const folder = join(store, name);
      if (await missingIn(folder, machine.os) === undefined) found.push({ folder, version });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
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
  if (os === "windows") {
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
    throw new TypeError(`Cannot start a control plane: version is ${JSON.stringify(version)}, not like "1.37"`);
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
      await Deno.stat(programPath(folder, name, os));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return name;
    }
  }
  return undefined;
}

/** Asks a kube-apiserver which version it is. */
export async function versionOf(folder: string): Promise<string> {
  const command = programPath(folder, "kube-apiserver");
  const { stdout } = await new Deno.Command(command, { args: ["--version"], stdin: "null" }).output();
  const text = decoder.decode(stdout).trim();
  const [, version] = /^Kubernetes v(\d+\.\d+\.\d+)/.exec(text) ?? [];
  if (version === undefined) throw new InformerError(`Cannot read the version of "${command}": it printed "${text}"`);
  return version;
}
