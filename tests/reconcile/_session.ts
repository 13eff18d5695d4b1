import { assertEquals } from "@std/assert";
import type { KubernetesObject } from "../../src/api/object.ts";
import type { Transport } from "../../src/api/lister_watcher.ts";
import { Client } from "../../src/client/client.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import type { ReconcileFunction, ReconcilerOptions } from "../../src/reconcile/options.ts";
import { Reconciler } from "../../src/reconcile/reconciler.ts";
import { FakeApiServer } from "../../src/testing/fake_api_server.ts";
import { FakeTime } from "../support/fake_time.ts";

/** A fake server, a client of it and fake time. Disposing it fails unless every timer is gone. */
export class Session implements Disposable {
  readonly time = new FakeTime();
  readonly server = new FakeApiServer();
  readonly client: Client;
  /** The errors of all reconcilers, as text behind their keys. */
  readonly errors: string[] = [];

  constructor(wrap: (server: FakeApiServer) => Transport = (server) => server) {
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

  /** Stops a reconciler, and checks that it has left nothing behind. */
  async stop<T extends KubernetesObject>(reconciler: Reconciler<T>): Promise<void> {
    const stopping = reconciler[Symbol.asyncDispose]();
    await this.pass();
    await stopping;
    assertEquals(reconciler.status().state, "stopped");
    assertEquals(this.time.timers, 0);
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
