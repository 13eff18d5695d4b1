import { Captured } from "./session.ts";

const ROOT = new URL("../../", import.meta.url);

/** A program of this repository in a process of its own. */
export class Program implements AsyncDisposable {
  readonly out = new Captured();
  readonly err = new Captured();
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<unknown>;

  /** Runs `path`, which is relative to the repository, with these flags of `deno run`. */
  constructor(
    path: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    flags: readonly string[] = ["-A"],
  ) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", ...flags, path, ...args],
      cwd: ROOT,
      env: { NO_COLOR: "1", ...env },
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

/** The command line in a process of its own. */
export function informer(...args: string[]): Program {
  return new Program("src/cli/main.ts", args);
}

/** Runs a shell command in which `informer` is the command line. */
export async function shell(script: string): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: [
      "-c",
      `set -o pipefail; informer() { "${Deno.execPath()}" run --quiet -A src/cli/main.ts "$@"; }; ${script}`,
    ],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** Reads a stream to its end. */
export async function fill(captured: Captured, stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) at += captured.writeSync(chunk.subarray(at));
  }
}
