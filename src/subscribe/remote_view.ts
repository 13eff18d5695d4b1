import type { ViewRequest } from "../edge/format/view_events.ts";
import { applyViewUpdate, type ViewRow, type ViewUpdate } from "../informer/view/view_update.ts";
import { type IterationFailure, PolledIterator } from "../async/polled_iterator.ts";

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
  /** Has a reader if and only if it has begun and not ended. */
  readonly #readers = new Set<UpdateReader<T>>();
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
   * the view, when a signal aborts, or at `break`; `next()` rejects with the reason why the subscription has failed. A slow reader
   * receives all rows instead of the changes that it has missed.
   */
  changes(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<ViewUpdate<T>> {
    return new UpdateReader<T>(options.signal, this.#readers, (reader) => {
      if (this.#end === undefined) reader.update = this.#last && this.#all(this.#last);
      else reader.end(this.#end.failure);
    });
  }

  /** Applies an update. */
  accept({ total, offset, rows, changes }: ViewUpdate<T>): void {
    const update = rows === undefined ? { total, offset, changes } : { total, offset, rows, changes };
    this.#last = update;
    this.#rows = applyViewUpdate(this.#rows, update);
    for (const reader of this.#readers) {
      reader.update = reader.update === undefined ? update : this.#all(update);
      reader.wake();
    }
  }

  /** Ends the view. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    for (const reader of this.#readers) reader.end(failure);
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

/** An iterator over the updates of a view. */
class UpdateReader<T> extends PolledIterator<ViewUpdate<T>> {
  /** The update that it has not yielded. */
  update: ViewUpdate<T> | undefined;
  readonly #readers: Set<UpdateReader<T>>;
  readonly #onBegin: (reader: UpdateReader<T>) => void;

  constructor(
    signal: AbortSignal | undefined,
    readers: Set<UpdateReader<T>>,
    onBegin: (reader: UpdateReader<T>) => void,
  ) {
    super(signal);
    this.#readers = readers;
    this.#onBegin = onBegin;
  }

  protected override poll(): ViewUpdate<T> | undefined {
    const { update } = this;
    this.update = undefined;
    return update;
  }

  protected override begin(): void {
    this.#readers.add(this);
    this.#onBegin(this);
  }

  protected override finish(): void {
    this.#readers.delete(this);
  }
}
