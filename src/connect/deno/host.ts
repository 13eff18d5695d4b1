/**
 * The machine: environment, files, programs, and the permissions that they need.
 *
 * {@linkcode Host} is the entry point, and {@linkcode denoHost} this machine; tests replace it. {@linkcode
 * recordingHost} notes permissions for `requiredPermissions()`.
 *
 * @module
 */
import { type Program, type ProgramResult, runProgram } from "./programs.ts";

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

/** Returns `true` if the program may read a variable of the environment. Never prompts for permission. */
export function mayReadEnv(variable: string): boolean {
  return Deno.permissions.querySync({ name: "env", variable }).state === "granted";
}

/** Returns a variable of the environment; `undefined` without the permission, which is not asked for. */
export function permittedEnv(variable: string): string | undefined {
  return mayReadEnv(variable) ? Deno.env.get(variable) : undefined;
}

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

/** A host that records the permissions needed for the accesses made through it. */
export interface RecordingHost extends Host {
  /** The flags that permit the accesses so far. */
  readonly permissions: readonly string[];
}

/** Returns a host that forwards each access to `host`, and records it. */
export function recordingHost(host: Host): RecordingHost {
  const names = new Set<string>();
  const paths = new Set<string>();
  const { serviceAccountFolder: folder } = host;
  return {
    ...host,
    env: (name) => {
      names.add(name);
      return host.env(name);
    },
    readTextFile: (path) => {
      // The kubelet replaces the files of this folder, which are links to other files in it.
      paths.add(path.startsWith(`${folder}/`) ? folder : path);
      return host.readTextFile(path);
    },
    get permissions(): readonly string[] {
      return [...(names.size > 0 ? [envFlag(...names)] : []), ...(paths.size > 0 ? [readFlag(...paths)] : [])];
    },
  };
}
