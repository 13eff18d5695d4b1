/**
 * Runs the controllers of a release once over a cluster, and reports what they would write.
 *
 * {@linkcode plan} is the entry point. It makes the calls of reconcilers, and decides when they have come to rest.
 * Requests are answered by `overlay.ts`, and `report.ts` compares the objects.
 *
 * @module
 */
import type { AsyncLocalStorage } from "node:async_hooks";
import type { KubernetesObject } from "../../engine/api/object.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import { listOr, objectOr, textOf } from "../../engine/api/members.ts";
import { resourceName, type ResourcePlace } from "../../engine/api/resource.ts";
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
import { resourceId } from "../fake/storage/definition.ts";
import type { StoreEvent } from "../fake/storage/store.ts";
import { Overlay } from "./overlay.ts";
import {
  plannedChanges,
  type PlannedFact,
  type PlanReport,
  sorted,
  StableTexts,
  type WrittenObject,
} from "./report.ts";

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
  failures: number;
  writingCalls: number;
  /** The last call that wrote. */
  lastCall: object | undefined;
  /** Why the key is not at rest; undefined if it is. */
  wait: string | undefined;
  error: string | undefined;
}

/** A call of a reconcile, from which requests come. */
interface PlannedCall {
  readonly key: KeyState;
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
  using limit = timedController(timeoutMs, "The plan's time is over", signal);
  const fake = { bookmarkMs: LOOK_MS, managedFields: true };
  using server = recording === undefined ? new FakeApiServer(fake) : await FakeApiServer.from(recording, fake);
  if (recording !== undefined) await server.replay({ speed: Infinity, signal });
  const run = new Run(new AsyncLocalStorage());
  const overlay = new Overlay(server, { client, namespace, serverDryRun, signal: limit.signal, ...run.hooks });
  using planned = new Client({
    server: server.url,
    transport: overlay,
    namespace: (client?.namespace ?? namespace) || "default",
  });
  server[internals].listeners().add(run.changed);
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    try {
      return await fetch(...request);
    } catch (error) {
      run.noticeStopped(error);
      throw error;
    }
  };
  try {
    await run.manage(await create(planned), { server, overlay, signal: limit.signal });
  } finally {
    globalThis.fetch = fetch;
  }
  signal?.throwIfAborted();
  return run.report(overlay.notes, allowOutside === true ? "allowed" : "stopped");
}

