import { type Meter, metrics, trace, type Tracer } from "@opentelemetry/api";
import { VERSION } from "../client/version.ts";

/** Returns this package's tracer and meter of the global providers. */
export function globalProviders(): { readonly tracer: Tracer; readonly meter: Meter } {
  const name = "@kube/informer";
  return { tracer: trace.getTracer(name, VERSION), meter: metrics.getMeter(name, VERSION) };
}
