import type { Abortable } from "../../api/options.ts";
import type { AddedEvent, DeletedEvent, SyncedEvent, UpdatedEvent } from "./event.ts";

/**
 * Callbacks for changes. They are called one at a time, in order; a returned promise is awaited before the next call, and any
 * other returned value is ignored. The signal aborts when the handler is removed and when the informer stops.
 *
 * - The cache shows a change before its callback is called; it may show later changes too.
 * - Handlers do not wait for each other. An error that a callback throws is reported, and the next event follows.
 * - Within a watch, events come in the order in which the server sent them, across objects.
 */
export interface ResourceEventHandler<T> {
  /** Called for an object that is new to the handler. */
  onAdd?(event: AddedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for an object that has changed, and for a resync. */
  onUpdate?(event: UpdatedEvent<T>, options: Required<Abortable>): unknown;
  /** Called for an object that was deleted. */
  onDelete?(event: DeletedEvent<T>, options: Required<Abortable>): unknown;
  /** Called once, behind all initial objects. */
  onSynced?(event: SyncedEvent, options: Required<Abortable>): unknown;
}

/** The policy for a handler that falls behind; see {@linkcode HandlerOptions.backlog}. */
export type BacklogPolicy = "keep" | "latestPerKey" | { readonly max: number };

/** Options of a handler or event stream. The signal removes the handler, or ends the stream. */
export interface HandlerOptions<T> extends Abortable {
  /** The handler's name in status and errors. @default {"handler 1", counted per informer} */
  readonly name?: string;
  /**
   * The resync period in milliseconds: all objects are delivered again as updates with `resync`; 0 or `Infinity` is never.
   *
   * @default {the informer's}
   */
  readonly resyncMs?: number;
  /**
   * Restricts the handler to objects for which it holds: one that begins to pass is added, one that no longer passes is
   * deleted. It reads, and so parses, every object; one of {@linkcode path} reads a field without parsing. An object for which
   * it throws does not pass, and the error is reported.
   */
  readonly filter?: (object: T) => boolean;
  /**
   * The policy for a handler that falls behind. `"keep"` keeps every event. `"latestPerKey"` folds the pending events of an
   * object into the fewest that lead to its state. `{ max }` ends the registration with an error when more events are
   * pending, not counting the initial ones, and the handler does not catch up in its turns.
   *
   * @default {"keep"}
   */
  readonly backlog?: BacklogPolicy;
  /** The duration, in milliseconds, after which the status calls a running call slow; `Infinity` is never. @default {1_000} */
  readonly slowMs?: number;
}

/**
 * The registration of a handler at an informer. Disposing it removes the handler and waits for the running call; from inside
 * the handler it does not wait for that call. After an `await` the informer cannot see where it is called from, and the disposal
 * rejects after `graceMs`: call {@linkcode HandlerRegistration.remove} there.
 */
export interface HandlerRegistration extends AsyncDisposable {
  /** The handler's name in status and errors. */
  readonly name: string;
  /** `true` once the handler has been called for all initial objects, and these calls have returned. */
  readonly hasSynced: boolean;
  /** The number of events that the handler has not been called for. */
  readonly pending: number;
  /**
   * Resolves once {@linkcode hasSynced}.
   *
   * @throws {WaitError} when the signal aborts, the handler is removed, or the informer stops first.
   * @throws {Error} when the handler was removed because its backlog exceeded `{ max }`.
   */
  waitForSync(options?: Abortable): Promise<void>;
  /** Removes the handler. A running call continues, with its signal aborted. May be called from inside the handler. */
  remove(): void;
}
