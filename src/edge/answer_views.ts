import { LongTimer } from "../async/time/long_timer.ts";
import type { ViewHub } from "./view_hub.ts";
import type { ViewSelection } from "./view_selection.ts";

/** The longest body of a request, in bytes. */
const MAX_BODY = 16_384;

/** The paths of views: all streams, or one of them. */
const VIEWS = /^\/views(?:\/([\w-]+))?$/;

/** A relay, as far as requests for views need it. */
export interface ViewAnswers {
  /** The views. */
  readonly hub: ViewHub;
  /** The time at which a stream ends; `undefined` if it does not. */
  readonly expiresAt: Date | undefined;
  /** The headers of all answers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Counts the request as a stream, until the returned function is called. */
  readonly keep: () => () => void;
  /** Answers with a reason. */
  readonly refuse: (status: number, reason: string, headers?: Readonly<Record<string, string>>) => Response;
}

/** Answers a request whose path is one of views, as `ViewRequest` describes; `undefined` for other paths. */
export async function answerViews(request: Request, answers: ViewAnswers): Promise<Response | undefined> {
  const { hub, headers, refuse } = answers;
  const { pathname, searchParams } = new URL(request.url);
  const match = VIEWS.exec(pathname);
  if (match === null) return undefined;
  const id: string | undefined = match[1];
  const method = id === undefined ? "GET" : "POST";
  if (request.method !== method) return refuse(405, `use ${method}`, { allow: method });
  let selections: ReadonlyMap<string, ViewSelection>;
  try {
    const text = id === undefined ? searchParams.get("views") ?? "{}" : await shortText(request);
    if (text === undefined) return refuse(413, `the body is longer than ${MAX_BODY} bytes`);
    selections = hub.parse(text);
  } catch (error) {
    return refuse(400, (error as Error).message);
  }
  if (id === undefined) return openStream(selections, answers);
  if (hub.replace(id, selections)) return new Response(null, { status: 204, headers });
  return refuse(404, "found no stream of that name; open another one");
}

function openStream(
  selections: ReadonlyMap<string, ViewSelection>,
  { hub, expiresAt, headers, keep }: ViewAnswers,
): Response {
  const leave = keep();
  const expiry = new LongTimer(() => stream.end("expired"));
  const stream = hub.open(selections, () => {
    leave();
    expiry[Symbol.dispose]();
  });
  if (expiresAt !== undefined) expiry.arm(expiresAt.getTime() - Date.now());
  return new Response(stream.body, {
    headers: { ...headers, "content-type": "text/event-stream", "x-accel-buffering": "no" },
  });
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
