import { type Program, type ProgramResult, runProgram } from "./run_program.ts";
import { envFlag, type Host, readFlag, runFlag } from "./host.ts";

/** A host that remembers what it was asked, in the form of the flags that allow it. */
export class RecordingHost implements Host {
  /** As the host it asks. */
  readonly windows: boolean;
  /** As the host it asks. */
  readonly serviceAccountFolder: string;
  readonly #host: Host;
  readonly #names = new Set<string>();
  readonly #paths = new Set<string>();
  readonly #programs = new Set<string>();

  /** Asks `host`. */
  constructor(host: Host) {
    this.#host = host;
    this.windows = host.windows;
    this.serviceAccountFolder = host.serviceAccountFolder;
  }

  /** The value of an environment variable. */
  env(name: string): string | undefined {
    this.#names.add(name);
    return this.#host.env(name);
  }

  /** The content of a file. */
  readTextFile(path: string): Promise<string> {
    // The kubelet replaces what is in this folder, and the files in it are links to others in it.
    this.#paths.add(path.startsWith(`${this.serviceAccountFolder}/`) ? this.serviceAccountFolder : path);
    return this.#host.readTextFile(path);
  }

  /** Runs a program. */
  runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
    return this.#host.runProgram(program, signal);
  }

  /** Whether somebody could answer questions. */
  isTerminal(): boolean {
    return this.#host.isTerminal();
  }

  /** Remembers that the program `command` will be run. */
  willRun(command: string): void {
    this.#programs.add(command);
  }

  /** The flags for all it was asked so far. */
  get permissions(): readonly string[] {
    const flags: string[] = [];
    if (this.#names.size > 0) flags.push(envFlag(...this.#names));
    if (this.#paths.size > 0) flags.push(readFlag(...this.#paths));
    if (this.#programs.size > 0) flags.push(runFlag(...this.#programs));
    return flags;
  }
}
