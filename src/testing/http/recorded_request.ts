import type { RequestAttributes } from "./access_control.ts";

/** A request as the fake remembers it. */
export interface RecordedRequest {
  /** HTTP method. */
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  /** The path alone. */
  readonly path: string;
  /** The query, parsed: `request.query.get("resourceVersion")`. */
  readonly query: URLSearchParams;
  /** As they came, but for credentials, which read `[redacted]`. */
  readonly headers: Headers;
  /** `"list"`, `"watch"`, `"get"`, `"create"` …; the method in lower case for paths that are no resource. */
  readonly verb: string;
  /** Name of the collection, `"pods"`; `""` for paths that are no resource. */
  readonly resource: string;
  /** The namespace of the path, else `""`. */
  readonly namespace: string;
  /** The body as text, where there was one and it was read. */
  readonly body: string | undefined;
  /** The HTTP status of the answer, once there is one; 0 when the connection was broken instead. */
  readonly status: number | undefined;
}

/** A record that is still being filled in. */
export type OpenRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

/** Writes a request down, without its credentials. */
export function recordRequest(
  request: Request,
  url: URL,
  { verb, resource, namespace }: RequestAttributes,
): OpenRecord {
  const headers = new Headers(request.headers);
  for (const name of ["authorization", "cookie", "proxy-authorization"]) {
    if (headers.has(name)) headers.set(name, "[redacted]");
  }
  return {
    method: request.method,
    url: request.url,
    path: url.pathname,
    query: url.searchParams,
    headers,
    verb,
    resource,
    namespace,
    body: undefined,
    status: undefined,
  };
}

/** Whether a request asks for a streaming list: a watch that begins with what exists, and says where that ends. */
export function isStreamingList({ query }: RecordedRequest): boolean {
  return query.get("sendInitialEvents") === "true";
}
