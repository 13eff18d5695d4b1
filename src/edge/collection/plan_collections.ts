import { accepts } from "@std/http/negotiation";
import type { CollectionList } from "../format/view_events.ts";
import { ANSWER_HEADERS, STREAM_HEADERS } from "../http/answer_headers.ts";
import { planWithoutData, requestedOf, type RequestPlan } from "../http/authorization.ts";
import { streamResponse } from "../http/stream_response.ts";
import { type Refusal, refuse } from "../http/refuse.ts";
import { ObjectSelection } from "../objects/object_selection.ts";
import { answerList, type AnswerListOptions } from "./answer_list.ts";
import type { ServedCollection } from "./served_collection.ts";

/** The paths of collections: the objects as JSON, or as events. */
const COLLECTION = /^\/(api|events)\/([^/]+)$/;

/** Options of {@linkcode planCollections}; the signal aborts when the relay is disposed. */
export interface PlanCollectionsOptions extends AnswerListOptions {
  /** The collections by their names. */
  readonly collections: ReadonlyMap<string, ServedCollection>;
}

/**
 * Reads a request whose path is `/api`, `/api/<name>` or `/events/<name>`, which is answered as `RelayEvents` describes; `undefined` for
 * other paths.
 */
export function planCollections(request: Request, options: PlanCollectionsOptions): RequestPlan | undefined {
  const { collections } = options;
  const refused = (refusal: Refusal, more?: Record<string, string>): RequestPlan =>
    planWithoutData(() => refuse(request, refusal, more));
  const { pathname, searchParams } = new URL(request.url);
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (pathname === "/api" && isRead) {
    return planWithoutData(() => {
      const body = request.method === "HEAD" ? null : JSON.stringify(listOf(collections));
      return new Response(body, { headers: { ...ANSWER_HEADERS, "content-type": "application/json" } });
    });
  }
  const match = COLLECTION.exec(pathname);
  if (match === null) return undefined;
  const [, route, name] = match;
  const collection = collections.get(name);
  if (collection === undefined) {
    const names = [...collections.keys()].join(", ");
    return refused({ status: 404, reason: `found no collection of that name, expected one of ${names}` });
  }
  if (!isRead) {
    return refused({ status: 405, reason: "use GET" }, { allow: "GET, HEAD" });
  }
  const isList = route === "api";
  const type = isList ? "application/json" : "text/event-stream";
  if (accepts(request, type) === undefined) return refused({ status: 406, reason: `expected ${type}` });
  let selection: ObjectSelection;
  try {
    selection = ObjectSelection.parse(searchParams, isList ? [] : ["lastEventId"]);
  } catch (error) {
    return refused({ status: 400, reason: (error as Error).message });
  }
  return {
    requested: requestedOf([{ collection: name, namespaces: collection.namespacesOf(selection) }]),
    answer: (expiresAt) => {
      if (isList) return answerList(request, collection, selection, options);
      if (request.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS });
      return answerEvents(request, collection, selection, { ...options, expiresAt });
    },
  };
}

async function answerEvents(
  request: Request,
  collection: ServedCollection,
  selection: ObjectSelection,
  options: PlanCollectionsOptions & { readonly expiresAt: Date | undefined },
): Promise<Response> {
  const scope = await collection.scopeOf(selection);
  if (options.signal.aborted) return refuse(request, { status: 503, reason: "the relay was stopped" });
  const id = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("lastEventId");
  const lastEventId = id || undefined;
  return streamResponse((onEnd) => collection.openStream({ selection, scope, lastEventId, onEnd }), options);
}

function listOf(collections: ReadonlyMap<string, ServedCollection>): CollectionList {
  return {
    collections: [...collections].map(([name, { resource: { kind, scope, representation } }]) => {
      return { name, kind, scope, isTable: representation === "table" };
    }),
  };
}
