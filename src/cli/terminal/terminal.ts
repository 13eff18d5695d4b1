import { plain } from "./plain.ts";

const encoder = new TextEncoder();

/** Above so many characters that nobody has read yet, who prints should wait. */
const ROOM = 4_194_304;

/** Standard output, or standard error. */
export interface Output {
  /** Writes some of the bytes; says how many. */
  write(bytes: Uint8Array): Promise<number>;
  /** As `write`, before it returns. */
  writeSync(bytes: Uint8Array): number;
  /** Whether a person looks at it. */
  isTerminal(): boolean;
}

/** What a {@linkcode Terminal} prints on. */
export interface Screen {
  /** For results. */
  readonly stdout: Output;
  /** For people. */
  readonly stderr: Output;
  /** How wide it is, in characters. */
  readonly columns: () => number;
  /** Whether it can take a line back. */
  readonly capable: boolean;
}

/**
 * Where a command prints: results on standard output, everything else on standard error, and there also a live line, where
 * that is a terminal.
 *
 * Results are collected and written in large pieces; a reader that has gone away (`| head`) ends the command in good order.
 */
export class Terminal {
  readonly #stop: () => void;
  readonly #screen: Screen;
  /** Whether results and the live line are on one screen. */
  readonly #shared: boolean;
  #waiting: string[] = [];
  #waitingLength = 0;
  #writing: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #hurried = false;
  #closed = false;
  #unheard = false;
  #failure: Error | undefined;
  #live = "";
  /** Whether a person looks at standard error. */
  readonly interactive: boolean;

  /** `stop` is called when nobody reads standard output any more, or it cannot be written. */
  constructor(stop: () => void, screen: Screen = processScreen()) {
    this.#stop = stop;
    this.#screen = screen;
    this.interactive = screen.stderr.isTerminal() && screen.capable;
    this.#shared = this.interactive && screen.stdout.isTerminal();
  }

  /** Prints one line of the result. Costs nothing but memory: who has much to print looks at {@linkcode room}. */
  result(line: string): void {
    if (this.#closed) return;
    this.#waiting.push(line, "\n");
    this.#waitingLength += line.length + 1;
    this.#writing ??= this.#write();
  }

  /** Nothing while there is room for more results, else a promise that resolves once all are written. */
  get room(): Promise<void> | undefined {
    if (this.#hurried || this.#waitingLength < ROOM) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** From now on there is always room: the command ends, and what is printed is written in the end. */
  hurry(): void {
    this.#hurried = true;
    this.#makeRoom();
  }

  /** Prints one line for people. */
  say(line: string): void {
    this.#toPeople(`${this.#erasure}${plain(line)}\n${this.#visible}`);
  }

  /** Shows a line that the next one takes the place of; the empty one is none. Nothing where nobody looks. */
  live(line: string): void {
    if (!this.interactive) return;
    const erasure = this.#erasure;
    this.#live = plain(line);
    this.#toPeople(erasure + this.#visible);
  }

  /** Writes what is left, and takes the live line away. @throws {Error} when results could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.live("");
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #erasure(): string {
    return this.#live === "" ? "" : "\r\x1b[2K";
  }

  /** As much of the live line as fits beside the cursor: a terminal cannot take back what it has wrapped. */
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
    await Promise.resolve(); // what is printed in one turn is written in one piece
    try {
      while (this.#waiting.length > 0) {
        const text = this.#waiting.join("");
        this.#waiting = [];
        // In one go, so that nothing is shown in between.
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

/** What this process has. A dumb terminal, and a log of continuous integration, get no live line. */
function processScreen(): Screen {
  return {
    stdout: Deno.stdout,
    stderr: Deno.stderr,
    columns: () => Deno.consoleSize().columns || 80,
    capable: !Deno.env.get("CI") && Deno.env.get("TERM") !== "dumb",
  };
}

async function writeAll(to: Output, text: string): Promise<void> {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}

function writeAllSync(to: Output, text: string): void {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += to.writeSync(bytes.subarray(written));
}
