import { Client, type KubernetesObject, type Resource, type Transport } from "@kube/informer";
import { Namespace } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import type { CrashableServer, LimitedUser } from "../../support/scenarios/scenario_server.ts";
import { onServeError } from "../../support/servers/serve.ts";

const ADMIN = "admin-token";
const LIMITED_USER = "limited-token";

/** The fake API server, straight in this process or over a port. */
export class FakeScenarioServer implements CrashableServer, AsyncDisposable {
  readonly client: Client;
  readonly namespace = "scenario";
  readonly #server: FakeApiServer;
  readonly #granted = new Set<string>();
  readonly #clients: Client[] = [];
  readonly #http: Deno.HttpServer<Deno.NetAddr> | undefined;
  #namespaces = 0;

  /** An empty one. */
  constructor(way: "in memory" | "over HTTP") {
    this.#server = new FakeApiServer({
      tokens: { [ADMIN]: "admin", [LIMITED_USER]: "limited" },
      authorize: ({ user, verb, namespace, resource }) =>
        user === "admin" || ((verb === "list" || verb === "watch") && this.#granted.has(`${namespace}/${resource}`)),
    });
    this.#http = way === "in memory" ? undefined : Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: onServeError },
      this.#server.fetch,
    );
    this.client = this.#connect(ADMIN);
    this.#server.create(Namespace, { metadata: { name: this.namespace } });
  }

  newNamespace(): Promise<string> {
    const name = `${this.namespace}-${++this.#namespaces}`;
    this.#server.create(Namespace, { metadata: { name } });
    return Promise.resolve(name);
  }

  define(resource: Resource<KubernetesObject>): Promise<void> {
    this.#server.define(resource);
    return Promise.resolve();
  }

  undefine(resource: Resource<KubernetesObject>): Promise<void> {
    this.#server.undefine(resource);
    return Promise.resolve();
  }

  limitedUser(): Promise<LimitedUser> {
    const grantReading = (plural: string): Promise<void> => {
      this.#granted.add(`${this.namespace}/${plural}`);
      return Promise.resolve();
    };
    return Promise.resolve({ client: this.#connect(LIMITED_USER), grantReading });
  }

  crash({ history = "kept" }: { readonly history?: "kept" | "lost" } = {}): Promise<void> {
    if (history === "lost") this.#server.jump();
    this.#server.restart({ history });
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client[Symbol.dispose]();
    this.#server[Symbol.dispose]();
    await this.#http?.shutdown();
  }

  #connect(token: string): Client {
    const transport: Transport = { fetch: this.#server.fetch };
    const client = new Client({
      ...(this.#http === undefined
        ? { server: "http://fake", transport }
        : { server: `http://127.0.0.1:${this.#http.addr.port}` }),
      namespace: this.namespace,
      credentials: { apply: (headers) => headers.set("authorization", `Bearer ${token}`) },
    });
    this.#clients.push(client);
    return client;
  }
}
