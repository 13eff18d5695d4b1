import { assertEquals } from "@std/assert";
import { type Resource, resourceName } from "../../../src/engine/api/resource.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { FakeApiServer, type FakeApiServerOptions } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

/** A factory on a fake server, under fake time. Disposing it shuts it down, and fails unless nothing is left behind. */
export class FactoryFixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly informers: SharedInformerFactory;
  /** The errors of all informers, behind the names of their resources. */
  readonly errors: string[] = [];
  /** Answers the client. */
  respond = (request: Request): Promise<Response> => this.server.fetch(request);
  #asked = 0;

  constructor(options: SharedInformerFactoryOptions = {}, server: FakeApiServerOptions = {}) {
    this.server = new FakeApiServer(server);
    this.client = new Client({
      server: "http://fake",
      transport: { fetch: (request) => this.respond(request) },
      namespace: "shop",
    });
    this.informers = new SharedInformerFactory(this.client, {
      reflector: { backoff: { jitter: 0 } },
      onError: (error: unknown, resource: Resource) =>
        this.errors.push(`${resourceName(resource)}: ${errorLine(error)}`),
      ...options,
    });
  }

  /** Starts the informers, and lets them sync. */
  async start(): Promise<void> {
    this.informers.start();
    await this.tick();
  }

  /** Lets `ms` milliseconds pass. */
  async tick(ms = 0): Promise<void> {
    await this.time.tickAsync(ms);
  }

  /** The lists, watches and questions since the last call: `"list"`, `"watch from 12"`, `"ask for a at 12"`. */
  get asked(): string[] {
    return this.server.requests.slice(this.#asked, this.#asked = this.server.requests.length).map(({ query }) => {
      const [, name] = query.get("fieldSelector")?.split("=") ?? [];
      if (name !== undefined) return `ask for ${name} at ${query.get("resourceVersion")}`;
      if (query.has("sendInitialEvents") || !query.has("watch")) return "list";
      return `watch from ${query.get("resourceVersion")}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await Promise.all([this.informers[Symbol.asyncDispose](), this.tick()]);
      await this.tick();
      assertEquals([this.server.watches, this.time.timers], [0, 0], "a factory leaves something behind");
    } finally {
      this.client[Symbol.dispose]();
      this.server[Symbol.dispose]();
      this.time[Symbol.dispose]();
    }
  }
}
