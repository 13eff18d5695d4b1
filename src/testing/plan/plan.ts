/**
 * Runs the controllers of a release once over a cluster, and reports what they would write.
 *
 * {@linkcode plan} is the entry point. It makes the calls of reconcilers, and decides when they have come to rest.
 * Requests are answered by `overlay.ts`, and `report.ts` compares the objects.
 *
 * @module
 */
import type { AsyncLocalStorage } from "node:async_hooks";
import type { Abortable } from "../../engine/api/call_options.ts";
import { resourceName } from "../../engine/api/resource.ts";
import { DerivedController, isAbortOf } from "../../engine/async/signals.ts";
import { StatusError } from "../../engine/api/status.ts";
import { sleep, timedController } from "../../engine/async/time.ts";
import { Client } from "../../engine/client/client.ts";
import { checkDurations } from "../../engine/errors/checks.ts";
import { errorLine, redactSecrets } from "../../engine/errors/errors.ts";
import { internals } from "../../engine/errors/internals.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { Manager } from "../../operator/controllers/reconcile/manager.ts";
import type { ReconcileObserver, StartedReconcile } from "../../operator/controllers/reconcile/options.ts";
import { Reconciler } from "../../operator/controllers/reconcile/reconciler.ts";
import { FakeApiServer } from "../fake/fake_api_server.ts";
import type { StoreEvent } from "../fake/storage/store.ts";
import { Overlay, UNREPORTED } from "./overlay.ts";
import { type PlannedFact, type PlanReport, reportOf, type WrittenObject } from "./report.ts";

/** Options for {@linkcode plan}. */
export interface PlanOptions extends Abortable {
  /** Reads the cluster. The plan sends only reads through it, and dry runs if you ask for them. */
  readonly client?: Client;
  /** A recording from `informer record`, in place of a cluster. The plan begins with its last state. */
  readonly recording?: AsyncIterable<Uint8Array>;
  /** The only namespace that the plan sees. By default it sees all namespaces. */
  readonly namespace?: string;
  /** If `true`, asks the API server about each object's first write, with `dryRun=All`. @default {false} */
  readonly serverDryRun?: boolean;
  /**
   * Must be `true`: calls from your reconcilers to other systems (a cloud, mail, a database) take effect. Only
   * `informer plan` on Deno can stop them. With `"stopped"` you state that something else stops them.
   */
  readonly allowOutside: true | "stopped";
  /** How long the controllers may take to come to rest, in milliseconds. @default {300_000} */
  readonly timeoutMs?: number;
}

/** A key is retried so often before its error is reported. */
const TRIES = 3;
/** A key loops if more of its calls write. */
const MOST_WRITING_CALLS = 20;
/** The time between two looks at the controllers, and between two bookmarks, in milliseconds. */
const LOOK_MS = 5;

/** What is known of a reconciler's key. */
interface KeyState {
  readonly by: string;
  /** The number of failed calls since the last success. */
  failures: number;
  /** The number of calls that have written. */
  writes: number;
  /** Why its calls have ended, although the last one failed. */
  end: PlannedFact | undefined;
}

/** A call of a reconcile, from which requests come. */
interface PlannedCall {
  readonly key: KeyState;
  writes: boolean;
}

/**
 * Runs a manager's reconcilers once for everything that is there, and reports what they would write. Reads come from
 * the cluster or a recording. Writes stay in memory, where later reads see them.
 *
 * It ends when the reconcilers have nothing to do. It does not wait for `requeueAfter()`, nor for other controllers:
 * the report lists such keys. A failing key is called three times.
 *
 * Only one plan can run at a time, because it replaces the global `fetch`, to notice calls that a runtime stops.
 *
 * Read the guide: [Plan a release](../../../docs/controllers/plan.md).
 *
 * @param create Creates the manager with the client that it is given. It must not use another client.
 * @throws {TypeError} without `allowOutside`, or unless there is either a client or a recording.
 * @throws the signal's reason.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { Manager, Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer, plan } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer(); // stands for your cluster
 * server.create(ConfigMap, { metadata: { name: "motd" }, data: { text: "hello" } });
 * using client = new Client({ server: server.url, transport: server, namespace: "default" });
 * const report = await plan((client) => {
 *   const loud = new Reconciler(client, ConfigMap, async ({ object, client }) => {
 *     const text = object?.data?.text.toUpperCase();
 *     if (text === object?.data?.text) return;
 *     await client.resource(ConfigMap).patch(object!.metadata.name, { type: "merge", body: { data: { text } } });
 *   });
 *   return new Manager({ reconcilers: [loud] });
 * }, { client, allowOutside: true });
 * assertEquals(report.changes[0].fields, [{ path: "data.text", before: "hello", after: "HELLO" }]);
 * assertEquals(server.get(ConfigMap, "motd")?.data?.text, "hello");
 * ```
 */
