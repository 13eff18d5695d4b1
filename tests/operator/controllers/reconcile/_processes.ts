import { assertEquals } from "@std/assert";
import type { Transport } from "../../../../src/engine/api/lister_watcher.ts";
import type { ObjectKey } from "../../../../src/engine/api/object.ts";
import { sleep } from "../../../../src/engine/async/time.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import type { ReconcileFunction, ReconcilerOptions } from "../../../../src/operator/controllers/reconcile/options.ts";
import { Reconciler } from "../../../../src/operator/controllers/reconcile/reconciler.ts";
import { ShardGroup, type ShardGroupOptions } from "../../../../src/operator/controllers/reconcile/shard_group.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

/** One process: its client, its group, its reconciler and the calls of that. */
export class SharedWork {
  /** Each call of the reconcile: the key, and `-` before it when the object does not exist. */
  readonly calls: string[] = [];
  readonly errors: string[] = [];
  readonly client: Client;
  readonly group: ShardGroup;
  readonly reconciler: Reconciler<ConfigMap>;
  /** The time that the process has been paused for, in milliseconds: its timers are late by it. */
  pausedMs = 0;
  /** True while the server cannot be reached. */
  isCutOff = false;
  readonly #stop = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(
    server: FakeApiServer,
    identity: string,
    reconcile: ReconcileFunction<ConfigMap> = () => {},
    options: ReconcilerOptions<ConfigMap> & Pick<ShardGroupOptions, "by"> = {},
  ) {
    const { by, ...others } = options;
    const transport: Transport = {
      fetch: (request) => {
        if (this.isCutOff) return Promise.reject(new TypeError("the server cannot be reached"));
        return server.fetch(request);
      },
    };
    this.client = new Client({ server: "http://fake", transport, namespace: "default", userAgent: identity });
    this.group = new ShardGroup(this.client, {
      name: "it",
      identity,
      by,
      onError: () => {},
      clock: { now: () => performance.now() + this.pausedMs, sleep },
    });
    this.reconciler = new Reconciler(this.client, ConfigMap, (context) => {
      const { key } = context;
      this.calls.push(context.object === undefined ? `-${key}` : key);
      return reconcile(context);
    }, {
      onError: (error, key) => void this.errors.push(`${key}: ${error instanceof Error ? error.message : error}`),
      ...others,
      shards: this.group,
      informer: { onError: () => {}, ...others.informer },
    });
  }

  /** Runs group and reconciler. */
  start(): this {
    const { signal } = this.#stop;
    this.#ended = Promise.allSettled([this.group.run({ signal }), this.reconciler.run({ signal })]);
    return this;
  }

  /** Stops both, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stop.abort(new DOMException("stopped", "AbortError"));
    await this.#ended;
    await this.reconciler[Symbol.asyncDispose]();
    this.client[Symbol.dispose]();
  }

  /** The keys of the cached objects, in order. */
  get keys(): string[] {
    return [...this.reconciler.informer.entries.keys()].sort();
  }

  /** Returns the calls since the last time, in order of their keys. */
  take(): string[] {
    return this.calls.splice(0).sort();
  }
}

/** Several processes of one group on a fake server under fake time. */
export class SharedWorks implements AsyncDisposable {
  readonly time: FakeTime = new FakeTime();
  readonly server: FakeApiServer = new FakeApiServer();
  readonly #processes: SharedWork[] = [];

  /** A process, which does not run yet. */
  process(
    ...args: ConstructorParameters<typeof SharedWork> extends [unknown, ...infer Rest] ? Rest : never
  ): SharedWork {
    const process = new SharedWork(this.server, ...args);
    this.#processes.push(process);
    return process;
  }

  /** Creates config maps, and returns their keys in order. */
  create(count: number, namespace: string = "default"): ObjectKey[] {
    return Array.from({ length: count }, (_, index) => {
      const name = `map-${String(index).padStart(2, "0")}`;
      this.server.create(ConfigMap, { metadata: { name, namespace } });
      return `${namespace}/${name}`;
    });
  }

  /** Lets `ms` milliseconds pass. */
  async pass(ms: number = 1_000): Promise<void> {
    await this.time.tickAsync(ms);
    for (let i = 0; i < 4; i++) await this.time.tickAsync(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = Promise.all(this.#processes.map((process) => process.stop()));
    let hasStopped = false;
    stopped.finally(() => hasStopped = true);
    for (let seconds = 0; seconds < 120 && !hasStopped; seconds++) await this.time.tickAsync(1_000);
    await stopped;
    await this.time.tickAsync(0);
    assertEquals(this.time.timers, 0);
    this.server[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}
