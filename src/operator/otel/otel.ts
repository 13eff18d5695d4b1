/**
 * Spans and metrics by OpenTelemetry.
 *
 * {@linkcode observeReconciles}, {@linkcode observeRequests}, {@linkcode observeStatus} and {@linkcode
 * observeTransport} are the entry points. They use the global providers, and configure none.
 *
 * @module
 */
import {
  type Attributes,
  type BatchObservableResult,
  context,
  type Histogram,
  type Meter,
  metrics,
  type Observable,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { resourceName } from "../../engine/api/resource.ts";
import { StatusError } from "../../engine/api/status.ts";
import { monotonicMs } from "../../engine/async/time.ts";
import { VERSION } from "../../engine/client/version.ts";
import type { Manager } from "../controllers/reconcile/manager.ts";
import { managerMetrics } from "../controllers/reconcile/manager_status.ts";
import type { ObserveReconcile } from "../controllers/reconcile/options.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import type { MetricFamily } from "../../engine/informer/metrics.ts";
import type { SharedInformerFactory } from "../../engine/informer/shared_informer_factory.ts";
import type {
  ListWatchObserver,
  ObserveRequest,
  RequestEnd,
  RequestObserver,
} from "../../engine/reflector/requests.ts";

/** Returns this package's tracer of the global provider. */
function globalTracer(): Tracer {
  return trace.getTracer("@kube/informer", VERSION);
}

/** Returns this package's meter of the global provider. */
function globalMeter(): Meter {
  return metrics.getMeter("@kube/informer", VERSION);
}

/** Returns a histogram of durations in seconds, in buckets with these boundaries. */
function secondsOf(name: string, description: string, explicitBucketBoundaries: number[]): Histogram {
  return globalMeter().createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries } });
}

/**
 * A span without a parent, or below another one of these. The context in which it begins is not its parent: work of
 * informers and reconcilers outlives the request, handler or reconcile that it was begun by.
 */
class RootSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;

  /** Begins a span, below `parent` if there is one. */
  constructor(tracer: Tracer, name: string, attributes: Attributes, parent?: Span) {
    this.#tracer = tracer;
    const above = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    this.#span = tracer.startSpan(name, { attributes }, above);
  }

  /** Begins a span below this one. */
  below(name: string, attributes: Attributes = {}): RootSpan {
    return new RootSpan(this.#tracer, name, attributes, this.#span);
  }

  /** Calls `call` with this span as the active one, and nothing else of the active context. */
  run<R>(call: () => R): R {
    return context.with(trace.setSpan(ROOT_CONTEXT, this.#span), call);
  }

  /** Sets attributes. */
  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** Ends the span: with status `ERROR` and an event `exception` where there is an error. */
  end(attributes: Attributes, error?: unknown): void {
    this.#span.setAttributes(attributes);
    if (error !== undefined) {
      const message = errorLine(error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
      // Without the stack, which may name files of the machine.
      this.#span.recordException({ name: error instanceof Error ? error.name : "Error", message });
    }
    this.#span.end();
  }
}

/**
 * The attribute `error.type` of an error: the status code of a refusal, else the error's name. None without an error.
 */
function errorType(error: unknown): Attributes {
  if (error === undefined) return {};
  if (error instanceof StatusError) return { "error.type": String(error.status.code) };
  return { "error.type": error instanceof Error ? error.name : "_OTHER" };
}

/**
 * The boundaries of buckets of durations, in seconds: those that the semantic conventions advise for requests, and
 * longer ones.
 */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300];

/**
 * Returns an observer that records a span and a duration for each reconcile. Pass it as a reconciler's `observe`.
 *
 * - **Spans:** `reconcile NAME` for each call, with the reconciler's name. It starts its own trace, and is the active
 *   span in your function and everything that it awaits. A watch or reconcile that triggered the call is not its
 *   parent. If the call exceeds its time limit, the span ends then.
 * - **Metric:** the histogram `reconciler.reconcile.duration`, in seconds.
 * - **Attributes on both:** `reconciler.name`, `reconciler.outcome` (as in `ReconcilerStatus.outcomes`), and for a
 *   failure `error.type`: the HTTP status code if the server refused a request, else the error's name.
 * - **Attributes only on spans:** `reconciler.resource`, `reconciler.key`, `k8s.namespace.name`, `reconciler.retries`,
 *   and `reconciler.triggers`, the trigger types.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { observeReconciles } from "@kube/informer/otel";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using _maps = new Reconciler(client, ConfigMap, ({ key }) => console.log(key), { observe: observeReconciles() });
 * ```
 */
export function observeReconciles(): ObserveReconcile {
  const tracer = globalTracer();
  const durations = secondsOf("reconciler.reconcile.duration", "The time of a call of a reconcile.", SECONDS);
  return ({ reconciler, resource, key, retries, triggers }) => {
    const slash = key.indexOf("/");
    const span = new RootSpan(tracer, `reconcile ${reconciler}`, {
      "reconciler.name": reconciler,
      "reconciler.resource": resourceName(resource),
      "reconciler.key": key,
      "k8s.namespace.name": slash < 0 ? undefined : key.slice(0, slash),
      "reconciler.retries": retries,
      "reconciler.triggers": [...new Set(triggers.map(({ type }) => type))],
    });
    const beganMs = monotonicMs();
    return {
      call: (reconcile) => span.run(reconcile),
      ended: ({ outcome, error }) => {
        const attributes = { "reconciler.outcome": outcome, ...errorType(error) };
        span.end(attributes, error);
        durations.record((monotonicMs() - beganMs) / 1_000, { "reconciler.name": reconciler, ...attributes });
      },
    };
  };
}

/** The boundaries of buckets of durations of lists, in seconds: those of the semantic conventions, and longer ones. */
const LIST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60];

/** The boundaries of buckets of durations of watches, in seconds. */
const WATCH_SECONDS = [1, 5, 15, 30, 60, 120, 180, 240, 300, 600, 1_800, 3_600];

/**
 * Returns an observer that records a span and a duration for each list and watch. Pass it as `observe` in the
 * `reflector` option of a factory or informer.
 *
 * - **Spans:** `list pods` for each list, with a span `page` for each page, and `watch pods` for each watch. A list or
 *   watch starts its own trace. Spans for its `fetch` calls are below it. Handlers and later work are not.
 * - **Metrics:** the histograms `informer.list.duration` and `informer.watch.duration`, in seconds, for each list or
 *   watch that has ended.
 * - **Attributes on both:** `informer.resource` (`"pods"`), `informer.list.type` (`"pages"` or `"stream"`, only lists),
 *   `informer.outcome` (`"listed"`, `"ended"`, `"failed"`, `"relist"`, `"paused"` or `"stopped"`), and for a failure
 *   `error.type`: the HTTP status code if the server refused a request, else the error's name.
 * - **Attributes only on spans:** `k8s.namespace.name`, `informer.label_selector`, `informer.field_selector`,
 *   `informer.resource_version` (in the request), `informer.objects`, `informer.events`, and two durations in seconds,
 *   `informer.decode.duration` and `informer.commit.duration`. Only this package's `Client` measures decoding.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { observeRequests } from "@kube/informer/otel";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client, { reflector: { observe: observeRequests() } });
 * informers.forResource(ConfigMap);
 * informers.start();
 * await informers.waitForCacheSync();
 * ```
 */
export function observeRequests(): ObserveRequest {
  const tracer = globalTracer();
  const lists = secondsOf(
    "informer.list.duration",
    "The time from the start of a list to its commit or failure.",
    LIST_SECONDS,
  );
  const watches = secondsOf(
    "informer.watch.duration",
    "The time from the request of a watch to its end.",
    WATCH_SECONDS,
  );
  return ({ type, resourceVersion, resource, selection = {} }) => {
    const isWatch = type === "watch";
    const name = resource === undefined ? undefined : resourceName(resource);
    const shared: Attributes = { "informer.resource": name, ...(isWatch ? {} : { "informer.list.type": type }) };
    const span = new RootSpan(tracer, `${isWatch ? "watch" : "list"} ${name ?? "objects"}`, {
      ...shared,
      "k8s.namespace.name": selection.namespace || undefined,
      "informer.label_selector": selection.labelSelector,
      "informer.field_selector": selection.fieldSelector,
      "informer.resource_version": resourceVersion,
    });
    const record = (seconds: number, attributes: Attributes): void =>
      (isWatch ? watches : lists).record(seconds, { ...shared, ...attributes });
    return new ListWatchSpan(span, record);
  };
}

/** A page, as a span. */
class RequestSpan implements RequestObserver {
  protected readonly span: RootSpan;
  /** `undefined` where the source does not measure it. */
  #decodeMs: number | undefined;

  constructor(span: RootSpan) {
    this.span = span;
  }

  send<R>(send: () => R): R {
    return this.span.run(send);
  }

  decoded(ms: number): void {
    this.#decodeMs = (this.#decodeMs ?? 0) + ms;
  }

  ended({ outcome, objects, events, error }: RequestEnd): void {
    this.span.end({
      "informer.outcome": outcome,
      "informer.objects": objects,
      "informer.events": events,
      ...(this.#decodeMs === undefined ? {} : { "informer.decode.duration": this.#decodeMs / 1_000 }),
      ...errorType(error),
    }, error);
  }
}

/** A list or watch, as a span and a duration. */
class ListWatchSpan extends RequestSpan implements ListWatchObserver {
  readonly #beganMs = monotonicMs();
  readonly #record: (seconds: number, attributes: Attributes) => void;

  constructor(span: RootSpan, record: (seconds: number, attributes: Attributes) => void) {
    super(span);
    this.#record = record;
  }

  page(): RequestObserver {
    const page = new RequestSpan(this.span.below("page"));
    return {
      send: (send) => page.send(send),
      decoded: (ms) => {
        page.decoded(ms);
        this.decoded(ms);
      },
      ended: (end) => page.ended(end),
    };
  }

  committed(ms: number): void {
    this.span.set({ "informer.commit.duration": ms / 1_000 });
  }

  override ended(end: RequestEnd): void {
    super.ended(end);
    const { outcome, error } = end;
    this.#record((monotonicMs() - this.#beganMs) / 1_000, { "informer.outcome": outcome, ...errorType(error) });
  }
}

/** The instruments of one family: that of its values, or sum, and that of its number of observations. */
interface Instruments {
  readonly values: Observable;
  readonly counts?: Observable;
}

/**
 * Publishes the status of a manager, or of a factory's informers, each time metrics are collected. Dispose the result
 * to stop.
 *
 * The metrics are the same as in a manager's `/metrics`, with a dot after the first word. The unit is in the
 * instrument, not in the name: `informer.objects`, `informer.stale` (s), `workqueue.waiting_keys`,
 * `reconciler.reconciles`. A histogram such as `workqueue_wait_seconds` becomes the counters `workqueue.wait.time` (s)
 * and `workqueue.wait.count`. Labels become attributes under the metric's first word, such as `informer.state`. The
 * exceptions are `informer.resource` and `reconciler.name`.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { observeStatus } from "@kube/informer/otel";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client);
 * using _observed = observeStatus(informers);
 * ```
 */
export function observeStatus(source: Pick<Manager, "status"> | Pick<SharedInformerFactory, "status">): Disposable {
  const meter = globalMeter();
  const instruments = new Map(familiesOf(source).map((family) => [family.name, instrumentsOf(meter, family)]));
  const observables = [...instruments.values()].flatMap(({ values, counts = [] }) => [values].concat(counts));
  const observe = (result: BatchObservableResult): void => {
    for (const { name, samples } of familiesOf(source)) {
      const { values, counts } = instruments.get(name)!;
      for (const { labels = {}, value, count = 0 } of samples) {
        const attributes = attributesOf(name, labels);
        result.observe(values, value, attributes);
        if (counts !== undefined) result.observe(counts, count, attributes);
      }
    }
  };
  meter.addBatchObservableCallback(observe, observables);
  return { [Symbol.dispose]: () => meter.removeBatchObservableCallback(observe, observables) };
}

function familiesOf(source: Pick<Manager, "status"> | Pick<SharedInformerFactory, "status">): MetricFamily[] {
  const status = source.status();
  if (!Array.isArray(status)) return managerMetrics(status);
  const families = managerMetrics({ phase: "running", informers: status, reconcilers: [], recorders: [] });
  return families.filter(({ name }) => name.startsWith("informer_"));
}

function instrumentsOf(meter: Meter, { name, type, unit, help }: MetricFamily): Instruments {
  const dotted = name.replace(/_seconds$/, "").replace("_", ".");
  const options = { description: help, ...(unit === "seconds" ? { unit: "s" } : {}) };
  if (type === "gauge") return { values: meter.createObservableGauge(dotted, options) };
  if (type === "counter") return { values: meter.createObservableCounter(dotted, options) };
  return {
    values: meter.createObservableCounter(`${dotted}.time`, options),
    counts: meter.createObservableCounter(`${dotted}.count`, { description: help }),
  };
}

function attributesOf(family: string, labels: Readonly<Record<string, string>>): Attributes {
  const [first] = family.split("_");
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => {
      if (label === "resource") return ["informer.resource", value];
      return [label === "reconciler" ? "reconciler.name" : `${first}.${label}`, value];
    }),
  );
}

