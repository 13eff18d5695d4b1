import { type Meter, metrics, trace, type Tracer } from "@opentelemetry/api";
import { VERSION } from "../client/version.ts";

/** Receivers of spans and metrics. */
export interface TelemetryOptions {
  /** Makes spans. @default {the tracer "@kube/informer" of the global provider} */
  readonly tracer?: Tracer;
  /** Makes instruments. @default {the meter "@kube/informer" of the global provider} */
  readonly meter?: Meter;
}

const NAME = "@kube/informer";

/** Returns the options with their defaults. */
export function withGlobalProviders(options: TelemetryOptions): Required<TelemetryOptions> {
  const { tracer = trace.getTracer(NAME, VERSION), meter = metrics.getMeter(NAME, VERSION) } = options;
  return { tracer, meter };
}
