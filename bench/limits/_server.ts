import { Child } from "../peers/child.ts";
import { type Job, serverArgs } from "../peers/job.ts";
import { denoRun } from "../peers/peer.ts";

/** The server of the comparison of peers, for as long as it is held. */
export class Server implements AsyncDisposable {
  readonly #child: Child;
  /** Its address. */
  readonly url: string;

  private constructor(child: Child, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts one, with so many pods. */
  static async start(job: Partial<Job> & Pick<Job, "pods">): Promise<Server> {
    const { pods, events = 1, changed = 1 } = job;
    const child = new Child([...denoRun("server.ts"), ...serverArgs({ pods, events, changed })]);
    return new Server(child, await child.line(120_000));
  }

  /** Makes it begin anew: the next watch is the first. */
  async reset(): Promise<void> {
    await (await fetch(`${this.url}/reset`, { method: "POST" })).body?.cancel();
  }

  /** Ends it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]();
  }
}
