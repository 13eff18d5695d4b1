/** The headers of answers: nothing is shared, kept without asking again, framed, run as a script, or guessed to be of another type. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "private, no-cache",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/** The headers of event streams: a browser that kept them would hold their connections. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  ...ANSWER_HEADERS,
  "cache-control": "no-store",
  "content-type": "text/event-stream",
  "x-accel-buffering": "no", // proxies are asked not to collect what comes slowly
};

/** Kinds whose objects often hold credentials: Secrets, and the environment variables of pods and of what makes pods. */
const CONFIDENTIAL =
  /^(Secret|Pod|PodTemplate|ReplicationController|ReplicaSet|Deployment|StatefulSet|DaemonSet|Job|CronJob)$/;

/** Returns the headers of lists of a kind; browsers do not write lists to their disk that may hold credentials. */
export function listHeaders(kind: string): Readonly<Record<string, string>> {
  const cacheControl = CONFIDENTIAL.test(kind) ? "private, no-store" : "private, no-cache";
  return { ...ANSWER_HEADERS, "cache-control": cacheControl, "content-type": "application/json" };
}
