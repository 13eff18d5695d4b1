import { type Program, type ProgramResult, runProgram } from "./run_program.ts";

/** What connecting asks of the machine. */
export interface Host {
  /** The value of an environment variable. @throws {Deno.errors.NotCapable} when the program may not read it. */
  env(name: string): string | undefined;
  /** The content of a file. Throws what `Deno.readTextFile` throws. */
  readTextFile(path: string): Promise<string>;
  /** Runs a program to its end; see `runProgram`. */
  runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult>;
  /** Whether somebody could answer questions: standard input is a terminal. */
  isTerminal(): boolean;
  /** Whether lists of paths are separated by `;` and the home folder is `USERPROFILE`. */
  readonly windows: boolean;
  /** Where pods find their token, CA and namespace. */
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

/** The flag that lets a program read environment variables. */
export function envFlag(...names: readonly string[]): string {
  return `--allow-env=${names.join(",")}`;
}

/** The flag that lets a program read files and folders, as a shell takes it. */
export function readFlag(...paths: readonly string[]): string {
  return `--allow-read=${shellWord(paths.join(","))}`;
}

/** The flag that lets a program run others, as a shell takes it. */
export function runFlag(...commands: readonly string[]): string {
  return `--allow-run=${shellWord(commands.join(","))}`;
}

/** The flag that lets a program reach a server, and what else is on the way. */
export function netFlag(server: URL, ...more: readonly string[]): string {
  const host = `${server.hostname}:${server.port || (server.protocol === "https:" ? "443" : "80")}`;
  return `--allow-net=${[host, ...more].join(",")}`;
}

function shellWord(text: string): string {
  return /^[\w./,:@%+=~\\-]*$/.test(text) ? text : JSON.stringify(text);
}
