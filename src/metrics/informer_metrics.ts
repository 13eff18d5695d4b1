import { resourceName } from "../api/resource.ts";
import type { InformerOfFactory } from "../informer/shared_informer_factory.ts";
import { counter, gauge, labelsOf, type MetricFamily, type MetricSample, secondsGauge } from "./metric_family.ts";

/** Returns the metric families of informers, from their status. */
export function informerMetrics(informers: readonly InformerOfFactory[]): MetricFamily[] {
  const informerLabels = labelsOf(informers, ({ resource }) => ({ resource: resourceName(resource) }));
  const ofInformers = (value: (it: InformerOfFactory["status"]) => number): MetricSample[] =>
    informers.map(({ status }, index) => ({ labels: informerLabels[index], value: value(status) }));
  return [
    gauge(
      "informer_state",
      "The state of an informer: 1 for the present one.",
      informers.map(({ status: { state } }, index) => ({ labels: { ...informerLabels[index], state }, value: 1 })),
    ),
    gauge("informer_objects", "Cached objects.", ofInformers(({ objects }) => objects)),
    secondsGauge(
      "informer_stale_seconds",
      "The time for which the cache has not followed the server; 0 while it does.",
      ofInformers(({ staleMs = 0 }) => staleMs / 1_000),
    ),
    counter("informer_events", "Changes received.", ofInformers(({ events }) => events)),
    counter("informer_lists", "Lists begun, without streaming lists.", ofInformers(({ lists }) => lists)),
    counter("informer_watches", "Watches begun, with streaming lists.", ofInformers(({ watches }) => watches)),
    counter("informer_errors", "Failed requests, handlers and objects.", ofInformers(({ errors }) => errors)),
    gauge(
      "informer_pending_events",
      "Events that handlers and streams have not received yet.",
      ofInformers(({ handlers }) => handlers.reduce((sum, { pending }) => sum + pending, 0)),
    ),
  ];
}
