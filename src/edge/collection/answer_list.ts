import { eTag, ifNoneMatch } from "@std/http/etag";
import type { KubernetesObject } from "../../api/object.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import type { AcquiredInformer } from "../../informer/acquired_informer.ts";
import { stateOf } from "../format/state_of.ts";
import { listHeaders } from "../http/answer_headers.ts";
import type { OpenRequest } from "../http/open_requests.ts";
import { type Refusal, refuse } from "../http/refuse.ts";
import type { ObjectSelection } from "../objects/object_selection.ts";
import { ListBody } from "./list_body.ts";
import type { ServedCollection } from "./served_collection.ts";

/** The longest wait for the first sync of a cache. */
export interface SyncWait {
  /** The time, in milliseconds. */
  readonly syncMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode answerList}. */
export interface AnswerListOptions extends SyncWait {
  /** The request, which lasts until its answer was read. */
  readonly open: OpenRequest;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
}

/** Answers a request for the selected objects of a collection, as `RelayList` describes, or by 304 where it has them. */
export async function answerList(
  request: Request,
  collection: ServedCollection,
  selection: ObjectSelection,
  { open, stallMs, ...wait }: AnswerListOptions,
): Promise<Response> {
  const scope = await collection.scopeOf(selection);
  using informer = collection.acquire();
  const problem = await unsynced(informer, wait);
  if (problem !== undefined) return refuse(request, problem);
  const status = informer.status();
  const { resourceVersion, namespaces = [] } = status;
  const head = { name: collection.name, resourceVersion, ...stateOf(status) };
  const versions = namespaces.map((it) => it.resourceVersion);
  const etag = await eTag(JSON.stringify([scope, versions, head]), { weak: true });
  const headers = { ...listHeaders(collection.resource.kind), etag };
  if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  if (request.method === "HEAD") return new Response(null, { headers });
  const version = JSON.stringify([resourceVersion, versions, status.objects, status.events]);
  const cut = (): void => body.cut("The relay was disposed, or is short of memory, and other lists are younger");
  const reading = collection.lists.read(version, () => informer.entries.list(), cut);
  if (reading === undefined) return refuse(request, { status: 503, reason: "too many lists and views are open" });
  const onEnd = (): void => {
    reading[Symbol.dispose]();
    open.leave();
  };
  const body = new ListBody(reading.objects, { head, selection, stallMs, onEnd });
  open.keep();
  return new Response(body.stream, { headers });
}

/** Waits until the informer has synced; returns the reason if it does not. */
async function unsynced(
  informer: AcquiredInformer<KubernetesObject>,
  { syncMs, signal }: SyncWait,
): Promise<Refusal | undefined> {
  if (informer.hasSynced) return undefined;
  // Not the signal of the request: Deno warns of its use, as it aborts after a successful answer too.
  using wait = new DerivedController(signal);
  using timer = new LongTimer(() => wait.abort(new DOMException("The first sync takes too long", "TimeoutError")));
  timer.arm(syncMs);
  try {
    await informer.waitForCacheSync({ signal: wait.signal });
    return undefined;
  } catch {
    const { state } = informer.status();
    if (state === "forbidden" || state === "unauthorized" || state === "notFound") {
      return { status: 502, reason: `the API server refuses this relay (${state})` };
    }
    return { status: 503, reason: `the cache has not synced (${state})` };
  }
}
