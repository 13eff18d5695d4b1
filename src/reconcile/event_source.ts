import type { Entry } from "../api/entry.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import type { HandlerRegistration } from "../informer/events/handler.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { WorkQueueAddOptions } from "../workqueue/work_queue.ts";
import { type ObjectChange, passedPaths, type Predicate } from "./predicate.ts";

/** Returns the keys to reconcile after a change of an object. Fields of the entry are parsed when they are first read. */
export type MapFunction<T> = (entry: Entry<T>) => Iterable<ObjectKey>;

/** Options for {@linkcode EventSource}. */
export interface EventSourceOptions<T extends KubernetesObject> {
  /** The kind. */
  readonly resource: Resource<T>;
  /** The informer of the kind. */
  readonly informer: SharedIndexInformer<T, string>;
  /** Returns the keys to reconcile; without it, the key of the object is the only one. */
  readonly map?: MapFunction<T>;
  /** The predicates of which an event must pass one; it passes when there are none. */
  readonly predicates: readonly Predicate<T>[];
  /** Adds a key to the queue, because of an event. */
  readonly add: (key: ObjectKey, options: WorkQueueAddOptions, event: ObjectChange<T>) => void;
  /** Reports what a predicate or a map function has thrown. */
  readonly report: (error: unknown, key: ObjectKey) => void;
}

/** Turns the events of one informer into keys to reconcile, with their causes. */
export class EventSource<T extends KubernetesObject> {
  readonly #options: EventSourceOptions<T>;
  /** The options of additions without paths and without another object, by event: a constant costs nothing per key. */
  readonly #shared = new Map<string, WorkQueueAddOptions>();

  /** Does not listen yet. */
  constructor(options: EventSourceOptions<T>) {
    this.#options = options;
  }

  /** The informer of the kind. */
  get informer(): SharedIndexInformer<T, string> {
    return this.#options.informer;
  }

  /** Adds a handler to the informer. */
  listen(name: string): HandlerRegistration {
    const handle = (event: ObjectChange<T>): void => this.#enqueue(event);
    return this.informer.addEventHandler({ onAdd: handle, onUpdate: handle, onDelete: handle }, { name });
  }

  #enqueue(event: ObjectChange<T>): void {
    const { map, predicates, add, report } = this.#options;
    try {
      const paths = passedPaths(event, predicates);
      if (paths === undefined) return;
      if (map === undefined) return add(event.key, this.#optionsOf(event, paths), event);
      const keys = new Set(map(event));
      // An object that has moved to another owner concerns both.
      if (event.type === "updated" && !event.resync) { for (const key of map(event.before)) keys.add(key); }
      for (const key of keys) checkKey(key);
      for (const key of keys) add(key, this.#optionsOf(event, paths, event.key), event);
    } catch (error) {
      report(error, event.key);
    }
  }

  #optionsOf(event: ObjectChange<T>, paths: readonly string[], object?: ObjectKey): WorkQueueAddOptions {
    const resync = event.type === "updated" && event.resync;
    const isLow = resync || (event.type === "added" && event.initial);
    const id = resync ? "resync" : isLow ? "initial" : event.type;
    let shared = this.#shared.get(id);
    if (shared === undefined) {
      const source = resourceName(this.#options.resource);
      shared = {
        priority: isLow ? "low" : "normal",
        cause: resync ? { type: "resync", source } : { type: "event", source, event: event.type },
      };
      this.#shared.set(id, shared);
    }
    if (paths.length === 0 && object === undefined) return shared;
    const cause = {
      ...shared.cause!,
      ...(object === undefined ? {} : { object }),
      ...(paths.length === 0 ? {} : { paths }),
    };
    return { priority: shared.priority, cause };
  }
}

function checkKey(key: unknown): void {
  if (typeof key === "string" && key !== "") return;
  throw new TypeError(`A map function must return keys, such as "shop/cart-0", found ${JSON.stringify(key)}`);
}
