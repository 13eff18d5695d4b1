import { assertEquals } from "@std/assert";
import { ServerSentEventParseStream } from "@std/http/server-sent-event-parse-stream";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Client } from "../../../src/engine/client/client.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { ConfigMap, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { InformerRelay, type RelayStatus } from "../../../src/relay/server/informer_relay.ts";
import type { RelayOptions } from "../../../src/relay/server/options.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";

/** A connection from this machine. */
export const LOCAL = { remoteAddr: { hostname: "127.0.0.1" } };

/** A message of an event stream as text, `"added cart-0"`, and its id. */
export interface Received {
  readonly text: string;
  readonly id: string | undefined;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** The events of one response. */
export class Events implements AsyncDisposable {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Received>;
  /** The last id that was received, as browsers keep it. */
  lastEventId = "";

  constructor(response: Response) {
    this.response = response;
    assertEquals(response.status, 200);
    this.#reader = response.body!.pipeThrough(new ServerSentEventParseStream()).pipeThrough(
      new TransformStream({
        transform: ({ event, data, id }, controller): void => {
          if (id !== undefined) this.lastEventId = id;
          controller.enqueue({
            text: textOf(event, data),
            id,
            data: data === undefined ? undefined : JSON.parse(data),
          });
        },
      }),
    ).getReader();
  }

  /** The next event. */
  async next(): Promise<Received> {
    const { value, done } = await this.#reader.read();
    return done ? { text: "closed", id: undefined, data: undefined } : value;
  }

  /** The next events up to the first whose text begins with `last`; other states are left out. */
  async through(last: string): Promise<string[]> {
    const texts: string[] = [];
    for (;;) {
      const { text } = await this.next();
      if (text.startsWith(last) || !text.startsWith("state")) texts.push(text);
      if (text.startsWith(last) || text === "closed") return texts;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

function textOf(event: string | undefined, data: string | undefined): string {
  if (event === undefined || data === undefined) return "heartbeat";
  const { metadata, key, state, reason, objects } = JSON.parse(data);
  return `${event} ${metadata?.name ?? key ?? state ?? reason ?? objects}`;
}

/** A relay of pods, config maps and Secrets of a fake server. */
export class Relayed implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly informers: SharedInformerFactory;
  readonly relay: InformerRelay;
  readonly errors: unknown[] = [];
  readonly #client: Client;

  constructor(
    options: Partial<RelayOptions> = {},
    { server = new FakeApiServer(), ...factory }: SharedInformerFactoryOptions & { server?: FakeApiServer } = {},
  ) {
    this.server = server;
    this.#client = new Client({ server: "http://fake", transport: server });
    this.informers = new SharedInformerFactory(this.#client, { onError: () => {}, ...factory });
    this.relay = new InformerRelay(this.informers, {
      collections: { pods: Pod, maps: ConfigMap, secrets: Secret },
      onError: (error) => this.errors.push(error),
      ...options,
    });
  }

  /** Sends a GET from this machine. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.relay.fetch(new Request(`http://localhost${path}`, { headers }), LOCAL);
  }

  /** Opens an event stream from this machine. */
  async events(path: string, lastEventId?: string): Promise<Events> {
    return new Events(await this.get(path, lastEventId === undefined ? {} : { "last-event-id": lastEventId }));
  }

  /** The numbers of requests and streams. */
  get present(): Omit<RelayStatus, "bytes"> {
    const { connections, streams } = this.relay.status();
    return { connections, streams };
  }

  /** Resolves when that many requests are being answered. */
  async untilConnections(count: number): Promise<void> {
    while (this.relay.status().connections !== count) await nextTurn();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]();
    await this.informers[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

/** Returns a server with three pods in two namespaces. */
export function threePods(): FakeApiServer {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1", labels: { app: "cart" } }));
  server.create(Pod, pod({ name: "cart-1", namespace: "shop", node: "worker-2", labels: { app: "cart" } }));
  server.create(Pod, pod({ name: "mail-0", namespace: "mail", node: "worker-1", labels: { app: "mail" } }));
  return server;
}

/** The names of the objects of a list, sorted. */
// deno-lint-ignore no-explicit-any
export async function names(response: Response): Promise<any> {
  assertEquals(response.status, 200);
  // deno-lint-ignore no-explicit-any
  return (await response.json()).items.map(({ metadata }: any) => metadata.name).sort();
}

/** The status code and the error of a refused request. */
export async function refusal(response: Response): Promise<[number, string]> {
  return [response.status, (await response.json()).error];
}
