/** A command line. */
export type Command = readonly [program: string, ...args: string[]];

/** A process that prints a line when it is ready, perhaps more when asked, and ends when its standard input does. */
export class Child implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #stdout: ReadableStreamDefaultReader<string>;
  readonly #stderr: Promise<string>;
  readonly #name: string;
  /** The output after the last line. */
  #text = "";

  /** Starts it, in the folder of the benches. */
  constructor(command: Command) {
    const [program, ...args] = command;
    this.#name = [program.split("/").at(-1), ...args].join(" ");
    this.#process = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
    this.#stdout = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#stderr = new Response(this.#process.stderr).text();
  }

  /**
   * The next line that it prints.
   *
   * @throws {Error} with the end of what it wrote to its standard error, when it ends before that or takes too long.
   */
  async line(timeoutMs: number): Promise<string> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), timeoutMs);
    try {
      while (!this.#text.includes("\n")) {
        const { value, done } = await this.#stdout.read();
        if (done) break;
        this.#text += value;
      }
      const end = this.#text.indexOf("\n");
      if (end !== -1) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return line;
      }
    } finally {
      clearTimeout(timer);
    }
    const { signal, code } = await this.#process.status;
    const said = (await this.#stderr).trim().split("\n").slice(-4).join(" / ");
    const ended = signal === "SIGKILL" ? `nothing for ${timeoutMs / 1_000} s` : `it ended with ${signal ?? code}`;
    throw new Error(`Cannot hear from "${this.#name}": ${ended}: ${said || "it said nothing"}`);
  }

  /** Asks it for its next line. */
  async ask(): Promise<void> {
    const writer = this.#process.stdin.getWriter();
    await writer.write(new TextEncoder().encode("\n"));
    writer.releaseLock();
  }

  /** Kills it now, if it has not ended. */
  kill(): void {
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  /** Its memory and CPU time so far. */
  stat(): Promise<ProcessStat> {
    return statOf(this.#process.pid);
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stdin.close().catch(() => {}); // it has ended
    await this.#stdout.cancel();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 2_000);
    await this.#process.status;
    clearTimeout(timer);
    await this.#stderr;
  }
}

/** Runs a command to its end. @throws {Error} with the end of what it said, when it fails or is not there. */
export async function run(
  command: Command,
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const [program, ...args] = command;
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, { args, ...options, stderr: "piped" }).output();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Error(`Cannot run "${command.join(" ")}": there is no "${program}" on this machine`, { cause });
  }
  const { success, stdout, stderr } = output;
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  const said = decoder.decode(stderr).trim().split("\n").slice(-3).join(" / ");
  throw new Error(`Cannot run "${command.join(" ")}": ${said}`);
}

/** Memory and CPU time of a process that is still there. */
export interface ProcessStat {
  /** The most memory that was resident at any time, in MB (10^6 bytes); NaN where there is no /proc. */
  readonly peakRssMb: number;
  /** The memory that is resident now, in MB; NaN where there is no /proc. */
  readonly rssMb: number;
  /** Seconds of CPU used so far, in all threads; NaN where there is no /proc. */
  readonly cpuSeconds: number;
}

/** Ticks of /proc per second: 100 on every Linux of today. */
const TICKS = 100;

/** Asks /proc. */
export async function statOf(pid: number | "self"): Promise<ProcessStat> {
  let status: string;
  let stat: string;
  try {
    status = await Deno.readTextFile(`/proc/${pid}/status`);
    stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  } catch (error) {
    const hasEnded = error instanceof Deno.errors.NotFound || (error as { readonly code?: string }).code === "ESRCH";
    if (hasEnded) return { peakRssMb: NaN, rssMb: NaN, cpuSeconds: NaN };
    throw error;
  }
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]) * 1_024 / 1e6;
  // The name in parentheses may hold spaces; behind it are the fields from the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    peakRssMb: megabytes("VmHWM"),
    rssMb: megabytes("VmRSS"),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
  };
}
