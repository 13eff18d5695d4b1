import { assertEquals } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { Reflector, type ReflectorOptions } from "../../../src/engine/reflector/reflector.ts";
import type { ReflectorStore, Replacement } from "../../../src/engine/reflector/requests.ts";
import type { ReflectorPhase } from "../../../src/engine/reflector/transition.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { FakeTime } from "../times/fake_time.ts";
import { seen, type Thing } from "./fixtures.ts";
import type { ScriptedSource } from "./scripted_source.ts";

/** A store that records its calls, and fails on command. */
export class NotingStore implements ReflectorStore<CacheEntry<Thing>> {
  readonly entries: Indexer<CacheEntry<Thing>> = new Indexer<CacheEntry<Thing>>({ keyOf: (entry) => entry.key });
  readonly notes: string[] = [];
  /** Throws when it says so; asked before each note is written. */
  refuses: (note: string) => Error | undefined = () => undefined;
  /** Replacements begun that were neither committed nor abandoned. */
  staging = 0;

  add(value: CacheEntry<Thing>): void {
    this.#note(`add ${value.key}@${value.resourceVersion}`);
    this.entries.add(value);
  }

  update(value: CacheEntry<Thing>): void {
    this.#note(`update ${value.key}@${value.resourceVersion}`);
    this.entries.update(value);
  }

  delete(value: CacheEntry<Thing>): void {
    this.#note(`delete ${value.key}@${value.resourceVersion}`);
    this.entries.delete(value);
  }

  replacing(): Replacement<CacheEntry<Thing>> {
    this.#note("replacing");
    const staged = this.entries.replacing();
    let over = false;
    let committed = false;
    const end = (): void => {
      if (!over) this.staging--;
      over = true;
    };
    this.staging++;
    return {
      add: (values) => staged.add(values),
      delete: (value) => staged.delete(value),
      commit: (version) => {
        this.#note(`replace at ${version}`);
        staged.commit(version);
        committed = true;
        end();
      },
      abandon: () => {
        if (committed) throw new Error("Cannot abandon the replacement: it was committed");
        staged.abandon();
        end();
      },
    };
  }

  resync(): void {
    this.#note("resync");
  }

  flush(version: string): void {
    this.#note(`flush ${version}`);
  }

  /** The versions up to which it has everything, one for each flush. */
  get flushed(): string[] {
    return this.notes.filter((note) => note.startsWith("flush ")).map((note) => note.slice(6));
  }

  #note(note: string): void {
    const error = this.refuses(note);
    if (error !== undefined) throw error;
    this.notes.push(note);
  }
}

/**
 * A reflector at work, under fake time, its own unless it is given one. Disposing it stops it, and fails unless nothing
 * at all is left behind.
 */
export class Follow implements AsyncDisposable {
  readonly source: ScriptedSource;
  readonly store: NotingStore;
  readonly reflector: Reflector<Thing>;
  readonly phases: ReflectorPhase[] = [];
  readonly errors: unknown[] = [];
  readonly time: FakeTime;
  readonly #owned?: FakeTime;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(source: ScriptedSource, options: ReflectorOptions = {}, store = new NotingStore(), time?: FakeTime) {
    this.time = time ?? (this.#owned = new FakeTime());
    this.source = source;
    this.store = store;
    this.reflector = new Reflector<Thing>(source, this.store, {
      backoff: { initialMs: 800, jitter: 0 },
      reconnectMs: 0,
      onPhase: (phase) => this.phases.push(phase),
      onError: (error) => this.errors.push(error),
      ...options,
    });
    this.#running = this.reflector.run({ signal: this.#stop.signal });
  }

  /** The objects of the store, `"default/a@5"` each. */
  get stored(): string[] {
    return seen(this.store.entries);
  }

  /** The waits so far, in milliseconds; reconnects do not wait here. */
  get waits(): number[] {
    return this.phases.flatMap((phase) => phase.name === "waiting" && phase.delayMs > 0 ? [phase.delayMs] : []);
  }

  /** Lets `ms` milliseconds pass, and what can happen happen. */
  async tick(ms = 0): Promise<void> {
    await this.time.tickAsync(ms);
  }

  /** Stops it; resolves when it has. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _owned = this.#owned;
    await this.stop();
    await this.tick();
    assertEquals(
      { open: this.source.open, timers: this.time.timers, staging: this.store.staging, phase: this.reflector.phase },
      { open: 0, timers: 0, staging: 0, phase: { name: "stopped" } },
      "a stopped reflector leaves something behind",
    );
  }
}

/** Options that list in pages only. */
export const PAGES: ReflectorOptions = { streamingList: "off" };
