import { ANSWER_HEADERS } from "./answer_headers.ts";

/** The reason why a request is not answered. */
export interface Refusal {
  /** The status code. */
  readonly status: number;
  /** The reason, which follows "Cannot answer GET: ". */
  readonly reason: string;
}

/** Answers a request by the reason, as JSON, and drops its body. A client that is refused by 503 may ask again after 2 s. */
export function refuse(
  request: Request,
  { status, reason }: Refusal,
  more: Readonly<Record<string, string>> = {},
): Response {
  void request.body?.cancel().catch(() => {}); // the answer does not depend on the rest of the body
  const headers = new Headers({ ...ANSWER_HEADERS, "cache-control": "no-store", ...more });
  if (status === 503) headers.set("retry-after", "2");
  return Response.json({ error: `Cannot answer ${request.method}: ${reason}` }, { status, headers });
}
