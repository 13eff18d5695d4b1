import { within } from "./_within.ts";

const ROOT = new URL("../../", import.meta.url);

/** What a program has said when it has ended. */
export interface Ended {
  readonly code: number;
  /** All its lines on standard output. */
  readonly lines: readonly string[];
  /** All it said on standard error. */
  readonly errors: string;
}

/** A program of this repository that runs: the command line, or an example. It is killed when this is disposed. */
export class Program implements AsyncDisposable {
  /** The lines of standard output so far. */
  readonly lines: string[] = [];
  readonly #what: string;
  readonly #process: Deno.ChildProcess;
  readonly #errors: Promise<string>;
  readonly #output: AsyncIterator<string>;
  #ended = false;

  /** Runs the file `path` of the repository with all permissions. */
  constructor(path: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    this.#what = [path, ...args].join(" ");
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "-A", path, ...args],
      cwd: ROOT,
      env: { NO_COLOR: "1", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#errors = new Response(this.#process.stderr).text();
    this.#output = linesOf(this.#process.stdout);
  }

  /** Reads on until a line that `holds`; fails when there is none before the program ends. */
  async until(what: string, holds: (line: string) => boolean): Promise<string> {
    return await within(`${what} of "${this.#what}"`, async (signal) => {
      const stop = (): void => this.#kill();
      signal.addEventListener("abort", stop);
      try {
        for (;;) {
          const { value, done } = await this.#output.next();
          signal.throwIfAborted();
          if (done) throw new Error(`Cannot wait for ${what}: "${this.#what}" has ended: ${await this.#errors}`);
          this.lines.push(value);
          if (holds(value)) return value;
        }
      } finally {
        signal.removeEventListener("abort", stop);
      }
    });
  }

  /** Sends a signal. */
  signal(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  /** Reads to the end. */
  async ended(): Promise<Ended> {
    return await within(`the end of "${this.#what}"`, async (signal) => {
      const stop = (): void => this.#kill();
      signal.addEventListener("abort", stop);
      try {
        for (let line; !(line = await this.#output.next()).done;) this.lines.push(line.value);
        const { code } = await this.#process.status;
        this.#ended = true;
        signal.throwIfAborted();
        return { code, lines: this.lines, errors: await this.#errors };
      } finally {
        signal.removeEventListener("abort", stop);
      }
    });
  }

  /** Kills it, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    this.#kill();
    for (let line; !(line = await this.#output.next()).done;) this.lines.push(line.value);
    await this.#process.status;
    await this.#errors;
  }

  #kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
  }
}

async function* linesOf(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
