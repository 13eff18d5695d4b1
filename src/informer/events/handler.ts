import type { Abortable } from "../../api/options.ts";
import type { BacklogPolicy } from "./backlog.ts";
import type { AddedEvent, DeletedEvent, SyncedEvent, UpdatedEvent } from "./event.ts";

/**
 * Told of changes one at a time, in order; a returned promise is awaited before the next. The signal aborts on removal and
 * shutdown.
 *
 * - The cache already shows a change when a handler hears of it; it may show later ones too.
 * - Handlers do not wait for each other. What one throws is reported, and it goes on with the next event.
 * - Order holds per object; between objects of one batch it is the order in which the server first told of them.
 */
export interface ResourceEventHandler<T> {
  /** An object is there. */
  onAdd?(event: AddedEvent<T>, options: Required<Abortable>): void | Promise<void>;
  /** An object has changed. */
  onUpdate?(event: UpdatedEvent<T>, options: Required<Abortable>): void | Promise<void>;
  /** An object is gone. */
  onDelete?(event: DeletedEvent<T>, options: Required<Abortable>): void | Promise<void>;
  /** All that was there at first has been told. */
  onSynced?(event: SyncedEvent, options: Required<Abortable>): void | Promise<void>;
}

/** How a handler is told. */
export interface HandlerOptions<T> extends Abortable {
  /** What it is called in the status and in errors. @default {"handler 1", counted per informer} */
  readonly name?: string;
  /** How often it is told all objects again, as updates with `resync`; 0 or `Infinity` is never. @default {the informer's} */
  readonly resyncMs?: number;
  /**
   * Tells only of objects for which it holds: one that begins to pass is told as added, one that ceases to as deleted.
   * Reads, and so parses, every object. An object for which it throws does not pass, and the error is reported.
   */
  readonly filter?: (object: T) => boolean;
  /**
   * What happens when the handler falls behind. `"latestPerKey"` folds what is still to be told of an object into the
   * least that tells its state; `{ max }` ends the registration with an error when more events wait, not counting those
   * that were there at first, and the handler's turns do not make them fewer. @default {"keep"}
   */
  readonly backlog?: BacklogPolicy;
  /** After how long a call counts as slow in the status, in milliseconds; `Infinity` is never. @default {1_000} */
  readonly slowMs?: number;
}

/**
 * A handler's place in an informer. Disposing it removes the handler and waits for the call in progress; from inside the
 * handler it does not wait for that call. Behind an `await` of the handler that cannot be known, and the disposal rejects
 * after `graceMs`: call {@linkcode HandlerRegistration.remove} there.
 */
export interface HandlerRegistration extends AsyncDisposable {
  /** What it is called. */
  readonly name: string;
  /** Whether the handler has returned from being told of all that was there at first. */
  readonly hasSynced: boolean;
  /** How many events it has still to be told. */
  readonly pending: number;
  /** Resolves once {@linkcode hasSynced}; rejects when the handler is removed or the informer stops before that. */
  waitForSync(options?: Abortable): Promise<void>;
  /** Nothing new will be told; a call in progress goes on, with its signal aborted. May be called from inside the handler. */
  remove(): void;
}
