import { PAGE_HTML, PAGE_POLICY } from "./page_html.ts";

/** Headers of the page. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Answers a request for the page, which is at `/`; `undefined` for other requests. */
export function answerPage(request: Request): Response | undefined {
  if (URL.parse(request.url)?.pathname !== "/") return undefined; // its host may be none
  if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
  return request.method === "GET" ? new Response(PAGE_HTML, { headers: HEADERS }) : undefined;
}
