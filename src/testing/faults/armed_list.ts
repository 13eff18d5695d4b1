import type { RecordedRequest } from "../http/recorded_request.ts";

/** Which requests something is meant for. */
export type RequestFilter = (request: RecordedRequest) => boolean;

interface Armed<T> {
  readonly filter: RequestFilter | undefined;
  readonly value: T;
  left: number;
}

/** Things that wait for the requests they are meant for. */
export class ArmedList<T> {
  readonly #armed: Armed<T>[] = [];

  /** The next `times` requests that the filter takes get `value`. Returns what takes back what is left of that. */
  arm(value: T, times: number, filter?: RequestFilter): () => void {
    if (!(times >= 1)) throw new RangeError(`Cannot arm a fault: times must be at least 1, found ${times}`);
    const armed: Armed<T> = { filter, value, left: times };
    this.#armed.push(armed);
    return () => this.#remove(armed);
  }

  /** What is meant for a request; of several that fit, what was armed first. */
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
