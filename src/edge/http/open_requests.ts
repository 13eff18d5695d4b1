/** A request that is being answered: until its disposal, or, if its answer is a stream, until that ends. */
export class OpenRequest implements Disposable {
  readonly #onEnd: () => void;
  #isKept = false;
  #isOver = false;

  /** `onEnd` is called once. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Lets the disposal end nothing: the answer is a stream, whose end calls {@linkcode leave}. */
  keep(): void {
    this.#isKept = true;
  }

  /** Ends, as no more is sent. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }

  /** Ends, unless the answer is a stream. */
  [Symbol.dispose](): void {
    if (!this.#isKept) this.leave();
  }
}

/** Counts the requests that are being answered, open streams included. */
export class OpenRequests {
  /** The largest number of them. */
  readonly limit: number;
  #size = 0;

  /** None so far. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** The number of requests that are being answered. */
  get size(): number {
    return this.#size;
  }

  /** Counts a request until it is over; `undefined` where there are too many already. */
  admit(): OpenRequest | undefined {
    if (this.#size >= this.limit) return undefined;
    this.#size++;
    return new OpenRequest(() => this.#size--);
  }
}
