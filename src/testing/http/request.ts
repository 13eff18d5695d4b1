import type { RequestAttributes } from "./access_control.ts";

/** A request as recorded by the fake server. */
export interface RecordedRequest {
  /** HTTP method. */
  readonly method: string;
  /** The full URL. */
  readonly url: string;
  /** The URL's path. */
  readonly path: string;
  /** The query, parsed: `request.query.get("resourceVersion")`. */
  readonly query: URLSearchParams;
  /** The headers as received; credentials read `[redacted]`. */
  readonly headers: Headers;
  /** `"list"`, `"watch"`, `"get"`, `"create"` …; the HTTP method in lower case for non-resource paths. */
  readonly verb: string;
  /** Plural name, `"pods"`; `""` for non-resource paths. */
  readonly resource: string;
  /** The namespace of the path, else `""`. */
  readonly namespace: string;
  /** The body as text, if there was one and it was read. */
  readonly body: string | undefined;
  /** HTTP status of the response, once there is one; 0 if the connection broke instead. */
  readonly status: number | undefined;
}

/** A record to which body and status are still to be added. */
export type OpenRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

const CREDENTIALS = ["authorization", "cookie", "proxy-authorization"];

/** Records a request without its credentials. */
export function recordRequest(
  request: Request,
  url: URL,
  { verb, resource, namespace, path }: RequestAttributes,
): OpenRecord {
  let { headers } = request;
  for (const name of CREDENTIALS) {
    if (!headers.has(name)) continue;
    if (headers === request.headers) headers = new Headers(headers);
    headers.set(name, "[redacted]");
  }
  return {
    method: request.method,
    url: url.href,
    path,
    query: url.searchParams,
    headers,
    verb,
    resource,
    namespace,
    body: undefined,
    status: undefined,
  };
}

/**
 * Returns true if a request is for a streaming list: a watch that begins with the existing objects and marks their
 * end.
 */
export function isStreamingList({ query }: RecordedRequest): boolean {
  return query.get("sendInitialEvents") === "true";
}
