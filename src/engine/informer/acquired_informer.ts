/**
 * The holders of an informer that is shared while somebody needs it.
 *
 * {@linkcode AcquiredInformer} is one holder. {@linkcode Demand} counts the holders, and pauses and resumes the
 * informer. Informers are made by `shared_informer_factory.ts`.
 *
 * @module
 */
import type { KubernetesObject } from "../api/object.ts";
import type { PolledIterator } from "../async/iterate.ts";
import { LongTimer } from "../async/time.ts";
import { CacheView, type ViewOptions } from "./cache_view.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { Listener } from "./events/listener.ts";
import type { SharedInformerFactoryOptions } from "./options.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";

/**
 * A holder of a shared informer. `SharedInformerFactory.acquire()` returns it.
 *
 * When you dispose the holder, everything that you started on it ends: handlers, iterators and views. A running handler
 * call continues, with its signal aborted. {@linkcode signal} aborts, so pass it to waits on the informer. The other
 * members throw after that. A second disposal does nothing.
 */
export class AcquiredInformer<T extends KubernetesObject, Name extends string = never> implements Disposable {
  readonly #name: string;
  readonly #job = new AbortController();
  /** Aborts when you dispose the holder. Pass it to waits on {@linkcode informer}. */
  readonly signal: AbortSignal = this.#job.signal;
  /** `undefined` from the disposal on, so that a holder which is kept does not keep the cache. */
  #informer: SharedIndexInformer<T, Name> | undefined;
  readonly #release: () => void;

  /** Creates a holder. `name` appears in errors, and `release` is called at the disposal. */
  constructor(informer: SharedIndexInformer<T, Name>, name: string, release: () => void) {
    this.#informer = informer;
    this.#name = name;
    this.#release = release;
  }

  /** The informer. It runs until the disposal, or longer. After a pause it is `stale` until the watch is open. */
  get informer(): SharedIndexInformer<T, Name> {
    if (this.#informer === undefined) throw this.#disposed();
    return this.#informer;
  }

  /** Like `SharedIndexInformer.addEventHandler()`. The handler is removed with the holder. */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#bound(this.informer.addEventHandler(handler, options));
  }

  /** Like `SharedIndexInformer.events()`. The iterator ends with the holder. */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#bound(this.informer.events(options));
  }

  /** Like `SharedIndexInformer.view()`. The view ends with the holder. */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView<T>(this, options);
  }

  /** Gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#informer === undefined) return;
    this.#informer = undefined;
    this.#job.abort(this.#disposed());
    this.#release();
  }

  #disposed(): Error {
    return new DOMException(`Cannot use the informer of "${this.#name}": this holder was disposed`, "AbortError");
  }

  /** Returns what the informer has returned, a {@linkcode PolledIterator} or a {@linkcode Listener}, ended here too. */
  #bound<R>(begun: R): R {
    (begun as R & Pick<Listener<T> | PolledIterator<unknown>, "endWith">).endWith(this.signal);
    return begun;
  }
}

/**
 * The state of a {@linkcode Demand}.
 *
 * - `held`: there are holders.
 * - `idle`: there are none, for less than `idleTimeoutMs`.
 * - `paused`: there were none for `idleTimeoutMs`, and have been none since then.
 * - `over`: there were none for `cacheTtlMs` more, or the demand was ended.
 */
type DemandState = "held" | "idle" | "paused" | "over";

/** The times after which a demand pauses and forgets its informer; see `SharedInformerFactoryOptions`. */
export type DemandTimes = Required<Pick<SharedInformerFactoryOptions, "idleTimeoutMs" | "cacheTtlMs">>;

/**
 * Counts the holders of an informer, pauses and resumes it, and says when it is to be forgotten.
 *
 * | in | event | next | call |
 * | --- | --- | --- | --- |
 * | held | acquire; release, but not of the last holder | held | |
 * | held | release of the last holder | idle | |
 * | idle | acquire | held | |
 * | idle | `idleTimeoutMs` are over | paused | `pause` |
 * | paused | acquire | held | `resume` |
 * | paused | `cacheTtlMs` are over | over | `forget` |
 * | any | end | over | |
 */
export class Demand {
  readonly #informer: Pick<SharedIndexInformer<KubernetesObject>, "pause" | "resume">;
  readonly #times: DemandTimes;
  readonly #forget: () => void;
  /**
   * `#timer` is armed if and only if `state` is `idle`, from the first release on, or `paused`, and that time is
   * finite.
   */
  readonly #timer = new LongTimer(() => this.#elapsed());
  /** The number of holders: above 0 if `state` is `held`, and 0 if it is `idle` or `paused`. */
  holders = 0;
  /** The present state. */
  state: DemandState = "idle";

  /** There is no holder, and no time runs before the first one. */
  constructor(
    informer: Pick<SharedIndexInformer<KubernetesObject>, "pause" | "resume">,
    times: DemandTimes,
    forget: () => void,
  ) {
    this.#informer = informer;
    this.#times = times;
    this.#forget = forget;
  }

  /** Adds a holder, until the returned function is called. Only the first call of that counts. */
  acquire(): () => void {
    this.holders++;
    const before = this.state;
    if (before !== "over") this.#enter("held");
    if (before === "paused") this.#informer.resume();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.holders--;
      if (this.holders === 0 && this.state === "held") this.#enter("idle");
    };
  }

  /** Ends the demand: nothing is called from now on. */
  end(): void {
    this.#enter("over");
  }

  #enter(state: DemandState): void {
    const { idleTimeoutMs, cacheTtlMs } = this.#times;
    this.state = state;
    this.#timer.arm(state === "idle" ? idleTimeoutMs : state === "paused" ? cacheTtlMs : Infinity);
  }

  #elapsed(): void {
    if (this.state === "idle") {
      this.#enter("paused");
      this.#informer.pause();
    } else if (this.state === "paused") {
      this.#enter("over");
      this.#forget();
    }
  }
}
