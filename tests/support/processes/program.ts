import { Captured } from "./session.ts";

const ROOT = new URL("../../../", import.meta.url);

/** A generous limit of all waits for programs at a cluster, against hanging. */
const PATIENCE_MS = 90_000;

/** The output of a program that has ended. */
export interface Ended {
  readonly code: number;
  /** The lines of standard output. */
  readonly lines: readonly string[];
  /** The text of standard error. */
  readonly errors: string;
}

/** A program in a process of its own. */
export class Process implements AsyncDisposable {
  readonly out = new Captured();
  readonly err = new Captured();
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<unknown>;
  /** The number of lines up to the one that `until()` has found. */
  #passed = 0;

  /** Runs a command, in the folder of the repository unless `options` name another one. */
  constructor(command: string, args: readonly string[], options: Pick<Deno.CommandOptions, "cwd" | "env">) {
    this.#child = new Deno.Command(command, {
      cwd: ROOT,
      ...options,
      args: [...args],
      env: { NO_COLOR: "1", ...options.env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#read = Promise.all([fill(this.out, this.#child.stdout), fill(this.err, this.#child.stderr)]);
  }

  /** The exit code, once all output is read; a signal counts as in a shell. */
  get code(): Promise<number> {
    return Promise.all([this.#child.status, this.#read]).then(([{ code }]) => code);
  }

  /**
   * Resolves with the next line for which `holds`, behind that of the last call; rejects when the program ends without
   * one.
   */
  async until(what: string, holds: (line: string) => boolean): Promise<string> {
    let found = -1;
    const look = (lines: string[]): boolean => {
      found = lines.findIndex((line, at) => at >= this.#passed && holds(line));
      return found >= 0;
    };
    const ended = this.code.then(() => {
      if (!look(this.out.lines)) throw new Error(`Cannot wait for ${what}: the program has ended: ${this.err.text}`);
    });
    await Promise.race([this.out.until(look, PATIENCE_MS), ended]);
    this.#passed = found + 1;
    return this.out.lines[found];
  }

  /** Resolves when it has ended; kills it when that takes too long. */
  async ended(): Promise<Ended> {
    const timer = setTimeout(() => this.kill("SIGKILL"), PATIENCE_MS);
    try {
      return { code: await this.code, lines: this.out.lines, errors: this.err.text };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a signal. */
  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Ends it at once, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended
    }
    await this.code;
  }
}

/** A program of this repository in a process of its own. */
export class Program extends Process {
  /**
   * Runs `path`, which is relative to the repository, with these flags of `deno run`, by this Deno or the one at a
   * path.
   */
  constructor(
    path: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    flags: readonly string[] = ["-A"],
    deno: string = Deno.execPath(),
  ) {
    super(deno, ["run", "--quiet", ...flags, path, ...args], { env });
  }
}

/** The command line in a process of its own. */
export function informer(...args: string[]): Program {
  return new Program("src/cli/main.ts", args);
}

/** The output of a command that has ended. */
export interface Output {
  readonly code: number;
  /** The text of standard output. */
  readonly out: string;
  /** The text of standard error. */
  readonly err: string;
}

/** Runs a command, in the folder of the repository unless `options` name another one. */
export async function outputOf(
  command: string,
  args: readonly string[],
  options: Pick<Deno.CommandOptions, "cwd" | "env" | "clearEnv"> = {},
): Promise<Output> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    cwd: ROOT,
    ...options,
    args: [...args],
    env: { NO_COLOR: "1", ...options.env },
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** Runs this Deno. The text of standard error is without the lines about what it fetches into an empty cache. */
export async function deno(args: readonly string[], options?: Parameters<typeof outputOf>[2]): Promise<Output> {
  const { err, ...ended } = await outputOf(Deno.execPath(), args, options);
  return { ...ended, err: err.replaceAll(/^Download .*\n/gm, "") };
}

/** Runs a program by this Deno, with these flags of `deno run`, and returns the JSON that it prints. */
export async function printedBy(program: URL, args: readonly string[], flags: readonly string[]): Promise<unknown> {
  const { code, out, err } = await deno(["run", "--quiet", "--no-lock", ...flags, program.href, ...args]);
  if (code !== 0) throw new Error(`${program.href} exits with ${code}: ${err}`);
  return JSON.parse(out);
}

/** Runs a shell command in which `informer` is the command line. */
export function shell(script: string): Promise<Output> {
  const program = `informer() { "${Deno.execPath()}" run --quiet -A src/cli/main.ts "$@"; }`;
  return outputOf("bash", ["-c", `set -o pipefail; ${program}; ${script}`]);
}

/** Reads a stream to its end. */
export async function fill(captured: Captured, stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) at += captured.writeSync(chunk.subarray(at));
  }
}
