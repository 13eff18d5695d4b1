import type { ListerWatcher, ListPart, WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import type { ListOptions, WatchOptions } from "../../../src/engine/api/call_options.ts";
import type { Thing } from "./fixtures.ts";

/** In a script: the server ends the answer in good order. */
export const END = Symbol("end");

type Item = ListPart<Thing> | readonly WatchChange<Thing>[];

/** One item of a script: something sent, an error, or {@linkcode END}. */
export type Step<I extends Item> = I | Error | typeof END;

/** One call of a source, answered by the test: at once by its script, later by the methods. */
export class Call<I extends Item = Item> implements AsyncIterableIterator<I> {
  readonly type: "list" | "watch";
  readonly options: ListOptions & WatchOptions;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number = Date.now();
  /** True when the first item was asked for: a request is sent then. */
  asked = false;
  /** The end of the reader's side; `undefined` while it has not ended. */
  over: "ended" | "failed" | "returned" | undefined;
  /** If `true`, it ignores that its signal aborts, as a stuck call would. */
  ignoresAbort = false;
  readonly #steps: Step<I>[];
  #wake: (() => void) | undefined;

  constructor(type: "list" | "watch", options: ListOptions & WatchOptions, steps: readonly Step<I>[]) {
    this.type = type;
    this.options = options;
    this.#steps = [...steps];
  }

  /** Sends something, fails, or ends the answer. */
  send(...steps: Step<I>[]): void {
    this.#steps.push(...steps);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<I, undefined>> {
    this.asked = true;
    const { signal } = this.options;
    for (;;) {
      if (this.over !== undefined) return { done: true, value: undefined };
      if (signal?.aborted && !this.ignoresAbort) return this.#fail(signal.reason);
      const step = this.#steps.shift();
      if (step === END) {
        this.over = "ended";
        return { done: true, value: undefined };
      }
      if (step instanceof Error) return this.#fail(step);
      if (step !== undefined) return { done: false, value: step };
      const wake = (): void => this.#wake?.();
      signal?.addEventListener("abort", wake, { once: true });
      await new Promise<void>((resolve) => this.#wake = resolve);
      signal?.removeEventListener("abort", wake);
    }
  }

  return(): Promise<IteratorResult<I, undefined>> {
    this.over ??= "returned";
    this.#wake?.();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #fail(error: unknown): never {
    this.over = "failed";
    throw error;
  }
}

/**
 * A server by script: each call is answered by the next script of its kind, and stays open behind the script's last
 * item (a list without `END` or an error too). A call without a script stays open, silent.
 */
export class ScriptedSource implements ListerWatcher<Thing> {
  readonly calls: Call[] = [];
  readonly #lists: Step<ListPart<Thing>>[][] = [];
  readonly #watches: Step<readonly WatchChange<Thing>[]>[][] = [];

  /** Scripts the next list. */
  list(...steps: Step<ListPart<Thing>>[]): this {
    this.#lists.push(steps);
    return this;
  }

  /** Scripts the next watch. */
  watch(...steps: Step<readonly WatchChange<Thing>[]>[]): this {
    this.#watches.push(steps);
    return this;
  }

  listEntries(options: ListOptions = {}): Call<ListPart<Thing>> {
    return this.#call<ListPart<Thing>>("list", options, this.#lists.shift() ?? []);
  }

  watchChanges(options: WatchOptions = {}): Call<readonly WatchChange<Thing>[]> {
    return this.#call<readonly WatchChange<Thing>[]>("watch", options, this.#watches.shift() ?? []);
  }

  /** The lists, in order. */
  get lists(): Call<ListPart<Thing>>[] {
    return this.calls.filter((call) => call.type === "list") as Call<ListPart<Thing>>[];
  }

  /** The watches, in order. */
  get watches(): Call<readonly WatchChange<Thing>[]>[] {
    return this.calls.filter((call) => call.type === "watch") as Call<readonly WatchChange<Thing>[]>[];
  }

  /** The newest watch. */
  get newest(): Call<readonly WatchChange<Thing>[]> {
    return this.watches.at(-1)!;
  }

  /** The number of calls that have begun and not ended. */
  get open(): number {
    return this.calls.filter((call) => call.asked && call.over === undefined).length;
  }

  /** The requests, without the parts that differ by chance: `"list 0 limit=500"`, `"watch 5"`, `"watch - initial"`. */
  get requests(): string[] {
    return this.calls.map(({ type, options }) => {
      const { resourceVersion, resourceVersionMatch, limit, continue: token, sendInitialEvents } = options;
      const words = [type, resourceVersion === undefined ? "-" : resourceVersion];
      if (resourceVersionMatch !== undefined) words.push(resourceVersionMatch);
      if (limit !== undefined) words.push(`limit=${limit}`);
      if (token !== undefined) words.push(`continue=${token}`);
      if (sendInitialEvents) words.push("initial");
      return words.join(" ");
    });
  }

  #call<I extends Item>(
    type: "list" | "watch",
    options: ListOptions & WatchOptions,
    steps: readonly Step<I>[],
  ): Call<I> {
    const call = new Call<I>(type, options, steps);
    this.calls.push(call as unknown as Call);
    return call;
  }
}
