import type { WatchHealth } from "./open_watches.ts";

/** A request to the API server, without what all requests of a client have in common. */
export interface RequestSpec {
  /** The request in words that follow "Cannot" in messages: `list "pods" in namespace "shop"`. */
  readonly action: string;
  /** Path and query, relative to the server's address; begins with a slash. */
  readonly path: string;
  /** The resource, `"crontabs.stable.example.com"`, if the request is about one. */
  readonly resource?: string;
  /** Method, headers and body. */
  readonly init: RequestInit;
  /** The longest time for the request, its retries and its answer, in milliseconds. @default {no limit} */
  readonly timeoutMs?: number;
  /** True if the client waits and retries when the server answers with `Retry-After`. */
  readonly patient: boolean;
  /** The watch that it opens. @default {it is no watch, or one that nobody renews} */
  readonly watch?: WatchHealth;
}
