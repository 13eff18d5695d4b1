/**
 * Families of metrics, their text in the OpenMetrics format, and probes.
 *
 * {@linkcode informerMetrics} and {@linkcode openMetricsText} are the entry points. Values are computed from status
 * objects when they are read; nothing is counted here.
 *
 * @module
 */
import { resourceName } from "../api/resource.ts";
import type { Durations } from "../async/histogram.ts";
import type { InformerOfFactory } from "./shared_informer_factory.ts";

/** One value of a metric family. */
export interface MetricSample {
  /** The labels, in any order. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value. A counter starts at 0 and never decreases. */
  readonly value: number;
  /** The number of observations, of a `"histogram"` or `"summary"`, whose `value` is their sum. */
  readonly count?: number;
  /** The number of observations up to each of some values, which rise, of a `"histogram"`. `Infinity` is left out. */
  readonly buckets?: readonly { readonly upTo: number; readonly count: number }[];
}

/** A metric family: samples of one name that differ in their labels. */
export interface MetricFamily {
  /** The name, with the unit as its end and without `_total`: `"workqueue_wait_seconds"`. */
  readonly name: string;
  /** The type. Samples of a `"summary"` have a sum and a count, and no quantiles. */
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  /** The base unit, `"seconds"`, where the family has one. */
  readonly unit?: string;
  /** A sentence that describes the values. */
  readonly help: string;
  /** The samples, no two of them with the same labels. */
  readonly samples: readonly MetricSample[];
}

type Labels = Readonly<Record<string, string>>;

/** Returns a family of counters. */
export function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

/** Returns a family of gauges, in seconds if `name` ends with `_seconds`. */
export function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", ...(name.endsWith("_seconds") ? { unit: "seconds" } : {}), help, samples };
}

/** Returns a family of histograms in seconds; `name` ends with `_seconds`. */
export function histogram(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "histogram", unit: "seconds", help, samples };
}

/** Returns the sample of a histogram in seconds. */
export function secondsSample(labels: Labels | undefined, { count, sumMs, buckets }: Durations): MetricSample {
  return {
    labels,
    value: sumMs / 1_000,
    count,
    buckets: buckets.map(({ upToMs, count }) => ({ upTo: upToMs / 1_000, count })),
  };
}

/** Returns the labels of each item; items that would have the same labels are numbered from the second one on. */
export function labelsOf<I>(items: readonly I[], labels: (item: I) => Labels): Labels[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const own = labels(item);
    const key = JSON.stringify(own);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? own : { ...own, instance_number: String(count) };
  });
}

/** The media type of {@linkcode openMetricsText}. */
export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/**
 * Returns metric families as text in the OpenMetrics format, version 1.0.0. Families without samples have their
 * description.
 *
 * @throws {TypeError} when a name or label is not allowed, or a name is used twice. Also when the name of a family
 * does not end with its unit, or a counter is below 0 or no number.
 */
export function openMetricsText(families: readonly MetricFamily[]): string {
  const names = new Set<string>();
  const lines: string[] = [];
  for (const { name, type, unit, help, samples } of families) {
    checkName(name);
    if (names.has(name)) throw new TypeError(`Cannot write metrics: two families have the name "${name}"`);
    names.add(name);
    lines.push(`# TYPE ${name} ${type}`);
    if (unit !== undefined) {
      if (!name.endsWith(`_${unit}`)) throw new TypeError(`Cannot write metrics: "${name}" must end with "_${unit}"`);
      lines.push(`# UNIT ${name} ${unit}`);
    }
    lines.push(`# HELP ${name} ${escaped(help)}`);
    for (const { labels = {}, value, count = 0, buckets = [] } of samples) {
      if (type !== "gauge" && !(value >= 0)) {
        throw new TypeError(`Cannot write metrics: "${name}" must be a number of at least 0, but it is ${value}`);
      }
      const set = labelText(labels);
      if (type === "gauge") lines.push(`${name}${set} ${numberText(value)}`);
      else if (type === "counter") lines.push(`${name}_total${set} ${numberText(value)}`);
      else {
        if (type === "histogram") {
          for (const bucket of [...buckets, { upTo: Infinity, count }]) {
            lines.push(`${name}_bucket${labelText({ ...labels, le: boundText(bucket.upTo) })} ${bucket.count}`);
          }
        }
        lines.push(`${name}_count${set} ${count}`, `${name}_sum${set} ${numberText(value)}`);
      }
    }
  }
  return [...lines, "# EOF", ""].join("\n");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    checkName(name, /^[a-zA-Z_][a-zA-Z0-9_]*$/);
    return `${name}="${escaped(value)}"`;
  });
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** Returns the text of a bound, in which the format has a point: `"1.0"`. */
function boundText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : numberText(bound);
}

function checkName(name: string, pattern: RegExp = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/): void {
  if (!pattern.test(name)) throw new TypeError(`Cannot write metrics: "${name}" is not a valid name`);
}

/** The sources of the answers to probes. */
interface ProbeAnswers {
  /** Returns the reason for which the process should be restarted, if there is one. */
  readonly illness: () => string | undefined;
  /** Returns the reason for which the process is not ready, if there is one. */
  readonly unreadiness: () => string | undefined;
  /** Returns lines about a process that is ready, such as the kinds that it works without. @default {none} */
  readonly remarks?: () => readonly string[];
  /** Returns the metrics. */
  readonly metrics: () => readonly MetricFamily[];
}

