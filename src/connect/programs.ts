/**
 * Runs programs.
 *
 * {@linkcode runProgram} is the entry point. It knows nothing of credentials; `credentials.ts` runs plugins by it.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";

/** A program to run. */
export interface Program {
  /** A name to search in `PATH`, or a path. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Environment variables, in addition to the inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /** If `true`, it inherits standard input and standard error, so that it can prompt on the terminal. */
  readonly interactive: boolean;
}

export interface ProgramResult {
  /** Its exit code; 128 plus the number of the signal if a signal ended it. */
  readonly code: number;
  /** Its standard output. */
  readonly stdout: string;
  /** Its standard error; empty if it was interactive. */
  readonly stderr: string;
}

/** Maximum output of a program, in bytes, for each stream. */
const MAX_BYTES = 1_048_576;

/**
 * Runs a program to its end.
 *
 * @param signal Kills the program and rejects with its reason at once, even if child processes live on.
 * @throws {Deno.errors.NotFound} when there is no such program, {@linkcode Deno.errors.NotCapable} when it may not be
 * run.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
  signal.throwIfAborted();
  const { command, args, env, interactive } = program;
  const child = new Deno.Command(command, {
    args: [...args],
    env: { ...env },
    stdin: interactive ? "inherit" : "null",
    stdout: "piped",
    stderr: interactive ? "inherit" : "piped",
  }).spawn();
  const readers = [child.stdout.getReader(), ...(interactive ? [] : [child.stderr.getReader()])];
  try {
    const ended = Promise.all([child.status, ...readers.map(readText)] as const);
    const [{ code }, stdout, stderr = ""] = await abortable(ended, signal);
    return { code, stdout, stderr };
  } catch (error) {
    try {
      child.kill("SIGKILL");
    } catch (failure) {
      // It has just ended.
      if (!(failure instanceof TypeError) && !(failure instanceof Deno.errors.NotFound)) throw failure;
    }
    await Promise.all(readers.map((reader) => reader.cancel()));
    await child.status;
    throw error;
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let length = 0;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > MAX_BYTES) throw new RangeError(`it wrote more than ${MAX_BYTES} bytes`);
    text += decoder.decode(value, { stream: true });
  }
}
