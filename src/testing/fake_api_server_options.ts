import type { Authorize, Tokens } from "./http/access_control.ts";
import type { ResourceDefinition } from "./storage/definition.ts";

/** How a fake API server behaves. */
export interface FakeApiServerOptions {
  /** How many writes it remembers: how far back watches and exact lists reach before they get 410. @default {10_000} */
  readonly history?: number;
  /** More resources to serve, beside those of Kubernetes that it knows. @default {none} */
  readonly resources?: readonly ResourceDefinition[];
  /** Milliseconds between the bookmarks of a watch. Another one comes 2 s before the end of a watch. @default {60_000} */
  readonly bookmarkMs?: number;
  /** Milliseconds that a watch lasts that names no `timeoutSeconds`, and up to twice that. @default {1_800_000} */
  readonly watchTimeoutMs?: number;
  /** Whether there are streaming lists; without, they get 422, as from servers before 1.32. @default {true} */
  readonly streamingList?: boolean;
  /** Milliseconds that a list waits for a version of the future before 504; the real server waits 3000. @default {0} */
  readonly tooLargeDelayMs?: number;
  /** Whether writes leave `managedFields`. @default {true} */
  readonly managedFields?: boolean;
  /** Most bytes to a chunk of an answer. Small ones cut inside lines and characters. @default {65_536} */
  readonly chunkBytes?: number;
  /** Where uids, generated names and the length of watches come from: the same seed, the same ones. @default {1} */
  readonly seed?: number;
  /** The time, in milliseconds since 1970, for creation and deletion times. @default {Date.now} */
  readonly now?: () => number;
  /**
   * Which user a bearer token belongs to. With it, unknown tokens get 401, and requests without a token come from
   * `system:anonymous`. @default {everybody is let in}
   */
  readonly tokens?: Tokens;
  /** Decides about each request: false is 403. @default {everybody but `system:anonymous` may do everything} */
  readonly authorize?: Authorize;
}
