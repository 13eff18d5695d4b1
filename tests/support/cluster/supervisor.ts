/**
 * A program that keeps the servers of a control plane for the tests. Each line of standard input is an order, a JSON
 * object, that starts a server, signals it or asks whether it runs; each is answered in one line. The end of standard
 * input means that the tests have ended, or crashed: the program kills all servers and ends.
 *
 * The tests start this program, and not the servers themselves, because a server outlives the test that restarted it:
 * the resource sanitizer would count it as a leak.
 *
 * @module
 */

/** An order to the program. */
export type Order =
  | {
    readonly do: "start";
    /** The name of the process in later orders. */
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** The file that its output is appended to. */
    readonly log: string;
  }
  | { readonly do: "signal"; readonly name: string; readonly signal: Deno.Signal }
  /** Asks whether it runs. If not, all its threads have ended, and its port is free again. */
  | { readonly do: "look"; readonly name: string };

/** The answer to an order. */
export interface Answer {
  /** Why the order could not be carried out. */
  readonly error?: string;
  /** `true` if the process runs now. */
  readonly running: boolean;
  /** The id of the process, if it runs. */
  readonly pid?: number;
}

/** The processes, by name. */
class Processes {
  readonly #running = new Map<string, Deno.ChildProcess>();

  obey(order: Order): Answer {
    const { name } = order;
    const process = this.#running.get(name);
    if (order.do === "look") return { running: process !== undefined, pid: process?.pid };
    if (order.do === "start") {
      if (process !== undefined) return { running: true, error: `Cannot start "${name}": it is running` };
      this.#start(order);
      return { running: true };
    }
    if (process === undefined) return { running: false, error: `Cannot signal "${name}": it is not running` };
    process.kill(order.signal);
    return { running: true };
  }

  async end(): Promise<void> {
    const left = [...this.#running.values()];
    for (const process of left) process.kill("SIGKILL");
    await Promise.all(left.map(({ status }) => status));
  }

  #start({ name, command, args, env, log }: Order & { readonly do: "start" }): void {
    // The shell becomes the server, whose output then needs nobody to carry it to its file.
    const process = new Deno.Command("/bin/sh", {
      args: ["-c", `exec "$@" >>"$LOG" 2>&1`, "sh", command, ...args],
      env: { ...env, LOG: log },
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    this.#running.set(name, process);
    process.status.then(() => this.#running.delete(name));
  }
}

if (import.meta.main) {
  const servers = new Processes();
  // Ctrl-C reaches this program as well as the tests; it ends with them, when it has killed what it keeps.
  Deno.addSignalListener("SIGINT", () => Deno.stderr.writeSync(new TextEncoder().encode("ending the control plane\n")));
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      let answer: Answer;
      try {
        answer = servers.obey(JSON.parse(line) as Order);
      } catch (error) {
        answer = { running: false, error: String(error) };
      }
      console.log(JSON.stringify(answer));
    }
  }
  await servers.end();
}
