import { UnreachableError } from "../api/errors.ts";
import type { DerivedController } from "../timing/derived.ts";

/**
 * Fails a job that has been silent for too long: a black hole is never noticed by `fetch`.
 *
 * One timer, that looks at the clock when it fires instead of being set anew at each sign of life.
 */
export class IdleLimit implements Disposable {
  readonly #controller: DerivedController;
  readonly #silenceMs: number;
  readonly #what: string;
  #aliveAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Aborts `controller` when there was no sign of life for `silenceMs`, but not before `graceMs` from now.
   */
  constructor(controller: DerivedController, what: string, silenceMs: number, graceMs = 0) {
    this.#controller = controller;
    this.#what = what;
    this.#silenceMs = silenceMs;
    this.#aliveAt = Date.now();
    this.#timer = setTimeout(() => this.#look(), Math.max(graceMs, 0) + silenceMs);
  }

  /** A sign of life. */
  alive(): void {
    this.#aliveAt = Date.now();
  }

  /** Looks no more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const left = this.#aliveAt + this.#silenceMs - Date.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#look(), left);
      return;
    }
    const seconds = Math.round((Date.now() - this.#aliveAt) / 1_000);
    // mutant: idle-limit-never-fires
    this.#controller.abort(
      new UnreachableError(`Cannot go on with ${this.#what}: the server has said nothing for ${seconds} s`),
    );
  }
}

/** Gives a streaming list up that does not begin, or neither goes on nor ends. */
export class InitialEventsDeadline implements Disposable {
  readonly #stream: { fail(error: Error): void };
  readonly #progressMs: number;
  #limitAt: number;
  #begun = false;
  #passed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Fails `stream` when it has not begun within `beginMs`, or makes no progress for `progressMs` after that. */
  constructor(stream: { fail(error: Error): void }, beginMs: number, progressMs: number) {
    this.#stream = stream;
    this.#progressMs = progressMs;
    this.#limitAt = Date.now() + beginMs;
    this.#timer = setTimeout(() => this.#look(), Math.min(beginMs, progressMs));
  }

  /** Whether the server has answered. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Whether the server answered and then made no progress: it does not tell the end of the list, and will not. */
  get passed(): boolean {
    return this.#passed;
  }

  /** The server has answered, or has told one more object. */
  progress(): void {
    this.#begun = true;
    this.#limitAt = Date.now() + this.#progressMs;
  }

  /** Looks no more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const left = this.#limitAt - Date.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.#look(), left);
      return;
    }
    this.#passed = this.#begun;
    const what = this.#begun
      ? `told neither an object nor its end for ${this.#progressMs} ms`
      : "did not begin in time";
    this.#stream.fail(new UnreachableError(`Cannot take the streaming list: the server ${what}`));
  }
}
