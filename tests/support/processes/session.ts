import { CommandLine } from "../../../src/cli/command_line.ts";
import type { Output } from "../../../src/cli/terminal/process_screen.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";

/** After this time a line that was waited for counts as never printed. */
const GIVE_UP_MS = 20_000;

/** Standard output or standard error in memory. */
export class Captured implements Output {
  readonly #decoder = new TextDecoder();
  readonly #terminal: boolean;
  readonly #waiting = new Set<() => void>();
  /** All that was written. */
  text = "";
  /** The error with which writing fails from now on. */
  failure: Error | undefined;
  /** When set, `write` waits for it first. */
  blocked: Promise<void> | undefined;

  constructor(terminal = false) {
    this.#terminal = terminal;
  }

  /** The lines that are complete. */
  get lines(): string[] {
    return this.text.split("\n").slice(0, -1);
  }

  async write(bytes: Uint8Array): Promise<number> {
    await this.blocked;
    return this.writeSync(bytes);
  }

  writeSync(bytes: Uint8Array): number {
    if (this.failure !== undefined) throw this.failure;
    // Never all at once, as pipes do.
    const some = bytes.subarray(0, 65_536);
    this.text += this.#decoder.decode(some, { stream: true });
    for (const wake of [...this.#waiting]) wake();
    return some.length;
  }

  isTerminal(): boolean {
    return this.#terminal;
  }

  /** Resolves once `holds` of the lines. */
  async until(holds: (lines: string[]) => boolean, giveUpMs = GIVE_UP_MS): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds(this.lines)) resolve();
    };
    const timer = setTimeout(() => reject(new Error(`Waited in vain; found: ${this.text.slice(-2_000)}`)), giveUpMs);
    this.#waiting.add(look);
    try {
      look();
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }

  /** Resolves once a line matches. */
  line(pattern: RegExp): Promise<void> {
    return this.until((lines) => lines.some((line) => pattern.test(line)));
  }
}

/** The terminal of a {@linkcode Session}. */
export interface SessionOptions {
  /** True when the outputs are a terminal. @default {false} */
  readonly terminal?: boolean;
  /** Its width. @default {80} */
  readonly columns?: number;
  /** Its height. @default {24} */
  readonly rows?: number;
}

/** One run of the command line in this process. */
export class Session {
  readonly out: Captured;
  readonly err: Captured;
  readonly #stop = new AbortController();
  #key = Promise.withResolvers<string>();
  /** The size of the screen. */
  size: { columns: number; rows: number };
  /** The exit code. */
  readonly code: Promise<number>;

  constructor(args: string[], options: SessionOptions = {}) {
    const { terminal = false, columns = 80, rows = 24 } = options;
    this.out = new Captured(terminal);
    this.err = new Captured(terminal);
    const { out: stdout, err: stderr } = this;
    this.size = { columns, rows };
    const screen = {
      stdout,
      stderr,
      columns: () => this.size.columns,
      rows: () => this.size.rows,
      keyboard: { read: (bytes: Uint8Array) => this.#read(bytes), setKeys: () => {} },
      capable: true,
    };
    const output = new Terminal(() => this.interrupt(), screen);
    const backoff = { initialMs: 1, maxMs: 20 }; // tests check that it continues, not how long it waits
    this.code = new CommandLine(output, this.#stop, backoff).execute(args);
  }

  /** True when it was asked to stop. */
  get interrupted(): boolean {
    return this.#stop.signal.aborted && (this.#stop.signal.reason as Error).message === "Interrupted";
  }

  /** Presses a key. */
  press(key: string): void {
    this.#key.resolve(key);
    this.#key = Promise.withResolvers<string>();
  }

  async #read(bytes: Uint8Array): Promise<number> {
    return new TextEncoder().encodeInto(await this.#key.promise, bytes).written;
  }

  /** Stops it as SIGINT does. */
  interrupt(): void {
    this.#stop.abort(new DOMException("Interrupted", "AbortError"));
  }
}

/** Runs a command line to its end. */
export async function run(...args: string[]): Promise<{ code: number; out: string[]; err: string[] }> {
  const session = new Session(args);
  const timer = setTimeout(() => session.interrupt(), GIVE_UP_MS);
  const code = await session.code;
  clearTimeout(timer);
  if (session.interrupted) throw new Error(`informer ${args.join(" ")} did not end; it said: ${session.err.text}`);
  return { code, out: session.out.lines, err: session.err.lines };
}

/** The values of JSON lines. */
// deno-lint-ignore no-explicit-any -- what a command printed, of any form
export function json(lines: readonly string[]): any[] {
  return lines.map((line) => JSON.parse(line));
}
