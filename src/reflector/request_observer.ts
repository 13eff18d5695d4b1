import type { Selection } from "../api/options.ts";
import type { Resource } from "../api/resource.ts";

/** A list or watch that a reflector begins. */
export interface ReflectorRequest {
  /** A list in pages, a list over the watch (a streaming list), or a watch. */
  readonly type: "pages" | "stream" | "watch";
  /** The list is not older than this version; the watch delivers changes after it. `""`: the newest state. */
  readonly resourceVersion: string;
  /** The resource, where the source names it; that of a client does. */
  readonly resource?: Resource;
  /** The part of the collection, where the source names it. */
  readonly selection?: Selection;
}

/** The end of a list, page or watch. */
export interface RequestEnd {
  /** `"listed"`: a list or page is complete; `"ended"`: the server ended the watch; `"relist"`: a list was asked for. */
  readonly outcome: "listed" | "ended" | "failed" | "relist" | "paused" | "stopped";
  /** The number of objects that a list or page had. */
  readonly objects?: number;
  /** The number of changes that a watch delivered. */
  readonly events?: number;
  /** The error, of a failure. */
  readonly error?: unknown;
}

/** Observes one request. Its methods must not throw: their errors are failures of the request, or end the run of the reflector. */
export interface RequestObserver {
  /** Calls `send` once, and returns its result. `send` sends the request; what follows the answer runs outside of the call. */
  send<R>(send: () => R): R;
  /** Called for each chunk of the answer, with the time that decoding it took, in milliseconds; by the client of this package. */
  decoded(ms: number): void;
  /** Called once, at the end. */
  ended(end: RequestEnd): void;
}

/**
 * Observes a list or watch of a reflector. Of a list in pages each page is a request, with an observer of its own. A watch after
 * a streaming list reads on from the same response: then nothing is sent.
 */
export interface ListWatchObserver extends RequestObserver {
  /** Called when a page of a list is requested. The next page may be requested before this one has ended. */
  page(): RequestObserver;
  /** Called when a list has been committed to the store, with the time that the commit took, in milliseconds. */
  committed(ms: number): void;
}

/** Called when a list or watch begins. Returns its observer; `undefined` for one that is not observed. */
export type ObserveRequest = (request: ReflectorRequest) => ListWatchObserver | undefined;
