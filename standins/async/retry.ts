import { delay } from "./delay.ts";

/** Every attempt failed; `cause` is what the last one threw. */
export class RetryError extends Error {
  /** An error about `attempts` attempts, the last of which failed with `cause`. */
  constructor(cause: unknown, attempts: number) {
    super(`Retrying exceeded the maxAttempts (${attempts}).`, { cause });
    this.name = "RetryError";
  }
}

/** Options of {@linkcode retry}. */
export interface RetryOptions {
  /** By how much the wait grows from attempt to attempt. @default {2} */
  multiplier?: number;
  /** The longest wait between two attempts, in milliseconds. @default {60000} */
  maxTimeout?: number;
  /** How many attempts there are at most. @default {5} */
  maxAttempts?: number;
  /** The first wait, in milliseconds. @default {1000} */
  minTimeout?: number;
  /** The share of each wait that is random: 0 is none of it, 1 all. @default {1} */
  jitter?: number;
  /** Whether there is any sense in another attempt after this error. @default {() => true} */
  isRetriable?: (err: unknown) => boolean;
  /** Ends the attempts and the waits between them: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Calls `fn` until it succeeds, at most `maxAttempts` times, and waits longer from attempt to attempt.
 *
 * An error that is not retriable is thrown as it is.
 *
 * @throws {RetryError} when the last attempt has failed.
 * @throws {RangeError} when an option makes no sense.
 */
export async function retry<T>(fn: (() => Promise<T>) | (() => T), options: RetryOptions = {}): Promise<T> {
  const { multiplier = 2, maxTimeout = 60_000, maxAttempts = 5, minTimeout = 1_000, jitter = 1 } = options;
  const { isRetriable = () => true, signal } = options;
  demand(Number.isInteger(maxAttempts) && maxAttempts >= 1, "maxAttempts", "a positive integer", maxAttempts);
  demand(Number.isFinite(multiplier) && multiplier >= 1, "multiplier", "a finite number >= 1", multiplier);
  demand(maxTimeout > 0, "maxTimeout", "a positive number", maxTimeout);
  demand(minTimeout >= 0, "minTimeout", ">= 0", minTimeout);
  demand(minTimeout <= maxTimeout, "minTimeout", `<= 'maxTimeout' (${maxTimeout})`, minTimeout);
  demand(jitter >= 0 && jitter <= 1, "jitter", "between 0 and 1", jitter);

  for (let attempt = 0;; attempt++) {
    signal?.throwIfAborted();
    try {
      return await fn();
    } catch (error) {
      if (!isRetriable(error)) throw error;
      if (attempt + 1 >= maxAttempts) throw new RetryError(error, maxAttempts);
    }
    const longest = Math.min(maxTimeout, minTimeout * multiplier ** attempt);
    await delay((1 - jitter * Math.random()) * longest, signal && { signal });
  }
}

function demand(holds: boolean, name: string, wanted: string, value: number): void {
  if (!holds) throw new RangeError(`Cannot retry as '${name}' must be ${wanted}: current value is ${value}`);
}
