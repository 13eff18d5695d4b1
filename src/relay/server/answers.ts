/**
 * The headers of a relay's answers, and refusals.
 *
 * {@linkcode refuseRequest} is the entry point. `guard.ts` and others decide what is refused, and this file words the
 * response. It reads no cache.
 *
 * @module
 */
import { quoted } from "../../engine/errors/errors.ts";
import { refusal as statusError, statusJson } from "../../engine/protocol/refusal.ts";

/**
 * The headers of answers: nothing is shared, kept without asking again, framed, run as a script, or guessed to be of
 * another type.
 */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "private, no-cache",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/**
 * Kinds whose objects often hold credentials: Secrets, and the environment variables of pods and of what makes pods.
 */
const CONFIDENTIAL =
  /^(Secret|Pod|PodTemplate|ReplicationController|ReplicaSet|Deployment|StatefulSet|DaemonSet|Job|CronJob)$/;

/** Returns the headers of lists of a kind; browsers do not write lists to their disk that may hold credentials. */
export function listHeaders(kind: string): Readonly<Record<string, string>> {
  const cacheControl = CONFIDENTIAL.test(kind) ? "private, no-store" : "private, no-cache";
  return { ...ANSWER_HEADERS, "cache-control": cacheControl, "content-type": "application/json" };
}

/** Answers the request that a browser sends before one to another origin, for 10 minutes. */
export function answerPreflight(): Response {
  const headers = {
    ...ANSWER_HEADERS,
    "cache-control": "no-store",
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers": "authorization, content-type, if-none-match, last-event-id",
    "access-control-max-age": "600",
  };
  return new Response(null, { status: 204, headers });
}

/** The reason why a request is not answered. */
export interface Refusal {
  /** The status code. */
  readonly status: number;
  /** The reason, which follows "Cannot answer GET: ". */
  readonly reason: string;
}

/** The longest method that is answered, in characters. */
export const MAX_METHOD = 20;

/** The prefix of the paths of the Kubernetes API. */
export const KUBERNETES_PREFIX = "/kubernetes";

/** Returns `true` for an address of the Kubernetes API. */
export function isKubernetes({ pathname }: Pick<URL, "pathname">): boolean {
  return pathname === KUBERNETES_PREFIX || pathname.startsWith(`${KUBERNETES_PREFIX}/`);
}

/**
 * Answers a request by the reason, as JSON, which is a Status for one of the Kubernetes API, and drops its body. A
 * client that is refused by 503 may ask again after 2 s.
 */
export function refuseRequest(
  request: Request,
  { status, reason }: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
  const headers = new Headers({ ...ANSWER_HEADERS, "cache-control": "no-store", ...more });
  if (status === 503) headers.set("retry-after", "2");
  const error = `Cannot answer ${quoted(request.method, MAX_METHOD)}: ${reason}`;
  const url = URL.parse(request.url);
  const body = url !== null && isKubernetes(url) ? statusJson(statusError(status, error).status) : { error };
  return Response.json(body, { status, headers });
}
