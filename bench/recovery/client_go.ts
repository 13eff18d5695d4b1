import { CurrentTimes } from "../../tests/support/recovery/current_times.ts";
import type { FaultProxy } from "../../tests/support/recovery/fault_proxy.ts";
import { MARKER_NAMESPACE } from "../../tests/support/recovery/marker.ts";
import type { Follower } from "../../tests/support/recovery/recovery.ts";
import { goProgram } from "../peers/peer.ts";

/** One of client-go's informers, as its process describes it. */
class GoFollower implements Follower {
  readonly currentTimes = new CurrentTimes();
  lists = 0;
  watches = 0;

  constructor(readonly proxy: FaultProxy) {}
}

/** client-go's informers, one behind each proxy, in one process that runs until this is disposed. */
export class ClientGo implements AsyncDisposable {
  /** In the order of the proxies. */
  readonly followers: readonly Follower[];
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<void>;

  private constructor(program: string, target: { readonly kubeconfig?: string }, proxies: readonly FaultProxy[]) {
    const args = ["markers", MARKER_NAMESPACE, target.kubeconfig ?? "", ...proxies.map(({ url }) => url)];
    this.#process = new Deno.Command(program, { args, stdin: "piped", stdout: "piped" }).spawn();
    const followers = proxies.map((proxy) => new GoFollower(proxy));
    this.followers = followers;
    this.#reading = this.#read(followers);
  }

  /** Builds and starts it. @throws {Error} when it cannot be built on this machine. */
  static async start(target: { readonly kubeconfig?: string }, proxies: readonly FaultProxy[]): Promise<ClientGo> {
    return new ClientGo(await goProgram(), target, proxies);
  }

  /** Ends the process. The proxies stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stdin.close();
    await this.#reading;
    await this.#process.status;
  }

  async #read(followers: readonly GoFollower[]): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const [index, seenAt, writtenAt, lists, watches] = line.split(" ").map(Number);
        const follower = followers[index];
        follower.lists = lists;
        follower.watches = watches;
        follower.currentTimes.note(writtenAt, seenAt);
      }
    }
  }
}
