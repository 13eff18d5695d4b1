export { WorkQueue, type WorkQueueAddOptions, type WorkQueueOptions } from "./work_queue.ts";
export type { Cause } from "./run.ts";
export type { WorkItem } from "./run.ts";
export type { WorkContext, WorkFunction, WorkQueueRunOptions } from "./run.ts";
export { requeueAfter, type Result, retry } from "./run.ts";
export type { Durations } from "../async/time.ts";
export type { RunningKey, WorkQueueStatus } from "./work_queue.ts";
export {
  defaultRateLimiter,
  exponentialBackoff,
  type ExponentialBackoffOptions,
  fastSlow,
  type FastSlowOptions,
  maxOf,
  type RateLimiter,
  tokenBucket,
  type TokenBucketOptions,
  withMaxWait,
} from "./rate_limiter.ts";

/** A queue of keys for workers, with delays and rate limits; see `work_queue.ts`. */
