import { type Attributes, context, metrics, trace, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "npm:@opentelemetry/context-async-hooks@^2.12.0";
import { MeterProvider, MetricReader } from "npm:@opentelemetry/sdk-metrics@^2.12.1";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "npm:@opentelemetry/sdk-trace-base@^2.12.1";
import type { Transport } from "../../../src/engine/api/lister_watcher.ts";

/**
 * Global providers that keep spans and metrics in memory, and a context manager that follows promises and timers; until
 * it is disposed.
 */
export class Recorder implements Disposable {
  readonly #spans = new InMemorySpanExporter();
  readonly #reader = new CollectedReader();
  /** The spans that were active when requests were sent, by method and path. */
  readonly activeOf = new Map<string, string | undefined>();

  constructor() {
    const spans = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
    trace.setGlobalTracerProvider(spans);
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [this.#reader] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  /** Makes spans of a program. */
  get tracer(): Tracer {
    return trace.getTracer("program");
  }

  /** The spans that have ended, in that order. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** The only span of a name that has ended. */
  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`found ${found.length} of ${this.spans.map(({ name }) => name)}`);
    return found[0];
  }

  /** The last span of a name that has ended. */
  last(name: string): ReadableSpan {
    const found = this.spans.findLast((span) => span.name === name);
    if (found === undefined) throw new Error(`found ${this.spans.map(({ name }) => name)}`);
    return found;
  }

  /** A transport that notes the active span of each request. */
  noting(transport: Transport): Transport {
    return {
      fetch: (request) => {
        const { pathname, searchParams } = new URL(request.url);
        const kind = searchParams.has("watch") ? "watch" : searchParams.has("continue") ? "next page" : "";
        this.activeOf.set(`${request.method} ${pathname} ${kind}`.trimEnd(), activeSpan());
        return transport.fetch(request);
      },
    };
  }

  /** The values of a metric: numbers, or counts of a histogram, with their attributes. */
  async metric(name: string): Promise<{ readonly unit: string; readonly values: [Attributes, number][] }> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw errors[0];
    const found = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
      .find(({ descriptor }) => descriptor.name === name);
    if (found === undefined) throw new Error(`no metric "${name}"`);
    return {
      unit: found.descriptor.unit,
      values: found.dataPoints.map(({ attributes, value }) => [
        attributes,
        typeof value === "number" ? value : (value as { readonly count: number }).count,
      ]),
    };
  }

  [Symbol.dispose](): void {
    context.disable();
    trace.disable();
    metrics.disable();
  }
}

/** The id of the active span; `undefined` where there is none. */
export function activeSpan(): string | undefined {
  return trace.getActiveSpan()?.spanContext().spanId;
}

/** Reads metrics when it is asked to. */
class CollectedReader extends MetricReader {
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}
