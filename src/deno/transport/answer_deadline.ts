import { LongTimer } from "../../async/time/long_timer.ts";

/**
 * Long-running requests, whose response may begin late (apiserver `longRunningRequestCheck`: the verb `proxy`, and
 * these subresources).
 */
const LONG = /\/(?:attach|exec|portforward|log)$|\/proxy(?:\/|$)/;

/**
 * Aborts a request whose response does not begin in time. After that, only the request's own signal aborts it. Call
 * {@linkcode AnswerDeadline.stop} when the response has begun or failed.
 */
export class AnswerDeadline {
  readonly #controller = new AbortController();
  /** Armed from construction until it fires or {@linkcode AnswerDeadline.stop}; `undefined` without a time limit. */
  #timer: LongTimer | undefined;

  /** Starts the timer, unless `ms` is 0 or `Infinity`, or the request is long-running. */
  constructor(request: Request, ms: number) {
    const { signal } = request;
    const stop = (): void => this.#controller.abort(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const { url } = request;
    // Behind "https://" and the host; parsing the URL would cost more than the timer.
    const path = url.slice(url.indexOf("/", 8)).split("?", 1)[0];
    if (ms === 0 || LONG.test(path)) return;
    this.#timer = new LongTimer(() => this.#controller.abort(new TypeError(`no answer within ${ms / 1_000} s`)));
    this.#timer.arm(ms);
  }

  /** Aborts with the request's signal, or when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops the timer. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
  }
}
