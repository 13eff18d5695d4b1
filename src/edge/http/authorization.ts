import { refuse } from "./refuse.ts";

/** An answer of `authorize`: whether the request is answered, and until when a stream stays open; a response is sent as it is. */
export type Authorization = boolean | Response | { readonly expiresAt: Date };

/**
 * Asks `authorize` about a request. Returns the time at which a stream ends, if there is one, or the answer to a request that is
 * refused.
 */
export async function askAuthorization(
  request: Request,
  authorize: (request: Request) => Authorization | Promise<Authorization>,
): Promise<Response | { readonly expiresAt?: Date }> {
  const answer = await authorize(request);
  if (answer === true) return {};
  if (answer === false) return refuse(request, { status: 403, reason: "not allowed" });
  if (answer instanceof Response) return new Response(answer.body, answer); // a copy: headers follow
  if (answer.expiresAt.getTime() > Date.now()) return answer;
  return refuse(request, { status: 401, reason: "the time for which this was allowed is over" });
}
