/**
 * Plan, ask, answer: a request becomes a plan, `authorize` is asked about it, then the relay answers.
 *
 * {@linkcode RequestPlan} and {@linkcode askAccess} are the entry points. `rights.ts` checks what `authorize` grants.
 * This file reads no cache.
 *
 * @module
 */
import { InformerError } from "../../engine/errors/informer_error.ts";
import { refuseRequest } from "./answers.ts";
import type { ConnectionInfo, Grant, RelaySettings, RequestedData, RequestedPart } from "./options.ts";
import { checkGrant } from "./rights.ts";

/** A request that was read, and is answered once it was authorized. */
export interface RequestPlan {
  /** The objects that it asks for. */
  readonly requested: RequestedData;
  /** Answers it, by what was granted to it. */
  readonly answer: (access: Access) => Response | Promise<Response>;
}

/** No objects. */
const NOTHING: RequestedData = { collections: [], namespaces: [], parts: [], follows: false };

/** Returns the plan of a request that asks for no objects. */
export function planWithoutData(answer: RequestPlan["answer"]): RequestPlan {
  return { requested: NOTHING, answer };
}

/** Returns what a request asks for that asks for these, each of one collection, and perhaps follows them. */
export function requestedOf(parts: readonly RequestedPart[], follows: boolean): RequestedData {
  const namespaces = parts.map((part) => part.namespaces);
  return {
    collections: [...new Set(parts.map(({ collection }) => collection))],
    namespaces: namespaces.includes("all") ? "all" : [...new Set(namespaces.flat())],
    parts,
    follows,
  };
}

/** A request about which `authorize` is asked. */
interface Question {
  readonly request: Request;
  readonly requested: RequestedData;
  readonly connection: ConnectionInfo | undefined;
}

/** The rights and times that were granted to a request. */
export interface Access extends Grant {
  /** Asks again, where that is to be done. Never rejects: an error is reported, and is a refusal. */
  readonly again?: () => Promise<Response | Access>;
}

/** Asks `authorize` about a request. Returns what it grants, or the answer to a request that is refused. */
export async function askAccess(
  question: Question,
  settings: Pick<RelaySettings, "authorize" | "predicates" | "collections" | "onError">,
): Promise<Response | Access> {
  const { request, requested, connection } = question;
  const answer = settings.authorize === undefined || await settings.authorize(request, requested, connection);
  if (answer === true) return {};
  if (answer === false) return refuseRequest(request, { status: 403, reason: "not allowed" });
  if (answer instanceof Response) return new Response(answer.body, answer); // a copy: headers follow
  const { expiresAt, rights, askAgainAt } = checkGrant(answer, settings);
  if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
    return refuseRequest(request, { status: 401, reason: "your permission has expired" });
  }
  if (rights !== undefined && requested.collections.some((name) => !Object.hasOwn(rights, name))) {
    return refuseRequest(request, { status: 403, reason: "not allowed" });
  }
  if (askAgainAt === undefined) return answer;
  const { url, method, headers } = request;
  const same = new Request(url, { method, headers }); // servers forget a request that was answered
  const again = async (): Promise<Response | Access> => {
    try {
      return await askAccess({ ...question, request: same }, settings);
    } catch (cause) {
      settings.onError(new InformerError("Cannot check again whether a stream may continue", { cause }));
      return refuseRequest(same, { status: 500, reason: "the relay failed; its log has the reason" });
    }
  };
  return { ...answer, again };
}
