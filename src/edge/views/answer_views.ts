import { ANSWER_HEADERS } from "../http/answer_headers.ts";
import { streamResponse, type StreamResponseOptions } from "../http/stream_response.ts";
import { refuse } from "../http/refuse.ts";
import type { ViewHub } from "./view_hub.ts";
import type { ViewSelection } from "./view_selection.ts";

/** The longest body of a request, in bytes. */
const MAX_BODY = 16_384;

/** The paths of views: all streams, or one of them. */
const VIEWS = /^\/views(?:\/([\w-]+))?$/;

/** Options of {@linkcode answerViews}. */
export interface AnswerViewsOptions extends StreamResponseOptions {
  /** The views. */
  readonly hub: ViewHub;
}

/** Answers a request whose path is one of views, as `ViewEvents` describes; `undefined` for other paths. */
export async function answerViews(request: Request, options: AnswerViewsOptions): Promise<Response | undefined> {
  const { hub } = options;
  const { pathname, searchParams } = new URL(request.url);
  const match = VIEWS.exec(pathname);
  if (match === null) return undefined;
  const id: string | undefined = match[1];
  const method = id === undefined ? "GET" : "POST";
  if (request.method !== method) {
    return refuse(request, { status: 405, reason: `use ${method}` }, { allow: method });
  }
  let selections: ReadonlyMap<string, ViewSelection>;
  try {
    const text = id === undefined ? searchParams.get("views") ?? "{}" : await shortText(request);
    if (text === undefined) {
      return refuse(request, { status: 413, reason: `the body is longer than ${MAX_BODY} bytes` });
    }
    selections = hub.parse(text);
  } catch (error) {
    return refuse(request, { status: 400, reason: (error as Error).message });
  }
  if (id === undefined) return streamResponse((onEnd) => hub.open(selections, onEnd), options);
  if (hub.replace(id, selections)) return new Response(null, { status: 204, headers: ANSWER_HEADERS });
  return refuse(request, { status: 404, reason: "found no stream of that name; open another one" });
}

/** Returns the body of a request as text; `undefined` if it is too long. */
async function shortText(request: Request): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
