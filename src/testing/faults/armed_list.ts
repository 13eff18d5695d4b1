import type { RecordedRequest } from "../http/recorded_request.ts";

/** Selects the requests that a fault applies to. */
export type RequestFilter = (request: RecordedRequest) => boolean;

interface Armed<T> {
  readonly filter: RequestFilter | undefined;
  readonly value: T;
  left: number;
}

/** A list of values that are armed for future requests. */
export class ArmedList<T> {
  readonly #armed: Armed<T>[] = [];

  /** Arms `value` for the next `times` requests that match the filter. Returns a function that disarms what is left. */
  arm(value: T, times: number, filter?: RequestFilter): () => void {
    if (!(times >= 1)) throw new RangeError(`Cannot arm a fault: times must be at least 1, found ${times}`);
    const armed: Armed<T> = { filter, value, left: times };
    this.#armed.push(armed);
    return () => this.#remove(armed);
  }

  /** Returns the value for a request and uses it up; if several match, the one armed first. */
  take(request: RecordedRequest): T | undefined {
    const armed = this.#armed.find(({ filter }) => filter === undefined || filter(request));
    if (armed === undefined) return undefined;
    if (--armed.left <= 0) this.#remove(armed);
    return armed.value;
  }

  #remove(armed: Armed<T>): void {
    const place = this.#armed.indexOf(armed);
    if (place >= 0) this.#armed.splice(place, 1);
  }
}
