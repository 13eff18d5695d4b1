import { Client, SharedInformerFactory } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { InformerRelay, type RelayOptions } from "@kube/informer/relay";
import type { FakeApiServer } from "@kube/informer/testing";
import { abortable } from "@std/async";
import { LOCAL } from "../servers/relayed.ts";

/** One of several relays of a fake server, which is killed and started again, and whose watches can be held back. */
export class FakeReplica implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: Partial<RelayOptions>;
  readonly #compact: boolean | undefined;
  #informers!: SharedInformerFactory;
  #relay: InformerRelay | undefined;
  /** The bodies of open answers, by which connections break. */
  readonly #open = new Set<AbortController>();
  /** Set while the answers of the server are held back. */
  #gate: PromiseWithResolvers<void> | undefined;
  #held = "";

  constructor(server: FakeApiServer, options: Partial<RelayOptions> = {}, compact?: boolean) {
    this.#options = options;
    this.#compact = compact;
    this.#client = new Client({ server: "http://fake", transport: { fetch: (request) => this.#ask(server, request) } });
    this.start();
  }

  /** `true` while the process is up, and has synced. */
  get isReady(): boolean {
    return this.#relay !== undefined && this.#informers.status().every(({ status }) => status.resourceVersion !== "");
  }

  /** `true` while the process is up. */
  get isUp(): boolean {
    return this.#relay !== undefined;
  }

  start(): void {
    this.#informers = new SharedInformerFactory(this.#client, { onError: () => {}, compact: this.#compact });
    this.#relay = new InformerRelay(this.#informers, {
      collections: { maps: ConfigMap },
      cluster: "blue",
      heartbeatMs: 7_000,
      onError: (error) => {
        throw error;
      },
      ...this.#options,
    });
  }

  /** Ends the process without a word to its clients. */
  async kill(): Promise<void> {
    this.drop();
    this.release();
    const relay = this.#relay!;
    this.#relay = undefined;
    await relay[Symbol.asyncDispose]();
    await this.#informers[Symbol.asyncDispose]();
  }

  /** Breaks the connections of clients. */
  drop(): void {
    for (const connection of this.#open) connection.abort(new TypeError("the connection was broken"));
  }

  /** Holds back what the server sends of addresses that contain `part`. */
  hold(part = ""): void {
    this.#held = part;
    this.#gate ??= Promise.withResolvers();
  }

  /** Passes on what was held back. */
  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async fetch(address: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted();
    if (this.#relay === undefined) throw new TypeError("connection refused");
    const response = await this.#relay.fetch(new Request(address, init), LOCAL);
    if (response.body === null) return response;
    const connection = new AbortController();
    this.#open.add(connection);
    const broken = (): void => connection.abort(init.signal?.reason);
    init.signal?.addEventListener("abort", broken, { once: true });
    const { readable, writable } = new TransformStream();
    response.body.pipeTo(writable, { signal: connection.signal }).then(undefined, () => undefined).finally(() => {
      this.#open.delete(connection);
      init.signal?.removeEventListener("abort", broken);
    });
    return new Response(readable, { status: response.status, headers: response.headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isUp) await this.kill();
    this.#client[Symbol.dispose]();
  }

  async #ask(server: FakeApiServer, request: Request): Promise<Response> {
    await this.#passed(request);
    const response = await server.fetch(request);
    if (response.body === null) return response;
    const held = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller): Promise<void> => {
        await this.#passed(request);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(held), response);
  }

  async #passed({ url, signal }: Request): Promise<void> {
    while (this.#gate !== undefined && url.includes(this.#held)) await abortable(this.#gate.promise, signal);
  }
}

/** A load balancer, which passes requests on to ready replicas in turn. */
export class Balancer {
  readonly #replicas: readonly FakeReplica[];
  #next = 0;

  constructor(replicas: readonly FakeReplica[]) {
    this.#replicas = replicas;
  }

  readonly fetch = async (address: string, init: RequestInit): Promise<Response> => {
    for (let tried = 0; tried < this.#replicas.length; tried++) {
      const replica = this.#replicas[this.#next++ % this.#replicas.length];
      if (replica.isReady) return await replica.fetch(address, init);
    }
    return new Response("no replica is ready", { status: 503 });
  };
}
