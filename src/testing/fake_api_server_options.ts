import type { Authorize, Tokens } from "./http/access_control.ts";
import type { ResourceDefinition } from "./storage/definition.ts";

/** Options for {@linkcode FakeApiServer}. */
export interface FakeApiServerOptions {
  /** Number of writes in the watch history. Older watches and exact lists get 410. @default {10_000} */
  readonly history?: number;
  /** Resources to serve in addition to the built-in ones. @default {none} */
  readonly resources?: readonly ResourceDefinition[];
  /** Milliseconds between the bookmarks of a watch. A last one follows 2 s before the watch ends. @default {60_000} */
  readonly bookmarkMs?: number;
  /**
   * Duration in milliseconds of a watch without `timeoutSeconds`; the server picks up to twice that. @default
   * {1_800_000}
   */
  readonly watchTimeoutMs?: number;
  /** Support for streaming lists. If false, they get 422, as from servers before 1.32. @default {true} */
  readonly streamingList?: boolean;
  /** Milliseconds that a list waits for a future version before it gets 504; kube-apiserver waits 3000. @default {0} */
  readonly tooLargeDelayMs?: number;
  /** If true, writes record `managedFields`. @default {true} */
  readonly managedFields?: boolean;
  /** Maximum bytes per chunk of a response. Small values split lines and characters. @default {65_536} */
  readonly chunkBytes?: number;
  /** Seed of uids, generated names and watch durations. @default {1} */
  readonly seed?: number;
  /** Clock for creation and deletion timestamps, in milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
  /**
   * Users by bearer token. If given, unknown tokens get 401, and requests without a token are made by
   * `system:anonymous`. @default {no authentication}
   */
  readonly tokens?: Tokens;
  /** Authorizes each request: false answers 403. @default {everything is allowed, except for `system:anonymous`} */
  readonly authorize?: Authorize;
}
