import { LongTimer } from "../../async/time/long_timer.ts";

/**
 * What the API server lets last: these may have nothing to say for a long time, not even that they have begun (apiserver
 * `longRunningRequestCheck`: the verb `proxy`, and these subresources).
 */
const LONG = /\/(?:attach|exec|portforward|log)$|\/proxy(?:\/|$)/;

/**
 * Ends a request whose answer does not begin in time. Once it has begun, only the request's own signal can end it.
 * {@linkcode stop} must be called when the wait is over, however it ended.
 */
export class AnswerDeadline {
  readonly #controller = new AbortController();
  #timer: LongTimer | undefined;

  /** Starts the clock, unless `ms` is 0 or `Infinity`, or the request may well have nothing to say for longer. */
  constructor(request: Request, ms: number) {
    const { signal } = request;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const url = new URL(request.url);
    if (ms === 0 || LONG.test(url.pathname)) return;
    this.#timer = new LongTimer(() => this.#controller.abort(new TypeError(`no answer within ${ms / 1_000} s`)));
    this.#timer.arm(ms);
  }

  /** Aborts when the request's signal does, or when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The wait is over. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
  }
}
