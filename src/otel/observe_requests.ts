import type { Attributes } from "@opentelemetry/api";
import { resourceName } from "../api/resource.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import type { ListWatchObserver, ObserveRequest, RequestEnd, RequestObserver } from "../reflector/request_observer.ts";
import { errorType, RootSpan } from "./root_span.ts";
import { globalProviders } from "./global_providers.ts";

/** The boundaries of buckets of durations of lists, in seconds: those of the semantic conventions, and longer ones. */
const LIST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60];

/** The boundaries of buckets of durations of watches, in seconds. */
const WATCH_SECONDS = [1, 5, 15, 30, 60, 120, 180, 240, 300, 600, 1_800, 3_600];

/**
 * Returns an observer of lists and watches, for the option `reflector` of factories and informers.
 *
 * - **Spans**: `list pods` for each list, with a span `page` for each of its pages, and `watch pods` for each watch, from its
 *   request to its end. Each list and watch is the root of a trace of its own. Its requests are sent with its span as the active
 *   one, so that spans of `fetch` are below it; handlers and later work are not.
 * - **Metrics**: the histograms `informer.list.duration` and `informer.watch.duration`, in seconds, of the lists and watches that
 *   have ended.
 * - **Attributes** of both: `informer.resource` (`"pods"`), `informer.list.type` (`"pages"` or `"stream"`, of lists),
 *   `informer.outcome` (`"listed"`, `"ended"`, `"failed"`, `"relist"`, `"paused"` or `"stopped"`), and `error.type` of failures:
 *   the status code of a refusal, else the name of the error.
 * - **Attributes** of spans alone: `k8s.namespace.name`, `informer.label_selector`, `informer.field_selector`,
 *   `informer.resource_version` (that of the request), `informer.objects`, `informer.events`, and the times that decoding and the
 *   commit to the cache took, `informer.decode.duration` and `informer.commit.duration`, in seconds. The time to decode is
 *   that of a `Client` of this package.
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
  const { tracer, meter } = globalProviders();
  const lists = meter.createHistogram("informer.list.duration", {
    description: "The time from the start of a list to its commit or failure.",
    unit: "s",
    advice: { explicitBucketBoundaries: LIST_SECONDS },
  });
  const watches = meter.createHistogram("informer.watch.duration", {
    description: "The time from the request of a watch to its end.",
    unit: "s",
    advice: { explicitBucketBoundaries: WATCH_SECONDS },
  });
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
