/**
 * Runs programs.
 *
 * {@linkcode runProgram} is the entry point. It knows nothing of credentials; `run_plugin.ts` runs plugins by it.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { builtin, isDeno, isWindows, nodeProcess } from "./runtime.ts";

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
 * Runs a program to its end, without a shell.
 *
 * @param signal Kills the program and rejects with its reason at once, even if child processes live on.
 * @throws {Error} with the name `NotFound` or the code `ENOENT` when there is no such program.
 * @throws {Error} named `NotCapable` when Deno may not run it.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
  signal.throwIfAborted();
  // Node's way needs the permission to read the whole environment.
  const child = isDeno() ? startOnDeno(program) : await startOnNode(program);
  const readers = child.outputs.map((output) => output.getReader());
  try {
    const ended = Promise.all([child.code, ...readers.map(readText)] as const);
    const [code, stdout, stderr = ""] = await abortable(ended, signal);
    return { code, stdout, stderr };
  } catch (error) {
    child.kill();
    await Promise.all(readers.map((reader) => reader.cancel()));
    await child.code;
    throw error;
  }
}

/** A program that runs. */
interface RunningProgram {
  /** Standard output, and standard error unless that is inherited. */
  readonly outputs: readonly ReadableStream<Uint8Array>[];
  readonly code: Promise<number>;
  /** Kills it, unless it has ended. */
  kill(): void;
}

function startOnDeno({ command, args, env, interactive }: Program): RunningProgram {
  const child = new Deno.Command(command, {
    args: [...args],
    env: { ...env },
    stdin: interactive ? "inherit" : "null",
    stdout: "piped",
    stderr: interactive ? "inherit" : "piped",
  }).spawn();
  return {
    outputs: [child.stdout, ...(interactive ? [] : [child.stderr])],
    code: child.status.then(({ code }) => code),
    kill: () => {
      try {
        child.kill("SIGKILL");
      } catch (failure) {
        // It has just ended.
        if (!(failure instanceof TypeError) && !(failure instanceof Deno.errors.NotFound)) throw failure;
      }
    },
  };
}

async function startOnNode({ command, args, env, interactive }: Program): Promise<RunningProgram> {
  if (isWindows() && /\.(?:cmd|bat)$/i.test(command)) {
    throw new TypeError(`Node cannot run "${command}" without a shell: name the program that it starts`);
  }
  const child = builtin("child_process").spawn(command, [...args], {
    env: { ...nodeProcess().env, ...env },
    stdio: [interactive ? "inherit" : "ignore", "pipe", interactive ? "inherit" : "pipe"],
    windowsHide: true,
  });
  await new Promise((resolve, reject) => child.on("spawn", resolve).on("error", reject));
  const code = new Promise<number>((resolve) =>
    child.on("exit", (code, signal) => resolve(code ?? 128 + builtin("os").constants.signals[signal!]))
  );
  const { toWeb } = builtin("stream").Readable;
  return {
    outputs: [child.stdout, child.stderr].filter((output) => output !== null).map((output) =>
      toWeb(output) as ReadableStream<Uint8Array>
    ),
    code,
    kill: () => void child.kill("SIGKILL"),
  };
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
