/**
 * The kinds whose events become keys for a reconciler.
 *
 * {@linkcode KeySources} is the entry point. Kinds may come and go while the reconciler runs. The reconciler adds the
 * keys to its queue.
 *
 * @module
 */
import type { CacheEntry } from "../../../engine/api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../../engine/api/object.ts";
import { checkNamespaceOf, type Resource, resourceName } from "../../../engine/api/resource.ts";
import type { ObjectWrite } from "../../../engine/client/resource_client.ts";
import type { HandlerRegistration } from "../../../engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import { MAX_TRIGGERS, type Trigger } from "../../../engine/workqueue/triggers.ts";
import type { WorkQueueAddOptions } from "../../../engine/workqueue/work_queue.ts";
import type { ObjectChange, Predicate } from "./predicates.ts";

/** Returns the keys to reconcile when an object changes. The entry's fields are parsed when you first read them. */
export type MapFunction<T> = (entry: CacheEntry<T>) => Iterable<ObjectKey>;

/** A kind whose events become keys, with their triggers. */
export interface KeySource<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  readonly informer: SharedIndexInformer<T, string>;
  /** Gives the informer back. */
  readonly release: () => void;
  /** Returns the keys to reconcile. Without it, the object's own key is the only one. */
  readonly map: MapFunction<T> | undefined;
  /** True if the cache has only objects in the reconciler's shards. */
  readonly isSharded: boolean;
  /** The writes whose events trigger no reconcile: status writes, all or none. */
  readonly skips: "status" | "all" | "none";
  /** An event must pass one of these predicates, if there are any. */
  readonly predicates: readonly Predicate<T>[];
  /** The options for additions without paths and without another object, by event. A constant costs nothing per key. */
  readonly shared: Map<string, WorkQueueAddOptions>;
  /** Set while events are received. */
  registration?: HandlerRegistration;
}

/** The kinds of a reconciler, which may come and go while it runs. */
export class KeySources implements Iterable<KeySource<KubernetesObject>> {
  readonly #sources = new Set<KeySource<KubernetesObject>>();
  /** Has the name of each kind that was removed, and is not followed by another source. */
  readonly #left = new Set<string>();

  [Symbol.iterator](): IterableIterator<KeySource<KubernetesObject>> {
    return this.#sources.values();
  }

  /** The names of optional kinds that the server lacks now. */
  get unserved(): string[] {
    const unserved = [...this.#sources].filter(({ informer }) => informer.status().unserved);
    return [...new Set(unserved.map(({ resource }) => resourceName(resource)))];
  }

  /** Returns a kind's informers whose objects have the same fields. For an informer, returns that informer. */
  informersOf(
    kind: Resource | SharedIndexInformer<KubernetesObject, string>,
  ): KeySource<KubernetesObject>["informer"][] {
    const sources = [...this.#sources].filter(({ resource, informer }) =>
      "plural" in kind ? isSameForm(kind, resource) : kind === informer
    );
    return [...new Set(sources.map(({ informer }) => informer))];
  }

  /** Returns true for a write whose event may trigger no reconcile of `key`. */
  expect(key: ObjectKey, { resource, key: object, sent }: ObjectWrite): boolean {
    const isStatus = sent?.subresource === "status" && object === key;
    for (const { skips, resource: own } of this.#sources) {
      const isSkipped = skips === "all" || (skips === "status" && isStatus);
      if (isSkipped && resourceName(own) === resourceName(resource)) return true;
    }
    return false;
  }

  /** Adds a source. */
  add(source: KeySource<KubernetesObject>): void {
    this.#sources.add(source);
    this.#left.delete(resourceName(source.resource));
  }

  /** Returns true unless the source was removed. */
  has(source: KeySource<KubernetesObject>): boolean {
    return this.#sources.has(source);
  }

  /** Removes the mapped sources of a kind. Returns the sources whose informer no other source has. */
  remove(resource: Resource): KeySource<KubernetesObject>[] {
    const name = resourceName(resource);
    const sources = [...this.#sources].filter((it) => it.map !== undefined && resourceName(it.resource) === name);
    for (const source of sources) {
      this.#sources.delete(source);
      source.registration?.remove();
      source.release();
    }
    const others = [...this.#sources];
    if (sources.length > 0 && !others.some((it) => resourceName(it.resource) === name)) this.#left.add(name);
    return sources.filter(({ informer }) => !others.some((it) => it.informer === informer));
  }

  /** Returns true when all triggers of a key are events from kinds that have been removed. */
  areOver(triggers: readonly Trigger[]): boolean {
    if (this.#left.size === 0 || triggers.length === 0 || triggers.length === MAX_TRIGGERS) return false;
    return triggers.every(({ type, source }) =>
      (type === "event" || type === "resync") && this.#left.has(source ?? "")
    );
  }
}

/** Returns true for resources of one kind and version whose objects have the same fields. */
function isSameForm(a: Resource, b: Resource): boolean {
  return resourceName(a) === resourceName(b) && a.version === b.version && a.representation === b.representation &&
    String(a.fields) === String(b.fields);
}

/** Returns the options with which an event adds a key to the queue. `object` is set if it has another key. */
export function additionOf<T extends KubernetesObject>(
  source: KeySource<T>,
  event: ObjectChange<T>,
  paths: readonly string[],
  object?: ObjectKey,
): WorkQueueAddOptions {
  const resync = event.type === "updated" && event.resync;
  const isLow = resync || (event.type === "added" && event.initial);
  const id = resync ? "resync" : isLow ? "initial" : event.type;
  let shared = source.shared.get(id);
  if (shared === undefined) {
    const name = resourceName(source.resource);
    shared = {
      priority: isLow ? "low" : "normal",
      trigger: resync ? { type: "resync", source: name } : { type: "event", source: name, event: event.type },
    };
    source.shared.set(id, shared);
  }
  if (paths.length === 0 && object === undefined) return shared;
  const cause = {
    ...shared.trigger!,
    ...(object === undefined ? {} : { object }),
    ...(paths.length === 0 ? {} : { paths }),
  };
  return { priority: shared.priority, trigger: cause };
}

/** Checks a key that a map function returned. @throws {TypeError} if no object of `resource` can have it. */
export function checkKey(key: unknown, resource: Resource): void {
  if (typeof key === "string" && key !== "") return checkNamespaceOf(key, resource);
  throw new TypeError(`A map function must return keys such as "shop/cart-0", but it returned ${JSON.stringify(key)}`);
}
