import { assertEquals } from "@std/assert";
import type { Transport } from "../../../../src/engine/api/lister_watcher.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import type { ReconcileFunction, ReconcilerOptions } from "../../../../src/operator/controllers/reconcile/options.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import type { FakeApiServerOptions } from "../../../../src/testing/fake/backend.ts";
import { FakeApiServer } from "../../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

type Started = AsyncDisposable & Pick<Reconciler<KubernetesObject>, "run" | "status">;

/**
 * A fake server, a client of it and fake time. `await using` stops the reconcilers that it has started, and fails
 * unless they have left nothing behind.
 */
export class Session implements Disposable, AsyncDisposable {
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  /** The errors of all reconcilers, as text behind their keys. */
  readonly errors: string[] = [];
  readonly #running = new Map<Started, Promise<void>>();

  constructor(wrap: (server: FakeApiServer) => Transport = (server) => server, options: FakeApiServerOptions = {}) {
    this.server = new FakeApiServer(options);
    this.client = new Client({ server: "http://fake", transport: wrap(this.server) });
  }

  /** A reconciler of config maps, or of another kind. */
  reconciler(
    reconcile: ReconcileFunction<ConfigMap>,
    options: ReconcilerOptions<ConfigMap> = {},
  ): Reconciler<ConfigMap> {
    const onError = (error: unknown, key: string): void => void this.errors.push(`${key}: ${messageOf(error)}`);
    return new Reconciler(this.client, ConfigMap, reconcile, { onError, ...options });
  }

  /** Creates config maps. */
  create(...names: string[]): void {
    for (const name of names) this.server.create(ConfigMap, { metadata: { name } });
  }

  /** Lets `ms` milliseconds pass, and everything happen that can happen by then. */
  async pass(ms = 0): Promise<void> {
    for (let i = 0; i < 4; i++) await this.time.tickAsync(0);
    await this.time.tickAsync(ms);
    for (let i = 0; i < 4; i++) await this.time.tickAsync(0);
  }

  /** Runs a reconciler, and lets `ms` milliseconds pass. */
  async start(reconciler: Started, ms?: number): Promise<void> {
    this.#running.set(reconciler, reconciler.run());
    await this.pass(ms);
  }

  /** Stops a reconciler, and checks that it has left nothing behind. */
  async stop(reconciler: Started): Promise<void> {
    const running = this.#running.get(reconciler);
    this.#running.delete(reconciler);
    const stopping = reconciler[Symbol.asyncDispose]();
    await this.pass();
    assertEquals(reconciler.status().state, "stopped");
    await Promise.all([stopping, running]);
    assertEquals(this.time.timers, 0);
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _session = this;
    for (const reconciler of [...this.#running.keys()]) await this.stop(reconciler);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