export async function plan(
  create: (client: Client) => Manager | Promise<Manager>,
  options: PlanOptions,
): Promise<PlanReport> {
  checkNames("plan", options, "client recording namespace serverDryRun allowOutside timeoutMs signal");
  const { client, recording, signal, timeoutMs = 300_000, allowOutside, namespace, serverDryRun = false } = options;
  checkDurations("plan", { timeoutMs }, { min: 1 });
  if (allowOutside !== true && allowOutside !== "stopped") {
    throw new TypeError(
      "Cannot plan: calls from your reconcilers to other systems would take effect. Set allowOutside: true if that is " +
        "harmless, or run `informer plan` on Deno, which stops them",
    );
  }
  if ((client === undefined) === (recording === undefined) || (client === undefined && serverDryRun)) {
    throw new TypeError("Cannot plan: it needs a client, or a recording without serverDryRun. Set one of them");
  }
  signal?.throwIfAborted();
  const { AsyncLocalStorage } = await import("node:async_hooks");
  using limit = timedController(timeoutMs, "the time is over before the reconcilers are at rest", signal);
  const startedMs = Math.floor(Date.now() / 1_000) * 1_000;
  const fake = { bookmarkMs: LOOK_MS, managedFields: true };
  using server = recording === undefined ? new FakeApiServer(fake) : await FakeApiServer.from(recording, fake);
  if (recording !== undefined) await server.replay({ speed: Infinity, signal });
  const run = new Run(new AsyncLocalStorage());
  const overlay = new Overlay(server, { client, namespace, serverDryRun, limit, add: run.add });
  const own = (client?.namespace ?? namespace) || "default";
  using planned = new Client({ server: server.url, transport: overlay, namespace: own });
  server[internals].listeners().add(run.changed);
  const { fetch } = globalThis;
  globalThis.fetch = (...request) =>
    fetch(...request).catch((error) => {
      run.stopped(error);
      throw error;
    });
  try {
    await run.manage(await create(planned), server, overlay, limit.signal);
  } finally {
    globalThis.fetch = fetch;
  }
  signal?.throwIfAborted();
  return reportOf(run.written.values(), run.facts.values(), allowOutside === true ? "allowed" : "stopped", startedMs);
}

/** One run of the reconcilers. */
class Run {
  readonly written = new Map<string, WrittenObject>();
  readonly facts = new Map<string, PlannedFact>();
  readonly #keys = new Map<string, KeyState>();
  readonly #current: AsyncLocalStorage<PlannedCall>;
  /** The number of ended calls. */
  #calls = 0;

  constructor(current: AsyncLocalStorage<PlannedCall>) {
    this.#current = current;
  }