/** The boundaries of buckets that the semantic conventions advise, in seconds. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The methods that the semantic conventions list. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/**
 * Returns a transport that sends requests through `transport` and measures them. Pass it as `wrapTransport` to
 * `connect()`, or as a client's `transport`.
 *
 * It records the histogram `http.client.request.duration` from the HTTP semantic conventions: the seconds from a
 * request to the response's headers, by `http.request.method`, `server.address`, `server.port`, `url.scheme`, and
 * `http.response.status_code` or `error.type`. It creates no spans, because runtimes create spans for `fetch`
 * themselves. If you dispose it, it disposes `transport`.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { observeTransport } from "@kube/informer/otel";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: observeTransport(new FakeApiServer()) });
 * ```
 */
export function observeTransport(transport: Transport): Transport {
  const durations = secondsOf("http.client.request.duration", "Duration of HTTP client requests.", REQUEST_SECONDS);
  return {
    fetch: async (request) => {
      const { protocol, hostname, port } = new URL(request.url);
      const shared: Attributes = {
        "http.request.method": METHODS.includes(request.method) ? request.method : "_OTHER",
        "server.address": hostname,
        "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
        "url.scheme": protocol.slice(0, -1),
      };
      const beganMs = monotonicMs();
      const record = (attributes: Attributes): void =>
        durations.record((monotonicMs() - beganMs) / 1_000, { ...shared, ...attributes });
      try {
        const response = await transport.fetch(request);
        const { status } = response;
        record({ "http.response.status_code": status, ...(status >= 400 ? { "error.type": String(status) } : {}) });
        return response;
      } catch (error) {
        record(errorType(error));
        throw error;
      }
    },
    ...(transport.probe && { probe: (signal: AbortSignal, url: string) => transport.probe!(signal, url) }),
    [Symbol.dispose]: () => transport[Symbol.dispose]?.(),
  };
}
