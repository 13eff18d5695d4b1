import { LongTimer } from "../../async/time/long_timer.ts";
import { ANSWER_HEADERS } from "../http/answer_headers.ts";
import { planWithoutData, requestedOf, type RequestPlan } from "../http/authorization.ts";
import type { OpenRequest } from "../http/open_requests.ts";
import { type Refusal, refuse } from "../http/refuse.ts";
import { streamResponse } from "../http/stream_response.ts";
import { TooManyViewsError, type ViewHub } from "./view_hub.ts";
import type { ViewSelection } from "./view_selection.ts";

/** The longest body of a request, in bytes. */
const MAX_BODY = 16_384;

/** The time within which a body comes, in milliseconds. */
const BODY_MS = 5_000;

/** The paths of views: all streams, or one of them. */
const VIEWS = /^\/views(?:\/([\w-]+))?$/;

/** Options of {@linkcode planViews}. */
export interface PlanViewsOptions {
  /** The views. */
  readonly hub: ViewHub;
  /** The request, which lasts as long as its stream. */
  readonly open: OpenRequest;
}

/** Reads a request whose path is one of views, which is answered as `ViewEvents` describes; `undefined` for other paths. */
export async function planViews(request: Request, { hub, open }: PlanViewsOptions): Promise<RequestPlan | undefined> {
  const { pathname, searchParams } = new URL(request.url);
  const match = VIEWS.exec(pathname);
  if (match === null) return undefined;
  const id: string | undefined = match[1];
  const method = id === undefined ? "GET" : "POST";
  const refused = (refusal: Refusal, more?: Record<string, string>): RequestPlan =>
    planWithoutData(() => refuse(request, refusal, more));
  const unknown = { status: 404, reason: "found no stream of that name; open another one" };
  if (request.method !== method) return refused({ status: 405, reason: `use ${method}` }, { allow: method });
  if (id !== undefined && !hub.has(id)) return refused(unknown);
  let selections: ReadonlyMap<string, ViewSelection>;
  try {
    const text = id === undefined ? searchParams.get("views") ?? "{}" : await shortText(request);
    if (typeof text !== "string") return refused(text);
    selections = hub.parse(text);
  } catch (error) {
    return refused({ status: 400, reason: (error as Error).message });
  }
  return {
    requested: requestedOf([...selections.values()].map((selection) => {
      return { collection: selection.of, namespaces: hub.namespacesOf(selection) };
    })),
    answer: (expiresAt) => {
      try {
        if (id === undefined) return streamResponse((onEnd) => hub.open(selections, onEnd), { open, expiresAt });
        if (!hub.replace(id, selections, expiresAt)) return refuse(request, unknown);
        return new Response(null, { status: 204, headers: ANSWER_HEADERS });
      } catch (error) {
        if (error instanceof TooManyViewsError) return refuse(request, { status: 503, reason: error.message });
        throw error;
      }
    },
  };
}

/** Returns the body of a request as text, or the reason why it is not read to its end. */
async function shortText({ body }: Request): Promise<string | Refusal> {
  if (body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  const reader = body.getReader();
  let isLate = false;
  const late = new LongTimer(() => {
    isLate = true;
    reader.cancel().catch(() => {}); // the read rejects with the same error
  });
  late.arm(BODY_MS);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > MAX_BODY) return { status: 413, reason: `the body is longer than ${MAX_BODY} bytes` };
      text += decoder.decode(part.value, { stream: true });
    }
    return isLate ? { status: 408, reason: `the body took longer than ${BODY_MS / 1_000} s` } : text + decoder.decode();
  } finally {
    late[Symbol.dispose]();
    reader.releaseLock();
  }
}