  get #by(): string {
    return this.#current.getStore()?.key.by ?? "the program";
  }

  /** Adds a fact to the report, once. */
  readonly add = (is: PlannedFact["is"], message: string, by: string = this.#by): void => {
    this.facts.set(`${is} ${by} ${message}`, { is, by, message });
  };

  /** Adds an error that says that the runtime has stopped a call. Returns the fact for such an error. */
  stopped(thrown: unknown, by: string = this.#by): PlannedFact | undefined {
    for (let error = thrown; error instanceof Error; error = error.cause) {
      if (error.name !== "NotCapable") continue;
      const message = error.message.split(",")[0];
      this.add("stopped", message, by);
      return { is: "stopped", by, message };
    }
    return undefined;
  }

  /** Notes a write, and who made it. */
  readonly changed = (event: StoreEvent): void => {
    const { definition } = event.collection;
    if (UNREPORTED.test(resourceName(definition))) return;
    const id = `${definition.custom ? definition.version : ""} ${resourceName(definition)} ${event.stored.key}`;
    const written = this.written.get(id) ?? { first: event, last: event, by: new Set<string>() };
    written.last = event;
    written.by.add(this.#by);
    this.written.set(id, written);
    const call = this.#current.getStore();
    if (call === undefined || call.writes) return;
    call.writes = true;
    if (++call.key.writes > MOST_WRITING_CALLS) this.add("loop", `more than ${MOST_WRITING_CALLS} calls have written`);
  };

  /** Runs the reconcilers until they are at rest, and stops the manager. */
  async manage(manager: Manager, server: FakeApiServer, overlay: Overlay, signal: AbortSignal): Promise<void> {
    const reconcilers = manager instanceof Manager ? manager[internals]() : [undefined];
    if (!reconcilers.every((it) => it instanceof Reconciler)) {
      throw new TypeError(
        "Cannot plan: the function must return a Manager of Reconcilers, from the same version of @kube/informer. " +
          "Run the plan with the version that your module imports",
      );
    }
    for (const reconciler of reconcilers) reconciler[internals]((call) => this.#observe(call));
    using rest = new DerivedController(signal);
    const idle = (): Promise<unknown> => Promise.all(reconcilers.map((it) => it.idle({ signal: rest.signal })));
    const running = manager.run({ signal }).then(() => signal.throwIfAborted());
    try {
      await Promise.race([running, this.#rest(manager, idle, { server, overlay, signal: rest.signal })]);
    } catch (error) {
      this.add("error", messageFor(isAbortOf(signal, error) ? signal.reason : error));
    } finally {
      rest.abort(new DOMException("The plan has ended", "AbortError"));
      // Its failure is known: it has ended the race.
      await manager[Symbol.asyncDispose]().catch(() => {});
    }
    for (const { end } of this.#keys.values()) if (end !== undefined) this.add(end.is, end.message, end.by);
  }

  /** Resolves when nothing is left to do. */
  async #rest(
    manager: Manager,
    idle: () => Promise<unknown>,
    { server, overlay, signal }: { server: FakeApiServer; overlay: Overlay; signal: AbortSignal },
  ): Promise<void> {
    for (let before = "";;) {
      await idle();
      const { phase, informers, shards } = manager.status();
      const version = Number(server.resourceVersion);
      const isSeen = informers.every(({ status }) => status.unserved || Number(status.resourceVersion) >= version);
      const isBusy = phase !== "running" || !isSeen || overlay.open > 0 || shards?.ranges.length === 0 ||
        this.#keys.values().some(({ failures, end }) => failures > 0 && end === undefined);
      const now = `${isBusy} ${version} ${this.#calls}`;
      // An event may be on its way from a cache to a reconciler, so nothing may happen between two looks.
      if (!isBusy && now === before) return;
      before = now;
      await sleep(2 * LOOK_MS, { signal });
    }
  }

  /** Decides whether a call is made, and notes how it ends. */
  #observe({ reconciler, key: name, triggers }: StartedReconcile): ReconcileObserver {
    const by = `${reconciler} ${name}`;
    const key: KeyState = this.#keys.get(by) ?? { by, failures: 0, writes: 0, end: undefined };
    this.#keys.set(by, key);
    const isLate = triggers.length > 0 &&
      triggers.every(({ type }) => type === "requeue" || (type === "retry" && key.end !== undefined));
    if (isLate || key.writes > MOST_WRITING_CALLS) return { call: () => undefined as never, ended: () => {} };
    return {
      call: (reconcile) => this.#current.run({ key, writes: false }, reconcile),
      ended: ({ outcome, error }) => {
        this.#calls++;
        key.end = outcome === "requeued" ? { is: "wait", by, message: WAITS.requeued } : undefined;
        if (outcome === "succeeded" || outcome === "requeued" || outcome === "stopped") return void (key.failures = 0);
        const stopped = this.stopped(error, by);
        if (++key.failures < TRIES && outcome !== "terminal" && stopped === undefined) return;
        const failed: PlannedFact = error === undefined
          ? { is: "wait", by, message: WAITS.retried }
          : { is: "error", by, message: messageFor(error) };
        key.end = stopped ?? failed;
      },
    };
  }
}

const WAITS = {
  requeued: "waits for a time, or for others (requeueAfter): later writes are not known",
  retried: "waits for others (retry): later writes are not known",
} as const;

/** Returns an error's message, without the data that a message about a Secret may quote. */
function messageFor(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (!(error instanceof StatusError) || !/^secrets?$/i.test(error.status.details?.kind ?? "")) continue;
    return `a request about a Secret failed: ${error.status.code} ${error.status.reason ?? ""}`;
  }
  return redactSecrets(errorLine(thrown));
}
