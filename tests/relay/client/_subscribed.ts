import { nextTurn } from "../../../src/engine/async/turns.ts";
import type { FetchLike } from "../../../src/relay/client/server_events.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { LOCAL, Relayed } from "../../support/servers/relayed.ts";

/** A relay of a fake server, and a network to it that can be cut, under fake time. */
export class Network implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  readonly requests: Request[] = [];
  readonly #options: Partial<RelayOptions>;
  #relayed: Relayed;
  /** The connections that are open, or were. */
  #open: AbortController[] = [];
  /** Answers requests instead of the relay. */
  answer: ((request: Request) => Response | undefined) | undefined;

  constructor(options: Partial<RelayOptions> = {}) {
    this.#options = options;
    this.#relayed = new Relayed(options, { server: this.server });
  }

  get relay(): Relayed["relay"] {
    return this.#relayed.relay;
  }

  /** Sends a request through the network. */
  readonly fetch: FetchLike = async (input, init) => {
    init.signal?.throwIfAborted();
    const connection = new AbortController();
    init.signal?.addEventListener("abort", () => connection.abort(init.signal!.reason));
    const request = new Request(input, init);
    this.requests.push(request);
    const response = this.answer?.(request) ?? await this.#relayed.relay.fetch(request, LOCAL);
    if (response.body === null || response.status !== 200) return response;
    this.#open.push(connection);
    const cut = new TransformStream<Uint8Array, Uint8Array>();
    response.body.pipeTo(cut.writable, { signal: connection.signal }).catch(() => {});
    return new Response(cut.readable, response);
  };

  /** Cuts all connections. */
  cut(): void {
    for (const connection of this.#open.splice(0)) connection.abort(new Error("the network was cut"));
  }

  /** Replaces the relay by a new one, with another cache and another memory. */
  async restart(): Promise<void> {
    this.cut();
    const old = this.#relayed;
    this.#relayed = new Relayed(this.#options, { server: this.server });
    await old.relay[Symbol.asyncDispose]();
    await old.informers[Symbol.asyncDispose]();
  }

  /** Lets happen what can happen within `ms`. */
  async tick(ms = 0): Promise<void> {
    for (let passed = 0;; passed += 1_000) {
      for (let i = 0; i < 6; i++) {
        await this.time.tickAsync(0);
        await crypto.subtle.digest("SHA-256", new Uint8Array(1)); // takes its turn behind those of the relay
        for (let turn = 0; turn < 10; turn++) await nextTurn();
      }
      if (passed >= ms) return;
      await this.time.tickAsync(Math.min(1_000, ms - passed));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await this.#relayed[Symbol.asyncDispose]();
    this.time[Symbol.dispose]();
  }
}
