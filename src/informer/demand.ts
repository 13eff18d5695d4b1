import { LongTimer } from "../async/time/long_timer.ts";

/**
 * The state of a {@linkcode Demand}.
 *
 * - `held`: there are holders.
 * - `idle`: there are none, for less than `idleMs`.
 * - `paused`: there were none for `idleMs`, and have been none since then.
 * - `over`: there were none for `forgetMs` more, or the demand was ended.
 */
export type DemandState = "held" | "idle" | "paused" | "over";

/** Options for a {@linkcode Demand}. */
export interface DemandOptions {
  /** The time from the last holder's release to `onPause`, in milliseconds; `Infinity` is never. */
  readonly idleMs: number;
  /** The time from `onPause` to `onForget`, in milliseconds; `Infinity` is never. */
  readonly forgetMs: number;
  /** Called when nobody has held for `idleMs`. */
  readonly onPause: () => void;
  /** Called when somebody holds again after `onPause`. */
  readonly onResume: () => void;
  /** Called once, when nobody has held for `forgetMs` after `onPause`. */
  readonly onForget: () => void;
}

/**
 * Counts the holders of something, and says when it is to be paused, resumed and forgotten.
 *
 * | in | event | next | call |
 * | --- | --- | --- | --- |
 * | held | acquire; release, but not of the last holder | held | |
 * | held | release of the last holder | idle | |
 * | idle | acquire | held | |
 * | idle | `idleMs` are over | paused | `onPause` |
 * | paused | acquire | held | `onResume` |
 * | paused | `forgetMs` are over | over | `onForget` |
 * | any | end | over | |
 */
export class Demand {
  readonly #options: DemandOptions;
  /** `#timer` is armed if and only if `#state` is `idle`, from the first release on, or `paused`, and that time is finite. */
  readonly #timer = new LongTimer(() => this.#elapsed());
  /** `#holders` is above 0 if `#state` is `held`, and 0 if it is `idle` or `paused`. */
  #holders = 0;
  #state: DemandState = "idle";

  /** There is no holder, and no time runs before the first one. */
  constructor(options: DemandOptions) {
    this.#options = options;
  }

  /** The present state. */
  get state(): DemandState {
    return this.#state;
  }

  /** Adds a holder, until the returned function is called. Only the first call of that counts. */
  acquire(): () => void {
    this.#holders++;
    const { onResume } = this.#options;
    const before = this.#state;
    if (before !== "over") this.#enter("held");
    if (before === "paused") onResume();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#holders--;
      if (this.#holders === 0 && this.#state === "held") this.#enter("idle");
    };
  }

  /** Ends the demand: nothing is called from now on. */
  end(): void {
    this.#enter("over");
  }

  #enter(state: DemandState): void {
    const { idleMs, forgetMs } = this.#options;
    this.#state = state;
    this.#timer.arm(state === "idle" ? idleMs : state === "paused" ? forgetMs : Infinity);
  }

  #elapsed(): void {
    const { onPause, onForget } = this.#options;
    if (this.#state === "idle") {
      this.#enter("paused");
      onPause();
    } else if (this.#state === "paused") {
      this.#enter("over");
      onForget();
    }
  }
}