/** One run of the reconcilers. */
class Run {
  readonly #current: AsyncLocalStorage<PlannedCall>;
  readonly #keys = new Map<string, KeyState>();
  readonly #written = new Map<string, WrittenObject>();
  readonly #stable = new StableTexts();
  readonly #facts = {
    conflicts: new Map<string, PlannedFact>(),
    errors: new Map<string, PlannedFact>(),
    refused: new Map<string, PlannedFact>(),
    stopped: new Map<string, PlannedFact>(),
  };
  /** The number of ended calls. */
  #calls = 0;

  constructor(current: AsyncLocalStorage<PlannedCall>) {
    this.#current = current;
  }

  /** What the overlay tells. */
  readonly hooks = {
    refused: ({ method, object, message }: { method: string; object: string; message: string }): void =>
      this.#add("refused", `${method} ${object}: ${message}`),
    answered: async (place: ResourcePlace, response: Response): Promise<void> => {
      if (response.status !== 409) return;
      const { causes } = objectOr(objectOr(await response.clone().json()).details);
      for (const { reason, field, message } of listOr(causes).map(objectOr)) {
        if (reason !== "FieldManagerConflict") continue;
        const object = `${resourceName(place)} ${place.namespace}/${place.name}`;
        this.#add("conflicts", `${object} ${textOf(field)}: ${textOf(message)}`);
      }
    },
  };

  get #by(): string {
    return this.#current.getStore()?.key.by ?? "the program";
  }

  #add(kind: "conflicts" | "errors" | "refused" | "stopped", message: string, by: string = this.#by): void {
    this.#facts[kind].set(`${by} ${message}`, { by, message });
  }

  /** Notes an error that says that the runtime has stopped a call. Returns true for such an error. */
  readonly noticeStopped = (thrown: unknown, by: string = this.#by): boolean => {
    for (let error = thrown; error instanceof Error; error = error.cause) {
      if (error.name !== "NotCapable") continue;
      this.#add("stopped", error.message.split(",")[0], by);
      return true;
    }
    return false;
  };

  /** Notes a write, and who made it. */
  readonly changed = (event: StoreEvent): void => {
    const { definition } = event.collection;
    if (definition.plural === "leases") return;
    const kind = definition.custom
      ? resourceId(definition)
      : resourceName(definition).replace(/\.events\.k8s\.io$/, "");
    const id = `${kind} ${event.stored.key}`;
    const call = this.#current.getStore();
    const known = this.#written.get(id);
    // Events and autoscalers have two forms, of which the first counts.
    if (known !== undefined && known.first.collection !== event.collection) return;
    const written = known ?? { first: event, last: event, by: new Set<string>() };
    written.last = event;
    written.by.add(this.#by);
    this.#written.set(id, written);
    if (call === undefined || call === call.key.lastCall) return;
    call.key.lastCall = call;
    call.key.writingCalls++;
  };

  /** Runs the reconcilers until they are at rest, and stops the manager. */
  async manage(
    manager: Manager,
    { server, overlay, signal }: { server: FakeApiServer; overlay: Overlay; signal: AbortSignal },
  ): Promise<void> {
    const reconcilers = manager instanceof Manager ? manager[internals]() : [undefined];
    if (!reconcilers.every((it) => it instanceof Reconciler)) {
      throw new TypeError(
        "Cannot plan: the function must return a Manager of Reconcilers, from the same version of @kube/informer. " +
          "Run the plan with the version that your module imports",
      );
    }
    for (const reconciler of reconcilers) reconciler[internals].observe((call) => this.#observe(call));
    using rest = new DerivedController(signal);
    const running = manager.run({ signal }).then(() => signal.throwIfAborted());
    try {
      await Promise.race([running, this.#rest(manager, reconcilers, { server, overlay, signal: rest.signal })]);
    } catch (error) {
      const isOver = isAbortOf(signal, error);
      this.#add("errors", isOver ? "the time is over before the reconcilers are at rest" : messageFor(error));
    } finally {
      rest.abort(new DOMException("The plan has ended", "AbortError"));
      // Its failure is known: it has ended the race.
      await manager[Symbol.asyncDispose]().catch(() => {});
    }
  }

  /** Resolves when nothing is left to do. */
  async #rest(
    manager: Manager,
    reconcilers: readonly Pick<Reconciler<KubernetesObject>, "idle">[],
    { server, overlay, signal }: { server: FakeApiServer; overlay: Overlay; signal: AbortSignal },
  ): Promise<void> {
    for (let before = "";;) {
      await Promise.all(reconcilers.map((reconciler) => reconciler.idle({ signal })));
      const { phase, informers, shards } = manager.status();
      const version = Number(server.resourceVersion);
      const isSeen = informers.every(({ status }) => status.unserved || Number(status.resourceVersion) >= version);
      const isBusy = phase !== "running" || !isSeen || overlay.open > 0 || shards?.ranges.length === 0 ||
        this.#keys.values().some(({ failures, error, wait }) =>
          failures > 0 && error === undefined && wait === undefined
        );
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
    const fresh = { by, failures: 0, writingCalls: 0, lastCall: undefined, wait: undefined, error: undefined };
    const key: KeyState = this.#keys.get(by) ?? fresh;
    this.#keys.set(by, key);
    const isOver = key.error !== undefined || key.wait !== undefined;
    const isLate = triggers.length > 0 &&
      triggers.every(({ type }) => type === "requeue" || (type === "retry" && isOver));
    if (isLate || key.writingCalls > MOST_WRITING_CALLS) return { call: () => undefined as never, ended: () => {} };
    return {
      call: (reconcile) => this.#current.run({ key }, reconcile),
      ended: ({ outcome, error }) => {
        this.#calls++;
        key.wait = outcome === "requeued" ? "waits for a time, or for others (requeueAfter)" : undefined;
        key.error = undefined;
        if (outcome === "succeeded" || outcome === "requeued" || outcome === "stopped") return void (key.failures = 0);
        const isStopped = error !== undefined && this.noticeStopped(error, by);
        if (++key.failures < TRIES && outcome !== "terminal" && !isStopped) return;
        if (error === undefined) key.wait = "waits for others (retry)";
        else key.error = isStopped ? "" : messageFor(error);
      },
    };
  }

  /** Returns the report. */
  report(notes: Iterable<string>, outside: PlanReport["outside"]): PlanReport {
    const { changes, events } = plannedChanges(this.#written.values(), this.#stable);
    const stable = (facts: Iterable<PlannedFact>): PlannedFact[] =>
      sorted(Array.from(facts, ({ by, message }) => ({ by, message: this.#stable.of(message) })));
    const keys = [...this.#keys.values()];
    for (const { by, error } of keys) if (error) this.#add("errors", error, by);
    const factsOf = (message: (key: KeyState) => string | undefined): PlannedFact[] =>
      stable(keys.flatMap((key) => message(key) === undefined ? [] : { by: key.by, message: message(key)! }));
    const looped = `more than ${MOST_WRITING_CALLS} calls have written`;
    const loops = factsOf(({ writingCalls }) => writingCalls > MOST_WRITING_CALLS ? looped : undefined);
    const waits = factsOf(({ wait }) => wait);
    const conflicts = stable(this.#facts.conflicts.values());
    const errors = stable(this.#facts.errors.values());
    const stopped = stable(this.#facts.stopped.values());
    const refused = stable(this.#facts.refused.values());
    const hasFailed = [conflicts, loops, errors, stopped, refused].some(({ length }) => length > 0);
    const result = hasFailed ? "failed" : changes.length + events.length > 0 ? "changes" : "nothing";
    return {
      result,
      outside,
      changes,
      events,
      conflicts,
      loops,
      errors,
      stopped,
      refused,
      waits,
      notes: sorted(notes),
    };
  }
}

/** Returns an error's message, without the data that a message about a Secret may quote. */
function messageFor(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (!(error instanceof StatusError) || !/^secrets?$/i.test(error.status.details?.kind ?? "")) continue;
    return `a request about a Secret failed: ${error.status.code} ${error.status.reason ?? ""}`;
  }
  return redactSecrets(errorLine(thrown));
}
