import type { MetricFamily } from "./metric_family.ts";
import { OPEN_METRICS_TYPE, openMetricsText } from "./open_metrics.ts";

/** The sources of the answers to probes. */
export interface ProbeAnswers {
  /** Returns the reason for which the process should be restarted, if there is one. */
  readonly illness: () => string | undefined;
  /** Returns the reason for which the process is not ready, if there is one. */
  readonly unreadiness: () => string | undefined;
  /** Returns the metrics. */
  readonly metrics: () => readonly MetricFamily[];
}

/**
 * Answers `/healthz`, `/readyz` and `/metrics`. A failed probe is 503 with the reason as text; other paths are 404, other methods
 * than GET and HEAD 405.
 */
export function answerProbe(request: Request, { illness, unreadiness, metrics }: ProbeAnswers): Response {
  const { pathname = "" } = URL.parse(request.url) ?? {}; // the header Host may be none
  if (!PROBE_PATHS.includes(pathname)) return answer(404, "not found");
  if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "use GET", { allow: "GET, HEAD" });
  const response = pathname === "/metrics"
    ? answer(200, openMetricsText(metrics()), { "content-type": OPEN_METRICS_TYPE })
    : probe(pathname === "/healthz" ? illness() : unreadiness());
  return request.method === "GET" ? response : new Response(null, response);
}

/** The paths that {@linkcode answerProbe} answers. */
export const PROBE_PATHS: readonly string[] = ["/healthz", "/readyz", "/metrics"];

function probe(problem: string | undefined): Response {
  return problem === undefined ? answer(200, "ok") : answer(503, problem);
}

function answer(status: number, text: string, headers: HeadersInit = {}): Response {
  return new Response(text.endsWith("\n") ? text : `${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...headers },
  });
}
