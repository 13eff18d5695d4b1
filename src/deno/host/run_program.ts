/** A program to run. */
export interface Program {
  /** A name to be looked for in `PATH`, or a path. */
  readonly command: string;
  /** What it is started with. */
  readonly args: readonly string[];
  /** Variables beside those it inherits. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it may use the terminal: standard input and standard error are this program's then. */
  readonly interactive: boolean;
}

/** How a program ended. */
export interface ProgramResult {
  /** Its exit code; the signal's number and 128 when a signal ended it. */
  readonly code: number;
  /** What it wrote to standard output. */
  readonly stdout: string;
  /** What it wrote to standard error; empty when it used the terminal. */
  readonly stderr: string;
}

/** How much of what a program writes is taken, in bytes. */
const MAX_BYTES = 1_048_576;

/**
 * Runs a program to its end.
 *
 * @param signal Kills it, and rejects with its reason at once, even when children of the program live on.
 * @throws {Deno.errors.NotFound} when there is no such program, {@linkcode Deno.errors.NotCapable} when it may not be run.
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
  const killed = Promise.withResolvers<never>();
  const kill = (): void => {
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has just ended by itself.
      if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) return killed.reject(error);
    }
    killed.reject(signal.reason);
  };
  signal.addEventListener("abort", kill, { once: true });
  try {
    const [stdout, stderr = ""] = await Promise.race([Promise.all(readers.map(readText)), killed.promise]);
    const { code } = await Promise.race([child.status, killed.promise]);
    return { code, stdout, stderr };
  } catch (error) {
    if (!signal.aborted) child.kill("SIGKILL");
    await Promise.all(readers.map((reader) => reader.cancel()));
    await child.status;
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
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
