/** A queue of keys for workers, with delays and rate limits; see `work_queue.ts`. */
export { WorkQueue, type WorkQueueAddOptions, type WorkQueueOptions } from "./work_queue.ts";
export type { Cause } from "./cause.ts";
export type { WorkItem } from "./work_item.ts";
export type { WorkContext, WorkFunction, WorkQueueRunOptions } from "./run.ts";
export { requeueAfter, type Result, retry } from "./result.ts";
export type { Durations, RunningKey, WorkQueueStatus } from "./status.ts";
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
