import type { ListerWatcher, ListPart } from "../api/lister_watcher.ts";
import type { ListOptions } from "../api/options.ts";
import type { OpenPage } from "../api/pager.ts";
import { ReadAhead } from "../async/read_ahead.ts";
import type { ListWatchObserver, RequestEnd, RequestObserver } from "./request_observer.ts";

/** Options for {@linkcode ObservedPage}. */
export interface ObservedPageOptions {
  /** Ends the page: when the list is stopped, paused, or takes too long. */
  readonly signal: AbortSignal;
  /** Aborts when the list is stopped or paused, which is no failure. */
  readonly stop: AbortSignal;
  /** Observes the list. */
  readonly observer: ListWatchObserver;
}

/** A page of a list, which is observed. */
export class ObservedPage<T> implements OpenPage<ListPart<T>> {
  readonly #options: ObservedPageOptions;
  readonly #parts: ReadAhead<ListPart<T>>;
  /** Defined if and only if the page was requested and has not ended. */
  #observer: RequestObserver | undefined;
  #isRequested = false;
  #objects = 0;

  /** Requests nothing yet. */
  constructor(source: ListerWatcher<T>, list: ListOptions, options: ObservedPageOptions) {
    this.#options = options;
    const onDecoded = (ms: number): void => this.#observer?.decoded(ms);
    this.#parts = new ReadAhead((signal) => source.listEntries({ ...list, signal, onDecoded }), options.signal);
  }

  /** As `OpenPage.request`. */
  request(): void {
    this.#isRequested = true;
    const observer = this.#observer = this.#options.observer.page();
    observer.send(() => this.#parts.request());
  }

  /** As `OpenPage.next`. */
  async next(): Promise<ListPart<T> | undefined> {
    if (!this.#isRequested) this.request();
    try {
      const part = await this.#parts.next();
      if (part === undefined) this.#end({ outcome: "listed" });
      else this.#objects += part.entries.length;
      return part;
    } catch (error) {
      this.#end(this.#options.stop.aborted ? { outcome: "stopped" } : { outcome: "failed", error });
      throw error;
    }
  }

  /** As `OpenPage.close`. */
  async close(): Promise<void> {
    this.#end({ outcome: "stopped" });
    await this.#parts.close();
  }

  #end(end: RequestEnd): void {
    const observer = this.#observer;
    this.#observer = undefined;
    observer?.ended({ ...end, objects: this.#objects });
  }
}
