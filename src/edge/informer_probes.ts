import { resourceName } from "../api/resource.ts";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import { answerProbe } from "../metrics/answer_probe.ts";
import { informerMetrics } from "../metrics/informer_metrics.ts";

/** Options of {@linkcode informerProbes}. */
export interface InformerProbesOptions {
  /** The age from which a cache that is not live makes `/readyz` fail, in milliseconds; `Infinity` is never. @default {60_000} */
  readonly maxStaleMs?: number;
}

/**
 * Returns a function that answers `/healthz`, `/readyz` and `/metrics` for the informers of a factory, for a port of their own.
 *
 * - `/healthz`: 200.
 * - `/readyz`: 200 while all informers have synced, and have been live within `maxStaleMs`. Those that are not started or paused, as
 *   nobody reads them, do not count.
 * - `/metrics`: their status in the OpenMetrics format.
 *
 * A failed probe is 503 with the reasons as text; other paths are 404, other methods than GET and HEAD 405.
 */
export function informerProbes(
  informers: SharedInformerFactory,
  options: InformerProbesOptions = {},
): (request: Request) => Response {
  return probesOf(informers, options);
}

/** Returns {@linkcode informerProbes}, whose metrics do not have the numbers of objects with `hidesCounts`. */
export function probesOf(
  informers: SharedInformerFactory,
  { maxStaleMs = 60_000, hidesCounts = false }: InformerProbesOptions & { readonly hidesCounts?: boolean },
): (request: Request) => Response {
  return (request) =>
    answerProbe(request, {
      illness: () => undefined,
      unreadiness: () => unreadiness(informers, maxStaleMs),
      metrics: () => {
        const families = informerMetrics(informers.status());
        return hidesCounts ? families.filter(({ name }) => name !== "informer_objects") : families;
      },
    });
}

function unreadiness(informers: SharedInformerFactory, maxStaleMs: number): string | undefined {
  const behind = informers.status().flatMap(
    ({ resource, status: { state, resourceVersion, notLiveSince } }) => {
      if (state === "idle" || state === "paused" || state === "live") return [];
      const staleMs = notLiveSince === undefined ? 0 : Date.now() - notLiveSince.getTime();
      if (resourceVersion !== "" && staleMs <= maxStaleMs && state !== "stopped") return [];
      const why = resourceVersion === ""
        ? "it has not synced"
        : `it has not been live for ${Math.round(staleMs / 1_000)} s`;
      return [`${resourceName(resource)}: ${state}, ${why}`];
    },
  );
  return behind.length === 0 ? undefined : behind.join("\n");
}
