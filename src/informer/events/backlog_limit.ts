import type { KubernetesObject } from "../../api/object.ts";
import { nextTurn } from "../../async/next_turn.ts";
import type { Pacer } from "../../async/pacer.ts";
import type { LoggedEvent } from "./event.ts";
import type { EventLog, LogFollower } from "./event_log.ts";

/**
 * Ends a reader that is more than `max` events behind and does not catch up in its turns. Initial events and `synced` do not
 * count. A burst alone ends no reader that keeps up, however long others take.
 */
export class BacklogLimit<T extends KubernetesObject> implements LogFollower<T> {
  readonly #max: number;
  readonly #pacer: Pacer;
  readonly #onOverrun: (error: Error) => void;
  readonly #unfollow: () => void;
  /** The number of events that count, were logged, and have not been taken; 0 when the reader has ended. */
  #behind = 0;
  /** Those of `#behind` that were logged since the check began, or was last restarted. */
  #fresh = 0;
  /** `true` if and only if `#check()` runs. */
  #isChecking = false;

  /** Calls `onOverrun` with an error that says how far behind the reader is; that is to end the reader. */
  constructor(max: number, log: EventLog<T>, pacer: Pacer, onOverrun: (error: Error) => void) {
    this.#max = max;
    this.#pacer = pacer;
    this.#onOverrun = onOverrun;
    this.#unfollow = log.follow(this);
  }

  logged(event: LoggedEvent<T>): void {
    if (!counts(event)) return;
    this.#fresh++;
    if (++this.#behind > this.#max && !this.#isChecking) void this.#check();
  }

  loggedInitial(): void {
    // Initial events do not count.
  }

  /** The reader has taken an event from the log. */
  taken(event: LoggedEvent<T>): void {
    if (this.#behind > 0 && counts(event)) this.#behind--;
  }

  /** The reader has ended. */
  end(): void {
    this.#unfollow();
    this.#behind = 0;
  }

  /** Ends the reader when it takes nothing in its turn, or when more has come by the time it has taken what there was. */
  async #check(): Promise<void> {
    const max = this.#max;
    this.#isChecking = true;
    await nextTurn(); // by now a reader that was idle has caught up, or has given way
    let due = this.#behind;
    let left = due;
    this.#fresh = 0;
    while (this.#behind > max) {
      await this.#pacer.turn(); // behind the reader, if that has given way
      await nextTurn(); // the reader continues until it waits for something or gives way again
      const before = left;
      left = this.#behind - this.#fresh;
      if (this.#behind > max && (left === before || (left <= 0 && this.#behind > due))) {
        this.#onOverrun(new Error(`more than ${max} events behind`));
      } else if (left <= 0) {
        due = left = this.#behind;
        this.#fresh = 0;
      }
    }
    this.#isChecking = false;
  }
}

function counts<T extends KubernetesObject>(event: LoggedEvent<T>): boolean {
  return event.type !== "synced" && !(event.type === "added" && event.initial);
}
