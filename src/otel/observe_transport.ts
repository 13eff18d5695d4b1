import type { Attributes } from "@opentelemetry/api";
import type { Transport } from "../api/transport.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { errorType } from "./root_span.ts";
import { globalProviders } from "./global_providers.ts";

/** The boundaries of buckets that the semantic conventions advise, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The methods that the semantic conventions list. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/**
 * Returns a transport that sends requests by another one, and records the histogram `http.client.request.duration` of the
 * semantic conventions for HTTP: the time from a request to the headers of its answer, in seconds, by `http.request.method`,
 * `server.address`, `server.port`, `url.scheme`, and `http.response.status_code` or `error.type`.
 *
 * Disposing it disposes the other one. It makes no spans: runtimes and their instrumentations make those of `fetch`.
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
  const { meter } = globalProviders();
  const durations = meter.createHistogram("http.client.request.duration", {
    description: "Duration of HTTP client requests.",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
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
        record({
          "http.response.status_code": status,
          ...(status >= 400 ? { "error.type": String(status) } : {}),
        });
        return response;
      } catch (error) {
        record(errorType(error));
        throw error;
      }
    },
    [Symbol.dispose]: () => transport[Symbol.dispose]?.(),
  };
}
