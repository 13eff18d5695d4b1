import type { Program, ProgramResult } from "./run_program.ts";
import { envFlag, type Host, readFlag, runFlag } from "./host.ts";

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

  /** Runs a program. */
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
