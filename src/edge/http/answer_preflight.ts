import { ANSWER_HEADERS } from "./answer_headers.ts";

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