/**
 * Answers `/healthz`, `/readyz` and `/metrics`. A failed probe is 503 with the reason as text; other paths are 404,
 * other methods than GET and HEAD 405.
 */
export function answerProbe(request: Request, { illness, unreadiness, remarks, metrics }: ProbeAnswers): Response {
  const { pathname = "" } = URL.parse(request.url) ?? {}; // the header Host may be none
  if (!PROBE_PATHS.includes(pathname)) return answer(404, "not found");
  if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "use GET", { allow: "GET, HEAD" });
  const response = pathname === "/metrics"
    ? answer(200, openMetricsText(metrics()), { "content-type": OPEN_METRICS_TYPE })
    : pathname === "/healthz"
    ? probe(illness())
    : probe(unreadiness(), remarks?.());
  return request.method === "GET" ? response : new Response(null, response);
}

/** The paths that {@linkcode answerProbe} answers. */
export const PROBE_PATHS: readonly string[] = ["/healthz", "/readyz", "/metrics"];

function probe(problem: string | undefined, remarks: readonly string[] = []): Response {
  if (problem !== undefined) return answer(503, problem);
  return answer(200, ["ok", ...remarks].join("\n"));
}

function answer(status: number, text: string, headers: HeadersInit = {}): Response {
  return new Response(text.endsWith("\n") ? text : `${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...headers },
  });
}

/** Returns the metric families of informers, from their status. */
export function informerMetrics(informers: readonly InformerOfFactory[]): MetricFamily[] {
  const informerLabels = labelsOf(informers, ({ resource }) => ({ resource: resourceName(resource) }));
  const ofInformers = (value: (it: InformerOfFactory["status"]) => number): MetricSample[] =>
    informers.map(({ status }, index) => ({ labels: informerLabels[index], value: value(status) }));
  const ofTimes = (times: (it: InformerOfFactory["status"]) => Durations | undefined): MetricSample[] =>
    informers.flatMap(({ status }, index) => {
      const durations = times(status);
      return durations === undefined ? [] : [secondsSample(informerLabels[index], durations)];
    });
  return [
    gauge(
      "informer_state",
      "The state of an informer: 1 for the present one.",
      informers.map(({ status: { state } }, index) => ({ labels: { ...informerLabels[index], state }, value: 1 })),
    ),
    gauge("informer_objects", "Cached objects.", ofInformers(({ objects }) => objects)),
    gauge(
      "informer_memory_bytes",
      "Bytes of cached objects and indexes, of factories with maxBytes.",
      informers.flatMap(({ status: { memory } }, index) =>
        memory === undefined ? [] : [{ labels: informerLabels[index], value: memory.bytes }]
      ),
    ),
    gauge(
      "informer_stale_seconds",
      "The time for which the cache has not followed the server; 0 while it does.",
      ofInformers(({ staleForMs = 0 }) => staleForMs / 1_000),
    ),
    counter("informer_events", "Changes received.", ofInformers(({ events }) => events)),
    counter("informer_lists", "Lists begun, without streaming lists.", ofInformers(({ lists }) => lists)),
    counter("informer_watches", "Watches begun, with streaming lists.", ofInformers(({ watches }) => watches)),
    ...connectionMetrics(informers, informerLabels),
    histogram(
      "informer_list_seconds",
      "The time from the beginning of a list to the end of its commit, of complete lists.",
      ofTimes(({ listMs }) => listMs),
    ),
    histogram(
      "informer_commit_seconds",
      "The time that a commit to the cache took.",
      ofTimes(({ commitMs }) => commitMs),
    ),
    histogram(
      "informer_delivery_seconds",
      "The time from the creation of an object to a call of a handler for it, up to a second too long.",
      ofTimes(({ deliveryMs }) => deliveryMs),
    ),
    counter("informer_errors", "Failed requests, handlers and objects.", ofInformers(({ errors }) => errors)),
    gauge(
      "informer_pending_events",
      "Events that handlers and streams have not received yet.",
      ofInformers(({ handlers }) => handlers.reduce((sum, { pending }) => sum + pending, 0)),
    ),
  ];
}

/** The families of connections: name, help and value. */
const CONNECTIONS = [
  ["informer_watch_suspicions", "Watches that missed a bookmark, and were looked at.", "suspicions"],
  [
    "informer_watch_renewals",
    "Watches that were replaced, or ended, because their connection might be dead.",
    "renewals",
  ],
  [
    "informer_probes",
    "Requests by which the informer's client asked whether the API server responds; the same for all informers of a client.",
    "probes",
  ],
  ["informer_failed_probes", "Those of informer_probes that got no response.", "failedProbes"],
] as const;

function connectionMetrics(informers: readonly InformerOfFactory[], labels: readonly Labels[]): MetricFamily[] {
  return CONNECTIONS.map(([name, help, value]) =>
    counter(
      name,
      help,
      informers.flatMap(({ status: { connections } }, index) =>
        connections === undefined ? [] : [{ labels: labels[index], value: connections[value] }]
      ),
    )
  );
}
