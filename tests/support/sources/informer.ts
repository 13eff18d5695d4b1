import { assertEquals } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import type { WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import type { HandlerOptions, InformerEvent, ResourceEventHandler } from "../../../src/engine/informer/events/event.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { FakeTime } from "../times/fake_time.ts";
import { part, seen, type Thing } from "./fixtures.ts";
import { PAGES } from "./followed_source.ts";
import { END, ScriptedSource } from "./scripted_source.ts";

/** An informer on a scripted server. Disposing it stops it, and fails unless nothing at all is left behind. */
export class Run<Name extends string = never> implements AsyncDisposable {
  readonly source: ScriptedSource;
  readonly informer: SharedIndexInformer<Thing, Name>;
  readonly errors: unknown[] = [];
  readonly time: FakeTime;
  readonly #owned?: FakeTime;

  /**
   * Lists in pages, with waits that are not by chance. Does not run before {@linkcode start}. Time is faked until it is
   * disposed, unless that is done already.
   */
  constructor(source = new ScriptedSource(), options: SharedIndexInformerOptions<Thing, Name> = {}, time?: FakeTime) {
    this.time = time ?? (this.#owned = new FakeTime());
    this.source = source;
    this.informer = new SharedIndexInformer<Thing, Name>(source, {
      onError: (error) => this.errors.push(error),
      ...options,
      reflector: { ...PAGES, backoff: { initialMs: 800, jitter: 0 }, reconnectMs: 0, ...options.reflector },
    });
  }

  /** The cached objects, `"default/a@5"` each. */
  get cached(): string[] {
    return seen(this.informer.entries);
  }

  /** The errors, as text. */
  get complaints(): string[] {
    return this.errors.map((error) => error instanceof Error ? `${error.name}: ${errorLine(error)}` : String(error));
  }

  /** Lets `ms` milliseconds pass, and what can happen happen. */
  async tick(ms = 0): Promise<void> {
    await this.time.tickAsync(ms);
  }

  /** Runs, and lets happen what can happen now. */
  async start(): Promise<this> {
    void this.informer.run();
    await this.tick();
    return this;
  }

  /** Adds a handler that records its events. */
  listen(options?: HandlerOptions<Thing>): Notes {
    const notes = new Notes();
    this.informer.addEventHandler(notes, options);
    return notes;
  }

  /** The server sends changes in one batch, and all handlers that are not busy receive them. */
  async send(...changes: WatchChange<Thing>[]): Promise<void> {
    this.source.newest.send(changes);
    await this.tick();
  }

  /** The watch fails; the next list, after the first wait, at `version`, has these. */
  async relist(error: Error, version: number, entries: readonly CacheEntry<Thing>[]): Promise<void> {
    this.source.list(part(version, entries), END).watch([]);
    this.source.newest.send(error);
    await this.tick(800);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _owned = this.#owned;
    const disposal = this.informer[Symbol.asyncDispose]();
    let over = false;
    const note = (): void => void (over = true);
    disposal.then(note, note);
    await this.tick();
    if (!over) await this.tick(60_000); // a test that failed may have left a handler hanging
    await disposal;
    assertEquals(
      { open: this.source.open, timers: this.time.timers, state: this.informer.status().state },
      { open: 0, timers: 0, state: "stopped" },
      "a stopped informer leaves something behind",
    );
  }
}

/** A source whose first list has these entries, at version 10, and whose first watch is open. */
export function holding(...entries: CacheEntry<Thing>[]): ScriptedSource {
  return new ScriptedSource().list(part(10, entries), END).watch([]);
}

/** `"+ default/a@1 (initial)"`, `"~ default/a@1→2"`, `"- default/a@3"`, `"= 1 at 10"`. */
export function line(event: InformerEvent<Thing>): string {
  switch (event.type) {
    case "added":
      return `+ ${event.key}@${event.resourceVersion}${event.initial ? " (initial)" : ""}`;
    case "updated": {
      const before = event.previous.metadata.resourceVersion;
      return `~ ${event.key}@${before}→${event.resourceVersion}${event.resync ? " (resync)" : ""}`;
    }
    case "deleted":
      return `- ${event.key}@${event.resourceVersion}${event.finalStateUnknown ? " (unknown)" : ""}`;
    case "synced":
      return `= ${event.objects} at ${event.resourceVersion}`;
    default:
      return event satisfies never;
  }
}

/** A handler that records its events in `lines`. */
export class Notes implements Required<ResourceEventHandler<Thing>> {
  readonly lines: string[] = [];
  /** Awaited in each call, when there is one. */
  gate: Promise<unknown> | undefined;

  readonly onAdd = (event: InformerEvent<Thing>): Promise<void> | void => this.#note(event);
  readonly onUpdate = (event: InformerEvent<Thing>): Promise<void> | void => this.#note(event);
  readonly onDelete = (event: InformerEvent<Thing>): Promise<void> | void => this.#note(event);
  readonly onSynced = (event: InformerEvent<Thing>): Promise<void> | void => this.#note(event);

  /** Returns the lines since the last call. */
  take(): string[] {
    return this.lines.splice(0);
  }

  #note(event: InformerEvent<Thing>): Promise<void> | void {
    this.lines.push(line(event));
    if (this.gate !== undefined) return this.gate.then(() => undefined);
  }
}

/** Collects the errors that are reported as uncaught, until it is disposed. */
export class Uncaught implements Disposable {
  readonly errors: unknown[] = [];

  constructor() {
    addEventListener("error", this.#take);
  }

  [Symbol.dispose](): void {
    removeEventListener("error", this.#take);
  }

  readonly #take = (event: ErrorEvent): void => {
    event.preventDefault();
    this.errors.push(event.error);
  };
}

/** A promise, and how to settle it. */
export function gate(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>();
}
