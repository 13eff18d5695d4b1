/**
 * The log of an informer's events, which all handlers and streams share.
 *
 * {@linkcode EventLog} is the entry point: one linked list, of which only the last event is kept by the log itself. The
 * places of readers in it are in `cursors.ts`, and handlers are called by `listener.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { LoggedEvent } from "./event.ts";

/** A position in the log, behind `event` or behind `initial`. It keeps all later events alive, and none before it. */
export interface LogPosition<T extends KubernetesObject> {
  /** The event before this position; none at the beginning of the log and where `initial` is set. */
  readonly event: LoggedEvent<T> | undefined;
  /**
   * The entries of a first list, which stand for one event each; readers make these events as they deliver them. Such a
   * position always has a next one, so that a reader can leave it, and the array, before it has delivered the events.
   */
  readonly initial: readonly CacheEntry<T>[] | undefined;
  /** The number of events up to here. */
  readonly count: number;
  /** The next position, once something has been appended. */
  readonly next: LogPosition<T> | undefined;
}

/** An observer that is called as events are appended, before readers come to them. */
export interface LogFollower<T extends KubernetesObject> {
  /** Called for each event that is appended. */
  logged(event: LoggedEvent<T>): void;
  /** Called for the entries of a first list, once for all of them. */
  loggedInitial(entries: readonly CacheEntry<T>[]): void;
}

/** The followers of single objects: an event costs one look-up, however many they are. */
class FollowersByKey<T extends KubernetesObject> implements LogFollower<T> {
  /** Has a key if and only if it has a follower. */
  readonly #followers = new Map<ObjectKey, Set<LogFollower<T>>>();

  /** The number of objects that are followed. */
  get size(): number {
    return this.#followers.size;
  }

  logged(event: LoggedEvent<T>): void {
    if (event.type !== "synced") this.#followers.get(event.key)?.forEach((follower) => follower.logged(event));
    else for (const followers of this.#followers.values()) followers.forEach((follower) => follower.logged(event));
  }

  loggedInitial(entries: readonly CacheEntry<T>[]): void {
    for (const entry of entries) {
      this.#followers.get(entry.key)?.forEach((follower) => follower.loggedInitial([entry]));
    }
  }

  add(key: ObjectKey, follower: LogFollower<T>): void {
    const followers = this.#followers.get(key);
    if (followers === undefined) this.#followers.set(key, new Set([follower]));
    else followers.add(follower);
  }

  delete(key: ObjectKey, follower: LogFollower<T>): void {
    const followers = this.#followers.get(key);
    if (followers?.delete(follower) && followers.size === 0) this.#followers.delete(key);
  }
}

interface Node<T extends KubernetesObject> extends LogPosition<T> {
  next: Node<T> | undefined;
}

/**
 * The events of an informer as one linked list, in which each reader has its position.
 *
 * Nothing is copied per reader. A slow reader keeps only the events behind its own position alive and delays nobody; a
 * late reader begins at the end. The log itself keeps only the last event.
 */
export class EventLog<T extends KubernetesObject> {
  /** The only node without `next`. */
  end: Node<T> = { event: undefined, initial: undefined, count: 0, next: undefined };
  readonly #followers = new Set<LogFollower<T>>();
  /** One of `#followers` if and only if it has followers. */
  readonly #byKey = new FollowersByKey<T>();
  /** The number of cursors that are open; negative once the log is sealed. */
  readers = 0;
  /** Has a callback if and only if nothing was appended since `onceAppended()` took it, and it was not taken back. */
  #waiting = new Set<() => void>();

  /** Appends an event, if somebody reads it, and wakes the readers that wait for one. */
  append(event: LoggedEvent<T>): void {
    if (this.readers <= 0) return;
    const end = this.end;
    this.end = end.next = { event, initial: undefined, count: end.count + 1, next: undefined };
    if (this.#followers.size > 0) { for (const follower of this.#followers) follower.logged(event); }
    if (this.#waiting.size > 0) this.#wake();
  }

  /** Appends the entries of a first list in one step, however many there are, and wakes the readers that wait. */
  appendInitial(entries: readonly CacheEntry<T>[]): void {
    if (this.readers < 0) return;
    const count = this.end.count + entries.length;
    const end: Node<T> = { event: undefined, initial: undefined, count, next: undefined };
    this.end.next = { event: undefined, initial: entries, count, next: end };
    this.end = end;
    for (const follower of this.#followers) follower.loggedInitial(entries);
    this.#wake();
  }

  /** Drops all events from now on. Readers still get the events that were appended before. */
  seal(): void {
    this.readers = -Infinity;
  }

  /** Calls `follower` for each event from now on, until the returned function is called. */
  follow(follower: LogFollower<T>): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Calls `follower` for each event of one object, and each `synced`, from now on, until the returned function is
   * called.
   */
  followKey(key: ObjectKey, follower: LogFollower<T>): () => void {
    this.#byKey.add(key, follower);
    this.#followers.add(this.#byKey);
    return () => {
      this.#byKey.delete(key, follower);
      if (this.#byKey.size === 0) this.#followers.delete(this.#byKey);
    };
  }

  /** Calls `wake`, once, when something is appended, unless the returned function is called before. */
  onceAppended(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }
}
