import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { PolledIterator } from "../async/polled_iterator.ts";

/** An event of a subscription; the members are those of an informer's event of that type. */
export type SubscriptionEvent<T> =
  | { readonly type: "added"; readonly key: ObjectKey; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly key: ObjectKey; readonly object: T }
  | { readonly type: "synced"; readonly objects: number };

/** A reader's connection to its subscription. */
export interface EventReaderContext<T> {
  /** The copy. */
  readonly objects: ReadonlyMap<ObjectKey, T>;
  /** Returns `true` once the copy is complete. */
  readonly hasSynced: () => boolean;
  /** Called at the first `next()`. */
  readonly onBegin: () => void;
  /** Called once, when the iterator has ended. */
  readonly onEnd: () => void;
  /** Ends the iterator. */
  readonly signal: AbortSignal | undefined;
}

/** Makes events of the differences between the objects that a reader has seen and those that there are. */
export class EventReader<T extends KubernetesObject> extends PolledIterator<SubscriptionEvent<T>> {
  readonly #context: EventReaderContext<T>;
  /** The objects that the reader has seen. */
  readonly #known = new Map<ObjectKey, T>();
  /** The keys of objects that may differ from these. */
  readonly #changed = new Set<ObjectKey>();
  /** `true` once `synced` was delivered. */
  #isSynced = false;

  constructor(context: EventReaderContext<T>) {
    super(context.signal);
    this.#context = context;
  }

  /** Notes that the object of a key may have changed. */
  changed(key: ObjectKey): void {
    this.#changed.add(key);
    this.wake();
  }

  protected override begin(): void {
    for (const key of this.#context.objects.keys()) this.#changed.add(key);
    this.#context.onBegin();
  }

  protected override finish(): void {
    this.#context.onEnd();
  }

  protected override poll(): SubscriptionEvent<T> | undefined {
    if (!this.#context.hasSynced()) return undefined;
    for (const key of this.#changed) {
      this.#changed.delete(key);
      const previous = this.#known.get(key);
      const object = this.#context.objects.get(key);
      if (object === previous) continue;
      if (previous !== undefined && previous.metadata.uid !== object?.metadata.uid) {
        this.#known.delete(key);
        this.#changed.add(key); // another object of that name may follow
        return { type: "deleted", key, object: previous };
      }
      this.#known.set(key, object!);
      return previous === undefined
        ? { type: "added", key, object: object!, initial: !this.#isSynced }
        : { type: "updated", key, object: object!, previous };
    }
    if (this.#isSynced) return undefined;
    this.#isSynced = true;
    return { type: "synced", objects: this.#known.size };
  }
}
