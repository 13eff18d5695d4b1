/**
 * Yields an informer's events as an async iterator.
 *
 * {@linkcode EventStream} is the entry point. It opens its cursor when it is first read, so that an unused stream costs
 * nothing. Handlers, which are called instead, are in `listener.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { PolledIterator } from "../../async/iterate.ts";
import type { HandlerOptions, InformerEvent } from "./event.ts";
import type { EventReader, EventSource } from "./event_reader.ts";

/** Events as an async iterator, the cached objects first. */
export class EventStream<T extends KubernetesObject> extends PolledIterator<InformerEvent<T>> {
  readonly name: string;
  readonly #options: HandlerOptions<T>;
  readonly #processor: EventSource<T>;
  readonly #key: ObjectKey | undefined;
  /** Set if and only if the stream has begun; closed if and only if it has ended since. */
  #cursor: EventReader<T> | undefined;
  /** The number of errors of the filter. */
  errors = 0;

  /** With `key`, only the events of that object, and `synced`. */
  constructor(
    options: HandlerOptions<T>,
    name: string,
    processor: EventSource<T>,
    key?: ObjectKey,
  ) {
    super(options.signal);
    this.name = name;
    this.#options = options;
    this.#processor = processor;
    this.#key = key;
  }

  /** The number of events that have not been taken; 0 before the stream begins. */
  get pending(): number {
    return this.#cursor?.pending ?? 0;
  }

  /** The version of the checkpoint, if there is one. */
  get checkpoint(): string | undefined {
    return this.#options.checkpoint?.version;
  }

  /** Adds these entries as a resync; see `Cursor.resync()`. */
  resync(entries: readonly CacheEntry<T>[]): void {
    this.#cursor?.resync(entries);
  }

  protected override poll(): InformerEvent<T> | undefined {
    return this.#cursor!.poll();
  }

  protected override wait(): Promise<void> {
    return this.#cursor!.wait();
  }

  protected override begin(): void {
    const key = this.#key;
    this.#cursor = this.#processor.open("read events of", this.#options, {
      onFilterError: (error) => {
        this.errors++;
        this.#processor.options.report(error);
      },
      onOverrun: (cause) => {
        this.end({ error: new Error(`Event stream "${this.name}" was ended: ${cause.message}`) });
      },
      onLost: (error) => this.end({ error }),
    }, key);
    this.#processor.begun(this, this.#options, key);
  }

  protected override finish(): void {
    if (this.#cursor === undefined) return;
    this.#cursor.close();
    void this.#cursor.settled();
    this.#processor.ended(this);
  }
}
