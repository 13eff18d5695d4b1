import { refuse } from "./refuse.ts";

/** An answer of `authorize`: whether the request is answered, and until when a stream stays open; a response is sent as it is. */
export type Authorization = boolean | Response | { readonly expiresAt: Date };

/** The objects that a request asks for, as `authorize` sees them. */
export interface RequestedData {
  /** The names of the collections whose objects it asks for; none for `/api`, probes, metrics, and requests that are refused anyway. */
  readonly collections: readonly string[];
  /**
   * The namespaces of these objects, of all collections together; `"all"` where it asks for all that the relay serves of one. Those of
   * a collection that is limited to some are named.
   */
  readonly namespaces: readonly string[] | "all";
}

/** Decides about a request, whose body has been read. */
export type AuthorizeRequest = (request: Request, requested: RequestedData) => Authorization | Promise<Authorization>;

/** A request that was read, and is answered once it was authorized. */
export interface RequestPlan {
  /** The objects that it asks for. */
  readonly requested: RequestedData;
  /** Answers it; a stream ends at `expiresAt`. */
  readonly answer: (expiresAt: Date | undefined) => Response | Promise<Response>;
}

/** No objects. */
const NOTHING: RequestedData = { collections: [], namespaces: [] };

/** Returns the plan of a request that asks for no objects. */
export function planWithoutData(answer: () => Response): RequestPlan {
  return { requested: NOTHING, answer };
}

/** Returns what a request asks for that asks for these, each of one collection. */
export function requestedOf(
  parts: readonly { readonly collection: string; readonly namespaces: readonly string[] | "all" }[],
): RequestedData {
  const namespaces = parts.map((part) => part.namespaces);
  return {
    collections: [...new Set(parts.map(({ collection }) => collection))],
    namespaces: namespaces.includes("all") ? "all" : [...new Set(namespaces.flat())],
  };
}

/**
 * Asks `authorize` about a request. Returns the time at which a stream ends, if there is one, or the answer to a request that is
 * refused.
 */
export async function askAuthorization(
  request: Request,
  requested: RequestedData,
  authorize: AuthorizeRequest,
): Promise<Response | { readonly expiresAt?: Date }> {
  const answer = await authorize(request, requested);
  if (answer === true) return {};
  if (answer === false) return refuse(request, { status: 403, reason: "not allowed" });
  if (answer instanceof Response) return new Response(answer.body, answer); // a copy: headers follow
  if (answer.expiresAt.getTime() > Date.now()) return answer;
  return refuse(request, { status: 401, reason: "the time for which this was allowed is over" });
}
