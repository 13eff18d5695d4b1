import type { FakeApiServer } from "../../src/testing/mod.ts";
import type { Program } from "../support/processes/program.ts";

/** A program on its way, and the server that it is connected to. */
export interface Running {
  readonly server: FakeApiServer;
  /** The process; the newest one after `again()`. */
  readonly program: Program;
  readonly receiver: Receiver;
  /** Resolves once a line of standard output says exactly this. */
  readonly prints: (line: string | RegExp) => Promise<void>;
  /** Kills the process, and starts the program again, with the same arguments or others. */
  readonly again: (args?: readonly string[]) => Promise<void>;
}

/** The expected run of a program. */
export interface Run {
  /** The arguments; `FOLDER` is one that the program may write to, and `RECEIVER` the address of the receiver. */
  readonly args?: readonly string[];
  /** The server, before the program starts. */
  readonly server?: () => FakeApiServer;
  /** Waits for the expected lines. */
  readonly expect: (run: Running) => Promise<void>;
  /** `true` for a program that ends by itself; others run until they are interrupted. */
  readonly ends?: boolean;
  /** Standard output before it has synced. */
  readonly first?: RegExp;
  /** The lines that the program writes to standard error. */
  readonly errors?: RegExp;
  /** `true` for a program that asks the server for nothing before it is asked itself. */
  readonly isLazy?: boolean;
}

/** An HTTP endpoint that keeps the bodies that it is sent. */
export class Receiver implements AsyncDisposable {
  /** The status of each answer. */
  status = 204;
  /** The bodies that were answered with 204. */
  readonly bodies: string[] = [];
  /** The number of requests with another answer. */
  refused = 0;
  readonly #http: Deno.HttpServer<Deno.NetAddr>;
  #changed = Promise.withResolvers<void>();

  constructor() {
    this.#http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const { status } = this;
      const body = await request.text();
      if (status === 204) this.bodies.push(body);
      else this.refused++;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
      return new Response(null, { status });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#http.addr.port}/`;
  }

  /** Resolves once `holds`. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.shutdown();
  }
}
