import type { Entry } from "../../api/options.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { PolledIterator } from "../../async/iterate.ts";
import { type Cursor, type CursorStart, openCursor } from "./event_log.ts";
import type { HandlerOptions, InformerEvent } from "./event.ts";

/** A stream's connection to its processor. */
interface StreamContext<T extends KubernetesObject> {
  /** Restricts the stream to the events of this object, and `synced`. */
  readonly key?: ObjectKey;
  /** Returns the start of a cursor; throws when the informer has stopped. */
  readonly start: () => CursorStart<T>;
  /** Called with each error of the filter. */
  readonly report: (error: unknown) => void;
  /** Called when the stream begins; the function that it returns is called when the stream ends. */
  readonly onBegin: (stream: EventStream<T>) => () => void;
}

/** Events as an async iterator, the cached objects first. */
export class EventStream<T extends KubernetesObject> extends PolledIterator<InformerEvent<T>> {
  readonly name: string;
  readonly #options: HandlerOptions<T>;
  readonly #context: StreamContext<T>;
  /** Set if and only if the stream has begun; closed if and only if it has ended since. */
  #cursor: Cursor<T> | undefined;
  /** Set together with `#cursor`. */
  #leave: (() => void) | undefined;
  /** Only rises. */
  #errors = 0;

  constructor(options: HandlerOptions<T>, name: string, context: StreamContext<T>) {
    super(options.signal);
    this.name = name;
    this.#options = options;
    this.#context = context;
  }

  /** The number of events that have not been taken; 0 before the stream begins. */
  get pending(): number {
    return this.#cursor?.pending ?? 0;
  }

  /** The number of errors of the filter. */
  get errors(): number {
    return this.#errors;
  }

  /** Adds these entries as a resync; see {@linkcode Cursor.resync}. */
  resync(entries: readonly Entry<T>[]): void {
    this.#cursor?.resync(entries);
  }

  protected override poll(): InformerEvent<T> | undefined {
    return this.#cursor!.poll();
  }

  protected override wait(): Promise<void> {
    return this.#cursor!.wait();
  }

  protected override begin(): void {
    const { filter, backlog } = this.#options;
    this.#cursor = openCursor(this.#context.start(), {
      key: this.#context.key,
      backlog,
      filter,
      onFilterError: (error) => {
        this.#errors++;
        this.#context.report(error);
      },
      onOverrun: (cause) => {
        this.end({ error: new Error(`Cannot keep up with "${this.name}": it is ${cause.message}`) });
      },
    });
    this.#leave = this.#context.onBegin(this);
  }

  protected override finish(): void {
    this.#cursor?.close();
    this.#leave?.();
  }
}
