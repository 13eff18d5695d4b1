type Outcome<R> = { readonly value: R } | { readonly error: unknown };

/**
 * Calls `iteratorFn` for every item, at most `poolLimit` calls at a time, and yields the results in the order of the
 * items. The work begins at once, not with the first `next()`.
 *
 * After a failure no call begins any more; those under way end and their results are still yielded. Then the iteration
 * throws an `AggregateError` of all failures. Leaving the iteration early begins no further call either.
 *
 * @throws {RangeError} when `poolLimit` is not a positive integer.
 */
export function pooledMap<T, R>(
  poolLimit: number,
  array: Iterable<T> | AsyncIterable<T>,
  iteratorFn: (data: T) => Promise<R>,
): AsyncIterableIterator<R> {
  if (!Number.isInteger(poolLimit) || poolLimit < 1) {
    throw new RangeError("'poolLimit' must be a positive integer");
  }
  const pool = new Pool(poolLimit, iteratorFn);
  const filled = pool.fill(array);
  return pool.results(filled);
}

class Pool<T, R> {
  readonly #limit: number;
  readonly #map: (data: T) => Promise<R>;
  /** What was started, in order, and not yet yielded. */
  readonly #outcomes: Promise<Outcome<R>>[] = [];
  readonly #running: Set<Promise<Outcome<R>>> = new Set();
  readonly #errors: unknown[] = [];
  #sourceError: { readonly cause: unknown } | undefined;
  #stopped = false;
  #started: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(limit: number, map: (data: T) => Promise<R>) {
    this.#limit = limit;
    this.#map = map;
  }

  /** Starts a call for every item as places get free; never rejects. */
  async fill(items: Iterable<T> | AsyncIterable<T>): Promise<void> {
    try {
      for await (const item of items) {
        if (this.#over) break;
        this.#start(item);
        if (this.#running.size >= this.#limit) await Promise.race(this.#running);
        if (this.#over) break;
      }
    } catch (cause) {
      this.#sourceError = { cause };
    }
    await Promise.all(this.#running);
  }

  async *results(filled: Promise<void>): AsyncGenerator<R> {
    let ended = false;
    const end = filled.then(() => {
      ended = true;
    });
    try {
      while (true) {
        const next = this.#outcomes.shift();
        if (next !== undefined) {
          const outcome = await next;
          if ("value" in outcome) yield outcome.value;
        } else if (ended) break;
        else await Promise.race([end, this.#started.promise]);
      }
    } finally {
      this.#stopped = true;
    }
    if (this.#errors.length > 0 || this.#sourceError !== undefined) {
      const message = "Cannot complete the mapping as an error was thrown from an item";
      throw new AggregateError(this.#errors, message, this.#sourceError);
    }
  }

  get #over(): boolean {
    return this.#stopped || this.#errors.length > 0;
  }

  #start(item: T): void {
    const outcome = this.#call(item);
    this.#running.add(outcome);
    this.#outcomes.push(outcome);
    outcome.finally(() => this.#running.delete(outcome));
    this.#started.resolve();
    this.#started = Promise.withResolvers();
  }

  async #call(item: T): Promise<Outcome<R>> {
    try {
      return { value: await this.#map(item) };
    } catch (error) {
      this.#errors.push(error);
      return { error };
    }
  }
}
