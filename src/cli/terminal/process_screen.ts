/**
 * The terminal of this process: its outputs, size and keyboard, on Deno, and on Node and Bun.
 *
 * {@linkcode processScreen} is the entry point. It prints nothing.
 *
 * @module
 */
import { permittedEnv } from "../../host/connect/runtime/permissions.ts";
import { isDeno } from "../../host/connect/runtime/runtime.ts";

/** Standard output, or standard error. */
export interface Output {
  /** Writes some of the bytes; returns their number. */
  write(bytes: Uint8Array): Promise<number>;
  /** As `write`, synchronously. */
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** The keyboard of a terminal. */
export interface Keyboard {
  /** Reads keys; `null` at the end of the input. */
  read(bytes: Uint8Array): Promise<number | null>;
  /** Chooses between keys one by one, and lines. Interrupts stay signals. */
  setKeys(one: boolean): void;
}

/** The outputs of a {@linkcode Terminal}. */
export interface Screen {
  /** For results. */
  readonly stdout: Output;
  /** For people. */
  readonly stderr: Output;
  /** Returns the width, in characters. */
  readonly columns: () => number;
  /** Returns the height, in rows. @default {24} */
  readonly rows?: () => number;
  /** The keyboard. @default {none} */
  readonly keyboard?: Keyboard | undefined;
  /** `true` if it can erase a line. */
  readonly capable: boolean;
}

/**
 * The outputs of this process. A dumb terminal, and a log of continuous integration, get no live line, and neither does
 * a terminal on which the reader of a pipe may print in the middle of it.
 */
export function processScreen(): Screen {
  return {
    ...(isDeno()
      ? { stdout: Deno.stdout, stderr: Deno.stderr }
      : { stdout: new NodeOutput(1), stderr: new NodeOutput(2) }),
    columns: () => terminalSize().columns,
    rows: () => terminalSize().rows,
    get keyboard() {
      // Deno makes `process` when it is asked for, which takes half as long as its own start.
      const { process } = globalThis;
      if (!process.getBuiltinModule("node:tty").isatty(0) || process.platform === "win32") return undefined;
      return isDeno() ? DENO_KEYBOARD : NODE_KEYBOARD;
    },
    get capable() {
      return !permittedEnv("CI") && permittedEnv("TERM") !== "dumb" && !isPiped();
    },
  };
}

/** Returns the size of the terminal, in characters; 80 by 24 where that is not known. */
export function terminalSize(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = isDeno() ? Deno.consoleSize() : globalThis.process.stdout;
  return { columns: columns || 80, rows: rows || 24 };
}

/** Returns `true` if another program reads standard output. */
function isPiped(): boolean {
  try {
    return globalThis.process.getBuiltinModule("node:fs").fstatSync(1).isFIFO();
  } catch {
    return false; // it is closed
  }
}

/** Standard output or standard error of Node. */
class NodeOutput implements Output {
  readonly #stream: NodeJS.WriteStream;
  /** Why nothing more can be written, such as a reader that has gone. */
  #failure: Error | undefined;

  constructor(descriptor: 1 | 2) {
    this.#stream = globalThis.process[descriptor === 1 ? "stdout" : "stderr"];
    this.#stream.on("error", (error) => this.#failure = error);
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#stream.write(bytes, (error) => error ? reject(error) : resolve(bytes.length))
    );
  }

  writeSync(bytes: Uint8Array): number {
    if (this.#failure !== undefined) throw this.#failure;
    this.#stream.write(bytes); // terminals, files and pipes are written at once
    return bytes.length;
  }

  isTerminal(): boolean {
    return this.#stream.isTTY ?? false;
  }
}

const DENO_KEYBOARD: Keyboard = {
  read: (bytes) => Deno.stdin.read(bytes),
  setKeys: (one) => Deno.stdin.setRaw(one, { cbreak: one }),
};

/** The key Ctrl-C, which Node reads as a character where keys come one by one. */
const INTERRUPT = 3;

const NODE_KEYBOARD: Keyboard = {
  read: (bytes) =>
    new Promise((resolve) => {
      const settle = (length: number | null): void => {
        globalThis.process.stdin.off("data", onData).off("end", onEnd).pause();
        resolve(length);
      };
      const onEnd = (): void => settle(null);
      const onData = (keys: Uint8Array): void => {
        if (keys.includes(INTERRUPT)) globalThis.process.kill(globalThis.process.pid, "SIGINT");
        bytes.set(keys.subarray(0, bytes.length));
        settle(Math.min(keys.length, bytes.length));
      };
      globalThis.process.stdin.on("data", onData).on("end", onEnd).resume();
    }),
  setKeys: (one) => void globalThis.process.stdin.setRawMode(one),
};
