import { Client } from "@kube/informer";
import { type ClusterInformer, ClusterSet, type ClusterSetOptions } from "@kube/informer/clusters";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { configMap, FakeApiServer } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import { FakeTime } from "../times/fake_time.ts";

/** A set of clusters on fake servers under fake time. */
export class Clusters implements AsyncDisposable {
  readonly time = new FakeTime(Date.UTC(2026, 0, 1));
  readonly set: ClusterSet;
  /** The errors that were reported: cluster, resource and message. */
  readonly errors: string[] = [];
  readonly #servers = new Map<string, FakeApiServer>();

  constructor(options: ClusterSetOptions = {}) {
    this.set = new ClusterSet({
      onError: (error, cluster, resource) => {
        this.errors.push(`${cluster} ${resource?.plural ?? "-"}: ${(error as Error).message}`);
      },
      ...options,
    });
  }

  /** The server of a cluster, with a config map `shop/a` when it is first asked for. */
  server(name: string): FakeApiServer {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const server = new FakeApiServer();
    server.create(ConfigMap, configMap({ name: "a", namespace: "shop" }));
    this.#servers.set(name, server);
    return server;
  }

  /** Adds clusters, each with a server of its own. */
  add(...names: readonly string[]): void {
    for (const name of names) this.set.add(name, this.client(name));
  }

  client(name: string): Client {
    return new Client({ server: `http://${name}`, transport: { fetch: this.server(name).fetch }, retries: 0 });
  }

  /** Lets time pass. */
  async pass(ms = 0): Promise<void> {
    for (let i = 0; i < 12; i++) await this.time.tickAsync(0);
    await this.time.tickAsync(ms);
    for (let i = 0; i < 12; i++) await this.time.tickAsync(0);
  }

  /** Awaits a promise while time passes. */
  async during<R>(promise: Promise<R>): Promise<R> {
    let isDone = false;
    const done = promise.finally(() => isDone = true);
    done.catch(() => {});
    while (!isDone) await this.time.tickAsync(1);
    return await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.during(this.set[Symbol.asyncDispose]());
    for (const server of this.#servers.values()) server[Symbol.dispose]();
    assertEquals(this.time.timers, 0);
    this.time[Symbol.dispose]();
  }
}

/** Collects the events of a handler, as lines. */
export function listen(
  informer: Pick<ClusterInformer<ConfigMap>, "addEventHandler">,
  options: Parameters<ClusterInformer<ConfigMap>["addEventHandler"]>[1] = {},
): { readonly take: () => string[]; readonly registration: ReturnType<ClusterInformer<ConfigMap>["addEventHandler"]> } {
  const lines: string[] = [];
  const registration = informer.addEventHandler({
    onAdd: ({ cluster, key, initial }) => void lines.push(`+ ${cluster} ${key}${initial ? " (initial)" : ""}`),
    onUpdate: ({ cluster, key, object }) => void lines.push(`~ ${cluster} ${key} ${object.data?.n}`),
    onDelete: ({ cluster, key, reason }) => void lines.push(`- ${cluster} ${key}${reason ? ` (${reason})` : ""}`),
    onSynced: ({ cluster, objects }) => void lines.push(`= ${cluster} ${objects}`),
  }, options);
  return { take: () => lines.splice(0), registration };
}
