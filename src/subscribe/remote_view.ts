import type { ViewRequest } from "../edge/format/view_events.ts";
import { applyViewUpdate, type ViewRow, type ViewUpdate } from "../informer/view/view_update.ts";
import { type IterationFailure, PolledIterator } from "./polled_iterator.ts";

/** A view's connection to its subscription. */
export interface RemoteViewContext {
  /** Called when the view asks for something else. */
  readonly onChange: () => void;
  /** Called once, when the view has ended. */
  readonly onEnd: () => void;
}

/** A window of a collection of a relay. */
export class RemoteView<T> implements Disposable {
  readonly #context: RemoteViewContext;
  /** The iterators that have begun, and the update that each has not yet yielded. */
  readonly #readers = new Map<PolledIterator<ViewUpdate<T>>, ViewUpdate<T> | undefined>();
  #request: ViewRequest;
  #rows: ViewRow<T>[] = [];
  /** The last update; `undefined` before the first one. */
  #last: ViewUpdate<T> | undefined;
  /** Set when the view has ended. */
  #end: { readonly failure: IterationFailure | undefined } | undefined;

  /** Made by {@linkcode ViewSubscription.view}. */
  constructor(request: ViewRequest, context: RemoteViewContext) {
    this.#request = request;
    this.#context = context;
  }

  /** The objects and the window that the view asks for. */
  get request(): ViewRequest {
    return this.#request;
  }

  /** `true` once rows have come. */
  get hasSynced(): boolean {
    return this.#last !== undefined;
  }

  /** The number of rows of the view, in the window and outside of it; 0 before the first ones have come. */
  get total(): number {
    return this.#last?.total ?? 0;
  }

  /** The number of rows before those that have come. */
  get offset(): number {
    return this.#last?.offset ?? 0;
  }

  /** The rows of the window that have come last. */
  rows(): readonly ViewRow<T>[] {
    return this.#rows;
  }

  /** Asks for other objects, another order or window; what is not given stays. The rows stay until others have come. */
  replace(request: Partial<ViewRequest>): void {
    this.#request = { ...this.#request, ...request };
    this.#context.onChange();
  }

  /**
   * Returns the rows of the window, once they have come, then their changes. The iterator begins at its first `next()`, and ends with
   * the view, or at `break`. A slow reader receives all rows instead of the changes that it has missed. There is one call of `next()`
   * at a time.
   */
  changes(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<ViewUpdate<T>> {
    const reader: PolledIterator<ViewUpdate<T>> = new PolledIterator<ViewUpdate<T>>({
      poll: () => {
        const update = this.#readers.get(reader);
        if (update !== undefined) this.#readers.set(reader, undefined);
        return update;
      },
      onBegin: () => {
        if (this.#end !== undefined) return reader.end(this.#end.failure);
        this.#readers.set(reader, this.#last && this.#all(this.#last));
      },
      onEnd: () => this.#readers.delete(reader),
      signal: options.signal,
    });
    return reader;
  }

  /** Applies an update. */
  accept({ total, offset, rows, changes }: ViewUpdate<T>): void {
    const update = rows === undefined ? { total, offset, changes } : { total, offset, rows, changes };
    this.#last = update;
    this.#rows = applyViewUpdate(this.#rows, update);
    for (const [reader, pending] of this.#readers) {
      this.#readers.set(reader, pending === undefined ? update : this.#all(update));
      reader.wake();
    }
  }

  /** Ends the view. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    for (const reader of [...this.#readers.keys()]) reader.end(failure);
    this.#context.onEnd();
  }

  /** Ends the view; its rows stay as they are. */
  [Symbol.dispose](): void {
    this.end();
  }

  #all({ total, offset }: ViewUpdate<T>): ViewUpdate<T> {
    return { total, offset, rows: [...this.#rows], changes: [] };
  }
}
