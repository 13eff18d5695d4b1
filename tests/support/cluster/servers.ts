import type { Answer, Order } from "./supervisor.ts";

/** A program that is started: all of its order but the name. */
export type StartedProgram = Omit<Order & { readonly do: "start" }, "do" | "name">;

/** Server processes that end when this is disposed, and when the test program ends in any other way. */
export class Servers implements AsyncDisposable {
  readonly #supervisor: Deno.ChildProcess;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  readonly #adapt: (name: string, program: StartedProgram) => StartedProgram;
  #rest = "";

  /** None yet. Starts what `adapt` makes of each program. */
  constructor(adapt: (name: string, program: StartedProgram) => StartedProgram = (_name, program) => program) {
    this.#adapt = adapt;
    this.#supervisor = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-lock", "--allow-run", import.meta.resolve("./supervisor.ts")],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
  }

  /** Starts a process, whose output is appended to the file `log`. */
  async start(name: string, program: StartedProgram): Promise<void> {
    await this.#order({ do: "start", name, ...this.#adapt(name, program) });
  }

  /** Returns `true` if a process runs. If not, its port is free. */
  async isRunning(name: string): Promise<boolean> {
    return (await this.#order({ do: "look", name })).running;
  }

  /** The id of a process that runs. */
  async pid(name: string): Promise<number> {
    const { pid } = await this.#order({ do: "look", name });
    if (pid === undefined) throw new Error(`Cannot find "${name}": it is not running`);
    return pid;
  }

  /** Sends a signal. */
  async signal(name: string, signal: Deno.Signal): Promise<void> {
    await this.#order({ do: "signal", name, signal });
  }

  /** Kills all. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.stdin.close();
    await this.#supervisor.stdout.cancel();
    await this.#supervisor.status;
  }

  /** One order at a time: a server is not killed while it is being started. */
  async #order(order: Order): Promise<Answer> {
    const writer = this.#supervisor.stdin.getWriter();
    try {
      await writer.write(this.#encoder.encode(`${JSON.stringify(order)}\n`));
    } finally {
      writer.releaseLock();
    }
    const answer = JSON.parse(await this.#line()) as Answer;
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  async #line(): Promise<string> {
    const reader = this.#supervisor.stdout.getReader();
    try {
      for (;;) {
        const end = this.#rest.indexOf("\n");
        if (end !== -1) {
          const line = this.#rest.slice(0, end);
          this.#rest = this.#rest.slice(end + 1);
          return line;
        }
        const { value, done } = await reader.read();
        if (done) throw new Error("Cannot reach the servers: the program that keeps them has ended");
        this.#rest += this.#decoder.decode(value, { stream: true });
      }
    } finally {
      reader.releaseLock();
    }
  }
}
