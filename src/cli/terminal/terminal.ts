/**
 * Prints results, messages and a live line, and formats objects and events for them.
 *
 * {@linkcode Terminal} is the entry point. This folder sends no requests and does not choose what is printed.
 *
 * @module
 */
import { plain } from "./text/plain.ts";

const encoder = new TextEncoder();

/** Number of unwritten characters above which {@linkcode Terminal.room} asks to wait. */
const ROOM = 4_194_304;

/** Standard output, or standard error. */
export interface Output {
  /** Writes some of the bytes; returns their number. */
  write(bytes: Uint8Array): Promise<number>;
  /** As `write`, synchronously. */
  writeSync(bytes: Uint8Array): number;
  /** Returns `true` for a terminal. */
  isTerminal(): boolean;
}

/** The outputs of a {@linkcode Terminal}. */
export interface Screen {
  /** For results. */
  readonly stdout: Output;
  /** For people. */
  readonly stderr: Output;
  /** Returns the width, in characters. */
  readonly columns: () => number;
  /** `true` if it can erase a line. */
  readonly capable: boolean;
}

/**
 * Prints the output of a command: results on standard output, other lines on standard error, and there also a live
 * line, if it is a terminal.
 *
 * Results are collected and written in large pieces. If the reader closes the output (`| head`), the command stops
 * gracefully.
 */
export class Terminal {
  readonly #stop: () => void;
  readonly #screen: Screen;
  /** `true` if results and the live line are on one screen. */
  readonly #shared: boolean;
  /** Results not passed to standard output yet; empty once it is closed. */
  #waiting: string[] = [];
  /** Number of characters that are not written yet: those of `#waiting` and of the running write. */
  #waitingLength = 0;
  /** The running write; set whenever `#waiting` is not empty. */
  #writing: Promise<void> | undefined;
  /** Resolves the promise of {@linkcode Terminal.room}; `undefined` while no caller waits for it. */
  #room: PromiseWithResolvers<void> | undefined;
  /** Once `true`, {@linkcode Terminal.room} never asks to wait. */
  #hurried = false;
  /** Once `true`, standard output has no reader or has failed, and results are dropped. */
  #closed = false;
  /** Once `true`, standard error has no reader, and messages are dropped. */
  #unheard = false;
  /** The error of writing results, thrown by {@linkcode Terminal.flush}; a reader that has gone is none. */
  #failure: Error | undefined;
  /** The live line on the screen, or an empty text if there is none. */
  #live = "";
  /** `true` if standard error is a terminal that can show a live line. */
  readonly interactive: boolean;

  /** `stop` is called when standard output is closed or cannot be written. */
  constructor(stop: () => void, screen: Screen = processScreen()) {
    this.#stop = stop;
    this.#screen = screen;
    this.interactive = screen.stderr.isTerminal() && screen.capable;
    this.#shared = this.interactive && screen.stdout.isTerminal();
  }

  /** Prints one line of the result. Lines are buffered; await {@linkcode Terminal.room} to bound the buffer. */
  result(line: string): void {
    if (this.#closed) return;
    this.#waiting.push(line, "\n");
    this.#waitingLength += line.length + 1;
    this.#writing ??= this.#write();
  }

  /** `undefined` while the buffer has room, else a promise that resolves when all lines are written. */
  get room(): Promise<void> | undefined {
    if (this.#hurried || this.#waitingLength < ROOM) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Ends waiting for room, for a command that stops; {@linkcode Terminal.flush} writes the rest. */
  unblock(): void {
    this.#hurried = true;
    this.#makeRoom();
  }

  /** Prints one line on standard error. */
  say(line: string): void {
    this.#toPeople(`${this.#erasure}${plain(line)}\n${this.#visible}`);
  }

  /** Shows a line that the next call replaces; an empty one removes it. Does nothing if there is no terminal. */
  live(line: string): void {
    if (!this.interactive) return;
    const erasure = this.#erasure;
    this.#live = plain(line);
    this.#toPeople(erasure + this.#visible);
  }

  /** Writes buffered results, and removes the live line. @throws {Error} when results could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.live("");
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #erasure(): string {
    return this.#live === "" ? "" : "\r\x1b[2K";
  }

  /** The part of the live line that fits on one row: a terminal cannot erase wrapped rows. */
  get #visible(): string {
    return this.#live === "" ? "" : this.#live.slice(0, Math.max(0, this.#screen.columns() - 1));
  }

  #toPeople(text: string): void {
    if (text === "" || this.#unheard) return;
    try {
      writeAllSync(this.#screen.stderr, text);
    } catch (error) {
      // Results may still have a reader.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      this.#unheard = true;
    }
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // lines printed in one turn are written in one piece
    try {
      while (this.#waiting.length > 0) {
        const text = this.#waiting.join("");
        this.#waiting = [];
        // Synchronously, so that no other output comes between.
        if (this.#shared) this.#above(text);
        else await writeAll(this.#screen.stdout, text);
        this.#waitingLength -= text.length;
      }
    } catch (error) {
      this.#closed = true;
      this.#waiting = [];
      this.#waitingLength = 0;
      if (!(error instanceof Deno.errors.BrokenPipe)) {
        this.#failure = new Error("Cannot write the results to standard output", { cause: error });
      }
      this.#stop();
    } finally {
      this.#writing = undefined;
      this.#makeRoom();
    }
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #above(text: string): void {
    this.#toPeople(this.#erasure);
    writeAllSync(this.#screen.stdout, text);
    this.#toPeople(this.#visible);
  }
}

/** The outputs of this process. A dumb terminal, and a log of continuous integration, get no live line. */
function processScreen(): Screen {
  return {
    stdout: Deno.stdout,
    stderr: Deno.stderr,
    columns: () => Deno.consoleSize().columns || 80,
    capable: !environment("CI") && environment("TERM") !== "dumb",
  };
}

/** Returns a variable of the environment; `undefined` without the permission, which is not asked for. */
function environment(variable: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  return state === "granted" ? Deno.env.get(variable) : undefined;
}

async function writeAll(to: Output, text: string): Promise<void> {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}

function writeAllSync(to: Output, text: string): void {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += to.writeSync(bytes.subarray(written));
}
