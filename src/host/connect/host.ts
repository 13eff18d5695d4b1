/**
 * The machine: environment, files, programs, and the permissions that they need.
 *
 * {@linkcode Host} is the entry point, and {@linkcode thisHost} this machine; tests replace it. {@linkcode
 * recordingHost} notes permissions for `requiredPermissions()`.
 *
 * @module
 */
import { envFlag, readFlag } from "./runtime/permissions.ts";
import { envVariable, isTerminal, isWindows, readTextFile } from "./runtime/runtime.ts";
import { type Program, type ProgramResult, runProgram } from "./runtime/programs.ts";

/** Access to the environment, files and programs of a machine; tests replace it. */
export interface Host {
  /**
   * Returns the value of an environment variable.
   *
   * @throws {Error} named `NotCapable` when Deno may not read it.
   */
  env(name: string): string | undefined;
  /** Returns the content of a file. Throws the errors of the runtime: see `failureKind()`. */
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
export const thisHost: Host = {
  env: envVariable,
  readTextFile,
  runProgram,
  isTerminal,
  windows: isWindows(),
  serviceAccountFolder: "/var/run/secrets/kubernetes.io/serviceaccount",
};

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
